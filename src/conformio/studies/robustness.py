"""The value of robustness: gaps of the classic and of the conformal pipeline on the same people.

The classic pipeline trains on the training and calibration part together and breaks ties uniformly at random; each
test row is drawn several times to take the noise of ties out of the mean. Its decisions under the other tie rules,
and the relaxed robust flows, are measured beside it for the sensitivity study.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conformio.studies.cell_store import Row
from conformio.studies.conditions import Condition, base_conditions
from conformio.studies.engine import Cell
from conformio.studies.pipelines import TIE_RULES, Split, Trial, finite_levels

__all__ = ["LEVELS", "RELAXED_LEVELS", "cells", "cells_of", "gaps_of"]

LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
RELAXED_LEVELS = (0.5, 0.9)
_COPIES = 10


def cells(n_seeds: int, n_people: int = 1000) -> list[Cell]:
    """One cell for each base condition and seed."""
    return cells_of(base_conditions(), n_seeds, n_people)


def cells_of(conditions: list[Condition], n_seeds: int, n_people: int) -> list[Cell]:
    """One cell for each of some conditions and seed."""
    return [
        Cell(gaps_of, {**condition.as_settings(), "seed": seed, "n_people": n_people}, seconds=_seconds(condition))
        for condition in conditions
        for seed in range(n_seeds)
    ]


def _seconds(condition: Condition) -> float:
    if condition.domain == "nonnegative" or condition.problem == "knapsack":
        return 1.2
    return 4.0 if condition.estimator == "sub-optimality" else 7.0


def gaps_of(seed: int, n_people: int, **condition: Any) -> list[Row]:
    """Gaps of the classic pipeline by tie rule, of the conformal one by level, of relaxed flows at two levels."""
    chosen = Condition(**condition)
    trial = Trial(chosen, Split.paper(n_people), seed)
    shared: Row = {
        **chosen.labels(),
        "seed": seed,
        "zero_share": float((trial.test_angles == 0.0).mean()),
        "negative_params": int((trial.conformal_theta < 0.0).sum()),
    }
    rows: list[Row] = []
    for rule in TIE_RULES:
        decisions = trial.nominal(trial.classic_theta, rule, _COPIES if rule == "uniform" else 1)
        found: Row = {"policy": "classic", "ties": rule, "level": None, "angle_degrees": None}
        rows.append({**shared, **found, **trial.gaps(decisions), "cycle_share": trial.cycle_share(decisions)})
    levels = finite_levels(LEVELS, trial.split.calibration)
    for level in levels:
        decisions = trial.robust(trial.angle(level))
        rows.append(
            {**shared, **_at(trial, level), **trial.gaps(decisions), "cycle_share": trial.cycle_share(decisions)}
        )
    if chosen.problem == "shortest path":
        for level in (level for level in RELAXED_LEVELS if level in levels):
            gaps = trial.relaxed_gaps(trial.robust(trial.angle(level), relaxed=True))
            row = {**shared, **_at(trial, level), "policy": "conformal, relaxed", **gaps}
            rows.append({**row, "adherence": None, "cycle_share": None})
    return rows


def _at(trial: Trial, level: float) -> Row:
    degrees = float(np.degrees(trial.angle(level)))
    return {"policy": "conformal", "ties": None, "level": level, "angle_degrees": degrees}
