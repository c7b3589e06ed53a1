"""Robust paths of many trips by labels (number of edges, cost), one search per origin (compiled).

The worst-case loss of a path is a function `sigma(m, s)` of its number of edges and its cost that falls in neither, so
only paths matter that no path with fewer edges matches in cost. Layer `m` holds, for each node, the cheapest walk of
exactly `m` edges if it is cheaper than all shorter ones; other walks are dropped together with all they lead to. The
search ends when a layer is empty. A walk that repeats a node is dominated by the path inside it.

Adjacency and `closed` as in `paths`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["cap_loss", "robust_path_batch"]


@njit(cache=True, nogil=True)
def cap_loss(m, s, cosine, sine):
    """`sigma(m, s)`: largest `theta . x` over a cap, for 0/1 vectors `x` with `m` ones and `center . x = s`."""
    n = np.sqrt(m)
    if s >= n * cosine:
        return n
    return s * cosine + sine * np.sqrt(max(m - s * s, 0.0))


@njit(cache=True, nogil=True)
def _longer(old, size):
    new = np.empty(size, old.dtype)
    new[: len(old)] = old
    return new


@njit(cache=True, nogil=True)
def robust_path_batch(
    start, edges, tails, heads, costs, closed, origins, destinations, order, cosine, sine,
):  # fmt: skip
    """One robust path per row.

    Parameters
    ----------
    start, edges : int64 arrays
        Leaving edges of each node.
    costs : float array >= 0, (1, E) or (N, E)
        Unit centres; with one row, rows with equal origins share one search.
    order : int64 array (N,)
        Rows, those with equal origins next to each other.
    cosine, sine : float
        Of the cap's angle.

    Returns
    -------
    found : bool array (N,)
    least : float array (N,)
        Least cost of any path.
    indptr, walked : int64 arrays
        The paths' edges in walking order.
    """
    n, n_rows = len(start) - 1, len(origins)
    found, least = np.zeros(n_rows, np.bool_), np.full(n_rows, np.inf)
    sizes, offsets = np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int64)
    pool, used = np.empty(16 * n_rows + 64, np.int64), 0
    reach, slot = np.empty(n), np.full(n, -1, np.int64)
    label_node, label_edge = np.empty(4 * n + 16, np.int64), np.empty(4 * n + 16, np.int64)
    label_from, label_cost = np.empty(4 * n + 16, np.int64), np.empty(4 * n + 16)
    waiting, next_row = np.full(n, -1, np.int64), np.full(n_rows, -1, np.int64)
    best, best_label = np.full(n_rows, np.inf), np.full(n_rows, -1, np.int64)
    first = 0
    while first < n_rows:
        origin, last = origins[order[first]], first + 1
        if costs.shape[0] == 1:
            while last < n_rows and origins[order[last]] == origin:
                last += 1
        row_costs = costs[0] if costs.shape[0] == 1 else costs[order[first]]
        for k in range(first, last):
            row = order[k]
            next_row[row] = waiting[destinations[row]]
            waiting[destinations[row]] = row
        reach[:] = np.inf
        reach[origin] = 0.0
        label_node[0], label_edge[0], label_from[0], label_cost[0] = origin, -1, -1, 0.0
        begin, end, m = 0, 1, 0
        while begin < end:
            for label in range(begin, end):
                v = label_node[label]
                reach[v] = label_cost[label]
                slot[v] = -1
                row = waiting[v]
                if row >= 0:
                    loss = cap_loss(m, label_cost[label], cosine, sine)
                    while row >= 0:
                        if loss < best[row]:
                            best[row], best_label[row] = loss, label
                        row = next_row[row]
            fresh = end
            for label in range(begin, end):
                i = label_node[label]
                if closed[i] and i != origin:
                    continue
                for k in range(start[i], start[i + 1]):
                    e = edges[k]
                    j = heads[e]
                    cost = label_cost[label] + row_costs[e]
                    if cost >= reach[j]:
                        continue
                    at = slot[j]
                    if at < 0:
                        if fresh == len(label_node):
                            label_node, label_edge = _longer(label_node, 2 * fresh), _longer(label_edge, 2 * fresh)
                            label_from, label_cost = _longer(label_from, 2 * fresh), _longer(label_cost, 2 * fresh)
                        at = fresh
                        slot[j] = at
                        fresh += 1
                    elif cost > label_cost[at] or (cost == label_cost[at] and e > label_edge[at]):
                        continue
                    label_node[at], label_edge[at], label_from[at], label_cost[at] = j, e, label, cost
            begin, end, m = end, fresh, m + 1
        for k in range(first, last):
            row = order[k]
            waiting[destinations[row]] = -1
            label = best_label[row]
            if label < 0:
                continue
            found[row] = True
            least[row] = reach[destinations[row]]
            offsets[row] = used
            while label_edge[label] >= 0:
                if used == len(pool):
                    pool = _longer(pool, 2 * used)
                pool[used] = label_edge[label]
                used += 1
                label = label_from[label]
            sizes[row] = used - offsets[row]
        first = last
    indptr = np.zeros(n_rows + 1, np.int64)
    indptr[1:] = np.cumsum(sizes)
    walked = np.empty(used, np.int64)
    for row in range(n_rows):
        for k in range(sizes[row]):
            walked[indptr[row] + k] = pool[offsets[row] + sizes[row] - 1 - k]
    return found, least, indptr, walked
