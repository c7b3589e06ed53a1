"""Solver models that a problem keeps: one for each thread, built on first use, never copied or pickled."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["PerThread"]

Kept = TypeVar("Kept")


class PerThread(Generic[Kept]):
    """A slot whose content each thread builds for itself; pickling keeps the slot and drops the content."""

    def __init__(self) -> None:
        self._local = threading.local()

    def get(self, build: Callable[[], Kept]) -> Kept:
        """Content of the calling thread, built by `build` when there is none."""
        if not hasattr(self._local, "content"):
            self._local.content = build()
        content: Kept = self._local.content
        return content

    def __reduce__(self) -> tuple[type[PerThread[Kept]], tuple[()]]:
        return type(self), ()
