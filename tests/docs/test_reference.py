"""The reference names every public thing and every command."""

import re
import sys
from importlib import import_module

import pytest
from page_blocks import ROOT

import conformio

EXTENSIONS = ROOT / "docs" / "_extensions"
LISTED = set(re.findall(r"^   conformio\.([\w.]+)$", (ROOT / "docs/api/index.rst").read_text(), re.MULTILINE))
MODULES = ("bounds", "metrics", "observations", "plots")


def test_every_public_name_has_its_page():
    inner = {f"{module}.{name}" for module in MODULES for name in import_module(f"conformio.{module}").__all__}
    wanted = {*conformio.__all__, *inner} - {"__version__", *MODULES}
    assert wanted - LISTED == set(), "add them to docs/api/index.rst"


def test_every_listed_name_exists():
    for name in LISTED:
        *module, last = name.split(".")
        assert hasattr(import_module(".".join(["conformio", *module])), last), name


@pytest.fixture
def reference(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    yield import_module("command_reference").reference
    sys.modules.pop("command_reference")


def test_every_command_and_option_is_written(reference):
    from typer.main import get_command

    from conformio.cli.app import app

    text = "\n".join(reference())
    for name, command in get_command(app).commands.items():
        part = text.split(f"## conformio {name}\n")[1].split("\n## ")[0]
        assert f"conformio {name} " in part, "an example each"
        assert all(f"`{option}`" in part for param in command.params for option in param.opts)
