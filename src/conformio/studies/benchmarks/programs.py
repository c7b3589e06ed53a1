"""Robust linear programs, a batch of right-hand sides: against CVXPY with parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformio.checks import FloatArray
from conformio.prescription import solve_robust
from conformio.problems import LinearProgram
from conformio.sets import SphericalCap
from conformio.studies.benchmarks.drivers import ANGLE
from conformio.studies.benchmarks.measuring import Side, race
from conformio.studies.benchmarks.results import Check, Outcome, Target, ratio
from conformio.studies.benchmarks.settings import Comparison, Settings, peer

__all__ = ["COMPARISONS"]

_ROWS = 30


def _compare(settings: Settings) -> Outcome:
    cvxpy = peer("cvxpy", "pip install cvxpy")
    n_vars, n_rows = settings.pick(50, 5), settings.pick(1000, 20)
    rng = np.random.default_rng(0)
    matrix = -rng.uniform(0.0, 1.0, (settings.pick(_ROWS, 3), n_vars))
    program = LinearProgram(A_ub=matrix, upper=1.0)
    contexts = rng.uniform(0.3, 0.6, (n_rows, 1)) * matrix.sum(axis=1) * rng.uniform(0.9, 1.0, (n_rows, len(matrix)))
    cap = SphericalCap(rng.uniform(1.0, 2.0, n_vars), ANGLE)
    few = contexts[: settings.pick(200, 5)]
    model = _Parametrised(cvxpy, matrix, cap)
    name = "CVXPY with parameters, Clarabel, per context"
    own = "robust linear programs"
    timed = race(
        {
            own: Side(lambda: solve_robust(program, cap, contexts), n_rows),
            name: Side(lambda: model.values(few), len(few), settings.pick(3, 1)),
        },
        settings.pick(9, 1),
    )
    found, values = solve_robust(program, cap, contexts), model.values(few)
    scale = np.maximum(np.abs(found.values), 1.0)
    checks = [
        Check(
            "worst-case values, relative",
            float((np.abs(found.values[: len(few)] - values) / scale[: len(few)]).max()),
            1e-6,
        ),
        Check("own certificates (gaps), relative", float((found.gap / scale).max()), 1e-6),
    ]
    line = ratio(
        f"robust LP ({n_vars} variables), {n_rows} contexts", timed[name], timed[own], Target("at least", 10.0)
    )
    return Outcome([line], list(timed.values()), checks, facts={"contexts of the baseline": len(few), "degrees": 4.0})


class _Parametrised:
    """`min |x + lam c| - lam cos(alpha)` over the polytope of one right-hand side, compiled once."""

    def __init__(self, cvxpy: Any, matrix: FloatArray, cap: SphericalCap):
        x, multiplier = cvxpy.Variable(matrix.shape[1]), cvxpy.Variable(nonneg=True)
        self._sides = cvxpy.Parameter(len(matrix))
        loss = cvxpy.norm(x + multiplier * cap.center, 2) - multiplier * np.cos(cap.angle)
        held = [matrix @ x <= self._sides, x >= 0.0, x <= 1.0]
        self._problem, self._solver = cvxpy.Problem(cvxpy.Minimize(loss), held), cvxpy.CLARABEL

    def values(self, contexts: FloatArray) -> FloatArray:
        """Worst-case value of the best decision of each context."""
        found = np.empty(len(contexts))
        for k, sides in enumerate(contexts):
            self._sides.value = sides
            self._problem.solve(solver=self._solver)
            found[k] = self._problem.value
        return found


COMPARISONS = (Comparison("robust-programs", "Robust linear programs", _compare, 0.3),)
