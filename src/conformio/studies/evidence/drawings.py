"""Figures as files with the same bytes every time: no dates, no random names, no window system."""

from __future__ import annotations

import io
from typing import Any, Literal

from conformio.studies.evidence.sections import Figure

__all__ = ["COLOURS", "finished", "image"]

COLOURS = ("#1f4e79", "#b5651d", "#4b8b3b", "#7a3b8f")
"""For series, in order; readable beside each other in print and for most kinds of colour blindness."""

_STYLE = {
    "svg.hashsalt": "conformio",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial", "sans-serif"],
    "font.size": 8.0,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.fontsize": 7.0,
    "savefig.dpi": 130,
}


def image(figure: Figure, kind: Literal["svg", "png"]) -> bytes:
    """The drawing as the content of a file."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Canvas

    stream = io.BytesIO()
    (rows, columns), (width, height) = figure.shape, figure.panel
    with rc_context(_STYLE):
        canvas = Canvas(figsize=(columns * width, rows * height), layout="constrained")
        figure.draw(canvas.subplots(rows, columns, squeeze=False))
        canvas.savefig(stream, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": None})
    return stream.getvalue()


def finished(axes: Any, title: str, across: str, up: str, legend: bool = False) -> None:
    """Title and labels of a panel, and its legend where wanted."""
    axes.set_title(title, fontsize=8.0)
    axes.set(xlabel=across, ylabel=up)
    if legend:
        axes.legend(loc="best", frameon=False)
