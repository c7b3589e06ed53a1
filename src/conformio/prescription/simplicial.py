"""Simplicial decomposition: convex feasible sets that are known only through a nominal solver.

The robust decision is looked for among convex combinations of the solver's answers `x_1, ..., x_k`: a small
cone program finds the best weights, its dual is a member `theta` of the cap's hull, and the solver's answer
for it both bounds the loss of all decisions from below (`min_x theta . y`) and joins the combination. With
`basis(x) = x`, or with a cap in the nonnegative orthant, where `f(sum w_i x_i)` is no worse than `sum w_i
f(x_i)`, the two values meet. Where the cone program overstates the loss (`cap_program`) a matrix game between
the answers and the worst cases found so far takes over.

At angles up to `TIE_ANGLE` the answer is the shortest combination of nominal optima; the solver is asked for
more of them at centres tilted by 1e-6 towards the combination so far.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from conformio.checks import FloatArray, dense
from conformio.errors import invalid
from conformio.prescription.cap_program import CapProgram, members
from conformio.prescription.solution import Answers, RowAnswer
from conformio.prescription.task import TIE_ANGLE, TIE_TOLERANCE, RobustTask
from conformio.solvers import ConeSpec, ConicModel, HighsModel

__all__ = ["solve_simplicial"]

_GAP = 1e-9
_MAX_ROUNDS = 500
_TILT = 1e-6
_SAME = 1e-12
_OPEN = 1e-7
_CARRIES = 1e-6


def solve_simplicial(task: RobustTask) -> Answers:
    """Robust decisions over convex sets from nominal solves.

    Raises
    ------
    InvalidInputError
        If the basis is not the identity and the cap is not in the nonnegative orthant.
    """
    if not task.problem.linear and task.cap.domain == "free":
        rule = "must have domain nonnegative: with a basis other than x the robust problem is convex only then"
        raise invalid("cap", task.where, rule, "domain free", remedy='Build it with domain="nonnegative"')
    ended = [_Combination(task, k).answer() for k in range(len(task))]
    return Answers.of_rows(ended, task.problem.n_vars, "simplicial")


class _Combination:
    """One row: the solver's answers so far, and their best combination."""

    def __init__(self, task: RobustTask, k: int):
        self.task, self.row = task, np.array([k])
        self.center, self.cap = task.center(k), task.cap.row(k)
        self.angle = task.reach
        self.calls = 0
        self.X = np.empty((0, task.problem.n_vars))
        self.Y = np.empty((0, task.problem.n_params))
        self.nominal, _ = self._ask(self.center)

    def answer(self) -> RowAnswer:
        """The robust decision."""
        if self.task.cap.angle <= TIE_ANGLE:
            return self._shortest()
        found = self._robust()
        return found if found.loss - found.bound <= _OPEN * max(1.0, abs(found.loss)) else self._two_sided(found)

    def _robust(self) -> RowAnswer:
        bound, best, lowest = self.nominal, self.X[0], np.inf
        for _ in range(_MAX_ROUNDS):
            weights, dual = self._weigh()
            x = weights @ self.X
            y = self._signed(x)
            loss = float(self.cap.support(y))
            if loss < lowest:
                best, lowest = x, loss
            grown = False
            for theta in [*members(dual, self.center, self.angle, self._nonnegative), self.cap.worst_case(y)]:
                value, new = self._ask(theta)
                bound, grown = max(bound, value), grown or new
                if lowest - bound <= _GAP * max(1.0, abs(lowest)):
                    return RowAnswer(best, lowest, min(bound, lowest), self.calls)
            if not grown:
                break
        return RowAnswer(best, lowest, min(bound, lowest), self.calls)

    def _two_sided(self, start: RowAnswer) -> RowAnswer:
        """Best weights against the worst cases so far, both growing, where the cone program is loose."""
        bound, best, lowest = start.bound, start.x, start.loss
        cuts = np.array([self.center, self.cap.worst_case(self._signed(best))])
        for _ in range(_MAX_ROUNDS):
            weights, mixture = self._play(cuts)
            x = weights @ self.X
            y = self._signed(x)
            worst = self.cap.worst_case(y)
            if worst @ y < lowest:
                best, lowest = x, float(worst @ y)
            bound = max(bound, self._ask(mixture)[0])
            if lowest - bound <= _GAP * max(1.0, abs(lowest)):
                break
            cuts = np.vstack([cuts, worst])
        return RowAnswer(best, lowest, min(bound, lowest), self.calls)

    def _play(self, cuts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Optimal weights of the answers, and the mixture of the cuts that they are optimal against."""
        k = len(self.Y)
        rows = np.vstack([np.append(np.ones(k), 0.0), np.column_stack([cuts @ self.Y.T, -np.ones(len(cuts))])])
        low, high = np.append(1.0, np.full(len(cuts), -np.inf)), np.append(1.0, np.zeros(len(cuts)))
        lower, upper = np.append(np.zeros(k), -np.inf), np.full(k + 1, np.inf)
        model = HighsModel(sparse.csr_array(rows), low, high, lower, upper, where=self.task.where)
        found = model.solve(np.append(np.zeros(k), 1.0), row=self.task.number(self.row[0]))
        return _on_simplex(found.x[:k]), _on_simplex(np.abs(found.row_duals[1:])) @ cuts

    def _shortest(self) -> RowAnswer:
        limit = self.nominal + TIE_TOLERANCE * max(1.0, abs(self.nominal))
        for _ in range(_MAX_ROUNDS):
            tied = self.Y @ self.center <= limit
            weights = _least_norm_weights(self.Y[tied], self.task.where)
            x, y = weights @ self.X[tied], weights @ self.Y[tied]
            length = float(np.linalg.norm(y))
            tilted = self.center + _TILT * y / max(length, _SAME)
            _, new = self._ask(np.maximum(tilted, 0.0) if self._nonnegative else tilted)
            latest = self.Y[-1]
            if not new or latest @ self.center > limit or latest @ y >= length**2 - _GAP * max(1.0, length**2):
                break
        loss = float(self.cap.support(self._signed(x)))
        return RowAnswer(x, loss, min(self.nominal, loss), self.calls)

    @property
    def _nonnegative(self) -> bool:
        return self.cap.domain == "nonnegative"

    def _signed(self, x: FloatArray) -> FloatArray:
        y: FloatArray = dense(self.task.signed_basis(x[None]))[0]
        return y

    def _ask(self, theta: FloatArray) -> tuple[float, bool]:
        """The least nominal loss for `theta`, and whether the solver's answer is new."""
        x = dense(self.task.nominal(theta, self.row))[0]
        y = self._signed(x)
        self.calls += 1
        apart = np.abs(self.Y - y).max(axis=1, initial=0.0)
        new = not (apart <= _SAME * max(1.0, float(np.abs(y).max()))).any()
        if new:
            self.X, self.Y = np.vstack([self.X, x]), np.vstack([self.Y, y])
        return float(theta @ y), new

    def _weigh(self) -> tuple[FloatArray, FloatArray]:
        """Best weights and the dual direction."""
        k = len(self.Y)
        program = CapProgram(sparse.coo_array(self.Y.T), self.angle, self._nonnegative)
        simplex = sparse.csr_array(np.vstack([np.ones((1, k)), -np.eye(k)]))
        padded = sparse.hstack([simplex, sparse.csr_array((k + 1, program.n_extra))])
        matrix = sparse.vstack([padded, program.rows(self.center)], format="csc")
        sides = np.zeros(matrix.shape[0])
        sides[0] = 1.0
        cones: list[ConeSpec] = [("zero", 1), ("nonnegative", k), *program.cones()]
        found = ConicModel(None, program.costs(), matrix, sides, cones, self.task.where).solve(
            row=self.task.number(self.row[0])
        )
        return _on_simplex(found.x[:k]), program.direction(self.center, found.z[k + 1 :])


def _least_norm_weights(Y: FloatArray, where: str) -> FloatArray:
    """Weights of the shortest convex combination of the rows."""
    k = len(Y)
    if k == 1:
        return np.ones(1)
    A = sparse.csc_array(np.vstack([np.ones((1, k)), -np.eye(k)]))
    cones: list[ConeSpec] = [("zero", 1), ("nonnegative", k)]
    found = ConicModel(sparse.csc_array(Y @ Y.T), np.zeros(k), A, np.append(1.0, np.zeros(k)), cones, where).solve()
    return _finished(Y, _on_simplex(found.x))


def _finished(Y: FloatArray, weights: FloatArray) -> FloatArray:
    """The same to the last digits: the shortest point of the plane through the rows that carry weight."""
    carrying = np.flatnonzero(weights > _CARRIES)
    base = Y[carrying[0]]
    steps = np.linalg.lstsq((Y[carrying[1:]] - base).T, -base, rcond=None)[0]
    exact = np.zeros(len(Y))
    exact[carrying] = np.append(1.0 - steps.sum(), steps)
    return weights if exact.min() < 0.0 else exact


def _on_simplex(weights: FloatArray) -> FloatArray:
    inside = np.maximum(weights, 0.0)
    return np.asarray(inside / inside.sum(), dtype=np.float64)
