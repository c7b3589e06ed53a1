"""Geometry of the parametric route: the lower-left hull of attainable pairs `(m, s)`.

For binary `x` write `m = 1 . x = |x|^2` and `s = c . y` with `y = +-x`. The worst-case loss is a function of
both,

    sigma(m, s) = sqrt(m)                                        if s >= sqrt(m) cos(a)
                  s cos(a) + sin(a) sqrt(m - s^2)                otherwise,

nondecreasing in each, and smooth where the branches meet. Walk down a segment of falling `m` and rising `s`.
The first branch falls with `m`; the second is concave in `(m, s)`. The first holds where
`s - cos(a) sqrt(m) >= 0`: for `a <= pi/2` the left side only grows, so one meets the second branch, then the
first; for `a > pi/2` it is concave, so one may meet the second again, but one enters it falling, and concave
it keeps falling. Either way the least value on the segment lies at an end.

An optimum is therefore a vertex of the hull, hence a nominal optimum for costs `c + lam 1` with some
`lam >= 0`, and between two supporting lines nothing is below the least of `sigma` at the two points and at
the corner where the lines meet. Pairs with `|s| > sqrt(m)` do not exist: a corner with `s < -sqrt(m)` is replaced
by the two places where the lines cross `s = -sqrt(m)`, where `sigma = s cos(a)` runs straight between them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import cos, inf, sin, sqrt

__all__ = ["Point", "Support", "Walk", "lower_bound", "sigma"]

_PRUNE = 1e-14
_NO_GAIN = 1e-12


@dataclass(frozen=True)
class Point:
    """An attained pair, its loss, and where its decision is kept."""

    m: float
    s: float
    loss: float
    place: int


@dataclass(frozen=True)
class Support:
    """A multiplier and a point that is nominally optimal for it (`multiplier` inf: fewest ones)."""

    multiplier: float
    point: Point

    def height(self) -> float:
        """Least attainable `s + multiplier m`."""
        return self.point.s + self.multiplier * self.point.m


def sigma(m: float, s: float, angle: float) -> float:
    """Worst-case loss as a function of `(m, s)` with `|s| <= sqrt(m)`."""
    n = sqrt(m)
    if s >= n * cos(angle):
        return n
    return s * cos(angle) + sin(angle) * sqrt(max(m - s * s, 0.0))


def lower_bound(left: Support, right: Support, angle: float) -> float:
    """A number below `sigma` of every attainable pair between two supports (see the module's text)."""
    ends = min(left.point.loss, right.point.loss)
    if left.point.m == right.point.m:
        return ends
    m, s = _corner(left, right)
    if s < -sqrt(m):
        return min(ends, _leaving(left) * cos(angle), _entering(right) * cos(angle))
    return min(ends, sigma(m, s, angle))


def _corner(left: Support, right: Support) -> tuple[float, float]:
    """Where the two supporting lines meet, kept between the two points against rounding."""
    height = left.height()
    if right.multiplier == inf:
        m = right.point.m
    else:
        m = (right.height() - height) / (right.multiplier - left.multiplier)
        m = min(max(m, right.point.m), left.point.m)
    return m, height - left.multiplier * m


def _leaving(left: Support) -> float:
    """The `s` at which the left supporting line, followed to smaller `m`, crosses `s = -sqrt(m)`."""
    height = left.height()
    return 2.0 * height / (1.0 + sqrt(max(1.0 + 4.0 * left.multiplier * height, 0.0)))


def _entering(right: Support) -> float:
    """The `s` at which the right supporting line, followed to larger `m`, crosses `s = -sqrt(m)`."""
    if right.multiplier == inf:
        return -sqrt(right.point.m)
    root = sqrt(max(1.0 + 4.0 * right.multiplier * right.height(), 0.0))
    return -(1.0 + root) / (2.0 * right.multiplier)


@dataclass
class Walk:
    """The search of one row's hull: supports found so far, stretches still open, and the best point.

    `prune=False` enumerates the whole hull.
    """

    angle: float
    best: Point
    prune: bool = True
    closed: float = inf
    _open: list[tuple[Support, Support]] = field(default_factory=list)

    def start(self, supports: list[Support]) -> None:
        """Begin with supports in the order of their multipliers."""
        for support in supports:
            self._consider(support.point)
        self._open = list(pairwise(supports))

    def next_multiplier(self) -> float | None:
        """The multiplier to ask the oracle for next; None when nothing is left."""
        while self._open:
            left, right = self._open[-1]
            bound = lower_bound(left, right, self.angle)
            flat = right.point.s <= left.point.s or right.point.m >= left.point.m
            if flat or (self.prune and bound >= self.best.loss - _PRUNE * max(1.0, abs(self.best.loss))):
                self.closed = min(self.closed, bound)
                self._open.pop()
                continue
            return (right.point.s - left.point.s) / (left.point.m - right.point.m)
        return None

    def answer(self, multiplier: float, point: Point) -> None:
        """Take in what the oracle found for `next_multiplier`."""
        left, right = self._open.pop()
        chord = left.point.s + multiplier * left.point.m
        gain = chord - (point.s + multiplier * point.m)
        self._consider(point)
        if gain <= _NO_GAIN * max(1.0, abs(chord)):
            self.closed = min(self.closed, left.point.loss - max(gain, 0.0), right.point.loss - max(gain, 0.0))
            return
        middle = Support(multiplier, point)
        self._open += [(middle, right), (left, middle)]

    def bound(self) -> float:
        """A number below every attainable loss, for the stretches looked at so far."""
        still = (lower_bound(left, right, self.angle) for left, right in self._open)
        return min(self.best.loss, self.closed, *still)

    def _consider(self, point: Point) -> None:
        if (point.loss, point.m) < (self.best.loss, self.best.m):
            self.best = point
