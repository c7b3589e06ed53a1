"""The demonstration: the paper's road grid, the classic pipeline against the conformal one on the same trips.

As in the paper, 60% of the decision makers train, 20% calibrate and 20% test. The classic pipeline trains on
the first two parts and prescribes what is optimal for its point estimate; the conformal one trains on the
first part, calibrates on the second and prescribes what is best for the worst parameters in its set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TypeAlias

import numpy as np

from conformio import metrics
from conformio.checks import Decisions, as_index
from conformio.errors import invalid
from conformio.estimators import PerturbedFenchelYoung
from conformio.model import ConformalIO
from conformio.studies.paper_data import SimulatedDecisions, road_grid_example

__all__ = ["TABLE_LEVELS", "CoveragePoint", "DemoResult", "DemoRow", "Step", "certificate", "run_demo"]

TABLE_LEVELS = (0.5, 0.8, 0.9, 0.95)
_CURVE_LEVELS = tuple(round(0.05 * k, 2) for k in range(1, 20))
_LEAST_PEOPLE = 100
_BAND_MASS = 0.99

Step: TypeAlias = Callable[[str, float], None]


@dataclass(frozen=True)
class DemoRow:
    """One pipeline on the test trips; means over trips, gaps in units of the objective.

    Attributes
    ----------
    method : str
        ``"classic"`` or ``"conformal"``.
    level, coverage, angle_degrees : float or None
        None for the classic pipeline, which has no set.
    aog, pog : float
        Actual and perceived optimality gap.
    adherence : float
        Share of test decisions reproduced exactly.
    seconds : float
        Time to prescribe all test trips.
    """

    method: str
    level: float | None
    coverage: float | None
    angle_degrees: float | None
    aog: float
    pog: float
    adherence: float
    seconds: float


@dataclass(frozen=True)
class CoveragePoint:
    """Coverage of the test decisions, and the interval that holds it with probability 0.99 without ties."""

    level: float
    coverage: float
    low: float
    high: float


@dataclass(frozen=True)
class DemoResult:
    """All that the table and the report show.

    Attributes
    ----------
    n_train, n_calibration, n_test : int
    zero_angle_share : float
        Share of calibration angles that are exactly 0; up to this level coverage may lie far above the level.
    classic_fit_seconds, conformal_fit_seconds : float
        Estimating; estimating and calibrating.
    rows : tuple of DemoRow
        The classic row, then one per level of the table.
    gap_curve : tuple of DemoRow
        Conformal rows over a finer range of levels.
    coverage_curve : tuple of CoveragePoint
    """

    n_train: int
    n_calibration: int
    n_test: int
    zero_angle_share: float
    classic_fit_seconds: float
    conformal_fit_seconds: float
    rows: tuple[DemoRow, ...]
    gap_curve: tuple[DemoRow, ...]
    coverage_curve: tuple[CoveragePoint, ...]


def run_demo(
    n_decision_makers: int = 1000, random_state: int = 0, progress: Step = lambda step, share: None
) -> DemoResult:
    """Generate, fit both pipelines, and measure them.

    Parameters
    ----------
    n_decision_makers : int
        At least 100, so that the highest level of the table has a finite angle.
    random_state : int
        Decides the data, the split and the training.
    progress : callable
        Told the name of each step and the share of the work that is done.

    Raises
    ------
    InvalidInputError
        If there are too few decision makers, or the seed is none.
    """
    where = "demo"
    n_people = as_index(n_decision_makers, "n_decision_makers", where)
    if n_people < _LEAST_PEOPLE:
        rule = f"must be at least {_LEAST_PEOPLE}: a fifth of them calibrates, and level 0.95 needs 19"
        raise invalid("n_decision_makers", where, rule, n_people)
    seed = as_index(random_state, "random_state", where)
    progress("compiling (first run only)", 0.0)
    _Trial(road_grid_example(100, 3, 3, seed), seed).conformal(0.5)
    progress("simulating decision makers", 0.1)
    data = road_grid_example(n_people, random_state=seed)
    progress("fitting both pipelines", 0.2)
    trial = _Trial(data, seed)
    rows, curve = [trial.classic()], []
    for k, level in enumerate(_CURVE_LEVELS):
        progress(f"prescribing at level {level}", 0.5 + 0.5 * k / len(_CURVE_LEVELS))
        curve.append(trial.conformal(level))
    rows += [row for row in curve if row.level in TABLE_LEVELS]
    progress("done", 1.0)
    return trial.result(rows, curve)


def certificate(result: DemoResult, level: float = 0.9) -> str:
    """What the set certifies, and what it does not, in two sentences."""
    return (
        f"With probability at least {level:.0%}, over the draw of the {result.n_calibration} calibration "
        "decisions and of the next decision, the calibrated set meets the set of parameters that make the "
        "next decision optimal. It does not promise to contain the next decision maker's own parameters."
    )


class _Trial:
    """Both pipelines fitted on one data set, and the test trips to measure them on."""

    def __init__(self, data: SimulatedDecisions, seed: int):
        self.data = data
        known = round(0.8 * len(data))
        self.test = slice(known, len(data))
        contexts, decisions = data.contexts[:known], data.decisions[:known]
        start = perf_counter()
        estimator = PerturbedFenchelYoung(random_state=seed).fit(data.problem, contexts, decisions)
        self.theta = np.asarray(estimator.theta_)
        self.classic_seconds = perf_counter() - start
        start = perf_counter()
        self.model = ConformalIO(data.problem, PerturbedFenchelYoung(), random_state=seed).fit(contexts, decisions)
        self.conformal_seconds = perf_counter() - start
        self.test_angles = self.model.angles(data.contexts[self.test], data.decisions[self.test])

    def classic(self) -> DemoRow:
        trips = self.data.contexts[self.test]
        start = perf_counter()
        routes = self.data.problem.solve(self.theta, trips)
        return self._measured("classic", None, routes, perf_counter() - start)

    def conformal(self, level: float) -> DemoRow:
        trips = self.data.contexts[self.test]
        start = perf_counter()
        routes = self.model.predict(trips, level)
        return self._measured("conformal", level, routes, perf_counter() - start)

    def result(self, rows: list[DemoRow], curve: list[DemoRow]) -> DemoResult:
        n_calibration = self.model.n_calibration_
        return DemoResult(
            n_train=self.test.start - n_calibration,
            n_calibration=n_calibration,
            n_test=len(self.test_angles),
            zero_angle_share=float((self.model.scores_ == 0.0).mean()),
            classic_fit_seconds=self.classic_seconds,
            conformal_fit_seconds=self.conformal_seconds,
            rows=tuple(rows),
            gap_curve=tuple(curve),
            coverage_curve=tuple(self._coverage(level) for level in _CURVE_LEVELS),
        )

    def _measured(self, method: str, level: float | None, routes: Decisions, seconds: float) -> DemoRow:
        problem, trips = self.data.problem, self.data.contexts[self.test]
        own, observed = self.data.thetas[self.test], self.data.decisions[self.test]
        angle = None if level is None else self.model.angle(level)
        return DemoRow(
            method=method,
            level=level,
            coverage=None if angle is None else metrics.coverage(self.test_angles, angle),
            angle_degrees=None if angle is None else float(np.degrees(angle)),
            aog=metrics.actual_optimality_gap(problem, self.data.theta_true, trips, routes),
            pog=metrics.perceived_optimality_gap(problem, own, trips, routes),
            adherence=float(metrics.adherence(routes, observed).mean()),
            seconds=seconds,
        )

    def _coverage(self, level: float) -> CoveragePoint:
        n_calibration, n_test = self.model.n_calibration_, len(self.test_angles)
        low, high = metrics.coverage_interval(n_calibration, level, n_test, mass=_BAND_MASS)
        return CoveragePoint(level, metrics.coverage(self.test_angles, self.model.angle(level)), low, high)
