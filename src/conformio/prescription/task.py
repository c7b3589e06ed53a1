"""One robust prescription to be worked on, the same for all routes.

Routes minimise. With `y = sign * basis(x)`, `sign` +1 for `min` problems and -1 for `max` problems, the
robust problem is

    min over x in X(u) of  loss(x) = max over theta in the cap of theta . y,

and the worst-case objective is `sign * loss(x)`: for `max` problems `max_x min_theta theta . f(x)` is minus
that minimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from conformio.checks import Decisions, FloatArray, IntArray
from conformio.errors import told_of
from conformio.problems.base import Problem, row_products
from conformio.sets import SphericalCap

__all__ = ["TIE_ANGLE", "TIE_TOLERANCE", "RobustTask", "row_blocks"]

TIE_ANGLE = 1e-9
"""Angles up to this one get the decision of the limit `alpha -> 0+`: the shortest nominal optimum."""

TIE_TOLERANCE = 1e-9
"""Relative difference (centre of unit length) up to which decisions are equally good at angle 0."""

_BLOCK_ENTRIES = 1 << 22


@dataclass(frozen=True, eq=False)
class RobustTask:
    """A problem, a cap and checked contexts, one row each.

    Attributes
    ----------
    relaxed : bool
        Wholeness is dropped.
    numbers : int array
        The caller's number of each row, for errors.
    """

    problem: Problem
    cap: SphericalCap
    contexts: FloatArray
    relaxed: bool
    numbers: IntArray
    where: str

    def __len__(self) -> int:
        return len(self.contexts)

    @property
    def sign(self) -> float:
        """+1 for `min`, -1 for `max`."""
        return self.problem.sign

    @property
    def shared_center(self) -> bool:
        """Whether all rows have one centre."""
        return self.cap.center.ndim == 1

    @cached_property
    def orthant_matters(self) -> bool:
        """Whether the cap's nonnegative domain can change binary decisions' losses: for `max` only."""
        return self.cap.domain == "nonnegative" and self.problem.sense == "max"

    @cached_property
    def floor(self) -> float:
        """A number no loss is below: 0 where the cap's hull holds the origin, else -inf."""
        cap = self.cap
        around = cap.angle > np.pi / 2 and cap.domain == "free" and cap.n_params > 1
        return 0.0 if around else -np.inf

    @cached_property
    def reach(self) -> float:
        """Largest angle between the centre and a member, radians: no two members of an orthant are further apart."""
        return min(self.cap.angle, np.pi / 2 if self.cap.domain == "nonnegative" else np.pi)

    def center(self, k: int) -> FloatArray:
        """Unit centre of one row."""
        return self.cap.center if self.shared_center else self.cap.center[k]

    def number(self, k: int | np.integer[Any]) -> int:
        """The caller's number of row `k`."""
        return int(self.numbers[k])

    def take(self, rows: IntArray) -> RobustTask:
        """Some of the rows."""
        return replace(self, cap=self.cap_rows(rows), contexts=self.contexts[rows], numbers=self.numbers[rows])

    def cap_rows(self, rows: IntArray) -> SphericalCap:
        """The caps of some rows."""
        if self.shared_center:
            return self.cap
        return SphericalCap(self.cap.center[rows], self.cap.angle, self.cap.domain)

    def signed_basis(self, decisions: Decisions) -> Decisions:
        """`sign * basis(x)` per row."""
        values = decisions if self.problem.linear else self.problem.basis(decisions)
        return values if self.sign > 0 else -values

    def losses(self, decisions: Decisions, rows: IntArray, cap: SphericalCap | None = None) -> FloatArray:
        """Worst-case loss of one decision for each of `rows`, over their own caps or a substitute."""
        if len(rows) == 0:
            return np.zeros(0)
        values: FloatArray = (cap or self.cap_rows(rows)).support(self.signed_basis(decisions))
        return values

    def nominal(self, theta: FloatArray, rows: IntArray) -> Decisions:
        """Nominal optima of some rows, `theta` (d,) or one per row of `rows`; errors name the task's rows."""
        with told_of(self.where, self.numbers[rows]):
            return self.problem.nominal(theta, self.contexts[rows])

    def nominal_at_center(self, rows: IntArray) -> Decisions:
        """Nominal optima for the centres."""
        return self.nominal(self.cap.center if self.shared_center else self.cap.center[rows], rows)

    def products(self, theta: FloatArray, decisions: Decisions) -> FloatArray:
        """`theta . y` per row."""
        return row_products(theta, self.signed_basis(decisions))


def row_blocks(rows: IntArray, width: int) -> Iterator[IntArray]:
    """Pieces of `rows` for which one dense vector of `width` numbers each fits in memory comfortably."""
    step = max(1, _BLOCK_ENTRIES // width)
    for start in range(0, len(rows), step):
        yield rows[start : start + step]
