"""Robust paths of many trips by labels (number of edges, cost) that two trees guide (compiled).

The worst-case loss of a path is a function `sigma(m, s)` of its number of edges and its cost that falls in neither, so
only paths matter that no path with fewer edges matches in cost. Two trees grow from each origin, shared by its trips:
one of least costs, one of fewest edges (of these the cheapest). Both name a path, hence a first `best` loss, and both
bound from below what is missing at a node. The search for one trip then walks backwards from its destination. Layer `m`
holds, for each node, the cheapest walk of exactly `m` edges to the destination, if

- it is cheaper than all shorter ones by more than `_NOISE`, and
- the loss could still fall below `best`: `sigma(m, s) < best` if and only if `m < best^2` or
  `s < best cos(a) - sin(a) sqrt(m - best^2)`, asked of `m` plus the fewest edges and `s` plus the least cost from the
  origin.

Each label is completed along both trees, which lowers `best` early. The search ends when a layer is empty. A walk that
repeats a node is dominated by the path inside it.

Adjacency and `closed` as in `paths`. Costs are unit vectors >= 0 and the angle is at least 1e-9, so that an edge more
raises the loss by at least `1e-9 / (2 sqrt(m))`: more than the roundings `_NOISE` and `_SLACK` put aside.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from conformio._kernels.paths import grow_tree
from conformio.checks import BoolArray, FloatArray, IntArray

__all__ = ["cap_loss", "robust_path_batch"]

_NOISE = 1e-14
_SLACK = 1e-12
_NOWHERE = np.int64(1) << 40


class _Tree(NamedTuple):
    """Paths from one origin to every node: cost, number of edges, last edge."""

    cost: FloatArray
    hops: IntArray
    pred: IntArray


class _Labels(NamedTuple):
    """Walks to the destination: first node, first edge, the label it goes on to, cost."""

    node: IntArray
    edge: IntArray
    onward: IntArray
    cost: FloatArray


@njit(cache=True, nogil=True)
def cap_loss(m: float, s: float, cosine: float, sine: float) -> float:
    """`sigma(m, s)`: largest `theta . x` over a cap, for 0/1 vectors `x` with `m` ones and `center . x = s`."""
    n = np.sqrt(m)
    if s >= n * cosine:
        return n
    return s * cosine + sine * np.sqrt(max(m - s * s, 0.0))


@njit(cache=True, nogil=True)
def _cost_limit(best: float, m: int, cosine: float, sine: float) -> float:
    """The cost below which the loss of `m` edges is below `best`; falls in `m`."""
    over = m - best * best
    return np.inf if over < 0.0 else best * cosine - sine * np.sqrt(over)


@njit(cache=True, nogil=True)
def _cost_limits(best: float, cosine: float, sine: float, first: int, limits: FloatArray) -> None:
    for m in range(first, len(limits)):
        limits[m] = _cost_limit(best, m, cosine, sine)


@njit(cache=True, nogil=True)
def _fewest_edges(
    start: IntArray,
    edges: IntArray,
    heads: IntArray,
    costs: FloatArray,
    closed: BoolArray,
    origin: int,
    wanted: BoolArray,
    n_wanted: int,
    tree: _Tree,
    queue: IntArray,
) -> None:
    """Grow the tree of fewest edges, of these least cost, until every wanted node is in it."""
    tree.hops[:] = _NOWHERE
    tree.hops[origin], tree.cost[origin], tree.pred[origin] = 0, 0.0, -1
    queue[0] = origin
    begin, end, level = 0, 1, 0
    missing = n_wanted - wanted[origin]
    while begin < end and missing > 0:
        fresh, level = end, level + 1
        for q in range(begin, end):
            i = queue[q]
            if closed[i] and i != origin:
                continue
            for k in range(start[i], start[i + 1]):
                e = edges[k]
                j = heads[e]
                if tree.hops[j] < level:
                    continue
                cost = tree.cost[i] + costs[e]
                if tree.hops[j] == _NOWHERE:
                    tree.hops[j] = level
                    queue[fresh] = j
                    fresh += 1
                    missing -= wanted[j]
                elif cost > tree.cost[j] or (cost == tree.cost[j] and e > tree.pred[j]):
                    continue
                tree.cost[j], tree.pred[j] = cost, e
        begin, end = end, fresh


@njit(cache=True, nogil=True)
def _grow_trees(
    start: IntArray,
    edges: IntArray,
    heads: IntArray,
    costs: FloatArray,
    closed: BoolArray,
    origin: int,
    destinations: IntArray,
    trees: tuple[_Tree, _Tree],
    wanted: BoolArray,
    settled: BoolArray,
    heap: IntArray,
    place: IntArray,
) -> None:
    """Both trees of one origin, as far as its destinations."""
    cheap, short = trees
    wanted[destinations] = True
    n_wanted = np.count_nonzero(wanted)
    grow_tree(start, edges, heads, costs, closed, origin, wanted, n_wanted,
              cheap.cost, cheap.hops, cheap.pred, settled, heap, place)  # fmt: skip
    _fewest_edges(start, edges, heads, costs, closed, origin, wanted, n_wanted, short, heap)
    wanted[destinations] = False


@njit(cache=True, nogil=True)
def _from_trees(
    hops: int, least: float, fewest: int, cost: float, cosine: float, sine: float
) -> tuple[tuple[float, int, int], bool]:
    """The better of the trees' paths (`hops` edges for `least`, `fewest` for `cost`), and whether it may be beaten."""
    cheap, short = cap_loss(hops, least, cosine, sine), cap_loss(fewest, cost, cosine, sine)
    best = (short, 0, 1) if fewest < hops and short < cheap else (cheap, 0, 0)
    limit = _cost_limit(best[0], fewest, cosine, sine)
    return best, fewest < hops and least < limit + _SLACK * least


