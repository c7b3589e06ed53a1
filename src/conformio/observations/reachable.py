"""Whether a trip between two nodes exists at all, before a solver is asked."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from conformio.checks import BoolArray, IntArray
from conformio.networks import Network

__all__ = ["Reach"]


class Reach:
    """Reachability over paths that cross no zone.

    A zone has a twin that its edges leave from, and where no edge leads: what starts there may leave, what arrives
    at the zone itself may not.
    """

    def __init__(self, network: Network):
        self._n = network.n_nodes
        self._start = np.arange(self._n) + self._n * network.zones
        graph = (np.ones(network.n_edges), (self._start[network.tails], network.heads))
        self._graph = sparse.csr_array(graph, shape=(2 * self._n, 2 * self._n))
        _, self._part = csgraph.connected_components(self._graph, connection="strong")
        self._found: dict[int, BoolArray] = {}

    def joined(self, ends: IntArray) -> BoolArray:
        """Whether each (origin, destination) is joined by a path, shape (N,)."""
        joined: BoolArray = self._part[self._start[ends[:, 0]]] == self._part[ends[:, 1]]
        for origin in np.unique(ends[~joined, 0]).tolist():
            rows = ~joined & (ends[:, 0] == origin)
            joined[rows] = self._from(origin)[ends[rows, 1]]
        return joined

    def _from(self, origin: int) -> BoolArray:
        if origin not in self._found:
            seen = np.zeros(2 * self._n, dtype=np.bool_)
            order = csgraph.breadth_first_order(self._graph, self._start[origin], return_predecessors=False)
            seen[order] = True
            self._found[origin] = seen
        return self._found[origin]
