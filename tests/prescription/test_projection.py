"""The projection route against the conic one, its certificate, and what it hands on."""

import numpy as np
import pytest
from scipy import sparse

from conformio._kernels.cap_points import robust_points
from conformio.errors import InfeasibleProblemError, UnboundedProblemError
from conformio.networks import Network
from conformio.prescription import projection, solve_robust
from conformio.problems import LinearProgram, ShortestPath
from conformio.sets import SphericalCap
from conformio.solvers import ConicModel

ANGLES = [2e-4, 1e-3, 0.05, 0.4, 1.2, np.pi / 2, 2.0, 3.0, np.pi]


def random_program(rng, sense, n=7, n_eq=2, n_ub=4, rows=6):
    """Feasible by construction; some bounds infinite, one variable fixed, one row twice."""
    A_eq, A_ub = rng.normal(size=(n_eq, n)), rng.normal(size=(n_ub, n))
    A_ub[-1] = A_ub[0]
    lower, upper = -rng.random(n) - 0.5, rng.random(n) + 0.5
    lower[1] = upper[1] = 0.25
    inside = rng.uniform(-0.4, 0.4, (rows, n))
    inside[:, 1] = 0.25
    contexts = np.hstack([inside @ A_eq.T, inside @ A_ub.T + rng.random((rows, n_ub)) * 0.2])
    return LinearProgram(A_eq, A_ub, lower, upper, sense=sense), contexts


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("shared", [True, False])
def test_values_equal_the_conic_route(sense, angle, shared):
    rng = np.random.default_rng(0)
    for _ in range(5):
        program, contexts = random_program(rng, sense)
        cap = SphericalCap(rng.normal(size=7 if shared else (6, 7)), angle)
        fast = solve_robust(program, cap, contexts)
        slow = solve_robust(program, cap, contexts, method="conic")
        assert set(fast.method) == {"projection"}
        np.testing.assert_allclose(fast.values, slow.values, rtol=0, atol=2e-9)
        assert fast.is_certified(1e-9).all()
        assert program.is_feasible(fast.decisions, contexts).all()


@pytest.mark.parametrize("angle", [1e-3, 0.3, 1.5])
def test_programs_without_upper_bounds(angle):
    rng = np.random.default_rng(1)
    for _ in range(10):
        A = rng.random((3, 6)) + 0.1
        program = LinearProgram(A_ub=-A)
        contexts = -rng.random((5, 3)) - 0.2
        for domain in ("free", "nonnegative"):
            cap = SphericalCap(rng.random(6) + 0.1, angle, domain)
            fast = solve_robust(program, cap, contexts)
            slow = solve_robust(program, cap, contexts, method="conic")
            assert set(fast.method) == {"projection"}
            np.testing.assert_allclose(fast.values, slow.values, rtol=1e-9)
            assert fast.is_certified(1e-9).all()


def test_more_rows_than_variables_and_many_at_once():
    rng = np.random.default_rng(2)
    A, inside = rng.random((40, 20)), rng.uniform(0.2, 0.8, (60, 20))
    program = LinearProgram(A_ub=-A, upper=np.ones(20))
    contexts = -(inside @ A.T) * rng.uniform(0.8, 1.0, (60, 40))
    for angle in (1e-3, 0.1, 1.0):
        cap = SphericalCap(rng.random(20) + 0.1, angle)
        fast = solve_robust(program, cap, contexts)
        slow = solve_robust(program, cap, contexts[:10], method="conic")
        assert (fast.method == "projection").mean() > 0.9
        np.testing.assert_allclose(fast.values[:10], slow.values, rtol=0, atol=1e-9)
        alone = solve_robust(program, cap, contexts[17:18])
        assert (alone.decisions[0] == fast.decisions[17]).all()


def test_flows_with_dependent_rows_and_unusable_edges():
    rng = np.random.default_rng(3)
    grid = Network.grid(3, 4)
    network = Network(grid.tails, grid.heads, zones=np.arange(12) < 2)
    problem, contexts = ShortestPath(network), np.array([[0, 11], [2, 9], [4, 1]])
    for angle in (1e-3, 0.2, 1.0):
        cap = SphericalCap(rng.random(network.n_edges) + 0.1, angle)
        fast = solve_robust(problem, cap, contexts, relaxed=True)
        slow = solve_robust(problem, cap, contexts, method="conic", relaxed=True)
        assert set(fast.method) == {"projection"}
        np.testing.assert_allclose(fast.values, slow.values, rtol=0, atol=1e-9)


