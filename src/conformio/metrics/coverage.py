"""How often the calibrated set meets inverse-feasible sets, and how often it should.

The event is "the cap *meets* the decision's inverse-feasible set", i.e. its conformity angle is at most the
calibrated one; it does not say that the cap contains the decision maker's parameters. Given the calibration
set and angles without ties, the probability of the event is Beta(tau, n + 1 - tau) distributed, `tau =
ceil(level (n + 1))`; the count on fresh rows is therefore beta-binomial (E14 of the corrections to the
paper's validity theorem).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, gammaln

from conformio.checks import FloatArray, as_angle, as_angles, as_index, as_scalar
from conformio.ranks import ConfidenceLevel, calibration_rank

__all__ = ["coverage", "coverage_interval"]


def coverage(angles: ArrayLike, angle: float) -> float:
    """The share of angles that are at most `angle`, compared exactly (no tolerance).

    Parameters
    ----------
    angles : array-like, shape (N,)
        Conformity angles of decisions that were not used to calibrate, radians.
    angle : float
        Calibrated angle, radians.

    Raises
    ------
    InvalidInputError
        If there are no angles or one of them leaves [0, pi].

    Examples
    --------
    >>> from conformio.metrics import coverage
    >>> coverage([0.0, 0.1, 0.2, 0.3], 0.2)
    0.75
    """
    where = "metrics.coverage"
    values = as_angles(angles, "angles", where)
    return float((values <= as_angle(angle, "angle", where)).mean())


def coverage_interval(
    n_calibration: int, confidence_level: ConfidenceLevel, n_test: int, mass: float = 0.99
) -> tuple[float, float]:
    """The central interval that holds the coverage seen on `n_test` rows with probability at least `mass`.

    Exact for exchangeable rows whose angles have no ties: the number of covered rows is beta-binomial with
    parameters `n_test, tau, n_calibration + 1 - tau`. With ties coverage can only be larger.

    Parameters
    ----------
    n_calibration : int
        Size of the calibration set.
    confidence_level : float, Decimal or Fraction
        In [0, 1], read as the decimal that was written.
    n_test : int
        Rows on which coverage is observed, at least 1.
    mass : float
        In (0, 1].

    Returns
    -------
    low, high : float
        Shares of the test rows; each tail outside has probability at most `(1 - mass) / 2`. `(1, 1)` when the
        calibration set is too small for the level (the angle is pi), `(0, 0)` at level 0 (the angle is 0).

    Raises
    ------
    InvalidInputError
        If an argument is out of range.

    Examples
    --------
    >>> from conformio.metrics import coverage_interval
    >>> coverage_interval(200, 0.9, 1000)
    (0.833, 0.951)
    >>> coverage_interval(5, 0.9, 1000)
    (1.0, 1.0)
    """
    where = "metrics.coverage_interval"
    rank = calibration_rank(n_calibration, confidence_level, where)
    n_test = as_index(n_test, "n_test", where, low=1)
    tail = (1.0 - as_scalar(mass, "mass", where, 0.0, 1.0, open_low=True)) / 2.0
    if rank == 0:
        return 0.0, 0.0
    if rank > n_calibration:
        return 1.0, 1.0
    chances = _beta_binomial(n_test, rank, n_calibration + 1 - rank)
    low = int(np.searchsorted(np.cumsum(chances), tail))
    high = n_test - int(np.searchsorted(np.cumsum(chances[::-1]), tail))
    return low / n_test, high / n_test


def _beta_binomial(n: int, a: int, b: int) -> FloatArray:
    k = np.arange(n + 1)
    log_choose = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    chances: Any = np.exp(log_choose + betaln(k + a, n - k + b) - betaln(a, b))
    return np.asarray(chances, dtype=np.float64)
