"""Rounds of cutting planes: the compiled pool of cuts against lists of cuts, and that the angles take it."""

import numpy as np
import pytest

import conformio as cio
from conformio._kernels.cut_projections import cut_round, cut_round_twin
from conformio.calibration import cuts as route


@pytest.mark.parametrize("nonnegative", [False, True])
def test_rounds_equal_their_twin(nonnegative):
    rng = np.random.default_rng(0)
    centers = rng.random((6, 5)) + 0.1
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    feet, violations = centers.copy(), np.zeros(6)
    pool, older, newest, used = np.empty((60, 5)), np.empty(60, np.int64), np.full(6, -1, np.int64), 0
    lists, twins = [[] for _ in range(6)], centers.copy()
    for _ in range(10):
        fresh = rng.integers(-1, 2, (6, 5)).astype(float)
        used, still = cut_round(
            pool, older, newest, used, fresh, np.arange(6), centers, feet, violations, nonnegative, 1e-11, 1e-9
        )
        before = twins
        twins = cut_round_twin(lists, fresh, centers, twins, nonnegative, 1e-11)
        np.testing.assert_allclose(feet, twins, rtol=0, atol=1e-12)
        moved = np.abs(twins - before).max(axis=1) > 1e-12
        assert (still | ~moved | (np.linalg.norm(twins, axis=1) < 1e-8)).all()
    assert used == sum(len(cuts) for cuts in lists)


def test_angles_take_the_kernel_and_its_pool_grows(monkeypatch):
    rng, sizes = np.random.default_rng(1), []
    problem = cio.Knapsack(rng.random(12) + 0.2)
    budgets = rng.uniform(1.0, 5.0, 4)
    decisions = problem.solve(rng.random((4, 12)), budgets)

    def counted(pool, *others):
        sizes.append(len(pool))
        return cut_round(pool, *others)

    monkeypatch.setattr(route, "cut_round", counted)
    fast = cio.conformity_angles(problem, rng.random(12), budgets, decisions)
    assert (fast > 0).any()
    assert max(sizes) > min(sizes)
