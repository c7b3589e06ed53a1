"""Minimise a convex, positively homogeneous loss over an L1 ball by cutting planes, with a proven gap.

The master program is a linear program over `v = (theta, aux)`, with `theta = center + p - q`, `p, q >= 0` and
`sum(p + q) <= radius`:

    minimise costs . v   subject to   row . v <= 0 for every known row      (paper, appendix Obtaining a Point
    Estimation; the auxiliary variables carry the epigraphs of the terms of the loss)

Every row holds for the true loss, so the master's value is a lower bound, and the loss at any visited
`theta` is an upper bound. Each round asks the relaxation for rows that the master's point violates. The
point asked about first lies between the best `theta` so far and the master's (in-out separation: it keeps
the search from jumping between far vertices, *measured* up to half the rounds, at 600 trips over 120 edges as
at 3,000 over 840); when that yields no violated row the master's own point is asked, so the search cannot
stall before the master's point is proven optimal. One HiGHS model is kept: rows are appended and the dual
simplex method restarts from the last basis.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from conformio.checks import BoolArray, FloatArray, as_index, as_parameters, as_scalar
from conformio.errors import invalid, warn_caller
from conformio.problems.base import Problem
from conformio.solvers import HighsModel

__all__ = [
    "Ball",
    "Minimum",
    "Relaxation",
    "Separation",
    "l1_ball",
    "minimize_over_ball",
]

_VIOLATION = 2e-9  # above the feasibility tolerance of the solver, or a known row could be added again


@dataclass(frozen=True)
class Ball:
    """`{theta : |theta - center|_1 <= radius, theta_j >= 0 where nonnegative_j}`."""

    center: FloatArray
    radius: float
    nonnegative: BoolArray


@dataclass(frozen=True)
class Separation:
    """The loss at a point's `theta`, and rows (CSR over `(theta, aux)`) that hold everywhere, tight there."""

    loss: float
    rows: Any


class Relaxation(ABC):
    """A loss as the minimum over `aux` of `costs . (theta, aux)` under homogeneous rows, found by and by.

    Attributes
    ----------
    n_params : int
        Length of `theta`.
    costs : (n_params + n_aux,) float array
    aux_lower : (n_aux,) float array
        Finite lower bounds that hold at an optimal `aux` for every `theta`.
    step : float
        In (0, 1]: share of the way from the best `theta` to the master's at which the loss is asked about
        first.
    """

    n_params: int
    costs: FloatArray
    aux_lower: FloatArray
    step: float = 0.6

    @abstractmethod
    def first_rows(self) -> Any:
        """Rows (CSR over `(theta, aux)`) that are known from the start."""

    @abstractmethod
    def separate(self, point: FloatArray) -> Separation:
        """The loss at `theta = point[:n_params]`, and the rows that are tight at `point`."""


@dataclass(frozen=True)
class Minimum:
    """The best `theta` visited, its loss, a lower bound on all losses in the ball, the number of rounds."""

    theta: FloatArray
    loss: float
    lower_bound: float
    n_iter: int

    @property
    def gap(self) -> float:
        """How far the loss may be from the smallest one."""
        return self.loss - self.lower_bound


def l1_ball(problem: Problem, center: ArrayLike | None, radius: Any, where: str) -> Ball:
    """The ball of `center` (None: all ones) and `radius` (None: a quarter of the centre's L1 norm)."""
    mask = problem.nonnegative_params
    start = np.ones(problem.n_params) if center is None else center
    middle = as_parameters(start, 1, problem.n_params, problem.domain, where, "center").reshape(-1)
    if (middle[mask] < 0).any():
        rule = "must be >= 0 wherever the problem's parameters must be"
        raise invalid("center", where, rule, middle[mask].min())
    reach = float(np.abs(middle).sum())
    if not reach:
        raise invalid("center", where, "must not be zero: it has no direction", "zeros only")
    size = reach / 4.0 if radius is None else as_scalar(radius, "radius", where, low=0.0)
    if size >= reach:
        rule = f"must be below the L1 norm of the centre, {reach:g}: the ball must not hold theta = 0"
        raise invalid("radius", where, rule, size, remedy="Choose a smaller radius or a centre that is not zero")
    return Ball(middle, size, mask)


def minimize_over_ball(
    relaxation: Relaxation,
    ball: Ball,
    tol: Any,
    max_iter: Any,
    where: str,
    rng: np.random.Generator | None = None,
) -> Minimum:
    """Run cutting planes until the gap is at most `tol * max(scale, loss)`.

    `scale` is the mean absolute entry of the centre. The loss is homogeneous: the search runs in units of
    `scale` and its result does not depend on the units.

    Parameters
    ----------
    relaxation : Relaxation
    ball : Ball
    tol : float
        Positive.
    max_iter : int
        Largest number of master programs solved.
    where : str
        Named in errors and warnings.
    rng : numpy.random.Generator, optional
        Shuffles the master's columns, which decides between equally good vertices.

    Warns
    -----
    ConvergenceWarning
        If the gap is still larger; the message names it.
    """
    tol = as_scalar(tol, "tol", where, low=0.0, open_low=True)
    max_iter = as_index(max_iter, "max_iter", where, low=1)
    scale = float(np.abs(ball.center).mean())
    unit = Ball(ball.center / scale, ball.radius / scale, ball.nonnegative)
    found = _search(relaxation, _Master(relaxation, unit, where, rng), tol, max_iter)
    if found.gap > _allowed(found.loss, tol):
        _warn_open_gap(found, tol, max_iter, scale, where)
    return Minimum(found.theta * scale, found.loss * scale, found.lower_bound * scale, found.n_iter)


