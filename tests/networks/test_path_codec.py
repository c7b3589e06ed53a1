"""Paths to decisions and back."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from conformio.errors import InvalidInputError
from conformio.networks import Network

GRID = Network.grid(4, 4)
TWINS = Network([0, 0, 1, 1], [1, 1, 2, 0])


def random_walk(rng, network, length):
    """Edges of a walk that uses no edge twice."""
    walk = [int(rng.integers(network.n_edges))]
    while len(walk) < length:
        ways = set(np.flatnonzero(network.tails == network.heads[walk[-1]]).tolist()) - set(walk)
        if not ways:
            break
        walk.append(int(rng.choice(sorted(ways))))
    return walk


@settings(deadline=None, max_examples=60, derandomize=True)
@given(seed=st.integers(0, 10**6), n_paths=st.integers(1, 6))
def test_round_trip(seed, n_paths):
    rng = np.random.default_rng(seed)
    paths = [random_walk(rng, GRID, int(rng.integers(1, 12))) for _ in range(n_paths)]
    decisions = GRID.decisions_from_paths(paths)
    want = np.zeros((n_paths, GRID.n_edges))
    for row, path in enumerate(paths):
        want[row, path] = 1.0
    np.testing.assert_array_equal(decisions.toarray(), want)
    assert decisions.has_canonical_format
    nodes = [[int(GRID.tails[p[0]]), *GRID.heads[p].tolist()] for p in paths]
    np.testing.assert_array_equal(GRID.decisions_from_paths(nodes, kind="nodes").toarray(), want)
    for back, row in zip(GRID.paths_from_decisions(decisions), want, strict=True):
        assert back.dtype == np.int64
        assert sorted(back) == np.flatnonzero(row).tolist()
        assert (GRID.heads[back[:-1]] == GRID.tails[back[1:]]).all()


def test_simple_paths_come_back_in_walking_order():
    paths = GRID.decisions_from_paths([[0, 1, 2, 3, 7, 11], [11, 7, 3]], kind="nodes")
    dense, forth, back = paths.toarray(), *GRID.paths_from_decisions(paths)
    assert GRID.tails[forth].tolist() == [0, 1, 2, 3, 7]
    assert GRID.tails[back].tolist() == [11, 7]
    assert [p.tolist() for p in GRID.paths_from_decisions(dense)] == [forth.tolist(), back.tolist()]


def test_trips_that_go_nowhere():
    decisions = GRID.decisions_from_paths([[5], [0, 1]], kind="nodes")
    assert decisions.sum(axis=1).tolist() == [0.0, 1.0]
    empty, one = GRID.paths_from_decisions(decisions)
    assert empty.dtype == np.int64
    assert (len(empty), len(one)) == (0, 1)


def test_cheapest_of_parallel_edges():
    for costs, chosen in ([[2.0, 1.0, 0.0, 0.0], 1], [[1.0, 1.0, 0.0, 0.0], 0]):
        decisions = TWINS.decisions_from_paths([[0, 1, 2]], kind="nodes", costs=costs)
        assert np.flatnonzero(decisions.toarray()[0]).tolist() == [chosen, 2]
    assert TWINS.decisions_from_paths([[1, 2]], kind="nodes").toarray().tolist() == [[0, 0, 1, 0]]


def test_closed_walks_and_figures_of_eight_have_an_order():
    eight = Network([0, 1, 0, 2], [1, 0, 2, 0])
    (walk,) = eight.paths_from_decisions(np.ones((1, 4)))
    assert walk.tolist() == [0, 1, 2, 3]
    detour = Network([0, 1, 2, 1], [1, 2, 1, 3])
    (walk,) = detour.paths_from_decisions(np.ones((1, 4)))
    assert walk.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("paths", "kind", "message"),
    [
        ([], "edges", "`paths` of Network.decisions_from_paths: must hold at least one path"),
        (
            [[0], []],
            "edges",
            "`paths` row 1 of Network.decisions_from_paths: .*at least one; got an empty path",
        ),
        (
            [[[0, 1]]],
            "edges",
            r"`paths` row 0 of .*: must be a sequence of edges, at least one; got shape \(1, 2\)",
        ),
        ([0, 1], "edges", r"`paths` row 0 of .*: must be a sequence of edges"),
        (5, "edges", "`paths` of Network.decisions_from_paths: must be a sequence of paths"),
        ([["a", "b"]], "nodes", "`paths` row 0 of .*: must be numbers of nodes, not names.*Network.node_index"),
        ([[0], ["a", 1]], "edges", "`paths` row 1 of .*: must be numbers of edges, not names.*Network.node_index"),
        ([[None, 1]], "nodes", "`paths` row 0 of .*: must be whole numbers, the nodes passed"),
        ([[True]], "nodes", "`paths` row 0 of .*: must be whole numbers, the nodes passed"),
        ([[1e300]], "edges", r"`paths` row 0 of .*: edges must be in 0\.\.47; got 1e\+300 at step 0. Paths of node"),
        ([[0], [2**63]], "nodes", r"`paths` row 1 of .*: nodes must be in 0\.\.15; got 9.2.*e\+18 at step 0$"),
        ([[0.5]], "edges", "`paths` row 0 of .*: must be whole numbers, the edges passed"),
        ([[np.nan]], "edges", "`paths` row 0 of .*: must be whole numbers"),
        ([[0], [0, 48]], "edges", r"`paths` row 1 of .*: edges must be in 0\.\.47; got 48 at step 1"),
        ([[0], [-1]], "edges", r"`paths` row 1 of .*: edges must be in 0\.\.47; got -1 at step 0"),
        ([[0, 1], [15, 16]], "nodes", r"`paths` row 1 of .*: nodes must be in 0\.\.15; got 16 at step 1"),
        (
            [[0, 1], [0, 1, 6]],
            "nodes",
            "`paths` row 1 of .*: consecutive nodes .* got nodes 1 and 6 at step 1",
        ),
        (
            [[0, 0]],
            "nodes",
            "`paths` row 0 of .*: consecutive nodes must be joined by an edge; got nodes 0 and 0",
        ),
        ([[0, 1, 0, 1]], "nodes", "`paths` row 0 of .*: must not use an edge twice.*edge 0 again"),
        ([[0], [0, 2, 0]], "edges", "`paths` row 1 of .*: must not use an edge twice.*edge 0 again"),
        ([[0]], "links", "`kind` of Network.decisions_from_paths: must be one of 'edges', 'nodes'"),
    ],
)
def test_wrong_paths(paths, kind, message):
    with pytest.raises(InvalidInputError, match=message):
        GRID.decisions_from_paths(paths, kind=kind)


def test_a_broken_path_says_where():
    second = int(np.flatnonzero(GRID.tails == 6)[0])
    got = (
        f"got edge 0 at step 1 ends at node 1, edge {second} begins at node 6. Paths of node numbers need kind=.nodes."
    )
    message = f"`paths` row 1 of .*: each edge must begin where the one before it ends; {got}"
    with pytest.raises(InvalidInputError, match=message):
        GRID.decisions_from_paths([[0], [2, 0, second]])


def test_parallel_edges_are_ambiguous_without_costs():
    message = "`paths` row 1 of .*unambiguous: parallel edges.*nodes 0 and 1 at step 0.*or pass costs"
    with pytest.raises(InvalidInputError, match=message):
        TWINS.decisions_from_paths([[1, 2], [0, 1]], kind="nodes")
    with pytest.raises(InvalidInputError, match=r'`costs` of .*: goes with kind="nodes" only'):
        TWINS.decisions_from_paths([[0]], costs=np.ones(4))
    with pytest.raises(InvalidInputError, match=r"`costs` of .*: must have length 4"):
        TWINS.decisions_from_paths([[0, 1]], kind="nodes", costs=np.ones(3))


@pytest.mark.parametrize("sparse_rows", [False, True])
@pytest.mark.parametrize(
    ("edges", "values", "message"),
    [
        (
            [[0, 1], [14, 15]],
            1.0,
            r"`decisions` row 1 of Network.paths_from_decisions: must be one walk.*edges \d+, \d+",
        ),
        ([[0, 1, 0], [10, 11, 10]], 1.0, "row 1 of .*: must be one walk"),
        ([[0, 1]], 0.5, "row 1 of .*: must be 0 or 1 on every edge"),
    ],
)
def test_rows_that_are_no_walk(edges, values, message, sparse_rows):
    row = np.zeros(GRID.n_edges)
    for nodes in edges:
        for a, b in itertools.pairwise(nodes):
            row[(GRID.tails == a) & (GRID.heads == b)] = values
    decisions = np.array([np.zeros(GRID.n_edges), row])
    with pytest.raises(InvalidInputError, match=message):
        GRID.paths_from_decisions(sparse.csr_array(decisions) if sparse_rows else decisions)


def test_long_rows_are_named_in_short():
    apart = Network(np.arange(0, 40, 2), np.arange(1, 41, 2))
    with pytest.raises(InvalidInputError, match=r"got edges 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, \.\.\.\. A flow"):
        apart.paths_from_decisions(np.ones((1, 20)))
