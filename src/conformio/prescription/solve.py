"""`solve_robust`: checks, choice of the route, and the way back to rows.

`auto` takes the first route that applies:

| feasible sets | route |
| --- | --- |
| `relaxed=True`, polyhedral | projection; conic for rows it does not prove |
| paths, costs >= 0 | hop-count |
| knapsacks of few items, enough budgets or a nonnegative cap | enumeration |
| other binary | parametric |
| the same, where a nonnegative cap clips worst cases (`max` problems) | then cutting plane or branching |
| polyhedral, no whole variables | projection; conic for rows it does not prove (its own fallback: cutting plane) |
| CVXPY programs | conic through CVXPY |
| convex, known by their solver only | simplicial decomposition |
| polyhedral with whole variables | cutting plane |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from conformio.checks import FloatArray, IntArray, as_flag, as_parameters, check_choice
from conformio.errors import InvalidInputError, UncertifiedWarning, invalid, warn_caller
from conformio.prescription.branching import solve_by_branching
from conformio.prescription.conic import solve_conic
from conformio.prescription.convex_basis import solve_convex, solve_convex_by_cuts
from conformio.prescription.cutting_plane import solve_by_cuts
from conformio.prescription.enumeration import can_enumerate, pays_to_enumerate, solve_by_enumeration
from conformio.prescription.hop_count import solve_hop_count
from conformio.prescription.parametric import solve_parametric
from conformio.prescription.projection import solve_projected
from conformio.prescription.simplicial import solve_simplicial
from conformio.prescription.solution import Answers, RobustSolution
from conformio.prescription.task import TIE_ANGLE, RobustTask
from conformio.problems import ConvexProgram, OracleProblem, ShortestPath
from conformio.problems.base import Problem
from conformio.sets import SphericalCap

__all__ = ["Method", "solve_robust"]

Method: TypeAlias = Literal["auto", "parametric", "conic", "cutting-plane", "hop-count", "enumeration", "reference"]
_Route: TypeAlias = Callable[[RobustTask], Answers]

_WHERE = "solve_robust"
_METHODS = ("auto", "parametric", "conic", "cutting-plane", "hop-count", "enumeration", "reference")
_OPEN = 1e-9
_CERTIFIED = 1e-6


def solve_robust(
    problem: Problem, cap: SphericalCap, contexts: ArrayLike, method: Method = "auto", relaxed: bool = False
) -> RobustSolution:
    """Decisions with the best worst case over a cap: `min_x max_theta` (`max_x min_theta` for `max`).

    At angles up to 1e-9 the decision is the limit for small angles: of the nominal optima the one with the
    smallest `|basis(x)|`. Identical contexts are solved once when the cap has one centre for all rows.

    Parameters
    ----------
    problem : Problem
    cap : SphericalCap
        One centre, or one per context.
    contexts : array-like, shape (N, context_width)
    method : {"auto", "parametric", "conic", "cutting-plane", "hop-count", "enumeration", "reference"}
        "auto" takes the fastest exact route, "reference" the slow independent one.
    relaxed : bool
        Drop wholeness (E13: the relaxed optimum of a path problem is a fractional flow, a randomised choice
        of paths, not a path).

    Returns
    -------
    RobustSolution

    Raises
    ------
    InvalidInputError
        If arguments do not fit each other, or the method does not apply to the problem.
    InfeasibleProblemError, UnboundedProblemError, SolverError
        If some row has no answer.

    Warns
    -----
    UncertifiedWarning
        If some row's gap stays above 1e-6 of its value.

    Examples
    --------
    >>> import numpy as np
    >>> from conformio.prescription import solve_robust
    >>> from conformio.problems import LinearProgram
    >>> from conformio.sets import SphericalCap
    >>> program = LinearProgram(A_ub=[[-1.0, -2.0]], upper=[2.0, 2.0])  # x1 + 2 x2 >= u
    >>> robust = solve_robust(program, SphericalCap([1.0, 2.0], 0.3), [[-2.0]])
    >>> robust.decisions.round(6), robust.values.round(6), robust.is_certified()
    (array([[0.4, 0.8]]), array([0.894427]), array([ True]))
    """
    task = _checked(problem, cap, contexts, method, relaxed)
    route = _auto(task) if method == "auto" else _named(task, method)
    task, back = (task, None) if route is solve_hop_count else _distinct(task)
    answers = route(task) if len(task) else Answers.of_rows([], problem.n_vars, "none")
    solution = _solution(task, answers)
    _warn_if_open(solution)
    return solution if back is None else _spread(solution, back)


def _checked(problem: Problem, cap: SphericalCap, contexts: ArrayLike, method: str, relaxed: bool) -> RobustTask:
    if not isinstance(problem, Problem):
        raise invalid("problem", _WHERE, "must be a Problem", type(problem).__name__)
    if not isinstance(cap, SphericalCap):
        raise invalid("cap", _WHERE, "must be a SphericalCap", type(cap).__name__)
    check_choice(method, _METHODS, "method", _WHERE)
    relaxed = as_flag(relaxed, "relaxed", _WHERE)
    problem, values = problem.bare(problem.check_contexts(contexts, _WHERE))
    as_parameters(cap.center, len(values), problem.n_params, problem.domain, _WHERE, "cap")
    return RobustTask(problem, cap, values, relaxed, np.arange(len(values)), _WHERE)


def _distinct(task: RobustTask) -> tuple[RobustTask, IntArray | None]:
    if not task.shared_center or len(task) < 2:
        return task, None
    _, first, back = np.unique(task.contexts, axis=0, return_index=True, return_inverse=True)
    return task.take(first), back.ravel()


def _auto(task: RobustTask) -> _Route:
    problem = task.problem
    if isinstance(problem, ConvexProgram):
        return solve_convex
    if isinstance(problem, ShortestPath) and not task.relaxed:
        return _binary if (task.cap.center < 0.0).any() else solve_hop_count
    polyhedral = problem.polyhedron() is not None
    if polyhedral and (task.relaxed or problem.convex):
        return solve_projected
    if task.relaxed and not problem.convex:
        raise _incompatible("relaxed=True", problem, "a polyhedral description whose wholeness could be dropped")
    if problem.binary:
        return solve_by_enumeration if pays_to_enumerate(task) else _binary
    if polyhedral:
        return solve_by_cuts
    if problem.convex:
        return solve_simplicial
    remedy = 'Declare it: feasible_set="binary" or "convex"' if isinstance(problem, OracleProblem) else ""
    raise _incompatible("robust prescription", problem, "what kind of set is feasible", remedy)


def _binary(task: RobustTask) -> Answers:
    """The hull, and the cutting plane (or branching) for rows whose bound it leaves open.

    At tiny angles the hull's decision is the answer by definition, whatever the bound.
    """
    answers = solve_parametric(task)
    if task.cap.angle <= TIE_ANGLE:
        return answers
    losses = task.losses(answers.decisions, np.arange(len(task)))
    still_open = np.flatnonzero(losses - answers.bounds > _OPEN * np.maximum(1.0, np.abs(losses)))
    if len(still_open) == 0:
        return answers
    solve = solve_by_branching if task.problem.polyhedron() is None else solve_by_cuts
    return answers.replaced(still_open, solve(task.take(still_open), answers.decisions[still_open]))


def _named(task: RobustTask, method: str) -> _Route:
    if method == "parametric":
        return _parametric(task)
    if method == "conic":
        return _conic(task)
    if method == "hop-count":
        return _hop_count(task)
    if method == "enumeration":
        return _enumeration(task)
    return _by_cuts(task, method)


def _parametric(task: RobustTask) -> _Route:
    if not task.problem.binary or task.relaxed:
        raise _incompatible("method='parametric'", task.problem, "binary decisions (relaxed=False)")
    if task.orthant_matters:
        missing = "a cap with domain='free': clipped worst cases are no function of (1.x, center.x)"
        raise _incompatible("method='parametric'", task.problem, missing)
    return solve_parametric


def _conic(task: RobustTask) -> _Route:
    if isinstance(task.problem, ConvexProgram):
        return solve_convex
    if task.problem.polyhedron() is None:
        raise _incompatible("method='conic'", task.problem, "a polyhedral or CVXPY description")
    if not (task.problem.convex or task.relaxed):
        raise _incompatible("method='conic'", task.problem, "convex feasible sets", "Or pass relaxed=True")
    return solve_conic


def _hop_count(task: RobustTask) -> _Route:
    problem = task.problem
    if not isinstance(problem, ShortestPath) or task.relaxed or (task.cap.center < 0.0).any():
        missing = "a ShortestPath and a centre without negative entries (relaxed=False)"
        raise _incompatible("method='hop-count'", problem, missing)
    return solve_hop_count


def _enumeration(task: RobustTask) -> _Route:
    if not can_enumerate(task):
        missing = "a Knapsack of at most 14 items, one centre and an angle above 1e-9 (relaxed=False)"
        raise _incompatible("method='enumeration'", task.problem, missing)
    return solve_by_enumeration


def _by_cuts(task: RobustTask, method: str) -> _Route:
    """The cutting plane, and for "reference" what stands for it where only a nominal solver is known."""
    problem = task.problem
    if isinstance(problem, ConvexProgram):
        return solve_convex_by_cuts
    if problem.polyhedron() is not None:
        return solve_by_cuts
    if method == "cutting-plane":
        raise _incompatible("method='cutting-plane'", problem, "a polyhedral or CVXPY description")
    if problem.binary and not task.relaxed:
        clipped = task.orthant_matters and task.cap.angle > TIE_ANGLE
        return solve_by_branching if clipped else lambda task: solve_parametric(task, prune=False)
    return _auto(task)


def _incompatible(what: str, problem: Problem, missing: str, remedy: str = "") -> InvalidInputError:
    name = type(problem).__name__
    remedy = remedy or 'Use method="auto"'
    return InvalidInputError(f"{what} of {_WHERE} is not compatible with {name}: missing {missing}. {remedy}")


def _solution(task: RobustTask, answers: Answers) -> RobustSolution:
    losses = answers.losses
    if losses is None:
        losses = task.losses(answers.decisions, np.arange(len(task)), task.cap)
    values: FloatArray = task.sign * losses + 0.0
    gap = np.maximum(losses - answers.bounds, 0.0)
    return RobustSolution(answers.decisions, values, gap, answers.methods, answers.calls)


def _spread(solution: RobustSolution, back: IntArray) -> RobustSolution:
    return RobustSolution(
        solution.decisions[back],
        solution.values[back],
        solution.gap[back],
        solution.method[back],
        solution.oracle_calls[back],
    )


def _warn_if_open(solution: RobustSolution) -> None:
    wide = np.flatnonzero(~solution.is_certified(_CERTIFIED))
    if len(wide):
        message = (
            f"{len(wide)} of {len(solution.gap)} robust decisions could not be proven optimal; the largest "
            f"gap is {float(solution.gap.max()):.3g}. Their `gap` says by how much they may fall short"
        )
        warn_caller(message, UncertifiedWarning)
