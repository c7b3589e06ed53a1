"""Conformity angles of linear and convex programs against strong duality, KKT programs and planar geometry."""

import numpy as np
import pytest
from instances import angle_from_cuts, vertices

import conformio as cio


def random_program(rng, n=4, m=5, sense="min", domain="free", with_equality=False):
    A_ub = rng.normal(size=(m, n))
    A_eq = rng.normal(size=(1, n)) if with_equality else None
    inside = rng.uniform(0.3, 0.7, n)
    sides = A_ub @ inside + rng.uniform(0.05, 0.5, m)
    sides = sides if A_eq is None else np.concatenate([A_eq @ inside, sides])
    problem = cio.LinearProgram(A_eq=A_eq, A_ub=A_ub, lower=0.0, upper=1.0, sense=sense, domain=domain)
    return problem, sides, A_ub


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("domain", ["free", "nonnegative"])
@pytest.mark.parametrize("with_equality", [False, True])
def test_vertices_of_random_programs(sense, domain, with_equality):
    rng = np.random.default_rng(1)
    for _ in range(6):
        problem, sides, _ = random_program(rng, sense=sense, domain=domain, with_equality=with_equality)
        draws = rng.normal(size=(5, 4)) if domain == "free" else rng.uniform(0, 1, (5, 4))
        contexts = np.tile(sides, (5, 1))
        decisions = problem.solve(draws, contexts)
        center = np.abs(rng.normal(size=4)) + 0.1
        fast = cio.conformity_angles(problem, center, contexts, decisions)
        slow = cio.conformity_angles(problem, center, contexts, decisions, method="reference")
        np.testing.assert_allclose(fast, slow, atol=1e-6)


def test_against_all_vertices():
    rng = np.random.default_rng(2)
    problem, sides, rows = random_program(rng, n=3, m=4)
    points = vertices(rows, sides, np.zeros(3), np.ones(3))
    center = rng.normal(size=3)
    contexts = np.tile(sides, (len(points), 1))
    expected = [angle_from_cuts(center, points - point) for point in points]
    np.testing.assert_allclose(cio.conformity_angles(problem, center, contexts, points), expected, atol=1e-9)


def test_points_inside_faces_and_interior_points():
    square = cio.LinearProgram(A_ub=np.zeros((0, 2)), lower=0.0, upper=1.0)
    contexts = np.zeros((4, 0))
    decisions = np.array([[0.0, 0.5], [0.5, 0.0], [0.5, 0.5], [0.0, 0.0]])
    angles = cio.conformity_angles(square, [1.0, 2.0], contexts, decisions)
    to_first, to_second = np.arctan2(2.0, 1.0), np.arctan2(1.0, 2.0)
    np.testing.assert_allclose(angles, [to_first, to_second, np.pi, 0.0], atol=1e-12)


def test_degenerate_vertex_and_free_rows():
    """Three constraints meet at (1, 1); a fourth, far away, must not matter."""
    rows = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]]
    problem = cio.LinearProgram(A_ub=rows, lower=-np.inf, sense="max")
    context = [[1.0, 1.0, 2.0, 9.0]]
    for center, expected in [
        ([1.0, 1.0], 0.0),
        ([-1.0, 1.0], np.pi / 4),
        ([1.0, -2.0], np.arctan2(2.0, 1.0)),
    ]:
        angle = cio.conformity_angles(problem, center, context, [[1.0, 1.0]])
        np.testing.assert_allclose(angle, expected, atol=1e-12)


def test_fixed_variables_leave_their_parameters_free():
    problem = cio.LinearProgram(A_ub=np.zeros((0, 2)), lower=[2.0, 0.0], upper=[2.0, 1.0])
    angles = cio.conformity_angles(problem, [-5.0, 1.0], np.zeros((2, 0)), [[2.0, 0.0], [2.0, 1.0]])
    np.testing.assert_allclose(angles, [0.0, np.arctan2(1.0, 5.0)], atol=1e-12)


@pytest.mark.parametrize("unit", [1.0, 3.0, 1e-3, 1e7])
def test_a_bound_that_an_equality_implies_adds_no_direction(unit):
    """`x_2 = 2` is both an equality and a touched bound: without its line the bound's normal is rounding alone."""
    problem = cio.LinearProgram(A_eq=unit * np.array([[1.0, -1.0, 1.0], [0.0, 0.0, -1.0]]), lower=-2.0, upper=[3, 2, 2])
    center = np.array([-1.26438042, -0.11872106, -1.72845632])
    angle = cio.conformity_angles(problem, center, [[unit * 1.25, unit * -2.0]], [[0.5, 1.25, 2.0]])
    apart = abs(center[0] + center[1]) / np.sqrt(2.0)  # the cone is {(a, -a, b)}
    np.testing.assert_allclose(angle, np.arcsin(apart / np.linalg.norm(center)), rtol=1e-12)


