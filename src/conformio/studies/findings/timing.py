"""Verdicts on computation times: quotients, and the one absolute claim; seconds of two machines are not compared."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from conformio.studies.cell_store import Row
from conformio.studies.conditions import LABELS as CONDITION
from conformio.studies.findings.printed import SECONDS, ratio_printed
from conformio.studies.findings.selection import column, pick
from conformio.studies.findings.verdicts import Finding, Verdict, by_conditions
from conformio.studies.findings.wording import by_condition

__all__ = ["LABELS", "findings", "ratio"]

LABELS = (*CONDITION, "machine", "python", "conformio")

_ALIKE = 2.0
_SECOND = 1.0


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Training times, the price of robustness, and prediction within a second."""
    return [_similar(rows), _faster(rows), *(_price(rows, problem) for problem in SECONDS), _within_a_second(rows)]


def ratio(rows: Sequence[Row], over: str, under: str) -> float:
    """Quotient of two mean times."""
    return fmean(column(rows, over)) / fmean(column(rows, under))


def _similar(rows: Sequence[Row]) -> Finding:
    found = {name: ratio(group, "train_conformal", "train_classic") for name, group in by_condition(rows).items()}
    verdict, where = by_conditions({name: value <= _ALIKE for name, value in found.items()})
    printed = (f"{problem} {ratio_printed(problem, 'train_conformal', 'train_classic'):.2f}" for problem in SECONDS)
    return Finding(
        study="timing",
        claim="Training takes similar times in both pipelines",
        paper=f"conformal over classic: {', '.join(printed)}",
        measured=f"conformal over classic: {_shown(found)}",
        rule="Holds if the conformal pipeline takes at most twice the time of the classic one.",
        verdict=verdict,
        conditions=where,
    )


def _faster(rows: Sequence[Row]) -> Finding:
    groups = by_condition(pick(rows, problem="knapsack"))
    found = {name: ratio(group, "train_conformal", "train_classic") for name, group in groups.items()}
    verdict, where = by_conditions({name: value < 1.0 for name, value in found.items()})
    return Finding(
        study="timing",
        claim="For integer programs training the conformal pipeline is even faster",
        paper=f"knapsack, conformal over classic: {ratio_printed('knapsack', 'train_conformal', 'train_classic'):.2f}",
        measured=f"conformal over classic: {_shown(found)}",
        rule="Holds if the quotient is below 1.",
        verdict=verdict,
        conditions=where,
    )


def _price(rows: Sequence[Row], problem: str) -> Finding:
    printed = ratio_printed(problem, "robust", "nominal")
    groups = by_condition(pick(rows, problem=problem))
    batch = {name: ratio(group, "robust_batch", "nominal_batch") for name, group in groups.items()}
    single = {name: ratio(group, "robust_single", "nominal_single") for name, group in groups.items()}
    alike = {name: printed / _ALIKE <= value <= printed * _ALIKE for name, value in single.items()}
    cheaper = all(value < printed / _ALIKE for value in single.values())
    verdict, where = by_conditions(alike)
    return Finding(
        study="timing",
        claim=f"A robust {problem} decision takes much longer than a nominal one",
        paper=f"{printed:.0f} times as long",
        measured=f"one row at a time: {_shown(single)}; the whole batch: {_shown(batch)}",
        rule="Holds if the quotient for single rows is within a factor of 2 of the printed one.",
        verdict=verdict,
        conditions="The price is lower everywhere: the exact routes of the library need no cutting planes."
        if cheaper
        else where,
    )


def _within_a_second(rows: Sequence[Row]) -> Finding:
    slowest = max(column(rows, "robust_single_high"))
    return Finding(
        study="timing",
        claim="A robust decision takes less than a second",
        paper="0.63 s (shortest path), 0.44 s (knapsack)",
        measured=f"slowest mean of a seed: {1000.0 * slowest:.3g} ms",
        rule="Reproduced if every seed's mean over single rows is below 1 second.",
        verdict=Verdict.REPRODUCED if slowest < _SECOND else Verdict.NOT_REPRODUCED,
    )


def _shown(found: dict[str, float]) -> str:
    return "; ".join(f"{name}: {value:.2f}" for name, value in found.items())
