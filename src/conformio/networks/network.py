"""Directed networks: who is joined to whom, and what is known of every edge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from os import PathLike
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from conformio.checks import (
    BoolArray,
    Decisions,
    FloatArray,
    IntArray,
    as_decisions,
    as_index,
    as_vector,
    check_choice,
)
from conformio.errors import invalid
from conformio.networks.graphs import read_graph, read_graphml
from conformio.networks.network_card import network_card
from conformio.networks.network_parts import (
    as_attributes,
    as_coordinates,
    as_labels,
    as_nodes,
    as_zones,
    check_grid,
    count_nodes,
    frozen,
    numbers_of,
    plain_labels,
)
from conformio.networks.path_codec import edges_between, flatten_paths, flows_of, joined_edges, walks_of
from conformio.networks.tables import read_table
from conformio.networks.tntp import read_tntp

__all__ = ["Network"]

_WHERE = "Network"


class Network:
    """A directed graph with nodes `0..n_nodes-1` and edges `0..n_edges-1`; it never changes.

    Parallel edges are different edges. A self-loop is refused: it cancels out of every flow balance, so no
    decision could ever tell whether it is used.

    Parameters
    ----------
    tails, heads : array-like of whole numbers, shape (n_edges,)
        Edge `e` leads from node `tails[e]` to node `heads[e]`; numbers are below 2**31. Nodes count from 0:
        with numbers from 1 on, node 0 is a node without edges. `from_table` numbers nodes by itself.
    n_nodes : int, optional
        Default: one more than the largest node named.
    attributes : mapping of str to array-like of finite numbers, shape (n_edges,), optional
        What is known of the edges, e.g. travel times.
    zones : array-like of bool, shape (n_nodes,), optional
        Nodes where a trip may begin or end but which it never crosses. Default: none.
    node_ids : sequence, length n_nodes, optional
        The nodes' names in the source of the data; unique.
    coordinates : array-like, shape (n_nodes, 2), optional
    edge_ids : sequence, length n_edges, optional
        The edges' names in the source of the data; unique.

    Attributes
    ----------
    tails, heads : int64 arrays, shape (n_edges,)
    n_nodes, n_edges : int
    attributes : read-only mapping of str to array, shape (n_edges,)
    zones : bool array, shape (n_nodes,)
    node_ids : array, shape (n_nodes,), or None
    coordinates : float array, shape (n_nodes, 2), or None
    edge_ids : array, shape (n_edges,), or None

    Raises
    ------
    InvalidInputError
        For anything that is not such a network, with the first offending edge.

    Examples
    --------
    >>> from conformio.networks import Network
    >>> roads = Network([0, 0, 1], [1, 2, 2], attributes={"minutes": [3.0, 5.0, 1.0]})
    >>> roads
    Network(n_nodes=3, n_edges=3)
    >>> roads.attributes["minutes"]
    array([3., 5., 1.])
    >>> decisions = roads.decisions_from_paths([[0, 1, 2], [0, 2]], kind="nodes")
    >>> decisions.toarray()
    array([[1., 0., 1.],
           [0., 1., 0.]])
    >>> roads.paths_from_decisions(decisions)
    [array([0, 2]), array([1])]
    """

    tails: IntArray
    heads: IntArray
    n_nodes: int
    n_edges: int
    attributes: Mapping[str, NDArray[Any]]
    zones: BoolArray
    node_ids: NDArray[Any] | None
    coordinates: FloatArray | None
    edge_ids: NDArray[Any] | None

    def __init__(
        self,
        tails: ArrayLike,
        heads: ArrayLike,
        n_nodes: int | None = None,
        attributes: Mapping[str, ArrayLike] | None = None,
        *,
        zones: ArrayLike | None = None,
        node_ids: Sequence[Any] | NDArray[Any] | None = None,
        coordinates: ArrayLike | None = None,
        edge_ids: Sequence[Any] | NDArray[Any] | None = None,
    ):
        start = as_nodes(tails, "tails")
        end = as_nodes(heads, "heads", size=len(start))
        if not len(start):
            raise invalid("tails", _WHERE, "must name at least one edge", "no edges")
        n = count_nodes(n_nodes, start, end)
        # straight into the dictionary: attributes cannot be set
        self.__dict__.update(
            tails=frozen(start),
            heads=frozen(end),
            n_nodes=n,
            n_edges=len(start),
            attributes=MappingProxyType(as_attributes(attributes, len(start))),
            zones=frozen(as_zones(zones, n)),
            node_ids=as_labels(node_ids, n),
            coordinates=as_coordinates(coordinates, n),
            edge_ids=as_labels(edge_ids, len(start), "edge_ids", "edge"),
        )

    @classmethod
    def grid(cls, rows: int, cols: int) -> Self:
        """Streets between neighbours of a `rows x cols` lattice, one edge in either direction.

        Nodes are numbered row by row, edges sorted by tail, then head; coordinates are (column, row).

        Examples
        --------
        >>> from conformio.networks import Network
        >>> Network.grid(6, 6)
        Network(n_nodes=36, n_edges=120)
        """
        where = "Network.grid"
        rows, cols = as_index(rows, "rows", where, low=1), as_index(cols, "cols", where, low=1)
        check_grid(rows, cols, where)
        nodes = np.arange(rows * cols).reshape(rows, cols)
        one = np.concatenate([nodes[:, :-1].ravel(), nodes[:-1].ravel()])
        other = np.concatenate([nodes[:, 1:].ravel(), nodes[1:].ravel()])
        tails, heads = np.concatenate([one, other]), np.concatenate([other, one])
        order = np.lexsort((heads, tails))
        places = np.column_stack([nodes.ravel() % cols, nodes.ravel() // cols])
        return cls(tails[order], heads[order], rows * cols, coordinates=places)

    @classmethod
    def from_tntp(cls, path: str | PathLike[str], *, nodes: str | PathLike[str] | None = None) -> Self:
        """Read a network in the TNTP format of the transportation test problems.

        Parameters
        ----------
        path : path of a ``*_net.tntp`` file
            Its columns after the two nodes become attributes under their names there (``free_flow_time``,
            ...). Node `k` of the file becomes node `k - 1`; nodes below ``<FIRST THRU NODE>`` become zones.
        nodes : path of a ``*_node.tntp`` file, optional
            Where the coordinates are.

        Raises
        ------
        InvalidInputError
            For a file that is missing or malformed; names the file and the line.
        """
        return cls(**read_tntp(path, nodes, "Network.from_tntp"))

    @classmethod
    def from_networkx(cls, graph: Any, *, zones: Iterable[Any] = (), self_loops: str = "error") -> Self:
        """Take over a NetworkX graph, directed or not, with or without parallel edges.

        Parameters
        ----------
        graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
            Nodes and edges keep the graph's order and `node_ids` its labels. An undirected edge becomes two
            edges, one after the other. `edge_ids` are the tuples that name edges in the graph: (tail, head),
            with parallel edges (tail, head, key). Attributes that every edge has as a number are kept, and
            so are numeric node attributes ``x`` and ``y``, as coordinates. Attributes that no edge has as a number,
            or some edge as a list, are left out.
        zones : iterable of node labels, optional
            Nodes where a trip may begin or end but which it never crosses.
        self_loops : {"error", "drop"}
            Edges from a node to itself: refuse them, or leave them out.

        Raises
        ------
        InvalidInputError
            For an attribute that is a number on some edges and missing, NaN or text on others; names both.
        """
        where = "Network.from_networkx"
        check_choice(self_loops, ("error", "drop"), "self_loops", where)
        return cls(**read_graph(graph, zones, where, self_loops == "drop"))

    @classmethod
    def from_graphml(cls, path: str | PathLike[str], *, zones: Iterable[Any] = (), self_loops: str = "error") -> Self:
        """Read a GraphML file, e.g. a street network that OSMnx saved.

        Parameters
        ----------
        path : path of a ``.graphml`` file
        zones, self_loops
            As for `from_networkx`.

        Notes
        -----
        Names are text in such files. As in `from_table` they become whole numbers where all of them, of nodes
        or of keys, are written as such, and so do attributes that are numbers written as text on every edge.

        Raises
        ------
        InvalidInputError
            For a file that cannot be read as GraphML.
        """
        where = "Network.from_graphml"
        check_choice(self_loops, ("error", "drop"), "self_loops", where)
        return cls(**read_graphml(path, zones, where, self_loops == "drop"))

    @classmethod
    def from_table(
        cls,
        path_or_frame: Any,
        *,
        tail: str,
        head: str,
        edge_id: str | None = None,
        nodes: Any = None,
        self_loops: str = "error",
    ) -> Self:
        """Read a table with one row per edge.

        Parameters
        ----------
        path_or_frame : path of a ``.csv`` or ``.parquet`` file, or a pandas, polars or pyarrow table
        tail, head : str
            The columns that name the nodes. Names of any one kind are sorted and numbered `0..n_nodes-1`;
            `node_ids` keeps them. In a CSV file names are text, ``007`` and ``NA`` too; they are whole
            numbers only where all of them, in both columns, are written as such (``7``, ``-3``).
        edge_id : str, optional
            The column that names the edges; `edge_ids` keeps it.
        nodes : path or data frame, optional
            A second table, with the columns ``node``, ``x`` and ``y`` (the coordinates) and, if there are any,
            ``zone``: True or 1 where a trip may begin or end but which it never crosses.
        self_loops : {"error", "drop"}
            Edges from a node to itself: refuse them, or leave them out.

        Notes
        -----
        Every other column of numbers becomes an attribute, also when they are written as text. Columns
        without any number (street names, dates) are left out. Only empty cells count as missing, and only in
        columns without any number may they be. Names are taken as they are written: ``b`` and ``b`` with a space
        behind it are two nodes.

        Raises
        ------
        InvalidInputError
            For a file that cannot be read, missing columns or values, a row that repeats another one in all
            cells, decimal commas, and columns where some cells are numbers and others are not; names the
            column and the first such row.
        """
        where = "Network.from_table"
        check_choice(self_loops, ("error", "drop"), "self_loops", where)
        parts = read_table(path_or_frame, tail, head, where, edge_id=edge_id, nodes=nodes, self_loops=self_loops)
        return cls(**parts)

    def decisions_from_paths(
        self, paths: Sequence[ArrayLike], kind: str = "edges", *, costs: ArrayLike | None = None
    ) -> Decisions:
        """Turn paths into 0/1 decisions.

        Parameters
        ----------
        paths : sequence of N sequences
            Edges in walking order, or the nodes passed (one node alone is a trip that goes nowhere).
        kind : {"edges", "nodes"}
        costs : array-like, shape (n_edges,), optional
            With `kind="nodes"`, take the cheapest of parallel edges; without it parallel edges are
            ambiguous, an error.

        Returns
        -------
        decisions : CSR, shape (N, n_edges)

        Raises
        ------
        InvalidInputError
            For unknown nodes or edges, edges that do not join, an edge used twice or an empty path; names
            the path and the step.
        """
        where = "Network.decisions_from_paths"
        check_choice(kind, ("edges", "nodes"), "kind", where)
        indptr, values = flatten_paths(paths, self.n_edges if kind == "edges" else self.n_nodes, kind, where)
        if isinstance(costs, str):
            remedy = f"Write costs=network.attributes[{costs!r}]"
            raise invalid("costs", where, "must be one number per edge", repr(costs), remedy=remedy)
        if kind == "edges" and costs is not None:
            raise invalid("costs", where, 'goes with kind="nodes" only', "costs")
        if kind == "edges":
            joined_edges(self.tails, self.heads, indptr, values, where)
        else:
            weights = None if costs is None else as_vector(costs, "costs", where, self.n_edges)
            indptr, values = edges_between(self.tails, self.heads, weights, indptr, values, where)
        return flows_of(indptr, values, self.n_edges, where)

    def paths_from_decisions(self, decisions: Any) -> list[IntArray]:
        """Turn 0/1 decisions into paths: for each row its edges in walking order.

        Parameters
        ----------
        decisions : array-like or sparse, shape (N, n_edges)

        Returns
        -------
        paths : list of N int64 arrays
            Empty for a row without edges.

        Raises
        ------
        InvalidInputError
            For a row that is not 0/1 or not one walk, e.g. a path and a cycle apart from it; names the row.
        """
        where = "Network.paths_from_decisions"
        return walks_of(self.tails, self.heads, as_decisions(decisions, self.n_edges, where), where)

    def node_index(self, ids: Iterable[Any]) -> IntArray:
        """Numbers of the nodes with these names (`node_ids`), e.g. to write contexts."""
        where = "Network.node_index"
        if self.node_ids is None:
            raise invalid("ids", where, "needs a network with node_ids", "a network without")
        if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
            rule, remedy = "must be a sequence of names", f"For a single name write [{ids!r}]"
            raise invalid("ids", where, rule, repr(ids), remedy=remedy)
        return numbers_of(ids, self._number_of, "ids", where)

    @cached_property
    def out_start(self) -> IntArray:
        """Edges that leave node `i` are `out_edges[out_start[i]:out_start[i + 1]]`; shape (n_nodes + 1,)."""
        return _starts(self.tails, self.n_nodes)

    @cached_property
    def out_edges(self) -> IntArray:
        """Edges sorted by tail, then number; shape (n_edges,)."""
        return frozen(np.argsort(self.tails, kind="stable").astype(np.int64))

    @cached_property
    def in_start(self) -> IntArray:
        """Edges that enter node `i` are `in_edges[in_start[i]:in_start[i + 1]]`; shape (n_nodes + 1,)."""
        return _starts(self.heads, self.n_nodes)

    @cached_property
    def in_edges(self) -> IntArray:
        """Edges sorted by head, then number; shape (n_edges,)."""
        return frozen(np.argsort(self.heads, kind="stable").astype(np.int64))

    @cached_property
    def incidence(self) -> Any:
        """Nodes by edges, as CSR, with +1 where an edge enters a node and -1 where it leaves one."""
        edges = np.arange(self.n_edges)
        signs = np.repeat([1.0, -1.0], self.n_edges)
        place = (np.concatenate([self.heads, self.tails]), np.concatenate([edges, edges]))
        return sparse.csr_array((signs, place), shape=(self.n_nodes, self.n_edges))

    @cached_property
    def _number_of(self) -> dict[Any, int]:
        names = [] if self.node_ids is None else self.node_ids.tolist()
        return {name: number for number, name in enumerate(names)}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Network never changes; build a new one instead of setting {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Network never changes; build a new one instead of deleting {name!r}")

    def __repr__(self) -> str:
        zones = f", n_zones={int(self.zones.sum())}" if self.zones.any() else ""
        return f"Network(n_nodes={self.n_nodes}, n_edges={self.n_edges}{zones})"

    def _repr_html_(self) -> str:
        return network_card(self)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def to_state(self) -> dict[str, Any]:
        """Constructor arguments as arrays and plain values, e.g. for model files."""
        names = ("tails", "heads", "n_nodes", "zones", "coordinates")
        parts = {name: getattr(self, name) for name in names}
        labels = {name: plain_labels(getattr(self, name)) for name in ("node_ids", "edge_ids")}
        return {**parts, **labels, "attributes": dict(self.attributes)}

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.to_state())


def _rebuild(kind: type[Network], parts: dict[str, Any]) -> Network:
    return kind(**parts)


def _starts(nodes: IntArray, n_nodes: int) -> IntArray:
    counts = np.bincount(nodes, minlength=n_nodes)
    return frozen(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
