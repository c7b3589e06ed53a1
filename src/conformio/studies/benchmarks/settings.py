"""What a run of the comparisons is told, what a comparison is, and how it says that it cannot be made here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from conformio.networks import Network
from conformio.studies.benchmarks.results import Outcome

__all__ = ["Comparison", "Settings", "SkippedError", "peer"]

T = TypeVar("T")


class SkippedError(Exception):
    """The comparison cannot be made here; the text says why and what would help."""


@dataclass(frozen=True)
class Settings:
    """Sizes and sources of one run.

    Attributes
    ----------
    quick : bool
        Small sizes and few runs: shows that everything works, its numbers mean little.
    data : Path or None
        Folder of TNTP networks.
    """

    quick: bool = False
    data: Path | None = None

    def pick(self, full: T, quick: T) -> T:
        """One value for each size of run."""
        return quick if self.quick else full

    def network(self, name: str) -> Network:
        """A TNTP network by name, as in `ChicagoRegional`."""
        if self.data is None:
            raise SkippedError(f"no folder of TNTP networks was named; pass --data with {name}_net.tntp in it")
        path = self.data / f"{name}_net.tntp"
        if not path.is_file():
            raise SkippedError(f"there is no {name}_net.tntp in the folder given by --data")
        return Network.from_tntp(path)


@dataclass(frozen=True)
class Comparison:
    """One comparison of the target table.

    Attributes
    ----------
    name : str
        What the command calls it.
    title : str
    run : callable
    minutes : float
        Rough expectation of a full run on two cores.
    by_default : bool
        False for what takes long: it runs when it is named.
    """

    name: str
    title: str
    run: Callable[[Settings], Outcome]
    minutes: float = 0.1
    by_default: bool = True


def peer(module: str, install: str) -> Any:
    """Another library, or the reason to leave the comparison out."""
    try:
        return import_module(module)
    except ImportError as error:
        raise SkippedError(f"{module} cannot be imported ({error}); {install}") from error
