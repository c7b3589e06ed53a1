"""Exact solution of `L x = b` for the Laplacian of a sparse multigraph (compiled).

Nodes are eliminated in order of degree. Eliminating a node with neighbours `u_i` at weights `w_i`, `W = sum w_i`, joins
the neighbours pairwise at weights `w_i w_j / W` and hands `b w_i / W` to each; back substitution reverses this. The
graphs met here are nearly forests, where this is linear in time. `b` must sum to zero over each connected component;
one node of each component is grounded at 0.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["solve_laplacian"]


@njit(cache=True, nogil=True)
def _link(first, to, weight, after, gone, used, i, j, value):
    """Add `value` to the edge (i, j), a pair of arcs `2k, 2k + 1`; return the number of arcs and whether it is new."""
    arc, previous = first[i], -1
    while arc >= 0:
        if gone[to[arc]]:
            if previous < 0:
                first[i] = after[arc]
            else:
                after[previous] = after[arc]
        elif to[arc] == j:
            weight[arc] += value
            weight[arc ^ 1] += value
            return used, False
        else:
            previous = arc
        arc = after[arc]
    to[used], weight[used], after[used] = j, value, first[i]
    first[i] = used
    to[used + 1], weight[used + 1], after[used + 1] = i, value, first[j]
    first[j] = used + 1
    return used + 2, True


@njit(cache=True, nogil=True)
def _grown(old, size):
    new = np.empty(size, old.dtype)
    new[: len(old)] = old
    return new


@njit(cache=True, nogil=True)
def _star(first, to, weight, after, gone, v, star_to, star_weight, at):
    """Write the neighbours of `v` that are left, and their weights, from position `at`; return the end."""
    arc = first[v]
    while arc >= 0:
        if not gone[to[arc]]:
            star_to[at], star_weight[at] = to[arc], weight[arc]
            at += 1
        arc = after[arc]
    return at


@njit(cache=True, nogil=True)
def _mesh(first, to, weight, after, gone, used, degree, nodes, weights, total):
    """Join the neighbours of an eliminated node pairwise; return the number of arcs."""
    for a in range(len(nodes)):
        for b in range(a + 1, len(nodes)):
            joined = weights[a] * weights[b] / total
            used, new = _link(first, to, weight, after, gone, used, nodes[a], nodes[b], joined)
            if new:
                degree[nodes[a]] += 1
                degree[nodes[b]] += 1
    return used


@njit(cache=True, nogil=True)
def _substitute_back(sequence, star_start, star_to, star_weight, total, rhs):
    x = np.zeros(len(rhs))
    for k in range(len(rhs) - 1, -1, -1):
        v = sequence[k]
        if total[v] > 0.0:
            value = rhs[v]
            for a in range(star_start[k], star_start[k + 1]):
                value += star_weight[a] * x[star_to[a]]
            x[v] = value / total[v]
    return x


@njit(cache=True, nogil=True)
def solve_laplacian(rows, cols, weights, rhs):
    """Solve for potentials at all nodes `0..len(rhs)-1`; edge k joins `rows[k] != cols[k]` at `weights[k] > 0`.

    Parameters
    ----------
    rows, cols : int64 arrays (m,)
    weights : float array (m,)
    rhs : float array (n,)
        Overwritten.

    Returns
    -------
    float array (n,)
    """
    n, m = len(rhs), len(rows)
    room = 4 * m + 16
    to, weight, after = np.empty(room, np.int64), np.empty(room), np.empty(room, np.int64)
    first, degree = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    gone = np.zeros(n, np.bool_)
    used = 0
    for k in range(m):
        used, new = _link(first, to, weight, after, gone, used, rows[k], cols[k], weights[k])
        if new:
            degree[rows[k]] += 1
            degree[cols[k]] += 1
    # a bucket of candidate nodes per degree, as stacks in one pool; entries go stale when a degree changes
    top = np.full(n + 1, -1, np.int64)
    entry, below, entries = np.empty(4 * n + 16, np.int64), np.empty(4 * n + 16, np.int64), 0
    for v in range(n):
        entry[entries], below[entries] = v, top[degree[v]]
        top[degree[v]] = entries
        entries += 1
    star_start, star_to = np.zeros(n + 1, np.int64), np.empty(2 * m + 16, np.int64)
    star_weight, sequence, total = np.empty(2 * m + 16), np.empty(n, np.int64), np.zeros(n)
    done = lowest = 0
    while done < n:
        while top[lowest] < 0:
            lowest += 1
        at = top[lowest]
        v = entry[at]
        top[lowest] = below[at]
        if gone[v] or degree[v] != lowest:
            continue
        gone[v] = True
        sequence[done] = v
        begin = star_start[done]
        if begin + degree[v] > len(star_to):
            size = 2 * len(star_to) + n
            star_to, star_weight = _grown(star_to, size), _grown(star_weight, size)
        end = _star(first, to, weight, after, gone, v, star_to, star_weight, begin)
        done += 1
        star_start[done] = end
        size = end - begin
        if used + size * size > room:
            room = 2 * room + size * size
            to, weight, after = _grown(to, room), _grown(weight, room), _grown(after, room)
        if entries + size > len(entry):
            entry, below = _grown(entry, 2 * len(entry) + size), _grown(below, 2 * len(below) + size)
        total[v] = np.sum(star_weight[begin:end])
        for a in range(begin, end):
            degree[star_to[a]] -= 1
            rhs[star_to[a]] += rhs[v] * star_weight[a] / total[v]
        used = _mesh(first, to, weight, after, gone, used, degree, star_to[begin:end], star_weight[begin:end], total[v])
        for a in range(begin, end):
            i = star_to[a]
            entry[entries], below[entries] = i, top[degree[i]]
            top[degree[i]] = entries
            entries += 1
            lowest = min(lowest, degree[i])
    return _substitute_back(sequence, star_start, star_to, star_weight, total, rhs)
