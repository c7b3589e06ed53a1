"""Integer and mixed-integer programs: a linear program some of whose variables are whole numbers.

Optimal whole solutions are enumerated by partition: with one solution `x` of a box in hand, the rest of the
box falls into the pieces "first j - 1 variables as in x, variable j below (or above) x_j", and each piece is
solved again under the constraint that the objective stays optimal. Every optimal solution turns up exactly
once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conformio.checks import BoolArray, Decisions, Domain, FloatArray, Sense, check_choice, dense
from conformio.errors import InfeasibleProblemError, SolverError, invalid
from conformio.problems._distinct_rows import distinct_rows
from conformio.problems._linear_constraints import TOLERANCE, LinearConstraints, scaled_costs
from conformio.problems._optimal_face import draw_from_face
from conformio.problems._per_thread import PerThread
from conformio.problems.base import Problem
from conformio.problems.cones import Cones, CutCones
from conformio.problems.polyhedra import Polyhedron, Sides
from conformio.solvers import HighsModel, HighsSolution

__all__ = ["MAX_TIED_SOLUTIONS", "IntegerProgram"]

MAX_TIED_SOLUTIONS = 10_000
"""Most optimal solutions that `IntegerProgram.sample_optimal` enumerates for one row."""
_TIE = 1e-9


class IntegerProgram(Problem):
    """A (mixed-)integer linear program whose right-hand sides come with the context.

    Parameters
    ----------
    A_eq, A_ub, lower, upper, sense, domain
        As for `LinearProgram`: a context row is `(b_eq, b_ub)` in this order, `lower` is 0 unless given, and
        the same ranges of numbers hold.
    integrality : array-like of bool, shape (n_vars,), optional
        Which variables are whole numbers; None means all.

    Raises
    ------
    InvalidInputError
        If sizes disagree, an entry is NaN, an upper bound lies below its lower bound, or numbers are out of
        range (as for `LinearProgram`).

    Notes
    -----
    Rows are scaled as in `LinearProgram`. So scaled, constraints hold within `1e-7 * max(1, |right-hand
    side|)`, wholeness within 1e-7; whole variables are returned
    exactly whole. `sample_optimal` enumerates the optimal solutions, those within 1e-9 (relative to the
    largest parameter) of the optimum, up to `MAX_TIED_SOLUTIONS` of them. It needs every variable to be
    whole, or none.

    Examples
    --------
    >>> from conformio.problems.integer_program import IntegerProgram
    >>> program = IntegerProgram(A_ub=[[2.0, 3.0, 4.0]], upper=[1, 1, 1], sense="max")
    >>> program.binary
    True
    >>> program.solve([3.0, 4.0, 5.0], [[5.0], [7.0]])
    array([[1., 1., 0.],
           [0., 1., 1.]])
    """

    def __init__(
        self,
        A_eq: Any = None,
        A_ub: Any = None,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = np.inf,
        sense: Sense = "min",
        domain: Domain = "free",
        *,
        integrality: ArrayLike | None = None,
    ):
        where = type(self).__name__
        check_choice(sense, ("min", "max"), "sense", where)
        check_choice(domain, ("free", "nonnegative"), "domain", where)
        self._constraints = LinearConstraints.checked(A_eq, A_ub, lower, upper, where)
        self.sense, self.domain = sense, domain
        self.n_params = self.n_vars = self._constraints.n_vars
        self.context_width = self._constraints.width
        self.integrality = _mask(integrality, self.n_vars, where)
        unit = (self._constraints.lower == 0.0).all() and (self._constraints.upper == 1.0).all()
        self.binary = bool(self.integrality.all() and unit)
        self.convex = not self.integrality.any()
        self._model: PerThread[HighsModel] = PerThread()

    def __repr__(self) -> str:
        fixed = self._constraints
        size = f"n_vars={self.n_vars}, n_whole={int(self.integrality.sum())}"
        rows = f"n_eq={fixed.n_eq}, n_ub={fixed.width - fixed.n_eq}"
        return f"IntegerProgram({size}, {rows}, sense={self.sense!r}, domain={self.domain!r})"

    def check_contexts(self, contexts: ArrayLike, where: str) -> FloatArray:
        """Contexts as (N, context_width), no right-hand side out of the solver's range."""
        values = super().check_contexts(contexts, where)
        self._constraints.check_contexts(values, where)
        return values

    def nominal(self, theta: FloatArray, contexts: FloatArray) -> Decisions:
        """One optimal decision per row, on one model."""
        model, found = self._kept_model(), np.empty((len(contexts), self.n_vars))
        for k, context in enumerate(contexts):
            found[k] = self._rounded(self._optimum(model, theta if theta.ndim == 1 else theta[k], context, k).x)
        return found

    def draw_optimal(self, theta: FloatArray, contexts: FloatArray, rng: np.random.Generator) -> Decisions:
        """Uniform over each row's optimal solutions; refuses a mix of whole and continuous variables."""
        where = self._where("sample_optimal")
        if self.integrality.any() and not self.integrality.all():
            rule = "must be all True or all False for uniform draws (a mix has unions of faces as optima)"
            remedy = "Use solve, or a program in which all variables are whole or none is"
            raise invalid("integrality", where, rule, f"{int(self.integrality.sum())} whole", remedy=remedy)
        model, drawn = self._kept_model(), np.empty((len(contexts), self.n_vars))
        for costs, rows in distinct_rows(theta, contexts):
            first, context = int(rows[0]), contexts[rows[0]]
            solution = self._optimum(model, costs, context, first)
            if self.convex:
                drawn[rows] = draw_from_face(self._constraints, context, solution, len(rows), rng, where, first)
            else:
                ties = self._tied(model, scaled_costs(costs), self._rounded(solution.x), first)
                drawn[rows] = ties[rng.integers(len(ties), size=len(rows))]
        return drawn

    def feasible(self, decisions: Decisions, contexts: FloatArray) -> BoolArray:
        """Whether each decision satisfies its row's constraints and is whole where it must be."""
        whole = dense(decisions)[:, self.integrality]
        off = np.abs(whole - np.round(whole)) > TOLERANCE
        fits: BoolArray = self._constraints.satisfied(decisions, contexts) & ~off.any(axis=1)
        return fits

    def why_infeasible(self, decision: FloatArray, context: FloatArray) -> str:
        """A variable that should be whole, or the most violated constraint."""
        broken = np.flatnonzero(self.integrality & (np.abs(decision - np.round(decision)) > TOLERANCE))
        if len(broken):
            return f"variable {broken[0]} is {decision[broken[0]]:.10g}, but must be whole"
        return self._constraints.violated(decision, context)

    def cones(self, contexts: FloatArray, decisions: Decisions) -> Cones:
        """Cones known through the solver."""
        return CutCones(self, contexts, dense(decisions))

    def polyhedron(self) -> Polyhedron:
        """The constraint matrices, rows scaled as `sides` are, and which variables are whole."""
        return self._constraints.polyhedron(self.integrality)

    def sides(self, context: FloatArray) -> Sides:
        """Right-hand sides and bounds for one context."""
        return self._constraints.sides(context)

    def to_state(self) -> dict[str, Any]:
        """Matrices, bounds, sense, domain and which variables are whole."""
        program = {"sense": self.sense, "domain": self.domain, "integrality": self.integrality}
        return {**self._constraints.given(), **program}

    def _kept_model(self) -> HighsModel:
        where = type(self).__name__
        return self._model.get(lambda: self._constraints.model(where, self.sense, self.integrality))

    def _optimum(self, model: HighsModel, theta: FloatArray, context: FloatArray, row: int) -> HighsSolution:
        fixed = self._constraints
        return model.solve(scaled_costs(theta), *fixed.row_sides(context), fixed.lower, fixed.upper, row)

    def _rounded(self, x: FloatArray) -> FloatArray:
        """Whole where the solver's answer is whole up to its tolerance of 1e-9."""
        return np.where(self.integrality, np.round(x), x)

    def _tied(self, model: HighsModel, costs: FloatArray, optimum: FloatArray, row: int) -> FloatArray:
        """All optimal solutions of the context that the model holds, given one of them, shape (k, n_vars)."""
        best, n_rows = float(costs @ optimum), model.n_rows
        if costs.any():
            model.add_row(best - _TIE, best + _TIE, costs)
        found, boxes = [optimum], _pieces(optimum, self._constraints.lower, self._constraints.upper)
        try:
            while boxes:
                low, high = boxes.pop()
                try:
                    x = self._rounded(model.solve(lower=low, upper=high, row=row).x)
                except InfeasibleProblemError:
                    continue
                found.append(x)
                if len(found) > MAX_TIED_SOLUTIONS:
                    reason = f"more than {MAX_TIED_SOLUTIONS} optimal solutions; perturb theta or use solve"
                    raise SolverError(type(self).__name__, reason, row)
                boxes += _pieces(x, low, high)
        finally:
            model.truncate_rows(n_rows)
        return np.array(found)


def _pieces(x: FloatArray, lower: FloatArray, upper: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    """The box without its whole point `x`, as disjoint boxes."""
    pieces = []
    low, high = lower.copy(), upper.copy()
    for j in np.flatnonzero(lower < upper):
        if x[j] - 1 >= low[j]:
            below = high.copy()
            below[j] = x[j] - 1
            pieces.append((low.copy(), below))
        if x[j] + 1 <= high[j]:
            above = low.copy()
            above[j] = x[j] + 1
            pieces.append((above, high.copy()))
        low[j] = high[j] = x[j]
    return pieces


def _mask(integrality: ArrayLike | None, n_vars: int, where: str) -> BoolArray:
    mask = np.ones(n_vars, dtype=bool) if integrality is None else np.asarray(integrality)
    if mask.shape != (n_vars,) or mask.dtype.kind not in "bi" or not np.isin(mask, (0, 1)).all():
        got = f"shape {mask.shape} of dtype {mask.dtype}"
        raise invalid("integrality", where, f"must be {n_vars} values of True or False, one per variable", got)
    mask = mask.astype(bool)
    mask.flags.writeable = False
    return mask
