"""Robust knapsacks by enumeration: equal to brute force and to the other routes, under either domain."""

import numpy as np
import pytest

from conformio.errors import InfeasibleProblemError, InvalidInputError
from conformio.networks import Network
from conformio.prescription import enumeration, solve_robust
from conformio.prescription import solve as solving
from conformio.problems import Knapsack, ShortestPath
from conformio.sets import SphericalCap


def instance(seed, domain, angle, n=7, rows=6):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 5, n).astype(float) if seed % 2 else rng.uniform(0.2, 2.0, n)
    center = rng.uniform(0.05, 1.0, n) if domain == "nonnegative" else rng.normal(0.4, 1.0, n)
    contexts = np.append(rng.uniform(0.0, weights.sum(), rows - 1), 0.0)[:, None]
    return Knapsack(weights, domain), SphericalCap(center, angle, domain), contexts


def brute_force(problem, cap, budget):
    points = ((np.arange(2**problem.n_vars)[:, None] >> np.arange(problem.n_vars)) & 1).astype(float)
    fitting = points[points @ problem.weights <= budget * (1 + 1e-9)]
    return (-cap.support(-fitting)).max()


@pytest.mark.parametrize("domain", ["free", "nonnegative"])
@pytest.mark.parametrize("angle", [2e-9, 1e-3, 0.1, 0.7, 1.5, 2.5, np.pi])
@pytest.mark.parametrize("seed", range(3))
def test_values_equal_brute_force(seed, angle, domain):
    problem, cap, contexts = instance(seed, domain, angle)
    found = solve_robust(problem, cap, contexts, method="enumeration")
    expected = [brute_force(problem, cap, budget) for budget in contexts[:, 0]]
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-12)
    assert (found.gap <= 1e-12).all()
    assert problem.is_feasible(found.decisions, contexts).all()
    assert set(found.method) == {"enumeration"}


@pytest.mark.parametrize("seed", range(4))
def test_decisions_equal_those_of_the_hull(seed):
    problem, cap, contexts = instance(seed, "free", 0.3)
    listed = solve_robust(problem, cap, contexts, method="enumeration")
    walked = solve_robust(problem, cap, contexts, method="parametric")
    np.testing.assert_allclose(listed.values, walked.values, atol=1e-12)


def test_clipped_worst_cases_equal_the_cutting_plane():
    problem, cap, contexts = instance(5, "nonnegative", 0.6)
    listed, cut = (solve_robust(problem, cap, contexts, method=name) for name in ("enumeration", "cutting-plane"))
    np.testing.assert_allclose(listed.values, cut.values, atol=1e-6)


def test_ties_take_the_fewest_items_then_the_first():
    problem, cap = Knapsack(np.ones(4)), SphericalCap(np.ones(4), 0.4)
    found = solve_robust(problem, cap, [[2.0], [0.0]], method="enumeration")
    np.testing.assert_array_equal(found.decisions, [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    hostile = solve_robust(problem, SphericalCap(np.ones(4), np.pi), [[2.0]], method="enumeration")
    np.testing.assert_array_equal(hostile.decisions, [[0.0, 0.0, 0.0, 0.0]])


def test_auto_takes_the_route_where_it_pays(monkeypatch):
    problem, cap, contexts = instance(1, "free", 0.2)
    assert set(solve_robust(problem, cap, contexts).method) == {"enumeration"}
    assert set(solve_robust(Knapsack(np.arange(1.0, 13.0)), SphericalCap(np.ones(12), 0.2), [[9.0]]).method) == {
        "parametric"
    }
    assert set(solve_robust(problem, SphericalCap(cap.center, 0.0), contexts).method) == {"parametric"}
    clipped, cut, budgets = instance(3, "nonnegative", 0.5, rows=1)
    monkeypatch.setattr(solving, "solve_by_cuts", lambda *arguments: pytest.fail("an integer program"))
    assert set(solve_robust(clipped, cut, budgets).method) == {"enumeration"}


def test_the_list_of_contenders_follows_rising_weight():
    losses = np.array([0.0, -1.0, -1.0 - 1e-15, -0.5, -2.0])
    chosen = enumeration._first_of_the_best(losses, np.minimum.accumulate(losses), np.array([0, 2, 1, 3, 4]))
    np.testing.assert_array_equal(chosen, [0, 1, 2, 2, 4])


def test_a_negative_budget_names_its_row():
    problem, cap, _ = instance(0, "free", 0.3)
    with pytest.raises(InfeasibleProblemError, match=r"row 1 of solve_robust.*negative budget"):
        solve_robust(problem, cap, [[1.0], [-1.0]], method="enumeration")


@pytest.mark.parametrize(
    ("problem", "angle", "context", "relaxed"),
    [
        (Knapsack(np.ones(15)), 0.3, [[2.0]], False),
        (Knapsack(np.ones(3)), 0.0, [[2.0]], False),
        (Knapsack(np.ones(3)), 0.3, [[2.0]], True),
        (ShortestPath(Network.grid(2, 2)), 0.3, [[0, 3]], False),
    ],
)
def test_where_it_does_not_apply_it_says_so(problem, angle, context, relaxed):
    cap = SphericalCap(np.ones(problem.n_params), angle)
    with pytest.raises(InvalidInputError, match=r"method='enumeration'.*at most 14 items"):
        solve_robust(problem, cap, context, method="enumeration", relaxed=relaxed)
