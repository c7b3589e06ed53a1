"""What a page shows, measured: coverage and angles on all decisions, prescriptions on as many as were asked for.

Prescriptions are made for a grid of levels. A level enters the grid only where the calibration set certifies it; the
model's own is always there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from conformio.calibration import calibrated_angle
from conformio.checks import BoolArray, Decisions, FloatArray, IntArray, as_index
from conformio.diagnosis import Diagnosis, Evidence, findings_of
from conformio.errors import told_of
from conformio.metrics import adherence
from conformio.model import ConformalIO
from conformio.observations import Observations
from conformio.ranks import ConfidenceLevel, calibration_rank, exact_level
from conformio.report.curves import CURVE_LEVELS, angle_histogram, coverage_curve
from conformio.report.prescribed import Prescribed, apart, prescribed
from conformio.report.sampling import Sample, spread_rows, stratified

__all__ = ["Baseline", "LevelMeasures", "Measures", "Shares", "measure"]

_WHERE = "report"
_GRID = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.975, 0.99)

Step: TypeAlias = Callable[[str, float], None]


@dataclass(frozen=True, eq=False)
class Baseline:
    """Decisions of another method, for the same rows as the observed ones.

    Attributes
    ----------
    name : str
    decisions : array or CSR, shape (N, n_vars)
    known : bool array, shape (N,)
        Rows that have one; what `decisions` says of the others means nothing.
    """

    name: str
    decisions: Decisions
    known: BoolArray


@dataclass(frozen=True)
class Shares:
    """How much of what people did a method reproduces: exact matches, and overlap of 0/1 decisions."""

    exact: float
    overlap: float | None
    n: int


@dataclass(frozen=True)
class LevelMeasures:
    """One level of the slider.

    Attributes
    ----------
    level, angle, coverage : float
        Angle in radians.
    band : (float, float)
        Holds the coverage with probability 0.99 where no angles are equal.
    kept : Shares
    gap : float or None
        Largest certified gap of a prescription; None where one of them has none.
    extra : float
        Cost of all prescriptions beyond the classic ones, under the estimate and relative to these.
    differs : float
        Share of prescriptions other than the classic one.
    """

    level: float
    angle: float
    coverage: float
    band: tuple[float, float]
    kept: Shares
    gap: float | None
    extra: float
    differs: float


@dataclass(frozen=True, eq=False)
class Measures:
    """All numbers of a page.

    Attributes
    ----------
    model : ConformalIO
    evidence : Evidence
        Checked contexts, decisions and angles of all rows, and what the model knows.
    diagnosis : Diagnosis
    center : array (n_params,)
        The estimate; the mean of the estimates where it depends on the context.
    levels : tuple of LevelMeasures
    own : int
        Which of them is the model's level.
    classic : Shares
    baseline : Baseline or None
    baseline_kept : Shares or None
    n_prescribed : int
        Rows that prescriptions were made for, and all shares of them refer to.
    sample : Sample
        Rows shown one by one.
    shown : tuple of decisions
        The sample's classic decisions, then its robust ones level by level.
    curve, histogram : dict
    """

    model: ConformalIO
    evidence: Evidence
    diagnosis: Diagnosis
    center: FloatArray
    levels: tuple[LevelMeasures, ...]
    own: int
    classic: Shares
    baseline: Baseline | None
    baseline_kept: Shares | None
    n_prescribed: int
    sample: Sample
    shown: tuple[Decisions, ...]
    curve: dict[str, list[float]]
    histogram: dict[str, Any]


def measure(
    model: ConformalIO,
    observed: Observations,
    baseline: Baseline | None = None,
    levels: Sequence[ConfidenceLevel] = (),
    sample: int = 5000,
    shown: int = 2000,
    step: Step = lambda name, share: None,
) -> Measures:
    """Measure a fitted model on decisions, for a page.

    Parameters
    ----------
    model : ConformalIO
    observed : Observations
        What an `ObservationTable` read; should be decisions that neither trained nor calibrated.
    baseline : Baseline, optional
    levels : sequence of confidence levels
        Added to the grid.
    sample : int
        Most rows that prescriptions are made for; more are drawn from at random.
    shown : int
        Most rows shown one by one.
    step : callable
        Told the name of each step and the share of the work that is done.
    """
    sample, shown = as_index(sample, "sample", _WHERE, low=1), as_index(shown, "shown", _WHERE, low=1)
    step("measuring angles", 0.1)
    contexts, decisions = model.problem.check_rows(observed.contexts, observed.decisions, _WHERE)
    for level in levels:
        model.angle(level)  # refuses what is no level, and levels that this model does not know
    angles = model.angles(contexts, decisions)
    evidence = Evidence.of(model, contexts, decisions, angles)
    step("diagnosing", 0.3)
    diagnosis = findings_of(evidence)
    rows = _Rows.drawn(evidence, sample, shown)
    grid = _grid(evidence, levels)
    step("classic prescriptions", 0.4)
    own = grid.index(exact_level(evidence.level, _WHERE))
    with told_of(_WHERE, rows.all):
        classic = prescribed(contexts[rows.all], model.predict_nominal)
        robust = _robust(model, contexts[rows.all], grid, step)
    picked = _sample(rows, evidence, classic, robust[own], shown)
    return Measures(
        model=model,
        evidence=evidence,
        diagnosis=diagnosis,
        center=_center(model, contexts),
        levels=tuple(
            _level(level, one, classic, model, evidence, rows) for level, one in zip(grid, robust, strict=True)
        ),
        own=own,
        classic=_kept(classic, evidence, rows),
        baseline=baseline,
        baseline_kept=None if baseline is None else _baseline_kept(baseline, evidence, rows),
        n_prescribed=int(rows.counted.sum()),
        sample=Sample(rows.all[picked.rows], picked.strata),
        shown=tuple(one.decisions[picked.rows] for one in (classic, *robust)),
        curve=_curve(evidence, grid),
        histogram=angle_histogram(angles, evidence.scores, max(_angle(evidence, level) for level in grid)),
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows that prescriptions are made for: a random part, which counts, and unexplained ones to be shown."""

    all: IntArray
    counted: BoolArray

    @classmethod
    def drawn(cls, evidence: Evidence, sample: int, shown: int) -> _Rows:
        rng = np.random.default_rng(0)
        counted = spread_rows(len(evidence.angles), sample, rng)
        strange = np.setdiff1d(np.flatnonzero(evidence.angles == np.pi), counted)
        strange = strange[spread_rows(len(strange), shown, rng)]
        rows = np.union1d(counted, strange)
        return cls(rows, np.isin(rows, counted))


