"""Rank of a large sparse matrix, exact up to a size and a lower bound beyond it.

Small matrices are decomposed densely (QR with pivots). Larger ones are first shrunk: every row is added, with random
weights, to `_COPIES` of a few rows, and the same is done to the columns. That never raises the rank, and keeps any rank
well below the number left but for a coincidence.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse

from conformio.checks import IntArray

__all__ = ["RANK_LIMIT", "nonzero_rows", "sparse_rank"]

RANK_LIMIT = 1_000
"""Ranks below are exact; a larger one is reported as at least this."""

_SPARE = 20
_COPIES = 8
_NEGLIGIBLE = 1e-10


def sparse_rank(matrix: Any, limit: int = RANK_LIMIT) -> int:
    """The smaller of the rank of a CSR matrix and `limit`.

    Examples
    --------
    >>> sparse_rank(sparse.csr_array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [1.0, 0.0, -1.0]]))
    2
    """
    rows = nonzero_rows(matrix)
    rows = rows[:, np.unique(rows.indices)]
    if not rows.nnz:
        return 0
    rng = np.random.default_rng(0)
    small = _shrunk(_shrunk(rows, limit + _SPARE, rng).T.tocsr(), limit + _SPARE, rng)
    pivots = np.abs(np.diag(linalg.qr(small.toarray(), mode="r", pivoting=True, check_finite=False)[0]))
    return min(limit, int((pivots > _NEGLIGIBLE * pivots[0]).sum()))


def nonzero_rows(matrix: Any) -> Any:
    """The rows of a matrix that hold anything, as CSR without stored zeros."""
    rows = sparse.csr_array(matrix)
    rows.eliminate_zeros()
    return rows[np.flatnonzero(np.diff(rows.indptr))]


def _shrunk(rows: Any, n_kept: int, rng: np.random.Generator) -> Any:
    """At most `n_kept` random combinations of the rows."""
    n = rows.shape[0]
    if n <= n_kept:
        return rows
    targets: IntArray = rng.integers(n_kept, size=(n, _COPIES))
    weights = rng.standard_normal((n, _COPIES))
    sources = np.repeat(np.arange(n), _COPIES)
    return sparse.csr_array((weights.ravel(), (targets.ravel(), sources)), shape=(n_kept, n)) @ rows
