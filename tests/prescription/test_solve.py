"""`solve_robust` itself: arguments, routes that do not apply, rows, and the solution's own grade."""

import numpy as np
import pytest
from listed import Listed

from conformio.errors import InfeasibleProblemError, InvalidInputError, SolverError
from conformio.networks import Network
from conformio.prescription import RobustSolution, solve_robust
from conformio.problems import IntegerProgram, Knapsack, LinearProgram, OracleProblem, ShortestPath
from conformio.sets import SphericalCap

PROGRAM = LinearProgram(A_ub=[[-1.0, -2.0]], upper=[2.0, 2.0])
CAP = SphericalCap([1.0, 2.0], 0.3)
GRID = ShortestPath(Network.grid(2, 2))
GRID_CAP = SphericalCap(np.ones(8), 0.3)
LISTED = Listed([np.eye(3), np.ones((1, 3))])
LISTED_CAP = SphericalCap(np.ones(3), 0.3)


def oracle(**more):
    return OracleProblem(lambda theta, u: np.eye(3)[np.argmin(theta)], 3, **more)


def test_the_solution_grades_itself():
    solution = RobustSolution(
        np.eye(3),
        np.array([1.0, -200.0, 0.0]),
        np.array([1e-8, 1e-5, np.inf]),
        np.array(["a"] * 3),
        np.ones(3, int),
    )
    assert solution.is_certified().tolist() == [True, True, False]
    assert solution.is_certified(1e-9).tolist() == [False, False, False]
    with pytest.raises(InvalidInputError, match=r"`tol` of RobustSolution.is_certified"):
        solution.is_certified(-1.0)


def test_shapes_and_kinds():
    found = solve_robust(PROGRAM, CAP, [[-2.0], [-1.0], [-2.0]])
    assert found.decisions.shape == (3, 2)
    assert found.values.shape == found.gap.shape == found.method.shape == found.oracle_calls.shape == (3,)
    assert (found.gap >= 0).all()
    assert found.oracle_calls.dtype.kind == "i"
    assert np.array_equal(found.decisions[0], found.decisions[2])
    paths = solve_robust(GRID, GRID_CAP, [[0, 3]])
    assert paths.decisions.format == "csr"


