"""CVXPY models of convex programs: what `build` returns, checked, solved, evaluated and differentiated.

Decisions are flattened column by column, as CVXPY does. Constraints are kept as expressions `g(x) <= 0` and
`h(x) = 0`. This module imports CVXPY; it is itself imported only when a convex program is made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import cvxpy as cp
import numpy as np

from conformio.checks import BoolArray, FloatArray, Sense
from conformio.errors import invalid
from conformio.problems.cvxpy_runs import PLAIN, solve_in_turns

__all__ = ["Build", "ConvexModel", "Structure", "read_structure"]

Build: TypeAlias = Callable[[Any], Any]

_CLARABEL = {
    "tol_gap_abs": 1e-11,
    "tol_gap_rel": 1e-11,
    "tol_feas": 1e-10,
    "reduced_tol_gap_abs": 1e-8,
    "reduced_tol_gap_rel": 1e-8,
    "reduced_tol_feas": 1e-8,
    "max_iter": 300,
    "max_threads": 1,
}
# A gap e leaves the decision off by sqrt(e) where a constraint is barely active: ask for more than is needed first.
_SHARP = {**_CLARABEL, "tol_gap_abs": 1e-14, "tol_gap_rel": 1e-14, "tol_feas": 1e-12}
_SMOOTH_STEPS = (1e-5, 1e-6)
_KINK = 1e-6
_UNSUPPORTED = (
    "boolean",
    "integer",
    "complex",
    "imag",
    "hermitian",
    "symmetric",
    "diag",
    "PSD",
    "NSD",
    "pos",
    "neg",
)


@dataclass(frozen=True)
class Structure:
    """What `build` returns, in one form: a variable, basis expressions, `g(x) <= 0` and `h(x) = 0`."""

    variable: Any
    basis: tuple[Any, ...]
    constraints: tuple[Any, ...]
    inequalities: tuple[Any, ...]
    equalities: tuple[Any, ...]
    affine: BoolArray

    @property
    def identity(self) -> bool:
        """Whether the basis expressions are the variable's entries, in order."""
        n = self.variable.size
        if len(self.basis) != n or not self.affine.all():
            return False
        self.variable.save_value(np.zeros(self.variable.shape))
        offsets = [float(np.ravel(f.value)[0]) for f in self.basis]
        slopes = [_gradient(f, self.variable) for f in self.basis]
        return not any(offsets) and bool(np.array_equal(np.hstack(slopes), np.eye(n)))


def read_structure(build: Build, u: Any, n_params: int, sense: Sense, where: str) -> Structure:
    """Call `build` and check what it returns; `u` is an array or a CVXPY parameter."""
    rule = "must return (variable, basis expressions, constraints)"
    built = build(u)
    if not isinstance(built, (tuple, list)) or len(built) != 3:
        raise invalid("build", where, rule, f"{type(built).__name__}")
    variable, basis, constraints = built
    _check_variable(variable, where)
    basis, affine = _checked_basis(basis, variable, n_params, sense, where)
    listed = [constraints] if isinstance(constraints, cp.Constraint) else list(constraints)
    listed += _bounds_as_constraints(variable)
    inequalities: list[Any] = []
    equalities: list[Any] = []
    for k, constraint in enumerate(listed):
        kind, expression = _normal_form(constraint, k, variable, where)
        (inequalities if kind == "inequality" else equalities).append(expression)
    return Structure(variable, basis, tuple(listed), tuple(inequalities), tuple(equalities), affine)


