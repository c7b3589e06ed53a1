"""Which decisions a page shows one by one, when it cannot show them all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from conformio.checks import BoolArray, IntArray

__all__ = ["Sample", "Stratum", "spread_rows", "stratified"]


@dataclass(frozen=True)
class Stratum:
    """Rows of one kind: how many there are, and how many of them are shown."""

    name: str
    size: int
    shown: int


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows in increasing order, and what they were drawn from."""

    rows: IntArray
    strata: tuple[Stratum, ...]

    @property
    def complete(self) -> bool:
        """Whether every row is shown."""
        return all(stratum.shown == stratum.size for stratum in self.strata)


def spread_rows(n: int, limit: int, rng: np.random.Generator) -> IntArray:
    """All rows, or `limit` of them drawn at random without repetition; sorted."""
    return np.arange(n) if n <= limit else np.sort(rng.choice(n, limit, replace=False))


def stratified(kinds: Mapping[str, BoolArray], limit: int, rng: np.random.Generator) -> Sample:
    """At most `limit` rows: an equal part of the room for each kind, what is left over to the first kinds.

    Parameters
    ----------
    kinds : mapping of str to bool array, shape (N,)
        The most interesting first. A row belongs to the first kind that has it; the last one has them all.
    limit : int
    rng : numpy.random.Generator
    """
    groups: dict[str, IntArray] = {}
    free = np.ones(len(next(iter(kinds.values()))), dtype=np.bool_)
    for name, mask in kinds.items():
        groups[name] = np.flatnonzero(mask & free)
        free &= ~mask
    sizes = {name: len(rows) for name, rows in groups.items()}
    shown = {name: min(size, limit // len(groups)) for name, size in sizes.items()}
    for name, size in sizes.items():
        shown[name] += min(size - shown[name], limit - sum(shown.values()))
    drawn = [rng.permutation(rows)[: shown[name]] for name, rows in groups.items()]
    strata = tuple(Stratum(name, sizes[name], shown[name]) for name in groups)
    return Sample(np.sort(np.concatenate(drawn)), strata)
