"""Conformity angles on networks: potentials against the strong-duality programs, and the odd trips."""

import numpy as np
import pytest
from instances import digraph, pairs, trips

import conformio as cio
from conformio._kernels.potentials import hinges, hinges_twin, project_flow


@pytest.mark.parametrize("domain", ["nonnegative", "free"])
@pytest.mark.parametrize("seed", range(3))
def test_grid_angles_equal_the_reference(domain, seed):
    rng = np.random.default_rng(seed)
    network = cio.Network.grid(5, 5)
    center, contexts, decisions = trips(rng, network, 30, spread=[0.3, 1.0, 1.9][seed])
    problem = cio.ShortestPath(network, domain=domain)
    fast = cio.conformity_angles(problem, center, contexts, decisions)
    slow = cio.conformity_angles(problem, center, contexts, decisions, method="reference")
    np.testing.assert_allclose(fast, slow, atol=1e-6)
    assert (fast > 1e-3).sum() > 3


@pytest.mark.parametrize("domain", ["nonnegative", "free"])
@pytest.mark.parametrize("zones", [0, 4])
def test_sparse_digraphs_with_parallel_and_zero_cost_edges(domain, zones):
    rng = np.random.default_rng(10 + zones)
    network = digraph(rng, zones=zones)
    center, contexts, decisions = (None, None, None)
    while decisions is None:  # zones may disconnect a pair: draw again
        try:
            center, contexts, decisions = trips(rng, network, 25)
        except cio.InfeasibleProblemError:
            network = digraph(rng, zones=zones)
    center[rng.random(network.n_edges) < 0.2] = 0.0
    problem = cio.ShortestPath(network, domain=domain)
    fast = cio.conformity_angles(problem, center, contexts, decisions)
    slow = cio.conformity_angles(problem, center, contexts, decisions, method="reference")
    np.testing.assert_allclose(fast, slow, atol=1e-6)


def test_wild_paths_press_against_the_orthant():
    rng = np.random.default_rng(3)
    network = cio.Network.grid(4, 4)
    contexts = pairs(rng, 16, 40)
    decisions = cio.ShortestPath(network).solve(rng.uniform(0, 1, (40, network.n_edges)) ** 6, contexts)
    center = rng.uniform(0.2, 1.0, network.n_edges)
    angles = {}
    for domain in ("nonnegative", "free"):
        problem = cio.ShortestPath(network, domain=domain)
        angles[domain] = cio.conformity_angles(problem, center, contexts, decisions)
        slow = cio.conformity_angles(problem, center, contexts, decisions, method="reference")
        np.testing.assert_allclose(angles[domain], slow, atol=1e-6)
    assert (angles["nonnegative"] >= angles["free"] - 1e-9).all()
    assert (angles["nonnegative"] > angles["free"] + 1e-6).any()


@pytest.mark.parametrize("domain", ["nonnegative", "free"])
def test_flows_with_loops(domain):
    network = cio.Network.grid(3, 3)
    problem = cio.ShortestPath(network, domain=domain)
    walk = network.decisions_from_paths([[0, 1, 2, 5]], kind="nodes").toarray()
    block = network.decisions_from_paths([[6, 7]], kind="nodes").toarray()
    back = network.decisions_from_paths([[7, 6]], kind="nodes").toarray()
    round_trip = network.decisions_from_paths([[1, 4], [4, 1]], kind="nodes").toarray().sum(axis=0)
    decisions = np.vstack([walk + block + back, walk + round_trip])
    contexts = np.array([[0, 5], [0, 5]])
    center = np.random.default_rng(0).uniform(0.5, 1.0, network.n_edges)
    fast = cio.conformity_angles(problem, center, contexts, decisions)
    slow = cio.conformity_angles(problem, center, contexts, decisions, method="reference")
    np.testing.assert_allclose(fast, slow, atol=1e-6)
    assert (fast > 0.05).all()


def test_empty_trip_is_explained_by_any_costs():
    network = cio.Network.grid(2, 2)
    problem = cio.ShortestPath(network)
    angle = cio.conformity_angles(problem, np.ones(network.n_edges), [[3, 3]], np.zeros((1, network.n_edges)))
    assert angle[0] == 0.0


