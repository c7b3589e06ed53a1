"""The part of a network that can matter for one trip's angle (compiled).

Let `C` be what the observed path costs at the centre `c`. The costs closest to `c` that explain the path are `>= c`
off it and `<= c` on it. An edge off the path that they raise lies on a detour, between two nodes of the path, which
they make as dear as the stretch of path it replaces; so at `c` the detour is no dearer than the stretch, and the edge
`(i, j)` satisfies

    d(origin, i) + c_ij + d(j, destination) <= C.

Conversely, a detour through an edge that does not costs more than its stretch at `c`, and the more so at any costs
`>= c` off the path and between 0 and `c` on it: it never proves the path wrong. So the edges of this ellipse alone
decide, exactly; on road networks they are tens to thousands where the network has tens of thousands.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["costs_within", "costs_within_twin", "grow_region", "region_twin"]


@njit(cache=True, nogil=True)
def _push(heap, keys, size, node, key):
    k = size
    while k > 0:
        parent = (k - 1) >> 1
        if keys[parent] <= key:
            break
        keys[k], heap[k] = keys[parent], heap[parent]
        k = parent
    keys[k], heap[k] = key, node
    return size + 1


@njit(cache=True, nogil=True)
def _drop_top(heap, keys, size):
    size -= 1
    key, node, k = keys[size], heap[size], 0
    while True:
        child = 2 * k + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[k], heap[k] = keys[child], heap[child]
        k = child
    keys[k], heap[k] = key, node
    return size


@njit(cache=True, nogil=True)
def costs_within(start, edges, ends, costs, closed, root, limit, dist, pred, heap, keys):
    """Least costs from `root` to every node no dearer than `limit`, into `dist`; larger or inf elsewhere.

    `pred` gets the last edge of each path. Costs are `>= 0`; nodes in `closed` are never crossed; `heap` and `keys`
    have room for one entry per edge and one more.
    """
    dist[:] = np.inf
    dist[root] = 0.0
    pred[root] = -1
    size = _push(heap, keys, 0, root, 0.0)
    while size > 0:
        node, reached = heap[0], keys[0]
        if reached > limit:
            break
        size = _drop_top(heap, keys, size)
        if reached > dist[node] or (closed[node] and node != root):
            continue
        for k in range(start[node], start[node + 1]):
            e = edges[k]
            further = reached + costs[e]
            if further < dist[ends[e]]:
                dist[ends[e]] = further
                pred[ends[e]] = e
                size = _push(heap, keys, size, ends[e], further)


def costs_within_twin(start, edges, ends, costs, closed, root):
    """`costs_within` without a limit, by relaxing every edge until nothing changes."""
    dist = np.full(len(start) - 1, np.inf)
    dist[root] = 0.0
    for _ in range(len(dist)):
        for node in np.flatnonzero(~closed | (np.arange(len(dist)) == root)):
            leaving = edges[start[node] : start[node + 1]]
            np.minimum.at(dist, ends[leaving], dist[node] + costs[leaving])
    return dist


@njit(cache=True, nogil=True)
def grow_region(
    in_start, in_edges, tails, costs, closed, origin, destination, limit, forward, backward, place, heap, keys,
    nodes, edges, region_tails, region_heads,
):  # fmt: skip
    """Nodes and edges on walks from origin to destination no dearer than `limit`; `forward` as by `costs_within`.

    Nodes are numbered from the destination on: `nodes[:n]` in order of their costs to it, `place` the inverse,
    `backward` those costs. Edges come as numbers in the network and as ends in the region. `place` must hold -1 and
    `backward` inf; whoever calls resets both at `nodes[:n]`.

    Returns
    -------
    n, m : int
        Numbers of nodes and edges.
    """
    n = m = 0
    backward[destination] = 0.0
    size = _push(heap, keys, 0, destination, 0.0)
    while size > 0:
        node, reached = heap[0], keys[0]
        size = _drop_top(heap, keys, size)
        if place[node] >= 0:
            continue
        place[node] = n
        nodes[n] = node
        n += 1
        if closed[node] and node != destination:
            continue
        for k in range(in_start[node], in_start[node + 1]):
            e = in_edges[k]
            tail = tails[e]
            further = reached + costs[e]
            if forward[tail] + further > limit or (closed[tail] and tail != origin):
                continue
            edges[m], region_tails[m], region_heads[m] = e, tail, node
            m += 1
            if further < backward[tail]:
                backward[tail] = further
                size = _push(heap, keys, size, tail, further)
    for k in range(m):
        region_tails[k], region_heads[k] = place[region_tails[k]], place[region_heads[k]]
    return n, m


def region_twin(tails, heads, costs, closed, origin, destination, limit, forward, backward):
    """Edges of `grow_region` from full trees, in rising order."""
    usable = (~closed[tails] | (tails == origin)) & (~closed[heads] | (heads == destination))
    return np.flatnonzero(usable & (forward[tails] + (backward[heads] + costs) <= limit))
