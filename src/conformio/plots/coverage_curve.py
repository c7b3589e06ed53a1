"""Coverage of new decisions against the level, over the band in which exchangeable ones keep it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conformio.metrics import coverage as share_covered
from conformio.metrics import coverage_interval
from conformio.plots.canvas import as_axes, check_axes, draw_band
from conformio.plots.levels import as_levels, as_model

__all__ = ["coverage"]


def coverage(
    model: Any, contexts: ArrayLike, decisions: Any, levels: Any = None, ax: Any = None, mass: float = 0.99
) -> Any:
    """Draw the coverage of decisions that neither trained nor calibrated, at many levels.

    Covered is a decision whose inverse-feasible set the calibrated set meets. The band holds the observed share at
    each level with probability at least `mass`, exactly (beta-binomial), when no two angles are equal; with ties
    the share can only lie higher.

    Parameters
    ----------
    model : ConformalIO
        Fitted.
    contexts, decisions
        New decisions, as for `ConformalIO.covers`.
    levels : sequence of confidence levels, optional
        None: 0.02, 0.04, ... as far as the calibration set can certify them; the one level calibrated with
        ``scores="level"``.
    ax : matplotlib axes, optional
        None: those of a new figure.
    mass : float
        In (0, 1].

    Returns
    -------
    ax : matplotlib axes

    Raises
    ------
    InvalidInputError
        For wrong arguments, infeasible decisions, and where matplotlib is missing.

    Examples
    --------
    >>> import conformio as cio
    >>> problem = cio.Knapsack([1.0, 1.0])
    >>> model = cio.ConformalIO(problem, cio.FixedParameters([2.0, 1.0]))
    >>> model = model.conformalize([1.0] * 9, [[1, 0]] * 6 + [[0, 1]] * 3)
    >>> cio.plots.coverage(model, [1.0, 1.0], [[1, 0], [0, 1]], levels=[0.5, 0.9]).get_ylabel()
    'coverage'
    """
    where = "plots.coverage"
    check_axes(ax, where)
    model = as_model(model, where)
    chosen = as_levels(levels, model, 50, where)
    found = model.angles(contexts, decisions)
    shares = [share_covered(found, model.angle(level)) for level in chosen]
    bands = np.array([coverage_interval(model.n_calibration_, level, len(found), mass) for level in chosen])
    ax = as_axes(ax)
    draw_band(ax, [float(level) for level in chosen], shares, bands[:, 0], bands[:, 1], mass)
    ax.set_title(f"{len(found)} new decisions, {model.n_calibration_} calibrated", fontsize="medium")
    return ax
