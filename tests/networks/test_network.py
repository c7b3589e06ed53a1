"""What a Network is, refuses and keeps."""

from __future__ import annotations

import copy
import pickle

import networkx as nx
import numpy as np
import pytest

from conformio.errors import InvalidInputError
from conformio.networks import Network


def test_parts_are_kept_and_typed():
    network = Network([0, 1, 0.0], (1, 2, 1), attributes={"minutes": [1, 2, 3]})
    assert network.tails.dtype == network.heads.dtype == np.int64
    assert (network.n_nodes, network.n_edges) == (3, 3)
    assert network.attributes["minutes"].tolist() == [1, 2, 3]
    assert network.zones.tolist() == [False] * 3
    assert network.node_ids is None
    assert network.coordinates is None


def test_repr_is_short():
    assert repr(Network([0], [1])) == "Network(n_nodes=2, n_edges=1)"
    assert repr(Network([0], [1], zones=[True, False])) == "Network(n_nodes=2, n_edges=1, n_zones=1)"


def test_isolated_nodes_may_follow():
    assert Network([0], [1], 5).n_nodes == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [1]), "`heads` of Network: must have length 2; got length 1"),
        (([], []), "`tails` of Network: must name at least one edge"),
        (([[0]], [[1]]), "`tails` of Network: must have one dimension"),
        (([0, 0.5], [1, 1]), r"`tails` row 1 of Network: must be whole numbers >= 0; got 0.5.*from_table"),
        (([0], [-1]), "`heads` row 0 of Network: must be whole numbers >= 0; got -1"),
        (([0, np.nan], [1, 1]), "`tails` row 1 of Network: must be finite"),
        ((["a"], ["b"]), "`tails` row 0 of Network: must hold real numbers"),
        (([0, 1], [1, 3], 3), r"`heads` row 1 of Network: must be in 0\.\.2; got 3"),
        (([0, 4], [1, 3], 4), r"`tails` row 1 of Network: must be in 0\.\.3; got 4"),
        (([0], [1], 0), "`n_nodes` of Network: must be a whole number >= 1; got 0"),
        (([0], [1], 2.5), "`n_nodes` of Network: must be a whole number"),
        (
            ([0, 1], [1, 1]),
            "`heads` row 1 of Network: .*self-loops, which cancel.*from node 1 to itself.*Leave",
        ),
        (([0], [1], None, [1.0]), "`attributes` of Network: must map names to arrays; got list"),
        (([0], [1], None, {3: [1.0]}), "`attributes` of Network: must have names that are strings; got 3"),
        (
            ([0], [1], None, {"t": [1.0, 2.0]}),
            r"`attributes\['t'\]` of Network: must have shape \(1,\), one per edge",
        ),
        (([0], [1], None, {"t": ["x"]}), r"`attributes\['t'\]` of Network: must hold numbers"),
        (([0], [1], None, {"t": [np.nan]}), r"`attributes\['t'\]` row 0 of Network: must not be missing"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        Network(*arguments)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"zones": [0, 1]}, r"`zones` of Network: must be one bool per node, shape \(2,\); got dtype int64"),
        ({"zones": [True]}, "`zones` of Network: must be one bool per node"),
        ({"node_ids": ["a"]}, "`node_ids` of Network: must name all 2 nodes; got 1 names"),
        ({"node_ids": ["a", "a"]}, "`node_ids` row 1 of Network: must be unique; got 'a'"),
        (
            {"coordinates": [[0, 1]]},
            r"`coordinates` of Network: must have one \(x, y\) per node, shape \(2, 2\)",
        ),
        ({"coordinates": [[0, 1], [0, np.inf]]}, "`coordinates` row 1 of Network: must be finite"),
    ],
)
def test_wrong_extras(extra, message):
    with pytest.raises(InvalidInputError, match=message):
        Network([0], [1], **extra)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1e300], [1]), r"`tails` row 0 of Network: must be below 2\*\*31 = 2147483648; got 1e\+300"),
        (([2**63], [1]), r"`tails` row 0 of Network: must be below 2\*\*31"),
        (([0, 0], [1, 2**31]), r"`heads` row 1 of Network: must be below 2\*\*31 = 2147483648; got 2147483648"),
        (([0], [10**12]), r"`heads` row 0 of Network: must be below 2\*\*31 = .*; got 1000000000000"),
        (([0], [1], 10**13), r"`n_nodes` of Network: must be at most 2\*\*31 = 2147483648; got 10000000000000"),
        (([False], [True]), "`tails` of Network: must be whole numbers >= 0; got dtype bool"),
        (([0], np.array([True])), "`heads` of Network: must be whole numbers >= 0; got dtype bool"),
    ],
)
def test_numbers_are_never_cast_beyond_their_range(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        Network(*arguments)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"attributes": {"t": [[1], [2, 3]]}}, r"`attributes\['t'\]` of Network: must be a rectangular array"),
        ({"attributes": {"t": [np.inf]}}, r"`attributes\['t'\]` row 0 of Network: must be finite; got inf. Leave the"),
        ({"zones": [[True], [True, False]]}, "`zones` of Network: must be a rectangular array"),
        ({"coordinates": [[0, 1], [0]]}, "`coordinates` of Network: must be a rectangular array"),
        ({"coordinates": [["a", "b"], ["c", "d"]]}, "`coordinates` row 0 of Network: must hold real"),
        ({"node_ids": [[1], [2]]}, r"`node_ids` row 0 of Network: must be names that never change; got \[1\]"),
        ({"node_ids": np.array([[1], [2]])}, "`node_ids` row 0 of Network: must be names that never change"),
        ({"node_ids": 5}, "`node_ids` of Network: must be a sequence with one name per node; got 5"),
        ({"node_ids": "ab"}, "`node_ids` of Network: must be a sequence with one name per node; got 'ab'"),
        ({"node_ids": np.array("ab")}, "`node_ids` of Network: must name all 2 nodes; got 1 names"),
    ],
)
def test_ragged_and_odd_parts(extra, message):
    with pytest.raises(InvalidInputError, match=message):
        Network([0], [1], **extra)