class ConvexModel:
    """One compiled CVXPY problem; `u` is a parameter of it or already worked in.

    Parameters
    ----------
    structure : Structure
    context : cvxpy.Parameter or None
        The parameter that stands for the context; None when the model belongs to one context.
    sense, nonnegative, where
        Of the convex program; `nonnegative` (n_params,) says which parameters may not be negative.
    """

    def __init__(self, structure: Structure, context: Any, sense: Sense, nonnegative: BoolArray, where: str):
        self.structure, self.context, self.sense, self.where = structure, context, sense, where
        self._signed, self._free = np.flatnonzero(nonnegative), np.flatnonzero(~nonnegative)
        self._thetas = [
            cp.Parameter(max(len(self._signed), 1), nonneg=True),
            cp.Parameter(max(len(self._free), 1)),
        ]
        self.objective = self._weighted(self._thetas[0], self._signed) + self._weighted(self._thetas[1], self._free)
        goal = cp.Minimize(self.objective) if sense == "min" else cp.Maximize(self.objective)
        self.problem = cp.Problem(goal, list(structure.constraints))
        self._direction = cp.Parameter(structure.variable.size)
        self._optimum = cp.Parameter()
        self._farthest: Any = None

    def is_parametric(self) -> bool:
        """Whether CVXPY can compile the model once for all parameter values."""
        return bool(self.problem.is_dcp(dpp=True))

    def enter(self, u: FloatArray) -> None:
        """Make `u` the context of all that follows; only for models whose context is a parameter."""
        self.context.value = u

    def solve(self, theta: FloatArray, row: int) -> tuple[FloatArray, float]:
        """An optimal decision for scaled parameters, and its objective."""
        self._set_theta(theta)
        self._run(self.problem, row)
        return self._point(), float(self.objective.value)

    def spread(self, theta: FloatArray, best: float, slack: float, direction: FloatArray, row: int) -> float:
        """How far the decisions within `slack` of the optimum `best` extend along `direction`."""
        self._set_theta(theta)
        self._optimum.value = best + (slack if self.sense == "min" else -slack)
        self._direction.value = direction
        if self._farthest is None:
            near = self.objective <= self._optimum if self.sense == "min" else self.objective >= self._optimum
            along = self._direction @ cp.vec(self.structure.variable, order="F")
            self._farthest = cp.Problem(cp.Maximize(along), [*self.structure.constraints, near])
        self._run(self._farthest, row)
        highest = self._farthest.value
        self._direction.value = -direction
        self._run(self._farthest, row)
        return float(highest + self._farthest.value)

    def place(self, x: FloatArray) -> None:
        """Evaluate everything at this decision from now on."""
        variable = self.structure.variable
        variable.save_value(np.reshape(x, variable.shape, order="F"))

    def basis_values(self) -> FloatArray:
        """Basis functions at the placed decision, shape (n_params,); NaN outside their domain."""
        return np.array([_number(f) for f in self.structure.basis])

    def violation(self) -> float:
        """Largest amount by which the placed decision violates a constraint; NaN outside a domain."""
        over = [_vector(g).max(initial=0.0) for g in self.structure.inequalities]
        off = [np.abs(_vector(h)).max(initial=0.0) for h in self.structure.equalities]
        return float(np.max([0.0, *over, *off]))

    def most_violated(self) -> tuple[int, float]:
        """Which of `constraints` the placed decision violates most, and by how much; NaN outside a domain."""
        with np.errstate(all="ignore"):
            sizes = [float(np.max(constraint.violation())) for constraint in self.structure.constraints]
        worst = int(np.argmax(np.where(np.isnan(sizes), np.inf, sizes)))
        return worst, sizes[worst]

    def basis_gradients(self, x: FloatArray, row: int) -> FloatArray:
        """Gradients of the basis functions at `x`, shape (n, n_params)."""
        self.place(x)
        columns = []
        for i, f in enumerate(self.structure.basis):
            gradient = _gradient(f, self.structure.variable)
            if gradient is None or self._kinked(f, x).any():
                raise self._not_smooth(f"basis function {i}", row)
            columns.append(gradient)
        return np.hstack(columns)

    def basis_blur(self, x: FloatArray, tolerance: float) -> FloatArray:
        """How much each entry of `basis_gradients` changes within `tolerance` of `x`, same shape."""
        return np.hstack([self._blur(f, x, tolerance) for f in self.structure.basis])

    def active_gradients(self, x: FloatArray, tolerance: float, row: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Gradients of active inequalities (n, m), their blur, and gradients of all equalities (n, k) at `x`.

        An inequality is active when `|g(x)| <= tolerance * max(1, |grad g(x)|)`.
        """
        self.place(x)
        rays = [np.zeros((len(x), 0))]
        blurs = [np.zeros((len(x), 0))]
        for k, g in enumerate(self.structure.inequalities):
            values, gradient = _vector(g), _gradient(g, self.structure.variable)
            steepness = 1.0 if gradient is None else np.maximum(1.0, np.linalg.norm(gradient, axis=0))
            active = np.abs(values) <= tolerance * steepness
            if not active.any():
                continue
            if gradient is None or self._kinked(g, x)[active].any():
                raise self._not_smooth(f"active inequality constraint {k}", row)
            rays.append(gradient[:, active])
            blurs.append(self._blur(g, x, tolerance)[:, active])
        lines = [_gradient(h, self.structure.variable) for h in self.structure.equalities]
        return np.hstack(rays), np.hstack(blurs), np.hstack([np.zeros((len(x), 0)), *lines])

    def _weighted(self, thetas: Any, which: Any) -> Any:
        if not len(which):
            return cp.Constant(0.0)
        return thetas @ cp.hstack([cp.reshape(self.structure.basis[i], (1,), order="F") for i in which])

    def _set_theta(self, theta: FloatArray) -> None:
        for parameter, which in zip(self._thetas, (self._signed, self._free), strict=True):
            parameter.value = theta[which] if len(which) else np.zeros(1)

    def _run(self, problem: Any, row: int) -> None:
        unbounded = "the objective is unbounded over the feasible set; add constraints or restrict the parameters"
        solve_in_turns(problem, (_SHARP, _CLARABEL, PLAIN), self.where, row, unbounded)

    def _point(self) -> FloatArray:
        return np.ravel(self.structure.variable.value, order="F").astype(np.float64)

    def _blur(self, expression: Any, x: FloatArray, tolerance: float) -> FloatArray:
        """Largest change of each gradient entry over steps of `tolerance` in a few directions, shape (n, entries)."""
        n, variable = len(x), self.structure.variable
        blur = np.zeros((n, expression.size))
        if expression.is_affine():
            return blur
        here, each = _gradient(expression, variable), np.arange(n)
        step = tolerance * max(1.0, float(np.abs(x).max()))
        for direction in (np.ones(n), (-1.0) ** each, np.cos(1.0 + each**1.5)):
            for sign in (-1.0, 1.0):
                self.place(x + sign * step * direction)
                there = _gradient(expression, variable)
                if here is not None and there is not None:
                    blur = np.maximum(blur, np.abs(there - here))
        self.place(x)
        return blur

    def _kinked(self, expression: Any, x: FloatArray) -> BoolArray:
        """Which entries have no gradient at `x`, told by one-sided slopes along a generic direction.

        The second difference over the step falls with the step where a function is smooth and stays at a
        kink; CVXPY itself returns some subgradient there.
        """
        if expression.is_affine():
            return np.zeros(expression.size, dtype=bool)
        direction = np.cos(1.0 + np.arange(len(x)) ** 1.5) * max(1.0, float(np.abs(x).max()))
        bends = []
        for step in _SMOOTH_STEPS:
            total = -2.0 * _vector(expression)
            for sign in (-1.0, 1.0):
                self.place(x + sign * step * direction)
                total = total + _vector(expression)
            self.place(x)
            bends.append(np.abs(total) / step)
        scale = np.maximum(1.0, np.abs(_vector(expression)))
        kinked: BoolArray = (bends[1] > _KINK * scale) & (bends[1] > 0.5 * bends[0])
        return kinked

    def _not_smooth(self, what: str, row: int) -> Exception:
        remedy = "Write max, abs or norm1 as separate affine constraints, or move the decision off the kink"
        rule = f"must lie where every basis function and active constraint has a gradient; {what} has none"
        return invalid("decisions", self.where, rule, "a kink or the edge of its domain", row, remedy)


def _check_variable(variable: Any, where: str) -> None:
    if not isinstance(variable, cp.Variable):
        rule = "must return a cvxpy.Variable first"
        raise invalid("build", where, rule, type(variable).__name__)
    wrong = [name for name in _UNSUPPORTED if np.any(variable.attributes.get(name))]
    if variable.attributes.get("sparsity"):
        wrong.append("sparsity")
    if wrong:
        rule = "must return a continuous variable whose only attributes are nonneg, nonpos or bounds"
        raise invalid("build", where, rule, wrong[0], remedy="Write the rest as constraints")


def _bounds_as_constraints(variable: Any) -> list[Any]:
    """Attributes of the variable as constraints, so that their multipliers are not forgotten."""
    listed = [variable >= 0] if variable.attributes["nonneg"] else []
    listed += [variable <= 0] if variable.attributes["nonpos"] else []
    for k, bound in enumerate(variable.attributes["bounds"] or ()):
        limit = np.ravel(np.broadcast_to(bound, variable.shape), order="F")
        entries = np.flatnonzero(np.isfinite(limit))
        if len(entries):
            flat = cp.vec(variable, order="F")[entries]
            listed.append(flat >= limit[entries] if k == 0 else flat <= limit[entries])
    return listed


def _checked_basis(
    basis: Any, variable: Any, n_params: int, sense: Sense, where: str
) -> tuple[tuple[Any, ...], BoolArray]:
    if isinstance(basis, cp.Expression):
        flat = cp.vec(basis, order="F")
        basis = [flat[i] for i in range(flat.size)]
    if not isinstance(basis, (tuple, list)) or len(basis) != n_params:
        got = len(basis) if isinstance(basis, (tuple, list)) else type(basis).__name__
        raise invalid("build", where, f"must return n_params = {n_params} basis expressions", got)
    for i, f in enumerate(basis):
        if not isinstance(f, cp.Expression) or f.size != 1:
            got = f"shape {f.shape}" if isinstance(f, cp.Expression) else type(f).__name__
            raise invalid("build", where, f"basis expression {i} must be a scalar CVXPY expression", got)
        if f.parameters():
            raise invalid("build", where, f"basis expression {i} must not depend on the context", str(f))
        _check_only(f, variable, f"basis expression {i}", where)
        if not (f.is_convex() if sense == "min" else f.is_concave()):
            shape = "convex" if sense == "min" else "concave"
            rule = f"basis expression {i} must be affine or {shape} by CVXPY's rules"
            raise invalid("build", where, rule, f"{f.curvature.lower()} {f}")
    return tuple(basis), np.array([f.is_affine() for f in basis])


def _normal_form(constraint: Any, k: int, variable: Any, where: str) -> tuple[str, Any]:
    """A constraint as `g <= 0` or `h = 0`."""
    kinds = cp.constraints
    if isinstance(constraint, (bool, np.bool_)) or not isinstance(constraint, cp.Constraint):
        rule = f"constraint {k} must be a CVXPY constraint that involves the variable"
        raise invalid("build", where, rule, repr(constraint))
    if isinstance(constraint, (kinds.Equality, kinds.Zero)):
        found = "equality", _expression(constraint)
    elif isinstance(constraint, (kinds.Inequality, kinds.NonPos)):
        found = "inequality", _expression(constraint)
    elif isinstance(constraint, kinds.NonNeg):
        found = "inequality", -_expression(constraint)
    else:
        rule = f"constraint {k} must be an equality or an inequality between expressions"
        remedy = "Write cone constraints as convex inequalities, e.g. cp.norm(y) <= t"
        raise invalid("build", where, rule, type(constraint).__name__, remedy=remedy)
    _check_only(found[1], variable, f"constraint {k}", where)
    if not constraint.is_dcp():
        raise invalid("build", where, f"constraint {k} must be convex by CVXPY's rules", str(constraint))
    return found


def _expression(constraint: Any) -> Any:
    return constraint.expr if hasattr(constraint, "expr") else constraint.args[0]


def _check_only(expression: Any, variable: Any, what: str, where: str) -> None:
    others = [other for other in expression.variables() if other.id != variable.id]
    if others:
        rule = f"{what} must involve no variable but the one returned"
        remedy = "Write auxiliary variables out, or make them part of the decision"
        raise invalid("build", where, rule, others[0].name(), remedy=remedy)


def _gradient(expression: Any, variable: Any) -> Any:
    """Jacobian transposed, shape (n, entries), at the variable's value; None where CVXPY knows none."""
    with np.errstate(all="ignore"):
        gradient = expression.grad.get(variable, np.zeros((variable.size, expression.size)))
    if gradient is None:
        return None
    dense = gradient.toarray() if hasattr(gradient, "toarray") else np.asarray(gradient)
    matrix = np.reshape(dense, (variable.size, expression.size), order="F").astype(np.float64)
    return matrix if np.isfinite(matrix).all() else None


def _vector(expression: Any) -> FloatArray:
    with np.errstate(all="ignore"):
        return np.ravel(expression.value, order="F").astype(np.float64)


def _number(expression: Any) -> float:
    return float(_vector(expression)[0])
