"""Verdicts on how many decisions to learn from and how to split them (shortest paths, as in the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from conformio.studies.cell_store import Row
from conformio.studies.conditions import LABELS as CONDITION
from conformio.studies.findings.selection import column, distinct, pick
from conformio.studies.findings.verdicts import Finding, by_conditions
from conformio.studies.findings.wording import by_condition

__all__ = ["LABELS", "findings", "improvement"]

LABELS = (*CONDITION, "total", "share", "level")

_BENEFIT = 0.05
_PLATEAU = 0.05
_GAPS = ("aog", "pog")


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Small data sets, the classic plateau, and the share that calibrates."""
    return [_small(rows), _plateau(rows), _more_calibration(rows)]


def improvement(rows: Sequence[Row], gap: str) -> float:
    """One minus the quotient of mean gaps, conformal over classic."""
    return 1.0 - fmean(column(rows, gap)) / fmean(column(rows, f"classic_{gap}"))


def _totals(rows: Sequence[Row]) -> list[int]:
    return sorted({int(value) for value in column(rows, "total")})


def _small(rows: Sequence[Row]) -> Finding:
    smallest = _totals(rows)[0]
    found = {}
    for name, group in by_condition(pick(rows, total=smallest)).items():
        found[name] = max(improvement(pick(group, share=s[0]), gap) for s in distinct(group, "share") for gap in _GAPS)
    verdict, where = by_conditions({name: value <= _BENEFIT for name, value in found.items()})
    return Finding(
        study="split",
        claim=f"With few decisions ({smallest}) conformal decisions are no better than classic ones",
        paper="no benefit at 160",
        measured=f"largest improvement over shares and gaps: {_shown(found)}",
        rule="Holds if no share improves the mean AOG or POG over the levels by more than 5%.",
        verdict=verdict,
        conditions=where,
    )


def _plateau(rows: Sequence[Row]) -> Finding:
    totals = _totals(rows)
    found = {}
    for name, group in by_condition(rows).items():
        gaps = {total: fmean(column(pick(group, total=total), "classic_aog")) for total in totals}
        found[name] = 1.0 - gaps[totals[-1]] / gaps[totals[len(totals) // 2]]
    verdict, where = by_conditions({name: value <= _PLATEAU for name, value in found.items()})
    return Finding(
        study="split",
        claim="The classic pipeline soon stops gaining from more decisions",
        paper="quickly plateaus as the data set grows",
        measured=f"classic AOG falls from {totals[len(totals) // 2]} to {totals[-1]} decisions by {_shown(found)}",
        rule="Holds if it falls by no more than 5%.",
        verdict=verdict,
        conditions=where,
    )


def _more_calibration(rows: Sequence[Row]) -> Finding:
    largest = _totals(rows)[-1]
    found = {}
    for name, group in by_condition(pick(rows, total=largest)).items():
        least, most = (choose(column(group, "share")) for choose in (min, max))
        found[name] = fmean(
            improvement(pick(group, share=most), gap) - improvement(pick(group, share=least), gap) for gap in _GAPS
        )
    verdict, where = by_conditions({name: value > 0.0 for name, value in found.items()})
    return Finding(
        study="split",
        claim="With enough decisions it pays to use more of them to calibrate",
        paper="generally benefits from more calibration data",
        measured=f"improvement with the largest share minus that with the smallest at {largest} decisions, mean "
        f"of AOG and POG: {_shown(found)}",
        rule="Holds if it is positive.",
        verdict=verdict,
        conditions=where,
    )


def _shown(found: dict[str, float]) -> str:
    return "; ".join(f"{name}: {100.0 * value:.1f}%" for name, value in found.items())
