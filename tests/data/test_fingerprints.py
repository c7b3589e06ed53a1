"""The fingerprint of data depends on what they say, not on what holds them."""

import numpy as np
import pytest
from scipy import sparse

from conformio.data import data_fingerprint, fingerprints

CONTEXTS = np.arange(20.0).reshape(10, 2)
DECISIONS = np.random.default_rng(0).integers(0, 2, (10, 7)).astype(float)


@pytest.mark.parametrize(
    "other",
    [
        sparse.csr_array(DECISIONS),
        sparse.csr_array(DECISIONS.astype(np.int8)),
        DECISIONS.astype(np.int8),
        np.asfortranarray(DECISIONS),
    ],
)
def test_the_container_does_not_matter(other):
    assert data_fingerprint(CONTEXTS, other) == data_fingerprint(CONTEXTS, DECISIONS)


def test_blocks_do_not_matter_for_equality(monkeypatch):
    monkeypatch.setattr(fingerprints, "_BLOCK_ROWS", 3)
    assert data_fingerprint(CONTEXTS, sparse.csr_array(DECISIONS)) == data_fingerprint(CONTEXTS, DECISIONS)


def test_every_change_is_seen():
    found = {data_fingerprint(CONTEXTS, DECISIONS)}
    for change in (
        (CONTEXTS[::-1].copy(), DECISIONS),
        (CONTEXTS, DECISIONS[::-1].copy()),
        (CONTEXTS + 1e-12, DECISIONS),
        (CONTEXTS, DECISIONS * 2.0),
        (CONTEXTS[:9], DECISIONS[:9]),
        (CONTEXTS, np.hstack([DECISIONS, np.zeros((10, 1))])),
    ):
        found.add(data_fingerprint(*change))
    assert len(found) == 7
