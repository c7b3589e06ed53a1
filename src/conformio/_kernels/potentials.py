"""Projection of costs on the inverse-feasible cone of one 0/1 flow, in node potentials (compiled).

For potentials `w` and `rise_e = w[head] - w[tail]`, the costs `min(c_e, rise_e)` on the flow and `max(c_e, rise_e)`
off it make the flow optimal on the flow linear program over [0, 1]. Turn the flow's edges round, with `-c_e` for their
cost, and the closest such costs minimise one sum over all edges,

    F(w) = 1/2 sum_e y_e^2,    hinge y_e = max(rise_e - c_e, 0),

with rises `>= 0` along the flow as well when costs must stay nonnegative. Only changes `x` of starting potentials are
handled, and slacks `c_e - rise_e` at the start: so distances far below the rounding of a trip's cost keep their digits.

F is convex and piecewise quadratic. Newton's step is one graph Laplacian over the edges at work, the line search is
exact, the rise constraints form an active set. First each kink is rounded off over a width that shrinks step by step,
which lets edges join before the potentials have crept up to them; the last steps are on F itself.

Proof: with forces `g = grad F(w)`, convexity gives `F* >= F(w) - |g|_1 R` for any bound `R` on how far `w` is from
some minimiser, forces that a constraint holds up (multipliers >= 0) not counted. `2 F(w)` is attained.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from conformio._kernels.envelope import solve_weighted

__all__ = ["hinges", "hinges_twin", "project_flow", "settle"]

_FIRST_WIDTH = 1.0
_NARROWER = 0.4
_WIDTHS = 7
_PATIENCE = 40
_FAINT = 1e-3
_SEARCHED = 0.1
_PROVEN = 1e-10
_EPS = 2.0**-52


@njit(cache=True, nogil=True)
def hinges(tails, heads, slack, x, y):
    """Fill `y` with each edge's hinge (the flow that repairs it) and return the sum of squares."""
    total = 0.0
    for e in range(len(tails)):
        excess = x[heads[e]] - x[tails[e]] - slack[e]
        y[e] = excess if excess > 0.0 else 0.0
        total += y[e] * y[e]
    return total


def hinges_twin(tails, heads, slack, x):
    """`hinges` in NumPy: the hinge of every edge."""
    return np.maximum(x[heads] - x[tails] - slack, 0.0)


@njit(cache=True, nogil=True)
def settle(tails, heads, slack, x, room):
    """Lower potentials in place until no edge's hinge exceeds `room`; whether that is possible (Bellman and Ford)."""
    for _ in range(len(x) + 1):
        changed = False
        for e in range(len(tails)):
            limit = x[tails[e]] + slack[e]
            if x[heads[e]] > limit + room:
                x[heads[e]] = limit
                changed = True
        if not changed:
            return True
    return False


@njit(cache=True, nogil=True)
def _pull(tails, heads, slack, x, width, excess, weights, g):
    """Excess, second derivative and force of every edge, kinks rounded over `width`; sums of `y^2` and of `y`."""
    squares = total = 0.0
    g[:] = 0.0
    for e in range(len(tails)):
        i, j = tails[e], heads[e]
        q = x[j] - x[i] - slack[e]
        excess[e] = q
        force = 0.0
        if q > 0.0:
            squares += q * q
            total += q
        if q >= width:
            force = max(q, 0.0)
            weights[e] = 1.0 if q > 0.0 else 0.0
        elif q > -width:
            force = (q + width) ** 2 / (4.0 * width)
            weights[e] = max((q + width) / (2.0 * width), _FAINT)
        else:
            weights[e] = 0.0
        g[j] += force
        g[i] -= force
    return squares, total


@njit(cache=True, nogil=True)
def _merge(chain, clamped, g, merged, forces):
    """Nodes joined by clamped edges move as one, the first of them; their forces add up. Returns the sum of sizes."""
    for v in range(len(merged)):
        merged[v] = v
        forces[v] = 0.0
    for p in range(len(clamped)):
        if clamped[p]:
            merged[chain[p + 1]] = merged[chain[p]]
    for v in range(len(merged)):
        forces[merged[v]] += g[v]
    return np.sum(np.abs(forces))


