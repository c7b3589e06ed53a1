"""The distributionally robust sub-optimality loss (paper, appendix Robustifying the Inverse Problem).

The nature of the game may move observed decisions: any distribution of (basis value of the decision,
context) whose type-1 Wasserstein distance to the sample is at most r, with the Euclidean norm as ground
metric on basis values, contexts fixed and no bound on the support. The sub-optimality loss is linear in the
basis value with slope `+-theta`, so moving a point by distance e raises its loss by at most `e |theta|_2`,
and exactly so along `+-theta / |theta|_2`. Hence:

    worst-case mean        = mean loss + r |theta|_2             (move every point by r)
    worst-case CVaR_level  = CVaR_level(loss) + r |theta|_2 / (1 - level)

For the second, `max(loss - t, 0) / (1 - level)` has slope at most `|theta|_2 / (1 - level)` in the basis
value, whatever `t`; moving only the worst `1 - level` of the mass, by `r / (1 - level)` each, attains it.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from conformio.checks import RandomState, as_generator, as_scalar, check_choice
from conformio.errors import invalid
from conformio.estimators.base import Estimator, TrainingData
from conformio.estimators.cutting_planes import Relaxation, l1_ball, minimize_over_ball
from conformio.estimators.losses import MeanLoss, NormPenalty, TailLoss
from conformio.problems.base import Problem

__all__ = ["DistributionallyRobustLoss"]


class DistributionallyRobustLoss(Estimator):
    """Minimise the worst-case sub-optimality loss over a Wasserstein ball of samples, to a proven gap.

    The worst-case mean is the mean loss plus `radius_wasserstein * |theta|_2`; the worst-case CVaR is the
    CVaR of the losses plus `radius_wasserstein * |theta|_2 / (1 - level)`. The ball of radius r holds every
    distribution whose type-1 Wasserstein distance to the sample is at most r, with the Euclidean norm on
    the observed decision's basis values, contexts fixed and an unbounded support.

    Parameters
    ----------
    radius_wasserstein : float
        Nonnegative, in units of basis values; 0 with `risk="mean"` is `SuboptimalityLoss`.
    risk : {"mean", "cvar"}
    level : float, optional
        Of the CVaR, in [0, 1); required by `risk="cvar"`, refused by `risk="mean"`.
    center, radius, tol, max_iter, random_state
        As in `SuboptimalityLoss`.

    Attributes
    ----------
    theta_ : (n_params,) array
    loss_ : float
        Worst-case loss of `theta_`.
    lower_bound_, gap_ : float
    n_iter_ : int

    Examples
    --------
    >>> from conformio.estimators import DistributionallyRobustLoss
    >>> from conformio.problems import LinearProgram
    >>> problem = LinearProgram(A_ub=[[-1.0, -2.0]], upper=2.0)
    >>> estimator = DistributionallyRobustLoss(0.5).fit(problem, [[-2.0]], [[0.0, 1.0]])
    >>> round(estimator.loss_, 4)  # a decision that is optimal for theta = (3/4, 3/4), plus 0.5 |theta|
    0.5303
    """

    loss_: float
    lower_bound_: float
    gap_: float
    n_iter_: int

    def __init__(
        self,
        radius_wasserstein: float,
        risk: str = "mean",
        level: float | None = None,
        center: ArrayLike | None = None,
        radius: float | None = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: RandomState = None,
    ):
        self.radius_wasserstein = radius_wasserstein
        self.risk = risk
        self.level = level
        self.center = center
        self.radius = radius
        self.tol = tol
        self.max_iter = max_iter
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
            If an argument is out of range or a decision is infeasible.
        UnboundedProblemError
            If the forward problem has no optimum for some vector in the ball.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If `max_iter` master programs leave a larger gap.
        """
        where = "DistributionallyRobustLoss.fit"
        data = TrainingData.checked(problem, contexts, decisions, where)
        ball = l1_ball(data.problem, self.center, self.radius, where)
        rng = None if self.random_state is None else as_generator(self.random_state, where)
        found = minimize_over_ball(self._loss(data, rng, where), ball, self.tol, self.max_iter, where, rng)
        self.context_width_ = data.problem.context_width
        self.theta_ = found.theta
        self.loss_, self.lower_bound_, self.gap_ = found.loss, found.lower_bound, found.gap
        self.n_iter_ = found.n_iter
        return self

    def _loss(self, data: TrainingData, rng: np.random.Generator | None, where: str) -> Relaxation:
        reach = as_scalar(self.radius_wasserstein, "radius_wasserstein", where, low=0.0)
        check_choice(self.risk, ("mean", "cvar"), "risk", where)
        loss: Relaxation
        if self.risk == "mean":
            if self.level is not None:
                raise invalid("level", where, 'must be None with risk="mean"', self.level, remedy='Use risk="cvar"')
            loss = MeanLoss(data, rng=rng)
        else:
            level = self._checked_level(where)
            reach /= 1.0 - level
            loss = TailLoss(data, level, rng=rng)
        return NormPenalty(loss, reach) if reach > 0.0 else loss

    def _checked_level(self, where: str) -> float:
        if self.level is None:
            raise invalid("level", where, 'must be a number in [0, 1) with risk="cvar"', None)
        level = as_scalar(self.level, "level", where, low=0.0, high=1.0)
        if level == 1.0:
            raise invalid("level", where, "must be below 1, where the worst case is infinite", level)
        return level
