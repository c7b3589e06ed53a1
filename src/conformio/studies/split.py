"""The split figure: how many decisions to learn from, and which share of them calibrates."""

from __future__ import annotations

from typing import Any

from conformio.studies.cell_store import Row
from conformio.studies.conditions import ESTIMATORS, Condition
from conformio.studies.engine import Cell
from conformio.studies.pipelines import Split, Trial, gain

__all__ = ["LEVELS", "SHARES", "TOTALS", "cells", "gaps_by_share"]

TOTALS = (160, 320, 480, 640, 800)
SHARES = (0.2, 0.4, 0.6, 0.8)
LEVELS = (0.5, 0.9)
_COPIES = 10


def cells(n_seeds: int, totals: tuple[int, ...] = TOTALS, n_test: int = 200) -> list[Cell]:
    """One cell for each estimator, total and seed; the paper shows shortest paths only."""
    settings = {"problem": "shortest path", "domain": "nonnegative", "n_test": n_test, "n_people": max(totals) + n_test}
    return [
        Cell(gaps_by_share, {**settings, "estimator": name, "total": total, "seed": seed}, seconds=0.2)
        for name in ESTIMATORS
        for total in totals
        for seed in range(n_seeds)
    ]


def gaps_by_share(seed: int, total: int, n_test: int, n_people: int, **condition: Any) -> list[Row]:
    """Gaps of the classic pipeline on all known decisions, and of the conformal one for each share and level."""
    chosen = Condition(**condition)
    rows: list[Row] = []
    classic: dict[str, float] = {}
    for share in SHARES:
        n_calibration = round(share * total)
        trial = Trial(chosen, Split(total - n_calibration, n_calibration, n_test), seed, n_people)
        if not classic:
            classic = trial.gaps(trial.nominal(trial.classic_theta, "uniform", _COPIES))
        for level in LEVELS:
            conformal = trial.gaps(trial.robust(trial.angle(level)))
            measured: Row = {
                "seed": seed,
                "total": total,
                "share": share,
                "level": level,
                "classic_aog": classic["aog"],
                "classic_pog": classic["pog"],
                "aog": conformal["aog"],
                "pog": conformal["pog"],
                "aog_gain": gain(conformal["aog"], classic["aog"]),
                "pog_gain": gain(conformal["pog"], classic["pog"]),
            }
            rows.append({**chosen.labels(), **measured})
    return rows
