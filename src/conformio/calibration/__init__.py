"""Conformity angles and the calibrated angle."""

from conformio.calibration.angles import conformity_angles
from conformio.calibration.level import QuantileAngle, quantile_angle
from conformio.calibration.quantile import calibrated_angle
from conformio.calibration.rationalize import nearest_rationalizable

__all__ = ["QuantileAngle", "calibrated_angle", "conformity_angles", "nearest_rationalizable", "quantile_angle"]
