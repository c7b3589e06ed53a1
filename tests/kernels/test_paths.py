"""The compiled searches against plain twins, networkx and enumeration."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

from conformio._kernels.flows import equivalent_flows
from conformio._kernels.paths import (
    _SMALL,
    _find_path,
    path_batch,
    path_totals,
    shortest_tree,
    sort_rows,
)
from conformio._kernels.ties import count_tight, draw_tight
from conformio.networks import Network


def random_network(rng, n=8, m=22, zone_rate=0.0):
    tails = rng.integers(n, size=m)
    heads = (tails + rng.integers(1, n, size=m)) % n
    return Network(tails, heads, n, zones=rng.random(n) < zone_rate)


def tree_twin(network, costs, root):
    """Labels (cost, edges) by repeated relaxation of all edges; exact for whole costs."""
    label = {root: (0.0, 0)}
    for _ in range(network.n_nodes):
        for e in range(network.n_edges):
            i, j = int(network.tails[e]), int(network.heads[e])
            if i in label and (i == root or not network.zones[i]):
                new = (label[i][0] + costs[e], label[i][1] + 1)
                if new < label.get(j, (np.inf, 0)):
                    label[j] = new
    dist, hops, pred = np.full(network.n_nodes, np.inf), np.zeros(network.n_nodes, int), []
    for j in range(network.n_nodes):
        if j in label:
            dist[j], hops[j] = label[j]
        entering = [
            e
            for e in range(network.n_edges)
            if network.heads[e] == j
            and (i := int(network.tails[e])) in label
            and (i == root or not network.zones[i])
            and (label[i][0] + costs[e], label[i][1] + 1) == label[j]
        ]
        pred.append(min(entering) if entering and j != root else -1)
    return dist, hops, np.array(pred)


def tree(network, costs, root):
    return shortest_tree(
        network.out_start, network.out_edges, network.heads, np.asarray(costs, float), network.zones, root
    )


def batch(network, costs, origins, destinations):
    origins, destinations = np.asarray(origins), np.asarray(destinations)
    order = np.argsort(origins, kind="stable")
    found, indptr, edges = path_batch(
        network.out_start,
        network.out_edges,
        network.tails,
        network.heads,
        np.ascontiguousarray(np.atleast_2d(costs), dtype=float),
        network.zones,
        origins,
        destinations,
        order,
    )
    return found, [edges[a:b] for a, b in itertools.pairwise(indptr)]


@pytest.mark.parametrize("seed", range(60))
def test_tree_equals_twin_with_zero_costs_parallel_edges_and_zones(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, n=int(rng.integers(2, 12)), m=int(rng.integers(1, 40)), zone_rate=0.2)
    costs = rng.integers(0, 4, size=network.n_edges).astype(float)
    root = int(rng.integers(network.n_nodes))
    for got, want in zip(tree(network, costs, root), tree_twin(network, costs, root), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("seed", range(20))
def test_tree_equals_networkx_forwards_and_backwards(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, n=30, m=90)
    costs = rng.random(90) * (rng.random(90) < 0.8)
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(30))
    graph.add_weighted_edges_from(zip(network.tails.tolist(), network.heads.tolist(), costs, strict=True))
    forwards = nx.single_source_dijkstra_path_length(graph, 0)
    backwards = nx.single_source_dijkstra_path_length(graph.reverse(), 0)
    dist, _, _ = tree(network, costs, 0)
    np.testing.assert_allclose(dist, [forwards.get(j, np.inf) for j in range(30)], rtol=1e-14)
    back, _, _ = shortest_tree(network.in_start, network.in_edges, network.tails, costs, network.zones, 0)
    np.testing.assert_allclose(back, [backwards.get(j, np.inf) for j in range(30)], rtol=1e-14)


def test_fewest_edges_win_whatever_the_rounding():
    # 0.1 + 0.2 + 0.3 exceeds 0.3 + 0.2 + 0.1 by one unit in the last place
    for costs in ([0.1, 0.2, 0.3, 0.6], [0.3, 0.2, 0.1, 0.1 + 0.2 + 0.3]):
        network = Network([0, 1, 2, 0], [1, 2, 3, 3])
        assert [p.tolist() for p in batch(network, costs, [0], [3])[1]] == [[3]]


def test_a_settled_node_still_becomes_shorter_over_a_free_edge():
    # node 4 is reached at 0.6 over three edges first; node 5 costs one last digit more, over one edge
    network = Network([0, 1, 2, 0, 5, 4], [1, 2, 4, 5, 4, 6])
    costs = [0.3, 0.2, 0.1, 0.1 + 0.2 + 0.3, 0.0, 1.0]
    assert costs[3] > 0.3 + 0.2 + 0.1
    found, paths = batch(network, costs, [0, 0], [4, 6])
    assert found.all()
    assert [p.tolist() for p in paths] == [[3, 4], [3, 4, 5]]
    # nothing else is wanted: the search may not stop before the tie is settled
    assert batch(network, costs, [0], [4])[1][0].tolist() == [3, 4]


def test_of_equal_paths_the_smallest_edges_are_taken():
    network = Network([0, 0, 0, 1, 2], [2, 1, 1, 3, 3])
    assert batch(network, np.ones(5), [0], [3])[1][0].tolist() == [1, 3]


@pytest.mark.parametrize("seed", range(30))
def test_batch_walks_the_tree_of_its_twin_and_stops_early_without_harm(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, n=12, m=40, zone_rate=0.15)
    origins, destinations = rng.integers(12, size=(2, 15))
    for shared in (True, False):
        costs = rng.integers(0, 4, size=(1 if shared else 15, 40)).astype(float)
        found, paths = batch(network, costs, origins, destinations)
        for k, (o, t) in enumerate(zip(origins, destinations, strict=True)):
            row = costs[0 if shared else k]
            dist, _, pred = tree_twin(network, row, int(o))
            assert found[k] == np.isfinite(dist[t])
            want, node = [], t
            while found[k] and node != o:
                want.append(pred[node])
                node = network.tails[pred[node]]
            assert paths[k].tolist() == want[::-1]


def test_batch_grows_its_pool():
    n = 300
    line = Network(np.arange(n - 1), np.arange(1, n))
    found, paths = batch(line, np.zeros(n - 1), [0, 1], [n - 1, n - 1])
    assert found.all()
    assert paths[0].tolist() == list(range(n - 1))
    assert paths[1].tolist() == list(range(1, n - 1))


def test_sort_rows_sorts_each_row():
    assert sort_rows(np.array([0, 3, 3, 5]), np.array([4, 2, 9, 1, 0])).tolist() == [2, 4, 9, 0, 1]


def tied(network, costs, origin, destination, slack=1e-9):
    costs = np.asarray(costs, float)
    dist = tree(network, costs, origin)[0]
    entering = (network.in_start, network.in_edges, network.tails)
    return (*entering, costs, network.zones, dist, origin, destination, slack)


@pytest.mark.parametrize("seed", range(30))
def test_tight_paths_are_counted_as_networkx_lists_them(seed):
    rng = np.random.default_rng(seed)
    network = Network.grid(4, 4)
    costs = rng.integers(1, 3, size=network.n_edges).astype(float)
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(zip(network.tails.tolist(), network.heads.tolist(), costs, strict=True))
    acyclic, met, log_ways = count_tight(*tied(network, costs, 0, 15))
    listed = list(nx.all_shortest_paths(graph, 0, 15, weight="weight"))
    assert acyclic
    assert np.exp(log_ways[15]) == pytest.approx(len(listed), rel=1e-12)
    assert met == len({node for path in listed for node in path})


def test_parallel_edges_count_and_zones_do_not():
    network = Network([0, 0, 1, 0, 2], [1, 1, 3, 2, 3], zones=[False, False, True, False])
    acyclic, _, log_ways = count_tight(*tied(network, np.ones(5), 0, 3))
    assert acyclic
    assert np.exp(log_ways[3]) == pytest.approx(2.0)


def test_counts_beyond_the_largest_float():
    n = 1200
    network = Network(np.repeat(np.arange(n), 2), np.repeat(np.arange(1, n + 1), 2))
    arguments = tied(network, np.ones(2 * n), 0, n)
    acyclic, met, log_ways = count_tight(*arguments)
    assert acyclic
    assert log_ways[n] == pytest.approx(n * np.log(2.0), rel=1e-12)
    walk = draw_tight(*arguments, log_ways, np.full(met, 0.75))
    assert walk.tolist() == list(range(1, 2 * n, 2))


def test_zero_cost_cycles_are_noticed():
    network = Network([0, 1, 2, 1], [1, 2, 1, 3])
    acyclic, _, _ = count_tight(*tied(network, [1.0, 0.0, 0.0, 1.0], 0, 3))
    assert not acyclic


def test_free_cycles_through_the_destination_are_no_part_of_a_path():
    network = Network([0, 1, 2, 1], [1, 2, 1, 0])
    acyclic, met, _ = count_tight(*tied(network, np.zeros(4), 0, 1))
    assert acyclic
    assert met == 3


def test_the_last_tie_is_drawn_when_rounding_leaves_a_remainder():
    network = Network([0, 0, 0], [1, 1, 1])
    arguments = tied(network, np.ones(3), 0, 1)
    _, met, log_ways = count_tight(*arguments)
    assert draw_tight(*arguments, log_ways + 1e-9 * np.array([0, -1]), np.full(met, 1 - 1e-16)).tolist() == [2]


@pytest.mark.parametrize("seed", range(40))
def test_equivalent_flows_equal_enumeration(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, n=5, m=int(rng.integers(1, 11)))
    flow = rng.random(network.n_edges) < 0.5
    balance = network.incidence @ flow
    every = itertools.product([False, True], repeat=network.n_edges)
    want = {x for x in every if (network.incidence @ np.array(x) == balance).all()}
    complete, flows = equivalent_flows(network.tails, network.heads, 5, flow, 2000)
    assert complete
    assert flows[0].tolist() == flow.tolist()
    assert len(flows) == len(want)
    assert {tuple(x) for x in flows.tolist()} == want
    if len(want) > 1:
        complete, flows = equivalent_flows(network.tails, network.heads, 5, flow, len(want) - 1)
        assert not complete
        assert len(flows) == len(want) - 1


@pytest.mark.parametrize("seed", range(60))
def test_totals_are_those_of_the_paths_one_by_one(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, n=int(rng.integers(2, 12)), m=int(rng.integers(1, 40)), zone_rate=0.2)
    ends = rng.integers(network.n_nodes, size=(30, 2))
    costs = np.maximum(rng.normal(0.5, 1.0, (30, network.n_edges)), 0.0)
    if seed % 2:  # ties of every kind
        costs = rng.integers(0, 3, costs.shape).astype(float)
    found, paths = batch(network, costs, ends[:, 0], ends[:, 1])
    counts = np.zeros(network.n_edges)
    total, missing = path_totals(
        network.out_start, network.out_edges, network.tails, network.heads, costs, network.zones,
        np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1]), counts,
    )  # fmt: skip
    known = 30 if found.all() else int(np.flatnonzero(~found)[0])
    assert missing == (-1 if found.all() else known)
    expected = np.zeros(network.n_edges)
    for path in paths[:known]:
        expected[path] += 1.0
    np.testing.assert_array_equal(counts, expected)
    assert total == pytest.approx(sum(costs[row, path].sum() for row, path in enumerate(paths[:known])))


def test_a_short_list_of_open_nodes_is_told():
    network = Network.grid(4, 4)
    rng, n = np.random.default_rng(0), network.n_nodes
    labels = np.empty(n), np.empty(n, int), np.empty(n, int), np.empty(n, int)
    adjacency = network.out_start, network.out_edges, network.heads
    costs = rng.uniform(1, 2, network.n_edges)
    for room, enough in ((3, False), (200, True)):
        done = _find_path(*adjacency, costs, network.zones, 0, n - 1, *labels, np.empty(room, int), np.empty(room))
        assert done is enough
    assert labels[0][-1] == tree(network, costs, 0)[0][-1]


def test_large_networks_take_the_heap():
    network = Network.grid(50, 50)
    assert network.n_nodes > _SMALL
    rng, ends = np.random.default_rng(1), np.array([[0, 2499], [30, 800]])
    costs, counts = rng.uniform(0, 2, (2, network.n_edges)), np.zeros(network.n_edges)
    _, paths = batch(network, costs, ends[:, 0], ends[:, 1])
    total, missing = path_totals(
        network.out_start, network.out_edges, network.tails, network.heads, costs, network.zones,
        np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1]), counts,
    )  # fmt: skip
    np.testing.assert_array_equal(counts, np.bincount(np.concatenate(paths), minlength=network.n_edges))
    assert missing == -1
    assert total == pytest.approx(sum(costs[row, path].sum() for row, path in enumerate(paths)))
