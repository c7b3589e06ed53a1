"""What every point estimator is, and the checked decision data that estimators learn from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator

from conformio._kernels.grouping import add_rows, add_rows_by_group, group_rows
from conformio.cards import CardAndDiagram, Facts, card
from conformio.checks import Decisions, FloatArray, IntArray, as_contexts, check_some_rows, described
from conformio.errors import CalibrationWarning, NotFittedError, invalid, told_of, warn_caller
from conformio.networks import Network
from conformio.networks.shortest import sealed
from conformio.problems.base import Problem

__all__ = ["Estimator", "TrainingData", "check_estimator", "check_problem", "usable_rows"]

_DENSE_ENTRIES = 1 << 22


class Estimator(CardAndDiagram, BaseEstimator, ABC):  # type: ignore[misc]
    """A rule that turns observed decisions into a parameter vector, with scikit-learn's habits.

    Constructors only store; `fit` validates and learns. An estimator of one vector for all contexts
    implements `fit` alone and sets `theta_` and `context_width_`; one that predicts a vector per context
    replaces `parameters` too. Fitted values are plain numbers and arrays, so that they can be stored.

    Attributes
    ----------
    theta_ : (n_params,) array, or None when parameters depend on the context
        As estimated, not scaled to unit length.
    context_width_ : int
        Number of columns of `contexts`.
    needs_data : bool
        Whether `fit` learns from the decisions it is given; class attribute.
    """

    needs_data: bool = True
    theta_: FloatArray | None
    context_width_: int

    @abstractmethod
    def fit(self, problem: Problem, contexts: ArrayLike, decisions: Any) -> Self:
        """Learn from decisions, one row per context."""

    def parameters(self, contexts: ArrayLike) -> FloatArray:
        """The estimated parameters for each context.

        Parameters
        ----------
        contexts : array-like, shape (N, context_width)

        Returns
        -------
        (N, n_params) array
            A read-only view of one vector when the estimate does not depend on the context.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        rows, theta = self._check_contexts(contexts), np.asarray(self.theta_)
        return np.broadcast_to(theta, (len(rows), len(theta)))

    def _card(self) -> str:
        name = type(self).__name__
        if not hasattr(self, "context_width_"):
            return card(f"{name}, not fitted", [], "Call fit(problem, contexts, decisions), or give it to ConformalIO.")
        size = "one vector per context" if self.theta_ is None else f"{len(self.theta_)} parameters"
        known = {"loss_": "training loss", "lower_bound_": "lower bound", "gap_": "gap", "n_iter_": "iterations"}
        facts: Facts = [(word, f"{getattr(self, at):.6g}") for at, word in known.items() if hasattr(self, at)]
        return card(f"{name}, fitted", [("estimate", size), *facts])

    def _check_contexts(self, contexts: ArrayLike) -> FloatArray:
        name = type(self).__name__
        if not hasattr(self, "context_width_"):
            raise NotFittedError(f"{name}.parameters: call {name}.fit(problem, contexts, decisions) first")
        return as_contexts(contexts, self.context_width_, f"{name}.parameters")


def check_problem(problem: Any, where: str) -> Problem:
    """Refuse what is no forward problem."""
    if not isinstance(problem, Problem):
        rule = "must be a forward problem such as ShortestPath or LinearProgram"
        remedy = "Write ShortestPath(network)" if isinstance(problem, Network) else ""
        if isinstance(problem, type) and issubclass(problem, Problem):
            remedy = f"Build one: {problem.__name__}(...)"
        raise invalid("problem", where, rule, described(problem), remedy=remedy)
    return problem


def check_estimator(estimator: Any, where: str) -> Estimator | None:
    """Refuse what is neither a point estimate nor None, which stands for the default one."""
    if estimator is None or isinstance(estimator, Estimator):
        return estimator
    remedy = "Write for instance estimator=SuboptimalityLoss()"
    if isinstance(estimator, type) and issubclass(estimator, Estimator):
        remedy = f"Write {estimator.__name__}(), with brackets"
    elif hasattr(estimator, "predict") or isinstance(estimator, (list, tuple, np.ndarray)):
        remedy = "Write FixedParameters(...) around given parameters or a fitted predictor"
    rule = "must be a point estimate such as SuboptimalityLoss() or None"
    raise invalid("estimator", where, rule, described(estimator), remedy=remedy)


