"""Branching: the exact route for binary problems known by their solver only, where worst cases are clipped."""

import itertools

import numpy as np
import pytest

from conformio.errors import SolverError, UncertifiedWarning
from conformio.prescription import branching, solve_robust
from conformio.problems import Knapsack, OracleProblem
from conformio.sets import SphericalCap


def listed(members, sense):
    sign = 1.0 if sense == "min" else -1.0
    n = members.shape[1]

    def solve(theta, u):
        return members[np.argmin(sign * (members @ theta))]

    return OracleProblem(solve, n, sense, domain="nonnegative", feasible_set="binary")


def family(rng):
    n = int(rng.integers(1, 7))
    points = np.array(list(itertools.product([0.0, 1.0], repeat=n)))
    members = points[rng.random(len(points)) < rng.uniform(0.1, 1.0)]
    return members if len(members) else points[:1]


@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize("angle", [1e-7, 0.1, 0.8, 1.5, np.pi / 2, 2.5, np.pi])
def test_values_equal_brute_force(sense, angle):
    rng, branched = np.random.default_rng(3), 0
    for trial in range(12):
        members = family(rng)
        center = rng.uniform(0, 1, members.shape[1]) if trial % 2 else rng.integers(0, 3, members.shape[1]) + 0.0
        center[0] += 0.1
        cap = SphericalCap(center, angle, "nonnegative")
        sign = 1.0 if sense == "min" else -1.0
        best = sign * cap.support(sign * members).min()
        for method in ("auto", "reference"):
            found = solve_robust(listed(members, sense), cap, [0.0], method=method)
            assert found.values[0] == pytest.approx(best, abs=1e-9)
            assert found.is_certified(1e-9).all()
            branched += found.method[0] == "branching"
    assert branched > 0 or sense == "min"


def hidden_knapsack(domain="nonnegative"):
    rng = np.random.default_rng(1)
    weights, center = rng.uniform(1, 3, 10), rng.uniform(0.3, 1, 10)
    free = Knapsack(weights)
    hidden = OracleProblem(
        lambda theta, u: free.solve(theta, u[None])[0], 10, "max", domain=domain, feasible_set="binary"
    )
    return hidden, Knapsack(weights, domain=domain), SphericalCap(center, 0.6, domain)


def test_a_knapsack_behind_an_oracle_equals_the_cutting_plane():
    hidden, known, cap = hidden_knapsack()
    budgets = [[5.0], [9.0], [0.0]]
    found = solve_robust(hidden, cap, budgets)
    assert "branching" in found.method
    wanted = solve_robust(known, cap, budgets, method="cutting-plane")
    np.testing.assert_allclose(found.values, wanted.values, rtol=0, atol=1e-9)
    assert known.is_feasible(found.decisions, budgets).all()


def test_a_search_that_runs_out_of_solves_says_so(monkeypatch):
    monkeypatch.setattr(branching, "_MAX_CALLS", 1)
    hidden, known, cap = hidden_knapsack()
    best = solve_robust(known, cap, [[9.0]]).values[0]
    with pytest.warns(UncertifiedWarning, match="1 of 1 robust decisions could not be proven optimal"):
        found = solve_robust(hidden, cap, [[9.0]], method="reference")
    assert found.values[0] <= best <= found.values[0] + found.gap[0]


def test_failures_of_the_oracle_name_their_row():
    calls = []

    def solve(theta, u):
        calls.append(u)
        if len(calls) > 4 and u[0] == 2.0:
            raise RuntimeError("out of memory")
        return np.array([1.0, 1.0]) if theta.sum() > 0 else np.array([0.0, 1.0])

    problem = OracleProblem(solve, 2, "max", domain="nonnegative", feasible_set="binary")
    cap = SphericalCap([1.0, 0.2], 1.0, "nonnegative")
    with pytest.raises(SolverError, match=r"row 1 of solve_robust: `solve` raised RuntimeError: out of memory"):
        solve_robust(problem, cap, [[1.0], [2.0]])


def test_a_solver_that_ignores_negative_values_is_found_out():
    """Exact for values >= 0 only, where it takes all that fits: it hides decisions that can be better."""
    rng = np.random.default_rng(0)
    points, refused = np.array(list(itertools.product([0.0, 1.0], repeat=8)))[::-1], 0
    for _ in range(30):
        weights = rng.integers(1, 6, 8)
        fitting = points[points @ weights <= weights.sum() / 2]
        shop = OracleProblem(
            lambda theta, u, fitting=fitting: fitting[np.argmax(fitting @ np.maximum(theta, 0.0))],
            8,
            "max",
            domain="nonnegative",
            feasible_set="binary",
        )
        cap = SphericalCap(rng.random(8), 1.2, "nonnegative")
        best = -cap.support(-fitting).min()
        try:
            assert solve_robust(shop, cap, [[0.0]]).values[0] == pytest.approx(best, abs=1e-9)
        except SolverError:
            refused += 1
            with pytest.raises(SolverError, match=r"row 0 of solve_robust: .* make it exact for both signs"):
                solve_robust(shop, cap, [[0.0]])
    assert 0 < refused < 30
