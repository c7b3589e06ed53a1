"""Robust paths by labels against every walk, layer by layer, in min-plus powers."""

import numpy as np
import pytest

from conformio._kernels.hop_paths import cap_loss, robust_path_batch
from conformio.networks import Network
from conformio.prescription.hull import sigma


def random_network(rng, n=8, m=24, zone_rate=0.0):
    tails, heads = rng.integers(n, size=(2, 4 * m))
    keep = np.flatnonzero(tails != heads)[:m]
    return Network(tails[keep], heads[keep], n_nodes=n, zones=rng.random(n) < zone_rate)


def twin(network, costs, origin, destination, angle):
    """Least cost of a walk with exactly m edges for every m < n_nodes, and the least loss among them."""
    n = network.n_nodes
    open_tail = ~network.zones[network.tails] | (network.tails == origin)
    layer = np.where(np.arange(n) == origin, 0.0, np.inf)
    profile = [layer[destination]]
    for _ in range(n - 1):
        longer = np.full(n, np.inf)
        np.minimum.at(longer, network.heads[open_tail], (layer[network.tails] + costs)[open_tail])
        layer = longer
        profile.append(layer[destination])
    losses = [sigma(float(m), s, angle) for m, s in enumerate(profile) if np.isfinite(s)]
    return min(profile), min(losses, default=np.inf)


def batch(network, costs, origins, destinations, angle):
    origins, destinations = np.asarray(origins, np.int64), np.asarray(destinations, np.int64)
    order = np.lexsort((destinations, origins))
    found, least, indptr, edges = robust_path_batch(
        network.out_start, network.out_edges, network.in_start, network.in_edges, network.tails, network.heads,
        np.atleast_2d(costs), network.zones, origins, destinations, order, np.cos(angle), np.sin(angle),
    )  # fmt: skip
    return found, least, [edges[indptr[k] : indptr[k + 1]] for k in range(len(found))]


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("angle", [1e-9, 0.05, 0.7, np.pi / 2, 2.2, np.pi])
def test_batch_equals_every_walk(seed, angle):
    rng = np.random.default_rng(seed)
    network = random_network(rng, zone_rate=0.2)
    m = network.n_edges
    costs = rng.integers(0, 4, m).astype(float) if seed % 2 else rng.random(m)
    costs /= max(np.linalg.norm(costs), 1e-9)
    ends = rng.integers(8, size=(2, 12))
    found, least, paths = batch(network, costs, *ends, angle)
    for k, (origin, destination) in enumerate(ends.T):
        cheapest, loss = twin(network, costs, origin, destination, angle)
        assert found[k] == np.isfinite(loss)
        assert least[k] == pytest.approx(cheapest, abs=1e-12)
        if found[k]:
            nodes = [origin, *network.heads[paths[k]]]
            assert network.tails[paths[k]].tolist() == nodes[:-1]
            assert nodes[-1] == destination
            assert not network.zones[nodes[1:-1]].any()
            assert len(set(nodes)) == len(nodes)
            reached = sigma(float(len(paths[k])), float(costs[paths[k]].sum()), angle)
            assert reached == pytest.approx(loss, abs=1e-12)


def test_own_costs_per_row_equal_single_searches():
    rng = np.random.default_rng(1)
    network = random_network(rng, m=40)
    costs = rng.random((10, network.n_edges))
    ends = rng.integers(8, size=(2, 10))
    found, least, paths = batch(network, costs, *ends, 0.3)
    for k in range(10):
        alone = batch(network, costs[k], ends[:1, k], ends[1:, k], 0.3)
        assert found[k] == alone[0][0]
        assert least[k] == alone[1][0]
        assert paths[k].tolist() == alone[2][0].tolist()


