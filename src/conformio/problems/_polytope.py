"""Uniform points in a full-dimensional polytope `{y : G y <= h}` of small dimension.

The vertices are enumerated, their hull is triangulated as seen from an interior point, a simplex is drawn
with a probability proportional to its volume, and a point of the simplex by flat Dirichlet weights. That is
exact; its cost grows fast with the dimension, hence `MAX_DIMENSION`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np
from scipy import sparse
from scipy.spatial import ConvexHull, HalfspaceIntersection, QhullError

from conformio.checks import FloatArray
from conformio.errors import SolverError, UnboundedProblemError
from conformio.solvers import HighsModel

__all__ = ["MAX_DIMENSION", "Simplices", "inner_ball", "triangulate"]

MAX_DIMENSION = 6
"""Largest dimension in which polytopes are triangulated."""
_VOLUME_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Simplices:
    """A polytope cut into simplices: `corners` is (s, k + 1, k), `shares` (s,) their parts of the volume."""

    corners: FloatArray
    shares: FloatArray

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Independent uniform points, shape (size, k)."""
        chosen = rng.choice(len(self.shares), size=size, p=self.shares)
        weights = rng.dirichlet(np.ones(self.corners.shape[1]), size=size)
        points: FloatArray = np.einsum("sv,svk->sk", weights, self.corners[chosen])
        return points


def inner_ball(G: FloatArray, h: FloatArray, where: str, row: int) -> tuple[FloatArray, float, FloatArray]:
    """Centre and radius (at most 1) of a ball inside `{y : G y <= h}`, and the duals.

    Rows of `G` have unit length. Radius 0 means that the set is flat; the rows with a positive dual are then
    equalities on all of it.
    """
    k = G.shape[1]
    matrix = sparse.csr_array(np.hstack([G, np.ones((len(h), 1))]))
    free = np.append(np.full(k, np.inf), 1.0)
    model = HighsModel(
        matrix, np.full(len(h), -np.inf), h, np.append(np.full(k, -np.inf), 0.0), free, None, "max", where
    )
    solution = model.solve(costs=np.append(np.zeros(k), 1.0), row=row)
    return solution.x[:k], float(solution.x[k]), np.abs(solution.row_duals)


def triangulate(G: FloatArray, h: FloatArray, where: str, row: int) -> Simplices:
    """Cut `{y : G y <= h}` into simplices; raises when it is unbounded.

    Parameters
    ----------
    G : array, shape (m, k)
        Rows of unit length, `1 <= k <= MAX_DIMENSION`; the set has interior points.
    h : array, shape (m,)
    where, row
        Named in errors.
    """
    low, high = _box(G, h, where, row)
    middle, half = (low + high) / 2, (high - low) / 2
    if len(middle) == 1:
        return Simplices(np.array([[low, high]]), np.ones(1))
    # Qhull wants a polytope of unit size around the origin.
    scaled, sides = G * half, h - G @ middle
    lengths = np.linalg.norm(scaled, axis=1)
    simplices = _star(scaled / lengths[:, None], sides / lengths, where, row)
    return Simplices(middle + simplices.corners * half, simplices.shares)


def _box(G: FloatArray, h: FloatArray, where: str, row: int) -> tuple[FloatArray, FloatArray]:
    """Least and greatest value of each coordinate."""
    k = G.shape[1]
    unbounded = np.full(k, np.inf)
    model = HighsModel(sparse.csr_array(G), np.full(len(h), -np.inf), h, -unbounded, unbounded, where=where)
    axes = np.eye(k)
    try:
        low = np.array([model.solve(costs=axis, row=row).value for axis in axes])
        high = np.array([-model.solve(costs=-axis, row=row).value for axis in axes])
    except UnboundedProblemError as error:
        reason = "the optimal solutions form an unbounded set: no uniform draw exists; bound the variables"
        raise UnboundedProblemError(where, reason, row) from error
    return low, high


def _star(G: FloatArray, h: FloatArray, where: str, row: int) -> Simplices:
    """Simplices spanned by one interior point and the triangulated facets."""
    centre, _, _ = inner_ball(G, h, where, row)
    try:
        vertices = HalfspaceIntersection(np.column_stack([G, -h]), centre).intersections
        hull = ConvexHull(vertices)
    except QhullError as error:
        reason = "the set of optimal solutions is too thin to be sampled; perturb theta or use solve"
        raise SolverError(where, reason, row) from error
    facets = vertices[hull.simplices]
    volumes = np.abs(np.linalg.det(facets - centre)) / factorial(G.shape[1])
    total = volumes.sum()
    if not abs(total - hull.volume) <= _VOLUME_TOLERANCE * hull.volume:
        reason = "the set of optimal solutions could not be triangulated; perturb theta or use solve"
        raise SolverError(where, reason, row)
    apexes = np.broadcast_to(centre, (len(facets), 1, len(centre)))
    return Simplices(np.concatenate([facets, apexes], axis=1), volumes / total)
