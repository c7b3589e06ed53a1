"""The conic route: robust decisions over convex polyhedra, one second-order cone program a row.

`cap_program` states the program.

For a cap in the nonnegative orthant the program is a relaxation, unless `sign x >= 0` throughout, where the
orthant does not matter; only the certificate says whether it was tight.

The certificate does not trust the solver: the loss of the decision returned is the closed form, and the lower
bound is the least nominal value for a member of the cap's hull, one linear program: for the worst case at the
decision, and for the solver's dual. Rows whose gap stays open go to the cutting plane. Tiny angles first try
the shortest nominal optimum, to which robust decisions converge; up to `TIE_ANGLE` it is the answer by
definition.

A verdict of the cone solver is not trusted either. Where it calls a row infeasible or unbounded, or stops,
the centre's nominal linear program decides: if that has no optimum the row fails with its error, else the
gap stays open and the row goes to the cutting plane. So does every row with a single parameter: one dimension
has no cap between `{c}` and `{c, -c}`, while the program would take its convex hull.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from conformio.checks import BoolArray, FloatArray
from conformio.errors import RowError
from conformio.prescription.cap_program import CapProgram, members
from conformio.prescription.cutting_plane import solve_by_cuts
from conformio.prescription.faces import Active, finished
from conformio.prescription.least_norm import shortest_nominal
from conformio.prescription.regions import LinearPrograms, Region
from conformio.prescription.solution import Answers, RowAnswer
from conformio.prescription.task import TIE_ANGLE, RobustTask
from conformio.problems.polyhedra import Sides
from conformio.solvers import ConeSpec, ConicModel, ConicSolution

__all__ = ["TINY_ANGLE", "solve_conic"]

TINY_ANGLE = 1e-4
"""Angles up to this one first try the shortest nominal optimum."""

_TIGHT = 1e-12
_WANTED = 1e-9
_OPEN = 1e-7


def solve_conic(task: RobustTask) -> Answers:
    """Robust decisions over polyhedra without whole variables, or with wholeness dropped (`relaxed`).

    Parameters
    ----------
    task : RobustTask
        Its problem has a polyhedral description, `basis(x) = x`, and is convex or relaxed.
    """
    if task.problem.n_params == 1:
        return solve_by_cuts(task)
    rows = _Rows(task)
    ended = [rows.solve(k) for k in range(len(task))]
    answers = Answers.of_rows(ended, task.problem.n_vars, "conic")
    still_open = np.flatnonzero([row.loss - row.bound > _OPEN * max(1.0, abs(row.loss)) for row in ended])
    if len(still_open) == 0:
        return answers
    return answers.replaced(still_open, solve_by_cuts(task.take(still_open), answers.decisions[still_open]))


@dataclass(frozen=True)
class _Pattern:
    """Which variables have finite bounds, and which bounds coincide: what decides the shape of a program."""

    low: BoolArray
    high: BoolArray
    fixed: BoolArray

    @classmethod
    def of(cls, sides: Sides) -> _Pattern:
        fixed = sides.lower == sides.upper
        return cls(np.isfinite(sides.lower) & ~fixed, np.isfinite(sides.upper) & ~fixed, fixed)

    def key(self) -> bytes:
        return np.concatenate([self.low, self.high, self.fixed]).tobytes()


class _Rows:
    """Solves rows one by one on kept models, one for each pattern of bounds."""

    def __init__(self, task: RobustTask):
        self.task = task
        self.region = Region(task)
        self.programs = LinearPrograms(self.region)
        self.angle = task.reach
        self._models: dict[bytes, _Program] = {}

    def solve(self, k: int) -> RowAnswer:
        """The robust decision of one row."""
        short = None
        if self.task.cap.angle <= TINY_ANGLE:
            short = self._short(k)
            if self.task.cap.angle <= TIE_ANGLE or short.loss - short.bound <= _TIGHT * max(1.0, abs(short.loss)):
                return short
        robust = self._robust(k)
        if short is None:
            return robust
        best = robust if robust.loss < short.loss else short
        bound = min(best.loss, max(robust.bound, short.bound))
        return RowAnswer(best.x, best.loss, bound, robust.calls + short.calls)

    def _short(self, k: int) -> RowAnswer:
        """The shortest nominal optimum; any nominal optimum, its gap open, where the solver finds none."""
        costs = self.task.sign * self.task.center(k)
        try:
            x, nominal = shortest_nominal(self.region, self.programs, costs, k)
        except RowError:
            return self._nominal(k)
        return self._graded(k, x, None, nominal)

    def _nominal(self, k: int) -> RowAnswer:
        """A nominal optimum for the centre, without a bound: the row is solved again elsewhere."""
        found = self.programs.solve(self.task.sign * self.task.center(k), k)
        x = self.region.rounded(found.x, self.region.sides(k))
        return RowAnswer(x, float(self.task.cap.row(k).support(self.task.sign * x)), -np.inf, 1)

    def _robust(self, k: int) -> RowAnswer:
        sides, center, cap, sign = (
            self.region.sides(k),
            self.task.center(k),
            self.task.cap.row(k),
            self.task.sign,
        )
        program = self._program(sides, center)
        matrix = None if self.task.shared_center else program.matrix(center)
        try:
            found = program.model.solve(b=program.offsets(sides), A=matrix, row=self.task.number(k))
        except RowError:
            # Badly posed relaxations over the orthant, or numbers too far from 1 for interior points.
            return self._nominal(k)
        x = finished(
            self.region,
            sides,
            found.x[: self.region.n_vars],
            program.active(found),
            lambda face: face.most_robust(center, sign, self.angle),
            lambda x: float(cap.support(sign * x)),
        )
        return self._graded(k, x, program.direction(found, center), -np.inf)

    def _program(self, sides: Sides, center: FloatArray) -> _Program:
        pattern = _Pattern.of(sides)
        with_mu = self.task.cap.domain == "nonnegative" and not (self.task.sign > 0 and bool((sides.lower >= 0).all()))
        key = pattern.key() + bytes([with_mu])
        if key not in self._models:
            self._models[key] = _Program(self.region, pattern, with_mu, self.angle, sides, center)
        return self._models[key]

    def _graded(self, k: int, x: FloatArray, dual: FloatArray | None, known: float) -> RowAnswer:
        """A decision, its loss, and the best bound among `known`, its worst case's and the dual's."""
        cap, sign = self.task.cap.row(k), self.task.sign
        y = sign * x
        worst = cap.worst_case(y)
        loss, calls = float(worst @ y), 2
        bound = max(known, self.task.floor, self.programs.bound(sign * worst, k))
        if dual is not None and loss - bound > _WANTED * max(1.0, abs(loss)):
            calls += 2
            for theta in members(dual, cap.center, self.angle, cap.domain == "nonnegative"):
                bound = max(bound, self.programs.bound(sign * theta, k))
        return RowAnswer(x, loss, min(bound, loss), calls)


class _Program:
    """One kept cone program; rows of the polyhedron, then those of the cap."""

    def __init__(
        self, region: Region, pattern: _Pattern, with_mu: bool, angle: float, sides: Sides, center: FloatArray
    ):
        self.region, self.pattern = region, pattern
        signs = sparse.diags_array(np.full(region.n_vars, region.task.sign), format="coo")
        self._cap = CapProgram(signs, angle, with_mu)
        cones: list[ConeSpec] = [
            ("zero", region.n_eq + int(pattern.fixed.sum())),
            ("nonnegative", region.n_ub + int(pattern.low.sum()) + int(pattern.high.sum())),
            *self._cap.cones(),
        ]
        self._polyhedral = self._polyhedral_rows()
        self._n_polyhedral = self._polyhedral.shape[0]
        matrix, offsets = self.matrix(center), self.offsets(sides)
        self.model = ConicModel(None, self._cap.costs(), matrix, offsets, cones, region.task.where)

    def _polyhedral_rows(self) -> Any:
        region, pattern = self.region, self.pattern
        eye = sparse.eye_array(region.n_vars, format="csr")
        blocks = [region.A_eq, eye[pattern.fixed], region.A_ub, -eye[pattern.low], eye[pattern.high]]
        rows = sparse.vstack(blocks, format="csr")
        return sparse.hstack([rows, sparse.csr_array((rows.shape[0], self._cap.n_extra))], format="csr")

    def offsets(self, sides: Sides) -> FloatArray:
        """Right-hand sides of all rows for one context."""
        p = self.pattern
        bounds = [sides.lower[p.fixed], sides.b_ub, -sides.lower[p.low], sides.upper[p.high]]
        return np.concatenate([sides.b_eq, *bounds, np.zeros(self._cap.n_rows())])

    def matrix(self, center: FloatArray) -> Any:
        """All rows for one centre."""
        return sparse.vstack([self._polyhedral, self._cap.rows(center)], format="csc")

    def direction(self, found: ConicSolution, center: FloatArray) -> FloatArray:
        """The member of the cap's hull that the duals stand for."""
        return self._cap.direction(center, found.z[self._n_polyhedral :])

    def active(self, found: ConicSolution) -> Active:
        """Constraints whose dual exceeds their slack."""
        region, p = self.region, self.pattern
        start = region.n_eq + int(p.fixed.sum())
        touched = (found.z > found.s)[start : self._n_polyhedral]
        rows, low, high = np.split(touched, np.cumsum([region.n_ub, int(p.low.sum())]))
        at_lower, at_upper = np.zeros_like(p.low), np.zeros_like(p.high)
        at_lower[p.low], at_upper[p.high] = low, high
        return Active(rows, at_lower, at_upper)
