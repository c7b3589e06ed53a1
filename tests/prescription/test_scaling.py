"""Robust linear programs with numbers far from 1, where interior points give wrong verdicts, and in one dimension."""

import numpy as np
import pytest

from conformio.errors import InfeasibleProblemError, SolverError, UnboundedProblemError
from conformio.prescription import conic, least_norm, solve_robust
from conformio.problems import LinearProgram
from conformio.sets import SphericalCap
from conformio.solvers import ConicModel

FACET = LinearProgram(A_ub=[[-1.0, -2.0]])  # x1 + 2 x2 >= u
FAILURES = [InfeasibleProblemError, UnboundedProblemError, SolverError]


def refuse(error):
    def solve(self, *arguments, **options):
        raise error("ConicModel", "a verdict that is not true", options.get("row"))

    return solve


@pytest.mark.parametrize("angle", [0.0, 1e-5, 0.3, 1.5, 3.0])
@pytest.mark.parametrize("size", [1e3, 1e9, 1e11, 1e14])
def test_robust_decisions_scale_with_the_context(size, angle):
    center = np.array([1.0, 2.0]) / np.sqrt(5)
    solution = solve_robust(FACET, SphericalCap(center, angle), [[-size]])
    # the point of the facet nearest the origin is parallel to the centre
    np.testing.assert_allclose(solution.values / size, 1 / np.sqrt(5), rtol=1e-8)
    assert solution.is_certified(1e-8).all()
    assert FACET.is_feasible(solution.decisions, [[-size]]).all()


@pytest.mark.parametrize("error", FAILURES)
@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-5, 0.3, 2.0])
def test_wrong_verdicts_of_the_cone_solver_send_rows_to_the_cutting_plane(monkeypatch, error, angle):
    cap, contexts = SphericalCap([1.0, 2.0], angle), [[-1.0], [-3.0]]
    expected = solve_robust(FACET, cap, contexts, method="conic")
    monkeypatch.setattr(ConicModel, "solve", refuse(error))
    found = solve_robust(FACET, cap, contexts, method="conic")
    np.testing.assert_allclose(found.values, expected.values, atol=1e-8)
    np.testing.assert_allclose(found.decisions, expected.decisions, atol=1e-3)
    assert (found.method == "cutting-plane").all()
    assert found.is_certified(1e-7).all()


@pytest.mark.parametrize("angle", [0.0, 1e-5, 0.3])
def test_verdicts_that_the_linear_program_confirms_stand(angle):
    cap = SphericalCap([1.0, 2.0], angle)
    with pytest.raises(InfeasibleProblemError, match="row 1 of solve_robust: no decision satisfies"):
        solve_robust(LinearProgram(A_ub=[[-1.0, -2.0]], upper=1.0), cap, [[-1.0], [-9.0]])
    with pytest.raises(UnboundedProblemError, match="row 0 of solve_robust: the objective is unbounded"):
        solve_robust(LinearProgram(A_ub=[[-1.0, -2.0]], lower=-np.inf), SphericalCap([1.0, -2.0], angle), [[-1.0]])


@pytest.mark.parametrize("angle", [0.0, 0.1, 1.5, 3.0])
def test_wide_rows_and_boxes(angle):
    program = LinearProgram(A_ub=[[1e-9, 1.0]], upper=[1e12, 1.0])
    solution = solve_robust(program, SphericalCap([-1.0, -1.0], angle), [[1.0]])
    slow = solve_robust(program, SphericalCap([-1.0, -1.0], angle), [[1.0]], method="cutting-plane")
    assert solution.is_certified(1e-6).all()
    np.testing.assert_allclose(solution.values, slow.values, rtol=1e-6)


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("center", [1.0, -1.0])
@pytest.mark.parametrize("angle", [0.0, 0.5, np.pi / 2, 2.0, 3.1, np.pi])
def test_one_dimension(sense, center, angle):
    """A cap is its centre below pi and both unit numbers at pi; a fine grid of decisions decides."""
    program = LinearProgram(A_ub=[[1.0]], lower=-2.0, upper=0.0, sense=sense)
    contexts = np.array([[1.0], [-0.5]])
    solution = solve_robust(program, SphericalCap([center], angle), contexts)
    members = [center] if angle < np.pi else [center, -center]
    for k, (u,) in enumerate(contexts):
        grid = np.linspace(-2.0, min(0.0, u), 2001)
        outcomes = np.array([theta * grid for theta in members])
        best = outcomes.max(axis=0).min() if sense == "min" else outcomes.min(axis=0).max()
        assert abs(solution.values[k] - best) <= solution.gap[k] + 1e-9
        assert solution.gap[k] <= 1e-7
    if sense == "min" and center == 1.0 and angle < np.pi:
        np.testing.assert_allclose(solution.values, [-2.0, -2.0])


def test_the_modules_under_test_use_the_patched_model():
    assert conic.ConicModel is ConicModel
    assert least_norm.ConicModel is ConicModel
