"""Shortest paths spoken to in networks and contexts."""

from __future__ import annotations

import numpy as np
import pytest

from conformio._kernels import paths
from conformio.networks import Network
from conformio.networks.shortest import cost_tree, shortest_paths

GRID = Network.grid(5, 5)


@pytest.mark.parametrize("seed", range(5))
def test_trees_forwards_and_backwards_agree_with_paths(seed):
    rng = np.random.default_rng(seed)
    costs = rng.random(GRID.n_edges)
    root = int(rng.integers(25))
    every = np.arange(25.0)
    forwards, last = cost_tree(GRID, costs, root)
    backwards, first = cost_tree(GRID, costs, root, backwards=True)
    out = shortest_paths(GRID, costs, np.column_stack([np.full(25, root), every]))
    back = shortest_paths(GRID, costs, np.column_stack([every, np.full(25, root)]))
    np.testing.assert_allclose(out.decisions(GRID.n_edges) @ costs, forwards, rtol=1e-14)
    np.testing.assert_allclose(back.decisions(GRID.n_edges) @ costs, backwards, rtol=1e-14)
    for node in range(25):
        if node == root:
            assert (last[node], first[node]) == (-1, -1)
            continue
        assert last[node] == out.edges[out.indptr[node + 1] - 1]
        assert first[node] == back.edges[back.indptr[node]]


def test_pairs_without_a_path_are_marked():
    batch = shortest_paths(Network([0, 2], [1, 3]), np.ones(2), np.array([[0.0, 1.0], [0.0, 3.0], [2.0, 2.0]]))
    assert batch.found.tolist() == [True, False, True]
    assert batch.decisions(2).toarray().tolist() == [[1, 0], [0, 0], [0, 0]]


def test_any_kind_of_array_meets_the_same_compiled_search():
    contexts = np.array([[0.0, 24.0]])
    shortest_paths(GRID, np.ones(80), contexts)
    compiled = len(paths.path_batch.signatures)
    frozen = np.ones(80)
    frozen.setflags(write=False)
    for costs in (
        frozen,
        np.ones(160)[::2],
        np.ones(80, dtype=np.int64),
        np.ones((1, 80)),
        np.ones((80, 1)).T,
    ):
        shortest_paths(GRID, costs, contexts)
    assert len(paths.path_batch.signatures) == compiled
