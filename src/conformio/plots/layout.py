"""Places for the nodes of networks without coordinates: neighbours near, far nodes far.

Nodes are placed so that distances in the picture follow the numbers of edges between them (directions left aside):
principal coordinates of the distances to some pivots, then, for small networks, steps of stress majorization. The
same network is always drawn alike.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from conformio.checks import FloatArray, IntArray
from conformio.networks import Network

__all__ = ["hop_layout", "places_of"]

_PIVOTS = 64
_SMALL = 400
_STEPS = 60


def places_of(network: Network) -> FloatArray:
    """The network's coordinates where it has them, else `hop_layout`; shape (n_nodes, 2)."""
    return hop_layout(network) if network.coordinates is None else network.coordinates


def hop_layout(network: Network) -> FloatArray:
    """Places that follow the numbers of edges between nodes, shape (n_nodes, 2)."""
    n = network.n_nodes
    ends = (network.tails, network.heads)
    graph = sparse.csr_array((np.ones(network.n_edges), ends), shape=(n, n))
    pivots = np.arange(n) if n <= _SMALL else _spread(graph, n)
    hops = _hops(graph, pivots)
    places = _principal(hops)
    if n <= _SMALL:
        for _ in range(_STEPS):
            places = _less_stress(places, hops)
    return places


def _hops(graph: sparse.csr_array, sources: IntArray) -> FloatArray:
    """Edges between sources and all nodes; parts that no way joins lie a little farther than anything else."""
    hops = np.asarray(dijkstra(graph, directed=False, unweighted=True, indices=sources), dtype=np.float64)
    joined = np.isfinite(hops)
    hops[~joined] = 1.0 + hops[joined].max()
    return hops


def _spread(graph: sparse.csr_array, n: int) -> IntArray:
    """Pivots, each the node farthest from those before it."""
    pivots, nearest = [0], np.full(n, np.inf)
    while len(pivots) < _PIVOTS:
        nearest = np.minimum(nearest, _hops(graph, np.array(pivots[-1:]))[0])
        pivots.append(int(nearest.argmax()))
    return np.array(pivots)


def _principal(hops: FloatArray) -> FloatArray:
    squares = hops**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    found = np.linalg.svd(-0.5 * centred, full_matrices=False)
    places = found.Vh[:2].T * np.sqrt(found.S[:2])
    places *= np.where(places[np.abs(places).argmax(axis=0), np.arange(places.shape[1])] < 0, -1.0, 1.0)
    if places.shape[1] < 2:
        places = np.column_stack([places, np.zeros(len(places))])
    # equal distances give equal places; these two shifts part them, always in the same way
    turn = 2.4 * np.arange(len(places))
    return np.asarray(places + 1e-3 * np.column_stack([np.cos(turn), np.sin(turn)]))


def _less_stress(places: FloatArray, hops: FloatArray) -> FloatArray:
    """One step of majorization with weights `1 / hops^2`."""
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    weights = np.divide(1.0, hops**2, out=np.zeros_like(hops), where=hops > 0)
    pull = np.divide(weights * hops, apart, out=np.zeros_like(hops), where=apart > 0)
    # sum of weights is the same as solving with the Laplacian's diagonal: slower per step, and never needs a factor
    total = weights.sum(axis=1, keepdims=True)
    target = weights @ places + pull.sum(axis=1, keepdims=True) * places - pull @ places
    return np.asarray(target / np.where(total > 0, total, 1.0))
