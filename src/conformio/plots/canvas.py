"""Axes to draw on, and the colours everything is drawn in.

Nothing here shows a figure or changes matplotlib's settings. The colours are those of Okabe and Ito, which people with
any of the common colour deficiencies tell apart; what they tell is told by shape as well.
"""

from __future__ import annotations

from typing import Any

from conformio.checks import described
from conformio.errors import invalid

__all__ = ["BLUE", "GREY", "LINES", "ORANGE", "as_axes", "check_axes", "draw_against_level", "draw_band"]

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#808080"
LINES = (("#0072B2", "-"), ("#E69F00", "-"), ("#000000", "-"), ("#009E73", ":"), ("#CC79A7", "-."), ("#56B4E9", "--"))
"""A colour and a line style for each of several routes: dark, light, dark, as they lie inside one another."""


def check_axes(ax: Any, where: str) -> None:
    """Refuse early what is neither axes nor None, and a missing matplotlib."""
    try:
        from matplotlib.axes import Axes
    except ImportError as error:
        remedy = 'Run: pip install "conformio[plots]"'
        raise invalid("ax", where, "needs matplotlib", "no matplotlib", remedy=remedy) from error
    if ax is not None and not isinstance(ax, Axes):
        remedy = "Write axes[0] for the first of several" if hasattr(ax, "__len__") else ""
        raise invalid("ax", where, "must be matplotlib axes or None", described(ax), remedy=remedy)


def as_axes(ax: Any) -> Any:
    """The axes that were given, or those of a new figure."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def draw_band(ax: Any, levels: Any, shares: Any, low: Any, high: Any, mass: float) -> None:
    """Observed coverage against level, over the band that holds it."""
    ax.fill_between(levels, low, high, color=BLUE, alpha=0.22, linewidth=0, label=f"exact {100 * mass:g}% band")
    ax.plot([0.0, 1.0], [0.0, 1.0], color=GREY, linewidth=1, label="coverage = level")
    ax.plot(levels, shares, "o-", color=BLUE, markersize=3.5, linewidth=1.5, label="observed")
    ax.set(xlabel="confidence level", ylabel="coverage", xlim=(0, 1), ylim=(0, 1.02))
    ax.grid(alpha=0.3)
    ax.legend(loc="lower right")


def draw_against_level(
    ax: Any, levels: Any, robust: Any, nominal: float, name: str, kinds: tuple[str, str] = ("robust", "nominal")
) -> None:
    """A measure of robust decisions against their level, and of the nominal ones, which have none."""
    ax.plot(levels, robust, "o-", color=BLUE, markersize=4, label=kinds[0])
    ax.axhline(nominal, color=ORANGE, linestyle="--", label=kinds[1])
    ax.set(xlabel="confidence level", ylabel=name, xlim=(0, 1))
    ax.grid(alpha=0.3)
    ax.legend(loc="best")
