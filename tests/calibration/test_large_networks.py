"""Angles where they are tiny and networks where they are large, against detours as columns; bounds and regions."""

import numpy as np
import pytest
from instances import digraph, pairs

import conformio as cio
from conformio._kernels.path_cones import EXACT
from conformio._kernels.regions import costs_within, costs_within_twin, grow_region, region_twin
from conformio.calibration.potentials import place_paths
from conformio.studies.benchmarks.detours import distance


def measured(problem, center, contexts, decisions):
    """Distances, their errors, and the independent distances."""
    center = center / np.linalg.norm(center)
    network = problem.network
    cones = problem.cones(contexts, decisions)
    status, found = place_paths(cones, np.broadcast_to(center, (len(contexts), len(center))), 0.0, np.inf)
    assert (status == EXACT).all()
    walks = network.paths_from_decisions(decisions)
    slow = [
        distance(network, center, int(o), int(d), walk.tolist())[0]
        for (o, d), walk in zip(contexts, walks, strict=True)
    ]
    return found, np.array(slow)


def agree(found, slow):
    assert found.certified.all()
    np.testing.assert_allclose(found.distances, slow, rtol=1e-7, atol=1e-15)
    assert (slow <= found.distances * (1 + 1e-9) + 1e-15).all()  # an upper bound
    assert (slow >= (found.distances - found.errors) * (1 - 1e-9)).all()  # and a lower one
    return slow


@pytest.mark.parametrize("noise", [0.5, 1e-2, 1e-5, 1e-7])
def test_tiny_angles_on_a_large_grid(noise):
    rng = np.random.default_rng(1)
    network = cio.Network.grid(20, 20)
    problem = cio.ShortestPath(network)
    center = rng.integers(1, 4, network.n_edges) / 3.0  # many ties: every noise makes a better path
    contexts = pairs(rng, 400, 8)
    decisions = problem.solve(center * (1 + noise * rng.uniform(-1, 1, (8, network.n_edges))), contexts)
    found, slow = measured(problem, center * (1 + 0.3 * noise * rng.uniform(-1, 1, len(center))), contexts, decisions)
    agree(found, slow)
    assert 0.0 < np.median(slow) < 0.1 * noise
    assert (found.errors <= np.maximum(1e-6 * slow, 3e-14)).all()  # what the rounding of a trip's cost leaves


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [1.5, 1e-4])
def test_zero_cost_edges_zones_and_parallel_edges(seed, noise):
    rng = np.random.default_rng(seed)
    network = digraph(rng, n_nodes=60, n_edges=200, zones=0)
    closed = np.zeros(60, dtype=bool)
    closed[rng.choice(60, 6, replace=False)] = True
    ring = cio.Network(
        np.concatenate([network.tails, network.tails[:40]]),
        np.concatenate([network.heads, network.heads[:40]]),
        60,
        zones=closed,
    )
    problem = cio.ShortestPath(ring)
    center = rng.integers(1, 5, ring.n_edges).astype(float)
    center[rng.random(ring.n_edges) < 0.25] = 0.0
    costs = np.maximum(center * (1 + noise * rng.uniform(-1, 1, (40, ring.n_edges))), 0.0)
    costs += noise * 0.1 * rng.random(costs.shape)
    contexts, decisions = [], []
    for context, own in zip(pairs(rng, 60, 40), costs, strict=True):
        try:
            decisions.append(problem.solve(own, [context]).toarray()[0])
            contexts.append(context)
        except cio.InfeasibleProblemError:
            continue
    assert len(contexts) > 20
    slow = agree(*measured(problem, center, np.array(contexts), np.array(decisions)))
    if noise > 1:
        assert (slow > 0).sum() > 5


def scratch(network):
    n, m = network.n_nodes, network.n_edges
    return np.empty(m + 1, np.int64), np.empty(m + 1), np.empty(n), np.empty(n, np.int64)


@pytest.mark.parametrize("zones", [0, 5])
@pytest.mark.parametrize("seed", range(5))
def test_regions_equal_their_twin(seed, zones):
    rng = np.random.default_rng(seed)
    network = digraph(rng, n_nodes=40, n_edges=140, zones=zones)
    costs = rng.integers(0, 6, network.n_edges).astype(float)
    heap, keys, forward, pred = scratch(network)
    out = network.out_start, network.out_edges, network.heads
    into = network.in_start, network.in_edges, network.tails
    for origin, destination in pairs(rng, 40, 10).astype(int):
        whole = costs_within_twin(*out, costs, network.zones, origin)
        back = costs_within_twin(*into, costs, network.zones, destination)
        if not np.isfinite(whole[destination]):
            continue
        limit = 1.3 * whole[destination] + 1.0
        costs_within(*out, costs, network.zones, origin, limit, forward, pred, heap, keys)
        np.testing.assert_array_equal(forward[whole <= limit], whole[whole <= limit])
        assert (forward[whole > limit] > limit).all()
        backward, place = np.full(40, np.inf), np.full(40, -1)
        nodes, edges, tails, heads = (np.empty(network.n_edges, np.int64) for _ in range(4))
        n, m = grow_region(
            *into, costs, network.zones, origin, destination, limit, forward, backward, place, heap, keys,
            nodes, edges, tails, heads,
        )  # fmt: skip
        wanted = region_twin(
            network.tails, network.heads, costs, network.zones, origin, destination, limit, whole, back
        )
        np.testing.assert_array_equal(np.sort(edges[:m]), wanted)
        np.testing.assert_array_equal(nodes[tails[:m]], network.tails[edges[:m]])
        np.testing.assert_array_equal(nodes[heads[:m]], network.heads[edges[:m]])
        assert (np.diff(back[nodes[:n]]) >= 0).all()


def test_a_row_is_the_same_in_any_company():
    """Trees grown farther for other rows, other blocks, other workers: not a bit changes."""
    rng = np.random.default_rng(9)
    network = cio.Network.grid(12, 12)
    problem = cio.ShortestPath(network)
    center = rng.uniform(0.5, 2.0, network.n_edges)
    contexts = pairs(rng, 144, 80)
    contexts[:, 0] = contexts[:, 0] % 5
    contexts[:, 1] = np.where(contexts[:, 0] == contexts[:, 1], 143, contexts[:, 1])
    decisions = problem.solve(center * rng.uniform(0.5, 1.5, (80, network.n_edges)), contexts)
    together = cio.conformity_angles(problem, center, contexts, decisions)
    alone = [cio.conformity_angles(problem, center, contexts[[k]], decisions[[k]])[0] for k in range(80)]
    np.testing.assert_array_equal(together, alone)
    turned = cio.conformity_angles(problem, center, contexts[::-1], decisions[::-1], n_jobs=2)[::-1]
    np.testing.assert_array_equal(together, turned)
