"""Convex sets known by their solver: simplicial decomposition against the linear program itself."""

import numpy as np
import pytest

from conformio.errors import InvalidInputError
from conformio.prescription import simplicial, solve_robust
from conformio.problems import LinearProgram, OracleProblem
from conformio.sets import SphericalCap

CONTEXTS = [[2.0, 2.0], [3.0, 1.0]]


def pair(sense, domain="free"):
    """One feasible set, once as a linear program and once behind a solver."""
    A = np.array([[1.0, 1.0, 2.0, 1.0], [2.0, 1.0, 0.0, 1.0]])
    signs = 1.0 if sense == "max" else -1.0
    program = LinearProgram(A_ub=signs * A, upper=[1.0, 2.0, 1.0, 1.0], sense=sense, domain=domain)
    oracle = OracleProblem(
        lambda theta, u: program.solve(theta, [signs * u])[0],
        4,
        sense,
        feasible_set="convex",
        context_width=2,
        domain=domain,
    )
    return program, oracle, signs * np.array(CONTEXTS)


@pytest.mark.parametrize("domain", ["free", "nonnegative"])
@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-6, 1e-3, 0.1, 0.7, 1.5, 2.5])
def test_values_equal_those_of_the_linear_program(angle, sense, domain):
    rng = np.random.default_rng(0)
    for center in ([1.0, 1.0, 1.0, 1.0], rng.random(4)):
        program, oracle, contexts = pair(sense)
        cap = SphericalCap(center, angle, domain)
        known = solve_robust(program, cap, contexts)
        for method in ("auto", "reference"):
            found = solve_robust(oracle, cap, CONTEXTS, method=method)
            assert np.allclose(found.values, known.values, rtol=0, atol=1e-8)
            assert found.is_certified(1e-8).all()
            assert set(found.method) == {"simplicial"}
        assert program.is_feasible(found.decisions, contexts).all()


@pytest.mark.parametrize("sense", ["min", "max"])
def test_ties_go_to_the_shortest_combination(sense):
    program, oracle, contexts = pair(sense)
    for center in ([1.0, 1.0, 2.0, 1.0], [1.0, 1.0, 1.0, 1.0], [2.0, 1.0, 0.0, 1.0]):
        known = solve_robust(program, SphericalCap(center, 0.0), contexts)
        for angle in (0.0, 1e-9):
            found = solve_robust(oracle, SphericalCap(center, angle), CONTEXTS)
            assert np.allclose(found.decisions, known.decisions, rtol=0, atol=1e-7)


def disc(theta, u):
    """min theta . (x, |x|^2-like basis): x in R^1, basis (x^2, (x - 1)^2), minimiser in closed form."""
    return np.array([theta[1] / (theta[0] + theta[1])])


def test_a_convex_basis_needs_a_nonnegative_cap():
    oracle = OracleProblem(
        disc,
        2,
        basis=lambda x: np.array([x[0] ** 2, (x[0] - 1.0) ** 2]),
        n_vars=1,
        domain="nonnegative",
        feasible_set="convex",
    )
    for angle in (0.0, 0.1, 0.5, 2.0):
        cap = SphericalCap([1.0, 3.0], angle, "nonnegative")
        grid = np.linspace(0.0, 1.0, 200_001)[:, None]
        best = cap.support(np.hstack([grid**2, (grid - 1.0) ** 2]))
        found = solve_robust(oracle, cap, [0.0])
        assert found.values[0] == pytest.approx(best.min(), abs=1e-8)
        assert found.decisions[0, 0] == pytest.approx(grid[best.argmin(), 0], abs=2e-4)
        assert found.is_certified(1e-6).all()
    with pytest.raises(InvalidInputError, match=r"`cap` of solve_robust: must have domain nonnegative"):
        solve_robust(oracle, SphericalCap([1.0, 3.0], 0.1), [0.0])


def test_rounds_run_out_with_an_honest_gap(monkeypatch):
    program, oracle, contexts = pair("max")
    cap = SphericalCap([1.0, 2.0, 3.0, 4.0], 0.7)
    known = solve_robust(program, cap, contexts)
    monkeypatch.setattr(simplicial, "_MAX_ROUNDS", 1)
    with pytest.warns(UserWarning, match="could not be proven optimal"):
        found = solve_robust(oracle, cap, CONTEXTS)
    assert (np.abs(found.values - known.values) <= found.gap + 1e-9).all()
