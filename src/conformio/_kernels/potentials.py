"""Projection of costs on the inverse-feasible cone of one 0/1 flow, in node potentials (compiled).

For potentials `w` and `rise_e = w[head] - w[tail]`, the costs `min(c_e, rise_e)` on the flow and `max(c_e, rise_e)`
off it make the flow optimal on the flow linear program over [0, 1]; the closest such costs minimise

    F(w) = 1/2 sum_on max(c_e - rise_e, 0)^2 + 1/2 sum_off max(rise_e - c_e, 0)^2,

with `rise_e >= 0` on the flow as well when costs must stay nonnegative. F is convex and piecewise quadratic: Newton's
step is one weighted graph Laplacian, the line search is exact, the rise constraints form an active set. The work is
proved by its residual: `|w . grad F|` bounds the duality gap, and at a minimum `2 F = |y|^2` with `y` the hinges.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from conformio._kernels.laplacian import solve_laplacian

__all__ = ["OFF", "ON", "hinges", "hinges_twin", "project_flow"]

ON, OFF = 1, 0


@njit(cache=True, nogil=True)
def hinges(tails, heads, costs, side, w, y):
    """Fill `y` with each edge's hinge (flow that repairs it) and return the sum of squares."""
    total = 0.0
    for e in range(len(tails)):
        excess = w[heads[e]] - w[tails[e]] - costs[e]
        value = 0.0
        if side[e] == ON:
            if excess < 0.0:
                value = -excess
        elif side[e] == OFF and excess > 0.0:
            value = excess
        y[e] = value
        total += value * value
    return total


def hinges_twin(tails, heads, costs, side, w):
    """`hinges` in NumPy: the hinge of every edge."""
    excess = w[heads] - w[tails] - costs
    return np.where(side == ON, np.maximum(-excess, 0.0), np.where(side == OFF, np.maximum(excess, 0.0), 0.0))


@njit(cache=True, nogil=True)
def _gradient(tails, heads, side, y, g):
    g[:] = 0.0
    for e in range(len(tails)):
        if y[e] != 0.0:
            force = -y[e] if side[e] == ON else y[e]
            g[heads[e]] += force
            g[tails[e]] -= force


@njit(cache=True, nogil=True)
def _merge(chain, clamped, merged):
    """Map each node to its representative: chain nodes joined by clamped edges share the first one."""
    for v in range(len(merged)):
        merged[v] = v
    for p in range(len(chain) - 1):
        if clamped[p]:
            merged[chain[p + 1]] = merged[chain[p]]


@njit(cache=True, nogil=True)
def _release(chain, clamped, g, slack):
    """Unclamp the chain edge with the most negative multiplier; False when none is below `-slack`."""
    worst, where, mu = -slack, -1, 0.0
    for p in range(len(chain) - 1):
        if not clamped[p]:
            mu = 0.0
            continue
        mu -= g[chain[p]]
        if mu < worst:
            worst, where = mu, p
    if where >= 0:
        clamped[where] = False
    return where >= 0


@njit(cache=True, nogil=True)
def _newton_direction(tails, heads, merged, y, g, local, d):
    """Newton direction of F on merged nodes, spread to all nodes; nodes that no active edge touches stay."""
    local[:] = -1
    n = n_edges = 0
    for e in range(len(tails)):
        if y[e] != 0.0:
            i, j = merged[tails[e]], merged[heads[e]]
            if i != j:
                n_edges += 1
                if local[i] < 0:
                    local[i] = n
                    n += 1
                if local[j] < 0:
                    local[j] = n
                    n += 1
    rhs = np.zeros(n)
    for v in range(len(g)):
        if local[merged[v]] >= 0:
            rhs[local[merged[v]]] -= g[v]
    rows, cols = np.empty(n_edges, np.int64), np.empty(n_edges, np.int64)
    k = 0
    for e in range(len(tails)):
        if y[e] != 0.0:
            i, j = merged[tails[e]], merged[heads[e]]
            if i != j:
                rows[k], cols[k] = local[i], local[j]
                k += 1
    rhs = solve_laplacian(rows, cols, rhs)
    for v in range(len(d)):
        at = local[merged[v]]
        d[v] = rhs[at] if at >= 0 else 0.0


@njit(cache=True, nogil=True)
def _slopes(tails, heads, costs, side, w, d, t):
    """First and second derivative of `F(w + t d)` in t."""
    first = second = 0.0
    for e in range(len(tails)):
        rate = d[heads[e]] - d[tails[e]]
        if rate == 0.0 or side[e] < 0:
            continue
        excess = w[heads[e]] - w[tails[e]] - costs[e] + t * rate
        if (side[e] == ON) == (excess < 0.0) and excess != 0.0:
            first += excess * rate
            second += rate * rate
    return first, second


