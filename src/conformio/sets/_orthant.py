"""Worst cases over a spherical cap that is cut by the nonnegative orthant.

For a unit centre `c >= 0` and an angle `a` the set is `C = {t : |t| = 1, t >= 0, t . c >= cos(a)}`, and we
want `max t . x` over it. No member of the orthant is further than a right angle from `c`, so `a` counts at
most as `pi/2`.

A maximiser on the cap's boundary satisfies `t ~ max(x + lam c, 0)` for a multiplier `lam >= 0` whenever some
entry of `x + lam c` is positive. Entries become positive one by one as `lam` grows, at `lam_i = -x_i / c_i`,
and the angle to `c` shrinks: a binary search over these breakpoints finds the positive entries, and on them
the problem is the plain cap in fewer dimensions. What is left is `x <= 0` where the maximiser jumps between
axes before any entry turns positive. There the second-order condition (curvature on the boundary has the sign
of the multiplier as soon as three entries are positive) leaves the axes inside the cap and the boundary
points with two positive entries; both are listed.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from conformio.checks import BoolArray, FloatArray

__all__ = ["angle_between", "orthant_worst_case", "orthogonal_part", "plain_worst_case"]

_PARALLEL = 1e-13
_TOGETHER = 1e-13


def angle_between(a: FloatArray, b: FloatArray) -> FloatArray:
    """Angle between unit vectors (last axis), accurate near 0 and pi, where `arccos` is not."""
    apart, along = np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)
    return np.asarray(2.0 * np.arctan2(apart, along), dtype=np.float64)


def orthogonal_part(x: FloatArray, center: FloatArray) -> tuple[FloatArray, FloatArray]:
    """`s = center . x` and `x - s center` per row, orthogonal to the unit `center` to the last digit."""
    s = np.sum(x * center, axis=-1)
    across = x - s[..., None] * center
    across -= np.sum(across * center, axis=-1)[..., None] * center
    return s, across


def plain_worst_case(x: FloatArray, center: FloatArray, angle: float) -> FloatArray:
    """Maximiser of `t . x` over the whole cap, per row of `x` (N, d); `center` broadcasts."""
    center = np.broadcast_to(center, x.shape)
    n = np.linalg.norm(x, axis=1)
    s, across = orthogonal_part(x, center)
    r = np.linalg.norm(across, axis=1)
    inside = np.arctan2(r, s) <= angle
    parallel = r <= _PARALLEL * n
    safe_n, safe_r = np.where(n > 0.0, n, 1.0), np.where(parallel, 1.0, r)
    sideways = np.where(parallel[:, None], _any_orthogonal(center), across / safe_r[:, None])
    if x.shape[1] == 1:
        opposite = np.where(angle >= np.pi, -1.0, 1.0) * center
        return np.where(s[:, None] < 0.0, opposite, center)
    tilted = np.cos(angle) * center + np.sin(angle) * sideways
    tilted /= np.linalg.norm(tilted, axis=1)[:, None]
    worst = np.where(inside[:, None], x / safe_n[:, None], tilted)
    return np.where(n[:, None] > 0.0, worst, center)


def _any_orthogonal(center: FloatArray) -> FloatArray:
    """A unit vector orthogonal to each row: the axis on which the row is smallest, made orthogonal."""
    axis = np.abs(center).argmin(axis=1)
    raw = np.zeros_like(center)
    raw[np.arange(len(center)), axis] = 1.0
    _, across = orthogonal_part(raw, center)
    lengths = np.linalg.norm(across, axis=1)
    return np.asarray(across / np.where(lengths > 0.0, lengths, 1.0)[:, None], dtype=np.float64)


def orthant_worst_case(x: FloatArray, center: FloatArray, angle: float) -> FloatArray:
    """Maximiser of `t . x` over the cap cut by the orthant, for one `x` (d,) and a unit `center >= 0`.

    Parameters
    ----------
    x : array, shape (d,)
    center : array, shape (d,)
        Nonnegative, of unit length.
    angle : float
        In [0, pi].
    """
    if angle == 0.0 or not x.any():
        return center
    start = _best_direction(x, center)
    if angle >= np.pi / 2 or angle_between(start, center) <= angle:
        return start
    plain: FloatArray = plain_worst_case(x[None], center, angle)[0]
    if plain.min() >= 0.0:
        return plain
    return _on_boundary(x, center, angle)


def _best_direction(w: FloatArray, center: FloatArray) -> FloatArray:
    """Maximiser of `t . w` over the orthant's unit vectors; of tied axes the one nearest the centre."""
    positive = np.maximum(w, 0.0)
    length = np.linalg.norm(positive)
    if length > 0.0:
        return np.asarray(positive / length, dtype=np.float64)
    ties = np.flatnonzero(w == w.max())
    best = np.zeros_like(w)
    best[ties[center[ties].argmax()]] = 1.0
    return best


