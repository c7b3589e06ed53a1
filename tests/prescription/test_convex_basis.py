"""CVXPY programs: conic route against cutting planes, closed forms and dense grids."""

import cvxpy as cp
import numpy as np
import pytest

from conformio.errors import InfeasibleProblemError, InvalidInputError, SolverError, UnboundedProblemError
from conformio.prescription import convex_basis, solve_robust
from conformio.problems import ConvexProgram
from conformio.sets import SphericalCap


def example(u):
    x = cp.Variable(2)
    return x, [x[0], x[1]], [x[0] + 2 * x[1] >= u[0], x >= 0, x <= 2]


def curved(u):
    x = cp.Variable(3)
    return x, [cp.square(x[0]), cp.square(x[1]), cp.exp(x[2])], [cp.sum(x) == u[0]]


def concave(u):
    x = cp.Variable(3)
    return x, [cp.sqrt(x[0]), cp.log(x[1] + 1), x[2]], [cp.sum(x) <= u[0], x >= 0]


def mixed(u):
    x = cp.Variable(2)
    return x, [x[0], cp.square(x[1])], [cp.sum(x) >= u[0], x >= 0, x <= 3]


def line(u):
    x = cp.Variable()
    return x, [cp.square(x), cp.square(x - 1)], [x >= u[0], x <= 1]


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-6, 1e-3, 0.1, 0.7, 1.5, 2.5])
def test_the_papers_example_in_cvxpy(angle):
    program = ConvexProgram(example, 2)
    cap = SphericalCap([1.0, 2.0], angle)
    for method in ("auto", "conic", "reference", "cutting-plane"):
        found = solve_robust(program, cap, [[2.0], [2.0]], method=method)
        assert np.allclose(found.decisions, [[0.4, 0.8]] * 2, rtol=0, atol=2e-4)
        assert np.allclose(found.values, 2 / np.sqrt(5), rtol=0, atol=1e-8)
        assert found.is_certified(1e-7).all()


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.1, 0.7, 2.5])
@pytest.mark.parametrize(("build", "sense"), [(curved, "min"), (concave, "max")])
def test_curved_bases_by_two_routes(build, sense, angle):
    program = ConvexProgram(build, 3, sense, domain="nonnegative")
    cap = SphericalCap([1.0, 2.0, 0.5], angle, "nonnegative")
    fast = solve_robust(program, cap, [[2.0], [3.0]])
    slow = solve_robust(program, cap, [[2.0], [3.0]], method="reference")
    assert np.allclose(fast.values, slow.values, rtol=0, atol=1e-7)
    assert fast.is_certified(1e-6).all()
    assert slow.is_certified(1e-6).all()
    assert program.is_feasible(fast.decisions, [[2.0], [3.0]]).all()


@pytest.mark.parametrize("angle", [0.0, 0.05, 0.4, 1.0, 2.0])
def test_one_dimension_on_a_grid(angle):
    cap = SphericalCap([1.0, 3.0], angle, "nonnegative")
    program = ConvexProgram(line, 2)
    for low in (0.0, 0.8):
        grid = np.linspace(low, 1.0, 200_001)
        best = cap.support(np.column_stack([grid**2, (grid - 1.0) ** 2]))
        found = solve_robust(program, cap, [[low]])
        assert found.values[0] == pytest.approx(best.min(), abs=1e-8)
        assert found.decisions[0, 0] == pytest.approx(grid[best.argmin()], abs=2e-4)


def test_clipped_worst_cases_go_to_the_cutting_plane():
    program = ConvexProgram(concave, 3, "max", domain="nonnegative")
    found = solve_robust(program, SphericalCap([1.0, 2.0, 0.5], 0.7, "nonnegative"), [[2.0]])
    assert found.method.tolist() == ["cutting-plane"]
    assert found.is_certified(1e-7).all()


def test_a_program_with_parameters_of_both_kinds():
    program = ConvexProgram(mixed, 2)
    assert program.nonnegative_params.tolist() == [False, True]
    for angle in (0.0, 0.1, 0.5):
        cap = SphericalCap([1.0, 1.0], angle)
        grid = np.stack(np.meshgrid(*[np.linspace(0, 3, 601)] * 2), axis=-1).reshape(-1, 2)
        grid = grid[grid.sum(axis=1) >= 2.0 - 1e-9]
        best = cap.support(np.column_stack([grid[:, 0], grid[:, 1] ** 2])).min()
        found = solve_robust(program, cap, [[2.0]])
        assert best - 1e-3 <= found.values[0] <= best + 1e-9
        assert found.is_certified(1e-6).all()
    with pytest.raises(InvalidInputError, match=r"`cap` of solve_robust: must keep the parameters .* nonnegative"):
        solve_robust(program, SphericalCap([1.0, 1.0], 0.9), [[2.0]])


