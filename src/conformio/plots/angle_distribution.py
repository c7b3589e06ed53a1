"""How conformity angles are distributed, as the curve on which a level becomes an angle."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conformio.calibration import calibrated_angle
from conformio.checks import FloatArray, as_angles
from conformio.errors import invalid
from conformio.model import ConformalIO
from conformio.plots.canvas import BLUE, GREY, ORANGE, as_axes, check_axes
from conformio.plots.levels import as_model
from conformio.ranks import ConfidenceLevel

__all__ = ["angles"]


def angles(source: ConformalIO | ArrayLike, confidence_level: ConfidenceLevel | None = None, ax: Any = None) -> Any:
    """Draw the share of angles up to each size, where a level cuts it, ties there, and what is unexplained.

    Equal angles are a step of the curve; the step at the calibrated angle, the tie mass, is marked. Unexplained
    decisions (angle pi) lie beyond every other angle: the curve ends below 1, and the strip above its end is them.

    Parameters
    ----------
    source : ConformalIO, or array-like of angles (N,) in radians
        A fitted model shows its calibration angles.
    confidence_level : float, int, Decimal or Fraction, optional
        None: the model's own; for bare angles no level is marked.
    ax : matplotlib axes, optional
        None: those of a new figure.

    Returns
    -------
    ax : matplotlib axes

    Raises
    ------
    InvalidInputError
        For wrong arguments, a model that knows the angle of one level only, and where matplotlib is missing.

    Examples
    --------
    >>> import conformio as cio
    >>> ax = cio.plots.angles([0.0, 0.0, 0.1, 0.2, 3.141592653589793], confidence_level=0.5)
    >>> ax.get_ylabel()
    'share of decisions'
    """
    where = "plots.angles"
    check_axes(ax, where)
    values, level = _values(source, confidence_level, where)
    cut = None if level is None else calibrated_angle(values, level)
    ax = as_axes(ax)
    explained = np.degrees(values[values < np.pi])
    right = _right_end(explained)
    _draw_curve(ax, explained, len(values), right)
    _draw_unexplained(ax, explained, len(values))
    if level is not None and cut is not None:
        _draw_level(ax, values, float(level), cut, right)
    ax.set(xlabel="conformity angle (degrees)", ylabel="share of decisions", xlim=(-0.02 * right, right))
    ax.set_ylim(0, 1.02)
    ax.grid(alpha=0.3)
    ax.legend(loc="lower right")
    return ax


def _values(source: Any, level: ConfidenceLevel | None, where: str) -> tuple[FloatArray, ConfidenceLevel | None]:
    if not isinstance(source, ConformalIO):
        return as_angles(source, "angles", where), level
    model = as_model(source, where)
    if not hasattr(model, "scores_"):
        rule, remedy = "must know all its angles", 'Set scores="all" and call conformalize'
        raise invalid("source", where, rule, 'a model calibrated with scores="level"', remedy=remedy)
    return model.scores_, model.confidence_level if level is None else level


def _right_end(explained: FloatArray) -> float:
    largest = float(explained.max()) if len(explained) else 0.0
    return 1.08 * largest if largest else 1.0


def _draw_curve(ax: Any, explained: FloatArray, n: int, right: float) -> None:
    x = np.concatenate([[0.0], np.sort(explained), [right]])
    share = np.concatenate([np.arange(len(explained) + 1), [len(explained)]]) / n
    ax.step(x, share, where="post", color=BLUE, linewidth=1.8, label=f"{n} decisions")


def _draw_unexplained(ax: Any, explained: FloatArray, n: int) -> None:
    missing = n - len(explained)
    if missing:
        label = f"unexplained: {missing} ({missing / n:.1%})"
        ax.axhspan(1 - missing / n, 1.0, facecolor="none", edgecolor=GREY, hatch="///", linewidth=0.8, label=label)


def _draw_level(ax: Any, values: FloatArray, level: float, cut: float, right: float) -> None:
    if cut == np.pi:
        ax.axhline(level, color=ORANGE, linestyle="--", linewidth=1.3, label=f"level {level:g}: everything (180°)")
        return
    at, below, upto = np.degrees(cut), float((values < cut).mean()), float((values <= cut).mean())
    ax.plot([-0.02 * right, at], [level, level], color=ORANGE, linestyle="--", linewidth=1.3)
    label = f"level {level:g}: {at:.3g}°"
    ax.plot([at, at], [0.0, level], color=ORANGE, linestyle="--", linewidth=1.3, label=label)
    if (values == cut).sum() > 1:
        ax.plot([at, at], [below, upto], color=ORANGE, linewidth=4, solid_capstyle="butt", alpha=0.8,
                label=f"tied there: {upto - below:.1%}")  # fmt: skip
