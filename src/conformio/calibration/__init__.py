"""Conformity angles and the calibrated angle."""

from conformio.calibration.angles import conformity_angles
from conformio.calibration.quantile import calibrated_angle
from conformio.calibration.rationalize import nearest_rationalizable

__all__ = ["calibrated_angle", "conformity_angles", "nearest_rationalizable"]
