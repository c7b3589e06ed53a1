"""Between paths, as people write them, and 0/1 decisions, one entry per edge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from conformio.checks import Decisions, FloatArray, IntArray, first_row
from conformio.errors import invalid

__all__ = ["edges_between", "flatten_paths", "flows_of", "joined_edges", "walks_of"]

_WHOLE = 1e-9


def flatten_paths(paths: Sequence[ArrayLike], n: int, kind: str, where: str) -> tuple[IntArray, IntArray]:
    """All paths in one array of nodes or edges, with the bounds of each: (indptr, values)."""
    try:
        rows = [np.asarray(path) for path in paths]
    except (TypeError, ValueError) as error:
        raise invalid("paths", where, f"must be a sequence of paths, each a sequence of {kind}", error) from error
    if not rows:
        raise invalid("paths", where, "must hold at least one path", "none")
    for row, path in enumerate(rows):
        if path.ndim != 1 or not len(path):
            got = "an empty path" if path.shape == (0,) else f"shape {path.shape}"
            raise invalid("paths", where, f"must be a sequence of {kind}, at least one", got, row=row)
        if path.dtype.kind in "OSU" and any(isinstance(step, (str, bytes)) for step in path.tolist()):
            rule, remedy = (
                f"must be numbers of {kind}, not names",
                "Network.node_index turns names of nodes into numbers",
            )
            raise invalid("paths", where, rule, path.tolist(), row=row, remedy=remedy)
        if path.dtype.kind not in "iuf" or not (np.isfinite(path) & (path == np.round(path))).all():
            raise invalid("paths", where, f"must be whole numbers, the {kind} passed", path.tolist(), row=row)
    indptr = np.cumsum([0, *(len(path) for path in rows)]).astype(np.int64)
    values = np.concatenate(rows)  # looked at before the cast, which wraps numbers beyond 64 bits round
    unknown = np.flatnonzero((values < 0) | (values >= n))
    if len(unknown):
        row, step = _place(indptr, unknown[0])
        got = f"{values[unknown[0]]:.15g} at step {step}"
        raise invalid("paths", where, f"{kind} must be in 0..{n - 1}", got, row=row, remedy=_HINT[kind])
    return indptr, values.astype(np.int64)


_HINT = {"edges": 'Paths of node numbers need kind="nodes"', "nodes": ""}


def joined_edges(tails: IntArray, heads: IntArray, indptr: IntArray, edges: IntArray, where: str) -> None:
    """Refuse paths with an edge that does not begin where the one before it ends."""
    apart = heads[edges[:-1]] != tails[edges[1:]]
    apart[indptr[1:-1] - 1] = False
    broken = np.flatnonzero(apart)
    if len(broken):
        k = broken[0]
        row, step = _place(indptr, k)
        e, f = edges[k], edges[k + 1]
        got = f"edge {e} at step {step} ends at node {heads[e]}, edge {f} begins at node {tails[f]}"
        raise invalid(
            "paths", where, "each edge must begin where the one before it ends", got, row=row, remedy=_HINT["edges"]
        )


def edges_between(
    tails: IntArray, heads: IntArray, costs: FloatArray | None, indptr: IntArray, nodes: IntArray, where: str
) -> tuple[IntArray, IntArray]:
    """The edges that join consecutive nodes; of parallel ones the cheapest, then the first."""
    n = int(max(tails.max(), heads.max(), nodes.max())) + 1
    keys = tails * n + heads
    order = np.lexsort((np.arange(len(keys)), np.zeros(len(keys)) if costs is None else costs, keys))
    ranked = keys[order]
    step = np.ones(max(len(nodes) - 1, 0), dtype=np.bool_)
    step[indptr[1:-1] - 1] = False
    places = np.flatnonzero(step)
    wanted = nodes[places] * n + nodes[places + 1]
    first, after = np.searchsorted(ranked, wanted, "left"), np.searchsorted(ranked, wanted, "right")
    for wrong, rule, remedy in (
        (first == after, "consecutive nodes must be joined by an edge", ""),
        (
            (after - first > 1) & (costs is None),
            "must be unambiguous: parallel edges join these nodes",
            _CHOOSE,
        ),
    ):
        if wrong.any():
            k = places[first_row(wrong)]
            row, at = _place(indptr, k)
            got = f"nodes {nodes[k]} and {nodes[k + 1]} at step {at}"
            raise invalid("paths", where, rule, got, row=row, remedy=remedy)
    return indptr - np.arange(len(indptr)), order[first]


_CHOOSE = 'Write paths with kind="edges", or pass costs to take the cheapest'


def flows_of(indptr: IntArray, edges: IntArray, n_edges: int, where: str) -> Decisions:
    """0/1 rows of edges as CSR; an edge used twice is an error."""
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    order = np.lexsort((edges, rows))
    ranked = edges[order]
    twice = np.flatnonzero((ranked[1:] == ranked[:-1]) & (rows[1:] == rows[:-1]))
    if len(twice):
        k = twice[0]
        rule = "must not use an edge twice, which no 0/1 decision can say"
        raise invalid("paths", where, rule, f"edge {ranked[k]} again", row=int(rows[k]))
    return sparse.csr_array((np.ones(len(edges)), ranked, indptr), shape=(len(indptr) - 1, n_edges))


def walks_of(tails: IntArray, heads: IntArray, decisions: Decisions, where: str) -> list[IntArray]:
    """Each row's edges in walking order."""
    rows = sparse.csr_array(decisions)
    walks = []
    for row in range(rows.shape[0]):
        part = slice(rows.indptr[row], rows.indptr[row + 1])
        used = rows.data[part]
        if not ((np.abs(used) <= _WHOLE) | (np.abs(used - 1.0) <= _WHOLE)).all():
            raise invalid("decisions", where, "must be 0 or 1 on every edge", used, row=row)
        edges = np.sort(rows.indices[part][used > 0.5]).tolist()
        walk = _walk(edges, tails, heads)
        if walk is None:
            rule = "must be one walk: all its edges, each once, one after the other"
            remedy = "A flow of several paths or with cycles apart has no such order"
            raise invalid("decisions", where, rule, f"edges {_short(edges)}", row=row, remedy=remedy)
        walks.append(np.array(walk, dtype=np.int64))
    return walks


