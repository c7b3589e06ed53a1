"""Conformity of many paths in one network: trees, the region that can matter, then Newton in potentials (compiled).

Rows share nothing but trees, and a tree's costs do not depend on how far it was grown: every row's result is the same
bit for bit in any company.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import njit

from conformio._kernels.paths import TIE
from conformio._kernels.potentials import project_flow
from conformio._kernels.regions import costs_within, grow_region

__all__ = ["ABOVE", "BELOW", "EXACT", "UNDONE", "project_paths_batch"]

UNDONE, EXACT, BELOW, ABOVE = 0, 1, 2, 3

_ROUNDING = 1e-12
_EPS = 2.0**-52
_SURELY_APART = 1e-23
_SURELY_EXPLAINED = 0.98

Scratch = namedtuple(
    "Scratch",
    "forward pred backward place leaving spot heap keys nodes chain walked edges tails heads",
)


@njit(cache=True, nogil=True)
def _scratch(n, m):
    """Arrays of the size of the network; between rows `backward` holds inf, `place`, `leaving` and `spot` -1."""
    return Scratch(
        np.empty(n), np.empty(n, np.int64), np.full(n, np.inf), np.full(n, -1, np.int64), np.full(n, -1, np.int64),
        np.full(n, -1, np.int64), np.empty(m + 1, np.int64), np.empty(m + 1), np.empty(n, np.int64),
        np.empty(n + 1, np.int64), np.empty(n, np.int64), np.empty(m, np.int64), np.empty(m, np.int64),
        np.empty(m, np.int64),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _walk(tails, heads, flow, origin, destination, scratch):
    """Put the flow into walking order; False unless it is one simple path. Leaves `leaving` set on its nodes."""
    leaving, chain, walked = scratch.leaving, scratch.chain, scratch.walked
    chain[0] = origin
    if len(flow) == 0 or len(flow) >= len(leaving):
        return len(flow) == 0 and origin == destination
    for e in flow:
        leaving[tails[e]] = -1
        leaving[heads[e]] = -1
    simple = origin != destination
    for e in flow:
        simple = simple and leaving[tails[e]] < 0
        leaving[tails[e]] = e
    v, k = origin, 0
    while simple and v != destination and k < len(flow) and leaving[v] >= 0:
        walked[k] = leaving[v]
        v = heads[walked[k]]
        k += 1
        chain[k] = v
    return simple and k == len(flow) and v == destination


@njit(cache=True, nogil=True)
def _forward_bound(center, forward, chain, walked, size, nonnegative):
    """Squared distance to the costs that the forward potentials explain the path with; inf where they may not."""
    total = 0.0
    for k in range(size):
        rise = forward[chain[k + 1]] - forward[chain[k]]
        if nonnegative and rise < 0.0:
            return np.inf
        total += max(center[walked[k]] - rise, 0.0) ** 2
    return total


@njit(cache=True, nogil=True)
def _detour_bound(tails, center, scratch, size):
    """Squared distance to the half-spaces of the optimal path's detours, a lower bound.

    Detours that replace disjoint stretches are orthogonal, so their distances add up in squares; 0 when the two
    paths meet in another order.
    """
    chain, walked, spot, forward = scratch.chain, scratch.walked, scratch.spot, scratch.forward
    for k in range(size + 1):
        spot[chain[k]] = k
    total, after, edges, node = 0.0, size, 0, chain[size]
    while node != chain[0]:
        node = tails[scratch.pred[node]]
        edges += 1
        before = spot[node]
        if before < 0:
            continue
        if before >= after:
            total = 0.0
            break
        gain = forward[node] - forward[chain[after]]
        for k in range(before, after):
            gain += center[walked[k]]
        if gain > 0.0:
            total += gain * gain / (edges + after - before)
        after, edges = before, 0
    for k in range(size + 1):
        spot[chain[k]] = -1
    return total


@njit(cache=True, nogil=True)
def _starting_potentials(scratch, n, best, nonnegative, center, size, group):
    """Midway between the cost from the origin and the optimum less the cost to the destination; rising on the path.

    Off the path no edge is then at its kink. Where costs must not be negative, an edge of the path that costs nothing
    keeps costing nothing: `group` gives its ends one potential.
    """
    w, place, chain = np.empty(n), scratch.place, scratch.chain
    for v in range(n):
        node = scratch.nodes[v]
        w[v] = 0.5 * (min(scratch.forward[node], best) + max(best - scratch.backward[node], 0.0))
        group[v] = v
    if nonnegative:
        for k in range(size):
            i, j = group[place[chain[k]]], place[chain[k + 1]]
            w[j] = max(w[i], w[j])
            if center[scratch.walked[k]] == 0.0:
                group[j] = i
                w[i] = w[j]
    return w


@njit(cache=True, nogil=True)
def _turned_edges(center, w, group, scratch, network_tails, m, tails, heads, slack):
    """The region's edges as `project_flow` takes them; returns how many join different potentials."""
    used = 0
    for k in range(m):
        e, i, j = scratch.edges[k], group[scratch.tails[k]], group[scratch.heads[k]]
        if i == j:
            continue
        left = center[e] - (w[j] - w[i])
        on = scratch.leaving[network_tails[e]] == e
        tails[used], heads[used], slack[used] = (j, i, -left) if on else (i, j, left)
        scratch.edges[used] = e
        used += 1
    return used


