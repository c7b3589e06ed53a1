"""Drawing uniformly from tied shortest paths."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from conformio.networks import Network, tied_paths
from conformio.networks.shortest import cost_tree
from conformio.networks.tied_paths import TiedPaths, TooManyTiesError


def ties_of(network, costs, origin, destination, slack=1e-9):
    costs = np.asarray(costs, float)
    return TiedPaths(network, costs, cost_tree(network, costs, origin)[0], origin, destination, slack)


def simple_paths(network, costs, origin, destination, slack=1e-9):
    """All simple paths as edge tuples that cost at most `slack` more than the best."""
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(network.n_nodes))
    for e, (i, j) in enumerate(zip(network.tails.tolist(), network.heads.tolist(), strict=True)):
        if (i == origin or not network.zones[i]) and (j == destination or not network.zones[j]):
            graph.add_edge(i, j, key=e)
    if origin == destination:
        return {()}
    found = [tuple(e for _, _, e in path) for path in nx.all_simple_edge_paths(graph, origin, destination)]
    best = min(sum(costs[e] for e in path) for path in found)
    return {path for path in found if sum(costs[e] for e in path) <= best + slack}


def assert_uniform(draws, support, false_alarm=1e-4):
    counts = Counter(draws)
    assert set(counts) <= support
    observed = [counts[item] for item in sorted(support)]
    if len(observed) > 1:
        assert stats.chisquare(observed).pvalue > false_alarm


@pytest.mark.parametrize("seed", range(12))
def test_acyclic_ties_are_drawn_uniformly(seed):
    rng = np.random.default_rng(seed)
    grid = Network.grid(3, 4)
    costs = rng.integers(1, 3, size=grid.n_edges).astype(float)
    ties = ties_of(grid, costs, 0, 11)
    support = simple_paths(grid, costs, 0, 11)
    assert_uniform([tuple(ties.draw(rng).tolist()) for _ in range(60 * len(support))], support)


@pytest.mark.parametrize("seed", range(25))
def test_ties_over_zero_cost_cycles_are_drawn_uniformly(seed):
    rng = np.random.default_rng(100 + seed)
    origin, destination, joined = 0, 6, False
    while not joined:
        tails = rng.integers(7, size=16)
        network = Network(tails, (tails + rng.integers(1, 7, size=16)) % 7, 7, zones=np.arange(7) == 3)
        costs = rng.integers(0, 2, size=16) * (rng.random(16) < 0.7)
        joined = np.isfinite(cost_tree(network, costs.astype(float), origin)[0][destination])
    ties = ties_of(network, costs, origin, destination)
    support = simple_paths(network, costs, origin, destination)
    assert_uniform([tuple(ties.draw(rng).tolist()) for _ in range(60 * len(support))], support)


def test_some_of_these_instances_do_have_cycles():
    network = Network([0, 1, 2, 2, 3, 1, 2], [1, 2, 1, 3, 2, 3, 4])
    costs = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    ties = ties_of(network, costs, 0, 4)
    assert ties._pieces is not None
    support = simple_paths(network, costs, 0, 4)
    rng = np.random.default_rng(0)
    assert support == {(0, 1, 6), (0, 5, 4, 6)}
    assert_uniform([tuple(ties.draw(rng).tolist()) for _ in range(1000)], support)


def test_dead_ends_that_cost_nothing_do_no_harm():
    # every node of a long street has a free spur, as zone connectors do
    n = 60
    tails = np.concatenate([np.arange(n - 1), np.arange(n), np.arange(n, 2 * n)])
    heads = np.concatenate([np.arange(1, n), np.arange(n, 2 * n), np.arange(n)])
    costs = np.concatenate([np.ones(n - 1), np.zeros(2 * n)])
    path = ties_of(Network(tails, heads), costs, 0, n - 1).draw(np.random.default_rng(0))
    assert path.tolist() == list(range(n - 1))


def test_cycles_away_from_the_trip_are_not_searched(monkeypatch):
    monkeypatch.setattr(tied_paths, "PIECE_LIMIT", 20)
    grid = Network.grid(4, 4)
    # 0 -> 1 <-> 2 -> 3 with a free cycle on the way, and a whole free grid that leads nowhere behind node 1
    network = Network([0, 1, 2, 2, 1, *(grid.tails + 4)], [1, 2, 1, 3, 4, *(grid.heads + 4)])
    ties = ties_of(network, [1.0, 0.0, 0.0, 1.0, 0.0, *np.zeros(grid.n_edges)], 0, 3)
    assert ties._pieces is not None
    assert ties.draw(np.random.default_rng(0)).tolist() == [0, 1, 3]


def test_origin_equal_to_destination_has_the_empty_path():
    assert ties_of(Network.grid(2, 2), np.zeros(8), 1, 1).draw(np.random.default_rng(0)).tolist() == []


def test_too_many_free_cycles():
    grid = Network.grid(6, 6)
    with pytest.raises(TooManyTiesError, match="more than 100000 partial paths"):
        ties_of(grid, np.zeros(120), 0, 35)


def test_excesses_may_not_add_up_beyond_the_slack():
    # three diamonds, each with one branch 0.6 slacks dearer: all edges are tight, two dear ones too much
    network = Network(np.repeat([0, 1, 2], 2), np.repeat([1, 2, 3], 2))
    costs = 1.0 + np.array([0.0, 0.6] * 3) * 1e-6
    ties = ties_of(network, costs, 0, 3, slack=1e-6)
    rng = np.random.default_rng(1)
    support = {(0, 2, 4), (1, 2, 4), (0, 3, 4), (0, 2, 5)}
    assert_uniform([tuple(ties.draw(rng).tolist()) for _ in range(2000)], support)


def test_hopeless_redraws_end(monkeypatch):
    monkeypatch.setattr(tied_paths, "_REDRAW_LIMIT", 3)
    n = 40
    network = Network(np.repeat(np.arange(n), 2), np.repeat(np.arange(1, n + 1), 2))
    ties = ties_of(network, 1.0 + np.tile([0.0, 0.9e-6], n), 0, n, slack=1e-6)
    with pytest.raises(TooManyTiesError, match="too much together"):
        ties.draw(np.random.default_rng(0))


def test_choices_among_numbers_of_any_size():
    rng = np.random.default_rng(0)
    huge = 10**400
    draws = [tied_paths._choose([huge, 0, 2 * huge], rng) for _ in range(3000)]
    assert set(draws) == {0, 2}
    assert stats.binomtest(draws.count(0), 3000, 1 / 3).pvalue > 1e-4
