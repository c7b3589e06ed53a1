"""Linear programs `min` (or `max`) `theta . x` over `A_eq x = b_eq, A_ub x <= b_ub, lower <= x <= upper`.

The context of a row is its right-hand sides `(b_eq, b_ub)`; matrices and bounds are the problem's own. A
parameter vector makes `x` optimal exactly when (minimisation) `theta = A_eq' w - A_ub' v + s_low - s_up` with
`v, s >= 0` and complementary: `v` lives on the inequalities `x` touches, `s` on the bounds it touches (paper,
appendix Solving the Calibration Problem). For maximisation the signs of `v` and `s` turn round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from conformio.checks import BoolArray, Decisions, Domain, FloatArray, Sense, check_choice, dense
from conformio.problems._distinct_rows import distinct_rows
from conformio.problems._linear_constraints import LinearConstraints, scaled_costs
from conformio.problems._optimal_face import draw_from_face
from conformio.problems._per_thread import PerThread
from conformio.problems.base import Problem
from conformio.problems.cones import Cones, GeneratedCone, GeneratedCones
from conformio.problems.polyhedra import Polyhedron, Sides
from conformio.solvers import HighsModel

__all__ = ["LinearProgram"]


class LinearProgram(Problem):
    """A linear program whose right-hand sides come with the context.

    Parameters
    ----------
    A_eq, A_ub : array-like or scipy.sparse, shapes (n_eq, n_vars) and (n_ub, n_vars), optional
        Rows of the constraints `A_eq x = b_eq` and `A_ub x <= b_ub`. A context row is `(b_eq, b_ub)`, in this
        order: first the n_eq right-hand sides of the equalities, then the n_ub of the inequalities.
    lower, upper : float or array-like of shape (n_vars,)
        Bounds of the variables. `lower` is 0 unless given, `upper` infinite; write `lower=-np.inf` for free
        variables.
    sense : {"min", "max"}
    domain : {"free", "nonnegative"}
        Where parameters live.

    Raises
    ------
    InvalidInputError
        If sizes disagree, an entry is NaN, an upper bound lies below its lower bound, or numbers are out of
        range: nonzero entries of one row differ by more than a factor of 1e9, a finite bound is 1e15 or more
        in size, or (in the methods) a right-hand side is so after division by its row's largest entry.

    Notes
    -----
    Each row and its right-hand side are scaled by a power of two such that its largest entry lies in [1, 2).
    So scaled, constraints count as satisfied, and as active, within `1e-7 * max(1, |right-hand side|)`;
    `polyhedron` and `sides` describe the scaled rows. `sample_optimal`
    is uniform over the optimal face, whatever its dimension up to 6; a larger or an unbounded face is an
    error. One solver model per thread is kept and only changed.

    Examples
    --------
    >>> import numpy as np
    >>> from conformio.problems.linear_program import LinearProgram
    >>> program = LinearProgram(A_ub=[[-1.0, -2.0]], upper=[2.0, 2.0])  # x1 + 2 x2 >= u
    >>> program.solve([1.0, 3.0], [[-2.0], [-3.0]]) + 0.0
    array([[2. , 0. ],
           [2. , 0.5]])
    """

    convex = True

    def __init__(
        self,
        A_eq: Any = None,
        A_ub: Any = None,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = np.inf,
        sense: Sense = "min",
        domain: Domain = "free",
    ):
        where = type(self).__name__
        check_choice(sense, ("min", "max"), "sense", where)
        check_choice(domain, ("free", "nonnegative"), "domain", where)
        self._constraints = LinearConstraints.checked(A_eq, A_ub, lower, upper, where)
        self.sense, self.domain = sense, domain
        self.n_params = self.n_vars = self._constraints.n_vars
        self.context_width = self._constraints.width
        self._model: PerThread[HighsModel] = PerThread()

    def __repr__(self) -> str:
        fixed = self._constraints
        size = f"n_vars={self.n_vars}, n_eq={fixed.n_eq}, n_ub={fixed.width - fixed.n_eq}"
        return f"LinearProgram({size}, sense={self.sense!r}, domain={self.domain!r})"

    def check_contexts(self, contexts: ArrayLike, where: str) -> FloatArray:
        """Contexts as (N, context_width), no right-hand side out of the solver's range."""
        values = super().check_contexts(contexts, where)
        self._constraints.check_contexts(values, where)
        return values

    def nominal(self, theta: FloatArray, contexts: FloatArray) -> Decisions:
        """One optimal decision per row, on one warm model."""
        model, found = self._kept_model(), np.empty((len(contexts), self.n_vars))
        costs = scaled_costs(theta) if theta.ndim == 1 else None
        for k, context in enumerate(contexts):
            low, high = self._constraints.row_sides(context)
            row_costs = costs if costs is not None else scaled_costs(theta[k])
            found[k] = model.solve(row_costs, low, high, row=k).x
        return found

    def draw_optimal(self, theta: FloatArray, contexts: FloatArray, rng: np.random.Generator) -> Decisions:
        """Uniform over each row's optimal face."""
        model, drawn = self._kept_model(), np.empty((len(contexts), self.n_vars))
        for costs, rows in distinct_rows(theta, contexts):
            first, context = int(rows[0]), contexts[rows[0]]
            solution = model.solve(scaled_costs(costs), *self._constraints.row_sides(context), row=first)
            where = self._where("sample_optimal")
            drawn[rows] = draw_from_face(self._constraints, context, solution, len(rows), rng, where, first)
        return drawn

    def feasible(self, decisions: Decisions, contexts: FloatArray) -> BoolArray:
        """Whether each decision satisfies its row's constraints."""
        return self._constraints.satisfied(decisions, contexts)

    def why_infeasible(self, decision: FloatArray, context: FloatArray) -> str:
        """The most violated constraint."""
        return self._constraints.violated(decision, context)

    def cones(self, contexts: FloatArray, decisions: Decisions) -> Cones:
        """Cones generated by the equality rows and by what each decision touches."""
        rows = _ActiveRows(self._constraints, contexts, dense(decisions), self.sign)
        return GeneratedCones(rows, self.domain == "nonnegative")

    def polyhedron(self) -> Polyhedron:
        """The constraint matrices, rows scaled as `sides` are."""
        return self._constraints.polyhedron(np.zeros(self.n_vars, dtype=bool))

    def sides(self, context: FloatArray) -> Sides:
        """Right-hand sides and bounds for one context."""
        return self._constraints.sides(context)

    def to_state(self) -> dict[str, Any]:
        """Matrices, bounds, sense and domain."""
        return {**self._constraints.given(), "sense": self.sense, "domain": self.domain}

    def _kept_model(self) -> HighsModel:
        """The model of the calling thread, warm from row to row but not from call to call."""
        model = self._model.get(lambda: self._constraints.model(type(self).__name__, self.sense))
        model.restart()
        return model


