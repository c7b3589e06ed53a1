"""Exact solution of `L x = b` for a weighted graph Laplacian in envelope form (compiled).

Row `i` of the factor `L = U' D U` is stored from its first neighbour on. When nodes are numbered along a trip, so that
edges join nearby numbers, rows are short and the factorisation is a few tight loops: faster than eliminating nodes by
degree (`_kernels.laplacian`), which takes over where rows would be long. One node of each component is grounded at 0.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from conformio._kernels.laplacian import solve_laplacian
from conformio.checks import FloatArray, IntArray

__all__ = ["solve_weighted", "solve_weighted_twin"]

_LONG_ROWS = 48
_GROUNDED = 1e-10


def solve_weighted_twin(rows: IntArray, cols: IntArray, weights: FloatArray, rhs: FloatArray) -> FloatArray:
    """`solve_weighted` by dense least squares, up to a constant per component."""
    laplacian = np.zeros((len(rhs), len(rhs)))
    for i, j, weight in zip(rows, cols, weights, strict=True):
        laplacian[[i, j], [i, j]] += weight
        laplacian[[i, j], [j, i]] -= weight
    return np.asarray(np.linalg.lstsq(laplacian, rhs, rcond=None)[0])


@njit(cache=True, nogil=True)
def solve_weighted(rows, cols, weights, rhs):
    """Solve for potentials at nodes `0..len(rhs)-1`; edge k joins `rows[k] != cols[k]`.

    Parameters
    ----------
    rows, cols : int64 arrays (m,)
    weights : float array (m,)
        Positive.
    rhs : float array (n,)
        Sums to zero over each component; overwritten.

    Returns
    -------
    float array (n,)
    """
    n = len(rhs)
    first = np.arange(n)
    for k in range(len(rows)):
        low, high = min(rows[k], cols[k]), max(rows[k], cols[k])
        first[high] = min(first[high], low)
    start = np.empty(n, np.int64)  # entry (i, j) of the envelope is `factor[start[i] + j]`
    size = 0
    for i in range(n):
        start[i] = size - first[i]
        size += i - first[i]
    if size > _LONG_ROWS * n:
        return solve_laplacian(rows, cols, weights, rhs)
    factor, diagonal = np.zeros(size), np.zeros(n)
    for k in range(len(rows)):
        low, high = min(rows[k], cols[k]), max(rows[k], cols[k])
        diagonal[low] += weights[k]
        diagonal[high] += weights[k]
        factor[start[high] + low] -= weights[k]
    _factorise(first, start, factor, diagonal, rhs)
    return _substitute_back(first, start, factor, diagonal, rhs)


@njit(cache=True, nogil=True)
def _factorise(first, start, factor, pivots, x):
    """Factor in place (pivots inverted; 0 where a component is grounded) and eliminate forwards in `x`."""
    for j in range(len(x)):
        row = start[j]
        for i in range(first[j] + 1, j):
            above = start[i]
            value = factor[row + i]
            for k in range(max(first[i], first[j]), i):
                value -= factor[above + k] * factor[row + k]
            factor[row + i] = value
        weight, value = pivots[j], x[j]
        pivot = weight
        for i in range(first[j], j):
            scaled = factor[row + i] * pivots[i]
            pivot -= scaled * factor[row + i]
            value -= scaled * x[i]
            factor[row + i] = scaled
        x[j] = value
        pivots[j] = 1.0 / pivot if pivot > _GROUNDED * weight else 0.0


@njit(cache=True, nogil=True)
def _substitute_back(first, start, factor, pivots, x):
    for i in range(len(x)):
        x[i] *= pivots[i]
    for j in range(len(x) - 1, -1, -1):
        for i in range(first[j], j):
            x[i] -= factor[start[j] + i] * x[j]
    return x
