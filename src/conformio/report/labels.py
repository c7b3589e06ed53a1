"""Names for what a page shows: nodes, edges, items, variables, rows and contexts."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformio.checks import FloatArray
from conformio.networks import Network
from conformio.observations import ObservationTable, PlanTable, TripTable
from conformio.problems import Knapsack, Problem, ShortestPath

__all__ = ["context_texts", "edge_label", "node_labels", "parameter_names", "problem_words", "things", "variable_names"]

_KINDS = {
    "LinearProgram": "A linear program",
    "IntegerProgram": "An integer program",
    "ConvexProgram": "A convex program",
    "OracleProblem": "A problem behind a solver of one's own",
}


def node_labels(network: Network) -> list[str] | None:
    """None where nodes are called by number."""
    return None if network.node_ids is None else [_text(name) for name in network.node_ids.tolist()]


def edge_label(network: Network, edge: int) -> str:
    """Both ends, and the edge's own name where ends do not tell it."""
    names = network.node_ids
    tail, head = int(network.tails[edge]), int(network.heads[edge])
    ends = (tail, head) if names is None else (names.tolist()[tail], names.tolist()[head])
    text = f"{_text(ends[0])} → {_text(ends[1])}"
    if network.edge_ids is not None:
        return f"{text} ({_text(network.edge_ids.tolist()[edge])})"
    twins = np.flatnonzero((network.tails == tail) & (network.heads == head))
    return text if len(twins) == 1 else f"{text} (no. {edge})"


def parameter_names(problem: Problem, table: ObservationTable, which: list[int]) -> list[str]:
    """What some of the parameters are called."""
    if isinstance(problem, ShortestPath):
        return [edge_label(problem.network, k) for k in which]
    names = variable_names(problem, table)
    return [names[k] if problem.n_params == problem.n_vars else f"parameter {k}" for k in which]


def variable_names(problem: Problem, table: ObservationTable) -> list[str]:
    """What the entries of decisions are called, where they are no edges."""
    if isinstance(table, PlanTable):
        return [str(name) for name in table.variables]
    given = getattr(table, "item_names", None)
    return [_text(name) for name in given] if given is not None else [str(k) for k in range(problem.n_vars)]


def context_texts(table: ObservationTable, contexts: FloatArray) -> list[str]:
    """Each context in the words of its table."""
    columns = {name: column.to_pylist() for name, column in table.context_columns(contexts).items()}
    if isinstance(table, TripTable):
        return [f"{_text(a)} → {_text(b)}" for a, b in zip(*columns.values(), strict=True)]
    rows = zip(*columns.values(), strict=True)
    return [", ".join(f"{name} {_text(v)}" for name, v in zip(columns, row, strict=True)) for row in rows]


def problem_words(problem: Problem) -> str:
    """The forward problem in a few words."""
    if isinstance(problem, ShortestPath):
        network = problem.network
        return f"Shortest paths on a network of {network.n_nodes:,} nodes and {network.n_edges:,} edges"
    if isinstance(problem, Knapsack):
        return f"Choices among {problem.n_vars:,} items within a budget"
    verb = "minimised" if problem.sense == "min" else "maximised"
    kind = _KINDS.get(type(problem).__name__, type(problem).__name__)
    return f"{kind} with {problem.n_vars:,} variables, {verb}"


def things(problem: Problem) -> tuple[str, str]:
    """What one decision, and one parameter, is called."""
    if isinstance(problem, ShortestPath):
        return "trip", "estimated cost"
    return "decision", "estimated value" if problem.sense == "max" else "estimated cost"


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "-".join(map(_text, value)) if isinstance(value, tuple) else str(value)
