"""Trips on a network: one row per trip, its path as a list of nodes or of edges, or only its two ends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from conformio.checks import BoolArray, Decisions, FloatArray, IntArray, check_choice
from conformio.errors import invalid
from conformio.networks import Network
from conformio.observations._arrow import arrow
from conformio.observations.faults import BatchFaults, Kinds
from conformio.observations.growing import GrowingArray, RowsOfOnes
from conformio.observations.identities import column_of
from conformio.observations.names import MISSING, UNKNOWN, Names
from conformio.observations.observed import Observations, read_rows
from conformio.observations.path_rows import PATH_KINDS, EdgeFinder, PathChecker, PathRows
from conformio.observations.reachable import Reach
from conformio.observations.sources import column_names
from conformio.observations.steps import ListColumn, free_separator
from conformio.observations.table import ObservationTable
from conformio.observations.walk_order import ordered_edges
from conformio.problems import Problem, ShortestPath

__all__ = ["TripTable"]


@dataclass(frozen=True)
class TripTable(ObservationTable):
    """How a table of trips is read.

    Parameters
    ----------
    network : Network
    path : str
        The column of paths: lists, or text in which one separator parts the names.
    steps : {"nodes", "edges"}
        What a path lists. Nodes and edges are called by `node_ids` and `edge_ids`, without these by number.
    separator : str, optional
        None: found out from the first rows.
    row_id : str, optional
        The column that names the trips; None: they are called by row number.
    origin, destination : str, optional
        Columns with the ends of a trip; without them paths tell. Where there are both, they must agree.
    parallel : str, optional
        The edge attribute whose smallest value chooses among parallel edges when paths list nodes.
    allow_loops : bool
        Whether a path may pass a node twice.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from conformio.networks import Network
    >>> from conformio.observations import TripTable
    >>> roads = Network([0, 0, 1], [1, 2, 2], node_ids=["A", "B", "C"])
    >>> trips = TripTable(roads, path="stops").read(pa.table({"stops": ["A;B;C", "A;C"]}))
    >>> trips.contexts
    array([[0., 2.],
           [0., 2.]])
    >>> trips.decisions.toarray()
    array([[1, 0, 1],
           [0, 1, 0]], dtype=int8)
    """

    network: Network
    path: str = "path"
    steps: str = "nodes"
    separator: str | None = None
    row_id: str | None = None
    origin: str | None = None
    destination: str | None = None
    parallel: str | None = None
    allow_loops: bool = False

    kind = "trips"
    _columns = ("path", "steps", "separator", "origin", "destination", "parallel", "allow_loops")

    def __post_init__(self) -> None:
        where = "TripTable"
        if not isinstance(self.network, Network):
            raise invalid("network", where, "must be a Network", type(self.network).__name__)
        check_choice(self.steps, ("nodes", "edges"), "steps", where)
        if (self.origin is None) != (self.destination is None):
            got = f"origin={self.origin!r}, destination={self.destination!r}"
            raise invalid("origin", where, "must be given together with destination, or neither", got)
        if self.parallel is not None and self.parallel not in self.network.attributes:
            rule = f"must be one of the network's attributes {list(self.network.attributes)}"
            raise invalid("parallel", where, rule, repr(self.parallel))

    @classmethod
    def of_problem(cls, problem: Problem, state: dict[str, Any]) -> Self:
        """The table of a shortest-path problem's trips."""
        assert isinstance(problem, ShortestPath)
        return cls(problem.network, **state)

    def read(
        self, source: Any, *, on_bad: str = "stop", skipped: str | Path | None = None, keep_infeasible: bool = False
    ) -> Observations:
        """Trips as (origin, destination) and 0/1 rows of edges; see `ObservationTable.read`.

        Infeasible are trips that cross a zone.
        """
        where = "TripTable.read"
        reader = _TripReader(self, self._kept(keep_infeasible), where)
        return read_rows(source, reader, self.row_id, on_bad, skipped, where)

    def read_contexts(self, source: Any, *, on_bad: str = "stop", skipped: str | Path | None = None) -> Observations:
        """Origins and destinations, from their columns or else from the ends of paths."""
        where = "TripTable.read_contexts"
        ends = (self.origin or "origin", self.destination or "destination")
        names = column_names(source, where)
        if self.origin is None and self.path in names and not set(ends) <= set(names):
            whole = _TripReader(self, self._kept(True), where, ends_only=True)
            return read_rows(source, whole, self.row_id, on_bad, skipped, where)
        reader = _EndsReader(self, ends, where)
        return read_rows(source, reader, self.row_id, on_bad, skipped, where)

    def context_columns(self, contexts: FloatArray) -> dict[str, Any]:
        """Origins and destinations by name."""
        ends = contexts.astype(np.int64)
        return {
            self.origin or "origin": self.node_names.column.take(ends[:, 0]),
            self.destination or "destination": self.node_names.column.take(ends[:, 1]),
        }

    def decision_columns(self, decisions: Decisions, prefix: str = "") -> dict[str, Any]:
        """Paths as lists of nodes and of edges by name, in walking order."""
        flat, lengths = ordered_edges(self.network, decisions)
        node_lengths = lengths + (lengths > 0)
        nodes = np.empty(int(node_lengths.sum()), dtype=np.int64)
        first = (np.cumsum(node_lengths) - node_lengths)[lengths > 0]
        inner = np.ones(len(nodes), dtype=np.bool_)
        inner[first] = False
        nodes[inner] = self.network.heads[flat]
        nodes[first] = self.network.tails[flat[(np.cumsum(lengths) - lengths)[lengths > 0]]]
        return {
            f"{prefix}nodes": _lists(self.node_names, nodes, node_lengths),
            f"{prefix}edges": _lists(self.edge_names, flat, lengths),
        }

    def list_separator(self) -> str:
        """What can part names of nodes and of edges in text."""
        return free_separator(self.node_names, self.edge_names)

    @cached_property
    def node_names(self) -> Names:
        """Names of the network's nodes."""
        return Names(self.network.node_ids, self.network.n_nodes, "nodes", "TripTable")

    @cached_property
    def edge_names(self) -> Names:
        """Names of the network's edges."""
        return Names(self.network.edge_ids, self.network.n_edges, "edges", "TripTable")

    def _problem(self) -> Problem:
        return ShortestPath(self.network)

    def _kept(self, infeasible: bool) -> frozenset[str]:
        return frozenset({"loop"} if self.allow_loops else ()) | frozenset({"crossed zone"} if infeasible else ())


