"""Conformity of many paths in one network: trees for a start, then Newton in potentials (compiled)."""

from __future__ import annotations

import numpy as np
from numba import njit

from conformio._kernels.paths import TIE, shortest_tree
from conformio._kernels.potentials import OFF, ON, hinges, project_flow

__all__ = ["mark_sides", "project_paths_batch"]


@njit(cache=True, nogil=True)
def mark_sides(tails, heads, closed, origin, destination, flow, side):
    """1 on the flow, 0 on other edges this trip may use, -1 on edges that would cross a closed node."""
    for e in range(len(tails)):
        i, j = tails[e], heads[e]
        crossing = (closed[i] and i != origin) or (closed[j] and j != destination)
        side[e] = -1 if crossing else OFF
    for e in flow:
        side[e] = ON


@njit(cache=True, nogil=True)
def _walk(tails, heads, flow, origin, destination, leaving, chain):
    """Fill `chain` with the flow's nodes in walking order; False unless the flow is one simple path."""
    if len(flow) == 0:
        chain[0] = origin
        return origin == destination
    for e in flow:
        leaving[tails[e]] = -1
        leaving[heads[e]] = -1
    simple = True
    for e in flow:
        simple = simple and leaving[tails[e]] < 0
        leaving[tails[e]] = e
    v, k = origin, 0
    chain[0] = origin
    while simple and v != destination and k < len(flow):
        v = heads[leaving[v]]
        k += 1
        chain[k] = v
    return simple and k == len(flow) and origin != destination


@njit(cache=True, nogil=True)
def project_paths_batch(
    out_start, out_edges, in_start, in_edges, tails, heads, closed, centers, origins, destinations, order,
    indptr, indices, nonnegative, max_iter,
):  # fmt: skip
    """Project each row's centre on the cone of its path; rows whose flow is no simple path are left undone.

    Rows are taken in `order`; neighbours there with equal origins share the origin's tree when `centers` has one row.
    Starting potentials lie midway between the cost from the origin and the optimum less the cost to the destination:
    off the path no edge is then at its kink.

    Returns
    -------
    done : bool array (N,)
    squares, lengths, errors : float arrays (N,)
        Squared distance, length of the projection, error of the squared distance.
    """
    n, n_rows = len(out_start) - 1, len(origins)
    done = np.zeros(n_rows, np.bool_)
    squares, lengths, errors = np.zeros(n_rows), np.zeros(n_rows), np.zeros(n_rows)
    side, y, w = np.empty(len(tails), np.int8), np.empty(len(tails)), np.empty(n)
    leaving, nodes = np.full(n, -1, np.int64), np.empty(n + 1, np.int64)
    nowhere = np.empty(0, np.int64)
    forward, rooted = w, -1
    for row in order:
        center = centers[0] if centers.shape[0] == 1 else centers[row]
        origin, destination = origins[row], destinations[row]
        flow = indices[indptr[row] : indptr[row + 1]]
        if len(flow) > n or not _walk(tails, heads, flow, origin, destination, leaving, nodes):
            continue
        if rooted != origin or centers.shape[0] > 1:
            forward = shortest_tree(out_start, out_edges, heads, center, closed, origin)[0]
            rooted = origin
        best = forward[destination]
        cost = 0.0
        for e in flow:
            cost += center[e]
        done[row] = True
        if cost - best <= TIE * best:
            lengths[row] = 1.0
            continue
        backward = shortest_tree(in_start, in_edges, tails, center, closed, destination)[0]
        for v in range(n):
            w[v] = 0.5 * (min(forward[v], best) + max(best - backward[v], 0.0))
        chain = nodes[: len(flow) + 1] if nonnegative else nowhere
        for k in range(1, len(chain)):
            w[chain[k]] = max(w[chain[k]], w[chain[k - 1]])
        mark_sides(tails, heads, closed, origin, destination, flow, side)
        squares[row], residual = project_flow(tails, heads, center, side, chain, w, max_iter)
        errors[row] = residual * squares[row] if residual < np.inf else np.inf
        hinges(tails, heads, center, side, w, y)
        total = 0.0
        for e in range(len(tails)):
            theta = center[e] - y[e] if side[e] == ON else center[e] + y[e]
            total += theta * theta
        lengths[row] = np.sqrt(total)
    return done, squares, lengths, errors
