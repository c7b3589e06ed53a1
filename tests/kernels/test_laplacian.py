"""Laplacian systems: in envelopes and eliminated node by node, against dense least squares."""

import numpy as np
import pytest

from conformio._kernels import envelope
from conformio._kernels.envelope import solve_weighted, solve_weighted_twin
from conformio._kernels.laplacian import solve_laplacian


def laplacian_times(rows, cols, weights, x):
    out = np.zeros(len(x))
    np.add.at(out, rows, weights * (x[rows] - x[cols]))
    np.add.at(out, cols, weights * (x[cols] - x[rows]))
    return out


@pytest.mark.parametrize("solve", [solve_weighted, solve_laplacian])
@pytest.mark.parametrize("seed", range(60))
def test_random_multigraphs(seed, solve):
    """Several components, parallel edges, isolated nodes: equal to the twin up to a constant per component."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 50)), int(rng.integers(1, 120))
    rows, cols = rng.integers(n, size=(2, m))
    keep = rows != cols
    rows, cols = rows[keep], cols[keep]
    weights = np.where(rng.random(len(rows)) < 0.5, 1.0, rng.uniform(1e-3, 1.0, len(rows)))
    rhs = laplacian_times(rows, cols, weights, rng.normal(size=n))
    x = solve(rows, cols, weights, rhs.copy())
    twin = solve_weighted_twin(rows, cols, weights, rhs)
    np.testing.assert_allclose(laplacian_times(rows, cols, weights, x), rhs, atol=1e-12)
    np.testing.assert_allclose((x - twin)[rows], (x - twin)[cols], atol=1e-9)


def test_grid_and_complete_graph_grow_the_pools():
    side = np.arange(900).reshape(30, 30)
    grid = (
        np.concatenate([side[:, :-1].ravel(), side[:-1].ravel()]),
        np.concatenate([side[:, 1:].ravel(), side[1:].ravel()]),
    )
    star = np.zeros(40, np.int64), np.arange(1, 41)
    rng = np.random.default_rng(0)
    for rows, cols in (grid, star):
        weights = rng.uniform(0.5, 1.0, len(rows))
        rhs = laplacian_times(rows, cols, weights, rng.normal(size=int(cols.max()) + 1))
        x = solve_laplacian(rows, cols, weights, rhs.copy())
        np.testing.assert_allclose(laplacian_times(rows, cols, weights, x), rhs, atol=1e-11)


def test_long_rows_are_eliminated_by_degree():
    """A star numbered the wrong way round has an envelope of n^2 / 2: the default call takes the other solver."""
    n = 400
    rows, cols, weights = np.zeros(n - 1, np.int64), np.arange(1, n), np.ones(n - 1)
    assert n * (n - 1) / 2 > envelope._LONG_ROWS * n
    rhs = laplacian_times(rows, cols, weights, np.random.default_rng(1).normal(size=n))
    np.testing.assert_array_equal(
        solve_weighted(rows, cols, weights, rhs.copy()), solve_laplacian(rows, cols, weights, rhs.copy())
    )
