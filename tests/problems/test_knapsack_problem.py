"""The knapsack problem through its public face, against HiGHS, enumeration and the integer program."""

import pickle

import numpy as np
import pytest
from scipy import sparse, stats
from scipy.special import comb

from conformio._kernels import knapsack as kernel
from conformio.calibration import conformity_angles
from conformio.errors import InfeasibleProblemError, InvalidInputError, SolverError
from conformio.prescription import solve_robust
from conformio.problems import IntegerProgram, Knapsack, knapsack
from conformio.problems.cones import CutCones
from conformio.sets import SphericalCap


def test_traits():
    problem = Knapsack([1.0, 2.0, 3.0])
    assert (problem.n_params, problem.n_vars, problem.context_width) == (3, 3, 1)
    assert (problem.sense, problem.domain, problem.binary, problem.convex) == ("max", "free", True, False)


@pytest.mark.parametrize("shared", [True, False])
def test_optimum_equals_the_integer_program(shared):
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.1, 1.0, 20)
    problem = Knapsack(weights)
    program = IntegerProgram(A_ub=[weights], upper=np.ones(20), sense="max")
    budgets = rng.uniform(0.2, 0.9, 12) * weights.sum()
    budgets[5] = budgets[2]
    theta = rng.normal(size=20 if shared else (12, 20))
    found, expected = problem.solve(theta, budgets), program.solve(theta, budgets)
    np.testing.assert_allclose(problem.objective(theta, found), program.objective(theta, expected), atol=1e-9)
    assert problem.is_feasible(found, budgets).all()
    assert problem.is_optimal(theta, found, budgets).all()
    assert problem.is_optimal(theta, sparse.csr_array(expected), budgets).all()


def test_items_of_no_value_stay_and_weightless_items_come():
    problem = Knapsack([0.0, 0.0, 1.0, 1.0])
    np.testing.assert_array_equal(problem.solve([1.0, -1.0, 0.0, 2.0], [5.0]), [[1.0, 0.0, 0.0, 1.0]])
    np.testing.assert_array_equal(problem.solve([1.0, 1.0, 1.0, 1.0], [0.0]), [[1.0, 1.0, 0.0, 0.0]])
    np.testing.assert_array_equal(problem.solve([-1.0, -1.0, -1.0, -1.0], [9.0]), np.zeros((1, 4)))


def test_fewest_items_then_first_items():
    problem = Knapsack([1.0, 1.0, 2.0, 1.0])
    np.testing.assert_array_equal(problem.solve([1.0, 2.0, 3.0, 1.0], [2.0]), [[0.0, 0.0, 1.0, 0.0]])
    np.testing.assert_array_equal(problem.solve([1.0, 2.0, 2.0, 1.0], [2.0]), [[1.0, 1.0, 0.0, 0.0]])


def test_weight_sums_fit_up_to_rounding():
    problem = Knapsack([0.1] * 3)
    # 0.1 + 0.1 + 0.1 exceeds 0.3 in the last place.
    np.testing.assert_array_equal(problem.solve([1.0, 1.0, 1.0], [0.3]), np.ones((1, 3)))
    all_taken = np.ones((2, 3))
    assert problem.is_feasible(all_taken, [0.3, 0.3 * (1 - 2e-9)]).tolist() == [True, False]


def test_feasibility_wants_zeros_and_ones():
    problem = Knapsack([1.0, 1.0])
    decisions = [[1.0, 0.0], [0.5, 0.0], [1.0, 1.0], [1.0 + 1e-9, 0.0], [0.0, 0.0]]
    assert problem.is_feasible(decisions, [1.0, 1.0, 1.0, 1.0, -1.0]).tolist() == [
        True,
        False,
        False,
        True,
        False,
    ]


def test_negative_budgets_are_infeasible():
    for call in (Knapsack([1.0, 2.0]).solve, Knapsack([1.0, 2.0]).sample_optimal):
        with pytest.raises(
            InfeasibleProblemError, match=r"row 2 of Knapsack.\w+: no selection .*must be >= 0; got -1.0"
        ):
            call([1.0, 1.0], [1.0, 2.0, -1.0])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, -1.0], r"`weights` of Knapsack: must be at least one number >= 0; got -1.0"),
        ([], r"`weights` of Knapsack: must be at least one number >= 0; got no item"),
        ([1.0, np.nan], "`weights` .*must be finite"),
        ([[1.0]], "`weights` .*must have one dimension"),
        (["a"], "`weights` .*hold real numbers"),
    ],
)
def test_wrong_weights(weights, message):
    with pytest.raises(InvalidInputError, match=message):
        Knapsack(weights)


def test_wrong_domain_and_values():
    with pytest.raises(InvalidInputError, match="`domain` of Knapsack"):
        Knapsack([1.0], domain="big")
    with pytest.raises(InvalidInputError, match=r"of Knapsack.solve: must be >= 0"):
        Knapsack([1.0], domain="nonnegative").solve([-1.0], [1.0])


def test_cones_polyhedron_and_sides():
    problem = Knapsack([1.0, 2.0])
    cones = problem.cones(np.array([[1.0]]), sparse.csr_array([[1.0, 0.0]]))
    assert isinstance(cones, CutCones)
    assert cones.problem is problem
    assert cones.bases.tolist() == [[1.0, 0.0]]
    polyhedron, sides = problem.polyhedron(), problem.sides(np.array([1.5]))
    assert polyhedron.A_ub.toarray().tolist() == [[0.25, 0.5]]
    assert polyhedron.A_eq.shape == (0, 2)
    assert polyhedron.integrality.all()
    np.testing.assert_allclose(sides.b_ub, [0.375], rtol=2e-9)
    assert (sides.lower.tolist(), sides.upper.tolist()) == ([0.0, 0.0], [1.0, 0.0])
    assert sides.b_eq.shape == (0,)


