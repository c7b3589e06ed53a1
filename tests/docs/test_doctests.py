"""Every example in a docstring runs and gives what it shows."""

import doctest
import importlib
import pkgutil

import pytest

import conformio

MODULES = sorted(
    info.name for info in pkgutil.walk_packages(conformio.__path__, "conformio.") if info.name != "conformio.__main__"
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS, verbose=False)
    assert result.failed == 0


@pytest.mark.parametrize("name", sorted(set(conformio.__all__) - {"__version__", "bounds", "metrics", "load"}))
def test_public_things_say_what_they_are(name):
    assert (getattr(conformio, name).__doc__ or "").strip()


def test_examples_are_many():
    counts = [len(doctest.DocTestFinder().find(importlib.import_module(name))) for name in MODULES]
    assert sum(counts) > 20
