"""The slow, independent route: the paper's calibration problems in Clarabel, one per observation.

Linear programs and shortest paths use strong duality (paper, appendix "Solving the Calibration Problem", with the
right-hand side `theta_ij` of correction E8), everything else cutting planes through the forward problem itself.
All minimise the distance `|theta - center|` instead of maximising the cosine: near cosine 1 the latter knows the
angle to half the digits only. Near 90 degrees it is the other way round, so there they maximise the cosine as the
paper does. Accuracy is the conic solver's, about 1e-8 radians; curved feasible sets, which cuts only touch, allow the
root of that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from conformio.calibration.projections import Projections
from conformio.checks import BoolArray, Decisions, FloatArray, dense
from conformio.errors import SolverError
from conformio.problems import Problem
from conformio.problems.cones import GeneratedCones, PathCones
from conformio.problems.polyhedra import Polyhedron, Sides
from conformio.solvers import ConeSpec, ConicModel, ConicSolution, HighsModel

__all__ = ["project_by_reference"]

_SEPARATION = 1e-9
_CONIC_ERROR = 1e-7
_NEARLY_ACROSS = 1e-2
_NO_COSINE = 1e-7
_MAX_CUTS = 5_000
_MAX_EXCLUDED = 1_000


def project_by_reference(
    problem: Problem, contexts: FloatArray, decisions: Decisions, centers: FloatArray
) -> Projections:
    """Project unit `centers` (N, d) on the inverse-feasible cone of each row by the paper's formulations."""
    cones = problem.cones(contexts, decisions)
    bases = dense(problem.basis(decisions))
    feet = np.empty_like(centers)
    for row, center in enumerate(centers):
        if isinstance(cones, (PathCones, GeneratedCones)):
            feet[row] = _strong_duality(problem, contexts[row], dense(decisions[[row]])[0], center, row)
        else:
            feet[row] = _cutting_planes(problem, contexts[row], bases[row], center, row)
    feet = _onto_rays(feet, centers)
    return Projections.of_feet(centers, feet, np.full(len(centers), _CONIC_ERROR))


def _onto_rays(feet: FloatArray, centers: FloatArray) -> FloatArray:
    """Slide each foot along its ray to the point closest to the centre.

    The solver knows the shortest distance to 1e-10 but the foot only to the root of that; on its ray the foot's error
    enters the angle in second order.
    """
    lengths = np.linalg.norm(feet, axis=1, keepdims=True)
    rays = np.where(lengths > 0.0, feet / np.where(lengths > 0.0, lengths, 1.0), 0.0)
    return np.asarray(rays * np.maximum((rays * centers).sum(axis=1, keepdims=True), 0.0))


def _strong_duality(
    problem: Problem, context: FloatArray, decision: FloatArray, center: FloatArray, row: int
) -> FloatArray:
    """`theta` closest to `center` for which dual multipliers of equal objective value exist at `decision`.

    For `min`, with multipliers `w` free, `v, p, q >= 0`: `theta = A_eq'w - A_ub'v + p - q` and
    `theta.x = b_eq.w - b_ub.v + lower.p - upper.q`; `max` negates `theta`.
    """
    polyhedron, sides = problem.polyhedron(), problem.sides(context)
    assert polyhedron is not None
    duals, values, n_free = _dual_columns(polyhedron, sides)
    sign = problem.sign
    d, k = len(center), duals.shape[1]
    stationarity = sparse.hstack([sparse.csr_array((d, 1)), -sign * sparse.eye_array(d), duals])
    equality = sparse.csr_array(np.concatenate([[0.0], -sign * decision, values])[None, :])
    identity = sparse.eye_array(1 + d + k, format="csr")
    held = np.arange(1 + d + n_free, 1 + d + k)
    if problem.domain == "nonnegative":
        held = np.concatenate([np.arange(1, 1 + d), held])
    matrix = sparse.vstack([stationarity, equality, -identity[held], -identity[: 1 + d]])
    rhs = np.concatenate([np.zeros(d + 1 + len(held) + 1), -center])
    cones: list[ConeSpec] = [("zero", d + 1), ("nonnegative", len(held)), ("second_order", d + 1)]
    return _foot(matrix, rhs, cones, center, row)


def _foot(matrix: Any, rhs: FloatArray, cones: list[ConeSpec], center: FloatArray, row: int) -> FloatArray:
    """The projection of `center`: `min t` over `(t, theta, ...)`, the last rows being `|theta - center| <= t`."""
    d = len(center)
    costs = np.zeros(matrix.shape[1])
    costs[0] = 1.0
    foot = _solve_patiently(costs, matrix, rhs, cones, row).x[1 : 1 + d]
    if np.linalg.norm(foot) > _NEARLY_ACROSS:
        return np.asarray(foot)
    # max theta . center over |theta| <= 1, the first variable being 1 now
    costs[: 1 + d] = np.append(0.0, -center)
    unit = sparse.csr_array(([1.0], ([0], [0])), shape=(1, len(costs)))
    sides = np.concatenate([[1.0], rhs[:-d], np.zeros(d)])
    theta = _solve_patiently(costs, sparse.vstack([unit, matrix]), sides, [("zero", 1), *cones], row).x[1 : 1 + d]
    cosine = float(theta @ center)
    return theta * cosine if cosine > _NO_COSINE else np.zeros(d)