def _on_boundary(x: FloatArray, center: FloatArray, angle: float) -> FloatArray:
    turns = _breakpoints(x, center)
    steps = np.unique(turns[np.isfinite(turns)])
    last = _first_inside(x, center, angle, steps)
    if not len(steps):
        return _best_listed(x, center, angle, [])
    before = steps[max(last, 1) - 1]
    active = turns <= before
    candidate = _on_face(x, center, angle, active) if last else None
    if candidate is not None:
        return candidate
    outside = _best_direction(x + before * center, center)
    if last == 0:  # entries that turn together are worth the same all along the boundary: from the farthest axis on
        outside = np.eye(len(x))[np.where(active, center, np.inf).argmin()]
    inward = np.where(active, center, 0.0)
    inward /= np.linalg.norm(inward)
    inside = inward if angle_between(inward, center) <= angle else center
    return _best_listed(x, center, angle, [_between(outside, inside, center, angle)])


def _breakpoints(x: FloatArray, center: FloatArray) -> FloatArray:
    """The multiplier from which on each entry of `x + lam c` is positive (inf: never)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        turns = np.where(center > 0.0, np.maximum(-x / center, 0.0), np.inf)
    turns = np.where(x > 0.0, 0.0, turns)
    # Entries parallel to the centre turn together; rounding must not part them.
    order = np.argsort(turns)[::-1]
    for after, here in pairwise(order[np.isfinite(turns[order])]):
        if turns[after] - turns[here] <= _TOGETHER * turns[after]:
            turns[here] = turns[after]
    return np.asarray(turns)


def _first_inside(x: FloatArray, center: FloatArray, angle: float, steps: FloatArray) -> int:
    """Index of the first breakpoint whose maximiser lies in the cap, `len(steps)` if none does."""
    low, high = 0, len(steps)
    while low < high:
        middle = (low + high) // 2
        if angle_between(_best_direction(x + steps[middle] * center, center), center) <= angle:
            high = middle
        else:
            low = middle + 1
    return low


def _on_face(x: FloatArray, center: FloatArray, angle: float, active: BoolArray) -> FloatArray | None:
    """The plain worst case with only the `active` entries, or None where no such point certifies itself."""
    on, off = center[active], center[~active]
    length = float(np.linalg.norm(on))
    # cos(b) = cos(a) / length; 1 - length^2 would cancel at tiny angles, the other entries' sum does not.
    room = np.sin(angle) ** 2 - float(off @ off)
    if length == 0.0 or room < 0.0:
        return None
    inner = np.arctan2(np.sqrt(room), np.cos(angle))
    _, across = orthogonal_part(x[active], on / length)
    if np.linalg.norm(across) <= 1e-12 * np.linalg.norm(x[active]):
        return None
    face = plain_worst_case(x[active][None], on / length, float(inner))[0]
    if face.min() < -1e-9:
        return None
    found = np.zeros_like(x)
    found[active] = np.maximum(face, 0.0)
    return np.asarray(found / np.linalg.norm(found), dtype=np.float64)


def _between(outside: FloatArray, inside: FloatArray, center: FloatArray, angle: float) -> FloatArray:
    """The point of the arc from `outside` to `inside` (both unit) that lies on the cap's boundary."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        point = (1.0 - middle) * outside + middle * inside
        if angle_between(point / np.linalg.norm(point), center) <= angle:
            high = middle
        else:
            low = middle
    point = (1.0 - high) * outside + high * inside
    return np.asarray(point / np.linalg.norm(point), dtype=np.float64)


def _best_listed(x: FloatArray, center: FloatArray, angle: float, listed: list[FloatArray]) -> FloatArray:
    """Best of the listed points, axes inside the cap, boundary points with two positive entries."""
    axes = np.eye(len(x))
    near = angle_between(axes, center) <= angle
    choices = [*listed, center]
    if near.any():
        choices.append(axes[near][x[near].argmax()])
    pair = _best_pair(x, center, angle)
    if pair is not None:
        choices.append(pair)
    return choices[int(np.argmax([point @ x for point in choices]))]


def _best_pair(x: FloatArray, center: FloatArray, angle: float) -> FloatArray | None:
    """Best `p e_i + q e_j`, `p, q >= 0`, `p^2 + q^2 = 1`, `p c_i + q c_j = cos(a)`; None without any."""
    i, j = np.triu_indices(len(x), k=1)
    top = center.argmax()
    squares = center**2
    rest = squares.copy()
    rest[top] = 0.0
    neither = np.where((i == top) | (j == top), 0.0, squares[top])
    room = np.sin(angle) ** 2 - (rest.sum() - rest[i] - rest[j] + neither)
    width = np.arctan2(np.sqrt(np.maximum(room, 0.0)), np.cos(angle))
    middle = np.arctan2(center[j], center[i])
    best, found = -np.inf, None
    for turn in (middle - width, middle + width):
        value = np.where(
            (room >= 0.0) & (turn >= 0.0) & (turn <= np.pi / 2),
            np.cos(turn) * x[i] + np.sin(turn) * x[j],
            -np.inf,
        )
        k = int(value.argmax()) if len(value) else -1
        if k >= 0 and value[k] > best:
            best, found = float(value[k]), np.zeros_like(x)
            found[i[k]], found[j[k]] = np.cos(turn[k]), np.sin(turn[k])
    return found
