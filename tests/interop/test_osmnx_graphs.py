"""Street networks as OSMnx makes them, from graph to prescriptions and back onto the graph."""

import numpy as np
import pytest

import conformio as cio

nx = pytest.importorskip("networkx")
pa = pytest.importorskip("pyarrow")

NODES = {2384709: (8.540, 47.370), 2384711: (8.551, 47.370), 99000000123: (8.551, 47.381), 17: (8.540, 47.381)}
A, B, C, D = NODES


@pytest.fixture
def graph():
    made = nx.MultiDiGraph(crs="epsg:4326", created_with="a test", simplified=True)
    for node, (x, y) in NODES.items():
        made.add_node(node, x=x, y=y, street_count=3, highway="crossing")
    streets = [(A, B, 760.0), (B, C, 1110.0), (A, D, 1120.0), (D, C, 755.0)]
    for tail, head, length in streets:
        for u, v, back in ((tail, head, False), (head, tail, True)):
            made.add_edge(u, v, osmid=u % 1000, length=length, name="Ring", highway="primary", lanes="2",
                          oneway=False, reversed=back)  # fmt: skip
    made.add_edge(A, B, osmid=[5, 6], length=900.0, name=["Quai", "Tor"], highway=["primary", "service"],
                  lanes=["1", "2"], oneway=True, reversed=[True, False])  # fmt: skip
    return made


def test_keys_ids_lengths_and_places(graph):
    network = cio.Network.from_networkx(graph)
    assert network.node_ids.tolist() == list(NODES)
    assert network.coordinates.tolist() == [list(place) for place in NODES.values()]
    names = [tuple(name) for name in network.edge_ids]
    assert (A, B, 0) in names
    assert (A, B, 1) in names
    assert network.attributes["length"][names.index((A, B, 1))] == 900.0
    assert set(network.attributes) == {"length", "oneway"}  # lists and text are left out


def test_from_trips_by_osm_numbers_to_advice_by_osm_numbers(graph):
    network = cio.Network.from_networkx(graph)
    table = cio.observations.TripTable(network, path="route", parallel="length")
    seen = table.read(pa.table({"route": [[A, B, C], [A, D, C], [C, B, A]] * 8}))
    lengths = network.attributes["length"]
    short = [tuple(name) for name in network.edge_ids].index((A, B, 0))
    assert seen.decisions[[0]].toarray()[0, short] == 1  # the shorter of the parallel streets
    model = cio.ConformalIO(cio.ShortestPath(network), cio.FixedParameters(lengths), 0.8)
    model.conformalize(seen.contexts, seen.decisions)
    wanted = table.read_contexts(pa.table({"origin": [A, D], "destination": [C, B]}))
    advice = table.frame(wanted.contexts, model.predict(wanted.contexts), "pyarrow").to_pylist()
    assert advice[0]["origin"] == A
    assert advice[0]["nodes"] in ([A, B, C], [A, D, C])
    costs = nx.shortest_path_length(graph, D, B, weight="length")
    assert nx.path_weight(nx.DiGraph(graph), advice[1]["nodes"], "length") == pytest.approx(costs, rel=0.5)
    learned = {tuple(name): value for name, value in zip(network.edge_ids, model.theta_, strict=True)}
    nx.set_edge_attributes(graph, learned, "learned")
    assert np.allclose(cio.Network.from_networkx(graph).attributes["learned"], model.theta_)


def test_a_parallel_street_without_a_rule_is_a_fault(graph):
    table = cio.observations.TripTable(cio.Network.from_networkx(graph), path="route")
    with pytest.raises(cio.FaultyRowsError, match="parallel"):
        table.read(pa.table({"route": [[A, B]]}))


def test_nominal_routes_are_networkx_routes(graph):
    network = cio.Network.from_networkx(graph)
    problem = cio.ShortestPath(network)
    pairs = [(u, v) for u in NODES for v in NODES if u != v]
    contexts = np.array([network.node_index(pair) for pair in pairs])
    decisions = problem.solve(network.attributes["length"], contexts)
    wanted = [nx.shortest_path_length(graph, u, v, weight="length") for u, v in pairs]
    assert decisions @ network.attributes["length"] == pytest.approx(wanted)


def test_graphml_as_osmnx_writes_it(graph, tmp_path):
    for *_, known in [*graph.nodes(data=True), *graph.edges(data=True)]:
        known.update({name: str(value) for name, value in known.items()})
    nx.write_graphml(graph, tmp_path / "streets.graphml")
    network = cio.Network.from_graphml(tmp_path / "streets.graphml")
    assert network.node_ids.tolist() == list(NODES)
    assert network.coordinates == pytest.approx(np.array(list(NODES.values())))
    assert "length" in network.attributes
    assert {tuple(name) for name in network.edge_ids} >= {(A, B, 0), (A, B, 1)}
