"""The projection route: robust decisions over small dense polytopes, all rows in one compiled call.

`_kernels.cap_points` finds, for each row, a decision `x`, a multiplier `lam` and multipliers `v >= 0` of the
inequalities. The certificate does not trust it: the loss of `x` is the closed form, its constraints are checked, and
the bound is weak duality. With `y = x + lam c`, `theta = y / |y|` lies in the hull of the cap if its angle to `c` is at
most the cap's, and then every decision's loss is at least

    min over the bounds of (theta + A'v / |y|) . x, minus v . b / |y|.

Everything is in the minimising form `z = sign * x`. Rows that are not proven go to the conic route, and so do tiny
angles, single parameters, large or sparse programs, and caps whose restriction to the orthant matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from conformio._kernels.cap_points import robust_points
from conformio.checks import BoolArray, FloatArray, IntArray
from conformio.prescription.conic import TINY_ANGLE, solve_conic
from conformio.prescription.regions import Region
from conformio.prescription.solution import Answers
from conformio.prescription.task import RobustTask

__all__ = ["solve_projected"]

_MOST_ROWS = 200
_MOST_ENTRIES = 50_000
_BLOCK_ENTRIES = 1 << 20
_FEASIBLE = 1e-9
_PROVEN = 1e-9
_ROUNDING = 1e-15
_TURNED = 1e-12
_REDUCED_COST = 1e-11


def solve_projected(task: RobustTask) -> Answers:
    """Robust decisions over polyhedra without whole variables, or with wholeness dropped (`relaxed`).

    Parameters
    ----------
    task : RobustTask
        Its problem has a polyhedral description, `basis(x) = x`, and is convex or relaxed.
    """
    if len(task) == 0 or not _applies(task):
        return solve_conic(task)
    region = Region(task)
    step = max(1, _BLOCK_ENTRIES // region.n_vars)
    blocks = [np.arange(start, min(start + step, len(task))) for start in range(0, len(task), step)]
    points, losses, bounds, proven = (
        np.concatenate(parts) for parts in zip(*(_solve(region, rows) for rows in blocks), strict=True)
    )
    ones = np.ones(len(task), dtype=np.int64)
    answers = Answers(points, np.minimum(bounds, losses), ones, np.full(len(task), "projection"), losses)
    still_open = np.flatnonzero(~proven)
    if len(still_open) == 0:
        return answers
    return answers.replaced(still_open, solve_conic(task.take(still_open)))


def _applies(task: RobustTask) -> bool:
    polyhedron = task.problem.polyhedron()
    assert polyhedron is not None
    n_rows, n_vars = polyhedron.A_eq.shape[0] + polyhedron.A_ub.shape[0], task.problem.n_vars
    small = n_vars > 1 and n_rows <= _MOST_ROWS and n_rows * n_vars <= _MOST_ENTRIES
    return small and task.cap.angle > TINY_ANGLE and (task.cap.domain == "free" or task.sign > 0)


def _solve(region: Region, rows: IntArray) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
    """Decisions, losses, bounds, and which rows are proven."""
    block = _Block.of(region, rows)
    found = robust_points(
        block.matrix,
        region.n_eq,
        block.lower,
        block.upper,
        block.sides,
        block.centers,
        float(np.cos(block.angle)),
        float(np.sin(block.angle)),
    )
    z, v, lam, ended = found
    points = region.task.sign * z + 0.0
    losses = region.task.losses(points, rows)
    bounds = np.maximum(block.bounds(z, v, lam), region.task.floor)
    proven = ended & block.holds(z) & (losses - bounds <= _PROVEN * np.maximum(1.0, np.abs(losses)))
    return points, losses, bounds, proven & block.plain


@dataclass(frozen=True)
class _Block:
    """Some rows in minimising form: `matrix z <= sides` (the first `n_eq` rows =), `lower <= z <= upper`."""

    matrix: FloatArray
    n_eq: int
    sides: FloatArray
    lower: FloatArray
    upper: FloatArray
    centers: FloatArray
    angle: float
    domain: str

    @classmethod
    def of(cls, region: Region, rows: IntArray) -> _Block:
        task = region.task
        matrix = task.sign * np.vstack([region.A_eq.toarray(), region.A_ub.toarray()])
        sides = [region.sides(k) for k in rows]
        lower, upper = (np.array([getattr(side, name) for side in sides]) for name in ("lower", "upper"))
        if task.sign < 0:
            lower, upper = -upper, -lower
        stacked = np.array([np.concatenate([side.b_eq, side.b_ub]) for side in sides])
        cap = task.cap_rows(rows)
        angle = min(cap.angle, np.pi / 2) if cap.domain == "nonnegative" else cap.angle
        centers = np.array(np.atleast_2d(cap.center))
        return cls(matrix, region.n_eq, stacked, lower, upper, centers, angle, cap.domain)

    @cached_property
    def plain(self) -> BoolArray:
        """Rows in which the orthant does not matter: there is none, or no variable can be negative."""
        return np.full(len(self.sides), self.domain == "free") | (self.lower >= 0.0).all(axis=1)

    def holds(self, z: FloatArray) -> BoolArray:
        """Whether each point satisfies its constraints to `1e-9 * max(1, largest entry)`."""
        room = _FEASIBLE * np.maximum(1.0, np.abs(z).max(axis=1))
        off = z @ self.matrix.T - self.sides
        off[:, : self.n_eq] = np.abs(off[:, : self.n_eq])
        inside = ((z >= self.lower) & (z <= self.upper)).all(axis=1)
        return np.asarray(inside & (off.max(axis=1, initial=0.0) <= room))

    def bounds(self, z: FloatArray, v: FloatArray, lam: FloatArray) -> FloatArray:
        """Numbers below the loss of every feasible point; -inf where the multipliers prove nothing."""
        y = z + lam[:, None] * self.centers
        length = np.linalg.norm(y, axis=1, keepdims=True)
        usable = length[:, 0] > 0.0
        length[~usable] = 1.0
        theta, v = y / length, v / length
        v[:, self.n_eq :] = np.maximum(v[:, self.n_eq :], 0.0)
        reduced = theta + v @ self.matrix
        sides = np.where(reduced > 0.0, self.lower, self.upper)
        # A rounding error of a reduced cost must not meet an infinite bound: it is moved over to theta.
        moved = ~np.isfinite(sides) & (np.abs(reduced) <= _REDUCED_COST)
        theta = np.where(moved, theta - reduced, theta)
        worth = np.where(moved | (reduced == 0.0), 0.0, reduced * np.where(np.isfinite(sides), sides, 0.0))
        usable &= (moved | (reduced == 0.0) | np.isfinite(sides)).all(axis=1)
        usable &= self._members(theta)
        values = worth.sum(axis=1) - (v * self.sides).sum(axis=1)
        return np.where(usable, values, -np.inf)

    def _members(self, theta: FloatArray) -> BoolArray:
        """Whether each vector is in the hull of its cap, to rounding: what it is off enters the bound times `|z|`."""
        along = (theta * self.centers).sum(axis=1)
        across = np.linalg.norm(theta - along[:, None] * self.centers, axis=1)
        near: BoolArray = np.arctan2(across, along) <= self.angle * (1.0 + _TURNED) + _ROUNDING
        return np.asarray(near & (np.linalg.norm(theta, axis=1) <= 1.0 + 10.0 * _ROUNDING))
