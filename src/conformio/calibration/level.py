"""The calibrated angle of one level, without working out every conformity angle.

Only the rank of a row matters unless it is at the quantile. A sample of rows, worked out exactly, gives an interval
around the quantile; every other trip is worked out just until its bounds place it below or above, mostly after a
glance at its origin's tree. Rows inside the interval are exact, so the angle is the very number that all
angles would give. Should the interval miss the rank, the rows on the side it fell to are worked out as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conformio._kernels.path_cones import ABOVE, BELOW, EXACT, UNDONE
from conformio.calibration.angles import measure_all
from conformio.calibration.batches import Batch
from conformio.calibration.potentials import place_paths
from conformio.calibration.quantile import quantile_of_rank
from conformio.checks import FloatArray, IntArray, as_angles, check_some_rows
from conformio.problems import Problem, ShortestPath
from conformio.problems.cones import PathCones
from conformio.ranks import ConfidenceLevel, calibration_rank

__all__ = ["QuantileAngle", "quantile_angle"]

_SPREAD = 4.0
_MARGIN = 1e-5


@dataclass(frozen=True)
class QuantileAngle:
    """One calibrated angle, and what was learnt on the way.

    Attributes
    ----------
    angle : float
        Radians.
    rank : int
        `ceil(level (n + 1))`; 0 stands for the angle 0, `n + 1` for pi.
    n : int
        Rows.
    n_zero, n_unexplained, n_tied : int
        Rows whose angle is exactly 0, pi, and `angle`.
    n_exact : int
        Rows that were worked out to the end.
    """

    angle: float
    rank: int
    n: int
    n_zero: int
    n_unexplained: int
    n_tied: int
    n_exact: int


def quantile_angle(
    problem: Problem,
    theta: ArrayLike,
    contexts: ArrayLike,
    decisions: Any,
    confidence_level: ConfidenceLevel,
    infeasible: str = "error",
    n_jobs: int | None = None,
) -> QuantileAngle:
    """`calibrated_angle(conformity_angles(...), confidence_level)`, the same bit for bit, in less time.

    Parameters
    ----------
    problem : Problem
        Shortest paths are placed by bounds; for other problems all angles are worked out.
    theta : array-like, shape (n_params,) or (N, n_params)
        Centre, any length; one per row if it depends on the context.
    contexts : array-like, shape (N, context_width)
    decisions : array-like or sparse, shape (N, n_vars)
    confidence_level : float, int, Decimal or Fraction
        In [0, 1], read as the decimal that was written.
    infeasible : {"error", "unexplained"}
        What to do with decisions outside `X(u)`: name the rows, or give them the angle pi and keep them.
    n_jobs : int, optional
        Threads; None is one, -1 all. The result does not depend on it.

    Returns
    -------
    QuantileAngle

    Warns
    -----
    CalibrationWarning
        When there are too few rows for the level and the angle is pi.

    Raises
    ------
    InvalidInputError
        For arguments out of range, and for infeasible decisions unless `infeasible="unexplained"`.

    Examples
    --------
    >>> import conformio as cio
    >>> problem = cio.ShortestPath(cio.Network([0, 0], [1, 1]))
    >>> contexts, decisions = [[0, 1]] * 4, [[1, 0], [1, 0], [0, 1], [1, 0]]
    >>> found = cio.quantile_angle(problem, [1.0, 1.5], contexts, decisions, 0.8)
    >>> found.rank, found.n_zero, round(found.angle, 4)
    (4, 3, 0.1974)
    """
    where = "quantile_angle"
    batch = Batch.checked(problem, theta, contexts, decisions, infeasible, n_jobs, where)
    check_some_rows(batch.contexts, where, "Calibrate on some decisions")
    n = len(batch.contexts)
    rank = calibration_rank(n, confidence_level, where)
    search = _Search(batch)
    if isinstance(batch.problem, ShortestPath):
        search.narrow_down(rank)
    else:
        search.angles[:] = measure_all(batch)
        search.status[:] = EXACT
    angle = search.angle_at(rank) if 0 < rank <= n else quantile_of_rank(np.full(n, np.pi), rank, confidence_level)
    exact = search.angles[search.status == EXACT]
    return QuantileAngle(
        angle,
        rank,
        n,
        n_zero=int((exact == 0.0).sum()),
        n_unexplained=int((exact == np.pi).sum()),
        n_tied=int((exact == angle).sum()),
        n_exact=int((search.status[batch.feasible] == EXACT).sum()),
    )


class _Search:
    """Angles known so far: exact, or placed below or above an interval."""

    def __init__(self, batch: Batch):
        n = len(batch.contexts)
        self.batch = batch
        self.angles = np.full(n, np.pi)
        self.status = np.full(n, EXACT, dtype=np.int8)  # infeasible rows are exactly pi

    def narrow_down(self, rank: int) -> None:
        """Work out what the angle of this rank depends on."""
        rows = self.batch.feasible
        self.status[rows] = UNDONE
        sample = rows[np.unique(np.linspace(0, len(rows) - 1, _sample_size(len(rows))).astype(np.int64))]
        self._place(sample, 0.0, np.pi)
        low, high = _interval(np.sort(self.angles[sample]), rank, len(rows))
        self._place(rows[self.status[rows] == UNDONE], low, high)
        while 0 < rank <= len(self.angles) and (side := self._missing(rank, low, high)):
            self._place(np.flatnonzero(self.status == side), 0.0, np.pi)

    def angle_at(self, rank: int) -> float:
        """The `rank`-th smallest angle."""
        exact = as_angles(self.angles[self.status == EXACT], "angles", "quantile_angle")
        at = rank - 1 - int((self.status == BELOW).sum())
        return float(np.partition(exact, at)[at])

    def _missing(self, rank: int, low: float, high: float) -> int:
        """The side whose rows may hold the angle of this rank; 0 when it is known."""
        below, above = (int((self.status == side).sum()) for side in (BELOW, ABOVE))
        if rank <= below:
            return BELOW
        if rank > len(self.angles) - above:
            return ABOVE
        angle = self.angle_at(rank)
        if below and angle < low:
            return BELOW
        return ABOVE if above and angle > high else 0

    def _place(self, rows: IntArray, low: float, high: float) -> None:
        """Angles of `rows`, but for those surely below `low` or above `high`."""

        def measure(batch: Batch, block: IntArray) -> tuple[np.ndarray, FloatArray]:
            cones = batch.cones(block)
            assert isinstance(cones, PathCones)
            status, projections = place_paths(cones, batch.centers_of(block), _nearer(low), _farther(high))
            settled = np.flatnonzero(status == EXACT)
            angles = np.full(len(block), np.nan)
            angles[settled] = batch.angles_of(projections, block, settled)
            return status, angles

        for block, (status, angles) in self.batch.map(measure, rows):
            self.status[block], self.angles[block] = status, angles


def _sample_size(n: int) -> int:
    """Large enough for a narrow interval, small beside n: both parts of the work grow as n^(2/3)."""
    return min(n, max(256, int(2.0 * n ** (2.0 / 3.0))))


def _interval(sample: FloatArray, rank: int, n: int) -> tuple[float, float]:
    """Angles that the `rank`-th smallest of n rows lies between, most probably, judged by some of the rows."""
    if rank > n or not len(sample):
        return np.pi, np.pi
    share = rank / n
    at = share * len(sample)
    slack = _SPREAD * np.sqrt(len(sample) * share * (1.0 - share)) + 2.0
    first, last = int(np.floor(at - slack)), int(np.ceil(at + slack))
    low = float(sample[first - 1]) if first >= 1 else 0.0
    high = float(sample[last - 1]) if last <= len(sample) else np.pi
    return low, high


def _nearer(angle: float) -> float:
    """Distance from the unit centre of rows surely below `angle`."""
    return max(float(np.sin(angle)) * (1.0 - _MARGIN) - 1e-11, 0.0) if angle < 0.5 * np.pi else 1.0


def _farther(angle: float) -> float:
    """Distance from the unit centre of rows surely above `angle`."""
    return float(np.sin(angle)) * (1.0 + _MARGIN) + 1e-11 if angle < 0.5 * np.pi else np.inf
