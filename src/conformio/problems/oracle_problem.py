"""Problems known only through a solver the user brings: `solve(theta, u)` returns one optimal decision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from conformio.checks import BoolArray, Decisions, Domain, FloatArray, Sense, as_contexts, as_index, check_choice, dense
from conformio.errors import RowError, SolverError, invalid
from conformio.problems.base import Problem
from conformio.problems.cones import Cones, CutCones

__all__ = ["OracleProblem"]

Oracle: TypeAlias = Callable[[FloatArray, FloatArray], ArrayLike]
Basis: TypeAlias = Callable[[FloatArray], ArrayLike]
Membership: TypeAlias = Callable[[FloatArray, FloatArray], Any]
Sampler: TypeAlias = Callable[[FloatArray, FloatArray, np.random.Generator], ArrayLike]

_WHOLE = 1e-7


class OracleProblem(Problem):
    """A forward problem behind the user's own solver.

    Parameters
    ----------
    solve : callable (theta, u) -> x
        One optimal decision of length `n_vars` for parameters (n_params,) and a context row (context_width,). Robust
        prescription of binary `max` problems asks it about negative parameters too, whatever the domain.
    n_params : int
        Number of parameters.
    sense : {"min", "max"}
    basis : callable x -> (n_params,), optional
        Basis functions at a decision; None means `basis(x) = x`.
    domain : {"free", "nonnegative"}
        Where parameters live.
    feasible_set : {"binary", "convex"}, optional
        What is known of every feasible set: all decisions are 0/1 vectors, or the set is convex. "binary"
        opens the exact parametric route of robust prescription and needs `basis=None`.
    n_vars : int, optional
        Length of a decision; `n_params` unless there is a `basis`, with which it must be given.
    is_member : callable (x, u) -> bool, optional
        Whether a decision is feasible. Without it only its shape, finiteness and, for "binary" sets,
        wholeness are checked: `is_feasible` then answers True for anything else.
    sample : callable (theta, u, generator) -> x, optional
        A uniform draw from the optimal decisions. A solver that returns one optimum says nothing of the
        others, so `sample_optimal` is an error without it.
    context_width : int
        Number of columns of `contexts`.

    Raises
    ------
    InvalidInputError
        If an argument is not of the kind named above.

    Examples
    --------
    >>> import numpy as np
    >>> from conformio.problems.oracle_problem import OracleProblem
    >>> solve = lambda theta, u: np.eye(3)[np.argmin(theta)]
    >>> cheapest = OracleProblem(solve, n_params=3, feasible_set="binary")
    >>> cheapest.solve([3.0, 1.0, 2.0], [0.0])
    array([[0., 1., 0.]])
    """

    def __init__(
        self,
        solve: Oracle,
        n_params: int,
        sense: Sense = "min",
        basis: Basis | None = None,
        *,
        domain: Domain = "free",
        feasible_set: Literal["binary", "convex"] | None = None,
        n_vars: int | None = None,
        is_member: Membership | None = None,
        sample: Sampler | None = None,
        context_width: int = 1,
    ):
        where = type(self).__name__
        for name, function in {
            "solve": solve,
            "basis": basis,
            "is_member": is_member,
            "sample": sample,
        }.items():
            if not callable(function) and (function is not None or name == "solve"):
                raise invalid(name, where, "must be callable", repr(function))
        check_choice(sense, ("min", "max"), "sense", where)
        check_choice(domain, ("free", "nonnegative"), "domain", where)
        if feasible_set is not None:
            check_choice(feasible_set, ("binary", "convex"), "feasible_set", where)
        self.n_params = as_index(n_params, "n_params", where, low=1)
        self.n_vars = _decision_length(n_vars, self.n_params, basis, where)
        self.context_width = as_index(context_width, "context_width", where)
        self.sense, self.domain = sense, domain
        self.binary, self.convex = feasible_set == "binary", feasible_set == "convex"
        self.linear = basis is None
        if self.binary and not self.linear:
            remedy = "Leave feasible_set out, or fold the basis into the decision"
            raise invalid("feasible_set", where, '"binary" needs basis=None', '"binary" with a basis', remedy=remedy)
        self._oracle, self._basis, self._is_member, self._sample = solve, basis, is_member, sample

    def __repr__(self) -> str:
        size = f"n_params={self.n_params}, n_vars={self.n_vars}, context_width={self.context_width}"
        kind = "binary" if self.binary else "convex" if self.convex else None
        return f"OracleProblem({size}, sense={self.sense!r}, domain={self.domain!r}, feasible_set={kind!r})"

    def to_state(self) -> dict[str, Any]:
        """All that is not code."""
        return {
            "n_params": self.n_params,
            "sense": self.sense,
            "domain": self.domain,
            "feasible_set": "binary" if self.binary else "convex" if self.convex else None,
            "n_vars": self.n_vars,
            "context_width": self.context_width,
        }

    def functions(self) -> dict[str, Any]:
        """The solver, and what else was given."""
        given = {"solve": self._oracle, "basis": self._basis, "is_member": self._is_member, "sample": self._sample}
        return {name: function for name, function in given.items() if function is not None}

    def nominal(self, theta: FloatArray, contexts: FloatArray) -> Decisions:
        """What the user's solver returns for each row, checked."""
        return self._answers(self._oracle, "solve", theta, contexts)

    def draw_optimal(self, theta: FloatArray, contexts: FloatArray, rng: np.random.Generator) -> Decisions:
        """What the user's `sample` returns for each row, checked."""
        sample = self._sample
        if sample is None:
            rule = "must be given to draw among optimal decisions (one optimum says nothing of its ties)"
            remedy = "Pass sample=callable(theta, u, generator), or use solve"
            raise invalid("sample", self._where("sample_optimal"), rule, None, remedy=remedy)
        return self._answers(lambda theta_k, u: sample(theta_k, u, rng), "sample", theta, contexts)

    def check_contexts(self, contexts: ArrayLike, where: str) -> FloatArray:
        """Contexts as a (N, context_width) array."""
        remedy = f"Pass context_width= to {type(self).__name__} when its contexts have more entries"
        return as_contexts(contexts, self.context_width, where, remedy)

    def feasible(self, decisions: Decisions, contexts: FloatArray) -> BoolArray:
        """What `is_member` says, and whether the decision is 0/1 if that was declared."""
        points = dense(decisions)
        fits = _whole(points) if self.binary else np.ones(len(points), dtype=bool)
        if self._is_member is not None:
            for k in np.flatnonzero(fits):
                fits[k] = self._member(points[k], contexts[k], int(k), self._where("is_feasible"))
        return fits

    def why_infeasible(self, decision: FloatArray, context: FloatArray) -> str:
        """An entry that is neither 0 nor 1, or what `is_member` says."""
        broken = np.flatnonzero(np.minimum(np.abs(decision), np.abs(decision - 1.0)) > _WHOLE)
        if self.binary and len(broken):
            return f"entry {broken[0]} is {decision[broken[0]]:g}, neither 0 nor 1"
        return "`is_member` returns False"

    def cones(self, contexts: FloatArray, decisions: Decisions) -> Cones:
        """Cones known through the solver."""
        return CutCones(self, contexts, dense(self._evaluate(decisions)))

    def _evaluate(self, decisions: Decisions) -> Decisions:
        if self._basis is None:
            return decisions
        where, points = self._where("basis"), dense(decisions)
        values = np.empty((len(points), self.n_params))
        for k, x in enumerate(points):
            values[k] = _numbers(_call(self._basis, "basis", where, k, x.copy()), self.n_params, "basis", where, k)
        return values

    def _answers(self, solve: Oracle, name: str, theta: FloatArray, contexts: FloatArray) -> FloatArray:
        where, found = type(self).__name__, np.empty((len(contexts), self.n_vars))
        for k, u in enumerate(contexts):
            theta_k = theta if theta.ndim == 1 else theta[k]
            answer = _call(solve, name, where, k, theta_k.copy(), u.copy())
            found[k] = _numbers(answer, self.n_vars, name, where, k)
            if self.binary and not _whole(found[k : k + 1])[0]:
                wrong = found[k][np.minimum(np.abs(found[k]), np.abs(found[k] - 1.0)) > _WHOLE][0]
                reason = f'`{name}` must return 0/1 vectors (feasible_set="binary"); got an entry {wrong}'
                raise SolverError(where, reason, k)
            if self._is_member is not None and not self._member(found[k], u, k, where):
                raise SolverError(where, f"`{name}` returned a decision that `is_member` rejects; correct either", k)
        return found

    def _member(self, x: FloatArray, u: FloatArray, row: int, where: str) -> bool:
        answer = _call(self._is_member, "is_member", where, row, x.copy(), u.copy())
        if not isinstance(answer, (bool, np.bool_)):
            raise SolverError(where, f"`is_member` must return True or False; got {answer!r}", row)
        return bool(answer)


