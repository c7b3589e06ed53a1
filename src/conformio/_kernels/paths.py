"""Shortest paths over compressed adjacency (compiled).

A label is a pair (cost, number of edges). With costs >= 0 a node's label is the best of `label(i) + (c_ij,
1)` over its entering edges. Costs within the relative `TIE` of each other count as equal, so that the order
in which floats were added decides nothing: then fewer edges win, then the smaller index of the last edge.
Nodes in `closed` end a trip or begin it but are never crossed. An edge of cost 0 is an edge like any other.

Adjacency is (`start`, `edges`, `ends`): the edges `edges[start[i]:start[i + 1]]` touch node `i`, edge `e`
leads to `ends[e]`. Passing the entering edges and tails instead grows the tree backwards from a
destination.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from conformio.checks import BoolArray, FloatArray, IntArray

__all__ = ["TIE", "grow_tree", "path_batch", "path_totals", "shortest_tree", "sort_rows"]

TIE = 1e-13
_NEW, _OPEN, _SETTLED = 0, 1, 2
_SMALL = 2000  # nodes up to which a look through the open ones beats a heap


@njit(cache=True, nogil=True)
def _before(i: int, j: int, dist: FloatArray, hops: IntArray) -> bool:
    return dist[i] < dist[j] or (dist[i] == dist[j] and hops[i] < hops[j])


@njit(cache=True, nogil=True)
def _sift_up(k: int, heap: IntArray, place: IntArray, dist: FloatArray, hops: IntArray) -> None:
    node = heap[k]
    while k > 0:
        parent = (k - 1) >> 1
        if not _before(node, heap[parent], dist, hops):
            break
        heap[k] = heap[parent]
        place[heap[k]] = k
        k = parent
    heap[k] = node
    place[node] = k


@njit(cache=True, nogil=True)
def _remove_top(size: int, heap: IntArray, place: IntArray, dist: FloatArray, hops: IntArray) -> int:
    """Take the least label off the heap; return the new size."""
    place[heap[0]] = -1
    size -= 1
    if size == 0:
        return 0
    node, k = heap[size], 0
    while True:
        child = 2 * k + 1
        if child >= size:
            break
        if child + 1 < size and _before(heap[child + 1], heap[child], dist, hops):
            child += 1
        if not _before(heap[child], node, dist, hops):
            break
        heap[k] = heap[child]
        place[heap[k]] = k
        k = child
    heap[k] = node
    place[node] = k
    return size


@njit(cache=True, nogil=True)
def _improves(reach: float, steps: int, old: float, old_steps: int, settled: bool) -> bool:
    """Whether a label replaces an old one; once settled only by being shorter, so that trees stay trees."""
    if old == np.inf:
        return True
    tie = TIE * old
    if reach > old + tie:
        return False
    if reach < old - tie and not settled:
        return True
    return steps < old_steps


@njit(cache=True, nogil=True)
def grow_tree(
    start: IntArray,
    edges: IntArray,
    ends: IntArray,
    costs: FloatArray,
    closed: BoolArray,
    origin: int,
    wanted: BoolArray,
    n_wanted: int,
    dist: FloatArray,
    hops: IntArray,
    pred: IntArray,
    settled: BoolArray,
    heap: IntArray,
    place: IntArray,
) -> None:
    """Grow the tree of `origin` into the last six arrays until every wanted node's label is final."""
    dist[:] = np.inf
    hops[:] = 0
    pred[:] = -1
    settled[:] = False
    place[:] = -1
    dist[origin] = 0.0
    heap[0] = origin
    place[origin] = 0
    size, missing, limit = 1, n_wanted, np.inf
    while size > 0:
        i = heap[0]
        if dist[i] > limit:
            break
        size = _remove_top(size, heap, place, dist, hops)
        if not settled[i]:
            settled[i] = True
            if wanted[i]:
                missing -= 1
                if missing == 0:
                    limit = dist[i] * (1.0 + TIE)
        if closed[i] and i != origin:
            continue
        for k in range(start[i], start[i + 1]):
            e = edges[k]
            j = ends[e]
            reach = dist[i] + costs[e]
            if _improves(reach, hops[i] + 1, dist[j], hops[j], settled[j]):
                # fewer edges may cost a tie more: the least cost stays the yardstick, or ties would creep up
                dist[j] = min(dist[j], reach)
                hops[j] = hops[i] + 1
                pred[j] = e
                if place[j] < 0:
                    heap[size] = j
                    place[j] = size
                    size += 1
                _sift_up(place[j], heap, place, dist, hops)
            elif hops[i] + 1 == hops[j] and e < pred[j] and reach <= dist[j] + TIE * dist[j]:
                pred[j] = e


