"""One calibrated angle by bounds: the very number that all angles give, and the counts too."""

import numpy as np
import pytest
from instances import digraph, trips

import conformio as cio
from conformio._kernels.path_cones import ABOVE, BELOW, EXACT
from conformio.calibration import level as level_module
from conformio.calibration.potentials import place_paths

LEVELS = [0.0, 0.02, 0.1, 0.35, 0.5, 0.72, 0.9, 0.97, 1.0]


def compare(problem, theta, contexts, decisions, level, **options):
    angles = cio.conformity_angles(problem, theta, contexts, decisions, **options)
    found = cio.quantile_angle(problem, theta, contexts, decisions, level, **options)
    assert found.angle == cio.calibrated_angle(angles, level)
    assert found.n_zero == (angles == 0.0).sum()
    assert found.n_unexplained == (angles == np.pi).sum()
    assert found.n_tied == (angles == found.angle).sum()
    assert found.n == len(angles)
    return found


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr(level_module, "_sample_size", lambda n: min(n, 40))


@pytest.mark.filterwarnings("ignore::conformio.CalibrationWarning")
@pytest.mark.parametrize("domain", ["nonnegative", "free"])
@pytest.mark.parametrize("spread", [0.4, 1.0, 1.9])
def test_equal_to_all_angles_bit_for_bit(spread, domain, small_samples):
    rng = np.random.default_rng(int(10 * spread))
    network = cio.Network.grid(6, 6)
    problem = cio.ShortestPath(network, domain)
    center, contexts, decisions = trips(rng, network, 400, spread)
    placed = [compare(problem, center, contexts, decisions, level).n_exact for level in LEVELS]
    assert min(placed) < 360  # optimal rows are exact at once


@pytest.mark.filterwarnings("ignore::conformio.CalibrationWarning")
@pytest.mark.parametrize("level", LEVELS)
def test_ties_and_infeasible_rows(level, small_samples):
    rng = np.random.default_rng(3)
    network = cio.Network.grid(4, 4)
    problem = cio.ShortestPath(network)
    center, contexts, decisions = trips(rng, network, 60, 1.5)
    rows = np.concatenate([np.arange(60)] * 5)
    contexts, decisions = contexts[rows], decisions[rows]
    contexts[::11] = contexts[::11, ::-1]
    compare(problem, np.ones(network.n_edges), contexts, decisions, level, infeasible="unexplained")
    compare(problem, center, contexts, decisions, level, infeasible="unexplained", n_jobs=2)


@pytest.mark.filterwarnings("ignore::conformio.CalibrationWarning")
@pytest.mark.parametrize("k", [1, 2, 9, 400])
def test_angles_up_to_a_right_angle(k):
    """A chain of k edges that cost something, and a shortcut that costs nothing: `tan a = sqrt(k)`."""
    network = cio.Network([*range(k), 0], [*range(1, k + 1), k])
    problem = cio.ShortestPath(network)
    contexts, decisions = np.tile([[0.0, k]], (50, 1)), np.tile([1.0] * k + [0.0], (50, 1))
    center = np.array([1.0] * k + [0.0])
    angles = cio.conformity_angles(problem, center, contexts, decisions)
    np.testing.assert_allclose(angles, np.arctan(np.sqrt(k)), rtol=1e-12)
    for level in LEVELS:
        compare(problem, center, contexts, decisions, level)


@pytest.mark.parametrize("interval", [(0.0, 1e-6), (1.0, 1.2), (0.2, 0.1), (np.pi, np.pi), (0.0, 0.0)])
def test_an_interval_that_misses_the_rank_only_costs_time(interval, monkeypatch):
    rng = np.random.default_rng(4)
    network = cio.Network.grid(5, 5)
    problem = cio.ShortestPath(network)
    center, contexts, decisions = trips(rng, network, 300, 1.5)
    monkeypatch.setattr(level_module, "_sample_size", lambda n: 5)
    monkeypatch.setattr(level_module, "_interval", lambda sample, rank, n: interval)
    for level in (0.3, 0.6, 0.9):
        compare(problem, center, contexts, decisions, level)


def test_placed_rows_lie_where_they_are_placed():
    rng = np.random.default_rng(5)
    network = digraph(rng, n_nodes=30, n_edges=90)
    problem = cio.ShortestPath(network)
    center, contexts, decisions = trips(rng, network, 400, 1.5)
    center[rng.random(network.n_edges) < 0.1] = 0.0
    center /= np.linalg.norm(center)
    distances = np.sin(cio.conformity_angles(problem, center, contexts, decisions))
    cones = problem.cones(contexts, decisions)
    centers = np.broadcast_to(center, (400, network.n_edges))
    seen = set()
    for at in np.quantile(distances, [0.3, 0.5, 0.7, 0.9]):
        status, projections = place_paths(cones, centers, at, at)
        assert (distances[status == BELOW] < at).all()
        assert (distances[status == ABOVE] > at).all()
        assert (projections.distances[status == BELOW] >= distances[status == BELOW] * (1 - 1e-9)).all()
        assert (projections.distances[status == ABOVE] <= distances[status == ABOVE] * (1 + 1e-9)).all()
        assert (distances[status != EXACT] > 0.0).all()
        seen |= set(status.tolist())
    assert seen == {EXACT, BELOW, ABOVE}


def test_a_centre_for_each_row(small_samples):
    rng = np.random.default_rng(6)
    network = cio.Network.grid(6, 6)
    center, contexts, decisions = trips(rng, network, 400, 1.9)
    own = center * rng.uniform(0.8, 1.2, (400, network.n_edges))
    assert compare(cio.ShortestPath(network), own, contexts, decisions, 0.8).n_exact < 400


def test_other_problems_work_out_all_angles():
    rng = np.random.default_rng(7)
    problem = cio.Knapsack(rng.uniform(1, 2, 6))
    contexts = rng.uniform(2, 6, 30)
    decisions = problem.solve(rng.uniform(1, 2, (30, 6)), contexts)
    assert compare(problem, np.ones(6), contexts, decisions, 0.8).n_exact == 30


def test_too_few_rows_warn_as_ever():
    network = cio.Network.grid(3, 3)
    center, contexts, decisions = trips(np.random.default_rng(8), network, 8)
    with pytest.warns(cio.CalibrationWarning, match="8 calibration decisions cannot certify level 0.9"):
        found = cio.quantile_angle(cio.ShortestPath(network), center, contexts, decisions, 0.9)
    assert (found.angle, found.rank, found.n) == (np.pi, 9, 8)


def test_wrong_arguments():
    network = cio.Network.grid(3, 3)
    problem = cio.ShortestPath(network)
    center, contexts, decisions = trips(np.random.default_rng(9), network, 8)
    with pytest.raises(cio.InvalidInputError, match="`confidence_level`"):
        cio.quantile_angle(problem, center, contexts, decisions, 1.5)
    with pytest.raises(cio.InvalidInputError, match="`infeasible` of quantile_angle"):
        cio.quantile_angle(problem, center, contexts, decisions, 0.5, infeasible="drop")
    with pytest.raises(cio.InvalidInputError, match="at least one row"):
        cio.quantile_angle(problem, center, contexts[:0], decisions[:0], 0.5)
    with pytest.raises(cio.InvalidInputError, match="infeasible rows: 0"):
        cio.quantile_angle(problem, center, contexts[:, ::-1], decisions, 0.5)
