"""Angles of paths as the paper has them: strong duality in one cone program a trip, in Clarabel.

`min |theta - c|` over costs `theta` and node potentials `w` with `theta_e >= w_head - w_tail` on every usable edge and
equal values, `theta . x = w_destination - w_origin`. Two things are done for its sake that a first version would lack.
It is posed around the shortest-path potentials `d` of the trip's origin, in units of what the path loses:
`theta = c + s delta`, `w = d + s v`, `s = (c . x - d_destination) / sqrt(|x|)`. Angles of 1e-5 radians keep their
digits that way, where the program as printed loses all of them. Its matrix, the same for all trips but for the path's
own rows, is put together once. Costs are held above 0 on the path only: elsewhere the closest ones never fall.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from conformio.checks import FloatArray, IntArray
from conformio.networks import Network
from conformio.networks.flow_program import usable_edges
from conformio.solvers import ConeSpec, ConicModel

__all__ = ["StrongDuality"]

_TOL = 1e-8


class StrongDuality:
    """The programs of all trips of one network under one centre.

    The paper solves one for every trip; with `skip_explained` trips that are shortest under the centre cost a search
    only.
    """

    def __init__(self, network: Network, center: FloatArray, skip_explained: bool = False):
        self.skip_explained = skip_explained
        self.network, self.center = network, center / np.linalg.norm(center)
        n, m = network.n_nodes, network.n_edges
        rises = sparse.csr_array(network.incidence.T)  # +1 at the head, -1 at the tail
        self._held = sparse.csr_array(sparse.hstack([sparse.csr_array((m, 1)), -sparse.eye_array(m), rises]))
        self._positive = sparse.csr_array(
            sparse.hstack([sparse.csr_array((m, 1)), -sparse.eye_array(m), sparse.csr_array((m, n))])
        )
        self._cone = -sparse.eye_array(1 + m, 1 + m + n, format="csr")

    def angle(self, origin: int, destination: int, path: IntArray) -> float:
        """The smallest angle between the centre and nonnegative costs under which `path` (edges) is shortest."""
        center, network = self.center, self.network
        usable = np.flatnonzero(usable_edges(network, origin, destination))
        reached = self.reached(usable, origin)
        loss = float(center[path].sum() - reached[destination])
        explained = loss <= 1e-15
        if explained and self.skip_explained:
            return 0.0
        scale = (1.0 if explained else loss) / np.sqrt(len(path))
        usable = usable[np.isfinite(reached[network.tails[usable]])]
        slack = (center - (np.nan_to_num(reached, posinf=0.0) @ network.incidence)) / scale
        m, n = network.n_edges, network.n_nodes
        ends = np.array([origin, destination])
        value = sparse.csr_array(
            (np.concatenate([np.ones(len(path)), [1.0, -1.0]]), (np.zeros(len(path) + 2, dtype=int),
             np.concatenate([1 + path, 1 + m + ends]))), shape=(1, 1 + m + n)
        )  # fmt: skip
        matrix = sparse.vstack([value, self._held[usable], self._positive[path], self._cone], format="csc")
        rhs = np.concatenate([[-slack[path].sum()], slack[usable], center[path] / scale, np.zeros(1 + m)])
        cones: list[ConeSpec] = [("zero", 1), ("nonnegative", len(usable) + len(path)), ("second_order", 1 + m)]
        costs = np.zeros(1 + m + n)
        costs[0] = 1.0
        distance = scale * ConicModel(None, costs, matrix, rhs, cones, tol=_TOL).solve().x[0]
        return float(np.arcsin(min(distance, 1.0)))

    def reached(self, usable: IntArray, origin: int) -> FloatArray:
        """Cost of the cheapest path from the origin to every node, over some of the edges."""
        network = self.network
        order = np.lexsort((-self.center[usable], network.heads[usable], network.tails[usable]))
        kept = usable[order]  # of parallel edges the last, the cheapest, stays
        last = np.append(np.diff(network.tails[kept] * network.n_nodes + network.heads[kept]) != 0, True)
        kept = kept[last]
        ends = (network.tails[kept], network.heads[kept])
        graph = sparse.csr_array((self.center[kept], ends), shape=(network.n_nodes,) * 2)
        return np.asarray(dijkstra(graph, indices=origin))
