"""What every forward problem is: `min` (or `max`) over `x in X(u)` of `theta . basis(x)`.

The class has two faces. The public one (`solve`, `sample_optimal`, `objective`, `is_feasible`, `is_optimal`)
checks its arguments and works on batches. The inner one (`nominal`, `draw_optimal`, `feasible`, `cones`,
`polyhedron`, `sides`) takes checked arrays and is what estimators, calibration and prescription build on; a
new problem class implements just that. `docs/` and CONTRIBUTING show how.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from conformio._kernels.grouping import group_rows
from conformio.cards import Facts, card, shortened
from conformio.checks import (
    BoolArray,
    Decisions,
    Domain,
    FloatArray,
    IntArray,
    RandomState,
    Sense,
    as_contexts,
    as_decisions,
    as_generator,
    as_parameters,
    as_scalar,
    check_same_rows,
    dense,
    n_columns,
)
from conformio.errors import InvalidInputError, invalid, told_of
from conformio.problems.cones import Cones
from conformio.problems.polyhedra import Polyhedron, Sides

__all__ = ["Problem", "row_products"]

_MANY = 5


class Problem(ABC):
    """A forward problem: one feasible set per context, an objective linear in the parameters.

    Problems are immutable; copies are the object itself. Solver models they keep are caches and are never
    copied or pickled.

    Attributes
    ----------
    n_params, n_vars : int
        Lengths of `theta` and of a decision.
    sense : {"min", "max"}
    domain : {"free", "nonnegative"}
        Where parameters live.
    context_width : int
        Number of columns of `contexts`.
    binary : bool
        Every feasible decision is a 0/1 vector and `basis(x) = x`.
    convex : bool
        Every feasible set is convex.
    linear : bool
        `basis(x) = x`.
    """

    n_params: int
    n_vars: int
    sense: Sense
    domain: Domain
    context_width: int
    binary: bool = False
    convex: bool = False
    linear: bool = True

    @property
    def sign(self) -> float:
        """+1 for `min`, -1 for `max`: `sign * objective` is what decision makers minimise."""
        return 1.0 if self.sense == "min" else -1.0

    @cached_property
    def nonnegative_params(self) -> BoolArray:
        """Which parameters must not be negative, shape (n_params,)."""
        return np.full(self.n_params, self.domain == "nonnegative")

    def solve(self, theta: ArrayLike, contexts: ArrayLike) -> Decisions:
        """One optimal decision per row; identical contexts are solved once.

        Parameters
        ----------
        theta : array-like, shape (n_params,) or (N, n_params)
        contexts : array-like, shape (N, context_width)

        Returns
        -------
        decisions : (N, n_vars) array or CSR
        """
        where = self._where("solve")
        contexts = self.check_contexts(contexts, where)
        theta = as_parameters(theta, len(contexts), self.n_params, self.domain, where)
        return self._once_per_context(self.nominal, theta, contexts, where)

    def sample_optimal(self, theta: ArrayLike, contexts: ArrayLike, random_state: RandomState = None) -> Decisions:
        """One optimal decision per row, uniform over that row's optimal solutions, rows independent.

        Parameters
        ----------
        theta : array-like, shape (n_params,) or (N, n_params)
        contexts : array-like, shape (N, context_width)
        random_state : int, numpy.random.Generator or None

        Returns
        -------
        decisions : (N, n_vars) array or CSR
        """
        where = self._where("sample_optimal")
        contexts = self.check_contexts(contexts, where)
        theta = as_parameters(theta, len(contexts), self.n_params, self.domain, where)
        rng = as_generator(random_state, where)
        with told_of(where):
            return self.draw_optimal(theta, contexts, rng)

    def objective(self, theta: ArrayLike, decisions: Any) -> FloatArray:
        """`theta . basis(x)` per row, shape (N,)."""
        where = self._where("objective")
        values = self._evaluate(self.check_decisions(decisions, where))
        return row_products(as_parameters(theta, values.shape[0], self.n_params, "free", where), values)

    def basis(self, decisions: Any) -> Decisions:
        """Basis functions at each decision, shape (N, n_params); mostly the decisions themselves."""
        values = self._evaluate(self.check_decisions(decisions, self._where("basis")))
        return values.astype(np.float64, copy=False)

    def is_feasible(self, decisions: Any, contexts: ArrayLike) -> BoolArray:
        """Whether each decision lies in its row's `X(u)`, shape (N,)."""
        where = self._where("is_feasible")
        return self.feasible(*self.check_rows(contexts, decisions, where)[::-1])

    def is_optimal(self, theta: ArrayLike, decisions: Any, contexts: ArrayLike, tol: float = 1e-9) -> BoolArray:
        """Whether each decision is feasible and nearly optimal, whatever the length of `theta`.

        The objective may fall short of the optimum by `tol * max(|theta|, |optimum|)`, `|theta|` the Euclidean
        length of the row's parameters.
        """
        where = self._where("is_optimal")
        contexts, decisions = self.check_rows(contexts, decisions, where)
        theta = as_parameters(theta, len(contexts), self.n_params, self.domain, where)
        tol = as_scalar(tol, "tol", where, low=0.0)
        best = self.optimal_values(theta, contexts, where)
        excess = self.sign * (row_products(theta, self._evaluate(decisions)) - best)
        scale = np.maximum(np.linalg.norm(theta, axis=-1), np.abs(best))
        optimal: BoolArray = self.feasible(decisions, contexts) & (excess <= tol * scale)
        return optimal

    @abstractmethod
    def nominal(self, theta: FloatArray, contexts: FloatArray) -> Decisions:
        """One optimal decision per row for checked arguments.

        `theta` may leave the domain where `X(u)` is bounded. Raises `RowError`s that carry the
        row within this call.
        """

    @abstractmethod
    def draw_optimal(self, theta: FloatArray, contexts: FloatArray, rng: np.random.Generator) -> Decisions:
        """`sample_optimal` for checked arguments."""

    @abstractmethod
    def feasible(self, decisions: Decisions, contexts: FloatArray) -> BoolArray:
        """`is_feasible` for checked arguments."""

    @abstractmethod
    def cones(self, contexts: FloatArray, decisions: Decisions) -> Cones:
        """The inverse-feasible cones of feasible decisions, as data for `calibration`."""

    def polyhedron(self) -> Polyhedron | None:
        """The constraint matrices of `X(u)` when it is a (mixed-integer) polyhedron, else None."""
        return None

    def sides(self, context: FloatArray) -> Sides:
        """Right-hand sides and bounds that complete `polyhedron` for one context."""
        raise TypeError(f"{type(self).__name__} has no polyhedral description")

    def to_state(self) -> dict[str, Any] | None:
        """Constructor arguments as JSON values and arrays, without `functions`; None when they cannot be told."""
        return None

    def functions(self) -> dict[str, Any]:
        """Constructor arguments that are code, which no file can hold: they are given again on reading."""
        return {}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The problem that `to_state` described."""
        return cls(**state)

    def bare(self, contexts: FloatArray) -> tuple[Problem, FloatArray]:
        """What is to be solved, and for which contexts, without what only estimates look at."""
        return self, contexts

    def optimal_totals(self, theta: FloatArray, contexts: FloatArray) -> tuple[FloatArray, float]:
        """Basis values of `nominal`'s decisions and their objectives, each summed over the rows.

        For checked arguments, one row of `theta` per context. Problems that need no decisions for it replace this.
        """
        best = self._evaluate(self.nominal(theta, contexts))
        return np.asarray(best.sum(axis=0), dtype=np.float64).ravel(), float(row_products(theta, best).sum())

    def optimal_values(self, theta: FloatArray, contexts: FloatArray, where: str) -> FloatArray:
        """Optimal objective per row, shape (N,), for checked arguments."""
        best = self._once_per_context(self.nominal, theta, contexts, where)
        return row_products(theta, self._evaluate(best))

    def check_contexts(self, contexts: ArrayLike, where: str) -> FloatArray:
        """Contexts as a (N, context_width) array; problems with rules of their own extend this."""
        return as_contexts(contexts, self.context_width, where)

    def check_decisions(self, decisions: Any, where: str) -> Decisions:
        """Decisions as a (N, n_vars) array or CSR; problems with rules of their own extend this."""
        return as_decisions(decisions, self.n_vars, where)

    def check_rows(self, contexts: ArrayLike, decisions: Any, where: str) -> tuple[FloatArray, Decisions]:
        """Contexts and decisions, checked and of equal length."""
        try:
            rows = self.check_contexts(contexts, where)
            taken = self.check_decisions(decisions, where)
        except InvalidInputError as error:
            wide, narrow = n_columns(contexts), n_columns(decisions)
            if wide != self.n_vars or narrow != self.context_width or wide == narrow:
                raise
            rule = f"must have {self.context_width} columns and `decisions` {self.n_vars}"
            remedy = "The two arguments are swapped: contexts come first"
            raise invalid("contexts", where, rule, f"{wide} and {narrow}", remedy=remedy) from error
        check_same_rows(taken.shape[0], len(rows), "decisions", where)
        return rows, taken

    def require_feasible(self, decisions: Decisions, contexts: FloatArray, where: str, choice: str = "") -> None:
        """Refuse checked decisions outside their `X(u)`: names the rows and what is wrong with the first.

        `choice` is what the caller can do besides, e.g. `'or pass infeasible="unexplained"'`.
        """
        rows = np.flatnonzero(~self.feasible(decisions, contexts))
        if not len(rows):
            return
        first, several = int(rows[0]), "s" if len(rows) > 1 else ""
        named = ", ".join(str(row) for row in rows[:10]) + (", ..." if len(rows) > 10 else "")
        reason = self.why_infeasible(dense(decisions[[first]])[0], contexts[first])
        got = f"{len(rows)} infeasible row{several}: {named} ({f'row {first}: ' if several else ''}{reason})"
        remedy = self._remedy(len(rows), len(contexts), choice)
        raise invalid(
            "decisions", where, "every decision must be feasible for its context", got, row=first, remedy=remedy
        )

    def why_infeasible(self, decision: FloatArray, context: FloatArray) -> str:
        """What is wrong with one infeasible decision, as a clause; problems that know more replace this."""
        return "it lies outside the feasible set of its context"

    def _remedy(self, n_wrong: int, n_rows: int, choice: str) -> str:
        if n_wrong >= _MANY and 2 * n_wrong > n_rows:
            return (
                "So many are seldom single mistakes: check the order of the columns of `contexts`, and that row k of "
                "`contexts` and row k of `decisions` belong together"
            )
        movable = self.binary or (self.convex and self.polyhedron() is not None)
        ways = ["Correct or remove them", "move them with `nearest_rationalizable`" if movable else "", choice]
        *most, last = [way for way in ways if way]
        return ", ".join(most) + (f", or {last}" if most else last)

    def _repr_html_(self) -> str:
        kind = "0/1 vectors" if self.binary else "convex sets" if self.convex else "sets of any kind"
        objective = f"{self.sense}, linear in {self.n_params} parameters ({self.domain})"
        facts: Facts = [
            ("what it is", shortened(self)),
            ("objective", objective),
            ("decisions", f"{self.n_vars} entries; {kind}"),
            ("a context row", f"{self.context_width} columns"),
        ]
        return card(type(self).__name__, facts)

    def _evaluate(self, decisions: Decisions) -> Decisions:
        """Basis values of checked decisions; problems whose basis is not the identity replace this."""
        return decisions

    def _where(self, method: str) -> str:
        return f"{type(self).__name__}.{method}"

    def _once_per_context(
        self,
        solve_rows: Callable[[FloatArray, FloatArray], Decisions],
        theta: FloatArray,
        contexts: FloatArray,
        where: str,
    ) -> Decisions:
        first: IntArray = np.arange(len(contexts))
        back: IntArray | None = None
        if theta.ndim == 1 and len(contexts) > 1:
            first, back = group_rows(contexts)
        with told_of(where, first):
            found = solve_rows(theta, contexts[first])
        return found if back is None else found[back]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


def row_products(theta: FloatArray, values: Decisions) -> FloatArray:
    """`theta_k . values_k` per row, for one theta or one per row, dense or sparse values."""
    if theta.ndim == 1:
        return np.asarray(values @ theta, dtype=np.float64)
    if isinstance(values, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", values, theta), dtype=np.float64)
    return np.asarray(values.multiply(theta).sum(axis=1), dtype=np.float64).ravel()
