"""Conditions and numbers in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformio.studies.cell_store import Row, Scalar
from conformio.studies.conditions import LABELS as CONDITION
from conformio.studies.findings.selection import distinct, pick

__all__ = ["by_condition", "listed", "named", "percent"]

_MANY = 6
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


def listed(found: Mapping[str, float], form: str = ".2f") -> str:
    """A number for each condition; of many only the least and the largest.

    Parameters
    ----------
    found : mapping of condition to number
    form : str
        How a number is written, as in `format`.
    """
    if len(found) <= _MANY:
        return "; ".join(f"{name}: {value:{form}}" for name, value in found.items())
    least, most = (choose(found, key=lambda name: found[name]) for choose in (min, max))
    return f"{found[least]:{form}} ({least}) to {found[most]:{form}} ({most}), {len(found)} conditions"


def percent(low: float, high: float) -> str:
    """A range of shares."""
    return f"{100.0 * low:.1f} to {100.0 * high:.1f}%"