def _search(relaxation: Relaxation, master: _Master, tol: float, max_iter: int) -> Minimum:
    at_center = relaxation.separate(master.point)
    best, loss, bound = master.point[: relaxation.n_params], at_center.loss, -np.inf
    master.append_violated(at_center.rows)
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        bound = max(bound, master.solve())
        if loss - bound <= _allowed(loss, tol):
            break
        cut_off, start = False, best
        for share in dict.fromkeys((relaxation.step, 1.0)):
            asked = master.toward(start, share)
            found = relaxation.separate(asked)
            if found.loss < loss:
                best, loss = asked[: relaxation.n_params], found.loss
            cut_off = master.append_violated(found.rows)
            if cut_off:
                break
        if not cut_off:  # the master's point is optimal to working precision; more rounds would repeat it
            break
    return Minimum(best, loss, min(bound, loss), n_iter)  # they may cross by rounding alone


def _allowed(loss: float, tol: float) -> float:
    return tol * max(1.0, loss)


def _warn_open_gap(found: Minimum, tol: float, max_iter: int, scale: float, where: str) -> None:
    if found.n_iter == max_iter:
        advice = f"stopped after max_iter = {max_iter} rounds; raise max_iter or tol"
    else:
        advice = "no further cut can be told from rounding; raise tol"
    gap, allowed = found.gap * scale, _allowed(found.loss, tol) * scale
    message = f"{where}: the loss is proven to {gap:.3g} only, asked for {allowed:.3g}: {advice}"
    warn_caller(message, ConvergenceWarning)


class _Master:
    def __init__(self, relaxation: Relaxation, ball: Ball, where: str, rng: np.random.Generator | None):
        d, n_aux = relaxation.n_params, len(relaxation.aux_lower)
        self._d, self._ball = d, ball
        self._order = np.arange(d) if rng is None else rng.permutation(d)
        self._place = np.argsort(self._order)
        down = np.where(ball.nonnegative, np.minimum(ball.center, ball.radius), ball.radius)
        lower = np.concatenate([np.zeros(2 * d), relaxation.aux_lower])
        upper = np.concatenate([np.full(d, ball.radius), down[self._order], np.full(n_aux, np.inf)])
        budget = sparse.csr_array(np.concatenate([np.ones(2 * d), np.zeros(n_aux)])[None, :])
        most = np.array([ball.radius])
        self._model = HighsModel(budget, np.array([-np.inf]), most, lower, upper, where=where)
        on_theta = relaxation.costs[:d]
        ordered = on_theta[self._order]
        self._costs: FloatArray | None = np.concatenate([ordered, -ordered, relaxation.costs[d:]])
        self._at_center = float(on_theta @ ball.center)
        self.point = np.concatenate([ball.center, relaxation.aux_lower])
        self.append(relaxation.first_rows())

    def solve(self) -> float:
        """Optimise over the known rows; `point` becomes the optimum, the value a lower bound on the loss."""
        found = self._model.solve(self._costs)
        self._costs = None  # passing costs again would cost the warm start
        d, theta = self._d, self._ball.center.copy()
        theta[self._order] += found.x[:d] - found.x[d : 2 * d]
        # center - q may end at -1e-17 where it should end at 0; the loss is evaluated at what is returned
        theta = np.where(self._ball.nonnegative, np.maximum(theta, 0.0), theta)
        self.point = np.concatenate([theta, found.x[2 * d :]])
        return found.value + self._at_center

    def toward(self, start: FloatArray, share: float) -> FloatArray:
        """The master's point with `theta` only `share` of the way from `start` to it."""
        if share == 1.0:
            return self.point
        theta = start + share * (self.point[: self._d] - start)
        return np.concatenate([theta, self.point[self._d :]])

    def append(self, rows: Any) -> None:
        high = -np.asarray(rows @ np.concatenate([self._ball.center, np.zeros(rows.shape[1] - self._d)]))
        self._model.add_rows(np.full(len(high), -np.inf), high, self._in_columns(rows))

    def _in_columns(self, rows: Any) -> Any:
        """Rows over `(theta, aux)` as rows over `(p, q, aux)`: entries of theta go to p, and negated to q."""
        on_theta = rows.indices < self._d
        copies = 1 + on_theta
        entry = np.repeat(np.arange(rows.nnz), copies)
        second = np.concatenate([[False], entry[1:] == entry[:-1]])[: len(entry)]
        columns = np.where(on_theta, self._place[np.minimum(rows.indices, self._d - 1)], rows.indices + self._d)
        indptr = np.concatenate([[0], np.cumsum(copies)])[rows.indptr]
        values = np.where(second, -rows.data[entry], rows.data[entry])
        shape = (rows.shape[0], rows.shape[1] + self._d)
        return sparse.csr_array((values, columns[entry] + self._d * second, indptr), shape=shape)

    def append_violated(self, rows: Any) -> bool:
        """Append the rows that the master's point violates; whether there was one."""
        violated = np.flatnonzero(rows @ self.point > _VIOLATION)
        if len(violated):
            self.append(rows[violated])
        return bool(len(violated))
