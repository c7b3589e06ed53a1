"""Nearest decisions that can be optimal: closed forms, brute force over faces, and every refusal."""

import itertools
import warnings

import numpy as np
import pytest
from instances import binary_points
from scipy import sparse

import conformio as cio

MOVED = "decisions moved, by"


def explained(problem, contexts, decisions):
    """Some unit vector among many has angle below pi to the cone, so the cone is not {0}."""
    n = problem.n_params
    directions = np.vstack([np.eye(n), -np.eye(n)]) if problem.domain == "free" else np.eye(n)
    angles = [cio.conformity_angles(problem, d, contexts, decisions) for d in directions]
    return np.min(angles, axis=0) < np.pi


def test_interior_point_moves_to_the_nearest_facet():
    problem = cio.LinearProgram(A_ub=[[1.0, 1.0]], lower=0.0, upper=1.0)
    with pytest.warns(cio.CalibrationWarning, match=f"1 of 2 {MOVED} 0.141421 at most; first rows: 1"):
        moved, distance = cio.nearest_rationalizable(
            problem, [[1.6], [1.6]], [[1.0, 0.5], [0.8, 0.6]], return_distances=True
        )
    np.testing.assert_allclose(distance, [0.0, np.sqrt(0.02)], atol=1e-9)
    np.testing.assert_allclose(moved, [[1.0, 0.5], [0.9, 0.7]], atol=1e-9)


def test_infeasible_point_is_projected():
    problem = cio.LinearProgram(A_ub=[[1.0, 1.0]], lower=0.0, upper=1.0)
    with pytest.warns(cio.CalibrationWarning, match=MOVED):
        moved = cio.nearest_rationalizable(problem, [[1.0]], [[2.0, 1.0]])
    np.testing.assert_allclose(moved, [[1.0, 0.0]], atol=1e-8)


def test_equalities_explain_every_feasible_point():
    problem = cio.LinearProgram(A_eq=[[1.0, 1.0]], lower=0.0, upper=1.0)
    inside = np.array([[0.4, 0.6]])
    np.testing.assert_array_equal(cio.nearest_rationalizable(problem, [[1.0]], inside), inside)