def _decision_length(n_vars: int | None, n_params: int, basis: Basis | None, where: str) -> int:
    if n_vars is None and basis is not None:
        raise invalid("n_vars", where, "must be given with a basis (it is the length of a decision)", None)
    length = n_params if n_vars is None else as_index(n_vars, "n_vars", where, low=1)
    if basis is None and length != n_params:
        raise invalid("n_vars", where, f"must equal n_params = {n_params} when basis is None", length)
    return length


def _call(function: Any, name: str, where: str, row: int, *arguments: Any) -> Any:
    """Call the user's code; whatever it raises comes back as the library's own error, with the row."""
    try:
        return function(*arguments)
    except RowError as error:
        raise error.moved(where, row) from error
    except Exception as error:
        raise SolverError(where, f"`{name}` raised {type(error).__name__}: {error}", row) from error


def _numbers(answer: Any, size: int, name: str, where: str, row: int) -> FloatArray:
    rule = f"`{name}` must return {size} finite numbers"
    try:
        if np.iscomplexobj(answer):
            raise TypeError
        values = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SolverError(where, f"{rule}; got {type(answer).__name__}", row) from error
    if values.shape != (size,):
        raise SolverError(where, f"{rule}; got shape {values.shape}", row)
    if not np.isfinite(values).all():
        raise SolverError(where, f"{rule}; got {values[~np.isfinite(values)][0]}", row)
    return values


def _whole(points: FloatArray) -> BoolArray:
    near = np.minimum(np.abs(points), np.abs(points - 1.0)) <= _WHOLE
    return np.asarray(near.all(axis=1), dtype=np.bool_)
