"""The cutting plane for robust knapsacks: a mixed-integer master in HiGHS that keeps its model, stopped by a clock.

Master: `max t` over `t <= theta . x` for the directions found so far, `weights . x <= budget`, `x` of 0 and 1; the
worst direction in the cap at the master's `x` is the next. The master stops at a relative gap a tenth of the wanted.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from scipy import sparse

from conformio.checks import FloatArray
from conformio.errors import SolverError
from conformio.sets import SphericalCap
from conformio.solvers import HighsModel

__all__ = ["CutResult", "minimise_by_cuts"]

_GAP = 1e-6


@dataclass(frozen=True)
class CutResult:
    """The best worst-case value found, the bound above it, and whether the clock let the method finish."""

    value: float
    bound: float
    finished: bool


def minimise_by_cuts(weights: FloatArray, budget: float, cap: SphericalCap, seconds: float) -> CutResult:
    """The basket with the best worst-case value, to a relative gap of 1e-6."""
    n = len(weights)
    row = sparse.csr_array(np.append(weights, 0.0)[None, :] / budget)
    upper = np.append(np.ones(n), float(cap.center @ np.ones(n)) + n)
    whole = np.append(np.ones(n, dtype=np.bool_), False)
    start, low, high = perf_counter(), np.zeros(n + 1), upper
    lowest = np.append(low[:n], -float(n))
    model = HighsModel(
        row, np.array([-np.inf]), np.array([1.0]), lowest, high, whole, "max", whole_gap=_GAP / 10, seconds=seconds
    )
    costs, value, bound = np.append(np.zeros(n), 1.0), -np.inf, np.inf
    model.add_row(0.0, np.inf, np.append(cap.center, -1.0))
    while perf_counter() - start < seconds:
        try:
            found = model.solve(costs)
        except SolverError:  # the clock
            break
        x = np.rint(found.x[:n])
        theta = cap.worst_case(-x)  # worst for a maximiser: the least value
        value, bound = max(value, float(theta @ x)), min(bound, found.bound)
        if bound - value <= _GAP * abs(bound):
            return CutResult(value, bound, True)
        model.add_row(0.0, np.inf, np.append(theta, -1.0))
    return CutResult(value, bound, False)
