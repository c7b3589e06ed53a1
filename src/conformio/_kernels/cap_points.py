"""Points of least worst-case loss in polytopes `{x : A x <= b (first rows =), lower <= x <= upper}` (compiled).

The loss of `x` over a cap with unit centre `c` and angle `a` is the least of `|x + lam c| - lam cos(a)` over
`lam >= 0`. For fixed `lam` the best `x` is the projection of `-lam c`, and the optimal `lam` makes the angle between
`y = x + lam c` and `c` equal to `a` (or is 0 if that angle is at most `a` there): the best value is convex in `lam`.

- A projection maximises its dual in the multipliers `v` of the rows alone, `x = clip(-lam c - A'v)`: semismooth Newton
  steps on the active rows, damped in proportion to the residual, which also carries dependent rows, and shortened
  until the dual grows.
- Between changes of the active set `y` is linear in `lam`, `y = Y0 + lam Y1`, and the best `lam` has a closed form:
  `(-B + cos(a) sqrt((C A - B^2) / (C - cos(a)^2))) / C` with `A = |Y0|^2, B = Y0 . Y1, C = |Y1|^2 > cos(a)^2`.
  Steps to it are Newton's; they stay within the bracket that signs of the slope give.

Nothing here is trusted: callers check `x` and grade it by the bound of `v` (weak duality).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from conformio.checks import BoolArray, FloatArray, IntArray

__all__ = ["robust_points"]

_RIDGE = 1e-13
_EXACT = 1e-14
_ROUNDING = 0.01
_NEWTON_STEPS = 200
_MULTIPLIERS = 100
_ARMIJO = 1e-4
_DAMPING = 0.01
_DAMPING_FLOOR = 1e-9
_SHORTEST = 0.01
_LARGEST = 1e12


@njit(cache=True, nogil=True)
def _at(
    A: FloatArray, lower: FloatArray, upper: FloatArray, b: FloatArray, target: FloatArray, v: FloatArray,
    x: FloatArray, slope: FloatArray,
) -> float:  # fmt: skip
    """Write `clip(target - A'v)` into `x` and `A x - b` into `slope`; the dual's value."""
    x[:] = target
    for i in range(len(v)):
        if v[i] != 0.0:
            for j in range(len(x)):
                x[j] -= v[i] * A[i, j]
    value = 0.0
    for j in range(len(x)):
        x[j] = min(max(x[j], lower[j]), upper[j])
        value += 0.5 * (x[j] - target[j]) ** 2
    for i in range(len(v)):
        total = 0.0
        for j in range(len(x)):
            total += A[i, j] * x[j]
        slope[i] = total - b[i]
        value += v[i] * slope[i]
    return value


@njit(cache=True, nogil=True)
def _factor(
    A: FloatArray,
    rows: IntArray,
    k: int,
    columns: IntArray,
    f: int,
    part: FloatArray,
    lower_triangle: FloatArray,
    damping: float,
) -> None:
    """Cholesky factor of `M M' + ridge`, `M` the rows and columns named."""
    for p in range(k):
        for q in range(f):
            part[p, q] = A[rows[p], columns[q]]
    largest = 0.0
    for p in range(k):
        for r in range(p + 1):
            total = 0.0
            for q in range(f):
                total += part[p, q] * part[r, q]
            lower_triangle[p, r] = total
        largest = max(largest, lower_triangle[p, p])
    ridge = _RIDGE * max(largest, 1.0) + damping
    for p in range(k):
        for r in range(p):
            total = lower_triangle[p, r]
            for q in range(r):
                total -= lower_triangle[p, q] * lower_triangle[r, q]
            lower_triangle[p, r] = total / lower_triangle[r, r]
        total = lower_triangle[p, p] + ridge
        for q in range(p):
            total -= lower_triangle[p, q] ** 2
        lower_triangle[p, p] = np.sqrt(max(total, ridge))


@njit(cache=True, nogil=True)
def _solve(lower_triangle: FloatArray, k: int, side: FloatArray) -> None:
    """Solve in place with the factor."""
    for p in range(k):
        for q in range(p):
            side[p] -= lower_triangle[p, q] * side[q]
        side[p] /= lower_triangle[p, p]
    for p in range(k - 1, -1, -1):
        for q in range(p + 1, k):
            side[p] -= lower_triangle[q, p] * side[q]
        side[p] /= lower_triangle[p, p]


@njit(cache=True, nogil=True)
def _pieces(
    lower: FloatArray, upper: FloatArray, x: FloatArray, v: FloatArray, slope: FloatArray, n_eq: int,
    rows: IntArray, columns: IntArray,
) -> tuple[int, int]:  # fmt: skip
    """Active rows and variables strictly inside their bounds, written to `rows` and `columns`; how many."""
    k, f = 0, 0
    for i in range(len(v)):
        if i < n_eq or v[i] > 0.0 or slope[i] > 0.0:
            rows[k] = i
            k += 1
    for j in range(len(x)):
        if lower[j] < x[j] < upper[j]:
            columns[f] = j
            f += 1
    return k, f