def test_ties_go_to_the_smallest_basis_and_do_not_jump():
    """All points of the segment x1 + x2 = 2 are optimal; the shortest is its middle."""

    def build(u):
        x = cp.Variable(2)
        return x, [x[0], x[1]], [cp.sum(x) >= u[0], x >= 0, x <= 2]

    program = ConvexProgram(build, 2)
    found = [solve_robust(program, SphericalCap([1.0, 1.0], a), [[2.0]]) for a in (0.0, 5e-10, 1e-9)]
    for answer in found:
        assert np.allclose(answer.decisions[0], [1.0, 1.0], atol=1e-4)
        assert np.array_equal(answer.decisions, found[0].decisions)
        assert answer.is_certified(1e-8).all()


def test_a_unique_optimum_stays_the_nominal_one_at_angle_zero():
    program = ConvexProgram(curved, 3)
    found = solve_robust(program, SphericalCap([1.0, 2.0, 0.5], 0.0, "nonnegative"), [[2.0]])
    assert np.allclose(found.decisions, program.solve([1.0, 2.0, 0.5], [[2.0]]), atol=1e-6)


def test_centres_of_rows():
    program, contexts = ConvexProgram(curved, 3), [[2.0], [3.0]]
    centers = np.array([[1.0, 2.0, 0.5], [2.0, 1.0, 1.0]])
    many = solve_robust(program, SphericalCap(centers, 0.2, "nonnegative"), contexts)
    for k in range(2):
        one = solve_robust(program, SphericalCap(centers[k], 0.2, "nonnegative"), contexts[k : k + 1])
        assert many.values[k] == pytest.approx(one.values[0], abs=1e-8)


def test_contexts_that_cannot_be_parameters_have_models_of_their_own():
    def build(u):
        x = cp.Variable(2)
        return x, [x[0], x[1]], [x[0] + float(np.sqrt(u[0])) * x[1] >= 1.0, x >= 0, x <= 2]

    program = ConvexProgram(build, 2)
    found = solve_robust(program, SphericalCap([1.0, 2.0], 0.3), [[4.0], [1.0], [9.0]])
    for k, slope in enumerate((2.0, 1.0, 3.0)):
        normal = np.array([1.0, slope])
        points = np.linspace([0.0, 1.0 / slope], [1.0, 0.0], 20_001)
        best = SphericalCap([1.0, 2.0], 0.3).support(points).min()
        assert found.values[k] == pytest.approx(best, abs=1e-7)
        assert found.decisions[k] @ normal >= 1.0 - 1e-7


def test_failures_name_the_row(monkeypatch):
    program = ConvexProgram(example, 2)
    cap = SphericalCap([1.0, 2.0], 0.3)
    with pytest.raises(InfeasibleProblemError, match=r"row 1 of solve_robust: no decision satisfies"):
        solve_robust(program, cap, [[1.0], [9.0]])

    def open_ended(u):
        x = cp.Variable(2)
        return x, [x[0], x[1]], [x[0] <= u[0]]

    with pytest.raises(UnboundedProblemError, match=r"row 0 of solve_robust: the worst case is unbounded"):
        solve_robust(ConvexProgram(open_ended, 2), SphericalCap([1.0, 0.1], 0.05), [[1.0]])
    for settings in (convex_basis._CLARABEL, convex_basis.PLAIN):
        monkeypatch.setitem(settings, "max_iter", 1)
    with pytest.raises(SolverError, match=r"row 0 of solve_robust: the conic solver"):
        solve_robust(program, cap, [[1.0]])


def test_errors_of_cvxpy_become_ours(monkeypatch):
    program, cap = ConvexProgram(example, 2), SphericalCap([1.0, 2.0], 0.3)

    def fail(self, *arguments, **more):
        raise cp.error.SolverError("stopped")

    monkeypatch.setattr(cp.Problem, "solve", fail)
    with pytest.raises(SolverError, match=r"row 0 of .*: the conic solver failed \(stopped\); rescale"):
        solve_robust(program, cap, [[1.0]])


def test_a_cone_program_that_fails_leaves_the_row_to_the_cutting_plane(monkeypatch):
    program, cap = ConvexProgram(example, 2), SphericalCap([1.0, 2.0], 0.3)
    wanted = solve_robust(program, cap, [[1.0]]).values

    def fail(self, center, row):
        raise SolverError("solve_robust", "the conic solver failed", row)

    monkeypatch.setattr(convex_basis._Model, "robust", fail)
    found = solve_robust(program, cap, [[1.0]])
    assert found.method.tolist() == ["cutting-plane"]
    assert found.is_certified(1e-6).all()
    assert np.allclose(found.values, wanted, rtol=0, atol=1e-7)


def test_cuts_run_out_with_an_honest_gap(monkeypatch):
    program = ConvexProgram(curved, 3)
    cap = SphericalCap([1.0, 2.0, 0.5], 0.7, "nonnegative")
    best = solve_robust(program, cap, [[2.0]]).values[0]
    monkeypatch.setattr(convex_basis, "_MAX_CUTS", 2)
    with pytest.warns(UserWarning, match="could not be proven optimal"):
        short = solve_robust(program, cap, [[2.0]], method="reference")
    assert 0.0 <= short.values[0] - best + 1e-9 <= short.gap[0] + 1e-8
