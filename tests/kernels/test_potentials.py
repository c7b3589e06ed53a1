"""Potentials that leave no edge a hinge, against shortest paths; sums of rows against their twin."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

from conformio._kernels.grouping import add_rows
from conformio._kernels.potentials import hinges_twin, settle


def random_edges(rng, n_nodes, n_edges):
    """Edges between different nodes, at most one from each to each other."""
    pairs = np.array([(i, j) for i in range(n_nodes) for j in range(n_nodes) if i != j])
    return rng.permutation(pairs)[:n_edges].T


def has_negative_cycle(tails, heads, slack, n_nodes):
    try:
        csgraph.bellman_ford(sparse.csr_array((slack, (tails, heads)), shape=(n_nodes, n_nodes)))
    except csgraph.NegativeCycleError:
        return True
    return False


def test_settled_potentials_leave_no_hinge_unless_a_cycle_is_negative():
    verdicts = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 9))
        tails, heads = random_edges(rng, n, 3 * n)
        slack = rng.normal(rng.choice([0.0, 1.0]), 1.0, len(tails))
        x = rng.normal(size=n)
        settled = settle(tails, heads, slack, x, 1e-12)
        assert settled is not has_negative_cycle(tails, heads, slack, n)
        if settled:
            assert hinges_twin(tails, heads, slack, x).max() <= 1e-11
        verdicts.append(settled)
    assert set(verdicts) == {True, False}


def test_settling_lowers_no_more_than_it_must():
    slack, x = np.array([1.0, 1.0]), np.array([0.0, 5.0, 0.5])
    assert settle(np.array([0, 1]), np.array([1, 2]), slack, x, 0.0)
    assert x.tolist() == [0.0, 1.0, 0.5]


@pytest.mark.parametrize("kind", [np.float64, np.int8])
def test_sums_of_some_rows_equal_those_of_the_dense_matrix(kind):
    rng = np.random.default_rng(0)
    matrix = sparse.csr_array((rng.random((30, 7)) < 0.3).astype(kind))
    rows, total = rng.integers(30, size=200), np.zeros(7)  # with repetitions: more than one byte holds
    add_rows(matrix.indptr, matrix.indices, matrix.data, rows, total)
    np.testing.assert_array_equal(total, matrix.toarray().astype(np.float64)[rows].sum(axis=0))
