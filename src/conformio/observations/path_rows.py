"""Lists of nodes or edges as rows of edges: everything that can be wrong with a path, for a batch at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from conformio.checks import BoolArray, FloatArray, IntArray
from conformio.networks import Network
from conformio.observations._arrow import arrow
from conformio.observations.faults import BatchFaults, Kinds
from conformio.observations.names import MISSING, UNKNOWN, Names
from conformio.observations.steps import Lists

__all__ = ["PATH_KINDS", "EdgeFinder", "PathChecker", "PathRows"]

PATH_KINDS: Kinds = {
    "missing path": ("every trip must have a path", "Fill it in"),
    "empty path": ("a path must have at least one step", "Fill it in"),
    "missing step": ("a path must have no gaps", "Fill in the step"),
    "unknown name": ("every step must be named in the network", ""),
    "broken path": ("each step must lead on from the one before it", "Fill in what was passed between them"),
    "against one way": (
        "an edge of the network must lead that way, and there is one the other way only",
        "Give streets that are open both ways a row for each direction",
    ),
    "ambiguous step": (
        "nodes joined by parallel edges do not say which one was taken",
        "Name the attribute whose smallest value decides (parallel=, --parallel), or give paths of edges",
    ),
    "standing still": ("a node must not follow itself", "Name it once"),
    "closed trip": ("origin and destination must differ", "Split the trip, or leave it out"),
    "loop": (
        "a path must not pass a node twice",
        "Cut the detour out, or keep such trips with allow_loops (--allow-loops): they are no simple paths",
    ),
    "repeated edge": ("a path must not use an edge twice, which no 0/1 decision can say", "Split the trip"),
    "crossed zone": ("zones may begin or end a trip but not be crossed", "Split the trip there"),
}


@dataclass(frozen=True, eq=False)
class PathRows:
    """Paths of a batch: for each row its edges in rising order, its origin and its destination."""

    lengths: IntArray
    edges: IntArray
    origins: IntArray
    destinations: IntArray

    def only(self, good: BoolArray) -> PathRows:
        """The good rows."""
        if good.all():
            return self
        edges = self.edges[np.repeat(good, self.lengths)]
        return PathRows(self.lengths[good], edges, self.origins[good], self.destinations[good])


class EdgeFinder:
    """Edges between pairs of nodes; of parallel ones the one with the smallest cost, then the first."""

    def __init__(self, network: Network, costs: FloatArray | None, where: str):
        self._pa = arrow(where)
        self._n = network.n_nodes
        keys = network.tails * self._n + network.heads
        order = np.lexsort((np.zeros(len(keys)) if costs is None else costs, keys))
        distinct, first, counts = np.unique(keys[order], return_index=True, return_counts=True)
        self._keys = self._pa.array(distinct)
        self._edges = order[first]
        self._several = (counts > 1) & (costs is None)

    def find(self, tails: IntArray, heads: IntArray) -> tuple[IntArray, BoolArray]:
        """The edge of each pair, -1 where there is none, and where the choice was arbitrary."""
        wanted = self._pa.array(tails * self._n + heads)
        place = self._pa.compute.index_in(wanted, value_set=self._keys)
        at = np.asarray(self._pa.compute.fill_null(place, -1), dtype=np.int64)
        return np.where(at >= 0, self._edges[at], -1), (at >= 0) & self._several[at]


@dataclass(frozen=True, eq=False)
class _Walks:
    """Nodes and edges of all paths in walking order, each with its row."""

    nodes: IntArray
    node_rows: IntArray
    edges: IntArray
    edge_rows: IntArray

    def only(self, rows: BoolArray) -> _Walks:
        if rows.all():
            return self
        nodes, edges = rows[self.node_rows], rows[self.edge_rows]
        return _Walks(self.nodes[nodes], self.node_rows[nodes], self.edges[edges], self.edge_rows[edges])


class PathChecker:
    """Turns lists of names into paths, and notes what is wrong with them.

    Parameters
    ----------
    network : Network
    nodes, edges : Names
    finder : EdgeFinder, optional
        Given when lists hold nodes, not edges.
    kept : frozenset of str
        Kinds of faults that are none here, of "loop" and "crossed zone".
    """

    def __init__(self, network: Network, nodes: Names, edges: Names, finder: EdgeFinder | None, kept: frozenset[str]):
        self._network, self._nodes, self._edges, self._finder, self._kept = network, nodes, edges, finder, kept

    def rows(self, lists: Lists, faults: BatchFaults) -> PathRows:
        """The paths of a batch; meaningless in rows with faults."""
        lists = lists.only(self._readable(lists, faults))
        walks = self._of_edges(lists, faults) if self._finder is None else self._of_nodes(lists, self._finder, faults)
        origins, destinations = _ends(walks, len(lists.lengths))
        walks = walks.only(faults.good())
        self._check_course(walks, origins, destinations, faults)
        m, n = self._network.n_edges, len(lists.lengths)
        ranked = np.sort(walks.edge_rows * m + walks.edges)
        counts = np.bincount(walks.edge_rows, minlength=n)
        edges = ranked - np.repeat(np.arange(n) * m, counts)
        self._note_pairs("repeated edge", ranked, m, self._edge, faults)
        return PathRows(counts, edges, origins, destinations)

    def _readable(self, lists: Lists, faults: BatchFaults) -> BoolArray:
        faults.note("missing path", np.flatnonzero(lists.absent), lambda k: "an empty cell")
        empty = np.flatnonzero(~lists.absent & (lists.lengths == 0))
        faults.note("empty path", empty, lambda k: "no step")
        for kind, code in (("missing step", MISSING), ("unknown name", UNKNOWN)):
            rows, places = lists.first(lists.numbers == code)
            faults.note(kind, rows, lambda k, places=places: lists.at(places[k]))  # type: ignore[misc]
        return faults.good()

    def _of_nodes(self, lists: Lists, finder: EdgeFinder, faults: BatchFaults) -> _Walks:
        nodes, rows = lists.numbers, lists.rows
        steps = np.flatnonzero(rows[:-1] == rows[1:])
        tails, heads = nodes[steps], nodes[steps + 1]
        edges, arbitrary = finder.find(tails, heads)
        still = tails == heads
        gap = (edges < 0) & ~still
        against = gap.copy()
        against[gap] = finder.find(heads[gap], tails[gap])[0] >= 0
        for kind, wrong in (
            ("standing still", still),
            ("broken path", gap & ~against),
            ("against one way", against),
            ("ambiguous step", arbitrary),
        ):
            bad, first = np.unique(rows[steps[wrong]], return_index=True)
            places = steps[wrong][first]
            faults.note(kind, bad, lambda k, places=places: self._step(lists, places[k]))  # type: ignore[misc]
        return _Walks(nodes, rows, edges, rows[steps])

    def _of_edges(self, lists: Lists, faults: BatchFaults) -> _Walks:
        network, edges, rows = self._network, lists.numbers, lists.rows
        apart = np.flatnonzero((network.heads[edges[:-1]] != network.tails[edges[1:]]) & (rows[:-1] == rows[1:]))
        bad, first = np.unique(rows[apart], return_index=True)
        faults.note("broken path", bad, lambda k: self._step(lists, apart[first[k]]))
        used = lists.lengths > 0
        node_rows = np.repeat(np.arange(len(used)), lists.lengths + used)
        begins = (lists.starts[:-1] + np.cumsum(used) - used)[used]
        nodes = np.empty(len(node_rows), dtype=np.int64)
        inner = np.ones(len(nodes), dtype=np.bool_)
        inner[begins] = False
        nodes[inner] = network.heads[edges]
        nodes[begins] = network.tails[edges[lists.starts[:-1][used]]]
        return _Walks(nodes, node_rows, edges, rows)

    def _check_course(self, walks: _Walks, origins: IntArray, destinations: IntArray, faults: BatchFaults) -> None:
        """Closed trips, loops and crossed zones among the rows without other faults."""
        nodes, rows, n = walks.nodes, walks.node_rows, self._network.n_nodes
        present = rows[np.diff(rows, prepend=-1) > 0]
        closed = present[origins[present] == destinations[present]]
        faults.note("closed trip", closed, lambda k: f"begins and ends at {self._node(origins[closed[k]])}")
        if "loop" not in self._kept:
            visits = np.sort(rows * n + nodes)
            visits = visits[~np.isin(visits // n, closed)] if len(closed) else visits
            self._note_pairs("loop", visits, n, self._node, faults)
        if "crossed zone" not in self._kept and self._network.zones.any():
            inner = (rows[1:-1] == rows[:-2]) & (rows[1:-1] == rows[2:]) if len(rows) > 2 else np.zeros(0, np.bool_)
            crossed = 1 + np.flatnonzero(inner & self._network.zones[nodes[1:-1]])
            bad, first = np.unique(rows[crossed], return_index=True)
            faults.note("crossed zone", bad, lambda k: f"zone {self._node(nodes[crossed[first[k]]])}")

    def _note_pairs(self, kind: str, ranked: IntArray, size: int, name: Any, faults: BatchFaults) -> None:
        """Note rows in which a sorted code `row * size + number` occurs twice."""
        twice = ranked[1:][ranked[1:] == ranked[:-1]]
        rows, first = np.unique(twice // size, return_index=True)
        faults.note(kind, rows, lambda k: f"{name(int(twice[first[k]] % size))} again")

    def _step(self, lists: Lists, k: int) -> str:
        return f"{lists.at(k)} is followed by {lists.pieces[int(k) + 1].as_py()!r}"

    def _node(self, number: int) -> str:
        return f"node {self._nodes.label(int(number))!r}"

    def _edge(self, number: int) -> str:
        return f"edge {self._edges.label(int(number))!r}"


def _ends(walks: _Walks, n: int) -> tuple[IntArray, IntArray]:
    """First and last node of each row; -1 for rows without nodes."""
    origins, destinations = np.full(n, -1), np.full(n, -1)
    rows = walks.node_rows
    first, last = np.diff(rows, prepend=-1) > 0, np.diff(rows, append=n) > 0
    origins[rows[first]], destinations[rows[last]] = walks.nodes[first], walks.nodes[last]
    return origins, destinations
