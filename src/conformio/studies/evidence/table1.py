"""Table 1, shown."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any

from conformio.studies.cell_store import Row
from conformio.studies.evidence.drawings import COLOURS, finished
from conformio.studies.evidence.sections import Figure, Table
from conformio.studies.findings.printed import TABLE_1
from conformio.studies.findings.selection import column, number, only, pick
from conformio.studies.table1 import SIZES, closed_forms, example_bounds, printed_bounds

__all__ = ["TITLE", "WORDS", "figures", "tables"]

TITLE = "Table 1: the paper's Example"
WORDS = (
    "A linear program in two variables whose size u can be chosen: people whose perceptions point anywhere in the "
    "first quadrant decide, the estimate makes all of them exactly optimal, and the classic pipeline then prescribes "
    "an arbitrary point of a long edge. Each number is simulated, worked out in closed form as the paper derives it, "
    "and in closed form after the corrections E2, E3, E5 and E12. Two policies answer for the conformal pipeline: the "
    "robust optimum of the problem as it is posed, and the best vertex, which the paper takes for it."
)
_ROBUST = "robust optimum, calibrated angle"
_SIMULATED = {
    "classic": (("classic", "classic"),),
    "conformal": ((_ROBUST, "robust optimum"), ("best vertex", "best vertex")),
}


def tables(rows: Sequence[Row]) -> tuple[Table, ...]:
    """Gaps and bounds, each beside what is printed."""
    columns = ("gap", "policy", "source", *(f"u = {u}" for u in SIZES))
    gaps = [line for gap in ("aog", "pog") for row in ("classic", "conformal") for line in _gap_lines(rows, row, gap)]
    bounds = [line for gap in ("aog", "pog") for line in _bound_lines(rows, gap)]
    return (
        Table("Gaps: printed, corrected, simulated", columns, tuple(gaps)),
        Table("Bounds on the gaps of the conformal pipeline", ("gap", "angle", *columns[2:]), tuple(bounds)),
    )


def _gap_lines(rows: Sequence[Row], row: str, gap: str) -> list[tuple[str, ...]]:
    lines: list[tuple[str, ...]] = [(gap.upper(), row, "printed", *TABLE_1[row, gap])]
    for policy, exact in _SIMULATED[row]:
        label = row if row == "classic" else exact
        forms = [closed_forms(u)[exact][gap] for u in SIZES]
        lines.append((gap.upper(), label, "as derived in the paper", *(_short(printed) for printed, _ in forms)))
        lines.append((gap.upper(), label, "corrected closed form", *(_short(corrected) for _, corrected in forms)))
        lines.append((gap.upper(), label, "simulated", *(_spread(only(rows, u=u, policy=policy), gap) for u in SIZES)))
    return lines


def _bound_lines(rows: Sequence[Row], gap: str) -> list[tuple[str, ...]]:
    name = gap.upper()
    angles = [max(column(pick(rows, u=u), "calibrated_angle")) for u in SIZES]
    printed = [printed_bounds(u, pi / 4) for u in SIZES]
    return [
        (name, "45 degrees", "printed", *TABLE_1["bound", gap]),
        (name, "45 degrees", "theorem as printed", *(_short(getattr(full, gap)) for full, _ in printed)),
        (name, "45 degrees", "the same with eta = sigma = 0", *(_short(getattr(low, gap)) for _, low in printed)),
        (name, "45 degrees", "corrected theorem", *(_short(getattr(example_bounds(u, pi / 4), gap)) for u in SIZES)),
        (
            name,
            "calibrated",
            "corrected theorem",
            *(_short(getattr(example_bounds(u, angle), gap)) for u, angle in zip(SIZES, angles, strict=True)),
        ),
    ]


def figures(rows: Sequence[Row]) -> tuple[Figure, ...]:
    """Both gaps against u."""

    def draw(panels: Any) -> None:
        for axes, gap in zip(panels[0], ("aog", "pog"), strict=True):
            for colour, policy in zip(COLOURS, ("classic", _ROBUST), strict=False):
                gaps = [number(only(rows, u=u, policy=policy), gap) for u in SIZES]
                axes.plot(SIZES, gaps, "o-", color=colour, label=f"{policy.split(',')[0]}, simulated")
            for colour, row in zip(COLOURS, ("classic", "conformal"), strict=False):
                printed = [float(text) for text in TABLE_1[row, gap]]
                axes.plot(SIZES, printed, "x", color=colour, label=f"{row}, printed")
            bounds = [getattr(example_bounds(u, pi / 4), gap) for u in SIZES]
            axes.plot(SIZES, bounds, ":", color="#777777", label="corrected bound, 45 degrees")
            axes.set_xscale("log")
            axes.set_yscale("symlog", linthresh=0.01)
            finished(axes, gap.upper(), "u", f"mean {gap.upper()}", legend=gap == "aog")

    caption = "Gaps of the classic and of the conformal pipeline in the Example, simulated and printed."
    return (Figure("table1", caption, (1, 2), draw, (4.2, 3.2)),)


def _short(value: float) -> str:
    return f"{value:.3g}"


def _spread(row: Row, gap: str) -> str:
    low, high = number(row, f"{gap}_low"), number(row, f"{gap}_high")
    mean = _short(number(row, gap))
    return mean if _short(low) == _short(high) else f"{mean} ({_short(low)} to {_short(high)})"
