"""Contexts with further columns: what a predictor of parameters may look at, and feasibility does not depend on.

A trip is an origin and a destination; what people think streets cost may also depend on the hour and the weather.
`X(u)` is that of the first columns; `theta_bar(u)` may depend on all of them (`FixedParameters` with a predictor).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from conformio.checks import BoolArray, Decisions, FloatArray, as_contexts, as_index, described
from conformio.errors import invalid
from conformio.problems.base import Problem
from conformio.problems.cones import Cones
from conformio.problems.polyhedra import Polyhedron, Sides

__all__ = ["WithFeatures"]


class WithFeatures(Problem):
    """A forward problem whose contexts carry features: columns behind the problem's own.

    Decisions, angles and prescriptions are those of the problem itself, by the same routes. The features reach the
    point estimate: a predictor in `FixedParameters` is given whole rows.

    Parameters
    ----------
    problem : Problem
    n_features : int
        How many further columns, at least 1.

    Raises
    ------
    InvalidInputError
        If the problem is none, or has features already, or `n_features` is no such number.

    Examples
    --------
    >>> import numpy as np
    >>> import conformio as cio
    >>> problem = cio.WithFeatures(cio.Knapsack([1.0, 1.0]), n_features=1)
    >>> values = lambda rows: np.column_stack([np.ones(len(rows)), rows[:, 1]])  # column 0 is the budget
    >>> model = cio.ConformalIO(problem, cio.FixedParameters(values), confidence_level=0.5)
    >>> model = model.conformalize([[1.0, 0.5], [1.0, 2.0], [1.0, 3.0]], [[1, 0], [0, 1], [0, 1]])
    >>> model.predict([[1.0, 0.1], [1.0, 5.0]])
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(self, problem: Problem, n_features: int):
        where = "WithFeatures"
        if not isinstance(problem, Problem) or isinstance(problem, WithFeatures):
            rule = "must be a forward problem without features of its own"
            raise invalid("problem", where, rule, described(problem), remedy="Count all features in one WithFeatures")
        self.problem = problem
        self.n_features = as_index(n_features, "n_features", where, low=1)
        self.context_width = problem.context_width + self.n_features
        for name in ("n_params", "n_vars", "sense", "domain", "binary", "convex", "linear"):
            setattr(self, name, getattr(problem, name))

    def __repr__(self) -> str:
        return f"WithFeatures({self.problem!r}, n_features={self.n_features})"

    def bare(self, contexts: FloatArray) -> tuple[Problem, FloatArray]:
        """The problem itself, and its own columns."""
        return self.problem, self._own(contexts)

    def check_contexts(self, contexts: ArrayLike, where: str) -> FloatArray:
        """The problem's own columns as it wants them, and finite features."""
        remedy = f"First those of {type(self.problem).__name__}, then the features"
        rows = as_contexts(contexts, self.context_width, where, remedy)
        own = self.problem.check_contexts(self._own(rows), where)
        return np.hstack([own, rows[:, self.problem.context_width :]])

    def check_decisions(self, decisions: Any, where: str) -> Decisions:
        """Decisions as the problem wants them."""
        return self.problem.check_decisions(decisions, where)

    def nominal(self, theta: FloatArray, contexts: FloatArray) -> Decisions:
        """Optimal decisions of the problem."""
        return self.problem.nominal(theta, self._own(contexts))

    def draw_optimal(self, theta: FloatArray, contexts: FloatArray, rng: np.random.Generator) -> Decisions:
        """Uniform over the problem's optimal decisions."""
        return self.problem.draw_optimal(theta, self._own(contexts), rng)

    def feasible(self, decisions: Decisions, contexts: FloatArray) -> BoolArray:
        """Whether the problem's own columns allow each decision."""
        return self.problem.feasible(decisions, self._own(contexts))

    def why_infeasible(self, decision: FloatArray, context: FloatArray) -> str:
        """What the problem says."""
        return self.problem.why_infeasible(decision, self._own(context[None])[0])

    def cones(self, contexts: FloatArray, decisions: Decisions) -> Cones:
        """The problem's cones."""
        return self.problem.cones(self._own(contexts), decisions)

    def polyhedron(self) -> Polyhedron | None:
        """The problem's polyhedron."""
        return self.problem.polyhedron()

    def sides(self, context: FloatArray) -> Sides:
        """The problem's sides."""
        return self.problem.sides(self._own(context[None])[0])

    def optimal_totals(self, theta: FloatArray, contexts: FloatArray) -> tuple[FloatArray, float]:
        """The problem's totals."""
        return self.problem.optimal_totals(theta, self._own(contexts))

    def optimal_values(self, theta: FloatArray, contexts: FloatArray, where: str) -> FloatArray:
        """The problem's optimal values."""
        return self.problem.optimal_values(theta, self._own(contexts), where)

    def to_state(self) -> dict[str, Any] | None:
        """The problem by its class's name and state, where it has one."""
        from conformio import problems as shipped  # the package lists this module too

        name, arguments = type(self.problem).__name__, self.problem.to_state()
        if arguments is None or name not in shipped.__all__ or type(self.problem) is not getattr(shipped, name):
            return None
        return {"problem": {"class": name, "arguments": arguments}, "n_features": self.n_features}

    def functions(self) -> dict[str, Any]:
        """The problem's functions."""
        return self.problem.functions()

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The problem that `to_state` described; functions come beside it."""
        inner, n_features = state["problem"], state["n_features"]
        functions = {name: value for name, value in state.items() if name not in ("problem", "n_features")}
        from conformio import problems as shipped

        kind = getattr(shipped, inner["class"]) if inner["class"] in shipped.__all__ else None
        if not (isinstance(kind, type) and issubclass(kind, Problem)):
            raise invalid("class", "WithFeatures", "must be one of the library's problems", repr(inner["class"]))
        return cls(kind.from_state({**inner["arguments"], **functions}), n_features)

    def _once_per_context(
        self,
        solve_rows: Callable[[FloatArray, FloatArray], Decisions],
        theta: FloatArray,
        contexts: FloatArray,
        where: str,
    ) -> Decisions:
        return super()._once_per_context(solve_rows, theta, self._own(contexts), where)

    def _evaluate(self, decisions: Decisions) -> Decisions:
        return self.problem._evaluate(decisions)

    def _own(self, contexts: FloatArray) -> FloatArray:
        return contexts[:, : self.problem.context_width]