def test_large_names_are_not_rounded():
    assert Network([0], [1], node_ids=[2**63 + 1, -1]).node_ids.tolist() == [2**63 + 1, -1]


def test_nothing_can_be_changed():
    network = Network.grid(2, 2)
    with pytest.raises(AttributeError, match="never changes; build a new one instead of setting 'tails'"):
        network.tails = np.zeros(8)
    with pytest.raises(AttributeError, match="instead of deleting 'heads'"):
        del network.heads
    kept = Network([0], [1], attributes={"a": [1.0]}, node_ids=["x", "y"])
    arrays = [network.tails, network.heads, network.coordinates, network.zones, network.out_start]
    arrays += [network.out_edges, network.in_start, network.in_edges, kept.attributes["a"], kept.node_ids]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]
    with pytest.raises(TypeError):
        kept.attributes["b"] = np.ones(1)


def test_the_callers_arrays_stay_the_callers():
    tails, times = np.array([0, 1]), np.array([1.0, 2.0])
    places, zones = np.zeros((3, 2)), np.zeros(3, bool)
    network = Network(tails, [1, 2], attributes={"t": times}, coordinates=places, zones=zones)
    tails[0], times[0], places[0, 0], zones[0] = 2, 9.0, 9.0, True
    assert network.tails[0] == 0
    assert network.attributes["t"][0] == 1.0
    assert network.coordinates[0, 0] == 0.0
    assert not network.zones[0]


def test_copies_are_the_network_itself():
    network = Network.grid(2, 2)
    assert copy.copy(network) is network
    assert copy.deepcopy([network])[0] is network


