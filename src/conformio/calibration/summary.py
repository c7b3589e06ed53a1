"""What a pipeline keeps of its calibration: fitted attributes by name, from all angles or from one level's angle.

`None` stands for what the other way of calibrating leaves behind and this one does not have.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conformio.calibration.level import QuantileAngle
from conformio.calibration.quantile import calibrated_angle
from conformio.checks import FloatArray
from conformio.errors import CalibrationWarning, warn_caller
from conformio.ranks import ConfidenceLevel

__all__ = ["summary_of_level", "summary_of_scores"]


def summary_of_scores(scores: FloatArray, confidence_level: ConfidenceLevel) -> dict[str, Any]:
    """From the angles of all calibration decisions."""
    angle, n_unexplained = calibrated_angle(scores, confidence_level), int((scores == np.pi).sum())
    _warn_of_everything(angle, n_unexplained, len(scores))
    return {
        "scores_": scores,
        "calibrated_level_": None,
        "n_calibration_": len(scores),
        "n_unexplained_": n_unexplained,
        "angle_": angle,
        "tie_mass_": float((scores == angle).mean()),
    }


def summary_of_level(found: QuantileAngle, confidence_level: ConfidenceLevel) -> dict[str, Any]:
    """From the angle of one level alone."""
    _warn_of_everything(found.angle, found.n_unexplained, found.n)
    return {
        "scores_": None,
        "calibrated_level_": confidence_level,
        "n_calibration_": found.n,
        "n_unexplained_": found.n_unexplained,
        "angle_": found.angle,
        "tie_mass_": found.n_tied / found.n,
    }


def _warn_of_everything(angle: float, n_unexplained: int, n: int) -> None:
    if angle == np.pi and n_unexplained:
        message = (
            f"{n_unexplained} of {n} calibration decisions are explained by no parameters within 90 degrees of the "
            "estimate, so the calibrated set is everything; check that the problem is the one they solved, or move "
            "them with `nearest_rationalizable`"
        )
        warn_caller(message, CalibrationWarning)
