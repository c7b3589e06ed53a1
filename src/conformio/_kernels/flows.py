"""Enumerating all 0/1 flows with the same node balance (compiled).

Two such flows differ by cycles of the residual network: an unused edge may be added along its direction, a
used one removed against it. Sorted by the first edge in which they differ from a known flow, all others are
found by flipping one residual cycle through that edge and recursing on the edges after it; every branch
ends in one new flow.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from conformio.checks import BoolArray, IntArray

__all__ = ["equivalent_flows"]


@njit(cache=True, nogil=True)
def _incident(tails: IntArray, heads: IntArray, n_nodes: int) -> tuple[IntArray, IntArray]:
    """Edges that touch each node, as (start, edges)."""
    start = np.zeros(n_nodes + 1, np.int64)
    for e in range(len(tails)):
        start[tails[e] + 1] += 1
        start[heads[e] + 1] += 1
    start = np.cumsum(start)
    fill, edges = start[:-1].copy(), np.empty(2 * len(tails), np.int64)
    for e in range(len(tails)):
        edges[fill[tails[e]]] = e
        fill[tails[e]] += 1
        edges[fill[heads[e]]] = e
        fill[heads[e]] += 1
    return start, edges


@njit(cache=True, nogil=True)
def _flip_cycle(
    e: int,
    flow: BoolArray,
    tails: IntArray,
    heads: IntArray,
    start: IntArray,
    edges: IntArray,
    via: IntArray,
    queue: IntArray,
) -> bool:
    """Flip in `flow` a residual cycle through `e` and later edges only; False when there is none."""
    goal = heads[e] if flow[e] else tails[e]
    source = tails[e] if flow[e] else heads[e]
    via[:] = -1
    via[source] = e
    queue[0] = source
    head, size = 0, 1
    while head < size and via[goal] < 0:
        i = queue[head]
        head += 1
        for k in range(start[i], start[i + 1]):
            f = edges[k]
            if f <= e or (heads[f] if flow[f] else tails[f]) != i:
                continue
            j = tails[f] if flow[f] else heads[f]
            if via[j] < 0:
                via[j] = f
                queue[size] = j
                size += 1
    if via[goal] < 0:
        return False
    j = goal
    while j != source:
        f = via[j]
        j = heads[f] if flow[f] else tails[f]
        flow[f] = not flow[f]
    flow[e] = not flow[e]
    return True


@njit(cache=True, nogil=True)
def equivalent_flows(
    tails: IntArray, heads: IntArray, n_nodes: int, flow: BoolArray, limit: int
) -> tuple[bool, BoolArray]:
    """All 0/1 flows with the balance of `flow`, itself first; False when there are more than `limit`.

    Returns
    -------
    complete : bool
    flows : bool array, shape (number, len(flow))
    """
    m = len(flow)
    start, edges = _incident(tails, heads, n_nodes)
    via, queue = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    flows, first = np.empty((16, m), np.bool_), np.empty(16, np.int64)
    flows[0] = flow
    first[0] = 0
    size, done = 1, 0
    while done < size:
        for e in range(first[done], m):
            if size == len(first):
                more, later = np.empty((2 * size, m), np.bool_), np.empty(2 * size, np.int64)
                more[:size] = flows
                later[:size] = first
                flows, first = more, later
            flows[size] = flows[done]
            if _flip_cycle(e, flows[size], tails, heads, start, edges, via, queue):
                first[size] = e + 1
                size += 1
                if size > limit:
                    return False, flows[:limit]
        done += 1
    return True, flows[:size]
