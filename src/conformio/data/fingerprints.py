"""One SHA-256 for a set of observations, whatever arrays hold it."""

from __future__ import annotations

import hashlib

import numpy as np
from scipy import sparse

from conformio.checks import Decisions, FloatArray

__all__ = ["data_fingerprint"]

_BLOCK_ROWS = 65_536


def data_fingerprint(contexts: FloatArray, decisions: Decisions) -> str:
    """SHA-256 of checked contexts and decisions: equal rows in equal order, equal fingerprint.

    Dense and sparse decisions count as equal, and so do the types of their numbers. Rows are worked on in blocks.
    """
    digest = hashlib.sha256(np.array([*contexts.shape, *decisions.shape], dtype="<i8").tobytes())
    for start in range(0, contexts.shape[0], _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        entries = sparse.csr_array(decisions[rows])
        digest.update(np.ascontiguousarray(contexts[rows], dtype="<f8").tobytes())
        digest.update(np.diff(entries.indptr).astype("<i8").tobytes())
        digest.update(entries.indices.astype("<i8").tobytes())
        digest.update(entries.data.astype("<f8").tobytes())
    return digest.hexdigest()
