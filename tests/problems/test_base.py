"""What every problem inherits, on a problem small enough to be read at a glance."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse

import conformio as cio
from conformio.errors import InfeasibleProblemError, InvalidInputError, SolverError
from conformio.problems import Problem
from conformio.problems.base import row_products
from conformio.problems.cones import CutCones, GeneratedCone, GeneratedCones, StationaryCone, StationaryCones

TABLE = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0], [2.0, 2.0, 0.0], [0.0, 0.0, 9.0]])


class Menu(Problem):
    """Choose one of the first u rows of a table."""

    n_params = n_vars = 3
    context_width = 1

    def __init__(self, sense="min", domain="free", squared=False):
        self.sense, self.domain, self.linear = sense, domain, not squared
        self.rows_solved = 0

    def nominal(self, theta, contexts):
        self.rows_solved += len(contexts)
        found = np.empty((len(contexts), 3))
        for k, (u,) in enumerate(contexts):
            if u < 1:
                raise InfeasibleProblemError("Menu", "the menu is empty", k)
            values = self._evaluate(TABLE[: int(u)]) @ (theta if theta.ndim == 1 else theta[k])
            found[k] = TABLE[np.argmin(values) if self.sense == "min" else np.argmax(values)]
        return found

    def draw_optimal(self, theta, contexts, rng):
        return self.nominal(theta, contexts)

    def feasible(self, decisions, contexts):
        rows = decisions.toarray() if sparse.issparse(decisions) else decisions
        pairs = zip(rows, contexts, strict=True)
        return np.array([(x == TABLE[: int(u)]).all(axis=1).any() for x, (u,) in pairs], dtype=bool)

    def cones(self, contexts, decisions):
        return CutCones(self, contexts, decisions)

    def _evaluate(self, decisions):
        return decisions if self.linear else decisions**2


def test_defaults():
    menu = Menu()
    assert (menu.binary, menu.convex, menu.linear) == (False, False, True)
    assert menu.polyhedron() is None
    assert menu.to_state() is None
    with pytest.raises(TypeError, match="Menu has no polyhedral description"):
        menu.sides(np.ones(1))
    with pytest.raises(TypeError, match="abstract"):
        Problem()


def test_identical_contexts_are_solved_once_and_come_back_in_order():
    menu = Menu()
    contexts = np.array([2.0, 4.0, 2.0, 1.0, 4.0])
    found = menu.solve([1.0, 2.0, -1.0], contexts)
    assert menu.rows_solved == 3
    np.testing.assert_array_equal(found, TABLE[[0, 3, 0, 0, 3]])


def test_one_theta_per_row_is_never_merged():
    menu = Menu()
    thetas = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.5], [0.0, 0.0, -1.0]])
    np.testing.assert_array_equal(menu.solve(thetas, [[2.0]] * 3), TABLE[[1, 0, 0]])
    assert menu.rows_solved == 3


@pytest.mark.parametrize("theta", [np.ones(3), np.ones((5, 3))])
def test_failures_name_the_callers_row(theta):
    contexts = [3.0, 2.0, 3.0, 0.0, 1.0]
    for call in (Menu().solve, Menu().sample_optimal):
        with pytest.raises(InfeasibleProblemError, match=r"`contexts` row 3 of Menu\.\w+: the menu is empty") as caught:
            call(theta, contexts)
        assert caught.value.row == 3


def test_failures_without_a_row_keep_none():
    menu = Menu()

    def lost(theta, contexts):
        raise SolverError("Menu", "out of order")

    menu.nominal = lost
    with pytest.raises(SolverError, match=r"`contexts` of Menu.solve: out of order") as caught:
        menu.solve(np.ones(3), [1.0, 2.0])
    assert caught.value.row is None


def test_no_rows():
    menu = Menu()
    assert menu.solve(np.ones(3), np.empty((0, 1))).shape == (0, 3)
    assert menu.is_optimal(np.ones(3), np.empty((0, 3)), np.empty((0, 1))).shape == (0,)


@pytest.mark.parametrize("as_given", [np.array, sparse.csr_array])
def test_objective_basis_and_optimality_for_dense_and_sparse(as_given):
    theta, contexts = np.array([1.0, 2.0, 0.5]), np.full(4, 4.0)
    decisions = as_given(TABLE)
    np.testing.assert_allclose(Menu().objective(theta, decisions), TABLE @ theta)
    np.testing.assert_allclose(Menu().objective(np.tile(theta, (4, 1)), decisions), TABLE @ theta)
    assert Menu().is_optimal(theta, decisions, contexts).tolist() == [True, False, False, False]
    assert Menu("max").is_optimal(theta, decisions, contexts).tolist() == [False, False, True, False]
    assert Menu().is_feasible(decisions, [1.0, 1.0, 3.0, 4.0]).tolist() == [True, False, True, True]


def test_other_bases_enter_objective_and_optimality():
    menu = Menu(squared=True)
    np.testing.assert_allclose(menu.basis(TABLE), TABLE**2)
    np.testing.assert_allclose(menu.objective(np.ones(3), TABLE), (TABLE**2).sum(axis=1))
    assert menu.is_optimal([0.0, 0.0, 1.0], TABLE, np.full(4, 4.0)).tolist() == [False, False, True, False]


def test_tolerance_is_relative_to_the_optimum():
    menu, contexts = Menu(), [2.0]
    theta = np.array([1000.0, 1000.0 * (1 + 4e-10), 0.0])
    worse = TABLE[[1]]
    assert menu.is_optimal(theta, worse, contexts).tolist() == [True]
    assert menu.is_optimal(theta, worse, contexts, tol=1e-10).tolist() == [False]
    assert menu.is_optimal(theta, worse, contexts, tol=0).tolist() == [False]


@pytest.mark.parametrize("length", [1e-12, 1.0, 1e12])
def test_tolerance_does_not_depend_on_the_length_of_theta(length):
    menu, worse = Menu(), TABLE[[1]]
    direction = np.array([1.0, 1.0 + 1e-6, 0.0])
    assert menu.is_optimal(length * direction, worse, [2.0]).tolist() == [False]
    assert menu.is_optimal(length * direction, worse, [2.0], tol=1e-5).tolist() == [True]
    both = length * np.array([direction, [1.0, 1.0, 0.0]])
    assert menu.is_optimal(both, TABLE[[1, 1]], [2.0, 2.0]).tolist() == [False, True]


def test_an_infeasible_decision_is_never_optimal():
    assert Menu().is_optimal(np.ones(3), [[-9.0, 0.0, 0.0]], [2.0]).tolist() == [False]


WRONG_CALLS = {
    r"`theta` of Menu.solve: must have shape \(3,\) or \(1, 3\)": lambda m: m.solve(np.ones(2), [1.0]),
    r"`theta` of Menu.solve: must be finite": lambda m: m.solve([1.0, np.nan, 0.0], [1.0]),
    r"`theta` row 1 of Menu.solve: must be finite": lambda m: m.solve([[1.0] * 3, [np.inf] * 3], [1.0, 2.0]),
    r"`contexts` of Menu.solve: must have one row per observation": lambda m: m.solve(np.ones(3), 1.0),
    r"`contexts` of Menu.solve: must have 1 column;": lambda m: m.solve(np.ones(3), [[1.0, 2.0]]),
    r"`contexts` row 1 of Menu.solve: must be finite": lambda m: m.solve(np.ones(3), [1.0, np.inf]),
    r"`random_state` of Menu.sample_optimal": lambda m: m.sample_optimal(np.ones(3), [1.0], random_state="x"),
    r"`decisions` of Menu.is_feasible: must have 2 rows": lambda m: m.is_feasible(TABLE, [1.0, 2.0]),
    r"`decisions` of Menu.objective: .* 3 columns": lambda m: m.objective(np.ones(3), np.ones((2, 2))),
    r"`decisions` row 0 of Menu.basis: must be finite": lambda m: m.basis([[np.nan] * 3]),
    r"`tol` of Menu.is_optimal": lambda m: m.is_optimal(np.ones(3), TABLE[:1], [1.0], tol=-1),
}


@pytest.mark.parametrize("message", WRONG_CALLS)
def test_wrong_arguments(message):
    with pytest.raises(InvalidInputError, match=message):
        WRONG_CALLS[message](Menu())


def test_domain_is_enforced_where_parameters_enter():
    menu = Menu(domain="nonnegative")
    with pytest.raises(InvalidInputError, match=r"row 1 of Menu.solve: must be >= 0 \(domain nonnegative\)"):
        menu.solve([[1.0] * 3, [1.0, -1.0, 0.0]], [1.0, 1.0])
    with pytest.raises(InvalidInputError, match=r"of Menu.is_optimal: must be >= 0"):
        menu.is_optimal([1.0, -1.0, 0.0], TABLE[:1], [1.0])
    assert menu.objective([1.0, -1.0, 0.0], TABLE[:1]).tolist() == [1.0]


def test_copies_are_the_object_itself():
    menu = Menu()
    assert copy.copy(menu) is menu
    assert copy.deepcopy({"problem": menu})["problem"] is menu
    assert isinstance(pickle.loads(pickle.dumps(menu)), Menu)


def test_row_products_on_random_arrays():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(6, 4)) * (rng.random((6, 4)) < 0.5)
    for theta in (rng.normal(size=4), rng.normal(size=(6, 4))):
        expected = [x @ (theta if theta.ndim == 1 else theta[k]) for k, x in enumerate(values)]
        np.testing.assert_allclose(row_products(theta, values), expected)
        np.testing.assert_allclose(row_products(theta, sparse.csr_array(values)), expected)


def test_cones_know_their_length():
    empty = np.zeros((2, 0))
    assert len(CutCones(Menu(), np.ones((4, 1)), TABLE)) == 4
    assert len(GeneratedCones([GeneratedCone(empty, empty)], nonnegative=False)) == 1
    assert len(StationaryCones([StationaryCone(np.eye(2), empty, empty)] * 3, np.zeros(2, bool))) == 3


REASONS = [
    (cio.Knapsack([5.0, 4.0, 1.0]), [[5.0]], [[1.0, 1.0, 0.0]], r"its items weigh 9 in all, but the budget is 5\)"),
    (cio.Knapsack([5.0, 4.0]), [[-1.0]], [[0.0, 0.0]], "no selection fits the negative budget -1"),
    (cio.Knapsack([5.0, 4.0]), [[9.0]], [[0.0, 0.5]], "the entry of item 1 is 0.5, neither 0 nor 1"),
    (
        cio.LinearProgram(A_eq=[[8.0, 8.0]], A_ub=[[3.0, 0.0]], upper=9.0),
        [[80.0, 6.0]],
        [[3.0, 7.0]],
        r"row 0 of A_ub gives 9, but must be <= 6 \(column 1\)",
    ),
    (
        cio.LinearProgram(A_eq=[[8.0, 8.0]], A_ub=[[3.0, 0.0]]),
        [[80.0, 6.0]],
        [[0.0, 0.0]],
        r"row 0 of A_eq gives 0, but must be = 80 \(column 0\)",
    ),
    (cio.LinearProgram(A_eq=[[1.0, 1.0]]), [[0.0]], [[-1.0, 1.0]], "variable 0 is -1, but must be >= 0"),
    (cio.LinearProgram(upper=[2.0, 2.0]), np.zeros((1, 0)), [[0.0, 3.0]], "variable 1 is 3, but must be <= 2"),
    (cio.IntegerProgram(upper=[2.0, 2.0]), np.zeros((1, 0)), [[0.0, 0.5]], "variable 1 is 0.5, but must be whole"),
    (cio.IntegerProgram(A_ub=[[1.0, 1.0]]), [[2.0]], [[1.0, 2.0]], "row 0 of A_ub gives 3, but must be <= 2"),
    (
        cio.OracleProblem(lambda theta, u: np.zeros(2), 2, feasible_set="binary"),
        [[0.0]],
        [[0.0, 2.0]],
        "entry 1 is 2, neither 0 nor 1",
    ),
    (
        cio.OracleProblem(lambda theta, u: np.zeros(2), 2, is_member=lambda x, u: False),
        [[0.0]],
        [[0.0, 2.0]],
        "`is_member` returns False",
    ),
]


@pytest.mark.parametrize(("problem", "contexts", "decisions", "reason"), REASONS)
def test_infeasible_rows_say_why(problem, contexts, decisions, reason):
    assert not problem.is_feasible(decisions, contexts).any()
    with pytest.raises(InvalidInputError, match=r"row 0 of .*: every .* 1 infeasible row: 0 \(" + reason) as caught:
        cio.conformity_angles(problem, np.ones(problem.n_params), contexts, decisions)
    movable = problem.binary or isinstance(problem, cio.LinearProgram)
    assert ("nearest_rationalizable" in str(caught.value)) == movable


def test_reasons_of_linear_constraints_are_those_that_fail():
    rng = np.random.default_rng(0)
    program = cio.LinearProgram(A_eq=rng.normal(size=(1, 3)), A_ub=rng.normal(size=(4, 3)), upper=1.0)
    fixed = program.to_state()
    for _ in range(200):
        x, u = rng.uniform(-0.2, 1.2, 3), rng.normal(size=5)
        u[0] = (fixed["A_eq"] @ x)[0] + rng.choice([0.0, 1.0])
        if program.is_feasible([x], [u])[0]:
            continue
        said = program.why_infeasible(x, u)
        if said.startswith("variable"):
            k = int(said.split()[1])
            assert x[k] < 0 or x[k] > 1
        elif "A_eq" in said:
            assert abs((fixed["A_eq"] @ x)[0] - u[0]) > 1e-7
        else:
            k = int(said.split()[1])
            assert (fixed["A_ub"] @ x)[k] > u[1 + k]
