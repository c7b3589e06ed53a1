"""Nonnegative least squares: optimality conditions, and the general solver where that is sound."""

import numpy as np
import pytest
from scipy.optimize import nnls

from conformio._kernels.least_squares import nonnegative_least_squares


@pytest.mark.parametrize("seed", range(200))
def test_optimality_conditions_hold(seed):
    """Small whole numbers make degenerate faces and dependent columns; the conditions prove the optimum."""
    rng = np.random.default_rng(seed)
    d, m = int(rng.integers(1, 12)), int(rng.integers(1, 40))
    matrix = rng.integers(-1, 2, (d, m)).astype(float) if seed % 2 else rng.normal(size=(d, m))
    if seed % 3 == 0:
        matrix = np.hstack([matrix, np.eye(d)])
    target = rng.integers(-3, 4, d).astype(float)
    weights, violation = nonnegative_least_squares(np.ascontiguousarray(matrix), target, 2000)
    slopes = matrix.T @ (target - matrix @ weights)
    assert (weights >= 0).all()
    assert violation <= 1e-12
    assert slopes.max(initial=0.0) <= 1e-11
    assert abs(weights @ slopes) <= 1e-11
    try:
        _, residual = nnls(matrix, target)
    except RuntimeError:
        return
    assert np.linalg.norm(matrix @ weights - target) <= residual + 1e-10


def test_no_step_leaves_a_violation_to_tell():
    weights, violation = nonnegative_least_squares(np.eye(3), np.ones(3), 1)
    assert weights.sum() == 1.0
    assert violation == 1.0


def test_zero_columns_weigh_nothing():
    weights, violation = nonnegative_least_squares(np.array([[0.0, 1.0]]), np.array([2.0]), 100)
    np.testing.assert_array_equal(weights, [0.0, 2.0])
    assert violation == 0.0
