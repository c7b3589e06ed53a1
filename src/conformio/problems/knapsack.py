"""The 0/1 knapsack problem: `max theta . x` over `weights . x <= budget`, x in {0, 1}^n, exactly.

The solver (`_kernels/knapsack.py`) is a dynamic program over the core of the instance, for real weights and
values. Many budgets with one vector of values and few items are read off a list of all subsets instead
(`_kernels/small_knapsack.py`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from conformio._kernels.knapsack import fill_rows, walk_ties
from conformio._kernels.small_knapsack import Catalogue, catalogue_of, fill_from_catalogue
from conformio.checks import (
    BoolArray,
    Decisions,
    Domain,
    FloatArray,
    as_vector,
    check_choice,
    dense,
)
from conformio.errors import InfeasibleProblemError, SolverError, invalid
from conformio.networks.shortest import sealed
from conformio.problems._distinct_rows import distinct_rows
from conformio.problems.base import Problem
from conformio.problems.cones import Cones, CutCones
from conformio.problems.polyhedra import Polyhedron, Sides

__all__ = ["Knapsack"]

_FIT = 1e-9
_FEW_ITEMS = 14
_SUBSETS_PER_ROW = 500
_WHOLE = 1e-7
_TIE = 1e-9


class Knapsack(Problem):
    """Choose items of greatest total value within a weight budget; `theta` holds the values.

    Parameters
    ----------
    weights : array-like, shape (n_items,)
        Finite and nonnegative; an item of weight 0 fits every budget.
    domain : {"free", "nonnegative"}
        Where parameters live; under "free" an item may have a negative value.

    Raises
    ------
    InvalidInputError
        If a weight is negative or not finite.

    Notes
    -----
    A context is one budget. Items fit when their weights add up to at most `budget * (1 + 1e-9)`. Items of
    value 0 or less are never taken by `solve`; among solutions whose values agree to 1e-13 of the largest
    value it returns the one with the fewest items, then the one whose sorted item list is lexicographically
    first. `sample_optimal` is uniform over the solutions within 1e-9 (relative to the largest value that
    fits) of the optimum.

    Examples
    --------
    >>> from conformio.problems.knapsack import Knapsack
    >>> knapsack = Knapsack([2.0, 3.0, 4.0])
    >>> knapsack.solve([3.0, 4.0, 5.0], [5.0, 7.0])
    array([[1., 1., 0.],
           [0., 1., 1.]])
    """

    sense = "max"
    context_width = 1
    binary = True

    def __init__(self, weights: ArrayLike, domain: Domain = "free"):
        where = type(self).__name__
        check_choice(domain, ("free", "nonnegative"), "domain", where)
        self.weights = as_vector(weights, "weights", where).copy()
        if not len(self.weights) or (self.weights < 0).any():
            got = f"{self.weights.min()}" if len(self.weights) else "no item"
            raise invalid("weights", where, "must be at least one number >= 0", got)
        self.weights.flags.writeable = False
        self.domain = domain
        self.n_params = self.n_vars = len(self.weights)

    def __repr__(self) -> str:
        return f"Knapsack(n_items={self.n_vars}, domain={self.domain!r})"

    def nominal(self, theta: FloatArray, contexts: FloatArray) -> Decisions:
        """One optimal selection per row."""
        self.check_budgets(contexts)
        taken = np.zeros((len(contexts), self.n_vars))
        if theta.ndim == 1 and self.few_items and 2**self.n_vars <= _SUBSETS_PER_ROW * len(contexts):
            fill_from_catalogue(*self.subsets(), sealed(theta), sealed(self.capacities(contexts)), taken)
            return taken
        unsolved = fill_rows(self.weights, np.atleast_2d(theta), self.capacities(contexts), taken)
        if unsolved >= 0:
            reason = "the instance needs too many states; its weights and values are too strongly correlated"
            raise SolverError(type(self).__name__, reason, int(unsolved))
        return taken

    def draw_optimal(self, theta: FloatArray, contexts: FloatArray, rng: np.random.Generator) -> Decisions:
        """Uniform over each row's optimal selections."""
        best = np.einsum(
            "ij,ij->i", self.nominal(theta, contexts), np.broadcast_to(theta, (len(contexts), self.n_vars))
        )
        drawn = np.zeros((len(contexts), self.n_vars))
        for values, rows in distinct_rows(theta, contexts):
            first = int(rows[0])
            capacity = float(self.capacities(contexts[first : first + 1])[0])
            floor = float(best[first]) - _TIE * values[self.weights <= capacity].max(initial=0.0)
            drawn[rows] = self._draw_ties(values, capacity, floor, len(rows), rng, first)
        return drawn

    def feasible(self, decisions: Decisions, contexts: FloatArray) -> BoolArray:
        """Whether each decision is 0/1 and fits its budget."""
        points = dense(decisions)
        whole = (np.minimum(np.abs(points), np.abs(points - 1.0)) <= _WHOLE).all(axis=1)
        fits: BoolArray = whole & (np.round(points) @ self.weights <= self.capacities(contexts)) & (contexts[:, 0] >= 0)
        return fits

    def why_infeasible(self, decision: FloatArray, context: FloatArray) -> str:
        """An entry that is neither 0 nor 1, or the weight beside the budget."""
        broken = np.flatnonzero(np.minimum(np.abs(decision), np.abs(decision - 1.0)) > _WHOLE)
        if len(broken):
            return f"the entry of item {broken[0]} is {decision[broken[0]]:g}, neither 0 nor 1"
        if context[0] < 0:
            return f"no selection fits the negative budget {context[0]:g}"
        return f"its items weigh {np.round(decision) @ self.weights:.10g} in all, but the budget is {context[0]:.10g}"

    def cones(self, contexts: FloatArray, decisions: Decisions) -> Cones:
        """Cones known through the solver."""
        return CutCones(self, contexts, dense(decisions))

    def to_state(self) -> dict[str, Any]:
        """Weights and domain."""
        return {"weights": self.weights, "domain": self.domain}

    def polyhedron(self) -> Polyhedron:
        """One weight constraint on whole numbers, in units near the heaviest item: solvers' tolerances are absolute."""
        row = sparse.csr_array(self.weights[None, :] * self._unit)
        return Polyhedron(sparse.csr_array((0, self.n_vars)), row, np.ones(self.n_vars, dtype=bool))

    def sides(self, context: FloatArray) -> Sides:
        """The budget, and the bounds 0 and 1; items heavier than the budget stay out."""
        capacity = self.capacities(context[None, :])
        fits = (self.weights <= capacity).astype(np.float64)
        return Sides(np.zeros(0), capacity * self._unit, np.zeros(self.n_vars), fits)

    @property
    def few_items(self) -> bool:
        """Whether there are at most 14 items, so that a list of all subsets is small."""
        return self.n_vars <= _FEW_ITEMS

    def subsets(self) -> Catalogue:
        """All subsets by rising weight, read-only; for few items."""
        return _catalogue(tuple(self.weights.tolist()))

    def capacities(self, contexts: FloatArray) -> FloatArray:
        """Budgets with the relative slack that absorbs rounding of weight sums."""
        return contexts[:, 0] * (1.0 + _FIT)

    def check_budgets(self, contexts: FloatArray) -> None:
        """Refuse negative budgets, which no selection fits."""
        negative = np.flatnonzero(contexts[:, 0] < 0)
        if len(negative):
            row = int(negative[0])
            reason = f"no selection fits a negative budget; budgets must be >= 0; got {contexts[row, 0]}"
            raise InfeasibleProblemError(type(self).__name__, reason, row)

    @property
    def _unit(self) -> float:
        """A power of two that brings the heaviest item into [1/2, 1); exact in floats."""
        heaviest = float(self.weights.max())
        return float(2.0 ** -np.frexp(heaviest)[1]) if heaviest > 0.0 else 1.0

    def _draw_ties(
        self, values: FloatArray, capacity: float, floor: float, size: int, rng: np.random.Generator, row: int
    ) -> FloatArray:
        """Count the tied selections, draw ranks, and fetch the selections of these ranks."""
        none = np.zeros(0, dtype=np.int64)
        n_ties = walk_ties(self.weights, values, capacity, floor, none, np.zeros((0, self.n_vars)))
        if n_ties < 0:
            reason = "too many optimal selections to count; perturb theta or use solve"
            raise SolverError(self._where("sample_optimal"), reason, row)
        ranks, out = rng.integers(n_ties, size=size), np.zeros((size, self.n_vars))
        order = np.argsort(ranks, kind="stable")
        found = np.empty_like(out)
        walk_ties(self.weights, values, capacity, floor, ranks[order], found)
        out[order] = found
        return out


@lru_cache(maxsize=16)
def _catalogue(weights: tuple[float, ...]) -> Catalogue:
    """The subsets of these items by weight, at most 2**14; kept apart from problems, which may be copied and stored."""
    return catalogue_of(np.array(weights))
