"""Conformity angles: how far the centre is from explaining each decision (the calibration problem, Theorem 1).

Each angle is one projection on a cone. The problem states its cones as data; the route is chosen by their form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conformio.calibration.batches import Batch
from conformio.calibration.cuts import project_by_cuts
from conformio.calibration.generators import project_generated
from conformio.calibration.potentials import project_paths
from conformio.calibration.projections import Projections
from conformio.calibration.stationarity import project_stationary
from conformio.checks import FloatArray, IntArray, check_choice
from conformio.problems import Problem
from conformio.problems.cones import CutCones, GeneratedCones, PathCones, StationaryCones

__all__ = ["conformity_angles", "measure_all"]

_ROUTES: dict[type, Callable[[Any, FloatArray], Projections]] = {
    CutCones: project_by_cuts,
    GeneratedCones: project_generated,
    PathCones: project_paths,
    StationaryCones: project_stationary,
}


def conformity_angles(
    problem: Problem,
    theta: ArrayLike,
    contexts: ArrayLike,
    decisions: Any,
    method: str = "auto",
    infeasible: str = "error",
    n_jobs: int | None = None,
) -> FloatArray:
    """Smallest angle between the centre and parameters that make each decision optimal.

    Parameters
    ----------
    problem : Problem
    theta : array-like, shape (n_params,) or (N, n_params)
        Centre, any length; one per row if it depends on the context.
    contexts : array-like, shape (N, context_width)
    decisions : array-like or sparse, shape (N, n_vars)
    method : {"auto", "reference"}
        The fast route for the problem's kind of cone, or the paper's conic programs, one per row.
    infeasible : {"error", "unexplained"}
        What to do with decisions outside `X(u)`: name the rows, or give them the angle pi and keep them.
    n_jobs : int, optional
        Threads; None is one, -1 all. The result does not depend on it.

    Returns
    -------
    array, shape (N,)
        Radians. 0 where the centre explains the decision; pi where no parameters strictly within 90
        degrees of it do.

    Raises
    ------
    InvalidInputError
        For arguments out of range, and for infeasible decisions unless `infeasible="unexplained"`.

    Examples
    --------
    >>> import conformio as cio
    >>> problem = cio.Knapsack(weights=[1.0, 1.0])
    >>> angle = cio.conformity_angles(problem, [1.0, 2.0], [1.0], [[1.0, 0.0]])
    >>> float(angle.round(4)[0])  # arctan(2) - pi / 4
    0.3218
    """
    where = "conformity_angles"
    check_choice(method, ("auto", "reference"), "method", where)
    batch = Batch.checked(problem, theta, contexts, decisions, infeasible, n_jobs, where)
    return measure_all(batch, Batch.reference if method == "reference" else _measure)


def measure_all(batch: Batch, measure: Callable[[Batch, IntArray], FloatArray] | None = None) -> FloatArray:
    """Angles of all rows, pi where they are infeasible."""
    angles = np.full(len(batch.contexts), np.pi)
    for rows, values in batch.map(measure or _measure, batch.feasible):
        angles[rows] = values
    return angles


def _measure(batch: Batch, rows: IntArray) -> FloatArray:
    cones = batch.cones(rows)
    projections = _ROUTES[type(cones)](cones, batch.centers_of(rows))
    return batch.angles_of(projections, rows, np.arange(len(rows)))
