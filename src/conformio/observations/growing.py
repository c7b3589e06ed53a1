"""An array that grows at its end without ever being held twice."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["GrowingArray"]


class GrowingArray:
    """Appends arrays; memory is asked for in steps of a half, and pages not yet written cost nothing."""

    def __init__(self, dtype: Any):
        self._values = np.empty(1024, dtype=dtype)
        self._size = 0

    def extend(self, values: NDArray[Any]) -> None:
        """Append values; the array's type must hold them."""
        end = self._size + len(values)
        if end > len(self._values):
            self._values.resize(max(end, len(self._values) * 3 // 2), refcheck=False)
        self._values[self._size : end] = values
        self._size = end

    def finish(self) -> NDArray[Any]:
        """The array, cut to its length."""
        self._values.resize(self._size, refcheck=False)
        return self._values
