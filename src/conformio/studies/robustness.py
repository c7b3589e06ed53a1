"""The value of robustness: gaps of the classic and of the conformal pipeline on the same people.

The classic pipeline trains on the training and calibration part together and breaks ties uniformly at random; each
test row is drawn several times to take the noise of ties out of the mean. Its decisions under the other tie rules,
and the relaxed robust flows, are measured beside it for the sensitivity study.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conformio.studies.cell_store import Row
from conformio.studies.conditions import Condition, base_conditions
from conformio.studies.engine import Cell
from conformio.studies.pipelines import TIE_RULES, Split, Trial, finite_levels, gain

__all__ = ["LEVELS", "PAPER_LEVELS", "RELAXED_LEVELS", "cells", "cells_of", "gaps_of", "paper_cells"]

LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
PAPER_LEVELS = (0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
RELAXED_LEVELS = (0.5, 0.9)
_COPIES = 10


def cells(n_seeds: int, n_people: int = 1000) -> list[Cell]:
    """One cell for each base condition and seed."""
    return cells_of(base_conditions(), n_seeds, n_people)


def paper_cells(n_seeds: int = 10, n_people: int = 1000) -> list[Cell]:
    """The paper's whole experiment and nothing beside it: both problems, both estimators, eight levels."""
    chosen = [condition for condition in base_conditions() if _is_quick(condition)]
    return cells_of(chosen, n_seeds, n_people, PAPER_LEVELS, ("uniform",), ())


def cells_of(
    conditions: Sequence[Condition],
    n_seeds: int,
    n_people: int,
    levels: tuple[float, ...] = LEVELS,
    ties: tuple[str, ...] = TIE_RULES,
    relaxed: tuple[float, ...] = RELAXED_LEVELS,
) -> list[Cell]:
    """One cell for each of some conditions and seed."""
    shared = {"n_people": n_people, "levels": list(levels), "ties": list(ties), "relaxed": list(relaxed)}
    return [
        Cell(gaps_of, {**condition.as_settings(), "seed": seed, **shared}, seconds=_seconds(condition))
        for condition in conditions
        for seed in range(n_seeds)
    ]


def _is_quick(condition: Condition) -> bool:
    """All but the flow programs: shortest paths with free signs."""
    return condition.domain == "nonnegative" or condition.problem == "knapsack"


def _seconds(condition: Condition) -> float:
    return 0.5 if _is_quick(condition) else 6.5


def gaps_of(
    seed: int, n_people: int, levels: list[float], ties: list[str], relaxed: list[float], **condition: Any
) -> list[Row]:
    """Gaps of the classic pipeline by tie rule, of the conformal one by level, of relaxed flows at some levels.

    The rule "uniform" is among `ties`: what gains are measured against.
    """
    chosen = Condition(**condition)
    trial = Trial(chosen, Split.paper(n_people), seed)
    shared: Row = {
        **chosen.labels(),
        "seed": seed,
        "zero_share": float((trial.test_angles == 0.0).mean()),
        "negative_params": int((trial.conformal_theta < 0.0).sum()),
    }
    finite = finite_levels(tuple(levels), trial.split.calibration)
    found = [_classic(trial, rule) for rule in ties]
    found += [_conformal(trial, level) for level in finite]
    if chosen.problem == "shortest path":
        found += [_relaxed(trial, level) for level in relaxed if level in finite]
    classic = next(row for row in found if row["ties"] == "uniform")
    return [{**shared, **row, **_gains(row, classic)} for row in found]


def _gains(row: Row, classic: Row) -> Row:
    """By which share the gaps are smaller than the classic ones with ties broken uniformly."""
    return {f"{gap}_gain": gain(row[gap], classic[gap]) for gap in ("aog", "pog")}


def _classic(trial: Trial, rule: str) -> Row:
    decisions = trial.nominal(trial.classic_theta, rule, _COPIES if rule == "uniform" else 1)
    found: Row = {"policy": "classic", "ties": rule, "level": None, "angle_degrees": None}
    uncounted = trial.uncounted_ties if rule == "uniform" else None
    shares: Row = {"cycle_share": trial.cycle_share(decisions), "uncounted_ties": uncounted}
    return {**found, **trial.gaps(decisions), **shares}


def _conformal(trial: Trial, level: float) -> Row:
    decisions = trial.robust(trial.angle(level))
    shares: Row = {"cycle_share": trial.cycle_share(decisions), "uncounted_ties": None}
    return {**_at(trial, "conformal", level), **trial.gaps(decisions), **shares}


def _relaxed(trial: Trial, level: float) -> Row:
    gaps = trial.relaxed_gaps(trial.robust(trial.angle(level), relaxed=True))
    unknown: Row = dict.fromkeys(("adherence", "cycle_share", "uncounted_ties"))
    return {**_at(trial, "conformal, relaxed", level), **gaps, **unknown}


def _at(trial: Trial, policy: str, level: float) -> Row:
    degrees = float(np.degrees(trial.angle(level)))
    return {"policy": policy, "ties": None, "level": level, "angle_degrees": degrees}
