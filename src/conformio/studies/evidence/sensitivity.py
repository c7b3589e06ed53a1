"""The sensitivity study, shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformio.studies.cell_store import Row
from conformio.studies.conditions import BASE_LAW
from conformio.studies.evidence.drawings import COLOURS, finished
from conformio.studies.evidence.sections import Figure, Table
from conformio.studies.findings.printed import GAINS
from conformio.studies.findings.robustness import improvement, improvements, range_of
from conformio.studies.findings.selection import distinct, number, only, pick
from conformio.studies.findings.sensitivity import bands_met
from conformio.studies.findings.wording import by_condition, percent
from conformio.studies.pipelines import TIE_RULES

__all__ = ["TITLE", "WORDS", "figures", "tables"]

TITLE = "Sensitivity: what the paper leaves open"
WORDS = (
    "The paper does not say how true parameters are drawn, whether parameters may be negative, which optimal solution "
    "a solver returns when several tie, whether robust paths are integral, and prints budgets that leave most "
    "knapsacks without a choice. The comparison above is repeated for every combination: six laws of the true "
    "parameters, free and nonnegative signs, both point estimates, two ranges of budgets; four rules for ties of the "
    "classic pipeline; integral and relaxed robust paths. Of the last two the tables show the base law, uniform on "
    "[1, 10]; the findings count every law."
)
_GAPS = ("aog", "pog")


def tables(rows: Sequence[Row]) -> tuple[Table, ...]:
    """Where the bands hold, tie rules, relaxed paths."""
    return _regions(rows), _ties(rows), _relaxed(rows)


def _regions(rows: Sequence[Row]) -> Table:
    lines = []
    for name, group in by_condition(rows).items():
        met = bands_met(group)
        cells = [f"{percent(*range_of(improvements(group, gap)))}{' *' if met[gap] else ''}" for gap in _GAPS]
        classic = only(group, policy="classic", ties="uniform")
        shares = [_share(classic, column) for column in ("zero_share", "cycle_share", "uncounted_ties")]
        lines.append((name, str(group[0]["n"]), *cells, *shares))
    columns = ("condition", "seeds", "AOG", "POG", "angles that are 0", "classic with cycles", "ties not counted")
    return Table("Improvement, levels 0.1 to 0.95; * meets the paper's band", columns, tuple(lines))


def _share(row: Row, name: str) -> str:
    return "-" if row[name] is None else f"{number(row, name):.1%}"


def _ties(rows: Sequence[Row]) -> Table:
    lines = []
    for name, group in by_condition(pick(rows, law=BASE_LAW)).items():
        for gap in _GAPS:
            cells = (percent(*range_of(improvements(group, gap, rule))) for rule in TIE_RULES)
            lines.append((name, gap.upper(), *cells))
    columns = ("condition", "gap", *TIE_RULES)
    return Table("Improvement over the classic pipeline by its rule for ties, base law", columns, tuple(lines))


def _relaxed(rows: Sequence[Row]) -> Table:
    lines = []
    for name, group in by_condition(pick(rows, problem="shortest path", law=BASE_LAW)).items():
        for row in pick(group, policy="conformal, relaxed"):
            integral = only(group, policy="conformal", level=row["level"])
            cells = (f"{100.0 * improvement(group, one, gap):.1f}%" for gap in _GAPS for one in (integral, row))
            lines.append((name, f"{row['level']:g}", *cells))
    columns = ("condition", "level", "AOG integral", "AOG relaxed", "POG integral", "POG relaxed")
    return Table("Improvement by integral and by relaxed robust paths, base law", columns, tuple(lines))


def figures(rows: Sequence[Row]) -> tuple[Figure, ...]:
    """Ranges of improvement for each condition, one figure for each problem."""
    return tuple(_figure(pick(rows, problem=problem), str(problem)) for (problem,) in distinct(rows, "problem"))


def _figure(rows: Sequence[Row], problem: str) -> Figure:
    groups = by_condition(rows)

    def draw(panels: Any) -> None:
        for axes, gap in zip(panels[0], _GAPS, strict=True):
            _panel(axes, groups, gap)
            finished(axes, f"{problem}: {gap.upper()}", "improvement (%)", "")
        panels[0][1].set_yticklabels([])

    caption = f"Range of improvement over levels 0.1 to 0.95, {problem}, and the paper's range (shaded)."
    height = 1.0 + 0.17 * len(groups)
    return Figure(f"sensitivity-{problem.replace(' ', '-')}", caption, (1, 2), draw, (4.6, height))


def _panel(axes: Any, groups: dict[str, list[Row]], gap: str) -> None:
    problem = str(next(iter(groups.values()))[0]["problem"])
    axes.axvspan(*(100.0 * share for share in GAINS[problem, gap]), color="#9bb8d3", alpha=0.4, linewidth=0)
    axes.axvline(0.0, color="#777777", linewidth=0.8)
    for height, group in enumerate(groups.values()):
        low, high = (100.0 * share for share in range_of(improvements(group, gap)))
        colour = COLOURS[0] if bands_met(group)[gap] else COLOURS[1]
        axes.plot([low, high], [height, height], "|-", color=colour, linewidth=2, markersize=4)
    names = [name.removeprefix(f"{problem}, ") for name in groups]
    axes.set_yticks(range(len(names)), names, fontsize=6)
    axes.invert_yaxis()