def _lists(names: Names, numbers: IntArray, lengths: IntArray) -> Any:
    pa = arrow("TripTable")
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return pa.LargeListArray.from_arrays(pa.array(offsets), names.column.take(pa.array(numbers)))


class _TripReader:
    """Paths, batch by batch, into one CSR of small numbers."""

    def __init__(self, table: TripTable, kept: frozenset[str], where: str, ends_only: bool = False):
        names = table.node_names if table.steps == "nodes" else table.edge_names
        costs = None if table.parallel is None else table.network.attributes[table.parallel].astype(np.float64)
        finder = EdgeFinder(table.network, costs, where) if table.steps == "nodes" else None
        self.kinds: Kinds = {
            **PATH_KINDS,
            "unknown name": (PATH_KINDS["unknown name"][0], f"Names of {table.steps} are like {names.example()}"),
            **_END_KINDS,
        }
        self._table, self._where, self._ends_only = table, where, ends_only
        self._lists = ListColumn(names, table.separator, where)
        self._paths = PathChecker(table.network, table.node_names, table.edge_names, finder, kept)
        self._contexts, self._flows = GrowingArray("int32"), RowsOfOnes()
        self._last: PathRows | None = None

    def look(self, faults: BatchFaults) -> None:
        table = self._table
        lists = self._lists.read(column_of(faults.batch.columns, table.path, self._where, "path"))
        self._last = self._paths.rows(lists, faults)
        if table.origin is not None and table.destination is not None:
            self._compare(faults, "origin", table.origin, self._last.origins)
            self._compare(faults, "destination", table.destination, self._last.destinations)

    def keep(self, good: BoolArray) -> None:
        assert self._last is not None
        paths = self._last.only(good)
        self._contexts.extend(np.column_stack([paths.origins, paths.destinations]).ravel())
        if not self._ends_only:
            self._flows.extend(paths.lengths, paths.edges)

    def result(self) -> tuple[FloatArray, Decisions | None]:
        contexts = self._contexts.finish().reshape(-1, 2).astype(np.float64)
        return contexts, None if self._ends_only else self._flows.finish(self._table.network.n_edges)

    def _compare(self, faults: BatchFaults, argument: str, column: str, ends: IntArray) -> None:
        cells = column_of(faults.batch.columns, column, self._where, argument)
        stated = self._table.node_names.numbers(cells)
        rows = np.flatnonzero((stated != ends) & faults.good())
        names = self._table.node_names

        def detail(k: int) -> str:
            return f"{column} {cells[int(rows[k])].as_py()!r}, path {names.label(int(ends[rows[k]]))!r}"

        faults.note("ends disagree", rows, detail)


_END_KINDS: Kinds = {
    "ends disagree": ("a path must begin at its origin and end at its destination", "Correct either"),
}


class _EndsReader:
    """Origins and destinations without paths."""

    def __init__(self, table: TripTable, columns: tuple[str, str], where: str):
        remedy = f"Names of nodes are like {table.node_names.example()}"
        self.kinds: Kinds = {
            "missing end": ("every trip must have an origin and a destination", "Fill it in"),
            "unknown node": ("both ends must be nodes of the network", remedy),
            "closed trip": PATH_KINDS["closed trip"],
            "no way": ("there must be a way from origin to destination", "Take the trip out or join the nodes"),
        }
        self._names, self._columns, self._where = table.node_names, columns, where
        self._reach = Reach(table.network)
        self._contexts = GrowingArray("int32")
        self._last: IntArray = np.zeros((0, 2), dtype=np.int64)

    def look(self, faults: BatchFaults) -> None:
        cells = [
            column_of(faults.batch.columns, column, self._where, end)
            for end, column in zip(("origin", "destination"), self._columns, strict=True)
        ]
        ends = np.column_stack([self._names.numbers(column) for column in cells])
        for kind, code in (("missing end", MISSING), ("unknown node", UNKNOWN)):
            wrong = ends == code
            rows = np.flatnonzero(wrong.any(axis=1))
            column = wrong[rows].argmax(axis=1)
            faults.note(kind, rows, lambda k, rows=rows, column=column: self._cell(cells, rows[k], column[k]))  # type: ignore[misc]
        closed = np.flatnonzero((ends[:, 0] == ends[:, 1]) & faults.good())
        faults.note("closed trip", closed, lambda k: self._cell(cells, closed[k], 0))
        good = np.flatnonzero(faults.good())
        apart = good[~self._reach.joined(ends[good])]
        faults.note("no way", apart, lambda k: " and ".join(self._cell(cells, apart[k], c) for c in (0, 1)))
        self._last = ends

    def keep(self, good: BoolArray) -> None:
        self._contexts.extend(self._last[good].ravel())

    def result(self) -> tuple[FloatArray, Decisions | None]:
        return self._contexts.finish().reshape(-1, 2).astype(np.float64), None

    def _cell(self, cells: list[Any], row: int, column: int) -> str:
        return f"{self._columns[column]} {cells[column][int(row)].as_py()!r}"