@pytest.mark.parametrize("angle", [1e-9, 0.3])
def test_rows_without_an_answer_are_named(angle):
    closed = LinearProgram(A_ub=[[1.0, 1.0]])
    with pytest.raises(InfeasibleProblemError, match="row 2 of solve_robust"):
        solve_robust(closed, SphericalCap([1.0, 1.0], angle), [[1.0], [0.5], [-1.0]])
    endless = LinearProgram(A_ub=[[1.0, 1.0]], sense="max", lower=-np.inf)
    with pytest.raises(UnboundedProblemError, match="row 0 of solve_robust"):
        solve_robust(endless, SphericalCap([1.0, -1.0], angle), [[1.0]])


def test_the_certificate_decides_not_the_kernel(monkeypatch):
    """Wrong points, wrong multipliers and infeasible points all end in the conic route."""
    program = LinearProgram(A_ub=[[-1.0, -2.0]], upper=[2.0, 2.0])
    cap, contexts = SphericalCap([1.0, 1.0], 0.1), [[-2.0], [-3.0]]
    good = solve_robust(program, cap, contexts)

    def spoiled(part, change):
        def kernel(*arguments):
            found = list(robust_points(*arguments))
            found[part] = change(found[part])
            return found

        monkeypatch.setattr(projection, "robust_points", kernel)
        return solve_robust(program, cap, contexts)

    assert set(good.method) == {"projection"}
    changes = [(0, lambda z: z + 0.1), (0, lambda z: 0.9 * z), (1, lambda v: 2.0 * v), (1, lambda v: -v)]
    for part, change in [*changes, (2, lambda lam: lam + 1.0), (2, lambda lam: 0.5 * lam), (3, np.logical_not)]:
        found = spoiled(part, change)
        assert set(found.method) == {"conic"}
        np.testing.assert_allclose(found.values, good.values, rtol=0, atol=1e-9)


def test_large_programs_tiny_angles_and_clipped_caps_take_the_conic_route(monkeypatch):
    program = LinearProgram(A_ub=[[-1.0, -2.0]], upper=[2.0, 2.0])
    tiny = solve_robust(program, SphericalCap([1.0, 1.0], 1e-6), [[-2.0]])
    mixed = LinearProgram(A_ub=[[-1.0, -2.0]], lower=-1.0, upper=[2.0, 2.0])
    clipped = solve_robust(mixed, SphericalCap([1.0, 1.0], 0.2, "nonnegative"), [[-2.0]])
    monkeypatch.setattr(projection, "_MOST_ENTRIES", 1)
    large = solve_robust(program, SphericalCap([1.0, 1.0], 0.2), [[-2.0]])
    for found in (tiny, clipped, large):
        assert "projection" not in set(found.method)


def test_projections_of_the_kernel_equal_a_quadratic_program():
    """At angle 0.1 the point is the projection of `-lam c`; Clarabel projects the same."""
    rng = np.random.default_rng(4)
    A, n = rng.random((5, 8)), 8
    inside = rng.random((6, n))
    sides, center = -inside @ A.T, rng.random(n)
    center /= np.linalg.norm(center)
    z, v, lam, found = robust_points(
        -A, 0, np.zeros((6, n)), np.ones((6, n)), sides, center[None], np.cos(0.1), np.sin(0.1)
    )
    assert found.all()
    assert (v >= 0.0).all()
    rows = sparse.vstack([-A, -sparse.eye_array(n), sparse.eye_array(n)], format="csc")
    for k in range(6):
        b = np.concatenate([sides[k], np.zeros(n), np.ones(n)])
        model = ConicModel(sparse.eye_array(n, format="csc"), lam[k] * center, rows, b, [("nonnegative", len(b))])
        np.testing.assert_allclose(z[k], model.solve().x, atol=1e-7)
        y = z[k] + lam[k] * center
        assert y @ center / np.linalg.norm(y) == pytest.approx(np.cos(0.1), abs=1e-12)
