"""What prescriptions cost, or how closely they follow what people did, against the level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conformio.checks import Decisions, as_flag, check_choice, check_some_rows
from conformio.errors import invalid
from conformio.metrics import actual_optimality_gap, adherence, perceived_optimality_gap
from conformio.model import ConformalIO
from conformio.plots.canvas import as_axes, check_axes, draw_against_level
from conformio.plots.levels import as_levels, as_model

__all__ = ["gaps"]

_NAMES = {
    "adherence": "adherence (exact)",
    "jaccard": "adherence (Jaccard)",
    "actual": "actual optimality gap",
    "perceived": "perceived optimality gap",
}


def gaps(
    model: Any,
    contexts: ArrayLike,
    decisions: Any = None,
    theta: ArrayLike | None = None,
    measure: str = "adherence",
    relative: bool = False,
    levels: Any = None,
    ax: Any = None,
) -> Any:
    """Draw a mean measure of robust decisions at several levels, and of the nominal ones.

    Parameters
    ----------
    model : ConformalIO
        Fitted.
    contexts : array-like
        What to prescribe for.
    decisions : array-like or CSR, optional
        What people did there; needed, and allowed, with "adherence" and "jaccard".
    theta : array-like, optional
        The true parameters (n_params,) with "actual"; each decision maker's own, (N, n_params), with
        "perceived". Only simulations know them.
    measure : {"adherence", "jaccard", "actual", "perceived"}
        The share of decisions met exactly, the overlap of 0/1 decisions, or one of the two optimality gaps.
    relative : bool
        Gaps as shares of the optimal values.
    levels : sequence of confidence levels, optional
        None: 0.05, 0.1, ... as far as the calibration set can certify them.
    ax : matplotlib axes, optional
        None: those of a new figure.

    Returns
    -------
    ax : matplotlib axes

    Raises
    ------
    InvalidInputError
        For wrong arguments, and where matplotlib is missing.

    Examples
    --------
    >>> import conformio as cio
    >>> problem = cio.Knapsack([1.0, 1.0])
    >>> model = cio.ConformalIO(problem, cio.FixedParameters([2.0, 1.0]))
    >>> model = model.conformalize([1.0] * 9, [[1, 0]] * 6 + [[0, 1]] * 3)
    >>> cio.plots.gaps(model, [1.0, 1.0], [[1, 0], [0, 1]], levels=[0.5, 0.9]).get_ylabel()
    'adherence (exact)'
    """
    where = "plots.gaps"
    check_axes(ax, where)
    model = as_model(model, where)
    _check_measure(measure, decisions, theta, relative, where)
    check_some_rows(model.problem.check_contexts(contexts, where), where)
    chosen = as_levels(levels, model, 20, where)
    value = _measure(model, contexts, decisions, theta, measure, relative)
    robust = [value(model.predict(contexts, level)) for level in chosen]
    nominal = value(model.predict_nominal(contexts))
    ax = as_axes(ax)
    name = f"{'relative ' if relative else ''}{_NAMES[measure]}"
    draw_against_level(ax, [float(level) for level in chosen], robust, nominal, name)
    return ax


def _check_measure(measure: str, decisions: Any, theta: Any, relative: bool, where: str) -> None:
    check_choice(measure, tuple(_NAMES), "measure", where)
    relative, needs_theta = as_flag(relative, "relative", where), measure in ("actual", "perceived")
    for argument, given, needed in (("decisions", decisions, not needs_theta), ("theta", theta, needs_theta)):
        if needed and given is None:
            raise invalid(argument, where, f'must be given with measure="{measure}"', None)
        if not needed and given is not None:
            remedy = "Leave it out, or choose another measure"
            raise invalid(argument, where, f'has no meaning with measure="{measure}"', argument, remedy=remedy)
    if relative and not needs_theta:
        raise invalid("relative", where, f'must be False with measure="{measure}"', relative)


def _measure(
    model: ConformalIO, contexts: Any, decisions: Any, theta: Any, measure: str, relative: bool
) -> Callable[[Decisions], float]:
    if measure in ("actual", "perceived"):
        gap = actual_optimality_gap if measure == "actual" else perceived_optimality_gap
        return lambda plan: gap(model.problem, theta, contexts, plan, relative)
    kind = "exact" if measure == "adherence" else "jaccard"
    return lambda plan: float(np.mean(adherence(plan, decisions, kind)))
