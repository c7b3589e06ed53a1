"""The demonstration as one HTML file that needs nothing else: a table, two figures, what is certified."""

from __future__ import annotations

import base64
import io
from dataclasses import astuple
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Any

from conformio.errors import InvalidInputError, invalid
from conformio.plots.canvas import draw_against_level, draw_band
from conformio.studies.demo import DemoResult, DemoRow, certificate

__all__ = ["COLUMNS", "above_the_band", "check_can_plot", "prepared_folder", "table_cells", "write_report"]

COLUMNS = ("method", "level", "coverage", "angle (deg)", "AOG", "POG", "adherence", "seconds")

_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Conformio demo</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; color: #222; }
body { max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
.wide { overflow-x: auto; }
img { width: 100%; height: auto; }
</style>
</head>
<body>
<h1>Routes on the paper's road grid</h1>
<p>$people simulated decision makers: $train train, $calibration calibrate, $test test. AOG and POG are mean
excess travel costs, under the true costs and under each driver's own; smaller is better.</p>
<div class="wide"><table>
<thead><tr>$head</tr></thead>
<tbody>
$body
</tbody>
</table></div>
<h2>What is certified</h2>
<p>$certificate</p>
<h2>Coverage against level</h2>
<img alt="Coverage of the test decisions against the level, with the exact band" src="$coverage_figure">
<p>At each level the band holds the coverage of the test decisions with probability at least 0.99 when no two
angles are equal. Here $ties of the calibration angles are exactly 0: at levels up to about that share the set is a
single point, and the coverage stays at about that share however low the level. $above</p>
<h2>Optimality gaps against level</h2>
<img alt="AOG and POG of the conformal pipeline against the level, with the classic ones" src="$gap_figure">
</body>
</html>
""")


def check_can_plot() -> None:
    """Refuse early, with the remedy, when matplotlib is missing."""
    if find_spec("matplotlib") is None:
        raise InvalidInputError('the report needs matplotlib. Run: pip install "conformio[plots]"')


def prepared_folder(folder: str | Path) -> Path:
    """The folder, made if missing; an error before any work is done when that fails."""
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        rule = f"must be a folder that can be made and written ({error.strerror})"
        raise invalid("out", "demo", rule, str(target)) from error
    return target


def write_report(result: DemoResult, folder: Path) -> Path:
    """Write `report.html` into the folder and return its path.

    Raises
    ------
    InvalidInputError
        If matplotlib is missing or the file cannot be written.
    """
    check_can_plot()
    path = folder / "report.html"
    try:
        path.write_text(_page(result), encoding="utf-8")
    except OSError as error:
        rule = f"must be a folder that can be written ({error.strerror})"
        raise invalid("out", "demo", rule, str(folder)) from error
    return path


def table_cells(row: DemoRow) -> list[str]:
    """One row of the table as text, in the order of `COLUMNS`."""
    return [
        row.method,
        "-" if row.level is None else f"{row.level:g}",
        "-" if row.coverage is None else f"{row.coverage:.3f}",
        "-" if row.angle_degrees is None else f"{row.angle_degrees:.2f}",
        f"{row.aog:.3f}",
        f"{row.pog:.3f}",
        f"{row.adherence:.3f}",
        f"{row.seconds:.4f}",
    ]


def _page(result: DemoResult) -> str:
    rows = ("".join(f"<td>{cell}</td>" for cell in table_cells(row)) for row in result.rows)
    return _PAGE.substitute(
        people=result.n_train + result.n_calibration + result.n_test,
        train=result.n_train,
        calibration=result.n_calibration,
        test=result.n_test,
        head="".join(f"<th>{name}</th>" for name in COLUMNS),
        body="\n".join(f"<tr>{cells}</tr>" for cells in rows),
        certificate=certificate(result),
        ties=f"{result.zero_angle_share:.1%}",
        above=above_the_band(result),
        coverage_figure=_coverage_figure(result),
        gap_figure=_gap_figure(result),
    )


def above_the_band(result: DemoResult) -> str:
    """At which of the levels shown the coverage lies above the band."""
    levels = [point.level for point in result.coverage_curve if point.coverage > point.high]
    if not levels:
        return "It lies above the band at none of the levels shown."
    shown = f"{levels[0]:g}" if len(levels) == 1 else f"{len(levels)} levels from {levels[0]:g} to {levels[-1]:g}"
    return f"It lies above the band at {shown}."


def _coverage_figure(result: DemoResult) -> str:
    figure, (axes,) = _blank(1)
    levels, shares, low, high = zip(*(astuple(point) for point in result.coverage_curve), strict=True)
    draw_band(axes, levels, shares, low, high, 0.99)
    return _embedded(figure)


def _gap_figure(result: DemoResult) -> str:
    figure, panels = _blank(2)
    levels = [row.level for row in result.gap_curve]
    for axes, name in zip(panels, ("aog", "pog"), strict=True):
        robust, nominal = [getattr(row, name) for row in result.gap_curve], getattr(result.rows[0], name)
        draw_against_level(axes, levels, robust, nominal, f"mean {name.upper()}", ("conformal", "classic"))
    return _embedded(figure)


def _blank(n_panels: int) -> tuple[Any, Any]:
    # Figure without pyplot: no window system, no global state
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    return figure, figure.subplots(1, n_panels, squeeze=False)[0]


def _embedded(figure: Any) -> str:
    from matplotlib import rc_context

    stream = io.BytesIO()
    with rc_context({"svg.hashsalt": "conformio"}):
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return f"data:image/svg+xml;base64,{base64.b64encode(stream.getvalue()).decode()}"
