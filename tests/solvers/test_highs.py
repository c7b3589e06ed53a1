"""The HiGHS adapter against scipy's own door to the same solver, and its errors."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import LinearConstraint, linprog, milp

from conformio.errors import InfeasibleProblemError, SolverError, UnboundedProblemError
from conformio.solvers import HighsModel, highs

INF = np.inf


def box_model(sense="min", integrality=None, matrix=((1.0, 1.0),), low=(1.0,), high=(3.0,), upper=2.0):
    matrix = sparse.csr_array(np.array(matrix))
    return HighsModel(
        matrix,
        np.array(low),
        np.array(high),
        np.zeros(2),
        np.full(2, upper),
        integrality,
        sense,
        where="Box.solve",
    )


@pytest.mark.parametrize("sense", ["min", "max"])
def test_linear_optimum_and_duals(sense):
    rng = np.random.default_rng(0)
    for _ in range(20):
        A, b = rng.normal(size=(4, 5)), rng.uniform(0.5, 2.0, 4)
        model = HighsModel(sparse.csr_array(A), np.full(4, -INF), b, np.zeros(5), np.ones(5), sense=sense)
        costs = rng.normal(size=5)
        sign = 1.0 if sense == "min" else -1.0
        found = model.solve(costs=costs)
        expected = linprog(sign * costs, A_ub=A, b_ub=b, bounds=(0, 1))
        assert found.value == pytest.approx(sign * expected.fun, abs=1e-9)
        assert found.bound == found.value
        # Stationarity: costs = A' duals + reduced costs.
        np.testing.assert_allclose(costs, A.T @ found.row_duals + found.reduced_costs, atol=1e-9)


def test_warm_changes_of_costs_sides_and_bounds():
    model = box_model()
    assert model.solve(costs=np.array([1.0, 2.0])).value == pytest.approx(1.0)
    assert model.solve(costs=np.array([3.0, 2.0])).value == pytest.approx(2.0)
    sides = np.array([2.5]), np.array([INF])
    assert model.solve(row_lower=sides[0], row_upper=sides[1]).value == pytest.approx(5.5)
    assert model.solve(lower=np.array([1.0, 0.0]), upper=np.array([2.0, 2.0])).value == pytest.approx(6.0)


def test_rows_are_added_and_dropped():
    model = box_model("max")
    costs = np.array([1.0, 1.0])
    assert model.solve(costs=costs).value == pytest.approx(3.0)
    model.add_row(-INF, 0.5, np.array([0.0, 1.0]))
    model.add_row(-INF, 1.0, np.array([1.0, 0.0]))
    assert model.n_rows == 3
    assert model.solve().value == pytest.approx(1.5)
    model.truncate_rows(2)
    assert model.solve().value == pytest.approx(2.5)
    model.truncate_rows(1)
    model.truncate_rows(1)
    assert model.n_rows == 1
    assert model.solve().value == pytest.approx(3.0)


def test_several_rows_at_once():
    model = box_model("max")
    costs = np.array([1.0, 1.0])
    model.add_rows(np.full(2, -INF), np.array([0.5, 1.0]), sparse.csr_array([[0.0, 1.0], [1.0, 0.0]]))
    assert model.n_rows == 3
    assert model.solve(costs=costs).value == pytest.approx(1.5)
    model.truncate_rows(1)
    assert model.solve(costs=costs).value == pytest.approx(3.0)


def test_a_restart_makes_tied_answers_independent_of_the_past():
    model = box_model()
    tied = np.ones(2)
    first = model.solve(costs=tied).x
    for past in (np.array([3.0, 1.0]), np.array([1.0, 3.0])):
        model.solve(costs=past)
        model.restart()
        np.testing.assert_array_equal(model.solve(costs=tied).x, first)


def test_integer_optimum_is_proven():
    rng = np.random.default_rng(1)
    for _ in range(10):
        weights, values = rng.uniform(0.1, 1.0, (2, 12)), rng.random(12)
        model = HighsModel(
            sparse.csr_array(weights),
            np.full(2, -INF),
            np.full(2, 2.0),
            np.zeros(12),
            np.ones(12),
            np.ones(12, bool),
            "max",
        )
        found = model.solve(costs=values)
        expected = milp(-values, constraints=LinearConstraint(weights, ub=2.0), bounds=(0, 1), integrality=1)
        assert found.value == pytest.approx(-expected.fun, abs=1e-9)
        assert found.bound == pytest.approx(found.value, abs=1e-8)
        assert np.abs(found.x - found.x.round()).max() < 1e-9


def test_mixed_integrality():
    model = box_model("max", np.array([True, False]), low=(0.0,), high=(2.5,))
    found = model.solve(costs=np.array([2.0, 1.0]))
    np.testing.assert_allclose(found.x, [2.0, 0.5])


def test_infeasible_names_the_row():
    with pytest.raises(InfeasibleProblemError, match=r"`contexts` row 4 of Box.solve: no decision satisfies"):
        box_model(low=(9.0,), high=(9.0,)).solve(costs=np.ones(2), row=4)


@pytest.mark.parametrize("whole", [False, True])
def test_unbounded_names_the_row(whole):
    model = box_model(integrality=np.array([whole, whole]), low=(-INF,), high=(INF,), upper=INF)
    with pytest.raises(UnboundedProblemError, match=r"row 2 of Box.solve: the objective is unbounded"):
        model.solve(costs=np.array([-1.0, 0.0]), row=2)


def test_a_model_recovers_after_a_failure():
    model = box_model()
    with pytest.raises(InfeasibleProblemError):
        model.solve(costs=np.ones(2), row_lower=np.array([9.0]), row_upper=np.array([9.0]))
    assert model.solve(row_lower=np.array([1.0]), row_upper=np.array([3.0])).value == pytest.approx(1.0)


def test_any_other_status_is_a_solver_error():
    model = box_model()
    error = model._failure(highs._library().HighsModelStatus.kTimeLimit, 3)
    assert isinstance(error, SolverError)
    with pytest.raises(SolverError, match=r"row 3 of Box.solve: the solver stopped with status"):
        raise error


def test_a_model_without_rows():
    model = HighsModel(sparse.csr_array((0, 2)), np.zeros(0), np.zeros(0), -np.ones(2), np.ones(2), sense="max")
    found = model.solve(costs=np.array([1.0, -2.0]), row_lower=np.zeros(0), row_upper=np.zeros(0))
    np.testing.assert_allclose(found.x, [1.0, -1.0])


def test_an_excluded_point_is_the_only_one_lost():
    model = box_model("max", np.array([True, True]), low=(-INF,), high=(2.0,), upper=1.0)
    assert model.solve(costs=np.array([2.0, 1.0])).value == 3.0
    model.exclude(np.array([1.0, 1.0]))
    np.testing.assert_array_equal(model.solve(costs=np.array([2.0, 1.0])).x, [1.0, 0.0])
    np.testing.assert_array_equal(model.solve(costs=np.array([1.0, 2.0])).x, [0.0, 1.0])
