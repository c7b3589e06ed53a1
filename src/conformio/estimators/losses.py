"""Losses of decision data as relaxations for the cutting-plane driver.

With `l_k(theta) = theta . (observed_k - best_k(theta))` the sub-optimality loss of row k (paper, eq.
sub_opt_loss):

    mean loss    (1/N) sum_k l_k
    tail loss    CVaR_level(l) = min over t of t + (1/N) sum_k max(l_k - t, 0) / (1 - level)
    norm         weight * |theta|_2

Rows (or distinct contexts) are dealt to groups and each group has one epigraph variable: the loss of a group
is the weighted mean of its members' losses, a cut the mean of its members' cuts. One group per context gives
the strongest master (*measured* on 3,000 trips with 2,907 contexts over 840 edges: 7 rounds and 12 s, with 64
groups more than 60 rounds and 110 s). Beyond eight groups a parameter more of them only make the master larger
(*measured* on 600 knapsacks of 10 items: 80 groups 8 rounds and 15 ms, 600 groups 5 rounds and 22 ms), and
beyond `MAX_TERMS` it would outgrow memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from conformio.checks import Decisions, FloatArray, IntArray, first_row
from conformio.errors import SolverError
from conformio.estimators._sparse_rows import beside, diagonal
from conformio.estimators.base import TrainingData
from conformio.estimators.cutting_planes import Relaxation, Separation
from conformio.problems.base import row_products

__all__ = ["MAX_TERMS", "MeanLoss", "NormPenalty", "TailLoss", "tail_mean"]

MAX_TERMS = 4096
_TERMS_PER_PARAMETER = 8
_NEGATIVE = 1e-6


def tail_mean(losses: FloatArray, level: float) -> float:
    """`CVaR_level` of equally likely losses: the mean of the worst `1 - level` share, one counted in part.

    Examples
    --------
    >>> import numpy as np
    >>> tail_mean(np.array([4.0, 1.0, 3.0, 2.0]), 0.5)
    3.5
    >>> tail_mean(np.array([4.0, 1.0, 3.0, 2.0]), 0.0)
    2.5
    """
    rank = min(max(int(np.ceil(level * len(losses))), 1), len(losses))
    quantile = float(np.partition(losses, rank - 1)[rank - 1])
    return quantile + float(np.maximum(losses - quantile, 0.0).mean()) / (1.0 - level)


class MeanLoss(Relaxation):
    """The mean sub-optimality loss; `aux` holds the mean loss of each group of distinct contexts.

    Losses of feasible decisions are nonnegative, which bounds `aux` below. A round costs one forward solve
    per distinct context, however many rows share it.
    """

    def __init__(self, data: TrainingData, max_terms: int | None = None, rng: np.random.Generator | None = None):
        counts = data.counts()
        most = min(MAX_TERMS, _TERMS_PER_PARAMETER * data.problem.n_params) if max_terms is None else max_terms
        group = _deal(len(counts), most, rng)
        sizes = np.bincount(group, weights=counts).astype(np.float64)
        self.data, self.n_params = data, data.problem.n_params
        self._weights = sizes / data.n_rows
        self._mean = None if len(sizes) == len(counts) else _group_means(group, counts, sizes)  # None: one each
        self._observed = _group_means(group, np.ones(len(counts)), sizes) @ data.observed_sums()
        self.costs = np.concatenate([np.zeros(self.n_params), self._weights])
        self.aux_lower = np.zeros(len(sizes))

    def first_rows(self) -> Any:
        """None: the bounds of `aux` suffice."""
        return sparse.csr_array((0, self.n_params + len(self.aux_lower)))

    def separate(self, point: FloatArray) -> Separation:
        """One cut per group: the mean of its contexts' cuts."""
        theta = point[: self.n_params]
        best = self.data.best(theta)
        slopes = self._observed - (best if self._mean is None else self._mean @ best)
        losses = row_products(theta, slopes)
        rows = self.data.first if len(losses) == len(self.data.first) else None
        _refuse_negative(losses, row_products(theta, self._observed), self.data.where, rows)
        return Separation(float(self._weights @ losses), _epigraphs(slopes))


