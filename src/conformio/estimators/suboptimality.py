"""Parameters that make observed decisions nearly optimal: sub-optimality loss (paper, eq. sub_opt_loss)."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from conformio.checks import RandomState, as_generator
from conformio.estimators.base import Estimator, TrainingData
from conformio.estimators.cutting_planes import l1_ball, minimize_over_ball
from conformio.estimators.losses import MeanLoss
from conformio.problems.base import Problem

__all__ = ["SuboptimalityLoss"]


class SuboptimalityLoss(Estimator):
    """Minimise the mean sub-optimality loss over an L1 ball, to a proven gap.

    The loss of one decision is what it costs more (in a `max` problem: yields less) than the best decision
    of the same context, under the estimated parameters. The search is a cutting-plane method whose cost
    grows with the number of *distinct* contexts: rows enter through their mean decision only. Each distinct
    context has an epigraph variable of its own; beyond eight to a parameter, or 4,096 in all, contexts are dealt
    to that many groups, which bounds the master program's size without changing its optimum.

    Parameters
    ----------
    center : array-like of shape (n_params,), optional
        Centre of the ball, e.g. known travel times. None: all ones.
    radius : float, optional
        Radius of the ball, below the L1 norm of the centre. None: a quarter of that norm.
    tol : float
        The search stops when `gap_ <= tol * max(scale, loss_)`, `scale` the mean absolute entry of the
        centre.
    max_iter : int
        Largest number of master programs solved.
    random_state : int, numpy.random.Generator or None
        Often many vectors share the smallest loss, and the order of parameters and groups in the master
        program decides which is found. A seed shuffles that order; None keeps the order given and draws
        nothing.

    Attributes
    ----------
    theta_ : (n_params,) array
        The vector with the smallest loss among all visited, not scaled.
    loss_ : float
        Its mean loss.
    lower_bound_ : float
        No vector in the ball has a smaller mean loss.
    gap_ : float
        `loss_ - lower_bound_`.
    n_iter_ : int
        Master programs solved.

    Examples
    --------
    >>> import numpy as np
    >>> from conformio.estimators import SuboptimalityLoss
    >>> from conformio.problems import LinearProgram
    >>> problem = LinearProgram(A_ub=[[-1.0, -2.0]], upper=2.0)  # x1 + 2 x2 >= 2 in the box [0, 2]
    >>> estimator = SuboptimalityLoss().fit(problem, [[-2.0], [-2.0]], [[0.0, 1.0], [2.0, 0.0]])
    >>> bool(abs(estimator.theta_[1] / estimator.theta_[0] - 2.0) < 1e-6)  # the normal of the facet
    True
    """

    lower_bound_: float
    loss_: float
    gap_: float
    n_iter_: int

    def __init__(
        self,
        center: ArrayLike | None = None,
        radius: float | None = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: RandomState = None,
    ):
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
        where = "SuboptimalityLoss.fit"
        data = TrainingData.checked(problem, contexts, decisions, where)
        ball = l1_ball(data.problem, self.center, self.radius, where)
        rng = None if self.random_state is None else as_generator(self.random_state, where)
        found = minimize_over_ball(MeanLoss(data, rng=rng), ball, self.tol, self.max_iter, where, rng)
        self.context_width_ = data.problem.context_width
        self.theta_ = found.theta
        self.loss_, self.lower_bound_, self.gap_ = found.loss, found.lower_bound, found.gap
        self.n_iter_ = found.n_iter
        return self
