"""Knapsacks of few items by a catalogue of all subsets, sorted by weight (compiled).

One pass over the catalogue finds, for given values, the best subset up to every weight; each budget is then a binary
search. Ties are those of `_kernels.knapsack`: fewest items, then the lexicographically first list of items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from conformio._kernels.knapsack import TIE
from conformio.checks import FloatArray, IntArray

__all__ = ["Catalogue", "catalogue_of", "fill_from_catalogue"]


class Catalogue(NamedTuple):
    """All subsets by rising weight: bit masks (bit j is item j), weights, and each mask's place among ties."""

    masks: IntArray
    loads: FloatArray
    preference: IntArray


def catalogue_of(weights: FloatArray) -> Catalogue:
    """The catalogue of 2**n subsets; `preference` is indexed by mask."""
    n = len(weights)
    masks = np.arange(2**n)
    chosen = (masks[:, None] >> np.arange(n)) & 1
    loads = chosen @ weights
    mirrored = chosen @ (1 << np.arange(n)[::-1])  # item 0 first: of as many items, the larger lists come first
    preference = np.empty(2**n, dtype=np.int64)
    preference[np.lexsort((-mirrored, chosen.sum(axis=1)))] = masks
    order = np.argsort(loads, kind="stable")
    parts = order, loads[order], preference
    for part in parts:
        part.setflags(write=False)
    return Catalogue(*parts)


@njit(cache=True, nogil=True)
def fill_from_catalogue(masks, loads, preference, values, capacities, take):
    """Write an optimal 0/1 vector for every capacity >= 0 into the zeros of `take`, all for one vector of values."""
    n = len(values)
    worth = np.zeros(len(masks))
    for j in range(n):
        for mask in range(1 << j):
            worth[mask + (1 << j)] = worth[mask] + values[j]
    best = np.empty(len(masks), np.int64)
    chosen, record, tie = masks[0], worth[masks[0]], 0.0
    for k in range(len(masks)):
        mask = masks[k]
        if mask & (mask - 1) == 0:  # a single item: ties are measured by the largest that fits
            tie = max(tie, TIE * worth[mask])
        if worth[mask] > record + tie:
            chosen, record = mask, worth[mask]
        elif worth[mask] >= record - tie:
            record = max(record, worth[mask])
            if preference[mask] < preference[chosen]:
                chosen = mask
        best[k] = chosen
    for row in range(len(capacities)):
        chosen = best[np.searchsorted(loads, capacities[row], side="right") - 1]
        for j in range(n):
            if chosen >> j & 1:
                take[row, j] = 1.0
