"""Reading networks in the TNTP format: `<KEY> value` lines, a header after `~`, links that end in `;`."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from conformio.checks import FloatArray
from conformio.errors import InvalidInputError, invalid
from conformio.networks.network_parts import NODE_LIMIT

__all__ = ["read_tntp"]

_END = "<END OF METADATA>"


@dataclass(frozen=True)
class _Source:
    """One file and how to complain about it."""

    argument: str
    where: str
    path: Path
    lines: list[str]

    def error(self, number: int | None, rule: str, got: object, remedy: str = "") -> InvalidInputError:
        at_line = "" if number is None else f", line {number}"
        return invalid(self.argument, self.where, f"{self.path}{at_line}: {rule}", got, remedy=remedy)


def read_tntp(path: str | PathLike[str], nodes: str | PathLike[str] | None, where: str) -> dict[str, Any]:
    """The parts of a network from a ``_net.tntp`` file and, if named, a ``_node.tntp`` file."""
    source = _open(path, "path", where)
    metadata, body = _metadata(source)
    n_nodes = _declared(source, metadata, "NUMBER OF NODES", low=1, high=NODE_LIMIT)
    n_links = _declared(source, metadata, "NUMBER OF LINKS", low=1)
    first_through = _declared(source, metadata, "FIRST THRU NODE", low=1, high=n_nodes + 1)
    names, links = _links(source, body, n_nodes)
    if len(links) != n_links:
        number = metadata["NUMBER OF LINKS"][0]
        raise source.error(number, f"declares {n_links} links", f"{len(links)} links in the file")
    table = np.array(links)
    return {
        "tails": table[:, 0] - 1,
        "heads": table[:, 1] - 1,
        "n_nodes": n_nodes,
        "attributes": {name: table[:, 2 + k] for k, name in enumerate(names)},
        "zones": np.arange(1, n_nodes + 1) < first_through,
        "node_ids": np.arange(1, n_nodes + 1),
        "coordinates": None if nodes is None else _coordinates(_open(nodes, "nodes", where), n_nodes),
    }


def _open(path: str | PathLike[str], argument: str, where: str) -> _Source:
    try:
        name = Path(path)
    except TypeError as error:
        raise invalid(argument, where, "must be a path", type(path).__name__) from error
    try:
        text = name.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        remedy = "Check the name; a relative one starts at the working directory" if not name.exists() else ""
        raise invalid(argument, where, f"{name}: must be a readable text file", error, remedy=remedy) from error
    return _Source(argument, where, name, text.splitlines())


def _metadata(source: _Source) -> tuple[dict[str, tuple[int, str]], int]:
    """Keys with their line and value, and the index of the first line after them."""
    found: dict[str, tuple[int, str]] = {}
    for k, line in enumerate(source.lines):
        text = line.strip()
        if text.upper().startswith(_END):
            return found, k + 1
        if text.startswith("<") and ">" in text:
            key, value = text[1:].split(">", 1)
            found[key.strip().upper()] = (k + 1, value.strip())
    raise source.error(None, f"must have a line {_END}", "none")


def _declared(
    source: _Source, metadata: dict[str, tuple[int, str]], key: str, low: int, high: int | None = None
) -> int:
    if key not in metadata:
        raise source.error(None, f"must have a line <{key}>", "none")
    number, value = metadata[key]
    if not value.isdecimal() or int(value) < low or (high is not None and int(value) > high):
        most = "" if high is None else f" and <= {high}"
        raise source.error(number, f"<{key}> must be a whole number >= {low}{most}", repr(value))
    return int(value)


def _links(source: _Source, body: int, n_nodes: int) -> tuple[list[str], list[list[float]]]:
    """Names of the attribute columns, and one row of numbers per link."""
    header: list[str] | None = None
    links: list[list[float]] = []
    for number, line in enumerate(source.lines[body:], start=body + 1):
        text = line.strip()
        if not text:
            continue
        if text.startswith("~"):
            if not links:
                header = _header(source, number, text)
            continue
        if header is None:
            raise source.error(number, "the links must follow a header line that begins with ~", repr(text))
        links.append(_link(source, number, text, header, n_nodes))
    if header is None:
        raise source.error(None, "must have a header line that begins with ~", "none")
    return header[2:], links


def _header(source: _Source, number: int, text: str) -> list[str]:
    names = text[1:].replace(";", " ").split()
    if len(names) < 2:
        raise source.error(number, "the header must name the two nodes of a link", repr(text))
    if len(set(names)) < len(names):
        raise source.error(number, "the header must not repeat a column", repr(text))
    return names


def _link(source: _Source, number: int, text: str, header: list[str], n_nodes: int) -> list[float]:
    if not text.endswith(";"):
        raise source.error(number, "a link must end in ';'", repr(text))
    fields = text[:-1].split()
    if len(fields) != len(header):
        raise source.error(number, f"a link must have {len(header)} numbers, as the header", f"{len(fields)}")
    values = [_number(source, number, name, field) for name, field in zip(header, fields, strict=True)]
    for name, value in zip(header[:2], values[:2], strict=True):
        if value != int(value) or not 1 <= value <= n_nodes:
            raise source.error(number, f"{name} must be a node in 1..{n_nodes}", f"{value:g}")
    if values[0] == values[1]:
        raise source.error(number, "a link must join two nodes", f"node {values[0]:g} twice", "Leave it out")
    return values


def _number(source: _Source, number: int, name: str, field: str) -> float:
    try:
        value = float(field)
    except ValueError as error:
        raise source.error(number, f"{name} must be a number", repr(field)) from error
    if not np.isfinite(value):
        raise source.error(number, f"{name} must be finite", repr(field))
    return value


def _coordinates(source: _Source, n_nodes: int) -> FloatArray:
    """(x, y) of every node; lines are `node x y`, with or without a closing `;`, after one header."""
    places = np.full((n_nodes, 2), np.nan)
    for number, line in enumerate(source.lines[1:], start=2):
        fields = line.replace(";", " ").split()
        if not fields:
            continue
        if len(fields) < 3:
            raise source.error(number, "must give a node, x and y", repr(line))
        node, x, y = (_number(source, number, *pair) for pair in zip(("node", "x", "y"), fields, strict=False))
        if node != int(node) or not 1 <= node <= n_nodes:
            raise source.error(number, f"node must be in 1..{n_nodes}", f"{node:g}")
        if not np.isnan(places[int(node) - 1, 0]):
            raise source.error(number, "must give each node once", f"node {node:g} again")
        places[int(node) - 1] = x, y
    missing = np.flatnonzero(np.isnan(places[:, 0]))
    if len(missing):
        raise source.error(None, "must give every node", f"none for node {missing[0] + 1}")
    return places
