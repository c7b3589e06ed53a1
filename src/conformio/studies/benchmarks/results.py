"""What a comparison found: lines with targets, checks of equality, every timing, curves of growth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal, TypeAlias

import numpy as np

__all__ = ["Check", "Curve", "Line", "Outcome", "Scalar", "Target", "Timing", "duration", "fitted_exponent", "ratio"]

Scalar: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True)
class Timing:
    """Seconds of every counted run of one piece of work.

    Attributes
    ----------
    label : str
    seconds : tuple of float
        One entry a run.
    items : int
        Rows (or steps) that one run handles.
    peak_mib : float or None
        Most memory the process held during the first, uncounted run; None where the system does not tell.
    """

    label: str
    seconds: tuple[float, ...]
    items: int = 1
    peak_mib: float | None = None

    @property
    def median(self) -> float:
        """Seconds an item, the median run."""
        return median(self.seconds) / self.items

    @property
    def low(self) -> float:
        """Seconds an item, the fastest run."""
        return min(self.seconds) / self.items

    @property
    def high(self) -> float:
        """Seconds an item, the slowest run."""
        return max(self.seconds) / self.items


@dataclass(frozen=True)
class Target:
    """What issue or page promises: a bound, and for some lines an aim beyond it."""

    kind: Literal["at least", "at most"]
    value: float
    aim: float | None = None

    def met(self, value: float) -> bool:
        """Whether the bound holds."""
        return value >= self.value if self.kind == "at least" else value <= self.value


@dataclass(frozen=True)
class Line:
    """One number of the table: a ratio (unit "x"), seconds ("s") or memory ("GiB").

    Attributes
    ----------
    work, baseline : str
    value, low, high : float
        The ratio of medians, and what the slowest run of one side and the fastest of the other would give.
    unit : str
    target : Target or None
    """

    work: str
    baseline: str
    value: float
    low: float
    high: float
    unit: str = "x"
    target: Target | None = None


@dataclass(frozen=True)
class Check:
    """A difference between the two sides' answers, and how large it may be."""

    what: str
    value: float
    limit: float

    @property
    def holds(self) -> bool:
        """Not a number is no agreement."""
        return self.value <= self.limit


@dataclass(frozen=True)
class Curve:
    """Median seconds against a size; `exponent` is fitted to the points from `fitted_from` on."""

    label: str
    size: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    exponent: float
    fitted_from: int = 0
    peak_mib: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """All that one comparison has to say; `facts` are settings and counts worth knowing."""

    lines: Sequence[Line]
    timings: Sequence[Timing] = ()
    checks: Sequence[Check] = ()
    curves: Sequence[Curve] = ()
    facts: Mapping[str, Scalar] = field(default_factory=dict)


def ratio(work: str, over: Timing, under: Timing, target: Target | None = None, baseline: str | None = None) -> Line:
    """How many times the time of `under` an item of `over` takes; the extremes pair slowest with fastest runs."""
    name = over.label if baseline is None else baseline
    return Line(work, name, over.median / under.median, over.low / under.high, over.high / under.low, "x", target)


def duration(work: str, timing: Timing, target: Target | None = None) -> Line:
    """Seconds of one run."""
    return Line(work, "-", median(timing.seconds), min(timing.seconds), max(timing.seconds), "s", target)


def fitted_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """`b` of the least-squares fit `log(seconds) = a + b log(size)`."""
    return float(np.polyfit(np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(seconds, dtype=float)), 1)[0])