def _grid(evidence: Evidence, wanted: Sequence[ConfidenceLevel]) -> list[Any]:
    """Levels as fractions, increasing; one alone where only one was calibrated."""
    own = exact_level(evidence.level, _WHERE)
    if evidence.scores is None:
        return [own]
    n = evidence.n_calibration
    certified = [level for level in _GRID if calibration_rank(n, level, _WHERE) <= n]
    return sorted({own, *(exact_level(level, _WHERE) for level in (*certified, *wanted))})


def _angle(evidence: Evidence, level: ConfidenceLevel) -> float:
    """The calibrated angle, without the warning that it is pi."""
    if evidence.scores is None:
        return evidence.angle
    beyond = calibration_rank(evidence.n_calibration, level, _WHERE) > evidence.n_calibration
    return float(np.pi) if beyond else calibrated_angle(evidence.scores, level)


def _curve(evidence: Evidence, grid: list[Any]) -> dict[str, list[float]]:
    levels = grid if evidence.scores is None else sorted({*grid, *(exact_level(k, _WHERE) for k in CURVE_LEVELS)})
    angles = [_angle(evidence, level) for level in levels]
    return coverage_curve(evidence.angles, levels, angles, evidence.n_calibration)


def _robust(model: ConformalIO, contexts: FloatArray, grid: list[Any], step: Step) -> list[Prescribed]:
    found = []
    for k, level in enumerate(grid):
        step(f"prescribing at level {float(level):g}", 0.4 + 0.5 * k / len(grid))
        found.append(prescribed(contexts, lambda block, level=level: model.prescribe(block, level)))  # type: ignore[misc]
    return found


def _sample(rows: _Rows, evidence: Evidence, classic: Prescribed, robust: Prescribed, shown: int) -> Sample:
    kinds = {
        "explained by no parameters near the estimate": evidence.angles[rows.all] == np.pi,
        "robust differs from classic": apart(robust.decisions, classic.decisions),
        "observed differs from classic": apart(evidence.decisions[rows.all], classic.decisions),
        "all three the same": np.ones(len(rows.all), dtype=np.bool_),
    }
    return stratified(kinds, shown, np.random.default_rng(0))


def _level(
    level: ConfidenceLevel, robust: Prescribed, classic: Prescribed, model: ConformalIO, evidence: Evidence, rows: _Rows
) -> LevelMeasures:
    angle = _angle(evidence, level)
    curve = coverage_curve(evidence.angles, [level], [angle], evidence.n_calibration)
    assert robust.gaps is not None
    gap = float(robust.gaps[rows.counted].max())
    return LevelMeasures(
        level=float(level),
        angle=angle,
        coverage=curve["coverage"][0],
        band=(curve["low"][0], curve["high"][0]),
        kept=_kept(robust, evidence, rows),
        gap=gap if np.isfinite(gap) else None,
        extra=_extra(robust, classic, model, evidence.contexts, rows),
        differs=float(apart(robust.decisions, classic.decisions)[rows.counted].mean()),
    )


def _kept(made: Prescribed, evidence: Evidence, rows: _Rows) -> Shares:
    at = rows.all[rows.counted]
    return _shares(made.decisions[rows.counted], evidence.decisions[at], evidence.problem.binary)


def _baseline_kept(baseline: Baseline, evidence: Evidence, rows: _Rows) -> Shares | None:
    """Over the rows that have a baseline; None where none has."""
    at = rows.all[rows.counted]
    at = at[baseline.known[at]]
    if not len(at):
        return None
    return _shares(baseline.decisions[at], evidence.decisions[at], evidence.problem.binary)


def _shares(ours: Decisions, theirs: Decisions, binary: bool) -> Shares:
    exact = adherence(ours, theirs)
    overlap = float(adherence(ours, theirs, "jaccard").mean()) if binary else None
    return Shares(float(exact.mean()), overlap, len(exact))


def _extra(robust: Prescribed, classic: Prescribed, model: ConformalIO, contexts: FloatArray, rows: _Rows) -> float:
    """What all robust decisions cost beyond the classic ones, relative to these."""
    problem, centers = model.problem, model.centers(contexts[rows.all])
    ours = problem.sign * problem.objective(centers, robust.decisions)[rows.counted].sum()
    theirs = problem.sign * problem.objective(centers, classic.decisions)[rows.counted].sum()
    return float((ours - theirs) / abs(theirs)) if theirs else 0.0


def _center(model: ConformalIO, contexts: FloatArray) -> FloatArray:
    return model.centers(contexts) if model.theta_ is not None else model.centers(contexts).mean(axis=0)
