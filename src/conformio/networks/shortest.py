"""Shortest paths on a network for costs >= 0: the compiled search, spoken to in networks and contexts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from conformio._kernels.paths import path_batch, shortest_tree, sort_rows
from conformio.checks import BoolArray, Decisions, FloatArray, IntArray
from conformio.networks.network import Network

__all__ = ["PathBatch", "cost_tree", "sealed", "shortest_paths"]


@dataclass(frozen=True)
class PathBatch:
    """One path per row: `k` walks `edges[indptr[k]:indptr[k + 1]]`; there is none where not `found[k]`."""

    found: BoolArray
    indptr: IntArray
    edges: IntArray

    def decisions(self, n_edges: int) -> Decisions:
        """The paths as 0/1 rows, CSR (N, n_edges)."""
        entries = np.ones(len(self.edges))
        indices = sort_rows(self.indptr, self.edges)
        return sparse.csr_array((entries, indices, self.indptr), shape=(len(self.found), n_edges))


def shortest_paths(network: Network, costs: FloatArray, contexts: FloatArray) -> PathBatch:
    """A least-cost path per row; of equal costs the fewest edges, then the smallest edge numbers.

    Costs are equal within a relative 1e-13, so that the order of additions decides nothing.

    Parameters
    ----------
    network : Network
    costs : float array >= 0, shape (n_edges,) or (N, n_edges)
        With one vector for all, rows that share an origin share one tree.
    contexts : float array, shape (N, 2)
        (origin, destination) per row; a row with both the same has the empty path.

    Examples
    --------
    >>> import numpy as np
    >>> from conformio.networks import Network
    >>> from conformio.networks.shortest import shortest_paths
    >>> triangle = Network([0, 1, 0], [1, 2, 2])
    >>> batch = shortest_paths(triangle, np.array([1.0, 1.0, 3.0]), np.array([[0.0, 2.0]]))
    >>> batch.edges
    array([0, 1])
    """
    origins = np.ascontiguousarray(contexts[:, 0], dtype=np.int64)
    destinations = np.ascontiguousarray(contexts[:, 1], dtype=np.int64)
    order = np.argsort(origins, kind="stable").astype(np.int64)
    found, indptr, edges = path_batch(
        network.out_start, network.out_edges, network.tails, network.heads,
        sealed(np.atleast_2d(costs)), network.zones,
        origins, destinations, order,
    )  # fmt: skip
    return PathBatch(found, indptr, edges)


def cost_tree(network: Network, costs: FloatArray, root: int, backwards: bool = False) -> tuple[FloatArray, IntArray]:
    """Least costs >= 0 from `root` to every node, or from every node to it, and the tree's edge at each node.

    Returns
    -------
    cost : float array, shape (n_nodes,)
        inf where there is no path.
    edge : int64 array, shape (n_nodes,)
        The last (backwards: first) edge of each path; -1 at the root and where there is none.
    """
    if backwards:
        start, edges, ends = network.in_start, network.in_edges, network.tails
    else:
        start, edges, ends = network.out_start, network.out_edges, network.heads
    cost, _, edge = shortest_tree(start, edges, ends, sealed(costs), network.zones, root)
    return cost, edge


def sealed(values: NDArray[Any], kind: Any = np.float64) -> NDArray[Any]:
    """A contiguous read-only view, of type `kind` (None: its own).

    Kernels are compiled again for every kind of array they meet, so all arrays come as this one kind.
    """
    view = np.ascontiguousarray(values, dtype=kind).view()
    view.setflags(write=False)
    return view