@pytest.mark.parametrize(("problem", "cap", "width"), [(PROGRAM, CAP, 1), (GRID, GRID_CAP, 2), (LISTED, LISTED_CAP, 1)])
def test_no_rows_are_fine(problem, cap, width):
    found = solve_robust(problem, cap, np.empty((0, width)))
    assert found.decisions.shape == (0, problem.n_vars)
    assert len(found.values) == len(found.gap) == len(found.method) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("program", CAP, [[1.0]]), r"`problem` of solve_robust: must be a Problem; got str"),
        ((PROGRAM, [1.0, 2.0], [[1.0]]), r"`cap` of solve_robust: must be a SphericalCap; got list"),
        ((PROGRAM, CAP, [[1.0, 2.0]]), r"`contexts` of solve_robust: must have 1 column;"),
        ((PROGRAM, CAP, [[np.nan]]), r"`contexts` row 0 of solve_robust: must be finite"),
        (
            (PROGRAM, SphericalCap([1.0, 2.0, 3.0], 0.3), [[1.0]]),
            r"`cap` of solve_robust: must have shape \(2,\)",
        ),
        ((PROGRAM, SphericalCap([[1.0, 2.0]] * 3, 0.3), [[1.0]]), r"`cap` of solve_robust: .* \(1, 2\)"),
        ((GRID, SphericalCap(-np.ones(8), 0.3), [[0, 3]]), r"`cap` of solve_robust: must be >= 0"),
        ((PROGRAM, CAP, [[1.0]], "simplex"), r"`method` of solve_robust: must be one of 'auto'"),
        ((PROGRAM, CAP, [[1.0]], "auto", 1), r"`relaxed` of solve_robust: must be True or False"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        solve_robust(*arguments)


INTEGERS = IntegerProgram(A_ub=[[1.0, 1.0]], upper=[3.0, 3.0], sense="max")
KNAPSACK = Knapsack([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("problem", "cap", "context", "options", "missing"),
    [
        (PROGRAM, CAP, [-2.0], {"method": "parametric"}, "LinearProgram: missing binary decisions"),
        (GRID, GRID_CAP, [0, 3], {"method": "parametric", "relaxed": True}, "missing binary decisions"),
        (
            KNAPSACK,
            SphericalCap([1.0, 1.0, 1.0], 0.2, "nonnegative"),
            [2.0],
            {"method": "parametric"},
            "Knapsack: missing a cap with domain='free'",
        ),
        (INTEGERS, CAP, [2.0], {"method": "conic"}, "missing convex feasible sets. Or pass relaxed=True"),
        (LISTED, LISTED_CAP, [0.0], {"method": "conic"}, "Listed: missing a polyhedral or CVXPY description"),
        (LISTED, LISTED_CAP, [0.0], {"method": "cutting-plane"}, "missing a polyhedral or CVXPY"),
        (LISTED, LISTED_CAP, [0.0], {"relaxed": True}, "Listed: missing a polyhedral description whose"),
        (
            LISTED,
            LISTED_CAP,
            [0.0],
            {"method": "reference", "relaxed": True},
            "missing a polyhedral description",
        ),
        (PROGRAM, CAP, [-2.0], {"method": "hop-count"}, "LinearProgram: missing a ShortestPath"),
        (
            ShortestPath(Network.grid(2, 2), domain="free"),
            SphericalCap(np.linspace(-0.1, 1.0, 8), 0.1),
            [0, 3],
            {"method": "hop-count"},
            "missing a ShortestPath and a centre without negative entries",
        ),
        (
            oracle(),
            LISTED_CAP,
            [0.0],
            {},
            'missing what kind of set is feasible. Declare it: feasible_set="binary"',
        ),
        (oracle(), LISTED_CAP, [0.0], {"method": "reference"}, "Declare it: feasible_set"),
    ],
)
def test_routes_that_do_not_apply_say_what_is_missing(problem, cap, context, options, missing):
    with pytest.raises(InvalidInputError, match=f"solve_robust is not compatible with .*{missing}"):
        solve_robust(problem, cap, [context], **options)


@pytest.mark.parametrize("method", ["auto", "conic", "cutting-plane", "reference"])
def test_routes_that_apply(method):
    assert solve_robust(PROGRAM, CAP, [[-2.0]], method=method).values[0] == pytest.approx(2 / np.sqrt(5), abs=1e-8)


def test_custom_problems_of_no_declared_kind_are_refused():
    problem = Listed([np.eye(3)])
    problem.binary = False
    with pytest.raises(InvalidInputError, match="not compatible with Listed: missing what kind of set"):
        solve_robust(problem, LISTED_CAP, [0.0])


def test_errors_of_the_oracle_name_the_callers_row():
    def solve(theta, u):
        if u[0] == 3.0:
            raise ArithmeticError("broken")
        return np.eye(3)[np.argmin(theta)]

    problem = OracleProblem(solve, 3, feasible_set="binary")
    with pytest.raises(SolverError, match=r"`contexts` row 4 of solve_robust: `solve` raised ArithmeticError"):
        solve_robust(problem, LISTED_CAP, [1.0, 1.0, 1.0, 2.0, 3.0])
    convex = OracleProblem(solve, 3, feasible_set="convex")
    with pytest.raises(SolverError, match=r"`contexts` row 4 of solve_robust"):
        solve_robust(convex, LISTED_CAP, [1.0, 1.0, 1.0, 2.0, 3.0])


def test_rows_that_fall_back_keep_their_numbers():
    """The cutting plane works on a part of the rows; its errors still name the caller's row."""
    program = LinearProgram(A_ub=[[1.0, 1.0]])
    with pytest.raises(InfeasibleProblemError, match="row 3 of solve_robust"):
        solve_robust(program, CAP, [[1.0], [1.0], [2.0], [-1.0]], method="cutting-plane")