def test_draws_are_uniform_over_the_ties():
    problem = Knapsack([0.1] * 5)
    drawn = problem.sample_optimal(np.full(5, 0.7), np.full(4000, 0.2), random_state=0)
    assert (drawn.sum(axis=1) == 2).all()
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(counts) == comb(5, 2)
    assert stats.chisquare(counts).pvalue > 0.01
    np.testing.assert_array_equal(drawn, problem.sample_optimal(np.full(5, 0.7), np.full(4000, 0.2), random_state=0))


def test_items_worth_nothing_are_drawn_too():
    # Items 0 and 1 may come or not: four ties, whatever the scale of theta.
    problem = Knapsack([1.0, 1.0, 1.0])
    for scale in (1e-6, 1e6):
        drawn = problem.sample_optimal(scale * np.array([0.0, 0.0, 1.0]), np.full(2000, 3.0), random_state=1)
        _, counts = np.unique(drawn, axis=0, return_counts=True)
        assert len(counts) == 4
        assert stats.chisquare(counts).pvalue > 0.01
        assert drawn[:, 2].all()


def test_an_item_that_cannot_fit_sets_no_tolerance():
    problem = Knapsack([5.0, 1.0, 1.0])
    drawn = problem.sample_optimal([1e12, 2.0, 1.0], np.ones(20), random_state=0)
    np.testing.assert_array_equal(drawn, np.tile([0.0, 1.0, 0.0], (20, 1)))


def test_draws_for_different_rows():
    problem = Knapsack([1.0, 1.0, 2.0])
    thetas = np.array([[1.0, 1.0, 2.0], [3.0, 1.0, 2.0], [1.0, 1.0, 2.0]])
    budgets = np.array([2.0, 1.0, 1.0])
    drawn = problem.sample_optimal(thetas, budgets, random_state=2)
    assert problem.is_optimal(thetas, drawn, budgets).all()
    assert drawn[1].tolist() == [1.0, 0.0, 0.0]


def test_running_out_of_states_or_ties_is_a_solver_error(monkeypatch):
    problem = Knapsack(np.ones(60))
    with pytest.raises(SolverError, match=r"row 0 of Knapsack.sample_optimal: too many optimal selections to count"):
        problem.sample_optimal(np.ones(60), [30.0])
    monkeypatch.setattr(knapsack, "fill_rows", lambda *arguments: 1)
    with pytest.raises(SolverError, match=r"row 1 of Knapsack.solve: the instance needs too many states"):
        problem.solve(np.ones(60), [20.0, 30.0])


def test_the_default_route_is_the_compiled_kernel():
    assert knapsack.fill_rows is kernel.fill_rows
    assert hasattr(knapsack.fill_rows, "signatures")


def test_pickling_and_state():
    problem = Knapsack([1.0, 2.0, 3.0], domain="nonnegative")
    for other in (pickle.loads(pickle.dumps(problem)), Knapsack.from_state(problem.to_state())):
        assert other.domain == "nonnegative"
        np.testing.assert_array_equal(other.solve([1.0, 2.0, 2.0], [3.0]), problem.solve([1.0, 2.0, 2.0], [3.0]))
    with pytest.raises(ValueError, match="read-only"):
        problem.weights[0] = 9.0


def test_a_short_description():
    assert repr(Knapsack([1.0, 2.0])) == "Knapsack(n_items=2, domain='free')"


@pytest.mark.parametrize("unit", [1e-10, 1e-3, 1.0, 1e12, 1e20])
@pytest.mark.parametrize("method", ["auto", "reference"])
def test_the_unit_of_weights_changes_nothing(unit, method):
    problem = Knapsack(np.array([1.0, 2.0, 3.0, 4.0]) * unit, domain="nonnegative")
    cap = SphericalCap([1.0, 2.2, 3.1, 3.9], 0.3, "nonnegative")
    found = solve_robust(problem, cap, [5.0 * unit], method=method)
    np.testing.assert_array_equal(found.decisions, [[0.0, 1.0, 1.0, 0.0]])
    angles = conformity_angles(problem, cap.center, [5.0 * unit], [[1.0, 0.0, 0.0, 1.0]], method=method)
    np.testing.assert_allclose(angles, 0.03612754, atol=1e-7)


def test_items_far_lighter_than_the_heaviest_still_count_where_solvers_would_lose_them():
    # 3.12e9 beside 2.1: the budget of the light items is within the solver's tolerance of the heavy one's row.
    weights = np.array([2.56323562, 1.09343420e7, 3.12647106e9, 2.14108183, 2.67325092])
    theta, budget = [0.6, 0.4, 0.5, 0.7, 0.3], [[5.6]]
    for domain in ("free", "nonnegative"):
        problem = Knapsack(weights, domain=domain)
        cap = SphericalCap(theta, 0.3, domain)
        slow, fast = (solve_robust(problem, cap, budget, method=method) for method in ("reference", "enumeration"))
        assert problem.is_feasible(slow.decisions, budget).all()
        np.testing.assert_allclose(slow.values, fast.values, atol=1e-9)
        decision = [[1.0, 0.0, 0.0, 0.0, 1.0]]
        angles = [
            conformity_angles(problem, theta, budget, decision, method=method) for method in ("reference", "auto")
        ]
        np.testing.assert_allclose(angles[0], angles[1], atol=1e-6)