def test_pickles_keep_everything_and_stay_read_only():
    network = Network(
        [0, 1],
        [1, 0],
        attributes={"t": [1.0, 2.0]},
        zones=[True, False],
        node_ids=[(0, 1), "b"],
        coordinates=np.eye(2),
    )
    again = pickle.loads(pickle.dumps(network))
    for name in ("tails", "heads", "zones", "coordinates"):
        np.testing.assert_array_equal(getattr(again, name), getattr(network, name))
        assert not getattr(again, name).flags.writeable
    assert again.node_ids.tolist() == [(0, 1), "b"]
    assert again.attributes["t"].tolist() == [1.0, 2.0]


def test_the_papers_grid():
    grid = Network.grid(6, 6)
    assert (grid.n_nodes, grid.n_edges) == (36, 120)
    assert sorted(zip(grid.tails, grid.heads, strict=True)) == list(zip(grid.tails, grid.heads, strict=True))


@pytest.mark.parametrize(("rows", "cols"), [(1, 2), (3, 1), (2, 3), (5, 5)])
def test_grid_equals_networkx(rows, cols):
    grid = Network.grid(rows, cols)
    graph = nx.grid_2d_graph(rows, cols).to_directed()
    assert {(t, h) for t, h in zip(grid.tails, grid.heads, strict=True)} == {
        (r * cols + c, q * cols + d) for (r, c), (q, d) in graph.edges
    }
    assert grid.n_edges == graph.number_of_edges()
    assert grid.coordinates[cols * (rows - 1)].tolist() == [0.0, rows - 1.0]


@pytest.mark.parametrize(
    ("rows", "cols", "message"),
    [
        (0, 3, "`rows` of Network.grid: must be a whole number >= 1; got 0"),
        (3, 2.0, "`cols` of Network.grid: must be a whole number >= 1; got 2.0"),
        (
            10**7,
            10**7,
            r"`cols` of Network.grid: must give a number of edges below 2\*\*31.*with 399999960000000 edges",
        ),
        (1, 1, "`cols` of Network.grid: must give at least two nodes in all; got 1 x 1"),
    ],
)
def test_wrong_grids(rows, cols, message):
    with pytest.raises(InvalidInputError, match=message):
        Network.grid(rows, cols)


def test_adjacency_lists_every_edge_once_by_tail_and_by_head():
    rng = np.random.default_rng(0)
    tails = rng.integers(9, size=40)
    network = Network(tails, (tails + rng.integers(1, 9, size=40)) % 9, 11)
    for i in range(11):
        leaving = network.out_edges[network.out_start[i] : network.out_start[i + 1]]
        entering = network.in_edges[network.in_start[i] : network.in_start[i + 1]]
        assert leaving.tolist() == np.flatnonzero(network.tails == i).tolist()
        assert entering.tolist() == np.flatnonzero(network.heads == i).tolist()


def test_incidence_is_plus_one_into_heads_and_minus_one_out_of_tails():
    network = Network([0, 1, 0], [1, 2, 1])
    assert network.incidence.toarray().tolist() == [[-1, 0, -1], [1, -1, 1], [0, 1, 0]]


def test_node_index_translates_names():
    network = Network([0], [1], node_ids=["home", "work"])
    assert network.node_index(["work", "home", "work"]).tolist() == [1, 0, 1]
    with pytest.raises(
        InvalidInputError, match=r"`ids` row 1 of Network.node_index: must name nodes.*'sea'. Its names are like 'home'"
    ):
        network.node_index(["home", "sea"])
    with pytest.raises(InvalidInputError, match=r"`ids` of Network.node_index: needs a network with node_ids"):
        Network.grid(2, 2).node_index([0])


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ("ab", r"`ids` of Network.node_index: must be a sequence of names; got 'ab'. For a single name write \['ab'\]"),
        (5, r"`ids` of Network.node_index: must be a sequence of names; got 5"),
        ([["a"]], r"`ids` row 0 of Network.node_index: must name nodes of the network; got \['a'\]"),
        (np.array([["a"]]), "`ids` row 0 of Network.node_index: must name nodes of the network"),
    ],
)
def test_wrong_names(ids, message):
    with pytest.raises(InvalidInputError, match=message):
        Network([0], [1], node_ids=["a", "b"]).node_index(ids)