@njit(cache=True, nogil=True)
def _multipliers(chain, clamped, g):
    """Sum of the negative multipliers of clamped edges, and the edge with the worst (-1: none)."""
    total, worst, where, mu = 0.0, 0.0, -1, 0.0
    for p in range(len(clamped)):
        if not clamped[p]:
            mu = 0.0
            continue
        mu -= g[chain[p]]
        if mu < 0.0:
            total -= mu
        if mu < worst:
            worst, where = mu, p
    return total, where


@njit(cache=True, nogil=True)
def _release_wrong(chain, clamped, g):
    """Free every clamped edge whose multiplier is negative."""
    mu = 0.0
    for p in range(len(clamped)):
        mu = mu - g[chain[p]] if clamped[p] else 0.0
        if mu < 0.0:
            clamped[p] = False


@njit(cache=True, nogil=True)
def _newton_step(tails, heads, weights, merged, forces, number, step):
    """Newton's direction on merged nodes, spread to all of them; nodes that no edge at work touches stay."""
    number[:] = -1
    used = 0
    for e in range(len(tails)):
        if weights[e] > 0.0 and merged[tails[e]] != merged[heads[e]]:
            used += 1
            number[merged[tails[e]]] = 0
            number[merged[heads[e]]] = 0
    n = 0
    for v in range(len(number)):
        if number[v] == 0:
            number[v] = n
            n += 1
    rows, cols, at_work, rhs = np.empty(used, np.int64), np.empty(used, np.int64), np.empty(used), np.empty(n)
    k = 0
    for e in range(len(tails)):
        if weights[e] > 0.0 and merged[tails[e]] != merged[heads[e]]:
            rows[k], cols[k], at_work[k] = number[merged[tails[e]]], number[merged[heads[e]]], weights[e]
            k += 1
    for v in range(len(number)):
        if number[v] >= 0:
            rhs[number[v]] = -forces[v]
    rhs = solve_weighted(rows, cols, at_work, rhs)
    for v in range(len(step)):
        at = number[merged[v]]
        step[v] = rhs[at] if at >= 0 else 0.0


@njit(cache=True, nogil=True)
def _slopes(excess, rates, width, t):
    """First and second derivative along the step, at `t`."""
    first = second = 0.0
    for e in range(len(excess)):
        q = excess[e] + t * rates[e]
        if q >= width:
            if q > 0.0:
                first += q * rates[e]
                second += rates[e] * rates[e]
        elif q > -width:
            first += (q + width) ** 2 / (4.0 * width) * rates[e]
            second += (q + width) / (2.0 * width) * rates[e] * rates[e]
    return first, second


@njit(cache=True, nogil=True)
def _step_length(excess, rates, width, longest):
    """Minimise along the step over [0, longest], a convex function, by bracketed Newton steps."""
    start, _ = _slopes(excess, rates, width, 0.0)
    if start >= 0.0:
        return 0.0
    low, high, t = 0.0, longest, min(1.0, longest)
    for _ in range(60):
        first, second = _slopes(excess, rates, width, t)
        if abs(first) <= _SEARCHED * -start or (first < 0.0 and t >= longest):
            break
        if first < 0.0:
            low = t
        else:
            high = t
        guess = t - first / second if second > 0.0 else 2.0 * t
        if first < 0.0 and guess >= longest:
            guess = longest
        elif not low < guess < high:
            guess = 0.5 * (low + high) if high < np.inf else 2.0 * t
        t = guess
    return t


@njit(cache=True, nogil=True)
def _longest(chain, clamped, room, x, step):
    """Longest step that keeps every rise along the chain nonnegative."""
    longest = np.inf
    for p in range(len(clamped)):
        if not clamped[p]:
            rate = step[chain[p + 1]] - step[chain[p]]
            if rate < 0.0:
                longest = min(longest, max(room[p] + x[chain[p + 1]] - x[chain[p]], 0.0) / -rate)
    return longest