def _dual_columns(polyhedron: Polyhedron, sides: Sides) -> tuple[Any, FloatArray, int]:
    """Columns of `(w, v, p, q)` in the stationarity rows, their objective values, and how many are free."""
    n = len(sides.lower)
    identity = sparse.eye_array(n, format="csc")
    low, high = np.isfinite(sides.lower), np.isfinite(sides.upper)
    columns = [polyhedron.A_eq.T, -polyhedron.A_ub.T, identity[:, low], -identity[:, high]]
    values = [sides.b_eq, -sides.b_ub, sides.lower[low], -sides.upper[high]]
    return sparse.hstack(columns, format="csr"), np.concatenate(values), len(sides.b_eq)


def _solve_patiently(costs: FloatArray, matrix: Any, rhs: FloatArray, cones: list[ConeSpec], row: int) -> ConicSolution:
    """Ask for 1e-10 first; degenerate cones make that unattainable, then accept 1e-8."""
    try:
        return ConicModel(None, costs, matrix, rhs, cones, where="conformity_angles").solve(row=row)
    except SolverError:
        return ConicModel(None, costs, matrix, rhs, cones, where="conformity_angles", tol=1e-8).solve(row=row)


def _cutting_planes(
    problem: Problem, context: FloatArray, base: FloatArray, center: FloatArray, row: int
) -> FloatArray:
    """The paper's cutting planes, masters in Clarabel, separation by a plain solver model where there is one."""
    sign = problem.sign
    separate = _separator(problem, context, row)
    cuts: list[FloatArray] = []
    theta = center
    while len(cuts) < _MAX_CUTS:
        length = float(np.linalg.norm(theta))
        if length == 0.0:
            return theta
        cut = sign * (separate(theta / length) - base)
        if theta @ cut >= -_SEPARATION * length * max(float(np.linalg.norm(cut)), 1.0):
            return theta
        if any(np.allclose(cut, old, atol=1e-9) for old in cuts):
            if theta @ cut >= -_CONIC_ERROR * length * max(float(np.linalg.norm(cut)), 1.0):
                return theta
            raise SolverError("conformity_angles", "the cuts no longer move the projection; rescale the problem", row)
        cuts.append(cut)
        theta = _closest_with_cuts(np.array(cuts), center, problem.nonnegative_params, row)
    raise SolverError("conformity_angles", f"no convergence after {_MAX_CUTS} cuts", row)


def _separator(problem: Problem, context: FloatArray, row: int) -> Callable[[FloatArray], FloatArray]:
    """`theta -> basis(best decision)`: HiGHS where the problem has a polyhedron, else the problem's own oracle."""
    polyhedron = problem.polyhedron()
    if polyhedron is None:
        return lambda theta: dense(problem.basis(problem.nominal(theta, context[None, :])))[0]
    sides = problem.sides(context)
    matrix = sparse.vstack([polyhedron.A_eq, polyhedron.A_ub], format="csr")
    low = np.concatenate([sides.b_eq, np.full(len(sides.b_ub), -np.inf)])
    high = np.concatenate([sides.b_eq, sides.b_ub])
    model = HighsModel(
        matrix,
        low,
        high,
        sides.lower,
        sides.upper,
        polyhedron.integrality,
        problem.sense,
        "conformity_angles",
    )
    return lambda theta: _within(problem, context, model, theta, row)


def _within(problem: Problem, context: FloatArray, model: HighsModel, theta: FloatArray, row: int) -> FloatArray:
    """The best decision; 0/1 decisions that only the solver's tolerance lets in are excluded one by one."""
    found = model.solve(costs=theta, row=row).x
    for _ in range(_MAX_EXCLUDED):
        if not problem.binary or problem.feasible(np.rint(found)[None, :], context[None, :])[0]:
            return found
        model.exclude(np.rint(found))
        found = model.solve(costs=theta, row=row).x
    raise SolverError("conformity_angles", "the constraints are finer than the solver's tolerance; rescale them", row)


def _closest_with_cuts(cuts: FloatArray, center: FloatArray, nonnegative: BoolArray, row: int) -> FloatArray:
    d = len(center)
    rows = np.vstack([cuts / np.linalg.norm(cuts, axis=1, keepdims=True), np.eye(d)[nonnegative]])
    held = sparse.hstack([sparse.csr_array((len(rows), 1)), -sparse.csr_array(rows)])
    matrix = sparse.vstack([held, -sparse.eye_array(1 + d)])
    rhs = np.concatenate([np.zeros(len(rows) + 1), -center])
    cones: list[ConeSpec] = [("nonnegative", len(rows)), ("second_order", d + 1)]
    return _foot(matrix, rhs, cones, center, row)