def test_nonnegative_domain_needs_a_nonnegative_explanation():
    """`min` with theta >= 0 on the unit square: only points with a zero coordinate can be optimal."""
    problem = cio.LinearProgram(A_ub=np.zeros((0, 2)), lower=0.0, upper=1.0, domain="nonnegative")
    with pytest.warns(cio.CalibrationWarning, match=MOVED):
        moved = cio.nearest_rationalizable(problem, np.zeros((2, 0)), [[0.9, 0.4], [1.0, 1.0]])
    np.testing.assert_allclose(moved[0], [0.9, 0.0], atol=1e-8)
    np.testing.assert_allclose(np.sort(moved[1]), [0.0, 1.0], atol=1e-8)


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("domain", ["free", "nonnegative"])
def test_linear_programs_against_dense_search(sense, domain):
    """No point of a fine mesh of the polytope that can be optimal is closer."""
    rng = np.random.default_rng(4)
    for _ in range(3):
        A_ub = rng.normal(size=(3, 2))
        sides = A_ub @ np.array([0.5, 0.5]) + rng.uniform(0.1, 0.4, 3)
        problem = cio.LinearProgram(A_ub=A_ub, lower=0.0, upper=1.0, sense=sense, domain=domain)
        point = np.array([[0.5, 0.5]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cio.CalibrationWarning)
            try:
                moved, distance = cio.nearest_rationalizable(problem, [sides], point, return_distances=True)
            except cio.InfeasibleProblemError:
                continue
        assert problem.is_feasible(moved, [sides]).all()
        assert explained(problem, [sides], moved).all()
        closer = point + rng.uniform(-1, 1, (300, 2)) * distance[0] * 0.7
        closer = closer[problem.is_feasible(closer, np.tile(sides, (300, 1)))]
        closer = closer[np.linalg.norm(closer - point, axis=1) < distance[0] - 1e-6]
        assert not explained(problem, np.tile(sides, (len(closer), 1)), closer).any()


def test_overweight_knapsack_drops_as_few_items_as_possible():
    problem = cio.Knapsack([3.0, 2.0, 2.0])
    with pytest.warns(cio.CalibrationWarning, match=MOVED):
        moved, distance = cio.nearest_rationalizable(problem, [4.0], [[1.0, 1.0, 1.0]], return_distances=True)
    np.testing.assert_array_equal(moved, [[0.0, 1.0, 1.0]])
    np.testing.assert_allclose(distance, [1.0])


@pytest.mark.parametrize("domain", ["free", "nonnegative"])
def test_binary_decisions_against_enumeration(domain):
    rng = np.random.default_rng(6)
    problem = cio.Knapsack(rng.uniform(1, 4, 5), domain=domain)
    for budget in (1.5, 5.0, 12.0):
        points = binary_points(problem, np.array([budget]))
        good = points[explained(problem, np.full((len(points), 1), budget), points)]
        for observed in itertools.islice(itertools.product([0.0, 1.0], repeat=5), 0, 32, 3):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", cio.CalibrationWarning)
                _, distance = cio.nearest_rationalizable(problem, [budget], [observed], return_distances=True)
            nearest = np.sqrt(np.square(good - np.array(observed)).sum(axis=1).min())
            assert distance[0] == pytest.approx(nearest, abs=1e-12)


def test_nothing_taken_although_everything_fits():
    problem = cio.Knapsack([1.0, 2.0], domain="nonnegative")
    with pytest.warns(cio.CalibrationWarning, match=MOVED):
        moved = cio.nearest_rationalizable(problem, [5.0], [[0.0, 0.0]])
    assert moved.sum() == 1.0


def test_broken_route_becomes_a_route_and_stays_sparse():
    network = cio.Network.grid(3, 3)
    problem = cio.ShortestPath(network)
    route = network.decisions_from_paths([[0, 1, 2, 5, 8]], kind="nodes").toarray()
    broken = route.copy()
    broken[0, np.flatnonzero(route[0])[1]] = 0.0
    with pytest.warns(cio.CalibrationWarning, match=MOVED):
        moved = cio.nearest_rationalizable(problem, [[0, 8]], sparse.csr_array(broken))
    assert sparse.issparse(moved)
    np.testing.assert_array_equal(moved.toarray(), route)


def test_no_decision_can_be_optimal():
    problem = cio.LinearProgram(A_ub=np.zeros((0, 1)), lower=-np.inf, upper=np.inf)
    with pytest.raises(cio.InfeasibleProblemError, match="row 0 of nearest_rationalizable: no decision can be optimal"):
        cio.nearest_rationalizable(problem, np.zeros((1, 0)), [[0.3]])


def test_refusals():
    oracle = cio.OracleProblem(lambda theta, u: np.zeros(2), 2)
    with pytest.raises(
        cio.InvalidInputError, match="must have binary decisions or be a linear program; got OracleProblem"
    ):
        cio.nearest_rationalizable(oracle, [1.0], [[0.0, 0.0]])
    with pytest.raises(cio.InvalidInputError, match="`return_distances`"):
        cio.nearest_rationalizable(cio.Knapsack([1.0]), [1.0], [[0.0]], return_distances="yes")
    with pytest.raises(cio.InvalidInputError, match="`decisions`"):
        cio.nearest_rationalizable(cio.Knapsack([1.0]), [1.0], [[0.0, 1.0]])


def test_no_rows_give_no_rows():
    moved = cio.nearest_rationalizable(cio.LinearProgram(A_ub=[[1.0, 1.0]]), np.zeros((0, 1)), np.zeros((0, 2)))
    assert moved.shape == (0, 2)
