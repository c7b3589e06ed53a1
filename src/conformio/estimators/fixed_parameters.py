"""Parameters that are given: a vector, or a model that predicts one per context."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from conformio.checks import BoolArray, FloatArray, as_parameters, first_cell, first_row
from conformio.errors import ConformioError, invalid
from conformio.estimators.base import Estimator, check_problem
from conformio.problems.base import Problem

__all__ = ["FixedParameters"]


class FixedParameters(Estimator):
    """Use given parameters as the point estimate.

    Parameters
    ----------
    theta : array-like of shape (n_params,), callable, or object with `predict`
        A callable (or `predict`) receives the checked contexts, shape (N, context_width), and returns
        parameters of shape (N, n_params). It must already be fitted: cloning this estimator keeps the very
        same object.

    Attributes
    ----------
    theta_ : (n_params,) array or None
        The vector; None when parameters depend on the context, then ask `parameters`.
    nonnegative_ : (n_params,) bool array
        Which parameters must not be negative.
    n_iter_ : int
        0: nothing is learnt.

    Examples
    --------
    >>> import numpy as np
    >>> from conformio.estimators import FixedParameters
    >>> from conformio.problems import Knapsack
    >>> problem = Knapsack([1.0, 2.0])
    >>> FixedParameters([3.0, 4.0]).fit(problem, [[2.0]]).parameters([[1.0], [2.0]]).tolist()
    [[3.0, 4.0], [3.0, 4.0]]
    >>> FixedParameters(lambda u: np.hstack([u, u**2])).fit(problem, [[2.0]]).parameters([[3.0]]).tolist()
    [[3.0, 9.0]]
    """

    needs_data = False
    nonnegative_: BoolArray
    n_iter_: int

    def __init__(self, theta: Any):
        self.theta = theta

    def fit(self, problem: Problem, contexts: ArrayLike, decisions: Any = None) -> Self:
        """Check the given parameters against the problem; nothing is learnt.

        Parameters
        ----------
        problem : Problem
        contexts : array-like, shape (N, context_width)
            A callable is tried on these.
        decisions : array-like or CSR, shape (N, n_vars), optional
            Checked for shape only.

        Raises
        ------
        InvalidInputError
            If parameters have a wrong shape, are not finite, leave the domain or are zero.
        """
        where = "FixedParameters.fit"
        problem = check_problem(problem, where)
        if decisions is None:
            rows = problem.check_contexts(contexts, where)
        else:
            rows, _ = problem.check_rows(contexts, decisions, where)
        predictor, nonnegative = self._predictor(), problem.nonnegative_params
        if predictor is None:
            self.theta_ = _checked(self.theta, nonnegative, None, where)
        else:
            _checked(_predicted(predictor, rows, where), nonnegative, len(rows), where)
            self.theta_ = None
        self.context_width_, self.nonnegative_, self.n_iter_ = problem.context_width, nonnegative, 0
        return self

    def parameters(self, contexts: ArrayLike) -> FloatArray:
        """The given parameters for each context.

        Parameters
        ----------
        contexts : array-like, shape (N, context_width)

        Returns
        -------
        (N, n_params) array
            A read-only view of the vector, or what the callable predicts.

        Raises
        ------
        NotFittedError
            Before `fit`.
        InvalidInputError
            If predicted parameters have a wrong shape, are not finite, leave the domain or are zero.
        """
        predictor = self._predictor()
        if predictor is None:
            return super().parameters(contexts)
        rows = self._check_contexts(contexts)
        where = "FixedParameters.parameters"
        return _checked(_predicted(predictor, rows, where), self.nonnegative_, len(rows), where)

    def _predictor(self) -> Any:
        predict = getattr(self.theta, "predict", None)
        if predict is not None:
            return predict
        return self.theta if callable(self.theta) else None

    def __sklearn_clone__(self) -> Self:
        # scikit-learn's clone would unfit a fitted model held in `theta`
        return type(self)(self.theta)


def _predicted(predictor: Any, contexts: FloatArray, where: str) -> Any:
    """What the user's predictor answers; whatever it raises comes back as the library's own error."""
    try:
        return predictor(contexts)
    except ConformioError:
        raise
    except Exception as error:
        got = f"{type(error).__name__}: {error}"
        rule = f"must predict from contexts of shape {contexts.shape}"
        raise invalid("theta", where, rule, got, remedy="Correct the callable or the fitted model") from error


def _checked(theta: Any, nonnegative: BoolArray, n_rows: int | None, where: str) -> FloatArray:
    n_params = len(nonnegative)
    shape = (n_params,) if n_rows is None else (n_rows, n_params)
    if np.shape(theta) != shape:
        rule = f"must have shape {shape}" + ("" if n_rows is None else ", one row of parameters per context")
        raise invalid("theta", where, rule, f"shape {np.shape(theta)}")
    values = as_parameters(theta, shape[0], n_params, "free", where)
    rows = values[None, :] if n_rows is None else values
    negative = np.asarray(((rows < 0) & nonnegative).any(axis=1))
    wrong = np.asarray(negative | ~rows.any(axis=1))
    if wrong.any():
        row = first_row(wrong)
        rule, got = "must not be zero: it has no direction", "zeros only"
        if negative[row]:
            rule = "must be >= 0 wherever the problem's parameters must be"
            got = first_cell(rows[row], (rows[row] < 0) & nonnegative)
        raise invalid("theta", where, rule, got, row=None if n_rows is None else row)
    return values.copy()
