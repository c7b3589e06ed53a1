"""Faces of a polytope: which constraints hold with equality, and exact minimisers on them.

On the affine set `{x : F x = g}` of a face (some variables fixed) both objectives of this package have closed
forms. With `y = sign x + lam c`, the least `|y|` for given `lam` is reached at

    y(lam) = Y0 + lam Y1,    Y0 = sign (F^+ g, fixed x),    Y1 = (F^+ F c, fixed c),

`F^+` the pseudoinverse; `lam = 0` gives the shortest point. The worst-case loss is `min over lam >= 0 of
|y(lam)| - lam cos(a)`; with `A = |Y0|^2, B = Y0 . Y1, C = |Y1|^2 > cos(a)^2` the best multiplier is
`(-B + cos(a) sqrt((C A - B^2) / (C - cos(a)^2))) / C`, or 0. An interior-point solver names the
face; this finishes its work to the last digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from conformio.checks import BoolArray, FloatArray
from conformio.prescription.regions import Region
from conformio.problems.polyhedra import Sides

__all__ = ["Active", "Face", "finished"]

_RANK = 1e-10
_DENSE_LIMIT = 1_000_000
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Active:
    """Constraints that hold with equality: inequality rows (n_ub,), lower and upper bounds (n_vars,)."""

    rows: BoolArray
    at_lower: BoolArray
    at_upper: BoolArray


@dataclass(frozen=True)
class Face:
    """`{x : rows x = sides, x = values where fixed}`."""

    rows: Any
    sides: FloatArray
    fixed: BoolArray
    values: FloatArray

    @classmethod
    def of(cls, region: Region, sides: Sides, x: FloatArray, active: Active) -> Face:
        """The smallest face with the active constraints; `x` tells where fixed variables stand."""
        rows = sparse.vstack([region.A_eq, region.A_ub[np.flatnonzero(active.rows)]], format="csr")
        values = np.where(active.at_lower, sides.lower, np.where(active.at_upper, sides.upper, x))
        fixed = active.at_lower | active.at_upper | (sides.lower == sides.upper)
        return cls(rows, np.concatenate([sides.b_eq, sides.b_ub[active.rows]]), fixed, values)

    def is_small(self) -> bool:
        """Whether dense linear algebra on it is affordable."""
        return int(self.rows.shape[0]) * int((~self.fixed).sum()) <= _DENSE_LIMIT

    def is_point(self) -> bool:
        """Whether the equalities leave a single point."""
        n_free = int((~self.fixed).sum())
        if n_free == 0:
            return True
        if self.rows.shape[0] < n_free or not self.is_small():
            return False
        return bool(np.linalg.matrix_rank(self.rows[:, ~self.fixed].toarray()) == n_free)

    def shortest(self) -> FloatArray:
        """The point of least length."""
        return self._best(np.zeros(len(self.values)), 1.0, None)

    def most_robust(self, center: FloatArray, sign: float, angle: float) -> FloatArray:
        """The point of least worst-case loss over the cap, bounds other than `fixed` left aside."""
        return self._best(center, sign, float(np.cos(angle)))

    def _best(self, center: FloatArray, sign: float, cosine: float | None) -> FloatArray:
        free, fixed = ~self.fixed, self.fixed
        F, c = self.rows[:, free].toarray(), center[free]
        g = self.sides - self.rows[:, fixed] @ self.values[fixed]
        shortest, shadow = _least_norm(F, np.column_stack([g, F @ c]))
        multiplier = 0.0
        if cosine is not None:
            Y0 = sign * np.concatenate([shortest, self.values[fixed]])
            multiplier = _multiplier(Y0, np.concatenate([shadow, center[fixed]]), cosine)
        x = self.values.copy()
        x[free] = shortest + sign * multiplier * (shadow - c)
        return x


def _least_norm(F: FloatArray, g: FloatArray) -> FloatArray:
    if 0 in F.shape:
        return np.zeros((g.shape[1], F.shape[1]))
    return np.asarray(np.linalg.lstsq(F, g, rcond=_RANK)[0].T, dtype=np.float64)


def _multiplier(Y0: FloatArray, Y1: FloatArray, cosine: float) -> float:
    A, B, C = float(Y0 @ Y0), float(Y0 @ Y1), float(Y1 @ Y1)
    room = C - cosine**2
    if room <= 0.0:
        return 0.0
    return float(max(0.0, (-B + cosine * np.sqrt(max(C * A - B**2, 0.0) / room)) / C))


def finished(
    region: Region,
    sides: Sides,
    x: FloatArray,
    active: Active,
    best: Callable[[Face], FloatArray],
    loss: Callable[[FloatArray], float],
) -> FloatArray:
    """The exact minimiser on the face a solver found where feasible and no worse, else the solver's `x`."""
    inside = region.rounded(x, sides)
    face = Face.of(region, sides, inside, active)
    if not face.is_small():
        return inside
    point = best(face)
    allowed = loss(inside) + _ROUNDING * max(1.0, abs(loss(inside)))
    if not region.holds(point, sides) or loss(region.rounded(point, sides)) > allowed:
        return inside
    return region.rounded(point, sides)
