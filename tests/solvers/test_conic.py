"""The Clarabel adapter against closed forms and linear programming, and its errors."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from conformio.errors import InfeasibleProblemError, SolverError, UnboundedProblemError
from conformio.solvers import ConicModel, conic


def test_linear_program_with_duals():
    rng = np.random.default_rng(0)
    for _ in range(10):
        A, b, q = rng.normal(size=(4, 5)), rng.uniform(0.5, 2.0, 4), rng.normal(size=5)
        rows = np.vstack([A, -np.eye(5), np.eye(5)])
        sides = np.concatenate([b, np.zeros(5), np.ones(5)])
        found = ConicModel(None, q, sparse.csr_array(rows), sides, [("nonnegative", 14)]).solve()
        assert found.value == pytest.approx(linprog(q, A_ub=A, b_ub=b, bounds=(0, 1)).fun, abs=1e-8)
        assert found.bound == pytest.approx(found.value, abs=1e-8)
        np.testing.assert_allclose(found.s, sides - rows @ found.x, atol=1e-8)
        np.testing.assert_allclose(rows.T @ found.z, -q, atol=1e-8)


def test_projection_on_an_affine_set_reads_the_upper_triangle():
    P = np.array([[2.0, 1.0], [1.0, 3.0]])
    model = ConicModel(sparse.csr_array(P), np.zeros(2), sparse.csr_array([[1.0, 1.0]]), np.ones(1), [("zero", 1)])
    inverse = np.linalg.solve(P, np.ones(2))
    np.testing.assert_allclose(model.solve().x, inverse / inverse.sum(), atol=1e-8)


def test_second_order_cone():
    # min t subject to |x - c| <= t, x_1 = 0
    c = np.array([3.0, 4.0])
    A = -np.eye(3)
    A = np.vstack([A, [0.0, 1.0, 0.0]])
    b = np.array([0.0, -c[0], -c[1], 0.0])
    model = ConicModel(
        None,
        np.array([1.0, 0.0, 0.0]),
        sparse.csr_array(A),
        b,
        [("second_order", 3), ("zero", 1), ("nonnegative", 0)],
    )
    assert model.solve().value == pytest.approx(3.0, abs=1e-8)


def test_changes_between_solves():
    A = sparse.csc_array(np.array([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]]))
    model = ConicModel(None, np.array([-1.0, -2.0]), A, np.array([0.0, 0.0, 1.0]), [("nonnegative", 3)])
    assert model.solve().value == pytest.approx(-2.0, abs=1e-8)
    assert model.solve(q=np.array([-3.0, -2.0])).value == pytest.approx(-3.0, abs=1e-8)
    assert model.solve(b=np.array([0.0, 0.0, 2.0])).value == pytest.approx(-6.0, abs=1e-8)
    changed = sparse.csc_array(np.array([[-1.0, 0.0], [0.0, -1.0], [2.0, 1.0]]))
    assert model.solve(A=changed).value == pytest.approx(-4.0, abs=1e-8)


def test_infeasible_and_unbounded_name_the_row():
    rows = sparse.csr_array([[1.0], [-1.0]])
    model = ConicModel(None, np.ones(1), rows, np.array([0.0, -1.0]), [("nonnegative", 2)], where="Cone.solve")
    with pytest.raises(InfeasibleProblemError, match=r"row 5 of Cone.solve: no decision satisfies"):
        model.solve(row=5)
    model = ConicModel(
        None, np.ones(1), sparse.csr_array([[1.0]]), np.ones(1), [("nonnegative", 1)], where="Cone.solve"
    )
    with pytest.raises(UnboundedProblemError, match=r"of Cone.solve: the objective is unbounded"):
        model.solve()


def test_any_other_status_is_a_solver_error():
    model = ConicModel(None, np.ones(1), sparse.csr_array([[-1.0]]), np.ones(1), [("nonnegative", 1)], where="Cone")
    error = model._failure(conic._library().SolverStatus.MaxIterations, 1)
    assert isinstance(error, SolverError)
    with pytest.raises(SolverError, match=r"row 1 of Cone: the conic solver stopped with status"):
        raise error
