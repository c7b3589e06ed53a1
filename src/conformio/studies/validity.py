"""The validity figure: coverage of fresh decisions against the level, for calibration sets of 50, 100 and 200.

Beside coverage stand the share of decision makers whose own parameters are in the cap, which nothing certifies,
and the tie mass, which keeps coverage above the level (E6).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conformio import metrics
from conformio.calibration import calibrated_angle
from conformio.sets import SphericalCap
from conformio.studies.cell_store import Row
from conformio.studies.conditions import Condition, base_conditions
from conformio.studies.engine import Cell
from conformio.studies.pipelines import Split, Trial, finite_levels

__all__ = ["CALIBRATION_SIZES", "LEVELS", "cells", "coverage_of"]

CALIBRATION_SIZES = (50, 100, 200)
LEVELS = (*(round(0.05 * k, 2) for k in range(1, 20)), 0.98)


def cells(
    n_seeds: int, n_train: int = 600, n_test: int = 1000, sizes: tuple[int, ...] = CALIBRATION_SIZES
) -> list[Cell]:
    """One cell for each condition and seed."""
    shared = {"n_train": n_train, "n_test": n_test, "sizes": list(sizes)}
    return [
        Cell(coverage_of, {**condition.as_settings(), "seed": seed, **shared}, seconds=_seconds(condition))
        for condition in base_conditions()
        for seed in range(n_seeds)
    ]


def _seconds(condition: Condition) -> float:
    if condition.problem == "knapsack" or condition.domain == "nonnegative":
        return 0.2
    return 5.0 if condition.estimator == "sub-optimality" else 2.5


def coverage_of(seed: int, n_train: int, n_test: int, sizes: list[int], **condition: Any) -> list[Row]:
    """Coverage at every level, for the first few of the same calibration decisions."""
    chosen = Condition(**condition)
    trial = Trial(chosen, Split(n_train, max(sizes), n_test), seed)
    rows: list[Row] = []
    for size in sizes:
        scores = trial.scores[:size]
        for level in finite_levels(LEVELS, size):
            angle = calibrated_angle(scores, level)
            cap = SphericalCap(trial.conformal_theta, angle, trial.problem.domain)
            low, high = metrics.coverage_interval(size, level, n_test)
            covered = metrics.coverage(trial.test_angles, angle)
            measured: Row = {
                "seed": seed,
                "n_calibration": size,
                "n_test": n_test,
                "level": level,
                "angle_degrees": float(np.degrees(angle)),
                "coverage": covered,
                "deviation": abs(covered - level),
                "below_band": int(covered < low),
                "above_band": int(covered > high),
                "band_low": low,
                "band_high": high,
                "tie_mass": float((scores == angle).mean()),
                "zero_share": float((scores == 0.0).mean()),
                "theta_inside": float(cap.contains(trial.test.thetas).mean()),
            }
            rows.append({**chosen.labels(), **measured})
    return rows
