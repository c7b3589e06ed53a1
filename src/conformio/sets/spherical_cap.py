"""Spherical caps: all unit vectors within an angle of a centre (paper, equation of the uncertainty set).

With a unit centre `c`, an angle `a` in [0, pi], `s = c . x` and `n = |x|`, the support function is

    max over t in the cap of t . x  =  n                                       if s >= n cos(a)
                                       s cos(a) + sin(a) sqrt(n^2 - s^2)       otherwise.

The branch is decided by the angle between `x` and `c`, and `sqrt(n^2 - s^2)` is the length of the part of `x`
that is orthogonal to `c`: both keep their digits for angles near 0. With `domain="nonnegative"` the cap is
intersected with the nonnegative orthant (`_orthant`); for `x >= 0` that changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse, special

from conformio._kernels.sparse_rows import products_and_squares
from conformio.cards import Facts, card
from conformio.checks import (
    BoolArray,
    Decisions,
    Domain,
    FloatArray,
    RandomState,
    as_angle,
    as_decisions,
    as_generator,
    as_index,
    as_parameters,
    check_choice,
    check_same_rows,
    dense,
    first_row,
    unit_rows,
)
from conformio.errors import invalid
from conformio.sets._orthant import angle_between, orthant_worst_case, orthogonal_part, plain_worst_case
from conformio.sets.base import UncertaintySet

__all__ = ["SphericalCap"]

_MEMBER_TOLERANCE = 1e-12
_PROPOSALS = 1000
_BLOCK_ENTRIES = 1 << 21
_WELL_APART = 0.01


@dataclass(frozen=True, eq=False)
class SphericalCap(UncertaintySet):
    """Unit vectors within `angle` of `center`; `domain="nonnegative"` keeps those without negative entries.

    Parameters
    ----------
    center : array-like, shape (d,) or (N, d)
        Any length but 0; scaled to unit length. One row per decision gives every row a cap of its own.
    angle : float
        Radians, in [0, pi].
    domain : {"free", "nonnegative"}

    Raises
    ------
    InvalidInputError
        If a centre is zero or outside the domain, or the angle is outside [0, pi].

    Examples
    --------
    >>> import numpy as np
    >>> from conformio.sets import SphericalCap
    >>> cap = SphericalCap([2.0, 0.0], np.pi / 6)
    >>> cap.center
    array([1., 0.])
    >>> cap.support(np.array([[0.0, 1.0], [3.0, 0.0]])).round(6)
    array([0.5, 3. ])
    """

    center: FloatArray
    angle: float
    domain: Domain = "free"

    def __post_init__(self) -> None:
        where = "SphericalCap"
        check_choice(self.domain, ("free", "nonnegative"), "domain", where)
        object.__setattr__(self, "angle", as_angle(self.angle, "angle", where))
        object.__setattr__(self, "center", _unit_center(self.center, self.domain, where))

    def __repr__(self) -> str:
        many = "" if self.center.ndim == 1 else f"{len(self.center)} centers, "
        angle = f"angle={np.degrees(self.angle):.3g} degrees"
        return f"SphericalCap({many}n_params={self.n_params}, {angle}, domain={self.domain!r})"

    def _repr_html_(self) -> str:
        many = "one" if self.center.ndim == 1 else f"{len(self.center)}, one per decision"
        shown = np.array2string(self.center, precision=3, threshold=8, edgeitems=2)
        facts: Facts = [
            ("center", f"{many}; {shown}"),
            ("parameters", f"{self.n_params}, unit length, {self.domain}"),
            ("angle", f"{np.degrees(self.angle):.4g} degrees ({self.angle:.4g} radians)"),
        ]
        return card("SphericalCap", facts, "All unit vectors within the angle of the center.")

    @property
    def n_params(self) -> int:
        """Length `d` of the parameter vectors."""
        return int(self.center.shape[-1])

    def row(self, k: int) -> SphericalCap:
        """The cap of one row."""
        return self if self.center.ndim == 1 else SphericalCap(self.center[k], self.angle, self.domain)

    def support(self, x: Any) -> FloatArray:
        """`max theta . x` over the cap.

        Parameters
        ----------
        x : array-like (d,), or (N, d) dense or CSR
            With one centre per row, N is their number.

        Returns
        -------
        values : float for one vector, else (N,) array
        """
        values, single = self._as_rows(x, "SphericalCap.support")
        found = np.empty(values.shape[0])
        blocks = [slice(None)] if sparse.issparse(values) else _blocks(values.shape)
        for rows in blocks:
            found[rows] = self._support_rows(values[rows], self._centers(rows))
        return np.asarray(found[0] if single else found)

    def worst_case(self, x: Any) -> FloatArray:
        """A member of the cap that attains `support`.

        Among several (`x = 0`, or `x` opposite to the centre) the same one is returned every time.

        Parameters
        ----------
        x : array-like (d,), or (N, d) dense or CSR

        Returns
        -------
        theta : (d,) or (N, d) array of unit length
        """
        values, single = self._as_rows(x, "SphericalCap.worst_case")
        found = np.empty(values.shape)
        for rows in _blocks(values.shape):
            found[rows] = self._worst_rows(dense(values[rows]), self._centers(rows))
        return found[0] if single else found

    def contains(self, theta: ArrayLike) -> BoolArray:
        """Whether each vector, scaled to unit length, is a member, within 1e-12 in angle and in sign.

        Parameters
        ----------
        theta : array-like, shape (d,) or (N, d)

        Returns
        -------
        inside : bool for one vector, else (N,) array

        Raises
        ------
        InvalidInputError
            For a zero vector, which has no direction.
        """
        where = "SphericalCap.contains"
        values, single = self._as_rows(theta, where, "theta")
        values = dense(values)
        if not values.any(axis=1).all():
            row = None if single else first_row((values == 0.0).all(axis=1))
            raise invalid("theta", where, "must not be zero", "a zero vector", row=row)
        unit = unit_rows(values, "theta", where)
        inside = angle_between(unit, self.center) <= self.angle + _MEMBER_TOLERANCE
        if self.domain == "nonnegative":
            inside &= unit.min(axis=1) >= -_MEMBER_TOLERANCE
        return np.asarray(inside[0] if single else inside)

    def sample(self, size: int = 1, random_state: RandomState = None) -> FloatArray:
        """Independent uniform members.

        Parameters
        ----------
        size : int
            How many (from each row's cap when there is one centre per row).
        random_state : int, numpy.random.Generator or None

        Returns
        -------
        theta : (size, d) array, or (N, size, d) with one centre per row

        Raises
        ------
        InvalidInputError
            If `domain="nonnegative"` and fewer than about one in 1000 vectors of the whole cap is
            nonnegative: they are found by rejection, with at most 1000 proposals for each vector asked for.
        """
        where = "SphericalCap.sample"
        size = as_index(size, "size", where, low=1)
        rng = as_generator(random_state, where)
        if self.center.ndim == 2:
            return np.stack([self.row(k)._sample_one(size, rng, where) for k in range(len(self.center))])
        return self._sample_one(size, rng, where)

    def _as_rows(self, x: Any, where: str, argument: str = "x") -> tuple[Decisions, bool]:
        single = not sparse.issparse(x) and np.ndim(x) == 1
        values = as_decisions(np.asarray(x)[None] if single else x, self.n_params, where, argument)
        values = values.astype(np.float64, copy=False)
        if self.center.ndim == 2 and not single:
            check_same_rows(values.shape[0], len(self.center), argument, where)
        if self.center.ndim == 2 and single and len(self.center) != 1:
            rule = f"must have {len(self.center)} rows, one per centre"
            raise invalid(argument, where, rule, "one vector", remedy="Take the cap of one row with cap.row(k)")
        return values, single

    def _centers(self, rows: slice) -> FloatArray:
        return self.center if self.center.ndim == 1 else self.center[rows]

    def _support_rows(self, x: Decisions, center: FloatArray) -> FloatArray:
        values = _closed_form(x, center, self.angle)
        if self.domain == "nonnegative":
            signed = _has_negative(x)
            if signed.any():
                cut = dense(x[signed])
                worst = self._worst_rows(cut, center if center.ndim == 1 else center[signed])
                values[signed] = np.einsum("ij,ij->i", cut, worst)
        return values

    def _worst_rows(self, x: FloatArray, center: FloatArray) -> FloatArray:
        if self.domain == "free":
            return plain_worst_case(x, center, self.angle)
        centers = np.broadcast_to(center, x.shape)
        return np.array([orthant_worst_case(x[k], centers[k], self.angle) for k in range(len(x))]).reshape(x.shape)

    def _sample_one(self, size: int, rng: np.random.Generator, where: str) -> FloatArray:
        if self.domain == "free":
            return _sample_cap(self.center, self.angle, size, rng)
        found: list[FloatArray] = []
        for _ in range(_PROPOSALS):
            drawn = _sample_cap(self.center, self.angle, size, rng)
            found.append(drawn[drawn.min(axis=1) >= 0.0])
            if sum(map(len, found)) >= size:
                return np.concatenate(found)[:size]
        rule = f"must leave one in {_PROPOSALS} vectors of the cap nonnegative for sampling by rejection"
        raise invalid("angle", where, rule, self.angle, remedy='Sample a smaller angle, or domain="free"')


def _unit_center(center: ArrayLike, domain: Domain, where: str) -> FloatArray:
    shape = np.shape(center)
    if len(shape) not in (1, 2) or 0 in shape:
        raise invalid("center", where, "must have shape (d,) or (N, d), d >= 1", f"shape {shape}")
    values = as_parameters(center, shape[0], shape[-1], domain, where, "center")
    unit = unit_rows(values, "center", where)
    unit.setflags(write=False)
    return unit


def _blocks(shape: tuple[int, int]) -> Iterator[slice]:
    """Slices of rows small enough to be made dense."""
    step = max(1, _BLOCK_ENTRIES // shape[1])
    for start in range(0, shape[0], step):
        yield slice(start, start + step)


def _has_negative(x: Decisions) -> BoolArray:
    smallest = x.min(axis=1)
    return np.asarray((smallest.toarray() if sparse.issparse(smallest) else smallest) < 0.0).ravel()


def _closed_form(x: Decisions, center: FloatArray, angle: float) -> FloatArray:
    s, n, r = _lengths(x, center)
    if center.shape[-1] == 1:
        return np.asarray(n if angle >= np.pi else s, dtype=np.float64)
    return np.where(np.arctan2(r, s) <= angle, n, s * np.cos(angle) + r * np.sin(angle))


def _lengths(x: Decisions, center: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """`center . x`, `|x|` and the length of the part of `x` orthogonal to the centre, per row."""
    if not sparse.issparse(x):
        s, across = orthogonal_part(x, center)
        return s, np.linalg.norm(x, axis=1), np.linalg.norm(across, axis=1)
    s, squared = products_and_squares(x.indptr, x.indices, x.data, np.atleast_2d(center))
    rest = squared - s**2
    r = np.sqrt(np.maximum(rest, 0.0))
    # The difference loses digits where x is nearly parallel to the centre: those rows are made dense.
    near = np.flatnonzero((rest <= _WELL_APART * squared) & (squared > 0.0))
    for block in _blocks((len(near), x.shape[1])):
        rows = near[block]
        _, across = orthogonal_part(dense(x[rows]), center if center.ndim == 1 else center[rows])
        r[rows] = np.linalg.norm(across, axis=1)
    return s, np.sqrt(squared), r


def _sample_cap(center: FloatArray, angle: float, size: int, rng: np.random.Generator) -> FloatArray:
    d = len(center)
    if d == 1:
        signs = np.where(rng.random(size) < 0.5, -1.0, 1.0) if angle >= np.pi else np.ones(size)
        return np.asarray(signs[:, None] * center, dtype=np.float64)
    polar = _sample_polar_angle(d, angle, size, rng)[:, None]
    _, across = orthogonal_part(rng.standard_normal((size, d)), center)
    across /= np.linalg.norm(across, axis=1)[:, None]
    return np.asarray(np.cos(polar) * center + np.sin(polar) * across, dtype=np.float64)


def _sample_polar_angle(d: int, angle: float, size: int, rng: np.random.Generator) -> FloatArray:
    """Angles in [0, angle] with density `~ sin^(d-2)`, by inversion of the incomplete beta function."""
    k = (d - 1) / 2.0
    half = special.betainc(k, 0.5, np.sin(angle) ** 2) / 2.0
    if half < 1e-290 and angle < np.pi / 2:
        return _sample_small_polar_angle(d, angle, size, rng)
    mass = rng.random(size) * (half if angle <= np.pi / 2 else 1.0 - half)
    near = np.arcsin(np.sqrt(special.betaincinv(k, 0.5, 2.0 * np.minimum(mass, 1.0 - mass))))
    return np.asarray(np.minimum(np.where(mass <= 0.5, near, np.pi - near), angle), dtype=np.float64)


def _sample_small_polar_angle(d: int, angle: float, size: int, rng: np.random.Generator) -> FloatArray:
    """The same where the mass underflows: `y = sin` has density `~ y^(d-2) / sqrt(1 - y^2)`; rejection."""
    top = np.sin(angle)
    found = np.empty(0)
    while len(found) < size:
        y = top * rng.random(size) ** (1.0 / (d - 1))
        kept = rng.random(size) * np.sqrt(1.0 - y**2) <= np.cos(angle)
        found = np.concatenate([found, np.arcsin(y[kept])])
    return found[:size]
