"""The optimal face of a linear program, and uniform points on it.

One dual solution describes the whole face: an optimal `x` sits at its bound wherever the reduced cost is not
zero and on every inequality whose dual is not zero. What remains free is `x_0 + Z y` with `G y <= h`;
inequalities that hold with equality on all of it are found by linear programs and taken out until the rest
has interior points. A dual counts as zero below 1e-9 of the largest cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from conformio.checks import BoolArray, FloatArray
from conformio.errors import invalid
from conformio.problems._linear_constraints import LinearConstraints
from conformio.problems._polytope import MAX_DIMENSION, Simplices, inner_ball, triangulate
from conformio.solvers import HighsSolution

__all__ = ["draw_from_face"]

_ZERO_DUAL = 1e-9
_FLAT = 1e-8
_NO_EFFECT = 1e-10


@dataclass(frozen=True)
class _Slice:
    """`{point + directions y : G y <= h}`, the face with its equalities solved; rows of `G` are unit."""

    point: FloatArray
    directions: FloatArray
    G: FloatArray
    h: FloatArray


def draw_from_face(
    constraints: LinearConstraints,
    context: FloatArray,
    solution: HighsSolution,
    size: int,
    rng: np.random.Generator,
    where: str,
    row: int,
) -> FloatArray:
    """Independent uniform points of the optimal face, shape (size, n_vars).

    Parameters
    ----------
    constraints, context
        The feasible set.
    solution : HighsSolution
        An optimum with its duals, for costs scaled to about 1.
    size, rng, where, row
        How many, from what, and what errors name.
    """
    face = _full_dimensional(_slice(constraints, context, solution), where, row)
    dimension = face.directions.shape[1]
    if dimension == 0:
        return np.tile(face.point, (size, 1))
    if dimension > MAX_DIMENSION:
        rule = f"must leave an optimal face of dimension at most {MAX_DIMENSION} to be sampled uniformly"
        raise invalid("theta", where, rule, f"dimension {dimension}", row, "Perturb theta, or use solve")
    simplices: Simplices = triangulate(face.G, face.h, where, row)
    return face.point + simplices.draw(size, rng) @ face.directions.T


def _slice(constraints: LinearConstraints, context: FloatArray, solution: HighsSolution) -> _Slice:
    fixed = (np.abs(solution.reduced_costs) > _ZERO_DUAL) | (constraints.lower == constraints.upper)
    inequalities = constraints.A_ub.toarray()
    sizes = np.maximum(np.abs(inequalities).max(axis=1, initial=0.0), 1.0)
    tight = np.abs(solution.row_duals[constraints.n_eq :]) * sizes > _ZERO_DUAL
    equalities = np.vstack([constraints.A_eq.toarray(), inequalities[tight]])
    directions = np.zeros((constraints.n_vars, 0))
    if not fixed.all():
        within = _null_space(equalities[:, ~fixed])
        directions = np.zeros((constraints.n_vars, within.shape[1]))
        directions[~fixed] = within
    loose = inequalities[~tight]
    room = constraints.sides(context).b_ub[~tight] - loose @ solution.x
    free = np.eye(constraints.n_vars)
    normals = np.vstack([loose, free, -free])
    slack = np.concatenate([room, constraints.upper - solution.x, solution.x - constraints.lower])
    return _sliced(solution.x, directions, normals @ directions, slack, np.linalg.norm(normals, axis=1))


def _sliced(
    point: FloatArray, directions: FloatArray, G: FloatArray, h: FloatArray, scale: FloatArray | float
) -> _Slice:
    """Drop the rows that bound nothing along `directions`, scale the others to unit length."""
    lengths = np.linalg.norm(G, axis=1)
    keep: BoolArray = (lengths > _NO_EFFECT * scale) & np.isfinite(h)
    return _Slice(point, directions, G[keep] / lengths[keep, None], np.maximum(h[keep] / lengths[keep], 0.0))


def _full_dimensional(face: _Slice, where: str, row: int) -> _Slice:
    """Turn inequalities that are equalities on the whole face into fewer directions, until none is."""
    flat = _FLAT * float(np.clip(np.abs(face.point).max(), 1.0, 1e6))
    while face.directions.shape[1] and len(face.h):
        _, radius, duals = inner_ball(face.G, face.h, where, row)
        if radius > flat:
            break
        implied = duals > _ZERO_DUAL
        kept = _null_space(face.G[implied])
        face = _sliced(face.point, face.directions @ kept, face.G[~implied] @ kept, face.h[~implied], 1.0)
    return face


def _null_space(matrix: FloatArray) -> FloatArray:
    """Orthonormal basis of `{d : matrix d = 0}`; all directions when there are no rows."""
    if matrix.shape[0] == 0:
        return np.eye(matrix.shape[1])
    basis: FloatArray = linalg.null_space(matrix)
    return basis
