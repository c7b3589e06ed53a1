"""Conformity angles: how far the centre is from explaining each decision (the calibration problem, Theorem 1).

Each angle is one projection on a cone. The problem states its cones as data; the route is chosen by their form.
Rows are measured in blocks of fixed size, so that the number of workers never changes a bit of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conformio.calibration.cuts import project_by_cuts
from conformio.calibration.generators import project_generated
from conformio.calibration.potentials import project_paths
from conformio.calibration.projections import Projections
from conformio.calibration.reference import project_by_reference
from conformio.calibration.stationarity import project_stationary
from conformio.checks import Decisions, FloatArray, as_parameters, as_workers, check_choice, unit_rows
from conformio.errors import RowError
from conformio.problems import Problem
from conformio.problems.cones import CutCones, GeneratedCones, PathCones, StationaryCones

__all__ = ["conformity_angles"]

_ROUTES: dict[type, Callable[[Any, FloatArray], Projections]] = {
    CutCones: project_by_cuts,
    GeneratedCones: project_generated,
    PathCones: project_paths,
    StationaryCones: project_stationary,
}
_BLOCK = 512
_REMEDY = (
    'Correct them, move them with `nearest_rationalizable`, or pass infeasible="unexplained" to keep them at angle pi'
)


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
    check_choice(infeasible, ("error", "unexplained"), "infeasible", where)
    contexts, decisions = problem.check_rows(contexts, decisions, where)
    theta = as_parameters(theta, len(contexts), problem.n_params, problem.domain, where)
    centers = unit_rows(theta, "theta", where)
    workers = as_workers(n_jobs, where)
    if infeasible == "error":
        problem.require_feasible(decisions, contexts, where, _REMEDY)
        rows = np.arange(len(contexts))
    else:
        rows = np.flatnonzero(problem.feasible(decisions, contexts))
    angles = np.full(len(contexts), np.pi)
    blocks = [rows[start : start + _BLOCK] for start in range(0, len(rows), _BLOCK)]
    with ThreadPoolExecutor(workers) as pool:
        measured = pool.map(lambda block: _measure(problem, contexts, decisions, centers, block, method, where), blocks)
        for block, values in zip(blocks, measured, strict=True):
            angles[block] = values
    return angles


def _measure(
    problem: Problem,
    contexts: FloatArray,
    decisions: Decisions,
    centers: FloatArray,
    rows: np.ndarray,
    method: str,
    where: str,
) -> FloatArray:
    ours = centers[rows] if centers.ndim == 2 else np.broadcast_to(centers, (len(rows), len(centers)))
    try:
        if method == "reference":
            return project_by_reference(problem, contexts[rows], decisions[rows], ours).angles
        cones = problem.cones(contexts[rows], decisions[rows])
        projections = _ROUTES[type(cones)](cones, ours)
        angles = projections.angles
        doubtful = np.flatnonzero(~projections.certified)
        if len(doubtful):
            angles[doubtful] = project_by_reference(
                problem, contexts[rows[doubtful]], decisions[rows[doubtful]], ours[doubtful]
            ).angles
        return angles
    except RowError as error:
        raise error.moved(where, None if error.row is None else int(rows[error.row])) from error
