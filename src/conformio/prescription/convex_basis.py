"""Convex programs written in CVXPY: the conic route and the cutting plane for any basis.

With `z >= sign f(x)` (equality where a basis function may have a negative parameter; it is then affine) the
robust problem is the cone program of `cap_program` in `z`, convex in `(x, z)`. The duals of these constraints
are a member of the cap's hull, and one nominal solve for it bounds the loss from below.

At angles up to `TIE_ANGLE`, of the nominal optima (within `TIE_TOLERANCE`) the one with the smallest `|f(x)|`
is taken. A solver sees a strictly convex optimum as a small set of equals: the nominal optimum itself stays
unless the shortest is shorter by more than 1e-4 of its length.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conformio.checks import FloatArray, dense
from conformio.errors import SolverError, UnboundedProblemError, invalid
from conformio.prescription.cap_program import members
from conformio.prescription.solution import Answers, RowAnswer
from conformio.prescription.task import TIE_ANGLE, TIE_TOLERANCE, RobustTask
from conformio.problems import ConvexProgram
from conformio.problems.cvxpy_runs import PLAIN, solve_in_turns

__all__ = ["solve_convex", "solve_convex_by_cuts"]

_SHORTER = 1e-4
_GAP = 1e-8
_OPEN = 1e-7
_MAX_CUTS = 300
_CLARABEL = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11, "max_iter": 300, "max_threads": 1}


def solve_convex(task: RobustTask) -> Answers:
    """Robust decisions of a `ConvexProgram` by one cone program a row; cutting planes where it is loose."""
    rows = _Rows(task)
    ended = [rows.robust(k) for k in range(len(task))]
    answers = Answers.of_rows(ended, task.problem.n_vars, "conic")
    still_open = np.flatnonzero([row.loss - row.bound > _OPEN * max(1.0, abs(row.loss)) for row in ended])
    if len(still_open) == 0:
        return answers
    return answers.replaced(still_open, solve_convex_by_cuts(task.take(still_open)))


def solve_convex_by_cuts(task: RobustTask) -> Answers:
    """Robust decisions of a `ConvexProgram` by cutting planes, a new master each time."""
    rows = _Rows(task)
    return Answers.of_rows([rows.by_cuts(k) for k in range(len(task))], task.problem.n_vars, "cutting-plane")


class _Rows:
    """Solves rows one by one; a model stays while the program's own expressions do."""

    def __init__(self, task: RobustTask):
        problem = task.problem
        assert isinstance(problem, ConvexProgram)
        self.task, self.problem = task, problem
        _check_domain(task, problem.nonnegative_params)
        self.angle = task.reach
        self.signed = problem.nonnegative_params | (task.cap.domain == "nonnegative")
        self._kept: tuple[Any, Any] = (None, None)

    def robust(self, k: int) -> RowAnswer:
        """The robust decision of one row."""
        if self.task.cap.angle <= TIE_ANGLE:
            return self._shortest(k)
        model = self._model(k)
        try:
            x, dual = model.robust(self.task.center(k), self._number(k))
        except SolverError:  # the cutting plane asks for less: start it from a nominal optimum whose gap is open
            x = dense(self.task.nominal(self.task.center(k), np.array([k])))[0]
            return RowAnswer(x, float(self.task.cap.row(k).support(self._signed(x))), -np.inf, 1)
        loss, bound, calls = self._graded(k, x, [*members(dual, self.task.center(k), self.angle, self._orthant)])
        return RowAnswer(x, loss, bound, calls + 1)

    def by_cuts(self, k: int) -> RowAnswer:
        """The robust decision of one row by cutting planes."""
        if self.task.cap.angle <= TIE_ANGLE:
            return self._shortest(k)
        model, cap = self._model(k), self.task.cap.row(k)
        cuts, best, lowest, bound = [cap.center], None, np.inf, self.task.floor
        calls = 0
        while calls < _MAX_CUTS:
            calls += 1
            x, value = model.master(np.array(cuts), self._number(k))
            bound = max(bound, value)
            y = self._signed(x)
            worst = cap.worst_case(y)
            if best is None or worst @ y < lowest:
                best, lowest = x, float(worst @ y)
            if lowest - bound <= _GAP * max(1.0, abs(lowest)):
                break
            cuts.append(worst)
        assert best is not None
        return RowAnswer(best, lowest, min(bound, lowest), calls)

    @property
    def _orthant(self) -> bool:
        return self.task.cap.domain == "nonnegative"

    def _shortest(self, k: int) -> RowAnswer:
        center = self.task.center(k)
        nominal = dense(self.task.nominal(center, np.array([k])))[0]
        value = float(self._signed(nominal) @ center)
        limit = value + TIE_TOLERANCE * max(1.0, abs(value))
        short = self._model(k).shortest(center, limit, self._number(k))
        lengths = [float(np.linalg.norm(self._signed(x))) for x in (nominal, short)]
        x = short if lengths[1] < (1.0 - _SHORTER) * lengths[0] else nominal
        loss = float(self.task.cap.row(k).support(self._signed(x)))
        return RowAnswer(x, loss, min(value, loss), 2)

    def _graded(self, k: int, x: FloatArray, thetas: list[FloatArray]) -> tuple[float, float, int]:
        """Loss, best lower bound and number of nominal solves."""
        y, row = self._signed(x), np.array([k])
        worst = self.task.cap.row(k).worst_case(y)
        loss, bound = float(worst @ y), self.task.floor
        thetas = [worst, *thetas]
        for member in thetas:
            theta = np.where(self.problem.nonnegative_params, np.maximum(member, 0.0), member)
            try:
                best = dense(self.task.nominal(theta, row))[0]
            except UnboundedProblemError:  # a direction off by rounding bounds nothing over an unbounded set
                continue
            bound = max(bound, float(theta @ self._signed(best)))
        return loss, min(bound, loss), len(thetas)

    def _signed(self, x: FloatArray) -> FloatArray:
        y: FloatArray = dense(self.task.signed_basis(x[None]))[0]
        return y

    def _number(self, k: int) -> int:
        return self.task.number(k)

    def _model(self, k: int) -> _Model:
        structure = self.problem.expressions(self.task.contexts[k])
        if self._kept[0] is not structure:
            self._kept = (structure, _Model(structure, self.task, self.signed, self.angle))
        model: _Model = self._kept[1]
        return model


