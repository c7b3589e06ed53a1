"""Numbers written as text: which texts spell one, alike in tables and in graphs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

__all__ = ["spelled_number", "whole_names"]

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)  # written in the one usual way, and within 64 bits


def spelled_number(text: str) -> int | float | None:
    """The number that a text spells; None where it spells none.

    Examples
    --------
    >>> spelled_number("7"), spelled_number("-.5"), spelled_number("007"), spelled_number("1,5")
    (7, -0.5, 7.0, None)
    """
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else None


def whole_names(names: Iterable[Any]) -> list[int] | None:
    """Names as whole numbers where every one of them is written as such, else None.

    Examples
    --------
    >>> whole_names(["7", "-3"]), whole_names(["7", "007"])
    ([7, -3], None)
    """
    found = list(names)
    spell = all(isinstance(name, str) and _WHOLE.fullmatch(name) for name in found)
    return [int(name) for name in found] if spell else None
