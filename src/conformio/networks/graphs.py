"""Taking over NetworkX graphs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from conformio.errors import invalid
from conformio.networks.spelled_numbers import spelled_number, whole_names

__all__ = ["read_graph", "read_graphml"]


def read_graph(graph: Any, zones: Iterable[Any], where: str, drop_loops: bool = False) -> dict[str, Any]:
    """The parts of a network from a graph; an undirected edge becomes two."""
    nx = _networkx("graph", where)
    if not isinstance(graph, nx.Graph):
        raise invalid("graph", where, "must be a NetworkX graph", type(graph).__name__)
    labels = list(graph.nodes)
    number_of = {label: number for number, label in enumerate(labels)}
    tails, heads, data, names = [], [], [], []
    for tail, head, *key, known in graph.edges(data=True, **({"keys": True} if graph.is_multigraph() else {})):
        if tail == head:
            if drop_loops:
                continue
            remedy = 'Pass self_loops="drop" to leave them out'
            raise invalid("graph", where, "must not hold self-loops", f"one at node {tail!r}", remedy=remedy)
        for pair in [(tail, head)] if graph.is_directed() else [(tail, head), (head, tail)]:
            tails.append(number_of[pair[0]])
            heads.append(number_of[pair[1]])
            data.append(known)
            names.append((*pair, *key))
    if not data:
        raise invalid("graph", where, "must have at least one edge", "no edges")
    return {
        "tails": tails,
        "heads": heads,
        "n_nodes": len(labels),
        "attributes": _shared_numbers(data, names, where),
        "zones": _zone_mask(zones, number_of, where),
        "node_ids": labels,
        "coordinates": _places([graph.nodes[label] for label in labels]),
        "edge_ids": names,
    }


def read_graphml(
    path: str | PathLike[str], zones: Iterable[Any], where: str, drop_loops: bool = False
) -> dict[str, Any]:
    """The parts of a network from a GraphML file, text that spells numbers read as numbers."""
    nx = _networkx("path", where)
    remedy = "Check the name and that another program can open it"
    try:
        graph = nx.read_graphml(Path(path))
    except (OSError, ElementTree.ParseError, nx.NetworkXException, KeyError, ValueError, TypeError) as error:
        raise invalid("path", where, f"{path}: must be a readable GraphML file", error, remedy=remedy) from error
    for things in (graph.nodes(data=True), graph.edges(data=True)):
        _read_spelled([known for *_, known in things])
    keys = {key for *_, key in graph.edges(keys=True)} if graph.is_multigraph() else set()
    nodes, renamed = _whole_names(graph.nodes), _whole_names(keys)
    if renamed:
        typed = type(graph)()
        typed.add_nodes_from(graph.nodes(data=True))
        typed.add_edges_from((u, v, renamed[key], known) for u, v, key, known in graph.edges(keys=True, data=True))
        graph = typed
    return read_graph(nx.relabel_nodes(graph, nodes) if nodes else graph, zones, where, drop_loops)


def _networkx(argument: str, where: str) -> Any:
    try:
        import networkx as nx
    except ImportError as error:
        remedy = 'Run: pip install "conformio[networks]"'
        raise invalid(argument, where, "needs NetworkX", "no NetworkX", remedy=remedy) from error
    return nx


def _whole_names(names: Iterable[Any]) -> dict[Any, int]:
    """The whole numbers that all of the names spell; empty unless all do."""
    found = list(names)
    return dict(zip(found, whole_names(found) or [], strict=False))


def _read_spelled(data: list[dict[Any, Any]]) -> None:
    """Turn text into numbers where every node, or every edge, has a number under that name."""
    for name in {name for known in data for name in known}:
        values = [_spelled(known.get(name)) for known in data]
        if all(_is_number(value) for value in values):
            for known, value in zip(data, values, strict=True):
                known[name] = value


def _spelled(value: Any) -> Any:
    number = spelled_number(value) if isinstance(value, str) else None
    return value if number is None else number


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not np.isnan(float(value))


def _shared_numbers(data: Sequence[dict[Any, Any]], edges: Sequence[Any], where: str) -> dict[str, list[Any]]:
    """Attributes that are numbers on every edge; refuses those that are on some only, unless lists are among them."""
    shared = {}
    for name in {name: None for known in data for name in known if isinstance(name, str)}:
        values = [known.get(name) for known in data]
        numbers = [_is_number(value) for value in values]
        if all(numbers):
            shared[name] = values
        elif any(numbers) and not any(isinstance(value, Collection) and not isinstance(value, str) for value in values):
            k = numbers.index(False)
            rule = f"attribute {name!r} must be a number on every edge or on none"
            got = f"{values[k]!r} on edge {edges[k]!r}" if name in data[k] else f"none on edge {edges[k]!r}"
            remedy = "Give every edge a number, or remove the attribute from the graph"
            raise invalid("graph", where, rule, got, remedy=remedy)
    return shared


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