@dataclass(frozen=True)
class _ActiveRows(Sequence[GeneratedCone]):
    """Generators of each row's cone, worked out when asked for: kept, they would fill N dense matrices."""

    constraints: LinearConstraints
    contexts: FloatArray
    decisions: FloatArray
    sign: float

    def __len__(self) -> int:
        return len(self.contexts)

    @overload
    def __getitem__(self, k: int) -> GeneratedCone: ...
    @overload
    def __getitem__(self, k: slice) -> Sequence[GeneratedCone]: ...
    def __getitem__(self, k: int | slice) -> GeneratedCone | Sequence[GeneratedCone]:
        if isinstance(k, slice):
            return _ActiveRows(self.constraints, self.contexts[k], self.decisions[k], self.sign)
        fixed = self.constraints.lower == self.constraints.upper
        touched, at_lower, at_upper = self.constraints.active(self.decisions[k], self.contexts[k])
        axes = np.eye(len(fixed))
        lines = np.hstack([self.constraints.A_eq.toarray().T, axes[:, fixed]])
        normals = self.constraints.A_ub[np.flatnonzero(touched)].toarray().T
        rays = np.hstack([-normals, axes[:, at_lower & ~fixed], -axes[:, at_upper & ~fixed]])
        return GeneratedCone(lines, self.sign * rays)
