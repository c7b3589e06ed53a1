"""Work in a fresh interpreter: for libraries that cannot be loaded beside ours, and for peaks of memory of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context

from threadpoolctl import threadpool_limits

from conformio.studies.benchmarks.results import Outcome
from conformio.studies.benchmarks.settings import Settings, SkippedError

__all__ = ["in_own_process", "need_installed"]


def in_own_process(compare: Callable[[Settings], Outcome], settings: Settings) -> Outcome:
    """The outcome of a module-level function, computed in another process on one thread."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_limited, compare, settings).result()


def _limited(compare: Callable[[Settings], Outcome], settings: Settings) -> Outcome:
    with threadpool_limits(limits=1):
        return compare(settings)


def need_installed(module: str, install: str) -> None:
    """Skip unless the module can be found; it is not loaded here."""
    if find_spec(module) is None:
        raise SkippedError(f"{module} is not installed; {install}")
