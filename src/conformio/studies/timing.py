"""The timing table: training and prediction, classic and conformal. Cells of this study run alone.

Every duration is the least of several repetitions, after one that is not counted: what the work takes when nothing
else disturbs it.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np

from conformio.calibration import conformity_angles
from conformio.prescription import solve_robust
from conformio.sets import SphericalCap
from conformio.studies.cell_store import Row
from conformio.studies.conditions import ESTIMATORS, Condition
from conformio.studies.engine import Cell
from conformio.studies.pipelines import Split, Trial

__all__ = ["cells", "machine", "seconds_of"]

_LEVEL = 0.9
_REPETITIONS = 3


def cells(n_seeds: int, n_people: int = 1000) -> list[Cell]:
    """One cell for each problem, estimator and seed."""
    chosen = [
        Condition(problem, estimator, domain)  # type: ignore[arg-type]
        for problem, domain in (("shortest path", "nonnegative"), ("knapsack", "free"))
        for estimator in ESTIMATORS
    ]
    return [
        Cell(seconds_of, {**condition.as_settings(), "seed": seed, "n_people": n_people}, seconds=0.5, alone=True)
        for condition in chosen
        for seed in range(n_seeds)
    ]


def seconds_of(seed: int, n_people: int, **condition: Any) -> list[Row]:
    """Seconds to train both pipelines and to decide one row, nominal and robust, alone and within the batch."""
    chosen = Condition(**condition)
    trial = Trial(chosen, Split.paper(n_people), seed)
    problem, contexts = trial.problem, trial.test.contexts
    theta, angle = trial.conformal_theta, trial.angle(_LEVEL)
    cap = SphericalCap(theta, angle, problem.domain)

    def train_conformal() -> None:
        fresh = trial.estimate(trial.training)
        conformity_angles(problem, fresh, trial.calibration.contexts, trial.calibration.decisions)

    few = contexts[:20]
    measured: Row = {
        "seed": seed,
        "train_classic": _least(lambda: trial.estimate(trial.known)),
        "train_conformal": _least(train_conformal),
        "nominal_batch": _least(lambda: problem.solve(theta, contexts)) / len(contexts),
        "robust_batch": _least(lambda: solve_robust(problem, cap, contexts)) / len(contexts),
        "nominal_single": _least(lambda: [problem.solve(theta, row[None]) for row in few]) / len(few),
        "robust_single": _least(lambda: [solve_robust(problem, cap, row[None]) for row in few]) / len(few),
        "angle_degrees": float(np.degrees(angle)),
    }
    return [{**chosen.labels(), **measured, **machine()}]


def machine() -> Row:
    """What the seconds were measured on."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "conformio": version("conformio"),
        "load_average": load,
    }


def _least(work: Callable[[], object]) -> float:
    work()
    found = []
    for _ in range(_REPETITIONS):
        start = perf_counter()
        work()
        found.append(perf_counter() - start)
    return min(found)