def test_optimal_decisions_have_angle_exactly_zero():
    rng = np.random.default_rng(5)
    network = cio.Network.grid(6, 6)
    center = rng.uniform(1, 10, network.n_edges)
    problem = cio.ShortestPath(network)
    contexts = pairs(rng, 36, 50)
    angles = cio.conformity_angles(problem, center, contexts, problem.solve(center, contexts))
    assert (angles == 0.0).all()


def test_negative_centre_in_the_free_domain():
    rng = np.random.default_rng(8)
    network = cio.Network.grid(3, 3)
    problem = cio.ShortestPath(network, domain="free")
    contexts = pairs(rng, 9, 20)
    decisions = problem.solve(rng.normal(0.5, 1.0, (20, network.n_edges)), contexts)
    center = rng.normal(0.5, 1.0, network.n_edges)
    fast = cio.conformity_angles(problem, center, contexts, decisions)
    slow = cio.conformity_angles(problem, center, contexts, decisions, method="reference")
    np.testing.assert_allclose(fast, slow, atol=1e-6)
    explained = problem.solve(center, contexts)
    np.testing.assert_allclose(cio.conformity_angles(problem, center, contexts, explained), 0.0, atol=1e-9)


def test_own_centre_per_row_dense_and_sparse_decisions_any_scale_and_workers():
    rng = np.random.default_rng(11)
    network = cio.Network.grid(5, 5)
    center, contexts, decisions = trips(rng, network, 40)
    problem = cio.ShortestPath(network)
    angles = cio.conformity_angles(problem, center, contexts, decisions)
    np.testing.assert_array_equal(cio.conformity_angles(problem, center, contexts, decisions.toarray()), angles)
    np.testing.assert_array_equal(cio.conformity_angles(problem, center, contexts, decisions, n_jobs=2), angles)
    np.testing.assert_allclose(cio.conformity_angles(problem, 7e3 * center, contexts, decisions), angles, atol=1e-12)
    own = np.tile(center, (40, 1)) * rng.uniform(0.9, 1.1, (40, 1))
    np.testing.assert_allclose(cio.conformity_angles(problem, own, contexts, decisions), angles, atol=1e-12)


def test_blocks_do_not_change_a_bit(monkeypatch):
    rng = np.random.default_rng(12)
    network = cio.Network.grid(4, 4)
    center, contexts, decisions = trips(rng, network, 50)
    problem = cio.ShortestPath(network)
    whole = cio.conformity_angles(problem, center, contexts, decisions)
    monkeypatch.setattr("conformio.calibration.batches._BLOCK", 7)
    np.testing.assert_array_equal(cio.conformity_angles(problem, center, contexts, decisions, n_jobs=2), whole)


def test_large_grid_takes_the_iterative_solver_and_stays_exact():
    rng = np.random.default_rng(2)
    network = cio.Network.grid(25, 25)
    center, contexts, decisions = trips(rng, network, 3, spread=1.8)
    contexts[:] = [[0, 624], [24, 600], [312, 0]]
    decisions = cio.ShortestPath(network).solve(center * rng.uniform(0.2, 3.0, (3, network.n_edges)), contexts)
    problem = cio.ShortestPath(network)
    fast = cio.conformity_angles(problem, center, contexts, decisions)
    slow = cio.conformity_angles(problem, center, contexts, decisions, method="reference")
    np.testing.assert_allclose(fast, slow, rtol=1e-6)


def test_doubtful_rows_take_the_reference_route(monkeypatch):
    rng = np.random.default_rng(21)
    network = cio.Network.grid(4, 4)
    center, contexts, decisions = trips(rng, network, 12)
    problem = cio.ShortestPath(network)
    exact = cio.conformity_angles(problem, center, contexts, decisions)
    monkeypatch.setattr("conformio.calibration.potentials._MAX_ITER", 1)
    hasty = cio.conformity_angles(problem, center, contexts, decisions)
    np.testing.assert_allclose(hasty, exact, atol=1e-6)


