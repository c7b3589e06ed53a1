"""Conditions and numbers in words."""

from __future__ import annotations

from collections.abc import Sequence

from conformio.studies.cell_store import Row, Scalar
from conformio.studies.conditions import LABELS as CONDITION
from conformio.studies.findings.selection import distinct, pick

__all__ = ["by_condition", "named", "percent"]

_SIGNS = {"free": "free signs", "nonnegative": "nonnegative"}


def by_condition(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows of each condition, by its name."""
    keys = distinct(rows, *CONDITION)
    return {named(rows, key): pick(rows, **dict(zip(CONDITION, key, strict=True))) for key in keys}


def named(rows: Sequence[Row], key: Sequence[Scalar]) -> str:
    """A condition, in words: its problem, and what differs between the rows of that problem.

    Parameters
    ----------
    rows : sequence of Row
        All that are spoken of.
    key : sequence
        Values of `conditions.LABELS`.
    """
    alike = pick(rows, problem=key[0])
    words = [str(key[0])]
    for name, value in zip(CONDITION[1:], key[1:], strict=True):
        if len(distinct(alike, name)) > 1 or name == "estimator":
            words.append(_word(name, value))
    return ", ".join(words)


def _word(name: str, value: Scalar) -> str:
    if name == "domain":
        return _SIGNS[str(value)]
    return f"budgets {value}" if name == "budgets" else str(value)


def percent(low: float, high: float) -> str:
    """A range of shares."""
    return f"{100.0 * low:.1f} to {100.0 * high:.1f}%"
