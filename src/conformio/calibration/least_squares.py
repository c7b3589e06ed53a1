"""Nonnegative least squares for this package: the compiled solver with its limits set and its proof handed on.

`scipy.optimize.nnls` is not used: on degenerate systems of small whole numbers it can stop at a wrong face.
"""

from __future__ import annotations

import numpy as np

from conformio._kernels.least_squares import nonnegative_least_squares
from conformio.checks import FloatArray

__all__ = ["fit_nonnegative"]


def fit_nonnegative(columns: FloatArray, target: FloatArray) -> tuple[FloatArray, float]:
    """Weights >= 0 of `columns` (d, m) closest to `target` (d,), and the largest slope left along a unit column."""
    if not columns.shape[1]:
        return np.zeros(0), 0.0
    found = nonnegative_least_squares(
        np.ascontiguousarray(columns), np.ascontiguousarray(target), 10 * (columns.shape[1] + len(target)) + 100
    )
    return np.asarray(found[0]), float(found[1])
