"""Runs of CVXPY problems in Clarabel: tolerances in turn, and every bad ending as the library's own error.

Sharp tolerances come first, because what follows needs the digits. Clarabel does not always reach them: over a bare
ball, say, its steps may stall, which it reports as a failure. Its own tolerances come last and nearly always hold.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from conformio.errors import InfeasibleProblemError, SolverError, UnboundedProblemError

__all__ = ["PLAIN", "solve_in_turns"]

PLAIN = {"max_iter": 300, "max_threads": 1}
"""Clarabel's own tolerances."""


def solve_in_turns(problem: Any, turns: Sequence[Mapping[str, Any]], where: str, row: int, unbounded: str) -> None:
    """Solve with the first settings that work.

    Parameters
    ----------
    problem : cvxpy.Problem
    turns : sequence of Clarabel settings
    where : str
    row : int
        Named in errors.
    unbounded : str
        What an unbounded objective means here, and what to do.

    Raises
    ------
    InfeasibleProblemError, UnboundedProblemError, SolverError
    """
    import cvxpy as cp

    failure: Exception | None = None
    for settings in turns:
        try:
            with warnings.catch_warnings():
                # CVXPY warns of reduced accuracy; certificates and tolerances downstream allow for it. A warm start
                # would keep the tolerances that have just failed.
                warnings.simplefilter("ignore")
                problem.solve(solver=cp.CLARABEL, warm_start=failure is None, **settings)
        except cp.error.SolverError as error:
            failure = error
            continue
        return _check(cp, problem.status, where, row, unbounded)
    raise SolverError(where, f"the conic solver failed ({failure}); rescale the data", row) from failure


def _check(cp: Any, status: str, where: str, row: int, unbounded: str) -> None:
    if status in {cp.INFEASIBLE, cp.INFEASIBLE_INACCURATE}:
        raise InfeasibleProblemError(where, "no decision satisfies the constraints; check this context", row)
    if status in {cp.UNBOUNDED, cp.UNBOUNDED_INACCURATE}:
        raise UnboundedProblemError(where, unbounded, row)
    if status not in {cp.OPTIMAL, cp.OPTIMAL_INACCURATE}:
        raise SolverError(where, f"the conic solver stopped with status {status}; rescale the data", row)
