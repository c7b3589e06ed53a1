"""Rows put together directly, against scipy's way."""

import numpy as np
import pytest
from scipy import sparse

from conformio.estimators._sparse_rows import beside, diagonal
from conformio.estimators.base import TrainingData
from conformio.estimators.cutting_planes import Ball, _Master
from conformio.estimators.losses import MeanLoss, NormPenalty
from conformio.networks import Network
from conformio.problems import ShortestPath


@pytest.mark.parametrize("seed", range(20))
def test_beside_is_hstack(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(0, 6))
    blocks = [
        sparse.csr_array(rng.random((m, int(width))) * (rng.random((m, int(width))) < 0.5))
        for width in rng.integers(1, 6, size=int(rng.integers(1, 5)))
    ]
    found = beside(*blocks)
    np.testing.assert_array_equal(found.toarray(), sparse.hstack(blocks).toarray())
    assert found.has_sorted_indices


def test_diagonal():
    np.testing.assert_array_equal(diagonal(np.array([1.0, -2.0])).toarray(), np.diag([1.0, -2.0]))


@pytest.mark.parametrize("seeded", [False, True])
def test_columns_of_the_master(seeded):
    rng = np.random.default_rng(0)
    problem = ShortestPath(Network.grid(3, 3))
    contexts = np.array([rng.choice(9, 2, replace=False) for _ in range(15)], dtype=float)
    decisions = problem.solve(rng.uniform(1, 2, (15, problem.n_params)), contexts)
    loss = NormPenalty(MeanLoss(TrainingData.checked(problem, contexts, decisions, "test")), 0.1)
    d = problem.n_params
    ball = Ball(np.ones(d), 3.0, np.ones(d, dtype=bool))
    master = _Master(loss, ball, "test", np.random.default_rng(1) if seeded else None)
    theta, aux = rng.random(d) + 0.5, rng.random(len(loss.aux_lower))
    rows = loss.separate(np.concatenate([theta, aux])).rows
    step = theta - 1.0
    columns = np.concatenate([np.maximum(step, 0)[master._order], np.maximum(-step, 0)[master._order], aux])
    found = master._in_columns(rows) @ columns + rows[:, :d] @ np.ones(d)
    np.testing.assert_allclose(found, rows @ np.concatenate([theta, aux]), atol=1e-12)
    assert (np.sort(master._order) == np.arange(d)).all()
