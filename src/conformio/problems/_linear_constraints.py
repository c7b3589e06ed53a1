"""The linear constraints that linear and integer programs share.

`X(u) = {x : A_eq x = b_eq, A_ub x <= b_ub, lower <= x <= upper}`, where the context row `u` is `(b_eq, b_ub)`
and the matrices and bounds never change. The solvers' tolerances are absolute and their infinity is 1e20, so
each row and its side are multiplied by the power of two that brings the row's largest entry into [1, 2), which
changes no digit; what then still lies outside their range is refused. A decision satisfies a constraint when it
violates it, so scaled, by at most `TOLERANCE * max(1, |right-hand side|)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from conformio.checks import BoolArray, Decisions, FloatArray, Sense, dense, first_row
from conformio.errors import invalid
from conformio.problems.polyhedra import Polyhedron, Sides
from conformio.solvers import HighsModel

__all__ = ["LARGEST_SIDE", "TOLERANCE", "WIDEST_ROW", "LinearConstraints", "scaled_costs"]

TOLERANCE = 1e-7
"""Relative slack within which a constraint counts as satisfied, and as active."""

LARGEST_SIDE = 1e15
"""Finite bounds, and right-hand sides of scaled rows, are smaller: doubles beyond know no fractions."""

WIDEST_ROW = 1e9
"""Largest ratio of two nonzero entries of a row; below the solver's 1e-12 entries are dropped in silence."""

_ENTRY_RANGE = 1e-100, 1e100