@njit(cache=True, nogil=True)
def _longer(labels: _Labels) -> _Labels:
    size = len(labels.node)
    new = _Labels(
        np.empty(2 * size, np.int64), np.empty(2 * size, np.int64), np.empty(2 * size, np.int64), np.empty(2 * size)
    )
    new.node[:size], new.edge[:size] = labels.node, labels.edge
    new.onward[:size], new.cost[:size] = labels.onward, labels.cost
    return new


@njit(cache=True, nogil=True)
def _complete(
    labels: _Labels,
    begin: int,
    end: int,
    m: int,
    trees: tuple[_Tree, _Tree],
    radius: float,
    far: int,
    cosine: float,
    sine: float,
    best: tuple[float, int, int],
) -> tuple[float, int, int]:
    """The best of `best` and one layer's labels completed by the tree of least cost (0) or fewest edges (1)."""
    cheap, short = trees
    for label in range(begin, end):
        v, s = labels.node[label], labels.cost[label]
        if short.hops[v] < far:
            loss = cap_loss(m + short.hops[v], s + short.cost[v], cosine, sine)
            if loss < best[0]:
                best = (loss, label, 1)
        if cheap.cost[v] < radius:
            loss = cap_loss(m + cheap.hops[v], s + cheap.cost[v], cosine, sine)
            if loss < best[0]:
                best = (loss, label, 0)
    return best


@njit(cache=True, nogil=True)
def _best_walk(
    in_start: IntArray,
    in_edges: IntArray,
    tails: IntArray,
    costs: FloatArray,
    closed: BoolArray,
    origin: int,
    destination: int,
    trees: tuple[_Tree, _Tree],
    cosine: float,
    sine: float,
    best: tuple[float, int, int],
    reach: FloatArray,
    slot: IntArray,
    labels: _Labels,
) -> tuple[_Labels, tuple[float, int, int]]:
    """Labels, the destination's first, and the best path: its loss, its label, the tree that leads there.

    `best` comes in from the trees. Of them only what lies nearer than the destination counts: the rest may depend on
    what else they were grown for. `reach` (inf) and `slot` (-1) are scratch.
    """
    cheap, short = trees
    radius, far = cheap.cost[destination], short.hops[destination] + 1
    slack, limits = _SLACK * radius, np.empty(cheap.hops[destination])
    _cost_limits(best[0], cosine, sine, 0, limits)
    reach[destination] = 0.0
    begin, end, m = 0, 1, 0
    while begin < end:
        fresh, m = end, m + 1
        for label in range(begin, end):
            v = labels.node[label]
            if closed[v] and v != destination:
                continue
            for k in range(in_start[v], in_start[v + 1]):
                e = in_edges[k]
                j = tails[e]
                cost = labels.cost[label] + costs[e]
                hops = m + min(short.hops[j], far)
                if hops >= len(limits) or cost >= reach[j] - _NOISE:
                    continue
                if cost + min(cheap.cost[j], radius) >= limits[hops] + slack or (closed[j] and j != origin):
                    continue
                at = slot[j]
                if at < 0:
                    if fresh == len(labels.node):
                        labels = _longer(labels)
                    at, slot[j] = fresh, fresh
                    fresh += 1
                elif cost > labels.cost[at] or (cost == labels.cost[at] and e > labels.edge[at]):
                    continue
                labels.node[at], labels.edge[at], labels.onward[at], labels.cost[at] = j, e, label, cost
        begin, end = end, fresh
        for label in range(begin, end):
            reach[labels.node[label]], slot[labels.node[label]] = labels.cost[label], -1
        found = _complete(labels, begin, end, m, trees, radius, far, cosine, sine, best)
        if found[0] < best[0]:
            _cost_limits(found[0], cosine, sine, m, limits)
        best = found
    for label in range(end):
        reach[labels.node[label]] = np.inf
    return labels, best


