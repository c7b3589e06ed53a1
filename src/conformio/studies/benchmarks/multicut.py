"""The usual way to minimise the sub-optimality loss: a multi-cut linear program in HiGHS, warm-started.

One epigraph variable for every decision, one cut for every violated one in each round, one HiGHS model that
keeps its rows and its basis between the rounds. It is written to be fast with these parts, so that a
comparison with it is fair; it shares no code with the estimators. Forward problems are solved either by the
problem itself in one batch (compiled searches that share trees, as no textbook has them), or one by one as
linear programs in one warm HiGHS model, as the formulation is printed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from conformio.networks.flow_program import FlowProgram
from conformio.problems import Problem, ShortestPath
from conformio.solvers import HighsModel

__all__ = ["MultiCutMinimum", "flows_one_by_one", "minimize_multicut"]


class MultiCutMinimum(NamedTuple):
    """The last point, its loss, the master program's value, the number of rounds."""

    theta: np.ndarray
    loss: float
    lower_bound: float
    n_iter: int


def flows_one_by_one(problem: ShortestPath) -> Callable[[np.ndarray, np.ndarray], Any]:
    """Shortest paths as flow programs, row after row, in one HiGHS model."""
    program = FlowProgram(problem.network, "multicut")

    def solve(theta: np.ndarray, contexts: np.ndarray) -> Any:
        ends = contexts.astype(np.int64).tolist()
        return sparse.csr_array(np.array([program.solve(theta, pair[0], pair[1], 0).x for pair in ends]))

    return solve


def minimize_multicut(
    problem: Problem,
    contexts: Any,
    decisions: Any,
    tol: float = 1e-6,
    max_iter: int = 500,
    forward: Callable[[np.ndarray, np.ndarray], Any] | None = None,
) -> MultiCutMinimum:
    """Minimise the mean loss over the default ball (centre 1, radius a quarter of its L1 norm) to a gap of `tol`.

    The program is over `(p, q, l)` with `theta = 1 + p - q`: minimise `mean(l)`, `sum(p + q) <= n / 4`,
    `l_k >= theta . (x_k - x)` for the optimal decisions `x` seen so far.
    """
    n, n_rows, sign = problem.n_params, len(contexts), problem.sign
    observed = sparse.csr_array(decisions) * sign
    radius = n / 4.0
    down = np.minimum(1.0, radius) if problem.domain == "nonnegative" else radius
    costs = np.concatenate([np.zeros(2 * n), np.full(n_rows, 1.0 / n_rows)])
    upper = np.concatenate([np.full(n, radius), np.full(n, down), np.full(n_rows, np.inf)])
    budget = sparse.csr_array(np.concatenate([np.ones(2 * n), np.zeros(n_rows)])[None, :])
    model = HighsModel(budget, np.array([-np.inf]), np.array([radius]), np.zeros(2 * n + n_rows), upper)
    theta, slack, bound, best, best_theta = np.ones(n), np.zeros(n_rows), -np.inf, np.inf, np.ones(n)
    forward = forward or problem.nominal
    for n_iter in range(1, max_iter + 1):
        optimal = sparse.csr_array(forward(theta, contexts)) * sign
        slopes = sparse.csr_array(observed - optimal)
        losses = slopes @ theta
        if losses.mean() < best:
            best, best_theta = float(losses.mean()), theta
        if best - bound <= tol * max(1.0, best):
            break
        wrong = np.flatnonzero(losses > slack + 2e-9)
        if not len(wrong):
            break
        rows = slopes[wrong]
        matrix = sparse.csr_array(sparse.hstack([rows, -rows, -sparse.eye_array(n_rows, format="csr")[wrong]]))
        model.add_rows(np.full(len(wrong), -np.inf), -np.asarray(rows.sum(axis=1)).ravel(), matrix)
        found = model.solve(costs if n_iter == 1 else None)
        theta, slack = 1.0 + found.x[:n] - found.x[n : 2 * n], found.x[2 * n :]
        if problem.domain == "nonnegative":
            theta = np.maximum(theta, 0.0)
        bound = max(bound, found.value)
    return MultiCutMinimum(best_theta, best, bound, n_iter)
