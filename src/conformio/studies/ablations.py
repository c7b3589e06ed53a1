"""Where the gain comes from: less training data, the rule for ties at angle 0, or the set; and two ways to its angle.

The steps lead from the classic pipeline to the conformal one, one change at a time. The rival chooses the angle by
cross-validated adherence instead of a coverage level: it needs no calibration set, estimates on all known decisions,
and certifies nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conformio import metrics
from conformio.checks import FloatArray, IntArray
from conformio.prescription import solve_robust
from conformio.sets import SphericalCap
from conformio.studies.cell_store import Row
from conformio.studies.conditions import ESTIMATORS, Condition
from conformio.studies.engine import Cell
from conformio.studies.pipelines import Split, Trial

__all__ = ["ANGLES_DEGREES", "CROSS_VALIDATED", "LEVELS", "STEPS", "cells", "parts_of_the_gain"]

STEPS = (
    "classic, ties uniform",
    "less training data, ties uniform",
    "less training data, alpha -> 0+",
    "conformal",
)
CROSS_VALIDATED = "angle by cross-validated adherence"
LEVELS = (0.5, 0.9)
ANGLES_DEGREES = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 14.0, 20.0, 30.0)
_FOLDS = 4
_COPIES = 10


def cells(n_seeds: int, n_people: int = 1000) -> list[Cell]:
    """One cell for each problem, estimator and seed."""
    chosen = [("shortest path", "nonnegative"), ("knapsack", "free")]
    conditions = [Condition(problem, estimator, domain) for problem, domain in chosen for estimator in ESTIMATORS]  # type: ignore[arg-type]
    return [
        Cell(parts_of_the_gain, {**condition.as_settings(), "seed": seed, "n_people": n_people}, seconds=0.4)
        for condition in conditions
        for seed in range(n_seeds)
    ]


def parts_of_the_gain(seed: int, n_people: int, **condition: Any) -> list[Row]:
    """Gaps after each step, and those of the cross-validated angle."""
    chosen = Condition(**condition)
    trial = Trial(chosen, Split.paper(n_people), seed)
    classic, conformal = trial.classic_theta, trial.conformal_theta
    found: list[tuple[str, float | None, float, Any]] = [
        (STEPS[0], None, 0.0, trial.nominal(classic, "uniform", _COPIES)),
        (STEPS[1], None, 0.0, trial.nominal(conformal, "uniform", _COPIES)),
        (STEPS[2], None, 0.0, trial.robust(0.0)),
        *((STEPS[3], level, trial.angle(level), trial.robust(trial.angle(level))) for level in LEVELS),
        ("classic estimate, alpha -> 0+", None, 0.0, trial.robust(0.0, classic)),
    ]
    angle = cross_validated_angle(trial)
    found.append((CROSS_VALIDATED, None, angle, trial.robust(angle, classic)))
    labels = chosen.labels()
    return [
        {
            **{**labels, "seed": seed, "step": step, "level": level, "angle_degrees": float(np.degrees(a))},
            **trial.gaps(x),
            **_certified(trial, level),
        }
        for step, level, a, x in found
    ]


def _certified(trial: Trial, level: float | None) -> Row:
    """Coverage, and what it is not: the share of decision makers whose own parameters are in the cap."""
    if level is None:
        return {"coverage": None, "theta_inside": None}
    angle = trial.angle(level)
    cap = SphericalCap(trial.conformal_theta, angle, trial.problem.domain)
    inside = float(cap.contains(trial.test.thetas).mean())
    return {"coverage": metrics.coverage(trial.test_angles, angle), "theta_inside": inside}


def cross_validated_angle(trial: Trial) -> float:
    """The angle (radians) of `ANGLES_DEGREES` with the best mean adherence over folds of the known decisions.

    Of equally good angles the smallest.
    """
    n = len(trial.known.contexts)
    fold_of = np.random.default_rng([trial.seed, 4]).permutation(n) % _FOLDS
    scores = np.zeros(len(ANGLES_DEGREES))
    for fold in range(_FOLDS):
        left_out = np.flatnonzero(fold_of == fold)
        theta = trial.estimate(trial.part(np.flatnonzero(fold_of != fold)))
        scores += [_adherence(trial, theta, np.radians(degrees), left_out) for degrees in ANGLES_DEGREES]
    return float(np.radians(ANGLES_DEGREES[int(scores.argmax())]))


def _adherence(trial: Trial, theta: FloatArray, angle: float, rows: IntArray) -> float:
    part = trial.part(rows)
    cap = SphericalCap(theta, angle, trial.problem.domain)
    decisions = solve_robust(trial.problem, cap, part.contexts).decisions
    return float(metrics.adherence(decisions, part.decisions).mean())
