"""Move decisions that nothing explains to the nearest ones that can be optimal (paper, remark "Feasibility").

Explicit preprocessing, never applied silently: it changes the data that calibration certifies. A decision can be
rationalised when some nonzero parameters of the problem's domain make it optimal.

Binary sets: the nearest feasible 0/1 vector solves the forward problem with costs `1 - 2 x_hat`. Linear programs: a
branch and bound over complementarity. A node asks for the nearest feasible point on the faces it has fixed; if that
point still has no explanation, some normal that could explain it belongs to a constraint with slack, and the node
splits on that constraint: tight, or without a multiplier.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from conformio.calibration.least_squares import fit_nonnegative
from conformio.checks import Decisions, FloatArray, as_flag, dense
from conformio.errors import CalibrationWarning, InfeasibleProblemError, SolverError, invalid, warn_caller
from conformio.problems import Problem
from conformio.solvers import ConeSpec, ConicModel

__all__ = ["nearest_rationalizable"]

_WHERE = "nearest_rationalizable"
_TIGHT = 1e-7
_MAX_NODES = 10_000


@overload
def nearest_rationalizable(problem: Problem, contexts: ArrayLike, decisions: Any) -> Decisions: ...
@overload
def nearest_rationalizable(
    problem: Problem, contexts: ArrayLike, decisions: Any, return_distances: Literal[True]
) -> tuple[Decisions, FloatArray]: ...


def nearest_rationalizable(
    problem: Problem, contexts: ArrayLike, decisions: Any, return_distances: bool = False
) -> Any:
    """Nearest decisions, in Euclidean distance, that are feasible and can be optimal.

    Parameters
    ----------
    problem : Problem
        A problem with binary decisions, or a linear program.
    contexts : array-like, shape (N, context_width)
    decisions : array-like or sparse, shape (N, n_vars)
    return_distances : bool, default=False
        Also return how far each row moved, shape (N,).

    Returns
    -------
    decisions : like the input, rows that could be optimal already unchanged
    distances : array (N,), only with `return_distances`

    Warns
    -----
    CalibrationWarning
        When any row moved: how many, how far, and which rows first.

    Raises
    ------
    InvalidInputError
        For problems that are neither binary nor linear programs.
    InfeasibleProblemError
        When no decision at all can be optimal for some row's context.

    Examples
    --------
    >>> import warnings
    >>> import conformio as cio
    >>> square = cio.LinearProgram(A_ub=[[1.0, 1.0]], upper=1.0)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     moved = nearest_rationalizable(square, [[3.0]], [[0.5, 0.9]])
    >>> moved
    array([[0.5, 1. ]])
    >>> str(caught[0].message)
    '1 of 1 decisions moved, by 0.1 at most; first rows: 0'
    """
    as_flag(return_distances, "return_distances", _WHERE)
    contexts, decisions = problem.check_rows(contexts, decisions, _WHERE)
    if problem.binary:
        moved = _nearest_binary(problem, contexts, dense(decisions))
    elif problem.convex and problem.polyhedron() is not None:
        rows = enumerate(zip(contexts, dense(decisions), strict=True))
        moved = np.array([_nearest_on_faces(_Faces.of(problem, u, k), x) for k, (u, x) in rows])
        moved = moved.reshape(-1, problem.n_vars)
    else:
        rule = "must have binary decisions or be a linear program"
        remedy = 'Correct such decisions by hand, or keep them with infeasible="unexplained"'
        raise invalid("problem", _WHERE, rule, type(problem).__name__, remedy=remedy)
    distances = np.linalg.norm(moved - dense(decisions), axis=1)
    _report(distances)
    result = sparse.csr_array(moved) if sparse.issparse(decisions) else moved
    return (result, distances) if return_distances else result


def _nearest_binary(problem: Problem, contexts: FloatArray, decisions: FloatArray) -> FloatArray:
    """Nearest feasible 0/1 vectors; in the nonnegative domain also such that some `theta_i > 0` is harmless."""
    moved = dense(_cheapest(problem, contexts, 1.0 - 2.0 * decisions))
    keep = problem.feasible(decisions, contexts)
    moved[keep] = decisions[keep]
    if problem.domain == "free":
        return moved
    stuck = moved.min(axis=1) == 1.0 if problem.sense == "min" else moved.max(axis=1) == 0.0
    for row in np.flatnonzero(stuck):
        moved[row] = _nearest_with_slack(problem, contexts[row], decisions[row], moved[row])
    return moved


def _cheapest(problem: Problem, contexts: FloatArray, costs: FloatArray) -> Decisions:
    return problem.nominal(problem.sign * costs, contexts)


def _nearest_with_slack(problem: Problem, context: FloatArray, observed: FloatArray, moved: FloatArray) -> FloatArray:
    """For all ones (`min`) or all zeros (`max`): optimal for some unit vector as it is, or one entry must flip."""
    n = len(observed)
    contexts = np.tile(context, (n, 1))
    units = np.eye(n)
    extreme = dense(problem.nominal(units, contexts))[np.arange(n), np.arange(n)]
    if (extreme == moved).any():
        return moved
    forced = units * (1.0 + np.abs(1.0 - 2.0 * observed).sum()) * problem.sign
    flipped = dense(_cheapest(problem, contexts, 1.0 - 2.0 * observed + forced))
    return np.asarray(flipped[np.argmin(np.square(flipped - observed).sum(axis=1))])


@dataclass(frozen=True)
class _Faces:
    """One context's polytope `{E x = e, G x <= g}`; constraint i, when tight, adds the ray `-sign G_i` to the cone."""

    E: FloatArray
    e: FloatArray
    G: FloatArray
    g: FloatArray
    sign: float
    nonnegative: bool
    row: int

    @classmethod
    def of(cls, problem: Problem, context: FloatArray, row: int) -> _Faces:
        polyhedron, sides = problem.polyhedron(), problem.sides(context)
        assert polyhedron is not None
        identity = np.eye(problem.n_vars)
        low, high = np.isfinite(sides.lower), np.isfinite(sides.upper)
        return cls(
            E=dense(polyhedron.A_eq),
            e=sides.b_eq,
            G=np.vstack([dense(polyhedron.A_ub), -identity[low], identity[high]]),
            g=np.concatenate([sides.b_ub, -sides.lower[low], sides.upper[high]]),
            sign=problem.sign,
            nonnegative=problem.domain == "nonnegative",
            row=row,
        )

    def slack(self, x: FloatArray) -> FloatArray:
        return np.asarray((self.g - self.G @ x) / np.maximum(1.0, np.abs(self.g)))

    def nearest(self, target: FloatArray, tight: frozenset[int]) -> FloatArray:
        """Closest point to `target` with the named constraints tight."""
        held = sorted(tight)
        if not held and self._holds(target):
            return target
        loose = [i for i in range(len(self.g)) if i not in tight]
        matrix = sparse.csr_array(np.vstack([self.E, self.G[held], self.G[loose]]))
        rhs = np.concatenate([self.e, self.g[held], self.g[loose]])
        cones: list[ConeSpec] = [("zero", len(self.e) + len(held)), ("nonnegative", len(loose))]
        model = ConicModel(sparse.eye_array(len(target)), -target, matrix, rhs, cones, where=_WHERE)
        solution = model.solve(row=self.row)
        pressed = [i for i, z in zip(loose, solution.z[len(self.e) + len(held) :], strict=True) if z > _TIGHT]
        polished = self._onto(target, held + pressed)
        return polished if self._holds(polished) else solution.x

    def _onto(self, target: FloatArray, tight: list[int]) -> FloatArray:
        normals = np.vstack([self.E, self.G[tight]])
        excess = normals @ target - np.concatenate([self.e, self.g[tight]])
        return np.asarray(target - np.linalg.lstsq(normals, excess, rcond=None)[0])

    def _holds(self, x: FloatArray) -> bool:
        equal = np.abs(self.E @ x - self.e) <= 1e-9 * np.maximum(1.0, np.abs(self.e))
        return bool(equal.all() and (self.slack(x) >= -1e-9).all())

    def explanation(self, allowed: list[int]) -> list[int] | None:
        """Constraints whose normals make up some nonzero parameters, all among `allowed`; None if there are none."""
        if self.nonnegative:
            return self._nonnegative_explanation(allowed)
        if np.abs(self.E).any():
            return []
        return next(([i] for i in allowed if np.abs(self.G[i]).any()), None)

    def _nonnegative_explanation(self, allowed: list[int]) -> list[int] | None:
        """Solve `theta = E'w - sign G'v >= 0`, `v >= 0`, `sum theta = 1`, as nonnegative least squares."""
        n = self.E.shape[1]
        if n == 0:
            return None
        rays = -self.sign * self.G[allowed].T
        columns = np.hstack([rays, self.E.T, -self.E.T])
        system = np.vstack(
            [
                np.hstack([columns, -np.eye(n)]),
                np.hstack([np.zeros(columns.shape[1]), np.ones(n)])[None, :],
            ]
        )
        target = np.append(np.zeros(n), 1.0)
        weights, _ = fit_nonnegative(system, target)
        if np.linalg.norm(system @ weights - target) > 1e-9:
            return None
        return [i for i, weight in zip(allowed, weights, strict=False) if weight > 0.0]


