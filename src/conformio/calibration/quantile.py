"""From conformity angles to one calibrated angle: the `tau`-th smallest, `tau = ceil(level (N + 1))` (Theorem 1)."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from conformio.checks import FloatArray, as_vector, first_row
from conformio.errors import CalibrationWarning, invalid
from conformio.ranks import ConfidenceLevel, calibration_rank, exact_level

__all__ = ["calibrated_angle", "check_angles", "quantile_of_rank"]


def calibrated_angle(angles: ArrayLike, confidence_level: ConfidenceLevel) -> float:
    """The angle whose cap meets the next decision's inverse-feasible set with probability `confidence_level`.

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
    values = check_angles(angles, where)
    return quantile_of_rank(values, calibration_rank(len(values), confidence_level, where), confidence_level)


def quantile_of_rank(values: FloatArray, rank: int, confidence_level: ConfidenceLevel) -> float:
    """The `rank`-th smallest of the values; 0 for rank 0, pi and a warning for a rank beyond them."""
    if rank == 0:
        return 0.0
    if rank > len(values):
        _warn_too_few(len(values), exact_level(confidence_level, "calibrated_angle"))
        return float(np.pi)
    return float(np.partition(values, rank - 1)[rank - 1])


def check_angles(angles: ArrayLike, where: str) -> FloatArray:
    """A nonempty vector of angles in [0, pi]."""
    values = as_vector(angles, "angles", where)
    if not len(values):
        raise invalid("angles", where, "must hold at least one angle", "none", remedy="Calibrate on some decisions")
    wrong = (values < 0.0) | (values > np.pi)
    if wrong.any():
        remedy = "numpy.radians turns degrees into radians"
        raise invalid(
            "angles", where, "must be radians in [0, pi]", values[wrong][0], row=first_row(wrong), remedy=remedy
        )
    return values


def _warn_too_few(n: int, level: Fraction) -> None:
    if level == 1:
        remedy = "no finite calibration set certifies level 1; choose a level below 1"
    else:
        needed = -(-level // (1 - level))
        remedy = f"calibrate on at least {needed} decisions or lower the level"
    message = f"{n} calibration decisions cannot certify level {float(level)}: the angle is pi (everything); {remedy}"
    warnings.warn(message, CalibrationWarning, stacklevel=4)
