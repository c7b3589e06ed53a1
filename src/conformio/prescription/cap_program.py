"""The worst case over a cap as rows of a second-order cone program.

With `s = c . z` and `r = |z - s c|` the loss of `z` is, for `0 < a <= pi`,

    min over p >= s of  sqrt(p^2 + r^2) - (p - s) cos(a)  =  min over lam >= 0 of  |z + lam c| - lam cos(a),

the dual of the maximum over the cap's convex hull `{|t| <= 1, t . c >= cos(a)}`. For small angles `p` grows
like `r / a` and the root cancels, so the program is written with `w = sqrt(p^2 + r^2) - p`, in scaled
variables `p = q / e`, `w = e v`, `e = min(1, a)`:

    min  s cos(a) + e v + q (1 - cos(a)) / e    subject to  v (2 q + e^2 v) >= r^2,  q >= e s.

For a cap in the nonnegative orthant `z` is `y + mu` with `mu >= 0`. Then the program may overstate the loss,
because the hull of the sphere's part in the orthant is smaller than that of the ball.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from conformio.checks import FloatArray
from conformio.solvers import ConeSpec

__all__ = ["CapProgram", "members"]


@dataclass(frozen=True)
class CapProgram:
    """Rows and costs for `z = M x (+ mu)`, `M` (d, n) sparse; columns `x`, then `s, q, v`, then `mu`."""

    M: Any
    angle: float
    with_mu: bool

    @property
    def scale(self) -> float:
        """The factor `e`."""
        return min(1.0, self.angle)

    @property
    def n_extra(self) -> int:
        """Number of columns after `x`."""
        return 3 + int(self.M.shape[0]) * self.with_mu

    def costs(self) -> FloatArray:
        """Objective over all columns."""
        n = self.M.shape[1]
        costs = np.zeros(n + self.n_extra)
        costs[n : n + 3] = np.cos(self.angle), 2.0 * np.sin(self.angle / 2.0) ** 2 / self.scale, self.scale
        return costs

    def cones(self) -> list[ConeSpec]:
        """Kinds of the rows of `rows`, in order; their right-hand sides are all 0."""
        d = int(self.M.shape[0])
        return [("zero", 1), ("nonnegative", 1 + d * self.with_mu), ("second_order", d + 2)]

    def n_rows(self) -> int:
        """Number of rows."""
        return sum(size for _, size in self.cones())

    def rows(self, center: FloatArray) -> Any:
        """The rows for a unit centre; its zeros are stored, so that the pattern is the same for all."""
        d, n = self.M.shape
        M, each, e = sparse.coo_array(self.M), np.arange(d), self.scale
        s, q, v, mu = n, n + 1, n + 2, n + 3 + each
        cone = 2 + d * self.with_mu
        i, j = M.coords
        entries: list[tuple[Any, Any, Any]] = [
            (np.zeros(len(i), int), j, center[i] * M.data),  # s = c . z
            ([0], [s], [-1.0]),
            ([1, 1], [s, q], [e, -1.0]),  # q >= e s
            # |(v - B, 2 (z - s c))| <= v + B with B = 2 q + e^2 v
            ([cone, cone], [q, v], [-2.0, -1.0 - e**2]),
            ([cone + 1, cone + 1], [q, v], [2.0, e**2 - 1.0]),
            (cone + 2 + i, j, -2.0 * M.data),
            (cone + 2 + each, np.full(d, s), 2.0 * center),
        ]
        if self.with_mu:
            entries += [
                (np.zeros(d, int), mu, center),
                (2 + each, mu, np.full(d, -1.0)),
                (cone + 2 + each, mu, np.full(d, -2.0)),
            ]
        places = [np.concatenate(parts) for parts in zip(*entries, strict=True)]
        return sparse.csr_array((places[2], (places[0], places[1])), shape=(self.n_rows(), n + self.n_extra))

    def direction(self, center: FloatArray, duals: FloatArray) -> FloatArray:
        """The `theta` that the duals of the rows stand for, up to rounding a member of the hull."""
        cone = 2 + int(self.M.shape[0]) * self.with_mu
        return np.asarray(duals[0] * center - 2.0 * duals[cone + 2 :], dtype=np.float64)


def members(dual: FloatArray, center: FloatArray, angle: float, nonnegative: bool) -> list[FloatArray]:
    """Members of the cap's hull beside a solver's dual (itself one up to rounding); none if it is off.

    The second is moved towards the centre: over an unbounded feasible set a rounding error makes the first
    useless.
    """
    theta = np.maximum(dual, 0.0) if nonnegative else dual
    length = float(np.linalg.norm(theta))
    if length == 0.0 or (nonnegative and length < 1.0 - 1e-9):
        return []
    theta = theta / (length if nonnegative else max(1.0, length))
    along = float(theta @ center)
    if along < np.cos(angle):
        step = (np.cos(angle) - along) / (1.0 - along)
        theta = (1.0 - step) * theta + step * center
    return [theta, (1.0 - 1e-9) * theta + 1e-9 * center]