@njit(cache=True, nogil=True)
def _off(v: FloatArray, slope: FloatArray, n_eq: int) -> float:
    """By how much the rows and their multipliers fail to be complementary."""
    worst = 0.0
    for i in range(len(v)):
        gap = slope[i] if i < n_eq else v[i] - max(v[i] + slope[i], 0.0)
        worst = max(worst, abs(gap))
    return worst


@njit(cache=True, nogil=True)
def _project(
    A: FloatArray, n_eq: int, lower: FloatArray, upper: FloatArray, b: FloatArray, target: FloatArray,
    v: FloatArray, x: FloatArray, slope: FloatArray, rows: IntArray, columns: IntArray,
    part: FloatArray, triangle: FloatArray, room: float,
) -> bool:  # fmt: skip
    """Project `target`, starting from the multipliers `v`; whether that converged."""
    step, trial = np.empty(len(v)), np.empty(len(v))
    value, last, damping = _at(A, lower, upper, b, target, v, x, slope), np.inf, _DAMPING
    for _ in range(_NEWTON_STEPS):
        off = _off(v, slope, n_eq)
        if off <= room or (off <= 1000.0 * room and off >= 0.5 * last):
            return True
        last = off
        k, f = _pieces(lower, upper, x, v, slope, n_eq, rows, columns)
        _factor(A, rows, k, columns, f, part, triangle, damping * off)
        for p in range(k):
            step[p] = slope[rows[p]]
        _solve(triangle, k, step)
        length, reached = 1.0, -np.inf
        while length > _SHORTEST:
            trial[:] = v
            gain = 0.0
            for p in range(k):
                i = rows[p]
                trial[i] += length * step[p]
                if i >= n_eq and trial[i] < 0.0:
                    trial[i] = 0.0
                gain += slope[i] * (trial[i] - v[i])
            old = slope.copy()
            reached = _at(A, lower, upper, b, target, trial, x, slope)
            if reached >= value + _ARMIJO * gain - 1e-15 * (1.0 + abs(value)):
                break
            slope[:] = old
            length *= 0.25
        if length <= _SHORTEST:
            damping *= 100.0
            if damping > _LARGEST:
                return False
            _at(A, lower, upper, b, target, v, x, slope)
            continue
        damping = max(damping * (0.1 if length == 1.0 else 1.0 / length), _DAMPING_FLOOR)
        v[:] = trial
        value = reached
    return False


@njit(cache=True, nogil=True)
def _best_multiplier(
    A: FloatArray, c: FloatArray, lam: float, x: FloatArray, rows: IntArray, k: int, columns: IntArray, f: int,
    part: FloatArray, triangle: FloatArray, cosine: float, sine: float, drift: FloatArray,
) -> float:  # fmt: skip
    """The best `lam` if the active set stays (inf: ever larger); `drift` becomes the change of `v` with `lam`."""
    _factor(A, rows, k, columns, f, part, triangle, 0.0)
    for p in range(k):
        drift[p] = 0.0
        for q in range(f):
            drift[p] -= part[p, q] * c[columns[q]]
    _solve(triangle, k, drift)
    shadow = c.copy()
    for q in range(f):
        shadow[columns[q]] = 0.0
        for p in range(k):
            shadow[columns[q]] -= part[p, q] * drift[p]
    aa, ab, bb = 0.0, 0.0, 0.0
    for j in range(len(x)):
        base = x[j] + lam * (c[j] - shadow[j])
        aa += base * base
        ab += base * shadow[j]
        bb += shadow[j] * shadow[j]
    room = bb - cosine * cosine
    if room <= 1e-14 or bb <= 0.0:
        return np.inf if cosine > 0.0 else -np.inf
    start = (-ab + cosine * np.sqrt(max(bb * aa - ab * ab, 0.0) / room)) / bb
    return _polished(c, lam, x, shadow, start, cosine, sine)


