"""Taking over NetworkX graphs."""

from __future__ import annotations

import sys

import networkx as nx
import pytest

from conformio.errors import InvalidInputError
from conformio.networks import Network


def test_directed_graphs_keep_order_labels_and_numbers():
    graph = nx.DiGraph()
    graph.add_edge("c", "a", minutes=3, name="x", half="a")
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


@pytest.mark.parametrize(
    ("value", "said"), [(float("nan"), "nan on"), ("x", "'x' on"), (None, "None on"), ((), "none on")]
)
@pytest.mark.parametrize("first", [True, False])
def test_numbers_on_some_edges_only_are_refused(value, said, first):
    known = {"km": 2.0} if value == () else {"km": 2.0, "speed": value}
    graph = nx.DiGraph()
    for tail, head in [(0, 1), (1, 0)]:
        graph.add_edge(tail, head, **(known if (tail == 0) == first else {"km": 1.0, "speed": 3.0}))
    edge = r"\(0, 1\)" if first else r"\(1, 0\)"
    message = (
        rf"`graph` of .*: attribute 'speed' must be a number on every edge or on none; got {said} edge {edge}\. Give"
    )
    with pytest.raises(InvalidInputError, match=message):
        Network.from_networkx(graph)
    for *_, data in graph.edges(data=True):
        data.pop("speed", None)
    assert list(Network.from_networkx(graph).attributes) == ["km"]


def test_text_and_lists_are_left_out_and_asking_for_them_says_so():
    graph = nx.DiGraph()
    graph.add_edge(0, 1, t=1.0, name="High Street", osmid=[1, 2])
    graph.add_edge(1, 0, t=2.0, osmid=3)
    graph.add_node(9)
    network = Network.from_networkx(graph)
    assert network.n_nodes == 3
    assert list(network.attributes) == ["t"]
    assert network.attributes.get("name") is None
    for error in (InvalidInputError, KeyError):
        with pytest.raises(
            error, match=r"^`attributes` of Network: has 't'; got 'name'. Columns without any number, and"
        ):
            network.attributes["name"]
    with pytest.raises(InvalidInputError, match="has none at all; got 'km'"):
        Network([0], [1]).attributes["km"]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ([(0, 1)], "`graph` of Network.from_networkx: must be a NetworkX graph; got list"),
        (nx.DiGraph(), "`graph` of Network.from_networkx: must have at least one edge"),
        (
            nx.DiGraph([(0, 1), (1, 1)]),
            "`graph` of .*: must not hold self-loops; got one at node 1.*self_loops=",
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
    with pytest.raises(
        InvalidInputError, match=r'`graph` of .*: needs NetworkX; .*Run: pip install "conformio\[networks\]"'
    ):
        Network.from_networkx(object())


class TestNamesOfEdges:
    def streets(self):
        graph = nx.MultiDiGraph(crs="epsg:4326")
        graph.add_node(42421749, x=-73.9, y=40.7)
        graph.add_node(9_007_199_254_740_993, x=-73.8, y=40.8)
        graph.add_edge(42421749, 9_007_199_254_740_993, 0, length=12.5, osmid=[1, 2], oneway=False)
        graph.add_edge(42421749, 9_007_199_254_740_993, 1, length=14.0, osmid=3, oneway=True)
        graph.add_edge(9_007_199_254_740_993, 42421749, 0, length=12.5, osmid=4, oneway=False)
        return graph

    def test_parallel_edges_carry_their_keys(self):
        graph = self.streets()
        network = Network.from_networkx(graph)
        assert network.edge_ids.tolist() == list(graph.edges(keys=True))
        assert network.attributes["length"].tolist() == [12.5, 14.0, 12.5]

    def test_single_edges_are_pairs(self):
        assert Network.from_networkx(nx.DiGraph([("a", "b")])).edge_ids.tolist() == [("a", "b")]
        assert Network.from_networkx(nx.Graph([(0, 1)])).edge_ids.tolist() == [(0, 1), (1, 0)]

    def test_self_loops_are_left_out_on_request(self):
        graph = self.streets()
        graph.add_edge(42421749, 42421749, 0, length=1.0)
        network = Network.from_networkx(graph, self_loops="drop")
        assert network.edge_ids.tolist() == Network.from_networkx(self.streets()).edge_ids.tolist()
        with pytest.raises(InvalidInputError, match=r"`self_loops` of .*: must be one of 'error', 'drop'"):
            Network.from_networkx(graph, self_loops="keep")

    def test_state_keeps_them(self):
        for graph in (self.streets(), nx.DiGraph([("a", "b"), (("b", 1), "a")])):
            network = Network.from_networkx(graph)
            again = Network(**network.to_state())
            assert again.edge_ids.tolist() == network.edge_ids.tolist()
            assert again.node_ids.tolist() == network.node_ids.tolist()

    def test_they_are_checked(self):
        with pytest.raises(InvalidInputError, match="`edge_ids` of Network: must name all 2 edges; got 1 names"):
            Network([0, 1], [1, 0], edge_ids=["a"])
        with pytest.raises(InvalidInputError, match="`edge_ids` row 1 of Network: must be unique; got 'a'"):
            Network([0, 1], [1, 0], edge_ids=["a", "a"])


class TestGraphML:
    def test_round_trip_of_a_street_network(self, tmp_path):
        graph = TestNamesOfEdges().streets()
        for *_, known in [*graph.edges(data=True), *graph.nodes(data=True)]:
            known.update({name: str(value) for name, value in known.items()})  # all text, as OSMnx writes it
        nx.write_graphml(graph, tmp_path / "streets.graphml")
        network = Network.from_graphml(tmp_path / "streets.graphml")
        assert network.node_ids.tolist() == list(graph.nodes)
        assert network.edge_ids.tolist() == list(graph.edges(keys=True))
        assert network.attributes["length"].tolist() == [12.5, 14.0, 12.5]
        assert network.coordinates.tolist() == [[-73.9, 40.7], [-73.8, 40.8]]

    def test_numbers_written_as_text_on_some_edges_only_stay_text(self, tmp_path):
        graph = nx.DiGraph()
        graph.add_edge("a", "b", lanes="2", length="3.5")
        graph.add_edge("b", "a", length="4")
        nx.write_graphml(graph, tmp_path / "g.graphml")
        network = Network.from_graphml(tmp_path / "g.graphml")
        assert {name: values.tolist() for name, values in network.attributes.items()} == {"length": [3.5, 4.0]}

    def test_names_that_are_no_numbers_stay_text(self, tmp_path):
        nx.write_graphml(nx.DiGraph([("007", "8"), ("8", "NA")]), tmp_path / "g.graphml")
        network = Network.from_graphml(tmp_path / "g.graphml", zones=["NA"])
        assert network.node_ids.tolist() == ["007", "8", "NA"]
        assert network.zones.tolist() == [False, False, True]

    @pytest.mark.parametrize("text", ["", "no xml", "<graphml><graph>", "<html></html>", "\x00\x01"])
    def test_files_that_are_none(self, tmp_path, text):
        (tmp_path / "g.graphml").write_text(text)
        with pytest.raises(InvalidInputError, match=r"`path` of Network.from_graphml: .*must "):
            Network.from_graphml(tmp_path / "g.graphml")

    def test_missing_files(self, tmp_path):
        with pytest.raises(InvalidInputError, match=r"none\.graphml: must be a readable GraphML file"):
            Network.from_graphml(tmp_path / "none.graphml")