class TailLoss(Relaxation):
    """`CVaR_level` of the sub-optimality losses; `aux` is `t` and each group's mean of `max(loss - t, 0)`."""

    def __init__(
        self,
        data: TrainingData,
        level: float,
        max_terms: int = MAX_TERMS,
        rng: np.random.Generator | None = None,
    ):
        self._group = _deal(data.n_rows, max_terms, rng)
        self._sizes = np.bincount(self._group).astype(np.float64)
        self.data, self.level, self.n_params = data, level, data.problem.n_params
        on_terms = self._sizes / (data.n_rows * (1.0 - level))
        self.costs = np.concatenate([np.zeros(self.n_params), [1.0], on_terms])
        self.aux_lower = np.zeros(1 + len(self._sizes))  # losses are nonnegative, hence so is an optimal t

    def first_rows(self) -> Any:
        """None: the bounds of `aux` suffice."""
        return sparse.csr_array((0, self.n_params + len(self.aux_lower)))

    def separate(self, point: FloatArray) -> Separation:
        """One cut per group, over the rows whose loss exceeds the point's `t`."""
        theta, threshold = point[: self.n_params], point[self.n_params]
        best = self.data.best(theta)
        losses = self.losses(theta, best)
        over = (losses > threshold).astype(np.float64)
        means = _group_means(self._group, over, self._sizes)
        slopes = means @ self.data.observed - (means @ self.data.sums_by_context().T) @ best
        share = np.asarray(means.sum(axis=1)).reshape(-1, 1)
        return Separation(tail_mean(losses, self.level), _epigraphs(slopes, -share))

    def losses(self, theta: FloatArray, best: Decisions) -> FloatArray:
        """Sub-optimality loss of each row, shape (N,)."""
        observed, optimal = row_products(theta, self.data.observed), row_products(theta, best)
        losses: FloatArray = observed - optimal[self.data.context_of]
        _refuse_negative(losses, observed, self.data.where, np.arange(len(losses)))
        return losses


class NormPenalty(Relaxation):
    """Another loss plus `weight * |theta|_2`.

    Tangents of the norm itself are hopeless in many dimensions (one cut says little about a sphere). The
    norm is therefore lifted: `|theta|_2 <= s` when some `y` has `sum(y) <= s` and `theta_j ** 2 <= y_j s`
    for each j, and each of these two-dimensional cones gets its own gradient cuts,
    `2 a theta_j - a ** 2 s - y_j <= 0` with `a = theta_j / |theta|_2`. Together they imply the tangent of the
    norm at the same point. Near a smooth optimum the master's own point is the best one to ask about
    (*measured*: 10 rounds against 32 with short steps).
    """

    step = 1.0

    def __init__(self, loss: Relaxation, weight: float):
        d = self.n_params = loss.n_params
        self.loss, self.weight = loss, weight
        self.costs = np.concatenate([loss.costs, [weight], np.zeros(d)])
        self.aux_lower = np.concatenate([loss.aux_lower, np.zeros(1 + d)])

    def first_rows(self) -> Any:
        """The rows of the loss, and `sum(y) <= s`."""
        budget = np.concatenate([np.zeros(len(self.loss.costs)), [-1.0], np.ones(self.n_params)])
        return sparse.csr_array(sparse.vstack([self._widened(self.loss.first_rows()), budget[None, :]]))

    def separate(self, point: FloatArray) -> Separation:
        """The cuts of the loss, and one of the norm for each parameter."""
        inner = self.loss.separate(point[: len(self.loss.costs)])
        theta = point[: self.n_params]
        length = float(np.linalg.norm(theta))
        rows = sparse.csr_array(sparse.vstack([self._widened(inner.rows), self._norm_rows(theta / length)]))
        return Separation(inner.loss + self.weight * length, rows)

    def _widened(self, rows: Any) -> Any:
        return beside(rows, sparse.csr_array((rows.shape[0], 1 + self.n_params)))

    def _norm_rows(self, slopes: FloatArray) -> Any:
        between = sparse.csr_array((self.n_params, len(self.loss.aux_lower)))
        on_length = sparse.csr_array(-(slopes**2)[:, None])
        return beside(diagonal(2.0 * slopes), between, on_length, diagonal(np.full(self.n_params, -1.0)))


def _deal(n: int, max_terms: int, rng: np.random.Generator | None) -> IntArray:
    if n <= max_terms:
        return np.arange(n)
    turn = np.arange(n) % max_terms
    return turn if rng is None else rng.permutation(turn)


def _group_means(group: IntArray, counts: FloatArray, sizes: FloatArray) -> Any:
    entries = (counts / sizes[group], (group, np.arange(len(group))))
    return sparse.csr_array(entries, shape=(len(sizes), len(group)))


def _refuse_negative(losses: FloatArray, values: FloatArray, where: str, rows: IntArray | None) -> None:
    # the lower bounds of `aux`, and with them the proven gap, stand on losses being nonnegative
    wrong = losses < -_NEGATIVE * np.maximum(1.0, np.abs(values))
    if wrong.any():
        at = first_row(wrong)
        reason = (
            f"the observed decision beats the forward solver's optimum by {-losses[at]:.3g}; "
            "either the decision is infeasible or the solver's answer is wrong"
        )
        raise SolverError(where, reason, None if rows is None else int(rows[at]))


def _epigraphs(slopes: Decisions, *more: FloatArray) -> Any:
    rows = sparse.csr_array(slopes)
    rows.data[np.abs(rows.data) < 1e-14] = 0.0  # an edge all of a group share cancels up to rounding
    rows.eliminate_zeros()
    return beside(rows, *(sparse.csr_array(block) for block in more), diagonal(np.full(rows.shape[0], -1.0)))
