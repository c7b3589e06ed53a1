"""Convex programs `min` (or `max`) `sum_i theta_i f_i(x)` over a convex set, written in CVXPY.

A parameter vector makes `x` optimal exactly when the Karush-Kuhn-Tucker conditions hold at `x`
(minimisation): `sum_i theta_i grad f_i + sum_active v_j grad g_j + sum w_k grad h_k = 0` with `v >= 0`, where
`g_j(x) <= 0` are the inequalities `x` touches and `h_k(x) = 0` the equalities. Where a constraint
qualification fails the cone is too small and angles too large, never the other way round. For maximisation
the gradients of `f_i` change sign.

Decisions are known up to rounding, their gradients with them, and literally taken conditions break: where
`grad f_i = 0` by right but 1e-12 by rounding they would force `theta_i = 0`. A parameter vector therefore
counts as explaining `x` when the conditions hold for some gradients that differ from those at `x` by no more
than gradients do within 1e-6 of `x`. Those of affine functions are exact. Only functions with nonnegative
parameters or multipliers are not affine, so that the cone stays convex:
`J theta + R v + L w + t = 0, |t| <= dJ theta + dR v`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from conformio.checks import (
    BoolArray,
    Decisions,
    Domain,
    FloatArray,
    Sense,
    as_contexts,
    as_index,
    as_vector,
    check_choice,
    dense,
    first_row,
)
from conformio.errors import InfeasibleProblemError, SolverError, UnboundedProblemError, invalid
from conformio.problems._distinct_rows import distinct_rows
from conformio.problems._linear_constraints import scaled_costs
from conformio.problems._per_thread import PerThread
from conformio.problems.base import Problem
from conformio.problems.cones import Cones, StationaryCone, StationaryCones

if TYPE_CHECKING:
    from conformio.problems._convex_model import ConvexModel, Structure
    from conformio.problems._convex_shelf import ModelShelf

__all__ = ["ConvexProgram"]

_FEASIBLE = 1e-6
_KNOWN = 1e-6
_TIES = (1e-9, 1e-8, 1e-7)
_APART = 1e-3


class ConvexProgram(Problem):
    """A convex program built by the user in CVXPY.

    Parameters
    ----------
    build : callable u -> (x, basis, constraints)
        From a context row, a vector of length `context_width` (an array, or a CVXPY parameter when that
        works): the decision, a `cvxpy.Variable`; a list of `n_params` scalar expressions of `x` alone, each
        affine or convex (concave when `sense="max"`); a list of equalities and inequalities in `x` alone.
        Basis functions must not depend on `u`.
    n_params : int
        Number of basis functions.
    sense : {"min", "max"}
    context_width : int, optional
        Number of columns of `contexts`; by default as many as `example_context` has entries, or 1.
    domain : {"free", "nonnegative"}
        Where parameters live. Whatever it says, the parameter of a basis function that is not affine must be
        nonnegative; when that holds for all of them, the domain is "nonnegative".
    example_context : array-like, shape (context_width,), optional
        A context from which `build` can be called with numbers; all ones by default.

    Attributes
    ----------
    nonnegative_params : bool array, shape (n_params,)
        Which parameters may not be negative.

    Raises
    ------
    InvalidInputError
        If CVXPY is not installed, or `build` does not return what is described above.

    Notes
    -----
    A decision is the variable flattened column by column, as in CVXPY. Constraints count as satisfied within
    `1e-6 * max(1, max |x|)`, as active when `|g| <= 1e-6 * max(1, |grad g|)`. Conformity angles take
    decisions as known to `1e-6 * max(1, max |x|)`. The conic solver works to a gap of 1e-14 where it can, else
    of 1e-11, else of 1e-8. `sample_optimal` returns the optimum where it is unique, and refuses to answer where
    optimal decisions (objective within 1e-9 of the best, or up to 1e-7 where the solver cannot tell so finely)
    extend over more than `1e-3 * max(1, |x|)` along a random
    direction. Pickling needs a `build` that can be pickled.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from conformio.problems.convex_program import ConvexProgram
    >>> def build(u):
    ...     x = cp.Variable(2)
    ...     return x, [cp.square(x[0]), cp.square(x[1])], [cp.sum(x) == u[0]]
    >>> program = ConvexProgram(build, n_params=2)
    >>> program.solve([1.0, 3.0], [4.0]).round(6)
    array([[3., 1.]])
    """

    convex = True

    def __init__(
        self,
        build: Callable[[Any], Any],
        n_params: int,
        sense: Sense = "min",
        *,
        context_width: int | None = None,
        domain: Domain = "free",
        example_context: ArrayLike | None = None,
    ):
        where = type(self).__name__
        if not callable(build):
            raise invalid("build", where, "must be callable", repr(build))
        check_choice(sense, ("min", "max"), "sense", where)
        check_choice(domain, ("free", "nonnegative"), "domain", where)
        self.n_params = as_index(n_params, "n_params", where, low=1)
        known = 1 if example_context is None else max(np.size(example_context), 1)
        self.context_width = known if context_width is None else as_index(context_width, "context_width", where)
        example = np.ones(self.context_width) if example_context is None else example_context
        self._example = as_vector(example, "example_context", where, self.context_width)
        self._build, self.sense, self._asked_domain = build, sense, domain
        self._shelves: PerThread[ModelShelf] = PerThread()
        shelf = self._shelf()
        self.n_vars = int(shelf.first.structure.variable.size)
        self.linear = shelf.first.structure.identity
        self.nonnegative_params = shelf.nonnegative
        self.nonnegative_params.flags.writeable = False
        self.domain = "nonnegative" if self.nonnegative_params.all() else "free"

    def __repr__(self) -> str:
        size = f"n_params={self.n_params}, n_vars={self.n_vars}, context_width={self.context_width}"
        return f"ConvexProgram({size}, sense={self.sense!r}, domain={self.domain!r})"

    def to_state(self) -> dict[str, Any]:
        """All that is not code."""
        return {
            "n_params": self.n_params,
            "sense": self.sense,
            "context_width": self.context_width,
            "domain": self._asked_domain,
            "example_context": self._example,
        }

    def functions(self) -> dict[str, Any]:
        """The function that builds the program."""
        return {"build": self._build}

    def nominal(self, theta: FloatArray, contexts: FloatArray) -> Decisions:
        """One optimal decision per row."""
        self._check_signs(theta, type(self).__name__)
        shelf, found = self._shelf(), np.empty((len(contexts), self.n_vars))
        for k, u in enumerate(contexts):
            theta_k = theta if theta.ndim == 1 else theta[k]
            found[k] = shelf.at(u).solve(scaled_costs(theta_k), k)[0]
        return found

    def draw_optimal(self, theta: FloatArray, contexts: FloatArray, rng: np.random.Generator) -> Decisions:
        """Each row's optimum, where it is unique."""
        self._check_signs(theta, self._where("sample_optimal"))
        shelf, drawn = self._shelf(), np.empty((len(contexts), self.n_vars))
        for theta_k, rows in distinct_rows(theta, contexts):
            drawn[rows] = self._unique_optimum(shelf.at(contexts[rows[0]]), theta_k, rng, int(rows[0]))
        return drawn

    def check_contexts(self, contexts: ArrayLike, where: str) -> FloatArray:
        """Contexts as a (N, context_width) array."""
        remedy = f"Pass context_width= to {type(self).__name__} when its contexts have more entries"
        return as_contexts(contexts, self.context_width, where, remedy)

    def feasible(self, decisions: Decisions, contexts: FloatArray) -> BoolArray:
        """Whether each decision satisfies its row's constraints."""
        shelf, points = self._shelf(), dense(decisions)
        fits = np.empty(len(points), dtype=bool)
        for k, (x, u) in enumerate(zip(points, contexts, strict=True)):
            model = shelf.at(u)
            model.place(x)
            fits[k] = model.violation() <= _FEASIBLE * max(1.0, float(np.abs(x).max()))
        return fits

    def why_infeasible(self, decision: FloatArray, context: FloatArray) -> str:
        """The most violated constraint."""
        model = self._shelf().at(context)
        model.place(decision)
        k, size = model.most_violated()
        return f"constraint {k} ({model.structure.constraints[k]}) is violated by {size:.6g}"

    def cones(self, contexts: FloatArray, decisions: Decisions) -> Cones:
        """Stationarity conditions at each decision, up to what rounding of the decision changes in them."""
        shelf, rows = self._shelf(), []
        for k, (x, u) in enumerate(zip(dense(decisions), contexts, strict=True)):
            model = shelf.at(u)
            rays, rays_blur, lines = model.active_gradients(x, _KNOWN, k)
            exact = StationaryCone(self.sign * model.basis_gradients(x, k), rays, lines)
            rows.append(_blurred(exact, model.basis_blur(x, _KNOWN), rays_blur))
        return StationaryCones(rows, self.nonnegative_params)

    def expressions(self, context: FloatArray) -> Structure:
        """The CVXPY variable, basis and constraints for one context, for the layers above.

        The same object may come back for another context, with the value of its context parameter changed.
        """
        return self._shelf().at(context).structure

    def _evaluate(self, decisions: Decisions) -> Decisions:
        if self.linear:
            return decisions
        model, points = self._shelf().first, dense(decisions)
        values = np.empty((len(points), self.n_params))
        for k, x in enumerate(points):
            model.place(x)
            values[k] = model.basis_values()
        wrong = ~np.isfinite(values)
        if wrong.any():
            row = first_row(wrong)
            rule = f"must lie in the domain of basis function {int(np.flatnonzero(wrong[row])[0])}"
            raise invalid("decisions", self._where("basis"), rule, points[row].tolist(), row)
        return values

    def _unique_optimum(self, model: ConvexModel, theta: FloatArray, rng: np.random.Generator, row: int) -> FloatArray:
        where, costs = self._where("sample_optimal"), scaled_costs(theta)
        x, best = model.solve(costs, row)
        direction = rng.standard_normal(self.n_vars)
        direction /= np.linalg.norm(direction)
        try:
            spread = _spread(model, costs, best, direction, row)
        except UnboundedProblemError as error:
            reason = "the optimal decisions form an unbounded set, on which no uniform draw exists; bound them"
            raise UnboundedProblemError(where, reason, row) from error
        if spread > _APART * max(1.0, float(np.linalg.norm(x))):
            rule = "must have one optimal decision, since ties of a convex program cannot be sampled uniformly"
            remedy = "Perturb theta, use solve, or write the problem as a LinearProgram if it is one"
            raise invalid("theta", where, rule, f"optimal decisions {spread:.3g} apart", row, remedy)
        return x

    def _check_signs(self, theta: FloatArray, where: str) -> None:
        wrong = (theta < 0) & self.nonnegative_params
        if wrong.any():
            row = first_row(wrong) if theta.ndim == 2 else None
            raise invalid(
                "theta",
                where,
                "must be >= 0 for every basis function that is not affine",
                theta[wrong][0],
                row,
            )

    def _shelf(self) -> ModelShelf:
        return self._shelves.get(self._new_shelf)

    def _new_shelf(self) -> ModelShelf:
        where = type(self).__name__
        try:
            from conformio.problems._convex_shelf import ModelShelf
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] != "cvxpy":
                raise
            remedy = 'Run: pip install "conformio[cvx]"'
            raise invalid("build", where, "needs the cvxpy package", "no cvxpy", remedy=remedy) from error
        return ModelShelf(self._build, self.n_params, self.sense, self._asked_domain, self._example, where)