def _walk(edges: list[int], tails: IntArray, heads: IntArray) -> list[int] | None:
    """Hierholzer's walk through all edges, smallest edge first at every node; None when there is none."""
    leaving: dict[int, list[int]] = defaultdict(list)
    surplus: dict[int, int] = defaultdict(int)
    for e in reversed(edges):
        leaving[int(tails[e])].append(e)
        surplus[int(tails[e])] += 1
        surplus[int(heads[e])] -= 1
    uneven = sorted(value for value in surplus.values() if value)
    if uneven not in ([], [-1, 1]):
        return None
    sources = [node for node, value in surplus.items() if value == 1]
    stack: list[tuple[int, int]] = [(sources[0] if sources else int(tails[edges[0]]), -1)] if edges else []
    backwards = []
    while stack:
        node, edge = stack[-1]
        if leaving[node]:
            e = leaving[node].pop()
            stack.append((int(heads[e]), e))
        else:
            stack.pop()
            backwards.append(edge)
    walk = backwards[-2::-1]
    return walk if len(walk) == len(edges) else None


def _short(values: list[Any]) -> str:
    return ", ".join(map(str, values[:12])) + (", ..." if len(values) > 12 else "")


def _place(indptr: IntArray, k: int) -> tuple[int, int]:
    """Path and step of position `k` in the flat array."""
    row = int(np.searchsorted(indptr, k, side="right")) - 1
    return row, int(k - indptr[row])
