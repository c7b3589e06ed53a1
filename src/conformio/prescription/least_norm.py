"""The shortest of the nominal optima of a polytope: the limit of robust decisions as the angle goes to 0.

For a small angle `a` the worst-case loss is `s cos(a) + sin(a) sqrt(|x|^2 - s^2)`: first least `s`, then,
among equals, least `|x|`.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from conformio.checks import FloatArray
from conformio.prescription.faces import Active, Face, finished
from conformio.prescription.regions import LinearPrograms, Region
from conformio.prescription.task import TIE_TOLERANCE
from conformio.problems.polyhedra import Sides
from conformio.solvers import ConeSpec, ConicModel

__all__ = ["shortest_nominal"]


def shortest_nominal(region: Region, programs: LinearPrograms, costs: FloatArray, k: int) -> tuple[FloatArray, float]:
    """The shortest optimum of `min costs . x` over row `k`'s polytope, and the optimal value.

    One dual solution describes all optima: a variable with a reduced cost and an inequality with a dual
    (beyond `TIE_TOLERANCE`, costs scaled to about 1) hold with equality on all of them.
    """
    sides, nominal = region.sides(k), programs.solve(costs, k)
    priced = np.abs(nominal.reduced_costs) > TIE_TOLERANCE
    nearer_lower = np.abs(nominal.x - sides.lower) <= np.abs(nominal.x - sides.upper)
    tight = np.abs(nominal.row_duals[region.n_eq :]) > TIE_TOLERANCE
    active = Active(tight, priced & nearer_lower, priced & ~nearer_lower)
    face = Face.of(region, sides, nominal.x, active)
    if face.is_point():
        return region.rounded(nominal.x, sides), nominal.value
    x, more = _shortest_point(region, sides, face, active, k)
    return finished(region, sides, x, more, Face.shortest, lambda x: float(np.linalg.norm(x))), nominal.value


def _shortest_point(region: Region, sides: Sides, face: Face, active: Active, k: int) -> tuple[FloatArray, Active]:
    """Least-norm point of the face within the other constraints (a QP), and what is active there."""
    free, loose = np.flatnonzero(~face.fixed), np.flatnonzero(~active.rows)
    low = free[np.isfinite(sides.lower[free])]
    high = free[np.isfinite(sides.upper[free])]
    eye = sparse.eye_array(region.n_vars, format="csr")
    rows = sparse.vstack([face.rows, region.A_ub[loose], -eye[low], eye[high]], format="csr")
    b = np.concatenate([face.sides, sides.b_ub[loose], -sides.lower[low], sides.upper[high]])
    b -= rows[:, face.fixed] @ face.values[face.fixed]
    n_eq = face.rows.shape[0]
    cones: list[ConeSpec] = [("zero", n_eq), ("nonnegative", len(b) - n_eq)]
    quadratic, none = sparse.eye_array(len(free), format="csc"), np.zeros(len(free))
    found = ConicModel(quadratic, none, rows[:, free], b, cones, region.task.where).solve(row=region.task.number(k))
    x = face.values.copy()
    x[free] = found.x
    touched = np.split(found.z[n_eq:] > found.s[n_eq:], np.cumsum([len(loose), len(low)]))
    more = Active(active.rows.copy(), active.at_lower.copy(), active.at_upper.copy())
    more.rows[loose[touched[0]]] = True
    more.at_lower[low[touched[1]]] = True
    more.at_upper[high[touched[2]]] = True
    return x, more
