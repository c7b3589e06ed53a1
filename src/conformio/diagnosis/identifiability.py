"""How much of the parameters the decisions pin down.

A decision speaks through what it could have been: `basis(x) - basis(y)`, with `y` a best answer to the same context
at the estimate. Three things are worked out, for one estimate of all contexts.

- **Free directions.** A small step both ways along `d` changes the sub-optimality of no decision exactly when `d` is
  orthogonal to all these differences, for every best answer `y`. The dimension of that space is `n_params` less the
  rank of the differences. One answer a row gives a lower bound on the rank, and the rank where answers are unique;
  for paths the tied answers are added (`path_directions`), which makes the rank exact, up to `RANK_LIMIT`.
- **Parameters that are never in play.** Where every decision and one best answer to each context leave a variable at
  one and the same bound, its parameter may move in one direction (dearer for a variable that is never used) by however
  much: neither any sub-optimality changes, nor that these answers are best. Known where the bounds are.
- **Directions that cannot matter**, a lower bound: they change the objective of all feasible decisions of each context
  by the same amount, so that no data from these contexts could ever tell. Potentials on networks, the equality rows of
  linear programs, items that fit no budget.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from conformio._kernels.grouping import group_rows
from conformio.checks import Decisions, FloatArray, IntArray, dense
from conformio.diagnosis.evidence import Evidence
from conformio.diagnosis.findings import Finding
from conformio.diagnosis.path_directions import cycle_dimension, edges_on_the_way, tied_circulations
from conformio.diagnosis.sparse_rank import RANK_LIMIT, sparse_rank
from conformio.problems import IntegerProgram, Knapsack, LinearProgram, Problem, ShortestPath

__all__ = ["identifiability_finding", "idle_parameters", "irrelevant_dimension", "rank_bounds"]

_SHOWN = 50
_SAME = 1e-9
_MANY = 0.5
_CONTEXT_LIMIT = 20_000


def identifiability_finding(evidence: Evidence) -> Finding:
    """Dimension of what the decisions leave free, and which parameters are never in play."""
    name, rows = "identifiability", evidence.training
    if evidence.center is None:
        words = "Not known: the parameters come from a predictor, one vector per context."
        return Finding(name, "notice", words, "", {"n_params": evidence.problem.n_params})
    if not len(rows):
        words = "Not known: none of the decisions is feasible."
        return Finding(name, "notice", words, "", {"n_params": evidence.problem.n_params})
    contexts, decisions = evidence.contexts[rows], evidence.decisions[rows]
    answers = evidence.problem.solve(evidence.center, contexts)
    low, high = rank_bounds(evidence.problem, evidence.center, contexts, decisions, answers)
    idle = idle_parameters(evidence.problem, contexts, decisions, answers)
    numbers = {
        "n_params": evidence.problem.n_params,
        "n_decisions": len(rows),
        "rank_low": low,
        "rank_high": high,
        "free_dimension_low": evidence.problem.n_params - high,
        "free_dimension_high": evidence.problem.n_params - low,
        "irrelevant_dimension_low": irrelevant_dimension(evidence.problem, contexts),
        "n_idle": None if idle is None else len(idle),
        "first_idle": None if idle is None else idle[:_SHOWN].tolist(),
    }
    many = idle is not None and len(idle) > _MANY * evidence.problem.n_params and evidence.learned
    return Finding(name, "notice" if many else "good", _words(numbers), _remedy(idle, evidence.learned), numbers)


def rank_bounds(
    problem: Problem, center: FloatArray, contexts: FloatArray, decisions: Decisions, answers: Decisions
) -> tuple[int, int]:
    """Bounds on the rank of the differences between decisions and best answers; equal where it is known."""
    differences = sparse.csr_array(problem.basis(decisions)) - sparse.csr_array(problem.basis(answers))
    differences.data[np.abs(differences.data) <= _SAME] = 0.0
    ties = _ties(problem, center, contexts)
    if ties is not None:
        differences = sparse.vstack([differences, ties], format="csr")
    rank = sparse_rank(differences)
    if ties is not None and rank < RANK_LIMIT:
        return rank, rank
    return rank, problem.n_params - irrelevant_dimension(problem, contexts)


def irrelevant_dimension(problem: Problem, contexts: FloatArray) -> int:
    """A lower bound on the dimension of the parameter changes that no decision in these contexts can feel."""
    if isinstance(problem, ShortestPath):
        network = problem.network
        return network.n_edges - cycle_dimension(network, edges_on_the_way(network, contexts))
    if isinstance(problem, Knapsack):
        return int((problem.sides(contexts[np.argmax(contexts[:, 0])]).upper == 0.0).sum())
    if isinstance(problem, (LinearProgram, IntegerProgram)):
        sides = problem.sides(contexts[0])
        fixed = sparse.eye_array(problem.n_vars, format="csr")[np.flatnonzero(sides.lower == sides.upper)]
        return sparse_rank(sparse.vstack([problem.polyhedron().A_eq, fixed]))
    return 0


def idle_parameters(
    problem: Problem, contexts: FloatArray, decisions: Decisions, answers: Decisions
) -> IntArray | None:
    """Parameters whose variable never leaves one bound, in no decision and no answer; None where none are known."""
    if problem.binary:
        used = _column_sums(decisions) + _column_sums(answers)
        return np.flatnonzero((used <= _SAME) | (used >= 2 * len(contexts) - _SAME))
    if not isinstance(problem, (LinearProgram, IntegerProgram)):
        return None
    sides = problem.sides(contexts[0])
    at_bound = [
        (np.abs(dense(values) - bound) <= _SAME * np.maximum(1.0, np.abs(bound))).all(axis=0)
        for bound in (np.nan_to_num(sides.lower, neginf=np.nan), np.nan_to_num(sides.upper, posinf=np.nan))
        for values in (decisions, answers)
    ]
    return np.flatnonzero((at_bound[0] & at_bound[1]) | (at_bound[2] & at_bound[3]))


def _ties(problem: Problem, center: FloatArray, contexts: FloatArray) -> Any | None:
    """Differences that span those of all tied answers; None where they are not known."""
    first, _ = group_rows(contexts)
    if not isinstance(problem, ShortestPath) or center.min() < 0.0 or len(first) > _CONTEXT_LIMIT:
        return None
    return tied_circulations(problem.network, center, contexts[first])


def _column_sums(decisions: Decisions) -> FloatArray:
    return np.asarray(decisions.sum(axis=0), dtype=np.float64).ravel()


def _words(numbers: dict[str, Any]) -> str:
    d, low, high = numbers["n_params"], numbers["rank_low"], numbers["rank_high"]
    rank = f"{low}" if low == high else f"{low} to {high}"
    free = f"{d - high}" if low == high else f"{d - high} to {d - low}"
    words = (
        f"{numbers['n_decisions']} decisions pin down {rank} independent combinations of the {d} parameters; "
        f"{free} directions are free: a small step along them leaves every decision exactly as well explained."
    )
    if numbers["irrelevant_dimension_low"]:
        words += f" At least {numbers['irrelevant_dimension_low']} of them can matter to no decision in these contexts."
    if numbers["n_idle"] is None:
        return f"{words} Which parameters are never in play is not known for this problem."
    if numbers["n_idle"]:
        shown = ", ".join(map(str, numbers["first_idle"][:5])) + (", ..." if numbers["n_idle"] > 5 else "")
        several = "s are" if numbers["n_idle"] > 1 else " is"
        words += f" {numbers['n_idle']} parameter{several} never in play: {shown}."
    return words


def _remedy(idle: IntArray | None, learned: bool) -> str:
    if idle is None or not len(idle) or not learned:
        return ""
    return (
        "Let training start from known values (initial= of PerturbedFenchelYoung, center= of SuboptimalityLoss), or "
        "collect decisions in contexts where these parameters matter."
    )
