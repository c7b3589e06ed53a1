"""Which rows train the point estimate and which calibrate it."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformio.checks import IntArray, as_scalar
from conformio.errors import invalid

__all__ = ["check_fraction", "split_rows"]


def check_fraction(calibration_fraction: Any, where: str) -> float:
    """A share strictly between 0 and 1."""
    return as_scalar(calibration_fraction, "calibration_fraction", where, 0.0, 1.0, open_low=True, open_high=True)


def split_rows(
    n_rows: int, calibration_fraction: float, rng: np.random.Generator, where: str
) -> tuple[IntArray, IntArray]:
    """Sorted rows to train on and to calibrate on, at least one of each."""
    n_calibration = max(1, round(calibration_fraction * n_rows))
    if n_rows - n_calibration < 1:
        rule = "must leave at least one row to train on and one to calibrate on"
        got = f"{n_rows} rows with calibration_fraction={calibration_fraction}" if n_rows > 1 else f"{n_rows} in all"
        remedy = "Give more rows" + (" or a smaller calibration_fraction" if n_rows > 1 else "")
        raise invalid("contexts", where, rule, got, remedy=remedy)
    order = rng.permutation(n_rows)
    return np.sort(order[n_calibration:]), np.sort(order[:n_calibration])
