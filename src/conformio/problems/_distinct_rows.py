"""Work that depends on a row's parameters and context only is done once for equal rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conformio.checks import FloatArray, IntArray

__all__ = ["distinct_rows"]


def distinct_rows(theta: FloatArray, contexts: FloatArray) -> Iterator[tuple[FloatArray, IntArray]]:
    """Groups of equal rows as `(theta, rows)`: a vector, and the rows that share it and a context."""
    keys = contexts if theta.ndim == 1 else np.hstack([theta, contexts])
    if len(keys) == 0:
        return
    _, group = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(group.ravel()[order])) + 1):
        yield (theta if theta.ndim == 1 else theta[rows[0]]), rows
