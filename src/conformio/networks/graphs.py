"""Taking over NetworkX graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from conformio.errors import InvalidInputError, invalid

__all__ = ["read_graph"]


def read_graph(graph: Any, zones: Iterable[Any], where: str) -> dict[str, Any]:
    """The parts of a network from a graph; an undirected edge becomes two."""
    try:
        import networkx as nx
    except ImportError as error:
        rule = 'needs NetworkX: pip install "conformio[networks]"'
        raise InvalidInputError(f"`graph` of {where}: {rule}") from error
    if not isinstance(graph, nx.Graph):
        raise invalid("graph", where, "must be a NetworkX graph", type(graph).__name__)
    labels = list(graph.nodes)
    number_of = {label: number for number, label in enumerate(labels)}
    tails, heads, data = [], [], []
    for tail, head, known in graph.edges(data=True):
        if tail == head:
            remedy = "graph.remove_edges_from(list(networkx.selfloop_edges(graph))) takes them out"
            raise invalid("graph", where, "must not hold self-loops", f"one at node {tail!r}", remedy=remedy)
        for pair in [(tail, head)] if graph.is_directed() else [(tail, head), (head, tail)]:
            tails.append(number_of[pair[0]])
            heads.append(number_of[pair[1]])
            data.append(known)
    if not data:
        raise invalid("graph", where, "must have at least one edge", "no edges")
    return {
        "tails": tails,
        "heads": heads,
        "n_nodes": len(labels),
        "attributes": _shared_numbers(data),
        "zones": _zone_mask(zones, number_of, where),
        "node_ids": labels,
        "coordinates": _places([graph.nodes[label] for label in labels]),
    }


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not np.isnan(float(value))


def _shared_numbers(data: Sequence[dict[Any, Any]]) -> dict[str, list[Any]]:
    """Attributes that are numbers on every edge."""
    names = [name for name in data[0] if isinstance(name, str)]
    shared = [name for name in names if all(_is_number(known.get(name)) for known in data)]
    return {name: [known[name] for known in data] for name in shared}


def _zone_mask(zones: Iterable[Any], number_of: dict[Any, int], where: str) -> Any:
    mask = np.zeros(len(number_of), dtype=np.bool_)
    for row, label in enumerate(zones):
        if label not in number_of:
            raise invalid("zones", where, "must name nodes of the graph", repr(label), row=row)
        mask[number_of[label]] = True
    return mask


def _places(nodes: Sequence[dict[Any, Any]]) -> list[tuple[float, float]] | None:
    if not all(_is_number(known.get("x")) and _is_number(known.get("y")) for known in nodes):
        return None
    return [(float(known["x"]), float(known["y"])) for known in nodes]