@njit(cache=True, nogil=True)
def _step_length(tails, heads, costs, side, w, d, longest):
    """Minimise the convex, piecewise quadratic `F(w + t d)` over [0, longest] by bracketed Newton steps."""
    start, _ = _slopes(tails, heads, costs, side, w, d, 0.0)
    if start >= 0.0:
        return 0.0
    low, high, t = 0.0, longest, min(1.0, longest)
    for _ in range(60):
        first, second = _slopes(tails, heads, costs, side, w, d, t)
        if abs(first) <= 1e-6 * -start:
            break
        if first < 0.0:
            low = t
            if t >= longest:
                break
        else:
            high = t
        guess = t - first / second if second > 0.0 else 2.0 * t
        if not (low < guess < high):
            guess = 0.5 * (low + high) if high < np.inf else 2.0 * t
            if guess >= high and high == longest:
                guess = longest
        if first < 0.0 and guess > longest:
            guess = longest
        t = guess
    return t


@njit(cache=True, nogil=True)
def _room(chain, clamped, w, d):
    """Longest step that keeps every unclamped chain edge's rise nonnegative."""
    longest = np.inf
    for p in range(len(chain) - 1):
        if not clamped[p]:
            rate = d[chain[p + 1]] - d[chain[p]]
            if rate < 0.0:
                longest = min(longest, max(w[chain[p + 1]] - w[chain[p]], 0.0) / -rate)
    return longest


@njit(cache=True, nogil=True)
def _clamp_blocked(chain, clamped, w, d, scale):
    """Clamp the chain edges whose rise reached zero while falling; level them exactly."""
    for p in range(len(chain) - 1):
        if not clamped[p]:
            rate = d[chain[p + 1]] - d[chain[p]]
            if rate < 0.0 and w[chain[p + 1]] - w[chain[p]] <= 1e-15 * scale:
                clamped[p] = True
    for p in range(len(chain) - 1):
        if clamped[p]:
            w[chain[p + 1]] = w[chain[p]]


@njit(cache=True, nogil=True)
def project_flow(tails, heads, costs, side, chain, w, max_iter):
    """Minimise F from potentials `w` (in place).

    Parameters
    ----------
    tails, heads : int64 arrays (E,)
        Endpoints as potential indices (nodes of a flow's loops share one index).
    costs : float array (E,)
        The centre.
    side : int8 array (E,)
        1 on the flow, 0 off it, -1 for edges this trip may not use.
    chain : int64 array
        Potential indices along the flow from origin to destination; empty when rises are unconstrained.
    w : float array
        Starting potentials, nondecreasing along `chain`.
    max_iter : int

    Returns
    -------
    distance_squared : float
        `|y|^2` at the last potentials; the costs they define are inverse-feasible, so this is an upper bound.
    residual : float
        Duality gap over `distance_squared`, the relative error of the squared distance; inf when the forces on
        nodes do not balance yet or a multiplier has the wrong sign.
    """
    n = len(w)
    y, g, d = np.empty(len(tails)), np.empty(n), np.empty(n)
    merged, local = np.arange(n), np.empty(n, np.int64)
    clamped = np.zeros(max(len(chain) - 1, 0), np.bool_)
    scale = np.max(np.abs(costs))
    squares, residual = 0.0, 0.0
    for _ in range(max_iter):
        squares = hinges(tails, heads, costs, side, w, y)
        _gradient(tails, heads, side, y, g)
        _merge(chain, clamped, merged)
        d[:] = 0.0
        for v in range(n):
            d[merged[v]] += g[v]
        gap = force = 0.0
        rounding = scale
        for v in range(n):
            gap += d[v] * w[v]
            force = max(force, abs(d[v]))
            rounding = max(rounding, abs(w[v]))
        residual = abs(gap) / squares if squares > 0.0 else 0.0
        if force <= 2e-15 * rounding or (residual <= 1e-13 and force <= 1e-11 * np.sqrt(squares)):
            if _release(chain, clamped, g, 1e-13 * scale):
                continue
            return squares, residual
        _newton_direction(tails, heads, merged, y, g, local, d)
        t = _step_length(tails, heads, costs, side, w, d, _room(chain, clamped, w, d))
        for v in range(n):
            w[v] += t * d[v]
        if len(chain):
            _clamp_blocked(chain, clamped, w, d, scale)
        if t == 0.0 and not np.any(clamped):
            break
    return squares, np.inf