@njit(cache=True, nogil=True)
def _write_path(
    labels: _Labels, label: int, pred: IntArray, tails: IntArray, origin: int, pool: IntArray, used: int
) -> tuple[IntArray, int]:
    """Append the edges of a tree's path to a label's node, then the label's own, to the pool; its new end."""
    begin, j = used, labels.node[label]
    while j != origin:
        if used == len(pool):
            pool = _longer_pool(pool)
        pool[used] = pred[j]
        j = tails[pred[j]]
        used += 1
    pool[begin:used] = pool[begin:used][::-1].copy()
    while labels.edge[label] >= 0:
        if used == len(pool):
            pool = _longer_pool(pool)
        pool[used] = labels.edge[label]
        label = labels.onward[label]
        used += 1
    return pool, used


@njit(cache=True, nogil=True)
def _longer_pool(pool: IntArray) -> IntArray:
    new = np.empty(2 * len(pool), np.int64)
    new[: len(pool)] = pool
    return new


@njit(cache=True, nogil=True)
def _in_rows(pool: IntArray, offsets: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray]:
    """Pieces of the pool in the order of their rows, as (indptr, entries)."""
    indptr = np.zeros(len(sizes) + 1, np.int64)
    indptr[1:] = np.cumsum(sizes)
    entries = np.empty(indptr[-1], np.int64)
    for row in range(len(sizes)):
        entries[indptr[row] : indptr[row + 1]] = pool[offsets[row] : offsets[row] + sizes[row]]
    return indptr, entries


@njit(cache=True, nogil=True)
def robust_path_batch(
    start: IntArray,
    edges: IntArray,
    in_start: IntArray,
    in_edges: IntArray,
    tails: IntArray,
    heads: IntArray,
    costs: FloatArray,
    closed: BoolArray,
    origins: IntArray,
    destinations: IntArray,
    order: IntArray,
    cosine: float,
    sine: float,
) -> tuple[BoolArray, FloatArray, IntArray, IntArray]:
    """One robust path per row.

    Parameters
    ----------
    start, edges, in_start, in_edges : int64 arrays
        Leaving and entering edges of each node.
    costs : float array >= 0, (1, E) or (N, E)
        Unit centres; with one row, rows with equal origins share their trees, and equal rows their paths.
    order : int64 array (N,)
        Rows by origin, then by destination.
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
    cheap = _Tree(np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64))
    short = _Tree(np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64))
    trees = (cheap, short)
    wanted, settled = np.zeros(n, np.bool_), np.empty(n, np.bool_)
    heap, place = np.empty(n, np.int64), np.empty(n, np.int64)
    reach, slot = np.full(n, np.inf), np.full(n, -1, np.int64)
    labels = _Labels(np.empty(n + 1, np.int64), np.empty(n + 1, np.int64), np.empty(n + 1, np.int64), np.empty(n + 1))
    labels.edge[0], labels.onward[0], labels.cost[0] = -1, -1, 0.0
    first = 0
    while first < n_rows:
        origin, last = origins[order[first]], first + 1
        if costs.shape[0] == 1:
            while last < n_rows and origins[order[last]] == origin:
                last += 1
        row_costs = costs[0] if costs.shape[0] == 1 else costs[order[first]]
        _grow_trees(start, edges, heads, row_costs, closed, origin, destinations[order[first:last]], trees,
                    wanted, settled, heap, place)  # fmt: skip
        for k in range(first, last):
            row = order[k]
            j = destinations[row]
            if short.hops[j] == _NOWHERE:
                continue
            if k > first and destinations[order[k - 1]] == j:
                same = order[k - 1]
                found[row], least[row], offsets[row], sizes[row] = True, least[same], offsets[same], sizes[same]
                continue
            found[row], least[row], offsets[row] = True, cheap.cost[j], used
            labels.node[0] = j
            best, is_open = _from_trees(cheap.hops[j], cheap.cost[j], short.hops[j], short.cost[j], cosine, sine)
            if is_open:
                labels, best = _best_walk(
                    in_start, in_edges, tails, row_costs, closed, origin, j, trees, cosine, sine, best,
                    reach, slot, labels,
                )  # fmt: skip
            pool, used = _write_path(labels, best[1], trees[best[2]].pred, tails, origin, pool, used)
            sizes[row] = used - offsets[row]
        first = last
    indptr, walked = _in_rows(pool, offsets, sizes)
    return found, least, indptr, walked
