"""Projection on cones known only through the forward solver: integer programs, knapsacks, users' own oracles.

Start without constraints, project, solve the forward problem at the projection, add the violated inequality
`theta . (basis(x) - basis(x_hat)) >= 0` (reversed for `max`), repeat until none is violated (paper, appendix "Solving
the Calibration Problem"). Each projection is a nonnegative least-squares problem in the cuts' multipliers. All rows of
a batch advance together, so that the forward problem is solved in batches too and one compiled call a round
(`_kernels.cut_projections`) takes in all the answers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conformio._kernels.cut_projections import cut_round
from conformio.calibration.projections import NO_EXPLANATION, Projections
from conformio.checks import FloatArray, dense
from conformio.errors import SolverError, told_of
from conformio.problems.cones import CutCones

__all__ = ["project_by_cuts"]

_VIOLATED = 1e-11
_MAX_ROUNDS = 10_000


def project_by_cuts(cones: CutCones, centers: FloatArray) -> Projections:
    """Project unit `centers` (N, d) on one cone per row, to a violation of 1e-11 relative to the cut's length."""
    n_rows, centers = len(cones), np.ascontiguousarray(centers)
    feet, violations = centers.copy(), np.zeros(n_rows)
    pool, older, used = np.empty((2 * n_rows, centers.shape[1])), np.empty(2 * n_rows, dtype=np.int64), 0
    newest, pending = np.full(n_rows, -1, dtype=np.int64), np.arange(n_rows)
    nonnegative = cones.problem.domain == "nonnegative"
    for _ in range(_MAX_ROUNDS):
        if not len(pending):
            return Projections.of_feet(centers, feet, violations)
        fresh = _new_cuts(cones, feet[pending], pending)
        if used + len(pending) > len(pool):
            pool, older = _twice_as_long(pool), _twice_as_long(older)
        used, still = cut_round(
            pool, older, newest, used, fresh, pending, centers, feet, violations, nonnegative, _VIOLATED, NO_EXPLANATION
        )
        pending = pending[still]
    raise SolverError("conformity_angles", f"no convergence after {_MAX_ROUNDS} cuts; rescale theta", int(pending[0]))


def _twice_as_long(rows: Any) -> Any:
    longer = np.empty((2 * len(rows), *rows.shape[1:]), dtype=rows.dtype)
    longer[: len(rows)] = rows
    return longer


def _new_cuts(cones: CutCones, thetas: FloatArray, rows: np.ndarray) -> FloatArray:
    problem = cones.problem
    scaled = thetas / np.linalg.norm(thetas, axis=1, keepdims=True)
    with told_of("conformity_angles", rows):
        best = problem.basis(problem.nominal(scaled, cones.contexts[rows]))
    return np.ascontiguousarray(problem.sign * (dense(best) - cones.bases[rows]))
