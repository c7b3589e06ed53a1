"""Counting and drawing all tied shortest paths of one origin and destination (compiled).

An edge (i, j) is tight when `d(i) + c_ij <= d(j) + slack`, `d` the costs from the origin. Where tight edges
form no cycle, the number of tight paths to a node is the sum of the numbers at the tails of its tight
entering edges. Numbers are kept as logarithms: on a 600 x 600 grid of equal streets they pass 1e350.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from conformio.checks import BoolArray, FloatArray, IntArray

__all__ = ["count_tight", "draw_tight"]


@njit(cache=True, nogil=True)
def _tight(
    e: int,
    j: int,
    tails: IntArray,
    costs: FloatArray,
    closed: BoolArray,
    dist: FloatArray,
    origin: int,
    destination: int,
    slack: float,
) -> bool:
    """Whether `e` is tight and may be walked: not out of the destination or of a closed node."""
    i = tails[e]
    if i == destination or (closed[i] and i != origin):
        return False
    return dist[i] + costs[e] <= dist[j] + slack


@njit(cache=True, nogil=True)
def _log_total(
    j: int,
    start: IntArray,
    edges: IntArray,
    tails: IntArray,
    costs: FloatArray,
    closed: BoolArray,
    dist: FloatArray,
    origin: int,
    destination: int,
    slack: float,
    log_ways: FloatArray,
) -> float:
    top = -np.inf
    for k in range(start[j], start[j + 1]):
        e = edges[k]
        if _tight(e, j, tails, costs, closed, dist, origin, destination, slack):
            top = max(top, log_ways[tails[e]])
    if top == -np.inf:
        return top
    total = 0.0
    for k in range(start[j], start[j + 1]):
        e = edges[k]
        if _tight(e, j, tails, costs, closed, dist, origin, destination, slack):
            total += np.exp(log_ways[tails[e]] - top)
    return top + np.log(total)


@njit(cache=True, nogil=True)
def count_tight(
    start: IntArray,
    edges: IntArray,
    tails: IntArray,
    costs: FloatArray,
    closed: BoolArray,
    dist: FloatArray,
    origin: int,
    destination: int,
    slack: float,
) -> tuple[bool, int, FloatArray]:
    """Search backwards from the destination over tight entering edges (`start`, `edges`).

    Returns whether they are free of cycles, how many nodes were met, and the logarithm of the number of
    tight paths from the origin to each of them (-inf elsewhere; meaningless after a cycle).
    """
    n = len(dist)
    log_ways = np.full(n, -np.inf)
    state = np.zeros(n, np.int8)
    cursor, stack = start[:-1].copy(), np.empty(n, np.int64)
    stack[0] = destination
    state[destination] = 1
    depth, met = 1, 1
    while depth > 0:
        j = stack[depth - 1]
        if j != origin and cursor[j] < start[j + 1]:
            e = edges[cursor[j]]
            cursor[j] += 1
            if not _tight(e, j, tails, costs, closed, dist, origin, destination, slack):
                continue
            i = tails[e]
            if state[i] == 1:
                return False, met, log_ways
            if state[i] == 0:
                state[i] = 1
                stack[depth] = i
                depth += 1
                met += 1
            continue
        if j == origin:
            log_ways[j] = 0.0
        else:
            log_ways[j] = _log_total(j, start, edges, tails, costs, closed, dist, origin, destination, slack, log_ways)
        state[j] = 2
        depth -= 1
    return True, met, log_ways


@njit(cache=True, nogil=True)
def draw_tight(
    start: IntArray,
    edges: IntArray,
    tails: IntArray,
    costs: FloatArray,
    closed: BoolArray,
    dist: FloatArray,
    origin: int,
    destination: int,
    slack: float,
    log_ways: FloatArray,
    uniforms: FloatArray,
) -> IntArray:
    """One tight path in walking order; each step backwards in proportion to the paths behind it."""
    walk = np.empty(len(uniforms), np.int64)
    j, size = destination, 0
    while j != origin:
        left = uniforms[size]
        chosen = -1
        for k in range(start[j], start[j + 1]):
            e = edges[k]
            if not _tight(e, j, tails, costs, closed, dist, origin, destination, slack):
                continue
            if log_ways[tails[e]] == -np.inf:
                continue
            chosen = e
            left -= np.exp(log_ways[tails[e]] - log_ways[j])
            if left < 0.0:
                break
        walk[size] = chosen
        size += 1
        j = tails[chosen]
    return walk[:size][::-1].copy()
