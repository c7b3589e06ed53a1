"""Nonnegative least squares, `min |A x - b|` over `x >= 0`, by Lawson and Hanson's active sets (compiled).

Columns are scaled to unit length. A column enters where the residual points most along it; if its own weight does not
come out positive, it depends on the columns in use up to rounding and is set aside until the others change. Subproblems
are solved orthogonally (never by normal equations), so nearly dependent columns cost no digits of the residual. The
largest remaining `A'(b - A x)` is returned: 0 up to rounding proves the optimum.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["nonnegative_least_squares"]

_ENTERS = 1e-14


@njit(cache=True, nogil=True)
def _on_columns(matrix, target, used, size):
    part = np.empty((matrix.shape[0], size))
    for k in range(size):
        part[:, k] = matrix[:, used[k]]
    return np.linalg.lstsq(part, target)[0]


@njit(cache=True, nogil=True)
def _steepest(slopes, inside, aside):
    best, where = 0.0, -1
    for j in range(len(slopes)):
        if not inside[j] and not aside[j] and slopes[j] > best:
            best, where = slopes[j], j
    return where


@njit(cache=True, nogil=True)
def nonnegative_least_squares(matrix, target, max_iter):
    """Weights and the largest remaining slope along a unit column.

    Parameters
    ----------
    matrix : float array (d, m)
    target : float array (d,)
    max_iter : int

    Returns
    -------
    weights : float array (m,)
    violation : float
        In units of the target; 0 when no column improves the fit.
    """
    d, m = matrix.shape
    scaled, lengths = np.zeros((d, m)), np.ones(m)
    for j in range(m):
        length = np.sqrt(np.sum(matrix[:, j] ** 2))
        if length > 0.0:
            lengths[j] = length
            scaled[:, j] = matrix[:, j] / length
    size_of_target = np.sqrt(np.sum(target**2))
    x, inside, aside = np.zeros(m), np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    used, size = np.empty(m, np.int64), 0
    slopes = scaled.T @ target
    for _ in range(max_iter):
        enters = _steepest(slopes, inside, aside)
        if enters < 0 or slopes[enters] <= _ENTERS * size_of_target or size == min(d, m):
            break
        used[size] = enters
        size += 1
        inside[enters] = True
        fit = _on_columns(scaled, target, used, size)
        if fit[size - 1] <= 0.0:
            size -= 1
            inside[enters] = False
            aside[enters] = True
            continue
        while True:
            step = 1.0
            for k in range(size):
                if fit[k] <= 0.0:
                    step = min(step, x[used[k]] / (x[used[k]] - fit[k]))
            kept = 0
            for k in range(size):
                j = used[k]
                x[j] += step * (fit[k] - x[j])
                if fit[k] <= 0.0 and x[j] <= 1e-15 * abs(fit[k]) + 1e-300:
                    x[j] = 0.0
                    inside[j] = False
                else:
                    used[kept] = j
                    kept += 1
            if kept == size:
                break
            size = kept
            fit = _on_columns(scaled, target, used, size)
        aside[:] = False
        residual = target.copy()
        for k in range(size):
            residual -= x[used[k]] * scaled[:, used[k]]
        slopes = scaled.T @ residual
    violation = 0.0
    for j in range(m):
        if not inside[j]:
            violation = max(violation, slopes[j])
    return x / lengths, violation