@njit(cache=True, nogil=True)
def _polished(
    c: FloatArray, lam: float, x: FloatArray, shadow: FloatArray, start: float, cosine: float, sine: float
) -> float:
    """Newton's method for `_beyond = 0` on the line `x + (mu - lam) (shadow - c)` in `mu`, from `start`.

    The closed form loses digits to cancellation where `lam` is large.
    """
    mu = start
    for _ in range(3):
        along, along_rate = 0.0, 0.0
        for j in range(len(x)):
            along += c[j] * (x[j] + (mu - lam) * (shadow[j] - c[j]))
            along_rate += c[j] * (shadow[j] - c[j])
        across, across_rate = 0.0, 0.0
        for j in range(len(x)):
            part = x[j] + (mu - lam) * (shadow[j] - c[j]) - along * c[j]
            across += part * part
            across_rate += part * (shadow[j] - c[j] - along_rate * c[j])
        across = np.sqrt(across)
        rate = (cosine * across_rate / across if across > 0.0 else 0.0) - sine * (along_rate + 1.0)
        if rate >= 0.0:
            return start
        mu -= (cosine * across - sine * (along + mu)) / rate
    return mu if np.isfinite(mu) and abs(mu - start) <= 0.01 * (1.0 + abs(start)) else start


@njit(cache=True, nogil=True)
def _beyond(c: FloatArray, lam: float, x: FloatArray, cosine: float, sine: float) -> float:
    """`|y| sin(angle of y to c, minus a)` for `y = x + lam c`, from the part of `x` across `c`."""
    along, across = 0.0, 0.0
    for j in range(len(x)):
        along += c[j] * x[j]
    for j in range(len(x)):
        across += (x[j] - along * c[j]) ** 2
    return cosine * np.sqrt(across) - sine * (along + lam)


@njit(cache=True, nogil=True)
def _robust_point(
    A: FloatArray, n_eq: int, lower: FloatArray, upper: FloatArray, b: FloatArray, c: FloatArray, cosine: float,
    sine: float, lam: float, v: FloatArray, x: FloatArray, part: FloatArray, triangle: FloatArray,
) -> tuple[float, bool]:  # fmt: skip
    """Write the robust point and its multipliers, starting from `lam` and `v`; the best `lam`, and whether found."""
    m, n = A.shape
    slope, drift = np.empty(m), np.empty(m)
    rows, columns = np.empty(m, np.int64), np.empty(n, np.int64)
    low, high = 0.0, np.inf
    size = 1.0 + (np.abs(b).max() if m else 0.0)
    for _ in range(_MULTIPLIERS):
        room = _EXACT * (size + _ROUNDING * lam)
        if not _project(A, n_eq, lower, upper, b, -lam * c, v, x, slope, rows, columns, part, triangle, room):
            return lam, False
        if _beyond(c, lam, x, cosine, sine) <= 0.0:
            high = lam
            if lam == 0.0:
                return lam, True
        else:
            low = lam
        for i in range(m):
            slope[i] = 0.0
        k, f = _pieces(lower, upper, x, v, slope, n_eq, rows, columns)
        best = _best_multiplier(A, c, lam, x, rows, k, columns, f, part, triangle, cosine, sine, drift)
        if abs(best - lam) <= 1e-13 * (1.0 + lam):
            return lam, True
        if best <= 0.0 and low == 0.0:
            best = 0.0
        elif not low < best < high:
            best = 4.0 * lam + 1.0 if high == np.inf else 0.5 * (low + high)
        if best > _LARGEST:
            return lam, False
        if high < np.inf and high - low <= 1e-15 * (1.0 + high):
            return lam, True
        for p in range(k):
            i = rows[p]
            v[i] += (best - lam) * drift[p]
            if i >= n_eq and v[i] < 0.0:
                v[i] = 0.0
        lam = best
    return lam, False


@njit(cache=True, nogil=True)
def robust_points(
    A: FloatArray, n_eq: int, lower: FloatArray, upper: FloatArray, sides: FloatArray, centers: FloatArray,
    cosine: float, sine: float,
) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:  # fmt: skip
    """One point per row of `sides`.

    Parameters
    ----------
    A : float array (m, n)
    n_eq : int
        The first rows hold with equality.
    lower, upper : float arrays (N, n)
        May be infinite.
    sides : float array (N, m)
    centers : float array (1, n) or (N, n)
        Unit vectors.
    cosine, sine : float
        Of the cap's angle.

    Returns
    -------
    points : float array (N, n)
    multipliers : float array (N, m)
        Of the rows, in units of `y = x + lam c`.
    lams : float array (N,)
    found : bool array (N,)
        False where the search gave up.
    """
    n_rows, (m, n) = len(sides), A.shape
    points, multipliers = np.empty((n_rows, n)), np.zeros((n_rows, m))
    lams, found = np.zeros(n_rows), np.zeros(n_rows, np.bool_)
    part, triangle = np.empty((m, n)), np.empty((m, m))
    for row in range(n_rows):
        c = centers[0 if len(centers) == 1 else row]
        lams[row], found[row] = _robust_point(
            A,
            n_eq,
            lower[row],
            upper[row],
            sides[row],
            c,
            cosine,
            sine,
            1.0,
            multipliers[row],
            points[row],
            part,
            triangle,
        )
    return points, multipliers, lams, found
