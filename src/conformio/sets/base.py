"""What an uncertainty set over parameters must offer to robust prescription and reports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from numpy.typing import ArrayLike

from conformio.checks import BoolArray, FloatArray

__all__ = ["UncertaintySet"]


class UncertaintySet(ABC):
    """A closed set of parameter vectors of unit length."""

    @abstractmethod
    def support(self, x: Any) -> FloatArray:
        """`max theta . x` over the set: a scalar array for one vector, (N,) for rows."""

    @abstractmethod
    def worst_case(self, x: Any) -> FloatArray:
        """A member of the set that attains `support`, one per row."""

    @abstractmethod
    def contains(self, theta: ArrayLike) -> BoolArray:
        """Whether each vector, scaled to unit length, is a member."""