@njit(cache=True, nogil=True)
def _rises(w, group, scratch, size):
    """The potentials along the path, each once, and the rises between them."""
    chain, room = np.empty(size + 1, np.int64), np.empty(size)
    chain[0] = group[scratch.place[scratch.chain[0]]]
    at = 0
    for k in range(1, size + 1):
        v = group[scratch.place[scratch.chain[k]]]
        if v != chain[at]:
            room[at] = w[v] - w[chain[at]]
            at += 1
            chain[at] = v
    return chain[: at + 1], room[:at]


@njit(cache=True, nogil=True)
def _foot_length(center, norm_squared, square, edges, tails, heads, slack, x, leaving, network_tails):
    """Length of the costs that the potentials explain the path with."""
    total = 0.0
    near_origin = square > 0.5 * norm_squared  # then differences of squares would lose the digits
    outside = np.ones(len(center) if near_origin else 0, np.bool_)
    for k in range(len(edges)):
        e = edges[k]
        y = max(x[heads[k]] - x[tails[k]] - slack[k], 0.0)
        if leaving[network_tails[e]] == e:
            y = -y
        if near_origin:
            total += (center[e] + y) ** 2
            outside[e] = False
        else:
            total += y * (2.0 * center[e] + y)
    if not near_origin:
        return np.sqrt(norm_squared + total)
    for e in range(len(center)):
        if outside[e]:
            total += center[e] ** 2
    return np.sqrt(total)


@njit(cache=True, nogil=True)
def _project(
    in_start, in_edges, network_tails, center, norm_squared, closed, size, cost, nonnegative, max_iter, enough, scratch
):  # fmt: skip
    """Square, gap and foot's length for the walked path; a gap of inf is unproven, or stopped below `enough`."""
    origin, destination = scratch.chain[0], scratch.chain[size]
    n, m = grow_region(
        in_start, in_edges, network_tails, center, closed, origin, destination, cost * (1.0 + _ROUNDING),
        scratch.forward, scratch.backward, scratch.place, scratch.heap, scratch.keys,
        scratch.nodes, scratch.edges, scratch.tails, scratch.heads,
    )  # fmt: skip
    group = np.empty(n, np.int64)
    w = _starting_potentials(scratch, n, scratch.forward[destination], nonnegative, center, size, group)
    tails, heads, slack, x = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m), np.zeros(n)
    m = _turned_edges(center, w, group, scratch, network_tails, m, tails, heads, slack)
    tails, heads, slack = tails[:m], heads[:m], slack[:m]
    chain, room = _rises(w, group, scratch, size)
    # in the free domain costs have length 2 at most, so that no walk in the region is longer than this
    held, reach = (chain, cost) if nonnegative else (chain[:0], 2.0 * np.sqrt(m))
    square, gap = project_flow(tails, heads, slack, held, room, x, reach, max_iter, enough)
    for k in range(len(room)):
        # what the region leaves out may contradict a path of negative costs
        if not nonnegative and room[k] + x[chain[k + 1]] - x[chain[k]] < -_EPS * cost:
            square = gap = np.inf
    length = _foot_length(
        center, norm_squared, square, scratch.edges[:m], tails, heads, slack, x, scratch.leaving, network_tails
    )
    for v in range(n):
        scratch.place[scratch.nodes[v]] = -1
        scratch.backward[scratch.nodes[v]] = np.inf
    rounding = 4.0 * _EPS * cost * np.sqrt(m)
    return square, gap / np.sqrt(square) + rounding if square > 0.0 else rounding, length


