"""What robust prescription returns: decisions that carry their own certificates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from conformio.cards import Facts, card
from conformio.checks import BoolArray, Decisions, FloatArray, IntArray, as_scalar

__all__ = ["Answers", "RobustSolution", "RowAnswer", "join_decisions"]


@dataclass(frozen=True, eq=False)
class RobustSolution:
    """Robust decisions, one per context, and how far each can be from the best.

    Attributes
    ----------
    decisions : (N, n_vars) array or CSR
    values : (N,) array
        Worst-case objective over the uncertainty set, whose members have unit length.
    gap : (N,) array
        Certified bound on `|value - optimal value|`, >= 0, in the units of `values`; inf where nothing is
        known.
    method : (N,) array of str
        The route that produced each row, e.g. ``"parametric"``.
    oracle_calls : (N,) array
        Nominal solves, master problems or conic programs each row took. Rows with equal contexts share
        theirs.
    """

    decisions: Decisions
    values: FloatArray
    gap: FloatArray
    method: Any
    oracle_calls: IntArray

    def is_certified(self, tol: float = 1e-7) -> BoolArray:
        """Whether each row's gap is at most `tol * max(1, |value|)`, shape (N,)."""
        tol = as_scalar(tol, "tol", "RobustSolution.is_certified", low=0.0)
        return np.asarray(self.gap <= tol * np.maximum(1.0, np.abs(self.values)))

    def __repr__(self) -> str:
        n, proven = len(self.values), int(self.is_certified().sum())
        return f"RobustSolution({n} decisions, {proven} certified, largest gap {self.gap.max(initial=0.0):.3g})"

    def _repr_html_(self) -> str:
        n = len(self.values)
        routes, counts = np.unique(self.method, return_counts=True)
        taken = ", ".join(f"{route} ({count})" for route, count in zip(routes, counts, strict=True))
        ends = f"{self.values.min():.6g} to {self.values.max():.6g}" if n else "none"
        facts: Facts = [
            ("decisions", f"{n}, {self.decisions.shape[1]} entries each"),
            ("worst-case values", ends),
            ("largest gap", f"{self.gap.max(initial=0.0):.3g}"),
            ("certified", f"{int(self.is_certified().sum())} of {n}"),
            ("routes", taken),
        ]
        return card("RobustSolution", facts, "Values are for parameters of unit length.")


@dataclass(frozen=True, eq=False)
class RowAnswer:
    """One row: a decision, its loss, a lower bound on the loss of every decision, and the calls it took."""

    x: FloatArray
    loss: float
    bound: float
    calls: int


@dataclass(frozen=True, eq=False)
class Answers:
    """What one route found for its rows: decisions, lower bounds on the loss, calls, route names.

    `losses` are `RobustTask.losses` of the decisions where the route has worked them out.
    """

    decisions: Decisions
    bounds: FloatArray
    calls: IntArray
    methods: Any
    losses: FloatArray | None = None

    @classmethod
    def of_rows(cls, rows: list[RowAnswer], n_vars: int, method: str) -> Answers:
        """Rows that were solved one by one."""
        return cls(
            np.array([row.x for row in rows]).reshape(len(rows), n_vars),
            np.array([row.bound for row in rows], dtype=np.float64),
            np.array([row.calls for row in rows], dtype=np.int64),
            np.full(len(rows), method),
        )

    def replaced(self, rows: IntArray, better: Answers) -> Answers:
        """The same with some rows taken from `better`, whose calls come on top."""
        n = len(self.bounds)
        source = np.arange(n)
        source[rows] = n + np.arange(len(rows))
        calls, methods = self.calls.copy(), self.methods.astype(object)
        calls[rows] += better.calls
        methods[rows] = better.methods
        bounds = np.concatenate([self.bounds, better.bounds])[source]
        decisions = join_decisions([self.decisions, better.decisions])[source]
        return Answers(decisions, bounds, calls, methods.astype(str))


def join_decisions(parts: list[Decisions]) -> Decisions:
    """Stack decisions; CSR as soon as one part is, since whoever gives CSR has many columns."""
    if len(parts) == 1:
        return parts[0]
    if any(sparse.issparse(part) for part in parts):
        return sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")
    return np.concatenate(parts)
