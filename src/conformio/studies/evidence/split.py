"""The split figure, shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformio.studies.cell_store import Row
from conformio.studies.evidence.drawings import finished
from conformio.studies.evidence.sections import Figure, Table
from conformio.studies.findings.selection import column, distinct, number, pick
from conformio.studies.findings.split import improvement
from conformio.studies.findings.wording import by_condition

__all__ = ["TITLE", "WORDS", "figures", "tables"]

TITLE = "How many decisions, and which share calibrates"
WORDS = (
    "The conformal pipeline splits its decisions into a training and a calibration part. Here the total and the share "
    "that calibrates vary, for shortest paths as in the paper, on the same test decisions. The improvement is that of "
    "mean gaps over the classic pipeline, which trains on all of them; it is averaged over two levels in the rules."
)
_SHADES = ("#c6dbef", "#9ecae1", "#6baed6", "#3182bd", "#08519c", "#08306b")


def tables(rows: Sequence[Row]) -> tuple[Table, ...]:
    """Improvement by total and share."""
    shares = [share for (share,) in distinct(rows, "share")]
    lines = []
    for name, group in by_condition(rows).items():
        for total, level in distinct(group, "total", "level"):
            some = pick(group, total=total, level=level)
            cells = [_cell(pick(some, share=share)) for share in shares]
            classic = f"{number(some[0], 'classic_aog'):.2f}, {number(some[0], 'classic_pog'):.2f}"
            lines.append((name, str(total), f"{level:g}", classic, *cells))
    columns = ("condition", "decisions", "level", "classic AOG, POG", *(f"{100 * float(str(s)):.0f}%" for s in shares))
    return (Table("Improvement of AOG, POG by share that calibrates", columns, tuple(lines)),)


def _cell(rows: Sequence[Row]) -> str:
    return ", ".join(f"{100.0 * improvement(rows, gap):.1f}%" for gap in ("aog", "pog"))


def figures(rows: Sequence[Row]) -> tuple[Figure, ...]:
    """Improvement against the share, one line for each total."""
    groups = by_condition(rows)
    level = max(column(rows, "level"))

    def draw(panels: Any) -> None:
        for line, gap in zip(panels, ("aog", "pog"), strict=True):
            for axes, (name, group) in zip(line, groups.items(), strict=True):
                _panel(axes, pick(group, level=level), gap)
                finished(axes, name, "share that calibrates", f"improvement of {gap.upper()} (%)", legend=gap == "aog")

    caption = f"Improvement over the classic pipeline at level {level:g} against the share that calibrates."
    return (Figure("split", caption, (2, len(groups)), draw, (4.2, 2.7)),)


def _panel(axes: Any, rows: Sequence[Row], gap: str) -> None:
    axes.axhline(0.0, color="#777777", linewidth=0.8)
    for shade, (total,) in zip(_SHADES, distinct(rows, "total"), strict=False):
        some = pick(rows, total=total)
        gains = [100.0 * improvement([row], gap) for row in some]
        axes.plot(column(some, "share"), gains, "o-", markersize=3, color=shade, label=f"{total} decisions")
