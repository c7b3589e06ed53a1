"""The validity figure, shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conformio.metrics import coverage_interval
from conformio.studies.cell_store import Row
from conformio.studies.evidence.drawings import COLOURS, finished
from conformio.studies.evidence.sections import Figure, Table
from conformio.studies.findings.bands import printed_half_width, proved_half_width
from conformio.studies.findings.selection import column, distinct, number, pick
from conformio.studies.findings.wording import by_condition

__all__ = ["TITLE", "WORDS", "figures", "tables"]

TITLE = "Validity: coverage against the level"
WORDS = (
    "The calibrated set promises to meet the inverse-feasible set of the next decision with probability at least the "
    "level. Here it is calibrated on 50, 100 and 200 decisions and measured on fresh ones, at twenty levels, for both "
    "problems and both point estimates. Error bars are the range over seeds. The shaded bands are exact: without ties "
    "the number of covered test decisions is beta-binomial. Where many decisions have angle 0, coverage stays at "
    "their share however low the level (E6); the dotted line marks that share."
)
_SHOWN_LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9, 0.95)


def tables(rows: Sequence[Row]) -> tuple[Table, ...]:
    """Coverage at some levels, and the three bands."""
    levels = [level for level in _SHOWN_LEVELS if pick(rows, level=level)]
    lines = []
    for name, group in by_condition(rows).items():
        for (size,) in distinct(group, "n_calibration"):
            some = pick(group, n_calibration=size)
            zero, inside = number(some[0], "zero_share"), number(some[-1], "theta_inside")
            cells = [_spread(pick(some, level=level)) for level in levels]
            lines.append((name, str(size), *cells, f"{zero:.0%}", f"{inside:.1%}"))
    last = max(column(rows, "level"))
    columns = ("condition", "N", *(f"level {level:g}" for level in levels))
    title = "Coverage of fresh decisions, mean (range over seeds)"
    more = ("angles that are 0", f"own parameters in the cap, level {last:g}")
    return Table(title, (*columns, *more), tuple(lines)), _band_table(rows)


def _spread(found: Sequence[Row]) -> str:
    if not found:
        return "-"
    mean, low, high = (number(found[0], f"coverage{end}") for end in ("", "_low", "_high"))
    return f"{mean:.3f} ({low:.3f}-{high:.3f})"


def _band_table(rows: Sequence[Row]) -> Table:
    lines = []
    for (size,) in distinct(rows, "n_calibration"):
        n = int(str(size))
        low, high = coverage_interval(n, 0.5, 10_000, mass=1 - 1 / n)
        widths = (f"{printed_half_width(n):.2f}", f"{proved_half_width(n):.2f}")
        lines.append((str(n), *(f"+-{width}" for width in widths), f"-{0.5 - low:.2f}, +{high - 0.5:.2f}"))
    columns = ("N", "theorem as printed", "sum of roots, as proved (E14)", "exact, at level 0.5")
    return Table("Bands that hold coverage around the level with probability 1 - 1/N", columns, tuple(lines))


def figures(rows: Sequence[Row]) -> tuple[Figure, ...]:
    """One panel for each condition."""
    groups = by_condition(rows)
    columns = 2 if len(groups) > 1 else 1
    shape = (-(-len(groups) // columns), columns)

    def draw(panels: Any) -> None:
        for axes, (name, group) in zip(panels.flat, groups.items(), strict=False):
            _panel(axes, name, group)
        panels.flat[0].legend(loc="lower right", frameon=False)

    caption = (
        "Coverage against the level: mean and range over seeds, exact 99% bands of the smallest and the largest "
        "calibration set (without ties), share of angles that are 0, and share of decision makers whose own "
        "parameters are in the cap."
    )
    return (Figure("validity", caption, shape, draw, (4.2, 3.0)),)


def _panel(axes: Any, name: str, group: Sequence[Row]) -> None:
    sizes = [int(str(size)) for (size,) in distinct(group, "n_calibration")]
    for size, alpha in ((sizes[0], 0.15), (sizes[-1], 0.3)):
        some = pick(group, n_calibration=size)
        band = column(some, "band_low"), column(some, "band_high")
        axes.fill_between(column(some, "level"), *band, color="#9bb8d3", alpha=alpha, linewidth=0)
    axes.plot([0, 1], [0, 1], color="#777777", linewidth=0.8, label="level")
    for k, (size, colour) in enumerate(zip(sizes, COLOURS, strict=False)):
        some = pick(group, n_calibration=size)
        mean, low, high = (np.array(column(some, f"coverage{end}")) for end in ("", "_low", "_high"))
        levels = np.array(column(some, "level")) + 0.006 * (k - 1)
        bars = np.maximum([mean - low, high - mean], 0.0)  # rounding of the summary must not turn a bar around
        axes.errorbar(levels, mean, bars, fmt=".", markersize=4, linewidth=0.8, color=colour, label=f"N = {size}")
    largest = pick(group, n_calibration=sizes[-1])
    axes.axhline(number(largest[0], "zero_share"), color="#555555", linestyle=":", linewidth=0.8, label="angle 0")
    inside = column(largest, "theta_inside")
    axes.plot(column(largest, "level"), inside, "--", color=COLOURS[-1], linewidth=1, label="own parameters inside")
    axes.set(xlim=(0, 1), ylim=(-0.02, 1.02))
    finished(axes, name, "level", "coverage")
