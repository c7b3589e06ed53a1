"""Places for the nodes of a network that came without coordinates: pivot multidimensional scaling.

Numbers of steps from each node to a few dozen pivots, far from each other, are squared and centred; the two leading
directions of the resulting table are the coordinates. Road networks come out flat, and near nodes near each other.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from conformio.checks import FloatArray
from conformio.networks import Network

__all__ = ["computed_places"]

_PIVOTS = 48


def computed_places(network: Network) -> FloatArray:
    """Two coordinates per node, the same every time; parts that no edge joins lie apart.

    Returns
    -------
    array, shape (n_nodes, 2)
    """
    n = network.n_nodes
    links = sparse.csr_array((np.ones(network.n_edges), (network.tails, network.heads)), shape=(n, n))
    squares = _steps_to_pivots(links) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    _, directions = np.linalg.eigh(centred.T @ centred)
    leading = directions[:, ::-1][:, :2]
    leading = np.column_stack([leading, np.zeros((len(leading), 2 - leading.shape[1]))])
    signs = np.sign(leading[np.abs(leading).argmax(axis=0), [0, 1]])
    places = -0.5 * centred @ (leading * np.where(signs == 0.0, 1.0, signs))
    return np.asarray(places / max(float(np.abs(places).max()), 1e-12))


def _steps_to_pivots(links: sparse.csr_array) -> FloatArray:
    """Each next pivot is a node farthest from those before; nodes out of reach count as a little farther than any."""
    n = links.shape[0]
    nearest, columns, pivot = np.full(n, np.inf), [], 0
    for _ in range(min(n, _PIVOTS)):
        steps = csgraph.dijkstra(links, directed=False, unweighted=True, indices=pivot)
        columns.append(steps)
        nearest = np.minimum(nearest, steps)
        pivot = int(nearest.argmax())
    table = np.column_stack(columns)
    reached = np.isfinite(table)
    return np.where(reached, table, 1.5 * table[reached].max() + 1.0)
