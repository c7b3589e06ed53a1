"""Taking over NetworkX graphs."""

from __future__ import annotations

import sys

import networkx as nx
import pytest

from conformio.errors import InvalidInputError
from conformio.networks import Network


def test_directed_graphs_keep_order_labels_and_numbers():
    graph = nx.DiGraph()
    graph.add_edge("c", "a", minutes=3, name="x", half=1)
    graph.add_edge("a", "b", minutes=1.5, name="y")
    network = Network.from_networkx(graph, zones=["b"])
    assert network.node_ids.tolist() == ["c", "a", "b"]
    assert (network.tails.tolist(), network.heads.tolist()) == ([0, 1], [1, 2])
    assert {name: values.tolist() for name, values in network.attributes.items()} == {"minutes": [3.0, 1.5]}
    assert network.zones.tolist() == [False, False, True]
    assert network.coordinates is None


def test_parallel_edges_with_keys_are_kept():
    graph = nx.MultiDiGraph()
    graph.add_edge(7, 8, key="road", t=1.0)
    graph.add_edge(7, 8, key="path", t=2.0)
    network = Network.from_networkx(graph)
    assert network.tails.tolist() == [0, 0]
    assert network.attributes["t"].tolist() == [1.0, 2.0]
    assert network.node_ids.tolist() == [7, 8]


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
def test_undirected_edges_become_two(kind):
    graph = kind()
    graph.add_edge((0, 0), (0, 1), t=4.0)
    graph.add_edge((0, 1), (1, 1), t=5.0)
    network = Network.from_networkx(graph)
    assert (network.tails.tolist(), network.heads.tolist()) == ([0, 1, 1, 2], [1, 0, 2, 1])
    assert network.attributes["t"].tolist() == [4.0, 4.0, 5.0, 5.0]
    assert network.node_index([(1, 1)]).tolist() == [2]


def test_coordinates_come_from_x_and_y():
    graph = nx.DiGraph([(0, 1)])
    graph.nodes[0].update(x=1.0, y=2)
    assert Network.from_networkx(graph).coordinates is None
    graph.nodes[1].update(x=3.0, y=4.0)
    assert Network.from_networkx(graph).coordinates.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_values_missing_on_an_edge_are_left_out():
    graph = nx.DiGraph()
    graph.add_edge(0, 1, t=1.0, speed=float("nan"))
    graph.add_edge(1, 0, t=2.0, speed=3.0)
    graph.add_node(9)
    network = Network.from_networkx(graph)
    assert list(network.attributes) == ["t"]
    assert network.n_nodes == 3


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ([(0, 1)], "`graph` of Network.from_networkx: must be a NetworkX graph; got list"),
        (nx.DiGraph(), "`graph` of Network.from_networkx: must have at least one edge"),
        (
            nx.DiGraph([(0, 1), (1, 1)]),
            "`graph` of .*: must not hold self-loops; got one at node 1.*selfloop_edges",
        ),
    ],
)
def test_wrong_graphs(graph, message):
    with pytest.raises(InvalidInputError, match=message):
        Network.from_networkx(graph)


def test_unknown_zones():
    with pytest.raises(InvalidInputError, match=r"`zones` row 1 of .*: must name nodes of the graph; got 'b'"):
        Network.from_networkx(nx.DiGraph([(0, 1)]), zones=[0, "b"])


def test_without_networkx_the_install_command_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(InvalidInputError, match=r'`graph` of .*: needs NetworkX: pip install "conformio\[networks\]"'):
        Network.from_networkx(object())