def test_label_and_path_pools_grow():
    n = 400
    line = Network(np.arange(n - 1), np.arange(1, n))
    _, _, paths = batch(line, np.zeros(n - 1), [0], [n - 1], 0.1)
    assert paths[0].tolist() == list(range(n - 1))
    rng = np.random.default_rng(0)
    hops = np.arange(24)
    tails, heads = np.repeat(hops, 24), np.tile(hops, 24)
    keep = tails < heads
    dense = Network(tails[keep], heads[keep])
    costs = (heads - tails)[keep] ** 2 + rng.random(keep.sum())
    costs /= np.linalg.norm(costs)
    _, least, _ = batch(dense, costs, [0], [23], 0.1)
    assert least[0] == pytest.approx(twin(dense, costs, 0, 23, 0.1)[0])


def test_cap_loss_is_sigma():
    rng = np.random.default_rng(2)
    for _ in range(200):
        m, angle = float(rng.integers(0, 20)), rng.uniform(0, np.pi)
        s = rng.uniform(-np.sqrt(m), np.sqrt(m))
        assert cap_loss(m, s, np.cos(angle), np.sin(angle)) == pytest.approx(sigma(m, s, angle), abs=1e-14)


def wide_network(rng, kind):
    """A network with detours worth taking, and costs that make many of them."""
    network = Network.grid(12, 12)
    tails, heads = rng.integers(144, size=(2, 30))
    keep = tails != heads
    tails, heads = np.append(network.tails, tails[keep]), np.append(network.heads, heads[keep])
    network = Network(tails, heads, n_nodes=144, zones=rng.random(144) < 0.05)
    m = network.n_edges
    costs = {
        "heavy": lambda: rng.lognormal(0.0, 1.5, m),
        "whole": lambda: rng.integers(0, 4, m).astype(float),
        "equal": lambda: np.ones(m),
        "zeros": lambda: rng.random(m) * (rng.random(m) < 0.3),
    }[kind]()
    return network, costs / np.linalg.norm(costs)


@pytest.mark.parametrize("kind", ["heavy", "whole", "equal", "zeros"])
@pytest.mark.parametrize("angle", [1e-9, 1e-6, 1e-3, 0.02, 0.3, 1.5, 3.0])
def test_pruned_searches_equal_every_walk_on_wide_networks(kind, angle):
    rng = np.random.default_rng(5)
    network, costs = wide_network(rng, kind)
    ends = rng.integers(144, size=(2, 8))
    found, least, paths = batch(network, costs, *ends, angle)
    for k, (origin, destination) in enumerate(ends.T):
        cheapest, loss = twin(network, costs, origin, destination, angle)
        assert found[k] == np.isfinite(loss)
        if found[k]:
            assert least[k] == pytest.approx(cheapest, abs=1e-13)
            reached = sigma(float(len(paths[k])), float(costs[paths[k]].sum()), angle)
            assert reached == pytest.approx(loss, abs=1e-13)


@pytest.mark.parametrize("kind", ["heavy", "whole", "equal", "zeros"])
def test_a_row_has_the_same_path_alone_and_in_any_batch(kind):
    rng = np.random.default_rng(6)
    network, costs = wide_network(rng, kind)
    ends = np.vstack([rng.integers(0, 6, 60), rng.integers(144, size=60)])
    for angle in (1e-9, 0.01, 0.4):
        found, least, paths = batch(network, costs, *ends, angle)
        for k in range(60):
            alone = batch(network, costs, ends[:1, k], ends[1:, k], angle)
            assert alone[0][0] == found[k]
            assert alone[1][0] == least[k]
            assert alone[2][0].tolist() == paths[k].tolist()


def test_the_search_between_the_trees_is_needed():
    """Neither the cheapest path nor the one with fewest edges is the answer here; labels find it."""
    network = Network([0, 1, 2, 3, 0, 5, 0], [1, 2, 3, 4, 5, 4, 4])
    costs = np.array([0.1, 0.1, 0.1, 0.1, 0.25, 0.25, 1.0])
    costs /= np.linalg.norm(costs)
    _, _, paths = batch(network, costs, [0], [4], 0.2)
    assert paths[0].tolist() == [4, 5]
