"""The ablations, shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformio.studies.ablations import LEVELS
from conformio.studies.cell_store import Row
from conformio.studies.evidence.drawings import COLOURS, finished
from conformio.studies.evidence.sections import Figure, Table
from conformio.studies.findings.ablations import parts
from conformio.studies.findings.selection import number
from conformio.studies.findings.wording import by_condition

__all__ = ["TITLE", "WORDS", "figures", "tables"]

TITLE = "Ablations: where the gain comes from"
WORDS = (
    "From the classic pipeline to the conformal one, one change at a time: train on less, break ties at angle 0 by the "
    "limit from above instead of at random, then use the set. Beside it stands a rival that needs no calibration set: "
    "the angle with the best cross-validated adherence, around the classic estimate. It certifies nothing. The last "
    "columns set coverage, which is promised, beside the share of decision makers whose own parameters are in the cap, "
    "which is not."
)
_GAPS = ("aog", "pog")


def tables(rows: Sequence[Row]) -> tuple[Table, ...]:
    """Every step."""
    lines = []
    for name, group in by_condition(rows).items():
        for row in group:
            step = str(row["step"]) + ("" if row["level"] is None else f", level {row['level']:g}")
            gaps = (f"{number(row, gap):.3f}" for gap in ("aog", "pog", "adherence"))
            shares = ("-" if row[c] is None else f"{number(row, c):.1%}" for c in ("coverage", "theta_inside"))
            lines.append((name, step, f"{number(row, 'angle_degrees'):.2f}", *gaps, *shares))
    columns = ("condition", "step", "angle (deg)", "AOG", "POG", "adherence", "covered", "own parameters inside")
    return (Table("Step by step", columns, tuple(lines)),)


def figures(rows: Sequence[Row]) -> tuple[Figure, ...]:
    """Parts of the improvement, side by side."""
    groups = by_condition(rows)

    def draw(panels: Any) -> None:
        for axes, gap in zip(panels[0], _GAPS, strict=True):
            for k, (name, group) in enumerate(groups.items()):
                shares = parts(group, gap, LEVELS[-1])
                places = [place + 0.2 * (k - 1.5) for place in range(len(shares))]
                axes.bar(places, [100.0 * v for v in shares.values()], 0.18, color=COLOURS[k % 4], label=name)
            axes.axhline(0.0, color="#777777", linewidth=0.8)
            axes.set_xticks(range(3), list(shares))
            finished(axes, gap.upper(), "", "part of the classic gap (%)", legend=gap == "aog")

    caption = f"Parts of the improvement at level {LEVELS[-1]:g}, as shares of the classic gap; below 0 it is lost."
    return (Figure("ablations", caption, (1, 2), draw, (4.6, 3.0)),)