@njit(cache=True, nogil=True)
def shortest_tree(
    start: IntArray, edges: IntArray, ends: IntArray, costs: FloatArray, closed: BoolArray, origin: int
) -> tuple[FloatArray, IntArray, IntArray]:
    """Cost (inf: unreachable), number of edges and last edge (-1: none) of every node's best path."""
    n = len(start) - 1
    dist, hops, pred = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    nobody, settled = np.zeros(n, np.bool_), np.empty(n, np.bool_)
    heap, place = np.empty(n, np.int64), np.empty(n, np.int64)
    grow_tree(start, edges, ends, costs, closed, origin, nobody, 0, dist, hops, pred, settled, heap, place)
    return dist, hops, pred


@njit(cache=True, nogil=True)
def path_batch(
    start: IntArray,
    edges: IntArray,
    tails: IntArray,
    heads: IntArray,
    costs: FloatArray,
    closed: BoolArray,
    origins: IntArray,
    destinations: IntArray,
    order: IntArray,
) -> tuple[BoolArray, IntArray, IntArray]:
    """One path per row: whether there is one, and the paths' edges in walking order as (indptr, edges).

    `costs` has one row for all or one per context. `order` lists the rows with equal origins next to each
    other; with one row of costs they share one tree.
    """
    n, n_rows = len(start) - 1, len(origins)
    dist, hops, pred = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    wanted, settled = np.zeros(n, np.bool_), np.empty(n, np.bool_)
    heap, place = np.empty(n, np.int64), np.empty(n, np.int64)
    found = np.zeros(n_rows, np.bool_)
    sizes, offsets = np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int64)
    pool, used = np.empty(16 * n_rows + 64, np.int64), 0
    first = 0
    while first < n_rows:
        last = first + 1
        origin = origins[order[first]]
        if costs.shape[0] == 1:
            while last < n_rows and origins[order[last]] == origin:
                last += 1
        n_wanted = 0
        for k in range(first, last):
            if not wanted[destinations[order[k]]]:
                wanted[destinations[order[k]]] = True
                n_wanted += 1
        row_costs = costs[0] if costs.shape[0] == 1 else costs[order[first]]
        grow_tree(start, edges, heads, row_costs, closed, origin, wanted, n_wanted,
                dist, hops, pred, settled, heap, place)  # fmt: skip
        for k in range(first, last):
            row = order[k]
            j = destinations[row]
            wanted[j] = False
            if dist[j] == np.inf:
                continue
            found[row] = True
            offsets[row] = used
            while j != origin:
                if used == len(pool):
                    larger = np.empty(2 * used, np.int64)
                    larger[:used] = pool
                    pool = larger
                pool[used] = pred[j]
                used += 1
                j = tails[pred[j]]
            sizes[row] = used - offsets[row]
        first = last
    indptr = np.zeros(n_rows + 1, np.int64)
    indptr[1:] = np.cumsum(sizes)
    walked = np.empty(used, np.int64)
    for row in range(n_rows):
        for k in range(sizes[row]):
            walked[indptr[row] + k] = pool[offsets[row] + sizes[row] - 1 - k]
    return found, indptr, walked


