"""The value of robustness, shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conformio.studies.cell_store import Row
from conformio.studies.evidence.drawings import COLOURS, finished
from conformio.studies.evidence.sections import Figure, Table
from conformio.studies.findings.printed import GAINS
from conformio.studies.findings.robustness import PAPER_RANGE, improvements, range_of, seed_improvements
from conformio.studies.findings.selection import column, distinct, number, only, pick
from conformio.studies.findings.wording import by_condition, percent

__all__ = ["TITLE", "WORDS", "figures", "tables"]

TITLE = "The value of robustness"
WORDS = (
    "Of simulated decision makers 60% train, 20% calibrate, 20% test. The classic pipeline trains on the first two "
    "parts and prescribes what is optimal for its estimate, ties broken uniformly at random, as the paper defines; the "
    "conformal pipeline trains on the first part, calibrates on the second and prescribes what is best for the worst "
    "parameters in its set. AOG is the mean excess cost under the true parameters, POG under each decision maker's "
    "own. True parameters are uniform on [1, 10] and budgets are 1/5 to 4/5 of the total weight: the paper leaves the "
    "first open and prints a range for the second that leaves five in six without a decision (E7, E11)."
)
_GAPS = ("aog", "pog")


def tables(rows: Sequence[Row]) -> tuple[Table, ...]:
    """Ranges beside the paper's, then gaps by level."""
    return _ranges(rows), _gaps(rows)


def _ranges(rows: Sequence[Row]) -> Table:
    lines = []
    for gap in _GAPS:
        for name, group in by_condition(rows).items():
            gains = improvements(group, gap)
            best = max(gains, key=lambda level: gains[level])
            printed = GAINS[str(group[0]["problem"]), gap]
            lines.append((gap.upper(), name, percent(*printed), percent(*range_of(gains)), f"{best:g}"))
    low, high = PAPER_RANGE
    columns = ("gap", "condition", "paper", f"levels {low:g} to {high:g}", "best level")
    return Table("Improvement over the classic pipeline", columns, tuple(lines))


def _gaps(rows: Sequence[Row]) -> Table:
    lines = []
    levels = sorted(set(column(pick(rows, policy="conformal"), "level")))
    for gap in _GAPS:
        for name, group in by_condition(rows).items():
            classic = only(group, policy="classic", ties="uniform")
            conformal = {number(row, "level"): row for row in pick(group, policy="conformal")}
            cells = [f"{number(conformal[level], gap):.3f}" if level in conformal else "-" for level in levels]
            lines.append((gap.upper(), name, f"{number(classic, gap):.3f}", *cells))
    columns = ("gap", "condition", "classic", *(f"{level:g}" for level in levels))
    return Table("Mean gaps: classic, and conformal by level", columns, tuple(lines))


def figures(rows: Sequence[Row]) -> tuple[Figure, ...]:
    """Improvements with the paper's bands, and the gaps themselves."""
    kinds = distinct(rows, "problem", "domain")

    def improvement_panels(panels: Any) -> None:
        _each_panel(panels, rows, _draw_gains)

    def gap_panels(panels: Any) -> None:
        _each_panel(panels, rows, _draw_gaps)

    shape = (2, len(kinds))
    gains = (
        "Improvement over the classic pipeline against the level: of mean gaps (line) and range over seeds (bars). "
        "Shaded: the paper's range."
    )
    gaps = "Mean gaps against the level: conformal (lines) and classic (dashed)."
    return (Figure("robustness", gains, shape, improvement_panels), Figure("gaps", gaps, shape, gap_panels))


def _each_panel(panels: Any, rows: Sequence[Row], draw: Any) -> None:
    for line, gap in zip(panels, _GAPS, strict=True):
        for axes, (problem, domain) in zip(line, distinct(rows, "problem", "domain"), strict=True):
            some = pick(rows, problem=problem, domain=domain)
            draw(axes, some, gap)
            signs = "free signs" if domain == "free" else str(domain)
            finished(axes, f"{problem}, {signs}", "level", gap.upper(), legend=gap == "aog")


def _draw_gains(axes: Any, rows: Sequence[Row], gap: str) -> None:
    band = [100.0 * share for share in GAINS[str(rows[0]["problem"]), gap]]
    axes.axhspan(*band, color="#9bb8d3", alpha=0.4, linewidth=0)
    axes.axhline(0.0, color="#777777", linewidth=0.8)
    for colour, (name, group) in zip(COLOURS, _by_estimator(rows).items(), strict=False):
        gains = improvements(group, gap)
        mean = 100.0 * np.array(list(gains.values()))
        conformal = pick(group, policy="conformal")
        bars = None
        if seed_improvements(group, gap):  # defined for every seed
            low, high = (100.0 * np.array(column(conformal, f"{gap}_gain_{end}")) for end in ("low", "high"))
            # the mean is that of gaps, not of gains: with few seeds it may lie outside their range
            bars = np.maximum([mean - low, high - mean], 0.0)
        axes.errorbar(list(gains), mean, bars, fmt="o-", markersize=3, linewidth=1, color=colour, label=name)


def _draw_gaps(axes: Any, rows: Sequence[Row], gap: str) -> None:
    for colour, (name, group) in zip(COLOURS, _by_estimator(rows).items(), strict=False):
        conformal = pick(group, policy="conformal")
        axes.plot(column(conformal, "level"), column(conformal, gap), "o-", markersize=3, color=colour, label=name)
        classic = number(only(group, policy="classic", ties="uniform"), gap)
        axes.axhline(classic, color=colour, linestyle="--", linewidth=0.9)


def _by_estimator(rows: Sequence[Row]) -> dict[str, list[Row]]:
    return {str(name): pick(rows, estimator=name) for (name,) in distinct(rows, "estimator")}