@dataclass(frozen=True)
class LinearConstraints:
    """Matrices and bounds, checked; contexts, in the caller's units, complete them.

    Attributes
    ----------
    A_eq, A_ub : scipy.sparse.csr_array
        With scaled rows.
    lower, upper : arrays, shape (n_vars,)
    scale : array, shape (width,)
        What the rows of `(A_eq, A_ub)`, and so their right-hand sides, were multiplied by.
    """

    A_eq: Any
    A_ub: Any
    lower: FloatArray
    upper: FloatArray
    scale: FloatArray

    @classmethod
    def checked(cls, A_eq: Any, A_ub: Any, lower: Any, upper: Any, where: str) -> LinearConstraints:
        """Check what the caller gave and infer the number of variables from it."""
        given = {"A_eq": _matrix(A_eq, "A_eq", where), "A_ub": _matrix(A_ub, "A_ub", where)}
        bounds = {"lower": _bound(lower, "lower", where), "upper": _bound(upper, "upper", where)}
        sizes = {name: matrix.shape[1] for name, matrix in given.items() if matrix is not None}
        sizes |= {name: bound.shape[0] for name, bound in bounds.items() if bound.ndim}
        n_vars = _agreed_size(sizes, where)
        matrices = [sparse.csr_array((0, n_vars)) if matrix is None else matrix for matrix in given.values()]
        low, high = (np.full(n_vars, bound) if bound.ndim == 0 else bound.copy() for bound in bounds.values())
        _check_order(low, high, where)
        _check_sizes({"lower": low, "upper": high}, where)
        scales = [_row_scales(matrix, name, where) for name, matrix in zip(given, matrices, strict=True)]
        scaled = [_scaled(matrix, scale) for matrix, scale in zip(matrices, scales, strict=True)]
        low.flags.writeable = high.flags.writeable = False
        return cls(scaled[0], scaled[1], low, high, np.concatenate(scales))

    @property
    def n_vars(self) -> int:
        """Number of variables."""
        return int(self.lower.shape[0])

    @property
    def n_eq(self) -> int:
        """Number of equality constraints."""
        return int(self.A_eq.shape[0])

    @property
    def width(self) -> int:
        """Number of right-hand sides, the width of a context row."""
        return self.n_eq + int(self.A_ub.shape[0])

    def polyhedron(self, integrality: BoolArray) -> Polyhedron:
        """The fixed part as data."""
        return Polyhedron(self.A_eq, self.A_ub, integrality)

    def given(self) -> dict[str, Any]:
        """Matrices and bounds as the caller gave them, by the names of the constructor's arguments."""
        back = np.split(1.0 / self.scale, [self.n_eq])
        matrices = {"A_eq": _scaled(self.A_eq, back[0]), "A_ub": _scaled(self.A_ub, back[1])}
        return {**matrices, "lower": self.lower, "upper": self.upper}

    def check_contexts(self, contexts: FloatArray, where: str) -> None:
        """Refuse finite contexts that are out of the solvers' range once their rows are scaled."""
        with np.errstate(over="ignore"):
            wrong = np.abs(contexts * self.scale) >= LARGEST_SIDE
        if wrong.any():
            row = first_row(wrong)
            column = int(np.flatnonzero(wrong[row])[0])
            limit = f"{LARGEST_SIDE:g} times the largest entry of its constraint's row"
            rule = f"column {column} must be smaller in size than about {limit}"
            remedy = "Change the units, or leave the constraint out if it is meant never to bind"
            raise invalid("contexts", where, rule, contexts[row, column], row, remedy)

    def sides(self, context: FloatArray) -> Sides:
        """What one context row decides, as data."""
        b_eq, b_ub = np.split(context * self.scale, [self.n_eq])
        return Sides(b_eq, b_ub, self.lower, self.upper)

    def row_sides(self, context: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Lower and upper sides of the stacked rows `(A_eq, A_ub)`."""
        high = context * self.scale
        return np.concatenate([high[: self.n_eq], np.full(self.width - self.n_eq, -np.inf)]), high

    def model(self, where: str, sense: Sense, integrality: BoolArray | None = None) -> HighsModel:
        """A solver model of the stacked rows; costs and sides are to be set at each solve."""
        matrix = sparse.vstack([self.A_eq, self.A_ub], format="csr")
        low, high = self.row_sides(np.zeros(self.width))
        return HighsModel(matrix, low, high, self.lower, self.upper, integrality, sense, where, forgetful=True)

    def satisfied(self, decisions: Decisions, contexts: FloatArray) -> BoolArray:
        """Whether each decision satisfies its row's constraints, shape (N,)."""
        b_eq, b_ub = np.split(contexts * self.scale, [self.n_eq], axis=1)
        points = dense(decisions)
        parts = [
            np.abs(dense(decisions @ self.A_eq.T) - b_eq) <= _slack(b_eq),
            dense(decisions @ self.A_ub.T) - b_ub <= _slack(b_ub),
            self.lower - points <= _slack(self.lower),
            points - self.upper <= _slack(self.upper),
        ]
        return np.asarray(np.hstack(parts).all(axis=1), dtype=np.bool_)

    def violated(self, decision: FloatArray, context: FloatArray) -> str:
        """The most violated constraint of an infeasible decision, in the caller's units."""
        b_eq, b_ub = np.split(context * self.scale, [self.n_eq])
        at_eq, at_ub = self.A_eq @ decision, self.A_ub @ decision
        excess = [np.abs(at_eq - b_eq), at_ub - b_ub, self.lower - decision, decision - self.upper]
        relative = [
            over / np.maximum(1.0, np.where(np.isfinite(sides), np.abs(sides), 1.0))
            for over, sides in zip(excess, (b_eq, b_ub, self.lower, self.upper), strict=True)
        ]
        kind = int(np.argmax([part.max(initial=-np.inf) for part in relative]))
        k = int(np.argmax(relative[kind]))
        if kind > 1:
            bound, rule = ((self.lower, ">="), (self.upper, "<="))[kind - 2]
            return f"variable {k} is {decision[k]:.10g}, but must be {rule} {bound[k]:.10g}"
        column, rule = (k, "=") if kind == 0 else (self.n_eq + k, "<=")
        value = (at_eq, at_ub)[kind][k] / self.scale[column]
        matrix = ("A_eq", "A_ub")[kind]
        return f"row {k} of {matrix} gives {value:.10g}, but must be {rule} {context[column]:.10g} (column {column})"

    def active(self, decision: FloatArray, context: FloatArray) -> tuple[BoolArray, BoolArray, BoolArray]:
        """Which inequality rows, lower bounds and upper bounds one feasible decision touches."""
        b_ub = (context * self.scale)[self.n_eq :]
        rows = self.A_ub @ decision - b_ub >= -_slack(b_ub)
        return rows, decision - self.lower <= _slack(self.lower), self.upper - decision <= _slack(self.upper)


def scaled_costs(theta: FloatArray) -> FloatArray:
    """`theta` times the power of two that brings its largest entry into [1/2, 1).

    The solver's tolerances are absolute; only the direction of `theta` may matter. A power of two changes no
    digit.
    """
    largest = np.abs(theta).max(initial=0.0)
    return theta if largest == 0.0 else np.ldexp(theta, -int(np.frexp(largest)[1]))


def _slack(sides: FloatArray) -> FloatArray:
    """Room for rounding beside each side; none beside an infinite one, where there is nothing to touch."""
    return TOLERANCE * np.where(np.isfinite(sides), np.maximum(1.0, np.abs(sides)), 0.0)


def _matrix(matrix: Any, argument: str, where: str) -> Any:
    if matrix is None:
        return None
    rule = "must be a matrix of finite real numbers with one row per constraint"
    try:
        values = sparse.csr_array(matrix if sparse.issparse(matrix) else np.asarray(matrix))
        wrong_kind = values.dtype.kind not in "biuf"
        values = values if wrong_kind else values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise invalid(argument, where, rule, type(matrix).__name__) from error
    if wrong_kind or values.ndim != 2:
        raise invalid(argument, where, rule, f"shape {np.shape(matrix)} of dtype {values.dtype}")
    if not np.isfinite(values.data).all():
        lines = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
        raise invalid(argument, where, rule, "NaN or infinity", int(lines[~np.isfinite(values.data)][0]))
    values.sum_duplicates()
    values.eliminate_zeros()
    return values


def _row_scales(matrix: Any, argument: str, where: str) -> FloatArray:
    """The powers of two that bring each row's largest entry into [1, 2); 1 for a row of zeros."""
    sizes = np.abs(matrix.data)
    wrong = np.flatnonzero((sizes < _ENTRY_RANGE[0]) | (sizes > _ENTRY_RANGE[1]))
    lines = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    if len(wrong):
        rule = f"entries other than 0 must lie between {_ENTRY_RANGE[0]:g} and {_ENTRY_RANGE[1]:g} in size"
        raise invalid(argument, where, rule, matrix.data[wrong[0]], int(lines[wrong[0]]))
    largest, smallest = np.zeros(matrix.shape[0]), np.full(matrix.shape[0], np.inf)
    np.maximum.at(largest, lines, sizes)
    np.minimum.at(smallest, lines, sizes)
    wide = np.flatnonzero(largest > WIDEST_ROW * smallest)
    if len(wide):
        row = int(wide[0])
        rule = f"nonzero entries of one row must not differ by more than a factor of {WIDEST_ROW:g}"
        got = f"{smallest[row]:g} and {largest[row]:g}"
        raise invalid(argument, where, rule, got, row, "Change the units of variables, or write 0")
    scales: FloatArray = np.ldexp(1.0, 1 - np.frexp(np.where(largest > 0.0, largest, 1.0))[1])
    return scales


def _scaled(matrix: Any, scale: FloatArray) -> Any:
    return sparse.csr_array(
        (matrix.data * np.repeat(scale, np.diff(matrix.indptr)), matrix.indices, matrix.indptr), shape=matrix.shape
    )


def _bound(bound: Any, argument: str, where: str) -> FloatArray:
    rule = "must be a number or one number per variable (infinities allowed, NaN not)"
    try:
        raw = np.asarray(bound)
        values = raw.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise invalid(argument, where, rule, type(bound).__name__) from error
    if raw.dtype.kind not in "iuf" or values.ndim > 1 or np.isnan(values).any():
        raise invalid(argument, where, rule, "NaN" if raw.dtype.kind in "iuf" and values.ndim < 2 else repr(bound))
    return values


def _agreed_size(sizes: dict[str, int], where: str) -> int:
    if not sizes:
        remedy = "Give A_eq, A_ub, or bounds with one entry per variable"
        raise invalid("A_eq", where, "one argument must tell the number of variables", "none", remedy=remedy)
    if len(set(sizes.values())) > 1 or min(sizes.values()) < 1:
        got = ", ".join(f"{name} with {size}" for name, size in sizes.items())
        raise invalid(next(iter(sizes)), where, "all arguments must agree on the number of variables (>= 1)", got)
    return next(iter(sizes.values()))


def _check_order(lower: FloatArray, upper: FloatArray, where: str) -> None:
    wrong = (lower > upper) | (lower == np.inf) | (upper == -np.inf)
    if wrong.any():
        j = int(np.flatnonzero(wrong)[0])
        rule = f"of variable {j} must be at least its lower bound, the lower below +inf and the upper above -inf"
        raise invalid("upper", where, rule, f"lower {lower[j]} and upper {upper[j]}")


def _check_sizes(bounds: dict[str, FloatArray], where: str) -> None:
    for argument, values in bounds.items():
        wrong = np.flatnonzero(np.isfinite(values) & (np.abs(values) >= LARGEST_SIDE))
        if len(wrong):
            rule = f"of variable {wrong[0]} must be smaller than {LARGEST_SIDE:g} in size, or infinite"
            raise invalid(argument, where, rule, values[wrong[0]], remedy="Write np.inf where there is no bound")