@pytest.mark.parametrize("max_iter", [1, 2, 3])
def test_doubtful_rows_of_the_single_route_too(monkeypatch, max_iter):
    rng = np.random.default_rng(22)
    network = cio.Network.grid(3, 3)
    problem = cio.ShortestPath(network, domain="free")
    _, contexts, decisions = trips(rng, network, 10)
    center = rng.uniform(0.1, 1.0, network.n_edges)
    center[5] = -0.2
    exact = cio.conformity_angles(problem, center, contexts, decisions, method="reference")
    monkeypatch.setattr("conformio.calibration.potentials._MAX_ITER", max_iter)
    np.testing.assert_allclose(cio.conformity_angles(problem, center, contexts, decisions), exact, atol=1e-6)


def turned(network, center, on):
    """A network's edges as the kernel takes them: those of the path the other way round."""
    tails, heads = np.where(on, network.heads, network.tails), np.where(on, network.tails, network.heads)
    return tails, heads, np.where(on, -center, center)


def test_the_answer_is_a_member_of_the_cone_and_stationary():
    """Without any solver: the costs returned explain the path, and their distance cannot be shortened."""
    rng = np.random.default_rng(4)
    network = cio.Network.grid(5, 5)
    center, contexts, decisions = trips(rng, network, 20)
    center = center / np.linalg.norm(center)
    problem = cio.ShortestPath(network)
    angles = cio.conformity_angles(problem, center, contexts, decisions)
    for row in np.flatnonzero(angles > 0):
        on = decisions.toarray()[row] > 0
        tails, heads, slack = turned(network, center, on)
        w, nobody, room = np.zeros(network.n_nodes), np.empty(0, np.int64), np.empty(0)
        square, gap = project_flow(tails, heads, slack, nobody, room, w, 20.0, 500, -1.0)
        repairs = hinges_twin(tails, heads, slack, w)
        theta = np.where(on, center - repairs, center + repairs)
        assert gap <= 1e-9 * square
        assert square == pytest.approx((repairs**2).sum(), rel=1e-12)
        if (theta >= 0).all():
            assert problem.is_optimal(theta, decisions[[row]], contexts[[row]])[0]
            assert angles[row] == pytest.approx(np.arctan2(np.sqrt(square), np.linalg.norm(theta)), rel=1e-9)
        flow = np.zeros(network.n_nodes)
        np.add.at(flow, heads, repairs)
        np.subtract.at(flow, tails, repairs)
        np.testing.assert_allclose(flow, 0.0, atol=1e-12)


def test_hinges_kernel_equals_its_twin():
    rng = np.random.default_rng(0)
    tails, heads = rng.integers(9, size=50), rng.integers(9, size=50)
    slack, w = rng.normal(size=50), rng.normal(size=9)
    y = np.empty(50)
    total = hinges(tails, heads, slack, w, y)
    twin = hinges_twin(tails, heads, slack, w)
    np.testing.assert_allclose(y, twin, rtol=1e-15)
    assert total == pytest.approx((twin**2).sum(), rel=1e-14)


@pytest.mark.parametrize(
    ("tails", "heads", "costs", "ends", "decision"),
    [
        ([1, 0, 0, 0, 2, 4, 1], [0, 4, 4, 2, 1, 0, 4], [0, 0, 2, 2, 2, 0, 2], (0, 1), [0, 1, 0, 1, 1, 1, 0]),
        (
            [4, 1, 3, 1, 0, 1, 2, 3, 2, 0, 4, 2],
            [0, 3, 1, 0, 3, 0, 3, 1, 1, 4, 3, 3],
            [0, 1, 0, 3, 1, 3, 0, 0, 1, 0, 0, 1],
            (3, 0),
            [1, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0],
        ),
    ],
)
def test_a_loop_that_costs_nothing_leaves_an_optimal_trip_at_exactly_0(tails, heads, costs, ends, decision):
    problem = cio.ShortestPath(cio.Network(tails, heads), domain="free")
    assert cio.conformity_angles(problem, costs, [ends], [decision])[0] == 0.0
