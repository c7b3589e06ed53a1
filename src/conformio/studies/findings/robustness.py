"""Verdicts on the value of robustness: the paper's bands of improvement, and how it changes with the level.

The improvement at a level is one minus the quotient of mean gaps over seeds, conformal over classic. The paper does
not say whether it divides means or averages quotients; its bands are therefore also compared with the mean over seeds
of each seed's improvement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from conformio.studies.cell_store import Row
from conformio.studies.conditions import LABELS as CONDITION
from conformio.studies.findings.printed import GAINS
from conformio.studies.findings.selection import number, only, pick
from conformio.studies.findings.verdicts import Finding, by_conditions
from conformio.studies.findings.wording import by_condition, percent

__all__ = [
    "LABELS",
    "PAPER_RANGE",
    "findings",
    "improvement",
    "improvements",
    "in_band",
    "meets",
    "range_of",
    "seed_improvements",
    "shown_ranges",
]

LABELS = (*CONDITION, "policy", "ties", "level")
PAPER_RANGE = (0.1, 0.95)
"""Levels over which ranges are taken; the paper says only "when varying gamma"."""

_RISE, _FLAT = 0.02, 0.05
_GAPS = ("aog", "pog")


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The four bands, the shape of the curve, and whether the point estimate matters."""
    bands = [_band(rows, problem, gap) for problem, gap in GAINS]
    return [*bands, _rises(rows), _stays(rows), _orthogonal(rows)]


def improvements(rows: Sequence[Row], gap: str, ties: str = "uniform") -> dict[float, float]:
    """Improvement at each level that the conformal pipeline was measured at, for the rows of one condition."""
    return {number(row, "level"): improvement(rows, row, gap, ties) for row in pick(rows, policy="conformal")}


def improvement(rows: Sequence[Row], row: Row, gap: str, ties: str = "uniform") -> float:
    """Of one row over the classic pipeline with ties broken by a rule; 0 where there is nothing to improve."""
    classic = number(only(rows, policy="classic", ties=ties), gap)
    return 1.0 - number(row, gap) / classic if classic > 0.0 else 0.0


def seed_improvements(rows: Sequence[Row], gap: str) -> dict[float, float]:
    """The same as the mean over seeds of each seed's improvement; empty where a seed leaves nothing to improve."""
    found = [row for row in pick(rows, policy="conformal") if row[f"{gap}_gain"] is not None]
    return {number(row, "level"): number(row, f"{gap}_gain") for row in found}


def meets(rows: Sequence[Row], gap: str, band: tuple[float, float]) -> bool:
    """Whether either improvement of a condition meets the paper's band."""
    return any(in_band(gains, band) for gains in (improvements(rows, gap), seed_improvements(rows, gap)) if gains)


def in_band(gains: Mapping[float, float], band: tuple[float, float]) -> bool:
    """Whether the improvement is positive at all levels of `PAPER_RANGE` and its range there meets the band."""
    low, high = range_of(gains)
    return low > 0.0 and low <= band[1] and high >= band[0]


def range_of(gains: Mapping[float, float]) -> tuple[float, float]:
    """Least and largest improvement over the levels of `PAPER_RANGE`."""
    first, last = PAPER_RANGE
    within = [gain for level, gain in gains.items() if first <= level <= last]
    return min(within), max(within)


def shown_ranges(rows: Sequence[Row], gap: str) -> str:
    """Both ranges of a condition in words."""
    seeds = seed_improvements(rows, gap)
    return f"{percent(*range_of(improvements(rows, gap)))} ({percent(*range_of(seeds)) if seeds else 'undefined'})"


def _band(rows: Sequence[Row], problem: str, gap: str) -> Finding:
    groups = by_condition(pick(rows, problem=problem))
    verdict, where = by_conditions({name: meets(group, gap, GAINS[problem, gap]) for name, group in groups.items()})
    return Finding(
        study="robustness",
        claim=f"Conformal decisions improve the {gap.upper()} of the {problem} problem",
        paper=f"by {percent(*GAINS[problem, gap])} when the level varies",
        measured="of mean gaps (mean over seeds of each seed's): "
        + "; ".join(f"{name}: {shown_ranges(group, gap)}" for name, group in groups.items()),
        rule="Holds if one of the two is positive at every level from 0.1 to 0.95 and its range over these levels "
        "meets the paper's.",
        verdict=verdict,
        conditions=where,
    )


def _rises(rows: Sequence[Row]) -> Finding:
    def rise(gains: Mapping[float, float]) -> float:
        return gains[0.5] - gains[0.0]

    found = {name: [rise(improvements(group, gap)) for gap in _GAPS] for name, group in by_condition(rows).items()}
    verdict, where = by_conditions({name: min(rises) >= _RISE for name, rises in found.items()})
    return Finding(
        study="robustness",
        claim="The improvement rises quickly with the level up to about 50%",
        paper="improves quickly from 0 to 50%",
        measured="improvement at 0.5 minus that at 0 (AOG, POG), in points: " + _points(found),
        rule="Holds if both rise by at least 2 percentage points.",
        verdict=verdict,
        conditions=where,
    )


def _stays(rows: Sequence[Row]) -> Finding:
    def change(gains: Mapping[float, float]) -> float:
        later = [gain for level, gain in gains.items() if 0.5 < level <= PAPER_RANGE[1]]
        return max((gain - gains[0.5] for gain in later), key=abs)

    found = {name: [change(improvements(group, gap)) for gap in _GAPS] for name, group in by_condition(rows).items()}
    verdict, where = by_conditions({name: max(map(abs, changes)) <= _FLAT for name, changes in found.items()})
    return Finding(
        study="robustness",
        claim="Beyond 50% the improvement stays level, or worsens slightly",
        paper="remains stable and even worsens slightly after 50%",
        measured="largest change of the improvement from that at 0.5, levels to 0.95 (AOG, POG), in points: "
        + _points(found),
        rule="Holds if neither changes by more than 5 percentage points.",
        verdict=verdict,
        conditions=where,
    )


def _orthogonal(rows: Sequence[Row]) -> Finding:
    holds, shown = {}, []
    for name, group in by_condition(rows).items():
        mean = [fmean(improvements(group, gap).values()) for gap in _GAPS]
        holds[name] = min(mean) > 0.0
        shown.append(f"{name}: {', '.join(f'{100 * value:.1f}%' for value in mean)}")
    verdict, where = by_conditions(holds)
    return Finding(
        study="robustness",
        claim="Conformal decisions are better whatever the point estimate",
        paper="orthogonal to the point estimation method",
        measured=f"mean improvement over all levels (AOG, POG): {'; '.join(shown)}",
        rule="Holds where both means are positive.",
        verdict=verdict,
        conditions=where,
    )


def _points(found: Mapping[str, Sequence[float]]) -> str:
    return "; ".join(f"{name}: {', '.join(f'{100 * v:+.1f}' for v in values)}" for name, values in found.items())
