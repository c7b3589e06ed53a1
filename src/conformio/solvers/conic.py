"""The one door to Clarabel: `min 1/2 x'P x + q'x` subject to `b - A x` in a product of cones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import sparse

from conformio.checks import FloatArray
from conformio.errors import InfeasibleProblemError, SolverError, UnboundedProblemError

__all__ = ["ConeSpec", "ConicModel", "ConicSolution"]

ConeSpec: TypeAlias = tuple[Literal["zero", "nonnegative", "second_order"], int]

_CONES = {"zero": "ZeroConeT", "nonnegative": "NonnegativeConeT", "second_order": "SecondOrderConeT"}


def _library() -> Any:
    """Clarabel, loaded by the first model."""
    import clarabel

    return clarabel


@dataclass(frozen=True)
class ConicSolution:
    """Primal `x`, slack `s = b - A x`, dual `z`, and the primal and dual objective values."""

    x: FloatArray
    s: FloatArray
    z: FloatArray
    value: float
    bound: float


class ConicModel:
    """One Clarabel model whose `q`, `b` and matrix values may change between solves.

    Parameters
    ----------
    P : sparse array (n, n) or None
        Quadratic term; only its upper triangle is read.
    q : array (n,)
    A : sparse array (m, n)
    b : array (m,)
    cones : sequence of (kind, size)
        Kinds ``"zero"``, ``"nonnegative"``, ``"second_order"``; sizes add up to m.
    where : str
        Named in the errors this model raises.
    tol : float
        Relative and absolute gap and feasibility asked for.
    """

    def __init__(
        self,
        P: Any,
        q: FloatArray,
        A: Any,
        b: FloatArray,
        cones: Sequence[ConeSpec],
        where: str = "ConicModel",
        tol: float = 1e-10,
    ):
        self.where = where
        n = len(q)
        quadratic = sparse.csc_matrix((n, n)) if P is None else sparse.csc_matrix(sparse.triu(P))
        blocks = [getattr(_library(), _CONES[kind])(size) for kind, size in cones if size]
        matrix = sparse.csc_matrix(A)
        matrix.sort_indices()
        self._solver = _library().DefaultSolver(quadratic, q, matrix, b, blocks, _settings(tol))

    def solve(
        self, q: FloatArray | None = None, b: FloatArray | None = None, A: Any = None, row: int | None = None
    ) -> ConicSolution:
        """Change what is named (the sparsity of `A` must stay), solve, and return a verified optimum."""
        changes: dict[str, Any] = {}
        if q is not None:
            changes["q"] = q
        if b is not None:
            changes["b"] = b
        if A is not None:
            changes["A"] = sparse.csc_matrix(A)
        if changes:
            self._solver.update(**changes)
        solution = self._solver.solve()
        kinds = _library().SolverStatus
        if solution.status not in (kinds.Solved, kinds.AlmostSolved):
            raise self._failure(solution.status, row)
        return ConicSolution(
            x=np.array(solution.x),
            s=np.array(solution.s),
            z=np.array(solution.z),
            value=float(solution.obj_val),
            bound=float(solution.obj_val_dual),
        )

    def _failure(self, status: Any, row: int | None) -> Exception:
        kinds = _library().SolverStatus
        if status in (kinds.PrimalInfeasible, kinds.AlmostPrimalInfeasible):
            reason = "no decision satisfies the constraints; check this context"
            return InfeasibleProblemError(self.where, reason, row)
        if status in (kinds.DualInfeasible, kinds.AlmostDualInfeasible):
            return UnboundedProblemError(self.where, "the objective is unbounded over the feasible set", row)
        reason = f"the conic solver stopped with status {status}; rescale the data"
        return SolverError(self.where, reason, row)


def _settings(tol: float) -> Any:
    settings = _library().DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.presolve_enable = False
    settings.input_sparse_dropzeros = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = 1e-7
    settings.reduced_tol_feas = 1e-7
    settings.max_iter = 300
    return settings
