"""Rows that are equal, and sums over them: one pass each (compiled).

Rows are told apart by a hash table over their bits, with open addressing; a table that is more than half full is built
again at twice the size. Nothing is sorted, so the work grows with the number of rows alone.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from conformio.checks import FloatArray, IntArray

__all__ = ["add_rows", "add_rows_by_group", "group_bits", "group_rows", "group_rows_twin"]

_NEGATIVE_ZERO = np.int64(-(2**63))
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio: spreads neighbouring numbers
# whole numbers as floats end in zeros: one factor leaves them in one spot
_SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9)


@njit(cache=True, nogil=True)
def _key(bits, row, column):
    """The bits of one number; -0.0 equals 0.0."""
    value = bits[row, column]
    return np.int64(0) if value == _NEGATIVE_ZERO else value


@njit(cache=True, nogil=True)
def _hash(bits, row):
    code = np.uint64(bits.shape[1])
    for column in range(bits.shape[1]):
        code = (code ^ np.uint64(_key(bits, row, column))) * _FACTOR
        code = (code ^ (code >> np.uint64(29))) * _SECOND_FACTOR
        code ^= code >> np.uint64(32)
    return code


@njit(cache=True, nogil=True)
def _equal(bits, row, other):
    same = True
    for column in range(bits.shape[1]):
        same = same and _key(bits, row, column) == _key(bits, other, column)
    return same


@njit(cache=True, nogil=True)
def group_bits(bits):
    """First row of every group of equal rows, in the order of appearance, and each row's group.

    `bits` are the rows as int64 (N, w), the bit patterns of finite float64 numbers.
    """
    n_rows = len(bits)
    group, first = np.empty(n_rows, np.int64), np.empty(64, np.int64)
    table, mask, n_groups = np.full(256, -1, np.int64), np.uint64(255), 0
    for row in range(n_rows):
        place = _hash(bits, row) & mask
        while table[place] >= 0 and not _equal(bits, row, first[table[place]]):
            place = (place + np.uint64(1)) & mask
        if table[place] >= 0:
            group[row] = table[place]
            continue
        if n_groups == len(first):
            longer = np.empty(2 * n_groups, np.int64)
            longer[:n_groups] = first
            first = longer
        table[place] = n_groups
        first[n_groups] = row
        group[row] = n_groups
        n_groups += 1
        if 2 * n_groups > len(table):
            table = np.full(2 * len(table), -1, np.int64)
            mask = np.uint64(len(table) - 1)
            for g in range(n_groups):
                place = _hash(bits, first[g]) & mask
                while table[place] >= 0:
                    place = (place + np.uint64(1)) & mask
                table[place] = g
    return first[:n_groups], group


def group_rows(rows: FloatArray) -> tuple[IntArray, IntArray]:
    """First row of each group of equal rows, groups in sorted order, and every row's group.

    Parameters
    ----------
    rows : float array, shape (N, w)
        Finite.

    Examples
    --------
    >>> import numpy as np
    >>> from conformio._kernels.grouping import group_rows
    >>> group_rows(np.array([[3.0, 1.0], [0.0, 2.0], [3.0, 1.0]]))
    (array([1, 0]), array([1, 0, 1]))
    """
    if len(rows) <= 1 or rows.shape[1] == 0:
        return np.arange(min(len(rows), 1)), np.zeros(len(rows), dtype=np.int64)
    bits = np.ascontiguousarray(rows, dtype=np.float64).view(np.int64)
    bits.setflags(write=False)
    first, group = group_bits(bits)
    order = np.lexsort(rows[first].T[::-1])
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return first[order], rank[group]


def group_rows_twin(rows: FloatArray) -> tuple[IntArray, IntArray]:
    """`group_rows` by sorting."""
    if rows.shape[1] == 0:
        return np.arange(min(len(rows), 1)), np.zeros(len(rows), dtype=np.int64)
    _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, group.ravel()


@njit(cache=True, nogil=True)
def add_rows_by_group(indptr, indices, entries, group, sums):
    """Add every CSR row to the row of `sums` that is its group's; whole rows of one byte do not overflow there."""
    for row in range(len(group)):
        g = group[row]
        for k in range(indptr[row], indptr[row + 1]):
            sums[g, indices[k]] += entries[k]


@njit(cache=True, nogil=True)
def add_rows(indptr, indices, entries, rows, total):
    """Add the CSR rows of these numbers to the vector `total`."""
    for row in rows:
        for k in range(indptr[row], indptr[row + 1]):
            total[indices[k]] += entries[k]