@njit(cache=True, nogil=True)
def _find_path(
    start: IntArray,
    edges: IntArray,
    ends: IntArray,
    costs: FloatArray,
    closed: BoolArray,
    origin: int,
    destination: int,
    dist: FloatArray,
    hops: IntArray,
    pred: IntArray,
    state: IntArray,
    frontier: IntArray,
    keys: FloatArray,
) -> bool:
    """`grow_tree` for one destination in a small network; False when `frontier` is too short for it.

    The open nodes lie in `frontier` in no order, their labels' costs in `keys` beside them: a look through those few
    numbers beats a heap. Labels that cost more than the best path so far are left out.
    """
    dist[:] = np.inf
    state[:] = _NEW
    dist[origin] = keys[0] = 0.0
    hops[origin] = 0
    pred[origin] = -1
    frontier[0] = origin
    size, limit = 1, np.inf
    while size > 0:
        best, least = 0, keys[0]
        for k in range(1, size):
            if keys[k] < least:
                best, least = k, keys[k]
        if least > limit:
            break
        i = frontier[best]
        for k in range(best + 1, size):
            if keys[k] == least and hops[frontier[k]] < hops[i]:
                best, i = k, frontier[k]
        size -= 1
        frontier[best], keys[best] = frontier[size], keys[size]
        if state[i] == _SETTLED:  # a better label of the same node was here before
            continue
        state[i] = _SETTLED
        if closed[i] and i != origin:
            continue
        steps = hops[i] + 1
        for k in range(start[i], start[i + 1]):
            e = edges[k]
            j = ends[e]
            reach, old = dist[i] + costs[e], dist[j]
            if reach > limit or reach > old * (1.0 + TIE):
                continue
            shorter = reach < old * (1.0 - TIE) and state[j] != _SETTLED
            if not shorter:
                if steps == hops[j] and e < pred[j]:
                    pred[j] = e
                if steps >= hops[j]:
                    continue
            dist[j] = min(old, reach)
            hops[j] = steps
            pred[j] = e
            if shorter or state[j] == _SETTLED:
                if size == len(frontier):
                    return False
                state[j] = _OPEN
                frontier[size], keys[size] = j, dist[j]
                size += 1
            if j == destination:
                limit = dist[j] * (1.0 + 4.0 * TIE)  # what decides ties at the destination stays within
    return True


@njit(cache=True, nogil=True)
def path_totals(
    start: IntArray,
    edges: IntArray,
    tails: IntArray,
    heads: IntArray,
    costs: FloatArray,
    closed: BoolArray,
    origins: IntArray,
    destinations: IntArray,
    counts: FloatArray,
) -> tuple[float, int]:
    """Add one path per row, each under its own costs, to `counts` (E,), how many paths use each edge.

    Returns the sum of the paths' costs, and the first row without a path or -1. The paths are `path_batch`'s.
    """
    n, total = len(start) - 1, 0.0
    dist, hops, pred = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    wanted, settled, state = np.zeros(n, np.bool_), np.empty(n, np.bool_), np.empty(n, np.int64)
    heap, place = np.empty(n, np.int64), np.empty(n, np.int64)
    room = len(heads) + n if n <= _SMALL else 0
    frontier, keys = np.empty(room, np.int64), np.empty(room)
    for row in range(len(origins)):
        origin, j = origins[row], destinations[row]
        if n > _SMALL or not _find_path(start, edges, heads, costs[row], closed, origin, j,
                                        dist, hops, pred, state, frontier, keys):  # fmt: skip
            wanted[j] = True
            grow_tree(start, edges, heads, costs[row], closed, origin, wanted, 1,
                      dist, hops, pred, settled, heap, place)  # fmt: skip
            wanted[j] = False
        if dist[j] == np.inf:
            return total, row
        while j != origin:
            counts[pred[j]] += 1.0
            total += costs[row, pred[j]]
            j = tails[pred[j]]
    return total, -1


@njit(cache=True, nogil=True)
def sort_rows(indptr: IntArray, edges: IntArray) -> IntArray:
    """The edges of each row in rising order."""
    ordered = edges.copy()
    for row in range(len(indptr) - 1):
        ordered[indptr[row] : indptr[row + 1]].sort()
    return ordered
