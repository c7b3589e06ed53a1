"""Projection on cones given by KKT conditions: convex programs, and linear programs restricted to the orthant.

The cone is `{theta : J theta + R v + L w = 0, v >= 0, theta_S >= 0}`. Clarabel finds which constraints are active;
the projection is then recomputed on that face in closed form and kept if it is feasible and no farther away.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from conformio.calibration.least_squares import fit_nonnegative
from conformio.calibration.projections import Projections
from conformio.checks import BoolArray, FloatArray
from conformio.errors import SolverError
from conformio.problems.cones import StationaryCone, StationaryCones
from conformio.solvers import ConeSpec, ConicModel

__all__ = ["project_stationary", "project_stationary_row", "stationary_cone_program"]

_CONIC_ERROR = 1e-8
_PENALTY = 1e5
_NEGLIGIBLE = 1e-8


def project_stationary(cones: StationaryCones, centers: FloatArray) -> Projections:
    """Project unit `centers` (N, d) on one stationary cone per row."""
    results = [project_stationary_row(row, cones.nonnegative, c) for row, c in zip(cones.rows, centers, strict=True)]
    feet = np.array([foot for foot, _ in results]).reshape(centers.shape)
    return Projections.of_feet(centers, feet, np.array([error for _, error in results]))


def project_stationary_row(
    cone: StationaryCone, nonnegative: BoolArray, center: FloatArray
) -> tuple[FloatArray, float]:
    """The projection, and a bound on the absolute error of its distance."""
    try:
        solution = stationary_cone_program(cone, nonnegative, center).solve()
    except SolverError:  # cones that are {0} or a single ray have no interior: decide by penalties which face it is
        return _project_by_penalty(cone, nonnegative, center)
    n, d = cone.gradients.shape
    n_signs = int(nonnegative.sum())
    bounds = slice(n, n + n_signs + cone.rays.shape[1])
    held = solution.z[bounds] > solution.s[bounds]  # complementarity: at its bound where the multiplier wins
    at_zero = nonnegative.copy()
    at_zero[nonnegative] = held[:n_signs]
    rough = solution.x[1 : d + 1]
    polished = _project_on_face(cone, at_zero, ~held[n_signs:], center)
    excess = float(np.linalg.norm(center - polished)) - solution.bound
    if abs(excess) <= _CONIC_ERROR and _is_member(cone, nonnegative, polished):
        return polished, 0.0
    return rough, abs(solution.value - solution.bound)


def _project_by_penalty(cone: StationaryCone, nonnegative: BoolArray, center: FloatArray) -> tuple[FloatArray, float]:
    """The conditions as heavy rows of nonnegative least squares; their face is kept if its projection is a member."""
    d, m = cone.gradients.shape[1], cone.rays.shape[1]
    signed = np.hstack([np.eye(d), -np.eye(d)[:, ~nonnegative]])  # free parameters as differences
    balance = np.hstack([cone.gradients @ signed, cone.rays, cone.lines, -cone.lines])
    distance = np.hstack([signed, np.zeros((d, balance.shape[1] - signed.shape[1]))])
    weights, _ = fit_nonnegative(
        np.vstack([_PENALTY * balance, distance]), np.concatenate([np.zeros(len(balance)), center])
    )
    theta, rays = signed @ weights[: signed.shape[1]], weights[signed.shape[1] : signed.shape[1] + m]
    foot = _project_on_face(cone, nonnegative & (theta <= _NEGLIGIBLE), rays > _NEGLIGIBLE, center)
    moved = float(np.linalg.norm(foot - theta))
    known = moved <= 1e3 * _NEGLIGIBLE and _is_member(cone, nonnegative, foot)
    return foot, 0.0 if known else max(moved, 1.0)


def stationary_cone_program(cone: StationaryCone, nonnegative: BoolArray, center: FloatArray) -> ConicModel:
    """`min t` over `|theta - center| <= t`, `theta` in the cone; variables (t, theta, v, w)."""
    n, d = cone.gradients.shape
    m, k = cone.rays.shape[1], cone.lines.shape[1]
    size = 1 + d + m + k
    balance = np.hstack([np.zeros((n, 1)), cone.gradients, cone.rays, cone.lines])
    identity = sparse.eye_array(size, format="csr")
    signs = -identity[np.r_[1 + np.flatnonzero(nonnegative), 1 + d : 1 + d + m].astype(int)]
    cut = int(nonnegative.sum()) + m
    matrix = sparse.vstack([sparse.csr_array(balance), signs, -identity[: d + 1]])
    sides = np.concatenate([np.zeros(n + cut + 1), -center])
    costs = np.zeros(size)
    costs[0] = 1.0
    cones: list[ConeSpec] = [("zero", n), ("nonnegative", cut), ("second_order", d + 1)]
    return ConicModel(None, costs, matrix, sides, cones, where="conformity_angles")


def _project_on_face(
    cone: StationaryCone, at_zero: BoolArray, active_rays: BoolArray, center: FloatArray
) -> FloatArray:
    """Closest point of `{theta : theta_Z = 0, J theta in span(active rays, lines)}`, a linear subspace."""
    reach = np.hstack([cone.rays[:, active_rays], cone.lines])
    conditions = cone.gradients[:, ~at_zero]
    if reach.shape[1]:
        frame = _column_space(reach)
        conditions = conditions - frame @ (frame.T @ conditions)
    foot = np.zeros_like(center)
    rows = _column_space(conditions.T)
    free = center[~at_zero]
    foot[~at_zero] = free - rows @ (rows.T @ free)
    return foot


def _column_space(matrix: FloatArray) -> FloatArray:
    left, values, _ = np.linalg.svd(matrix, full_matrices=False)
    return left[:, values > 1e-10 * max(values[0], 1.0)] if len(values) else left[:, :0]


def _is_member(cone: StationaryCone, nonnegative: BoolArray, theta: FloatArray) -> bool:
    """Whether `theta` satisfies the KKT conditions with some nonnegative multipliers, to 1e-9."""
    if (theta[nonnegative] < -1e-12).any():
        return False
    target = -cone.gradients @ theta
    generators = np.hstack([cone.rays, cone.lines, -cone.lines])
    if not generators.shape[1]:
        return bool(np.linalg.norm(target) <= 1e-9)
    weights, _ = fit_nonnegative(generators, target)
    return bool(np.linalg.norm(generators @ weights - target) <= 1e-9 * max(1.0, float(np.abs(cone.gradients).max())))
