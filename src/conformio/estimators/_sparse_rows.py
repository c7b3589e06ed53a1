"""CSR rows put together from parts that are CSR already, without the detour over coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from conformio.checks import FloatArray, IntArray

__all__ = ["beside", "diagonal"]


def beside(*blocks: Any) -> Any:
    """CSR blocks of equally many rows side by side; entries keep their order within a row.

    Examples
    --------
    >>> import numpy as np
    >>> from conformio.estimators._sparse_rows import beside, diagonal
    >>> beside(diagonal(np.array([1.0, 2.0])), diagonal(np.array([3.0, 4.0]))).toarray()
    array([[1., 0., 3., 0.],
           [0., 2., 0., 4.]])
    """
    indptr: IntArray = np.sum([block.indptr for block in blocks], axis=0, dtype=np.int64)
    indices, entries = np.empty(indptr[-1], dtype=np.int64), np.empty(indptr[-1])
    place, width = indptr[:-1].copy(), 0
    for block in blocks:
        sizes = np.diff(block.indptr)
        at = np.arange(block.nnz) + np.repeat(place - block.indptr[:-1], sizes)
        indices[at] = block.indices + width
        entries[at] = block.data
        place += sizes
        width += block.shape[1]
    return sparse.csr_array((entries, indices, indptr), shape=(len(indptr) - 1, width))


def diagonal(values: FloatArray) -> Any:
    """Square CSR array with these numbers on its diagonal."""
    n = len(values)
    return sparse.csr_array((values, np.arange(n), np.arange(n + 1)), shape=(n, n))