@pytest.mark.parametrize("short_of", [1e-2, 1e-4, 1e-6])
def test_the_reference_keeps_its_digits_near_a_right_angle(short_of):
    axis = [[-np.sin(short_of), -np.cos(short_of)]]
    problem = cio.LinearProgram(A_ub=axis, lower=-np.inf)  # its cone is the ray along -axis
    for method in ("auto", "reference"):
        angle = cio.conformity_angles(problem, [1.0, 0.0], [[0.0]], [[0.0, 0.0]], method=method)
        np.testing.assert_allclose(angle, np.pi / 2 - short_of, atol=1e-9)


def test_the_reference_knows_that_nothing_within_a_right_angle_explains():
    """Degenerate: the solver's first answer is off by 1e-4 here, which looked like an angle of pi / 2."""
    bounds = {"lower": [-2.0, -2.0, -1.0, -1.0], "upper": [0.0, 3.0, 2.0, np.inf]}
    problem = cio.LinearProgram(A_eq=[[2.0, -1.0, 2.0, -1.0]], **bounds, sense="max", domain="nonnegative")
    for method in ("auto", "reference"):
        angle = cio.conformity_angles(problem, [0, 1, 0, 1], [[3.0]], [[0.0, 0.0, 1.0, -1.0]], method=method)
        assert angle[0] == np.pi


def test_orthant_leaves_nothing_or_a_single_axis():
    """Cones cut by the orthant to {0} or to one ray have no interior; conic solvers stall there."""
    rng = np.random.default_rng(0)
    for _ in range(150):
        rows = rng.integers(-2, 3, (3, 3)).astype(float)
        problem = cio.LinearProgram(A_ub=rows, lower=0.0, upper=1.0, domain="nonnegative", sense="max")
        sides = rows @ np.array([0.5, 0.5, 0.5])
        free = cio.LinearProgram(A_ub=rows, lower=0.0, upper=1.0, sense="max")
        decision = free.solve(rng.integers(-3, 2, 3).astype(float), [sides])
        center = rng.integers(0, 3, 3).astype(float)
        center[0] += not center.any()
        angle = cio.conformity_angles(problem, center, [sides], decision)[0]
        points = vertices(rows, sides, np.zeros(3), np.ones(3))
        expected = angle_from_cuts(center, decision - points, nonnegative=True)
        assert angle == pytest.approx(expected, abs=1e-6)


def test_example_of_the_paper_has_angle_zero_on_the_whole_facet():
    for u in (2.0, 10.0):
        problem = cio.LinearProgram(A_ub=[[-1.0, -u]], lower=0.0, upper=[u, 2.0])
        decisions = [[0.0, 1.0], [u, 0.0], [u / 2, 0.5]]
        angles = cio.conformity_angles(problem, [1.0, u], [[-u]] * 3, decisions)
        np.testing.assert_array_equal(angles, 0.0)


class TestConvexPrograms:
    cp = pytest.importorskip("cvxpy")

    def portfolio(self):
        """Weigh variance against a linear return on the simplex; the first basis function is not affine."""
        cp = self.cp
        root = np.linalg.cholesky(np.array([[2.0, 0.3, 0.0], [0.3, 1.0, 0.2], [0.0, 0.2, 0.5]]))

        def build(u):
            x = cp.Variable(3)
            return x, [cp.sum_squares(root.T @ x), -x[0], -x[1]], [cp.sum(x) == u[0], x >= 0]

        return cio.ConvexProgram(build, n_params=3)

    def test_angles_equal_the_reference_and_explain(self):
        problem = self.portfolio()
        rng = np.random.default_rng(0)
        contexts = rng.uniform(0.5, 1.5, 8)
        decisions = problem.solve(np.abs(rng.normal(1.0, 0.4, (8, 3))), contexts)
        center = np.array([1.0, 1.0, 1.0])
        fast = cio.conformity_angles(problem, center, contexts, decisions)
        slow = cio.conformity_angles(problem, center, contexts, decisions, method="reference")
        np.testing.assert_allclose(fast, slow, atol=2e-4)  # cuts touch a curved set: the root of the solver's accuracy
        assert (fast > 1e-3).any()

    def test_a_convex_program_that_is_linear_agrees_with_the_linear_program(self):
        cp = self.cp
        rng = np.random.default_rng(3)
        linear, sides, rows = random_program(rng, n=3, m=4)

        def build(u):
            x = cp.Variable(3)
            return x, [x[0], x[1], x[2]], [rows @ x <= u, x >= 0, x <= 1]

        convex = cio.ConvexProgram(build, n_params=3, context_width=4)
        contexts = np.tile(sides, (6, 1))
        decisions = linear.solve(rng.normal(size=(6, 3)), contexts)
        center = rng.normal(size=3)
        np.testing.assert_allclose(
            cio.conformity_angles(convex, center, contexts, decisions),
            cio.conformity_angles(linear, center, contexts, decisions),
            atol=1e-8,
        )
