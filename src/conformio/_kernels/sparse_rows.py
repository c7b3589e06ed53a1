"""Products and lengths of compressed sparse rows in one pass (compiled)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from conformio.checks import FloatArray

__all__ = ["products_and_squares", "products_and_squares_twin"]


@njit(cache=True, nogil=True)
def products_and_squares(
    indptr: Any, indices: Any, data: FloatArray, centers: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """`center . x` and `x . x` for each row `x` of a CSR matrix; `centers` has one row for all or one each."""
    n_rows, shared = len(indptr) - 1, len(centers) == 1
    products, squares = np.zeros(n_rows), np.zeros(n_rows)
    for row in range(n_rows):
        center, product, square = centers[0 if shared else row], 0.0, 0.0
        for k in range(indptr[row], indptr[row + 1]):
            product += data[k] * center[indices[k]]
            square += data[k] * data[k]
        products[row], squares[row] = product, square
    return products, squares


def products_and_squares_twin(rows: Any, centers: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same from the matrix made dense."""
    x = rows.toarray()
    return (x * centers).sum(axis=1), (x**2).sum(axis=1)
