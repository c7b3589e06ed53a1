"""Projection on cones known only through the forward solver: integer programs, knapsacks, users' own oracles.

Start without constraints, project, solve the forward problem at the projection, add the violated inequality
`theta . (basis(x) - basis(x_hat)) >= 0` (reversed for `max`), repeat until none is violated (paper, appendix "Solving
the Calibration Problem"). Each projection is a nonnegative least-squares problem in the cuts' multipliers. All rows of
a batch advance together, so that the forward problem is solved in batches too.
"""

from __future__ import annotations

import numpy as np

from conformio.calibration.least_squares import fit_nonnegative
from conformio.calibration.projections import NO_EXPLANATION, Projections
from conformio.checks import FloatArray, dense
from conformio.errors import RowError, SolverError
from conformio.problems.cones import CutCones

__all__ = ["project_by_cuts"]

_VIOLATED = 1e-11
_MAX_ROUNDS = 10_000


def project_by_cuts(cones: CutCones, centers: FloatArray) -> Projections:
    """Project unit `centers` (N, d) on one cone per row, to a violation of 1e-11 relative to the cut's length."""
    feet = centers.copy()
    cuts: list[list[FloatArray]] = [[] for _ in range(len(cones))]
    violations = np.zeros(len(cones))
    pending = np.arange(len(cones))
    for _ in range(_MAX_ROUNDS):
        if not len(pending):
            return Projections.of_feet(centers, feet, violations)
        fresh = _new_cuts(cones, feet[pending], pending)
        still = []
        for row, cut in zip(pending, fresh, strict=True):
            length = float(np.linalg.norm(cut))
            violations[row] = max(-float(feet[row] @ cut) / length, 0.0) if length else 0.0
            known = any(np.array_equal(cut, old) for old in cuts[row])
            if violations[row] <= _VIOLATED or known:
                continue
            cuts[row].append(cut)
            feet[row], slack = _project(np.array(cuts[row]).T, centers[row], cones.problem.domain == "nonnegative")
            if slack > _VIOLATED:
                violations[row] = slack
                continue
            if np.linalg.norm(feet[row]) > NO_EXPLANATION:
                still.append(row)
            else:
                violations[row] = 0.0  # the origin satisfies every cut still missing
        pending = np.array(still, dtype=np.int64)
    raise SolverError("conformity_angles", f"no convergence after {_MAX_ROUNDS} cuts; rescale theta", int(pending[0]))


def _new_cuts(cones: CutCones, thetas: FloatArray, rows: np.ndarray) -> FloatArray:
    problem = cones.problem
    scaled = thetas / np.linalg.norm(thetas, axis=1, keepdims=True)
    try:
        best = problem.basis(problem.nominal(scaled, cones.contexts[rows]))
    except RowError as error:
        row = None if error.row is None else int(rows[error.row])
        raise error.moved("conformity_angles", row) from error
    return np.asarray(problem.sign * (dense(best) - cones.bases[rows]))


def _project(cuts: FloatArray, center: FloatArray, nonnegative: bool) -> tuple[FloatArray, float]:
    """Closest `theta` to `center` with `cuts' theta >= 0` (columns), and `theta >= 0` if asked."""
    columns = np.hstack([cuts, np.eye(len(center))]) if nonnegative else cuts
    multipliers, violation = fit_nonnegative(columns, -center)
    foot = center + columns @ multipliers
    return np.asarray(np.maximum(foot, 0.0) if nonnegative else foot), violation