@njit(cache=True, nogil=True)
def _group_end(origins, order, first, shared):
    last = first + 1
    while shared and last < len(order) and origins[order[last]] == origins[order[first]]:
        last += 1
    return last


@njit(cache=True, nogil=True)
def _dearest(center, indptr, indices, rows):
    """Cost of the dearest flow among `rows`."""
    dearest = 0.0
    for row in rows:
        cost = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            cost += center[indices[k]]
        dearest = max(dearest, cost)
    return dearest


@njit(cache=True, nogil=True)
def _place_row(
    in_start, in_edges, tails, center, norm_squared, closed, size, nonnegative, max_iter, below, above, scratch
):
    """Status, square, foot's length and error of the distance for one walked path."""
    cost = 0.0
    for k in range(size):
        cost += center[scratch.walked[k]]
    best = scratch.forward[scratch.chain[size]]
    if cost - best <= TIE * best:
        return EXACT, 0.0, 1.0, 0.0
    enough = -1.0
    if below > 0.0 or above < np.inf:
        lower = _detour_bound(tails, center, scratch, size)
        upper = _forward_bound(center, scratch.forward, scratch.chain, scratch.walked, size, nonnegative)
        if lower > _SURELY_APART:
            enough = min(below, _SURELY_EXPLAINED)
        if upper < enough:
            return BELOW, upper, 0.0, np.inf
        if lower > above and upper < _SURELY_EXPLAINED:
            return ABOVE, lower, 0.0, np.inf
    square, error, length = _project(
        in_start, in_edges, tails, center, norm_squared, closed, size, cost, nonnegative, max_iter, enough, scratch
    )
    return (BELOW if square < enough else EXACT), square, length, error


@njit(cache=True, nogil=True)
def project_paths_batch(
    out_start, out_edges, in_start, in_edges, tails, heads, closed, centers, origins, destinations, order,
    indptr, indices, nonnegative, max_iter, below, above,
):  # fmt: skip
    """Project each row's centre on the cone of its path; rows whose flow is no simple path are left undone.

    Rows are taken in `order`; neighbours there with equal origins share the origin's tree when `centers` has one row.
    A row whose squared distance is surely less than `below` or more than `above`, and surely neither that of an optimal
    nor of an inexplicable path, need only be proven to lie there.

    Returns
    -------
    status : int8 array (N,)
        UNDONE, EXACT, BELOW or ABOVE.
    squares, lengths, errors : float arrays (N,)
        Squared distance (a bound of it for rows BELOW and ABOVE), length of the projection, error of the distance.
    """
    n_rows = len(origins)
    status = np.zeros(n_rows, np.int8)
    squares, lengths, errors = np.zeros(n_rows), np.zeros(n_rows), np.zeros(n_rows)
    scratch = _scratch(len(out_start) - 1, len(tails))
    first = 0
    while first < n_rows:
        last = _group_end(origins, order, first, centers.shape[0] == 1)
        center = centers[0] if centers.shape[0] == 1 else centers[order[first]]
        norm_squared = np.sum(center * center)
        limit = _dearest(center, indptr, indices, order[first:last]) * (1.0 + _ROUNDING)
        costs_within(
            out_start, out_edges, heads, center, closed, origins[order[first]], limit,
            scratch.forward, scratch.pred, scratch.heap, scratch.keys,
        )  # fmt: skip
        for row in order[first:last]:
            flow = indices[indptr[row] : indptr[row + 1]]
            if _walk(tails, heads, flow, origins[row], destinations[row], scratch):
                status[row], squares[row], lengths[row], errors[row] = _place_row(
                    in_start, in_edges, tails, center, norm_squared, closed, len(flow), nonnegative, max_iter,
                    below, above, scratch,
                )  # fmt: skip
            for e in flow:
                scratch.leaving[tails[e]] = -1
                scratch.leaving[heads[e]] = -1
        first = last
    return status, squares, lengths, errors
