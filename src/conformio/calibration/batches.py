"""Checked rows of calibration data, and the map over their blocks.

Rows are measured in blocks of fixed size, so that the number of workers never changes a bit of the result; trips are
taken in the order of their ends, so that a block shares trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from conformio.calibration.projections import Projections
from conformio.calibration.reference import project_by_reference
from conformio.checks import Decisions, FloatArray, IntArray, as_parameters, as_workers, check_choice, unit_rows
from conformio.errors import told_of
from conformio.problems import Problem, ShortestPath
from conformio.problems.cones import Cones

__all__ = ["Batch"]

_BLOCK = 512
_CHOICE = 'pass infeasible="unexplained" to keep them at angle pi'
_Measured = TypeVar("_Measured")


@dataclass(frozen=True)
class Batch:
    """Decisions and the unit centres to measure them from.

    Attributes
    ----------
    problem : Problem
    contexts : (N, context_width) array
    decisions : (N, n_vars) array or CSR
    centers : (n_params,) or (N, n_params) array
        Of unit length.
    feasible : int array
        Rows that have a cone.
    workers : int
    where : str
        Whom errors name.
    """

    problem: Problem
    contexts: FloatArray
    decisions: Decisions
    centers: FloatArray
    feasible: IntArray
    workers: int
    where: str

    @classmethod
    def checked(
        cls,
        problem: Problem,
        theta: ArrayLike,
        contexts: ArrayLike,
        decisions: Any,
        infeasible: str,
        n_jobs: int | None,
        where: str,
    ) -> Batch:
        """Arguments as users pass them; infeasible rows are refused, or left out of `feasible`."""
        check_choice(infeasible, ("error", "unexplained"), "infeasible", where)
        contexts, decisions = problem.check_rows(contexts, decisions, where)
        theta = as_parameters(theta, len(contexts), problem.n_params, problem.domain, where)
        centers = unit_rows(theta, "theta", where)
        workers = as_workers(n_jobs, where)
        if infeasible == "error":
            problem.require_feasible(decisions, contexts, where, _CHOICE)
            rows = np.arange(len(contexts))
        else:
            rows = np.flatnonzero(problem.feasible(decisions, contexts))
        problem, contexts = problem.bare(contexts)
        return cls(problem, contexts, decisions, centers, rows, workers, where)

    def map(
        self, measure: Callable[[Batch, IntArray], _Measured], rows: IntArray
    ) -> Iterator[tuple[IntArray, _Measured]]:
        """Blocks of `rows` and what `measure` says of each."""
        if isinstance(self.problem, ShortestPath):
            rows = rows[np.lexsort(self.contexts[rows].T[::-1])]
        blocks = [rows[start : start + _BLOCK] for start in range(0, len(rows), _BLOCK)]
        with ThreadPoolExecutor(self.workers) as pool:
            yield from zip(blocks, pool.map(lambda block: self._told(measure, block), blocks), strict=True)

    def _told(self, measure: Callable[[Batch, IntArray], _Measured], rows: IntArray) -> _Measured:
        with told_of(self.where, rows):
            return measure(self, rows)

    def cones(self, rows: IntArray) -> Cones:
        """The cones of some rows."""
        return self.problem.cones(self.contexts[rows], self.decisions[rows])

    def centers_of(self, rows: IntArray) -> FloatArray:
        """Centres of some rows, (len(rows), n_params); the same memory for all when there is one."""
        if self.centers.ndim == 2:
            return np.asarray(self.centers[rows])
        return np.broadcast_to(self.centers, (len(rows), len(self.centers)))

    def reference(self, rows: IntArray) -> FloatArray:
        """Angles of some rows by the slow route."""
        ours = self.centers_of(rows)
        return project_by_reference(self.problem, self.contexts[rows], self.decisions[rows], ours).angles

    def angles_of(self, projections: Projections, rows: IntArray, settled: IntArray) -> FloatArray:
        """Angles of rows `rows[settled]`; by the slow route where a projection is not proven."""
        angles = projections.angles[settled]
        doubtful = np.flatnonzero(~projections.certified[settled])
        if len(doubtful):
            with told_of(self.where, settled[doubtful]):
                angles[doubtful] = self.reference(rows[settled[doubtful]])
        return angles