def _check_domain(task: RobustTask, nonnegative: Any) -> None:
    """Refuse caps with negative parameters where a basis function is not affine: not convex."""
    cap = task.cap
    if cap.domain == "nonnegative" or not nonnegative.any():
        return
    lowest = cap.center.T[nonnegative].min()
    if lowest < 0.0 or np.arcsin(min(lowest, 1.0)) < cap.angle:
        rule = "must keep the parameters of basis functions that are not affine nonnegative"
        got = f"domain free, angle {cap.angle:.6g}, least such entry of a unit centre {lowest:.6g}"
        raise invalid("cap", task.where, rule, got, remedy='Build it with domain="nonnegative" or a smaller angle')


class _Model:
    """CVXPY programs over one feasible set; `z` stands for `sign f(x)`."""

    def __init__(self, structure: Any, task: RobustTask, signed: Any, angle: float):
        import cvxpy as cp

        self._cp, self._where, self._angle = cp, task.where, angle
        self._variable = structure.variable
        self._constraints = list(structure.constraints)
        self._z = cp.Variable(len(structure.basis))
        self._parts = [part for part in (np.flatnonzero(signed), np.flatnonzero(~signed)) if len(part)]
        self._links = []
        for part in self._parts:
            # CVXPY looks at whole vectors: affine and other functions must not share one.
            y = task.sign * cp.hstack([cp.reshape(structure.basis[i], (1,), order="F") for i in part])
            self._links.append(y <= self._z[part] if signed[part[0]] else y == self._z[part])
        self._center = cp.Parameter(len(structure.basis))
        self._limit = cp.Parameter()
        self._robust: Any = None
        self._shortest: Any = None

    def robust(self, center: FloatArray, row: int) -> tuple[FloatArray, FloatArray]:
        """The robust decision and the dual direction."""
        if self._robust is None:
            self._robust = self._robust_program()
        self._center.value = center
        x = self._solve(self._robust, row)
        dual = np.zeros(len(center))
        for part, link in zip(self._parts, self._links, strict=True):
            dual[part] = link.dual_value
        return x, dual

    def shortest(self, center: FloatArray, limit: float, row: int) -> FloatArray:
        """The decision of smallest `|z|` with a nominal value of at most `limit`."""
        if self._shortest is None:
            near = [self._center @ self._z <= self._limit]
            goal = self._cp.Minimize(self._cp.norm(self._z))
            self._shortest = self._cp.Problem(goal, self._constraints + self._links + near)
        self._center.value, self._limit.value = center, limit
        return self._solve(self._shortest, row)

    def master(self, cuts: FloatArray, row: int) -> tuple[FloatArray, float]:
        """Decision and value of `min Omega` over the cuts."""
        omega = self._cp.Variable()
        goal = self._cp.Minimize(omega)
        program = self._cp.Problem(goal, [*self._constraints, *self._links, cuts @ self._z <= omega])
        return self._solve(program, row), float(omega.value)

    def _robust_program(self) -> Any:
        cp, a, e = self._cp, self._angle, min(1.0, self._angle)
        s, q, v = cp.Variable(), cp.Variable(), cp.Variable()
        b = 2 * q + e**2 * v
        cone = cp.SOC(v + b, cp.hstack([2 * (self._z - s * self._center), v - b]))
        goal = cp.Minimize(np.cos(a) * s + e * v + 2 * np.sin(a / 2) ** 2 / e * q)
        rows = [s == self._center @ self._z, q >= e * s, cone]
        return cp.Problem(goal, self._constraints + self._links + rows)

    def _solve(self, program: Any, row: int) -> FloatArray:
        unbounded = "the worst case is unbounded over the feasible set; add constraints"
        solve_in_turns(program, (_CLARABEL, PLAIN), self._where, row, unbounded)
        return np.ravel(self._variable.value, order="F").astype(np.float64)