def _nearest_on_faces(faces: _Faces, observed: FloatArray) -> FloatArray:
    """Best-first branch and bound over which constraints are tight and which have no multiplier."""
    order, start = count(), faces.nearest(observed, frozenset())
    queue: list[tuple[float, int, FloatArray, frozenset[int], frozenset[int]]] = []
    heappush(queue, (float(np.linalg.norm(start - observed)), next(order), start, frozenset(), frozenset()))
    for _ in range(_MAX_NODES):
        if not queue:
            raise InfeasibleProblemError(_WHERE, "no decision can be optimal for this context", faces.row)
        bound, _, x, tight, barred = heappop(queue)
        slack = faces.slack(x)
        candidates = [i for i in np.argsort(slack) if i not in barred]
        if faces.explanation([i for i in candidates if slack[i] <= _TIGHT]) is not None:
            return x
        support = faces.explanation(candidates)
        if support is None:
            continue
        split = next(i for i in support if slack[i] > _TIGHT)
        heappush(queue, (bound, next(order), x, tight, barred | {split}))
        try:
            closer = faces.nearest(observed, tight | {split})
        except InfeasibleProblemError:
            continue
        heappush(queue, (float(np.linalg.norm(closer - observed)), next(order), closer, tight | {split}, barred))
    raise SolverError(_WHERE, f"no proof within {_MAX_NODES} nodes; move this decision by hand", faces.row)


def _report(distances: FloatArray) -> None:
    rows = np.flatnonzero(distances > 0.0)
    if len(rows):
        first = ", ".join(str(row) for row in rows[:10]) + (", ..." if len(rows) > 10 else "")
        summary = f"{len(rows)} of {len(distances)} decisions moved, by {distances.max():.6g} at most"
        warn_caller(f"{summary}; first rows: {first}", CalibrationWarning)
