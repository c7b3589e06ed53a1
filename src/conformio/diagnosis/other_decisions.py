"""What decisions beside the calibration set show: infeasible ones, coverage, and whether they are of one kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformio.checks import dense
from conformio.diagnosis.evidence import Evidence
from conformio.diagnosis.findings import Finding
from conformio.metrics import coverage, coverage_interval

__all__ = ["coverage_finding", "exchangeability_finding", "infeasible_finding"]

_MASS = 0.99
_UNLIKELY = 0.01
_SHOWN = 10
_KNOWN = {
    "fitted": "Not checked: these are the decisions the model was fitted on.",
    "calibrated": "Not checked: these are the decisions the model was calibrated on.",
}
_GIVE_NEW = "Give decisions that neither trained nor calibrated."


def infeasible_finding(evidence: Evidence) -> Finding:
    """Given decisions outside their feasible sets, with the reason of the first."""
    rows, n = np.flatnonzero(~evidence.feasible), len(evidence.contexts)
    numbers: dict[str, Any] = {"n": n, "n_infeasible": len(rows), "first_rows": rows[:_SHOWN].tolist()}
    if not len(rows):
        return Finding("infeasible", "good", f"All {n} decisions are feasible for their contexts.", numbers=numbers)
    first = int(rows[0])
    reason = evidence.problem.why_infeasible(dense(evidence.decisions[[first]])[0], evidence.contexts[first])
    words = f"{len(rows)} of {n} decisions are infeasible for their contexts; row {first}: {reason}."
    remedy = "Correct them, or check the order of the columns and rows; where they are real they count with angle pi."
    return Finding("infeasible", "warning", words, remedy, numbers)


def coverage_finding(evidence: Evidence) -> Finding:
    """Observed coverage against its exact band."""
    if evidence.role != "new":
        return Finding("coverage", "notice", _KNOWN[evidence.role], _GIVE_NEW, {"coverage": None})
    n, level = len(evidence.angles), float(evidence.level)
    seen = coverage(evidence.angles, evidence.angle)
    low, high = coverage_interval(evidence.n_calibration, evidence.level, n, _MASS)
    numbers = {"coverage": seen, "n": n, "level": level, "band_low": low, "band_high": high, "band_mass": _MASS}
    words = (
        f"The set meets the inverse-feasible sets of {seen:.1%} of {n} decisions at level {level:g}; without ties "
        f"{low:.1%} to {high:.1%} is what chance allows with probability {_MASS:g}."
    )
    if seen < low:
        remedy = "These decisions differ from the calibration set: conformalize on recent ones."
        return Finding("coverage", "warning", words, remedy, numbers)
    if seen > high:
        why = "equal angles hold it there" if evidence.tie_mass * evidence.n_calibration > 1.5 else "they are easier"
        return Finding("coverage", "notice", f"{words} More are covered than asked: {why}.", numbers=numbers)
    return Finding("coverage", "good", words, numbers=numbers)


def exchangeability_finding(evidence: Evidence) -> Finding:
    """Whether angles of these decisions and of the calibration set could come from one population.

    A two-sample Kolmogorov-Smirnov test; equal angles only make its p-value larger.
    """
    name = "exchangeability"
    if evidence.role != "new":
        return Finding(name, "notice", _KNOWN[evidence.role], _GIVE_NEW, {"p_value": None})
    if evidence.scores is None:
        words = 'Not known: with scores="level" the other calibration angles are not worked out.'
        return Finding(name, "notice", words, 'Set scores="all" and call conformalize.', {"p_value": None})
    from scipy import stats  # loads for as long as all of the library

    found = stats.ks_2samp(evidence.scores, evidence.angles, method="asymp")
    p_value, distance = float(found.pvalue), float(found.statistic)
    numbers = {"p_value": p_value, "distance": distance, "n": len(evidence.angles)}
    test = f"(Kolmogorov-Smirnov distance {distance:.3f}, p = {p_value:.3g})"
    if p_value >= _UNLIKELY:
        words = f"Their angles look like those of the calibration set {test}: nothing speaks against the certificate."
        return Finding(name, "good", words, numbers=numbers)
    direction = "larger" if np.median(evidence.angles) >= np.median(evidence.scores) else "smaller"
    words = f"Their angles differ from those of the calibration set {test}; in the median they are {direction}."
    remedy = "The level holds only for decisions like those that calibrated: conformalize on recent ones."
    return Finding(name, "warning", words, remedy, numbers)
