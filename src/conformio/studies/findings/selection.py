"""Rows of results: those with some values, and grouped by some columns."""

from __future__ import annotations

from collections.abc import Sequence

from conformio.studies.cell_store import Row, Scalar

__all__ = ["column", "distinct", "number", "only", "pick"]


def pick(rows: Sequence[Row], **wanted: Scalar) -> list[Row]:
    """The rows in which every named column has the wanted value."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def only(rows: Sequence[Row], **wanted: Scalar) -> Row:
    """The one row in which every named column has the wanted value.

    Raises
    ------
    LookupError
        If there is none, or more than one.
    """
    found = pick(rows, **wanted)
    if len(found) != 1:
        raise LookupError(f"{len(found)} rows with {wanted}; one was expected")
    return found[0]


def distinct(rows: Sequence[Row], *names: str) -> list[tuple[Scalar, ...]]:
    """Values of some columns that occur together, in order of appearance."""
    return list(dict.fromkeys(tuple(row[name] for name in names) for row in rows))


def number(row: Row, name: str) -> float:
    """A column of one row as a number."""
    value = row[name]
    if not isinstance(value, (int, float)):
        raise LookupError(f"column {name} holds {value!r}; a number was expected")
    return float(value)


def column(rows: Sequence[Row], name: str) -> list[float]:
    """A column as numbers."""
    return [number(row, name) for row in rows]
