"""The hop-count route: exact robust paths for every angle when the centre has no negative entry.

A path with `m` edges and cost `s = c . x` has a worst-case loss that depends on `(m, s)` only and falls in neither.
So the optimum is among the cheapest paths for every number of edges. Two trees per origin bound what a path can still
reach, and leave few of them to look at (`_kernels.hop_paths`, which solves equal rows of a shared centre once).
"""

from __future__ import annotations

import numpy as np

from conformio._kernels.hop_paths import robust_path_batch
from conformio.checks import FloatArray, first_row
from conformio.networks.shortest import PathBatch, sealed
from conformio.prescription.solution import Answers
from conformio.prescription.task import TIE_ANGLE, RobustTask
from conformio.problems import ShortestPath

__all__ = ["solve_hop_count"]


def solve_hop_count(task: RobustTask) -> Answers:
    """Robust paths from the cheapest path of every length, in a `ShortestPath` with costs >= 0."""
    problem = task.problem
    assert isinstance(problem, ShortestPath)
    batch, least = _search(problem, task)
    if not batch.found.all():
        row = first_row(~batch.found)
        raise problem.no_path(task.contexts, row).moved(task.where, task.number(row))
    decisions = batch.decisions(problem.n_vars)
    losses = task.losses(decisions, np.arange(len(task)), task.cap)
    # below TIE_ANGLE the decision is the one at TIE_ANGLE, so only the nominal optimum bounds the loss
    bounds = least if task.cap.angle < TIE_ANGLE else losses
    ones = np.ones(len(task), dtype=np.int64)
    return Answers(decisions, bounds, ones, np.full(len(task), "hop-count"), losses)


def _search(problem: ShortestPath, task: RobustTask) -> tuple[PathBatch, FloatArray]:
    network = problem.network
    origins = np.ascontiguousarray(task.contexts[:, 0], dtype=np.int64)
    destinations = np.ascontiguousarray(task.contexts[:, 1], dtype=np.int64)
    angle = max(task.reach, TIE_ANGLE)
    found, least, indptr, edges = robust_path_batch(
        network.out_start, network.out_edges, network.in_start, network.in_edges, network.tails, network.heads,
        sealed(np.atleast_2d(task.cap.center)), network.zones,
        origins, destinations, np.argsort(origins * network.n_nodes + destinations, kind="stable"),
        float(np.cos(angle)), float(np.sin(angle)),
    )  # fmt: skip
    return PathBatch(found, indptr, edges), least
