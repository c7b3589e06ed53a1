"""Branch and bound with nominal solves alone: binary problems whose hull does not hold the robust optimum.

That is a cap in the nonnegative orthant and a `max` problem: worst cases are clipped, and the loss is no function of
`(1 . x, c . x)` (`hull`). A node fixes some entries at 0 or 1. The nominal solver is made to respect that by a price
above anything the others can be worth, negative for an entry fixed at 0. Nodes are split where answers differ, so none
is empty: an answer that does not respect the price shows a solver that is not exact for such parameters, and no bound
could be trusted.

For any member `t` of the cap the least `t . y` over a node is a lower bound on the losses there. Members are found
by letting the cap answer the mean of the decisions so far (fictitious play). A decision that is optimal for its own
worst case closes its node; otherwise the answers differ in some entry, and the node is split there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

import numpy as np

from conformio.checks import Decisions, FloatArray, dense
from conformio.errors import SolverError
from conformio.prescription.solution import Answers, RowAnswer
from conformio.prescription.task import RobustTask

__all__ = ["solve_by_branching"]

_GAP = 1e-10
_ROUNDS = 8
_MAX_CALLS = 5_000
_INEXACT = (
    "the solver's answer is not optimal for parameters some of which are negative; make it exact for both signs, "
    "whatever the domain"
)


def solve_by_branching(task: RobustTask, warm: Decisions | None = None) -> Answers:
    """Robust decisions of binary problems with `basis(x) = x`, exact unless a row needs more than 5,000 solves.

    Parameters
    ----------
    task : RobustTask
    warm : decisions, optional
        Feasible decisions, one per row, to be improved upon.
    """
    if warm is None:
        warm = task.nominal_at_center(np.arange(len(task)))
    rows = [_Tree(task, k, dense(warm[[k]])[0]).grown() for k in range(len(task))]
    return Answers.of_rows(rows, task.problem.n_vars, "branching")


@dataclass(frozen=True)
class _Node:
    """Entries fixed at 0 (-1), at 1 (+1) or free (0), and a member of the cap to begin with."""

    fixed: FloatArray
    theta: FloatArray


@dataclass
class _Tree:
    """The search of one row."""

    task: RobustTask
    k: int
    best: FloatArray
    loss: float = np.inf
    calls: int = 0
    _open: list[tuple[float, int, _Node]] = field(default_factory=list)

    def grown(self) -> RowAnswer:
        """Split the node with the least bound until none lies below the best decision."""
        ages, closed = count(), np.inf
        worst = self._worst(self.best)
        self._open = [(-np.inf, next(ages), _Node(np.zeros(len(self.best)), worst))]
        while self._open and self._open[0][0] < self._enough() and self.calls < _MAX_CALLS:
            _, _, node = heappop(self._open)
            bound, children = self._explored(node)
            closed = closed if children else min(closed, bound)
            for child in children:
                heappush(self._open, (bound, next(ages), child))
        bound = min(self.loss, closed, self._open[0][0] if self._open else np.inf)
        return RowAnswer(self.best, self.loss, bound, self.calls)

    def _explored(self, node: _Node) -> tuple[float, list[_Node]]:
        """A bound on the node's losses, and the nodes that are left of it."""
        bound, theta, total = -np.inf, node.theta, np.zeros(len(node.fixed))
        for n in range(1, _ROUNDS + 1):
            x = self._answer(theta, node.fixed)
            bound = max(bound, float(theta @ x) * self.task.sign)
            worst, total = self._worst(x), total + x
            if bound >= self._enough():
                return bound, []
            theta = self.task.cap.row(self.k).worst_case(self.task.sign * total / n)
        split = int(np.abs(total / _ROUNDS - 0.5).argmin())
        if total[split] in {0.0, float(_ROUNDS)}:  # always the same decision, its own worst case included
            return bound, []
        return bound, [_Node(_with(node.fixed, split, value), worst) for value in (-1.0, 1.0)]

    def _answer(self, theta: FloatArray, fixed: FloatArray) -> FloatArray:
        """The best decision of a node for `theta`."""
        price = 4.0 * np.sqrt(len(fixed)) + 1.0
        costs = np.where(fixed == 0.0, theta, -self.task.sign * price * fixed)
        self.calls += 1
        x: FloatArray = np.rint(dense(self.task.nominal(costs[None], np.array([self.k])))[0])
        if (x[fixed != 0.0] != (fixed[fixed != 0.0] > 0.0)).any():
            raise SolverError(self.task.where, _INEXACT, self.task.number(self.k))
        return x

    def _worst(self, x: FloatArray) -> FloatArray:
        """The worst case of a decision, which is kept if it is the best so far."""
        y = self.task.sign * x
        worst = self.task.cap.row(self.k).worst_case(y)
        if worst @ y < self.loss:
            self.best, self.loss = x, float(worst @ y)
        return np.asarray(worst)

    def _enough(self) -> float:
        return self.loss - _GAP * max(1.0, abs(self.loss))


def _with(fixed: FloatArray, place: int, value: float) -> FloatArray:
    changed = fixed.copy()
    changed[place] = value
    return changed
