"""Laplacian systems: eliminated node by node, against dense least squares."""

import numpy as np
import pytest

from conformio._kernels.laplacian import solve_laplacian, solve_laplacian_twin


def laplacian_times(rows, cols, x):
    out = np.zeros(len(x))
    np.add.at(out, rows, x[rows] - x[cols])
    np.add.at(out, cols, x[cols] - x[rows])
    return out


@pytest.mark.parametrize("seed", range(60))
def test_random_multigraphs(seed):
    """Several components, parallel edges, isolated nodes: equal to the twin up to a constant per component."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 50)), int(rng.integers(1, 120))
    rows, cols = rng.integers(n, size=(2, m))
    keep = rows != cols
    rows, cols = rows[keep], cols[keep]
    rhs = laplacian_times(rows, cols, rng.normal(size=n))
    x = solve_laplacian(rows, cols, rhs.copy())
    twin = solve_laplacian_twin(rows, cols, rhs)
    np.testing.assert_allclose(laplacian_times(rows, cols, x), rhs, atol=1e-12)
    np.testing.assert_allclose((x - twin)[rows], (x - twin)[cols], atol=1e-10)


def test_grid_and_complete_graph_grow_the_pools():
    side = np.arange(900).reshape(30, 30)
    grid = (
        np.concatenate([side[:, :-1].ravel(), side[:-1].ravel()]),
        np.concatenate([side[:, 1:].ravel(), side[1:].ravel()]),
    )
    star = np.zeros(40, np.int64), np.arange(1, 41)
    rng = np.random.default_rng(0)
    for rows, cols in (grid, star):
        rhs = laplacian_times(rows, cols, rng.normal(size=int(cols.max()) + 1))
        x = solve_laplacian(rows, cols, rhs.copy())
        np.testing.assert_allclose(laplacian_times(rows, cols, x), rhs, atol=1e-11)