def usable_rows(
    problem: Problem, training: IntArray, contexts: FloatArray, decisions: Decisions, where: str
) -> IntArray:
    """The training rows whose decisions are feasible; others train nothing, which is said aloud."""
    usable: IntArray = training[problem.feasible(decisions[training], contexts[training])]
    if not len(usable):
        remedy = "Correct them, or move them with `nearest_rationalizable`"
        raise invalid("decisions", where, "must hold feasible ones to train on", "none", remedy=remedy)
    if len(usable) < len(training):
        n_excluded = len(training) - len(usable)
        message = f"{n_excluded} of {len(training)} training decisions are infeasible and train nothing"
        warn_caller(message, CalibrationWarning)
    return usable


@dataclass(frozen=True)
class TrainingData:
    """Feasible decisions, as signed basis values, and their distinct contexts.

    With `sign` 1 for `min` and -1 for `max`, the sub-optimality loss of row k is
    `theta . (observed[k] - best(theta)[context_of[k]])` in both senses (paper, eq. sub_opt_loss).

    Attributes
    ----------
    problem : Problem
    contexts : (N, context_width) array
    decisions : (N, n_vars) array or CSR
    distinct : (C, context_width) array
        Distinct contexts in sorted order.
    first : (C,) int array
        First row with each distinct context.
    context_of : (N,) int array
        Each row's distinct context.
    sign : float
    where : str
        Named in errors.
    """

    problem: Problem
    contexts: FloatArray
    decisions: Decisions
    distinct: FloatArray
    first: IntArray
    context_of: IntArray
    sign: float
    where: str

    @classmethod
    def checked(cls, problem: Any, contexts: ArrayLike, decisions: Any, where: str) -> Self:
        """Validate the arguments of `fit`.

        Raises
        ------
        InvalidInputError
            If shapes disagree, there is no row, or a decision violates its feasible set.
        """
        problem = check_problem(problem, where)
        rows, decisions = problem.check_rows(contexts, decisions, where)
        check_some_rows(rows, where)
        problem.require_feasible(decisions, rows, where)
        first, context_of = group_rows(rows)
        return cls(problem, rows, decisions, rows[first], first, context_of, problem.sign, where)

    @cached_property
    def observed(self) -> Decisions:
        """`sign * basis(decision)` per row, shape (N, n_params)."""
        return self.problem.basis(self.decisions) * self.sign

    @property
    def n_rows(self) -> int:
        """Number of observed decisions."""
        return len(self.contexts)

    def best(self, theta: FloatArray) -> Decisions:
        """`sign * basis` of an optimal decision for each distinct context, shape (C, n_params)."""
        return self.optimal(theta, self.distinct, self.first)

    def optimal(self, theta: FloatArray, contexts: FloatArray, rows: IntArray) -> Decisions:
        """`sign * basis` of optimal decisions; a failure is told of `rows`, the data row of each context."""
        with told_of(self.where, rows):
            found = self.problem.nominal(theta, contexts)
        return self.problem.basis(found) * self.sign

    def optimal_totals(self, theta: FloatArray, rows: IntArray) -> tuple[FloatArray, float]:
        """`best` and its objective for data rows under parameters of their own, summed, times `sign`."""
        with told_of(self.where, rows):
            total, value = self.problem.optimal_totals(theta, self.contexts[rows])
        return total * self.sign, value * self.sign

    def observed_total(self, rows: IntArray) -> FloatArray:
        """Sum of `observed` over data rows, shape (n_params,)."""
        if not sparse.issparse(self.observed):
            return np.asarray(self.observed[rows].sum(axis=0))
        total = np.zeros(self.problem.n_params)
        add_rows(*self._observed_parts, rows, total)
        return total

    @cached_property
    def _observed_parts(self) -> tuple[Any, ...]:
        return tuple(sealed(part, None) for part in (self.observed.indptr, self.observed.indices, self.observed.data))

    def counts(self) -> FloatArray:
        """Number of rows with each distinct context, shape (C,)."""
        return np.bincount(self.context_of, minlength=len(self.distinct)).astype(np.float64)

    def sums_by_context(self) -> Any:
        """Sparse (C, N) matrix that adds up rows with the same context."""
        ones, rows = np.ones(self.n_rows), np.arange(self.n_rows)
        return sparse.csr_array((ones, (self.context_of, rows)), shape=(len(self.distinct), self.n_rows))

    def observed_sums(self) -> Decisions:
        """Sum of `observed` over the rows with each distinct context, shape (C, n_params)."""
        values = self.decisions if self.problem.linear else self.problem.basis(self.decisions)
        shape = (len(self.distinct), self.problem.n_params)
        if not sparse.issparse(values) or shape[0] * shape[1] > _DENSE_ENTRIES:
            return (self.sums_by_context() @ values) * self.sign
        sums = np.zeros(shape)
        parts = (sealed(part, None) for part in (values.indptr, values.indices, values.data))
        add_rows_by_group(*parts, sealed(self.context_of, None), sums)
        return sparse.csr_array(sums * self.sign)
