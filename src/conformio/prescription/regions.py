"""Polyhedral feasible sets of a robust task: sides per row, and linear (integer) programs over them.

Everything is in the minimising form of `task`: costs `g` mean `min g . x`, and a member `theta` of the cap
gives `g = sign * theta`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from conformio.checks import BoolArray, FloatArray
from conformio.errors import RowError, SolverError
from conformio.prescription.task import RobustTask
from conformio.problems.polyhedra import Sides
from conformio.solvers import HighsModel, HighsSolution

__all__ = ["LinearPrograms", "Region", "row_sides"]


_ROUNDING = 1e-9
_MAX_EXCLUDED = 1_000


class Region:
    """The matrices of a task's feasible sets, wholeness dropped where the task is relaxed."""

    def __init__(self, task: RobustTask):
        polyhedron = task.problem.polyhedron()
        assert polyhedron is not None, "routes over polyhedra are chosen only where there is one"
        self.task = task
        self.A_eq: Any = sparse.csr_array(polyhedron.A_eq)
        self.A_ub: Any = sparse.csr_array(polyhedron.A_ub)
        self.n_vars = task.problem.n_vars
        self.n_eq, self.n_ub = self.A_eq.shape[0], self.A_ub.shape[0]
        self.whole: BoolArray = (
            np.zeros(self.n_vars, dtype=np.bool_) if task.relaxed else np.asarray(polyhedron.integrality)
        )

    def sides(self, k: int) -> Sides:
        """What row `k` of the task decides."""
        return self.task.problem.sides(self.task.contexts[k])

    def rounded(self, x: FloatArray, sides: Sides) -> FloatArray:
        """`x` with rounding of a solver taken out: inside its bounds, whole where it must be."""
        inside = np.clip(x, sides.lower, sides.upper)
        inside[self.whole] = np.rint(inside[self.whole])
        return np.asarray(inside + 0.0, dtype=np.float64)

    def admits(self, x: FloatArray, k: int) -> bool:
        """False for 0/1 decisions that a solver's absolute tolerance lets in and the problem itself does not."""
        problem = self.task.problem
        if not problem.binary or self.task.relaxed:
            return True
        return bool(problem.feasible(np.rint(x)[None, :], self.task.contexts[k : k + 1])[0])

    def optimum(self, model: HighsModel, solve: Callable[[], HighsSolution], k: int) -> HighsSolution:
        """What `solve` finds for row `k`, decisions that the row does not admit excluded from `model` one by one."""
        for _ in range(_MAX_EXCLUDED):
            found = solve()
            x = found.x[: self.n_vars]
            if self.admits(x, k):
                return found
            model.exclude(np.rint(x))
        reason = "the constraints are finer than the solver's tolerance; rescale them"
        raise SolverError(self.task.where, reason, self.task.number(k))

    def holds(self, x: FloatArray, sides: Sides) -> bool:
        """Whether `x` satisfies every constraint to `1e-9 * max(1, largest entry)`."""
        room = _ROUNDING * max(1.0, float(np.abs(x).max(initial=0.0)))
        off = np.concatenate(
            [np.abs(self.A_eq @ x - sides.b_eq), self.A_ub @ x - sides.b_ub, sides.lower - x, x - sides.upper]
        )
        return bool(off.max(initial=0.0) <= room)


class LinearPrograms:
    """One kept model for `min g . x` over the rows' feasible sets."""

    def __init__(self, region: Region):
        self.region = region
        matrix = sparse.vstack([region.A_eq, region.A_ub], format="csr")
        free = np.full(matrix.shape[0], np.inf)
        wide = np.full(region.n_vars, np.inf)
        self._model = HighsModel(matrix, -free, free, -wide, wide, region.whole, where=region.task.where)

    def solve(self, costs: FloatArray, k: int) -> HighsSolution:
        """An optimum of row `k`; `value` and `bound` belong to `costs`, duals to them scaled to about 1."""
        sides = self.region.sides(k)
        low, high = row_sides(sides)
        scale = 2.0 ** -int(np.frexp(np.abs(costs).max(initial=0.0))[1])
        number = self.region.task.number(k)
        self._model.truncate_rows(len(low))
        found = self.region.optimum(
            self._model, lambda: self._model.solve(costs * scale, low, high, sides.lower, sides.upper, row=number), k
        )
        return HighsSolution(found.x, found.value / scale, found.bound / scale, found.row_duals, found.reduced_costs)

    def bound(self, costs: FloatArray, k: int) -> float:
        """Least value of `costs . x`, -inf where the solver finds none."""
        try:
            return self.solve(costs, k).bound
        except RowError:
            return -np.inf


def row_sides(sides: Sides) -> tuple[FloatArray, FloatArray]:
    """Lower and upper sides of the stacked rows `(A_eq, A_ub)`."""
    low = np.concatenate([sides.b_eq, np.full(len(sides.b_ub), -np.inf)])
    return low, np.concatenate([sides.b_eq, sides.b_ub])
