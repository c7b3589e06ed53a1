"""Arrays that grow at their end without ever being held twice, and 0/1 rows made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from conformio.checks import Decisions, IntArray

__all__ = ["GrowingArray", "RowsOfOnes", "rows_of_ones"]


class GrowingArray:
    """Appends arrays; memory is asked for in steps of a half, and pages not yet written cost nothing."""

    def __init__(self, dtype: Any):
        self._values = np.empty(1024, dtype=dtype)
        self._size = 0

    def extend(self, values: NDArray[Any]) -> None:
        """Append values; the array's type must hold them."""
        end = self._size + len(values)
        if end > len(self._values):
            self._values.resize(max(end, len(self._values) * 3 // 2), refcheck=False)
        self._values[self._size : end] = values
        self._size = end

    def finish(self) -> NDArray[Any]:
        """The array, cut to its length."""
        self._values.resize(self._size, refcheck=False)
        return self._values


class RowsOfOnes:
    """0/1 decisions, gathered as the places of their ones: five bytes each."""

    def __init__(self) -> None:
        self._lengths, self._places = GrowingArray("int32"), GrowingArray("int32")

    def extend(self, lengths: IntArray, places: IntArray) -> None:
        """Append rows; the places of each are distinct and sorted."""
        self._lengths.extend(lengths)
        self._places.extend(places)

    def finish(self, n_vars: int) -> Decisions:
        """All rows as CSR with int8 data, and 32-bit indices while these suffice."""
        return rows_of_ones(self._lengths.finish(), self._places.finish(), n_vars)


def rows_of_ones(lengths: IntArray, places: IntArray, n_vars: int) -> Decisions:
    """0/1 rows as CSR, given how many ones each has and where."""
    indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    if indptr[-1] < 2**31:
        indptr, places = indptr.astype(np.int32), places.astype(np.int32, copy=False)
    rows = sparse.csr_array((np.ones(len(places), dtype=np.int8), places, indptr), shape=(len(lengths), n_vars))
    rows.has_canonical_format = True  # sorted and distinct by construction; saves a pass over all of them
    return rows
