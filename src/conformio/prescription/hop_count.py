"""The hop-count route: exact robust paths for every angle when the centre has no negative entry.

A path with `m` edges and cost `s = c . x` has a worst-case loss that depends on `(m, s)` only and, for each
`m`, does not fall as `s` grows. So the cheapest path for every number of edges contains the optimum: layered
Bellman-Ford finds the cheapest walks, and a walk that repeats a node is dominated by the path inside it,
which has fewer edges and costs no more.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from conformio._kernels.paths import hop_path, hop_profile
from conformio.checks import IntArray
from conformio.errors import InfeasibleProblemError
from conformio.prescription.hull import sigma
from conformio.prescription.solution import Answers
from conformio.prescription.task import TIE_ANGLE, RobustTask
from conformio.problems import ShortestPath

__all__ = ["solve_hop_count"]


def solve_hop_count(task: RobustTask) -> Answers:
    """Robust paths from the cheapest path of every length, in a `ShortestPath` with costs >= 0."""
    paths = [_best_path(task, k) for k in range(len(task))]
    indptr = np.cumsum([0, *(len(path) for path in paths)])
    flat = np.concatenate([np.zeros(0, dtype=np.int64), *paths])
    decisions = sparse.csr_array((np.ones(len(flat)), flat, indptr), shape=(len(task), task.problem.n_vars))
    decisions.sort_indices()
    rows = np.arange(len(task))
    ones = np.ones(len(task), dtype=np.int64)
    return Answers(decisions, task.losses(decisions, rows), ones, np.full(len(task), "hop-count"))


def _best_path(task: RobustTask, k: int) -> IntArray:
    problem = task.problem
    assert isinstance(problem, ShortestPath)
    network, context = problem.network, task.contexts[k]
    origin, destination = (int(node) for node in context)
    edges = (
        network.tails,
        network.heads,
        np.ascontiguousarray(task.center(k)),
        problem.usable_edges(context),
    )
    longest = network.n_nodes - 1
    costs, kept = hop_profile(*edges, origin, destination, longest)
    reachable = np.flatnonzero(np.isfinite(costs))
    if len(reachable) == 0:
        reason = f"there is no path from {origin} to {destination}; take the row out or join the nodes"
        raise InfeasibleProblemError(task.where, reason, task.number(k))
    # `reachable` ascends and `min` keeps the first of equals, so ties go to fewer edges.
    angle = max(task.cap.angle, TIE_ANGLE)
    hops = min(reachable, key=lambda m: sigma(float(m), float(costs[m]), angle))
    found: IntArray = hop_path(*edges, kept, longest, destination, int(hops))
    return found
