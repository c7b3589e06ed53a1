"""The parametric route: robust decisions of binary problems from nominal solves alone.

The optimum is a nominal optimum for costs `c + lam 1`, `lam >= 0` (`hull` says why, and which bound prunes).
All rows advance together, one batched nominal call a round:

1. costs `c`: the end of the hull with least `s`;
2. tiny angles: one multiplier for all rows that settles them. If the first point `(m0, s0)` with loss `v`
   stays optimal for some `lam >= (v - s0) / max(1, m0 - v^2)`, nothing beats it: on its supporting line the
   loss is at least `v` up to `m = v^2` (least value at an end), and below that, as well as one step further,
   `s` alone is at least `v`;
3. costs `1`: the end with least `m`;
4. one multiplier per row whose bound is not closed, until all are.

At angles up to `TIE_ANGLE` decisions are chosen as if the angle were `TIE_ANGLE`, which resolves nominal ties
in favour of fewer ones and changes no value by more than `TIE_ANGLE * |x|`.
"""

from __future__ import annotations

from math import inf

import numpy as np

from conformio.checks import Decisions, FloatArray, IntArray
from conformio.prescription.hull import Point, Support, Walk
from conformio.prescription.solution import Answers, join_decisions
from conformio.prescription.task import TIE_ANGLE, RobustTask, row_blocks
from conformio.sets import SphericalCap

__all__ = ["solve_parametric"]

_TINY_ANGLE = 1e-6
_LEAST_PROBE = 1e-7
_NO_GAIN = 1e-12


def solve_parametric(task: RobustTask, prune: bool = True) -> Answers:
    """Robust decisions by walking each row's hull.

    Exact, except where the nonnegative domain of the cap matters (`max` problems): there the decisions are
    those of the whole cap, and `bounds` come from nominal solves.

    Parameters
    ----------
    task : RobustTask
        Its problem is binary.
    prune : bool
        False enumerates every hull to its end: the independent reference for problems known by their solver
        only.
    """
    search = _Search(task)
    rows = np.arange(len(task))
    first = search.ask(task.cap.center, rows)
    supports = [[Support(0.0, point)] for point in first]
    walks = [Walk(search.angle, point, prune) for point in first]
    if prune and search.angle <= _TINY_ANGLE and task.shared_center and len(rows):
        rows = _probe(search, supports, walks, rows)
    for k, point in zip(rows, search.ask_ones(rows), strict=True):
        walks[k].start([*supports[k], Support(inf, point)])
    _walk_all(search, walks, rows)
    name = "parametric" if prune else "hull-enumeration"
    places = np.array([walk.best.place for walk in walks], dtype=np.int64)
    answers = Answers(search.decisions(places), _bounds(task, walks, first), search.calls, np.full(len(task), name))
    return _under_orthant(task, answers) if task.orthant_matters else answers


class _Search:
    """The oracle with its bookkeeping: every decision it gave, and how often each row asked."""

    def __init__(self, task: RobustTask):
        self.task = task
        self.angle = max(task.reach, TIE_ANGLE)
        self.calls = np.zeros(len(task), dtype=np.int64)
        self._kept: list[Decisions] = []
        self._size = 0

    def ask(self, theta: FloatArray, rows: IntArray) -> list[Point]:
        """Nominal optima as points; `theta` (d,) or one per row of `rows`."""
        if len(rows) == 0:
            return []
        found = self.task.nominal(theta, rows)
        cap = SphericalCap(self.task.cap_rows(rows).center, self.angle)
        ones = np.rint(np.asarray(found.sum(axis=1)).ravel())
        along = self.task.products(cap.center, found)
        losses = self.task.losses(found, rows, cap)
        self.calls[rows] += 1
        self._kept.append(found)
        places = range(self._size, self._size + len(rows))
        self._size += len(rows)
        return [Point(*pair) for pair in zip(ones.tolist(), along.tolist(), losses.tolist(), places, strict=True)]

    def ask_ones(self, rows: IntArray) -> list[Point]:
        """Decisions with fewest ones."""
        return self.ask(self.task.sign * np.ones(self.task.problem.n_params), rows)

    def ask_tilted(self, multipliers: FloatArray, rows: IntArray) -> list[Point]:
        """Nominal optima for `c + lam 1` (`c - lam 1` where the problem maximises)."""
        points: list[Point] = []
        for part in row_blocks(np.arange(len(rows)), self.task.problem.n_params):
            centers = self.task.cap_rows(rows[part]).center
            points += self.ask(centers + self.task.sign * multipliers[part, None], rows[part])
        return points

    def decisions(self, places: IntArray) -> Decisions:
        """Kept decisions by place."""
        return join_decisions(self._kept)[places]


def _probe(search: _Search, supports: list[list[Support]], walks: list[Walk], rows: IntArray) -> IntArray:
    """Settle rows by one multiplier; the rows that remain get one more support."""
    task, points = search.task, [supports[k][0].point for k in rows]
    needed = max((p.loss - p.s) / max(1.0, p.m - p.loss**2) for p in points)
    multiplier = max(needed, _LEAST_PROBE)
    found = search.ask(task.cap.center + task.sign * multiplier, rows)
    remain = []
    for k, old, new in zip(rows, points, found, strict=True):
        height = old.s + multiplier * old.m
        gain = height - (new.s + multiplier * new.m)
        if gain <= _NO_GAIN * max(1.0, abs(height)):
            walks[k].closed = old.loss - max(gain, 0.0)
        else:
            supports[k].append(Support(multiplier, new))
            remain.append(k)
    return np.array(remain, dtype=np.int64)


def _walk_all(search: _Search, walks: list[Walk], rows: IntArray) -> None:
    """Advance all rows together until every hull is closed."""
    while len(rows):
        wanted = [walks[k].next_multiplier() for k in rows]
        open_rows = np.array([multiplier is not None for multiplier in wanted])
        rows = rows[open_rows]
        multipliers = np.array([multiplier for multiplier in wanted if multiplier is not None])
        points = search.ask_tilted(multipliers, rows)
        for k, multiplier, point in zip(rows, multipliers.tolist(), points, strict=True):
            walks[k].answer(multiplier, point)


def _bounds(task: RobustTask, walks: list[Walk], first: list[Point]) -> FloatArray:
    if task.cap.angle < TIE_ANGLE:
        # The centre is a member of every cap, so the nominal optimum bounds the loss at any angle.
        return np.array([point.s for point in first])
    return np.array([walk.bound() for walk in walks])


def _under_orthant(task: RobustTask, answers: Answers) -> Answers:
    """Bounds for the cap cut by the orthant: nominal optima at the centre and at the worst case."""
    rows = np.arange(len(task))
    bounds = task.products(task.cap.center, task.nominal_at_center(rows))
    for part in row_blocks(rows, task.problem.n_params):
        worst = task.cap_rows(part).worst_case(task.signed_basis(answers.decisions[part]))
        bounds[part] = np.maximum(bounds[part], task.products(worst, task.nominal(worst, part)))
    return Answers(answers.decisions, bounds, answers.calls + 2, answers.methods)