@njit(cache=True, nogil=True)
def _clamp_blocked(chain, clamped, room, x, step, tiny):
    """Clamp the chain edges whose rise came down to zero; level them exactly."""
    changed = False
    for p in range(len(clamped)):
        i, j = chain[p], chain[p + 1]
        if not clamped[p] and step[j] < step[i] and room[p] + x[j] - x[i] <= tiny:
            clamped[p] = changed = True
        if clamped[p]:
            x[j] = x[i] - room[p]
    return changed


@njit(cache=True, nogil=True)
def project_flow(tails, heads, slack, chain, room, x, reach, max_iter, enough):
    """Minimise F over changes `x` of the starting potentials, in place.

    Parameters
    ----------
    tails, heads : int64 arrays (m,)
        Ends of the edges that may be used, the flow's own turned round; never equal.
    slack : float array (m,)
        Cost less rise at the start; both negated on the flow's own edges.
    chain : int64 array
        Potential indices along the flow from origin to destination; empty when rises are unconstrained.
    room : float array (len(chain) - 1,)
        Rise at the start between neighbours on the chain, at least 0.
    x : float array (n,)
        Zeros.
    reach : float
        Bound on the distance between the starting potentials and some minimiser, in any entry.
    max_iter : int
    enough : float
        Stop once the square is less.

    Returns
    -------
    square : float
        `|y|^2` at the last potentials, an upper bound of the squared distance.
    gap : float
        `square - gap` is a lower bound; inf after stopping early.
    """
    n, m = len(x), len(tails)
    excess, rates, weights = np.empty(m), np.empty(m), np.empty(m)
    g, forces, step = np.empty(n), np.empty(n), np.empty(n)
    merged, number = np.empty(n, np.int64), np.empty(n, np.int64)
    clamped = np.zeros(max(len(chain) - 1, 0), np.bool_)
    width, smallest, tried = _first_width(slack)
    tiny = 1e-15 * np.max(np.abs(slack)) if m > 0 else 0.0
    square = 0.0
    for _ in range(max_iter):
        square, total = _pull(tails, heads, slack, x, width, excess, weights, g)
        if square < enough or square == 0.0:
            return square, (0.0 if square == 0.0 else np.inf)
        unbalanced = _merge(chain, clamped, g, merged, forces)
        moved = np.max(x) - np.min(x)
        if width == 0.0:
            bound = 2.0 * (reach + moved)
            settled = unbalanced * bound <= _PROVEN * square or unbalanced <= _EPS * n * moved
            wrong, worst = _multipliers(chain, clamped, g)
            if settled and wrong * bound <= _PROVEN * square:
                return square, bound * (unbalanced + wrong + 16.0 * _EPS * total)
            if settled:
                clamped[worst] = False
                continue
        _newton_step(tails, heads, weights, merged, forces, number, step)
        for e in range(m):
            rates[e] = step[heads[e]] - step[tails[e]]
        longest = _longest(chain, clamped, room, x, step)
        t = _step_length(excess, rates, width, longest)
        for v in range(n):
            x[v] += t * step[v]
        changed = _clamp_blocked(chain, clamped, room, x, step, tiny)
        if width > 0.0:
            tried += 1
            if t > 0.5 or tried % _PATIENCE == 0:
                width *= _NARROWER
                _release_wrong(chain, clamped, g)
            if width < smallest or (t == 0.0 and longest > 0.0):
                width = 0.0
        elif t == 0.0 and not changed:
            wrong, _ = _multipliers(chain, clamped, g)
            return square, 2.0 * (reach + moved) * (unbalanced + wrong + 16.0 * _EPS * total)
    return square, np.inf


@njit(cache=True, nogil=True)
def _first_width(slack):
    """A part of the mean violation at the start, the last width worth rounding over, and no steps tried."""
    total, violated = 0.0, 0
    for value in slack:
        if value < 0.0:
            total -= value
            violated += 1
    width = _FIRST_WIDTH * total / max(violated, 1)
    return width, width * _NARROWER ** (_WIDTHS - 0.5), 0
