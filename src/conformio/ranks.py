"""The rank of the calibrated angle in exact arithmetic: `tau = ceil(level (N + 1))` (paper, section 3.1).

Floats get this wrong: `0.55 * 100` is `55.00000000000001`, whose ceiling is 56, and `(1 - 0.9) * 10` falls
short of 1, which costs a rank on 9 scores. The level is therefore read as the decimal that was written.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from conformio.checks import FloatArray, as_index
from conformio.errors import invalid

__all__ = ["ConfidenceLevel", "angle_of_rank", "calibration_rank", "exact_level"]

_SMALLEST = 1e-300

ConfidenceLevel: TypeAlias = float | Decimal | Fraction


def exact_level(confidence_level: ConfidenceLevel, where: str) -> Fraction:
    """The confidence level as the fraction its shortest decimal stands for, e.g. 0.55 as 11/20.

    Parameters
    ----------
    confidence_level : float, int, Decimal or Fraction
        In [0, 1].
    where : str
        Named in the error.

    Raises
    ------
    InvalidInputError
        If the level is no number or outside [0, 1].

    Examples
    --------
    >>> exact_level(0.55, "example")
    Fraction(11, 20)
    """
    rule = "must be a number in [0, 1]"
    if isinstance(confidence_level, bool):
        raise invalid("confidence_level", where, rule, confidence_level)
    if isinstance(confidence_level, (int, np.integer, Fraction)):
        level = Fraction(confidence_level)
    elif isinstance(confidence_level, (float, np.floating, Decimal)):
        if not math.isfinite(confidence_level):
            raise invalid("confidence_level", where, rule, confidence_level)
        if confidence_level != 0 and abs(float(confidence_level)) < _SMALLEST:  # too many digits to write out
            raise invalid("confidence_level", where, "must be 0 or at least 1e-300", confidence_level)
        level = Fraction(str(confidence_level))  # the shortest decimal, also of a float32
    else:
        raise invalid("confidence_level", where, rule, repr(confidence_level), remedy="Write it as a number, e.g. 0.9")
    if not 0 <= level <= 1:
        remedy = f"Write {float(level / 100):g} for {float(level):g} percent" if 2 <= level <= 100 else ""
        raise invalid("confidence_level", where, rule, confidence_level, remedy=remedy)
    return level


def calibration_rank(n_calibration: int, confidence_level: ConfidenceLevel, where: str) -> int:
    """The rank `ceil(level (n_calibration + 1))` of the calibrated angle among the sorted calibration angles.

    Rank 0 stands for the angle 0; a rank above `n_calibration` stands for the angle pi.

    Parameters
    ----------
    n_calibration : int
        Number of calibration angles, at least 0.
    confidence_level : float, int, Decimal or Fraction
        In [0, 1].
    where : str
        Named in the error.

    Raises
    ------
    InvalidInputError
        If either argument is out of range.

    Examples
    --------
    >>> calibration_rank(99, 0.55, "example")
    55
    >>> calibration_rank(9, 0.9, "example")
    9
    """
    n = as_index(n_calibration, "n_calibration", where)
    return math.ceil(exact_level(confidence_level, where) * (n + 1))


def angle_of_rank(angles: FloatArray, rank: int) -> float:
    """The `rank`-th smallest of the angles; 0 for rank 0, and pi for a rank beyond them.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([0.3, 0.1, 0.2])
    >>> angle_of_rank(scores, 0), angle_of_rank(scores, 2), angle_of_rank(scores, 4)
    (0.0, 0.2, 3.141592653589793)
    """
    if rank == 0:
        return 0.0
    return math.pi if rank > len(angles) else float(np.partition(angles, rank - 1)[rank - 1])
