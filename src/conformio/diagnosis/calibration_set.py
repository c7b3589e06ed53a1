"""What the calibration set allows: its size against the level, the split's part in the angle, ties, unexplained rows.

All of it is exact for decisions drawn independently from one population, and needs no data beyond the calibration
angles.

- **Size.** Without ties the coverage given the calibration set is Beta(tau, n + 1 - tau) distributed, `tau` the rank.
- **Split.** Let another calibration set of the same size be drawn, with the same point estimate. The number of ours
  below its calibrated angle is beta-binomial, so that angle lies between two of our own order statistics with a known
  probability; ties only widen this. It is the spread that another split would show, the estimate kept.
- **Ties.** All levels whose rank falls among equal angles have the same set.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from conformio.checks import FloatArray
from conformio.diagnosis.evidence import Evidence
from conformio.diagnosis.findings import Finding, Verdict
from conformio.metrics import coverage_interval
from conformio.ranks import ConfidenceLevel, calibration_rank, exact_level

__all__ = ["size_finding", "split_finding", "ties_finding", "unexplained_finding"]

_MASS = 0.99
_WIDE_BAND = 0.15
_WIDE_SPREAD = 0.5
_MANY_TIES = 0.05


def size_finding(evidence: Evidence) -> Finding:
    """Whether the calibration set certifies the level, and how closely."""
    n, rank, level = evidence.n_calibration, evidence.rank, evidence.level
    least = _least_size(level)
    numbers: dict[str, Any] = {"n_calibration": n, "level": float(level), "rank": rank, "least_size": least}
    if rank > n:
        words = f"{n} calibration decisions cannot certify level {float(level):g}: the set is everything."
        enough = "No finite number would." if least is None else f"At least {least} are needed."
        remedy = "Lower the level." if least is None else "Calibrate on more decisions, or lower the level."
        return Finding("calibration size", "warning", f"{words} {enough}", remedy, numbers)
    if rank == 0:
        words = "Level 0 asks for no coverage: the set is the point estimate alone."
        return Finding("calibration size", "good", words, numbers=numbers)
    low, high = _beta_band(n, rank)
    numbers |= {"band_low": low, "band_high": high, "band_mass": _MASS}
    words = (
        f"{n} calibration decisions certify level {float(level):g} (at least {least} are needed). Without ties, the "
        f"coverage that this very calibration set gives lies in {low:.1%} to {high:.1%} with probability {_MASS:g}."
    )
    if high - low <= _WIDE_BAND:
        return Finding("calibration size", "good", words, numbers=numbers)
    wanted = _size_for(level)
    remedy = f"About {wanted} calibration decisions narrow that range to {_WIDE_BAND:g}; conformalize takes more."
    return Finding("calibration size", "notice", words, remedy, numbers | {"size_for_narrow_band": wanted})


def split_finding(evidence: Evidence) -> Finding:
    """Where the angle of another calibration set of the same size lies, the estimate kept."""
    n, rank, angle = evidence.n_calibration, evidence.rank, evidence.angle
    if evidence.scores is None:
        words = 'Not known: with scores="level" the other calibration angles are not worked out.'
        return Finding("split", "notice", words, 'Set scores="all" and call conformalize.', {"angle": angle})
    if rank in (0, n + 1):
        words = f"Every split gives the angle {_degrees(angle)}: level and size decide it alone."
        return Finding("split", "good", words, numbers={"angle": angle, "low": angle, "high": angle})
    shares = coverage_interval(n, evidence.level, n, _MASS)
    below, above = (round(share * n) for share in shares)
    steps = np.concatenate([[0.0], np.sort(evidence.scores), [np.pi]])
    low, high = float(steps[below]), float(steps[above + 1])
    words = (
        f"Another random calibration set of this size, with the same estimate, gives an angle from {_degrees(low)} to "
        f"{_degrees(high)} with probability at least {_MASS:g}; this one gave {_degrees(angle)}."
    )
    steady = high < np.pi and high - low <= _WIDE_SPREAD * angle
    remedy = "" if steady else "Calibrate on more decisions, or report the range beside the angle."
    numbers = {"angle": angle, "low": low, "high": high, "mass": _MASS}
    return Finding("split", "good" if steady else "notice", words, remedy, numbers)


def ties_finding(evidence: Evidence) -> Finding:
    """How many calibration angles equal the calibrated one, and for which levels the set is the same."""
    mass, n, angle = evidence.tie_mass, evidence.n_calibration, evidence.angle
    n_tied = round(mass * n)
    numbers: dict[str, Any] = {"tie_mass": mass, "n_tied": n_tied, "angle": angle}
    if n_tied <= 1 or angle == np.pi:
        words = "No other calibration angle equals the calibrated one: the coverage follows the level."
        if angle == np.pi:
            words = "The calibrated angle is pi, where the set is everything; ties play no part."
        return Finding("ties", "good", words, numbers=numbers)
    words = f"{n_tied} of {n} calibration angles ({mass:.1%}) are exactly the calibrated {_degrees(angle)}."
    if evidence.scores is not None:
        low, high = _same_set(evidence.scores, angle)
        numbers |= {"level_low": low, "level_high": high}
        words += (
            f" All levels from {low:.1%} to {high:.1%} have the same set, so for all of them the coverage stays near "
            f"{high:.1%}."
        )
    if mass <= _MANY_TIES:
        return Finding("ties", "good", words, numbers=numbers)
    remedy = (
        "Nothing is wrong with the certificate. Ask for a level above that range for a larger set, or take an estimate "
        "without ties, such as PerturbedFenchelYoung."
    )
    return Finding("ties", "notice", words, remedy, numbers)


def unexplained_finding(evidence: Evidence) -> Finding:
    """Calibration decisions that no parameters within 90 degrees of the estimate explain."""
    n, count, excluded = evidence.n_calibration, evidence.n_unexplained, evidence.n_excluded
    share = count / n
    numbers = {"n_unexplained": count, "share": share, "n_excluded": excluded}
    left_out = f" {excluded} infeasible decisions were left out of training." if excluded else ""
    if not count:
        words = f"Parameters within 90 degrees of the estimate explain every calibration decision.{left_out}"
        return Finding("unexplained", "notice" if excluded else "good", words, numbers=numbers)
    room = 1.0 - float(evidence.level)
    words = (
        f"{count} of {n} calibration decisions ({share:.1%}) are explained by no parameters within 90 degrees of the "
        f"estimate and count with the angle pi.{left_out} Level {float(evidence.level):g} leaves room for {room:.1%}."
    )
    verdict: Verdict = "warning" if evidence.angle == np.pi else "notice"
    remedy = (
        "Check that the problem is the one they solved (constraints, units, order of rows), or move them with "
        "nearest_rationalizable; leaving them out would make the certificate void."
    )
    return Finding("unexplained", verdict, words, remedy, numbers)


def _least_size(level: ConfidenceLevel) -> int | None:
    """The smallest calibration set whose rank stays within it: `n >= level / (1 - level)`."""
    exact = exact_level(level, "diagnose")
    return None if exact == 1 else math.ceil(exact / (1 - exact))


def _beta_band(n: int, rank: int) -> tuple[float, float]:
    tail = (1.0 - _MASS) / 2.0
    low, high = special.betaincinv(rank, n + 1 - rank, [tail, 1.0 - tail])
    return float(low), float(high)


def _size_for(level: ConfidenceLevel) -> int:
    """A size, within a tenth of the smallest, from which the band is narrow."""
    n = _least_size(level) or 1
    while True:
        rank = calibration_rank(n, level, "diagnose")
        low, high = _beta_band(n, rank)
        if high - low <= _WIDE_BAND:
            return n
        n += max(1, n // 10)


def _same_set(scores: FloatArray, angle: float) -> tuple[float, float]:
    """Levels, from just above the first to the second, whose rank falls among the angles equal to `angle`."""
    n = len(scores)
    return int((scores < angle).sum()) / (n + 1), int((scores <= angle).sum()) / (n + 1)


def _degrees(angle: float) -> str:
    return f"{math.degrees(angle):.4g} degrees"
