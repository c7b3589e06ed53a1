"""The perturbed Fenchel-Young loss by stochastic gradients (paper, appendix Obtaining a Point Estimation).

With `Z` standard normal and sign +1 for `min`, -1 for `max`, the loss of row k is, up to a constant in
`theta`,

    L_k(theta) = sign * (theta . basis(x_hat_k) - E optimum(theta + sigma Z, u_k))

convex and smooth, with gradient `sign * (basis(x_hat_k) - E basis(optimal decision at theta + sigma Z))`.
The expectations are replaced by `n_samples` fresh draws per row and epoch, the steps are Adam's (first
moment 0.9, second 0.999, both corrected for their start at zero, 1e-8 in the denominator).

On the nonnegative domain the method is *defined* by two projections: perturbed costs are projected on the
orthant before the forward problem is solved, and `theta` after each step. The gradient above is kept as it
stands, so it is the exact gradient only where projections do not act.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from conformio.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    RandomState,
    as_generator,
    as_index,
    as_parameters,
    as_scalar,
)
from conformio.errors import invalid
from conformio.estimators.base import Estimator, TrainingData
from conformio.problems.base import Problem

__all__ = ["PerturbedFenchelYoung"]

_FIRST_DECAY, _SECOND_DECAY, _DENOMINATOR = 0.9, 0.999, 1e-8


class PerturbedFenchelYoung(Estimator):
    """Fit parameters by stochastic gradients of the perturbed Fenchel-Young loss.

    Parameters
    ----------
    initial : array-like of shape (n_params,), optional
        Where training starts, e.g. known travel times. None: all ones. Parameters that neither an observed
        nor a sampled decision touches never move.
    sigma : float
        Standard deviation of the perturbations, positive, in units of the parameters.
    n_samples : int
        Perturbations per row and step.
    epochs : int
        Passes over the data, rows reshuffled in each.
    batch_size : int
        Rows per step; the last batch of an epoch may be smaller.
    learning_rate : float
        Positive; about the largest change of a parameter in one step.
    random_state : int, numpy.random.Generator or None
        Seeds the shuffles and the perturbations.

    Attributes
    ----------
    theta_ : (n_params,) array
        The last iterate, not scaled.
    loss_ : float
        Mean loss over the rows of the last epoch, each at its step's parameters and perturbations, up to a
        constant that does not depend on the parameters; it may be negative.
    n_iter_ : int
        Number of steps.

    Examples
    --------
    >>> from conformio.estimators import PerturbedFenchelYoung
    >>> from conformio.problems import LinearProgram
    >>> problem = LinearProgram(A_eq=[[1.0, 1.0]], upper=1.0, domain="nonnegative")  # one of two options
    >>> estimator = PerturbedFenchelYoung(epochs=50, random_state=0)
    >>> theta = estimator.fit(problem, [[1.0]] * 4, [[1.0, 0.0]] * 4).theta_
    >>> bool(theta[0] < theta[1])  # the option everybody takes must be the cheaper one
    True
    """

    loss_: float
    n_iter_: int

    def __init__(
        self,
        initial: ArrayLike | None = None,
        sigma: float = 1.0,
        n_samples: int = 1,
        epochs: int = 20,
        batch_size: int = 64,
        learning_rate: float = 0.1,
        random_state: RandomState = None,
    ):
        self.initial = initial
        self.sigma = sigma
        self.n_samples = n_samples
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.random_state = random_state

    def fit(self, problem: Problem, contexts: ArrayLike, decisions: Any) -> Self:
        """Estimate `theta_` from decisions.

        Parameters
        ----------
        problem : Problem
        contexts : array-like, shape (N, context_width)
        decisions : array-like or CSR, shape (N, n_vars)
            Feasible; they need not be optimal for any parameters.

        Raises
        ------
        InvalidInputError
            If an argument is out of range, a decision is infeasible, or training projects every parameter
            to 0.
        UnboundedProblemError
            If the forward problem has no optimum for some perturbed parameters.
        """
        where = "PerturbedFenchelYoung.fit"
        data = TrainingData.checked(problem, contexts, decisions, where)
        mask = data.problem.nonnegative_params
        theta = self._start(data.problem, mask, where)
        epochs = as_index(self.epochs, "epochs", where, low=1)
        size = as_index(self.batch_size, "batch_size", where, low=1)
        perturbed = _PerturbedLoss(
            data,
            as_scalar(self.sigma, "sigma", where, low=0.0, open_low=True),
            as_index(self.n_samples, "n_samples", where, low=1),
            mask,
        )
        adam = _Adam(data.problem.n_params, as_scalar(self.learning_rate, "learning_rate", where, 0.0, open_low=True))
        rng = as_generator(self.random_state, where)
        for _ in range(epochs):
            order, total = rng.permutation(data.n_rows), 0.0
            for start in range(0, data.n_rows, size):
                rows = order[start : start + size]
                loss, gradient = perturbed.loss_and_gradient(theta, rows, rng)
                theta = _project(theta - adam.step(gradient), mask)
                total += loss * len(rows)
        if not theta.any():
            rule = "must leave a parameter above 0; training projected all of them to 0"
            raise invalid("learning_rate", where, rule, self.learning_rate, remedy="Lower it or enlarge `initial`")
        self.context_width_ = data.problem.context_width
        self.theta_ = theta
        self.loss_, self.n_iter_ = total / data.n_rows, adam.n_steps
        return self

    def _start(self, problem: Problem, mask: BoolArray, where: str) -> FloatArray:
        start = np.ones(problem.n_params) if self.initial is None else self.initial
        theta = as_parameters(start, 1, problem.n_params, problem.domain, where, "initial").reshape(-1)
        if (theta[mask] < 0).any():
            raise invalid("initial", where, "must be >= 0 wherever the problem's parameters must be", theta[mask].min())
        return theta


class _PerturbedLoss:
    def __init__(self, data: TrainingData, sigma: float, n_samples: int, nonnegative: BoolArray):
        self._data, self._sigma, self._n_samples, self._mask = data, sigma, n_samples, nonnegative

    def loss_and_gradient(
        self, theta: FloatArray, rows: IntArray, rng: np.random.Generator
    ) -> tuple[float, FloatArray]:
        """Mean over the rows and their samples; signed basis values make both senses read like `min`."""
        data, each = self._data, rows if self._n_samples == 1 else np.repeat(rows, self._n_samples)
        costs = rng.standard_normal((len(each), len(theta)))
        costs *= self._sigma
        costs += theta
        costs = _project(costs, self._mask)
        best, value = data.optimal_totals(costs, each)
        observed = data.observed_total(rows) / len(rows)
        return float(observed @ theta - value / len(each)), observed - best / len(each)


class _Adam:
    def __init__(self, n_params: int, learning_rate: float):
        self._rate, self.n_steps = learning_rate, 0
        self._first, self._second = np.zeros(n_params), np.zeros(n_params)

    def step(self, gradient: FloatArray) -> FloatArray:
        """What to subtract from the parameters."""
        self.n_steps += 1
        self._first = _FIRST_DECAY * self._first + (1.0 - _FIRST_DECAY) * gradient
        self._second = _SECOND_DECAY * self._second + (1.0 - _SECOND_DECAY) * gradient**2
        first = self._first / (1.0 - _FIRST_DECAY**self.n_steps)
        second = self._second / (1.0 - _SECOND_DECAY**self.n_steps)
        return self._rate * first / (np.sqrt(second) + _DENOMINATOR)


def _project(theta: FloatArray, nonnegative: BoolArray) -> FloatArray:
    if nonnegative.all():
        return np.maximum(theta, 0.0)
    return np.where(nonnegative, np.maximum(theta, 0.0), theta) if nonnegative.any() else theta
