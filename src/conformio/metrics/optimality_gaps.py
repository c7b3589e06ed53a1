"""Optimality gaps of decisions: under the true parameters (AOG) and under each decision maker's own (POG).

Per row, `excess = theta . basis(x) - optimum(theta, u)` in a `min` problem and the negative of that in a
`max` problem, so that both gaps are nonnegative (paper, section 2, evaluation metrics).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conformio.checks import FloatArray, as_flag, as_parameters, check_some_rows, first_row
from conformio.errors import SolverError, invalid
from conformio.problems.base import Problem

__all__ = ["actual_optimality_gap", "perceived_optimality_gap"]

_SHORTFALL = 1e-6
_ZERO = 1e-12


def actual_optimality_gap(
    problem: Problem, theta_true: ArrayLike, contexts: ArrayLike, decisions: Any, relative: bool = False
) -> float:
    """Mean excess objective of the decisions under the true parameters (AOG).

    Parameters
    ----------
    problem : Problem
    theta_true : array-like, shape (n_params,)
        Not normalised: the gap is in units of the objective.
    contexts : array-like, shape (N, context_width)
    decisions : array-like or CSR, shape (N, n_vars)
    relative : bool
        Divide each row's excess by the absolute optimum of that row.

    Returns
    -------
    float
        At least 0.

    Raises
    ------
    InvalidInputError
        If a decision is infeasible, an argument has a wrong shape, or `relative` meets an optimum of 0.
    SolverError
        If a decision beats what the forward solver calls optimal.

    Examples
    --------
    >>> from conformio.metrics import actual_optimality_gap
    >>> from conformio.problems import Knapsack
    >>> actual_optimality_gap(Knapsack([1.0, 1.0]), [3.0, 2.0], [[1.0], [1.0]], [[1.0, 0.0], [0.0, 1.0]])
    0.5
    """
    where = "metrics.actual_optimality_gap"
    return _mean_gap(problem, theta_true, "theta_true", contexts, decisions, relative, where)


def perceived_optimality_gap(
    problem: Problem, thetas: ArrayLike, contexts: ArrayLike, decisions: Any, relative: bool = False
) -> float:
    """Mean excess objective of the decisions, each under its own decision maker's parameters (POG).

    Parameters
    ----------
    problem : Problem
    thetas : array-like, shape (N, n_params)
        Row k is what decision maker k perceives; not normalised.
    contexts : array-like, shape (N, context_width)
    decisions : array-like or CSR, shape (N, n_vars)
    relative : bool
        Divide each row's excess by the absolute optimum of that row.

    Returns
    -------
    float
        At least 0.

    Raises
    ------
    InvalidInputError
        If a decision is infeasible, an argument has a wrong shape, or `relative` meets an optimum of 0.
    SolverError
        If a decision beats what the forward solver calls optimal.

    Examples
    --------
    >>> from conformio.metrics import perceived_optimality_gap
    >>> from conformio.problems import Knapsack
    >>> thetas = [[3.0, 2.0], [2.0, 3.0]]
    >>> perceived_optimality_gap(Knapsack([1.0, 1.0]), thetas, [[1.0], [1.0]], [[1.0, 0.0], [0.0, 1.0]])
    0.0
    """
    where = "metrics.perceived_optimality_gap"
    return _mean_gap(problem, thetas, "thetas", contexts, decisions, relative, where)


def _mean_gap(
    problem: Any,
    theta: ArrayLike,
    argument: str,
    contexts: ArrayLike,
    decisions: Any,
    relative: bool,
    where: str,
) -> float:
    if not isinstance(problem, Problem):
        rule = "must be a forward problem such as ShortestPath or LinearProgram"
        raise invalid("problem", where, rule, repr(problem))
    relative = as_flag(relative, "relative", where)
    contexts, decisions = problem.check_rows(contexts, decisions, where)
    check_some_rows(contexts, where)
    shape = (problem.n_params,) if argument == "theta_true" else (len(contexts), problem.n_params)
    if np.shape(theta) != shape:
        raise invalid(argument, where, f"must have shape {shape}", f"shape {np.shape(theta)}")
    theta = as_parameters(theta, len(contexts), problem.n_params, problem.domain, where, argument)
    problem.require_feasible(decisions, contexts, where)
    excess, best = _excess(problem, theta, contexts, decisions, where)
    if relative:
        excess = excess / _divisors(best, theta, where)
    return float(excess.mean())


def _excess(
    problem: Problem, theta: FloatArray, contexts: FloatArray, decisions: Any, where: str
) -> tuple[FloatArray, FloatArray]:
    best = problem.optimal_values(theta, contexts, where)
    excess = problem.sign * (problem.objective(theta, decisions) - best)
    shortfall = -excess > _SHORTFALL * np.maximum(1.0, np.abs(best))
    if shortfall.any():
        row = first_row(shortfall)
        reason = f"the given decision beats the solver's optimum by {-excess[row]:.3g}; its answer is wrong"
        raise SolverError(where, reason, row)
    return np.maximum(excess, 0.0), best  # what is left below 0 is the solver's rounding


def _divisors(best: FloatArray, theta: FloatArray, where: str) -> FloatArray:
    size = np.abs(best)
    zero = size <= _ZERO * np.abs(theta).max(axis=-1)
    if zero.any():
        rule, row = "must have an optimum other than 0 for a relative gap", first_row(zero)
        raise invalid("contexts", where, rule, best[row], row, "Leave such rows out or use relative=False")
    return size