def _spread(model: ConvexModel, costs: FloatArray, best: float, direction: FloatArray, row: int) -> float:
    """How far the optimal decisions extend; the thinnest set of them on which the solver still finds its way."""
    for tie in _TIES[:-1]:
        try:
            return model.spread(costs, best, tie * max(1.0, abs(best)), direction, row)
        except (InfeasibleProblemError, SolverError):
            continue
    return model.spread(costs, best, _TIES[-1] * max(1.0, abs(best)), direction, row)


def _blurred(exact: StationaryCone, basis_blur: FloatArray, rays_blur: FloatArray) -> StationaryCone:
    """`exact` with room `|t_j| <= (basis_blur theta + rays_blur v)_j` in condition j.

    `t_j = e_j (p - q)` and `p + q = (blur row j) . (theta, v) / e_j` with `p, q >= 0`: one more condition and two
    more rays for every j with a blur `e_j > 0`.
    """
    blur = np.hstack([basis_blur, rays_blur])
    sizes = blur.max(axis=1, initial=0.0)
    kept = np.flatnonzero(sizes > 0.0)
    if not len(kept):
        return exact
    (n, d), k = exact.gradients.shape, len(kept)
    room, ratios = np.zeros((n, k)), blur[kept] / sizes[kept, None]
    room[kept, np.arange(k)] = sizes[kept]
    return StationaryCone(
        np.vstack([exact.gradients, -ratios[:, :d]]),
        np.block([[exact.rays, room, -room], [-ratios[:, d:], np.eye(k), np.eye(k)]]),
        np.vstack([exact.lines, np.zeros((k, exact.lines.shape[1]))]),
    )
