"""From conformity angles to one calibrated angle: the `tau`-th smallest, `tau = ceil(level (N + 1))` (Theorem 1)."""

from __future__ import annotations

from fractions import Fraction

from numpy.typing import ArrayLike

from conformio.checks import FloatArray, as_angles
from conformio.errors import CalibrationWarning, warn_caller
from conformio.ranks import ConfidenceLevel, angle_of_rank, calibration_rank, exact_level

__all__ = ["calibrated_angle", "quantile_of_rank"]


def calibrated_angle(angles: ArrayLike, confidence_level: ConfidenceLevel) -> float:
    """The angle whose cap meets the next decision's inverse-feasible set, with probability >= `confidence_level`.

    Parameters
    ----------
    angles : array-like, shape (N,)
        Conformity angles of calibration decisions, radians in [0, pi].
    confidence_level : float, int, Decimal or Fraction
        In [0, 1], read as the decimal that was written: 0.55 is eleven twentieths, not its binary neighbour.

    Returns
    -------
    float
        The `ceil(level (N + 1))`-th smallest angle; 0 when that rank is 0; pi, with a `CalibrationWarning` that names
        the smallest sufficient N, when the rank exceeds N.

    Raises
    ------
    InvalidInputError
        If `angles` is empty or leaves [0, pi], or the level leaves [0, 1].

    Examples
    --------
    >>> calibrated_angle([0.3, 0.1, 0.2, 0.4], 0.5)
    0.3
    """
    where = "calibrated_angle"
    values = as_angles(angles, "angles", where)
    return quantile_of_rank(values, calibration_rank(len(values), confidence_level, where), confidence_level)


def quantile_of_rank(values: FloatArray, rank: int, confidence_level: ConfidenceLevel) -> float:
    """`angle_of_rank`, with a warning for a rank beyond the values."""
    if rank > len(values):
        _warn_too_few(len(values), exact_level(confidence_level, "calibrated_angle"))
    return angle_of_rank(values, rank)


def _warn_too_few(n: int, level: Fraction) -> None:
    if level == 1:
        remedy = "no finite calibration set certifies level 1; choose a level below 1"
    else:
        needed = -(-level // (1 - level))
        remedy = f"calibrate on at least {needed} decisions or lower the level"
    message = f"{n} calibration decisions cannot certify level {float(level)}: the angle is pi (everything); {remedy}"
    warn_caller(message, CalibrationWarning)
