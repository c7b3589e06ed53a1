"""The cutting plane (paper, appendix Solving the Robust Forward Problem), on one kept master per problem.

Master: `min Omega` over `x in X(u)` with `theta . y <= Omega` for the `theta` found so far; separation: the
worst case at the master's `x`. `Omega` is free and the first cut is the centre's own (E9): with `Omega >= 0`
maximisation problems, whose losses are negative, would stop at 0, and without a cut the first master is
unbounded. Only a cap whose hull holds the origin makes 0 a bound (`RobustTask.floor`). The master's value bounds the
loss from below.

At angles up to `TIE_ANGLE` the answer is the shortest of the nominal optima: the same method over the nominal
optima (one more row in the master) with the cap of all directions, whose worst-case loss is `|x|`. A little above,
many decisions tie within the gap at which the method stops, and that one is taken when it is among them: small angles
do not make prescriptions jump.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from conformio.checks import Decisions, FloatArray, dense
from conformio.errors import UnboundedProblemError
from conformio.prescription.regions import LinearPrograms, Region, row_sides
from conformio.prescription.solution import Answers, RowAnswer
from conformio.prescription.task import TIE_ANGLE, TIE_TOLERANCE, RobustTask
from conformio.problems.polyhedra import Sides
from conformio.sets import SphericalCap
from conformio.solvers import HighsModel, HighsSolution

__all__ = ["solve_by_cuts"]

_GAP = 1e-9
_NEAR_ZERO = 1e-5
_MAX_CUTS = 3000
_CUT_SCALE = 1024.0


def solve_by_cuts(task: RobustTask, warm: Decisions | None = None) -> Answers:
    """Robust decisions over (mixed-integer) polyhedra.

    Parameters
    ----------
    task : RobustTask
        Its problem has a polyhedral description and `basis(x) = x`.
    warm : decisions, optional
        Feasible decisions, one per row, whose worst cases are cut first.
    """
    region = Region(task)
    master = _Master(region)
    programs = LinearPrograms(region) if task.cap.angle <= _NEAR_ZERO else None
    ended = []
    for k in range(len(task)):
        start = None if warm is None else dense(warm[k : k + 1])[0]
        limit = _shortest_optimum(task, master, programs, k) if programs else None
        if limit is None or task.cap.angle > TIE_ANGLE:
            ended.append(_unless_tied(limit, master.minimise(k, task.cap.row(k), start)))
        else:
            ended.append(limit)
    return Answers.of_rows(ended, region.n_vars, "cutting-plane")


def _unless_tied(limit: RowAnswer | None, found: RowAnswer) -> RowAnswer:
    """`found`, or the decision of the limit `alpha -> 0+` where it is as good within the gap."""
    if limit is None:
        return found
    calls = limit.calls + found.calls
    if limit.loss - found.bound <= _GAP * max(1.0, abs(found.loss)):
        return RowAnswer(limit.x, limit.loss, min(found.bound, limit.loss), calls)
    return RowAnswer(found.x, found.loss, found.bound, calls)


def _shortest_optimum(task: RobustTask, master: _Master, programs: LinearPrograms, k: int) -> RowAnswer:
    center = task.center(k)
    nominal = programs.solve(task.sign * center, k)
    limit = nominal.bound + TIE_TOLERANCE * max(1.0, abs(nominal.bound))
    whole_sphere = SphericalCap(center, np.pi)
    region = master.region
    ended = master.minimise(k, whole_sphere, region.rounded(nominal.x, region.sides(k)), limit)
    loss = float(task.cap.row(k).support(task.sign * ended.x))
    return RowAnswer(ended.x, loss, min(nominal.bound, loss), ended.calls + 1)


class _Master:
    """`min Omega` over one row's feasible set and its cuts, which are dropped when the next row begins.

    Cuts are written `scale (sign theta . x - Omega) <= 0`: the solver's tolerances are absolute, the scale
    keeps them below ours.
    """

    def __init__(self, region: Region):
        self.region = region
        stacked = sparse.vstack([region.A_eq, region.A_ub], format="csr")
        self._n_rows = stacked.shape[0]
        matrix = sparse.hstack([stacked, sparse.csr_array((self._n_rows, 1))], format="csr")
        free, wide = np.full(self._n_rows, np.inf), np.full(region.n_vars + 1, np.inf)
        whole = np.append(region.whole, False)
        self._model = HighsModel(matrix, -free, free, -wide, wide, whole, where=region.task.where)
        self._costs = np.append(np.zeros(region.n_vars), _CUT_SCALE)

    def minimise(self, k: int, cap: SphericalCap, start: FloatArray | None = None, limit: float = np.inf) -> RowAnswer:
        """The least worst-case loss over `cap` in row `k`, among decisions worth at most `limit`."""
        task, sides = self.region.task, self.region.sides(k)
        best, lowest, bound = start, np.inf, task.floor
        self._model.truncate_rows(self._n_rows)
        self._cut(cap.center)
        if np.isfinite(limit):
            self._model.add_row(-np.inf, limit, np.append(task.sign * cap.center, 0.0))
        if start is not None:
            lowest = self._separate(cap, start)
        calls = 0
        while calls < _MAX_CUTS:
            calls += 1
            found = self._solve(k, sides)
            x = self.region.rounded(found.x[:-1], sides)
            bound = max(bound, found.bound / _CUT_SCALE)
            loss = self._separate(cap, x)
            if best is None or loss < lowest:
                best, lowest = x, loss
            room = _GAP * max(1.0, abs(lowest))
            if lowest - bound <= room or loss - found.x[-1] <= room / 2:
                break
        assert best is not None
        return RowAnswer(best, lowest, min(bound, lowest), calls)

    def _solve(self, k: int, sides: Sides) -> HighsSolution:
        low, high = row_sides(sides)
        lower, upper = np.append(sides.lower, self.region.task.floor), np.append(sides.upper, np.inf)
        number = self.region.task.number(k)
        try:
            return self.region.optimum(
                self._model, lambda: self._model.solve(self._costs, low, high, lower, upper, row=number), k
            )
        except UnboundedProblemError as error:
            reason = "cutting planes cannot start, the centre's nominal problem is unbounded; bound the variables"
            raise UnboundedProblemError(error.where, reason, error.row) from error

    def _separate(self, cap: SphericalCap, x: FloatArray) -> float:
        """Cut off `x` by its worst case; return its loss."""
        y = self.region.task.sign * x
        worst = cap.worst_case(y)
        self._cut(worst)
        return float(worst @ y)

    def _cut(self, theta: FloatArray) -> None:
        sign = self.region.task.sign
        self._model.add_row(-np.inf, 0.0, _CUT_SCALE * np.append(sign * theta, -1.0))
