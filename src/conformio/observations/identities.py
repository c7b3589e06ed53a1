"""The column that names each row: complete, without duplicates, and kept for the outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformio.checks import BoolArray, IntArray, missing_column
from conformio.errors import command_option
from conformio.observations._arrow import arrow, plain
from conformio.observations.faults import BatchFaults, Kinds

__all__ = ["IDENTITY_KINDS", "RowIds", "column_of"]

IDENTITY_KINDS: Kinds = {
    "missing row id": ("every row must have an id", "Fill it in, or name no id column"),
    "duplicate row id": ("every id must occur once", "Keep one of the rows; the first one is kept when skipping"),
}


class RowIds:
    """Reads one id column batch by batch; without a column, rows are named by their numbers."""

    def __init__(self, column: str | None, where: str, argument: str = "row_id"):
        self._column, self._where, self._argument = column, where, argument
        self._seen: set[Any] = set()
        self._kept: list[Any] = []

    def look(self, faults: BatchFaults) -> Any:
        """The ids of a batch; notes those that are missing or were there before."""
        if self._column is None:
            return arrow(self._where).array(faults.batch.rows)
        ids = plain(column_of(faults.batch.columns, self._column, self._where, self._argument))
        values = ids.to_pylist()
        missing = [k for k, value in enumerate(values) if value is None]
        again = []
        for k, value in enumerate(values):
            key = value if not isinstance(value, (list, dict)) else repr(value)
            if value is not None and key in self._seen:
                again.append(k)
            self._seen.add(key)
        faults.note("missing row id", _rows(missing), lambda k: "no id")
        faults.note("duplicate row id", _rows(again), lambda k: f"{values[again[k]]!r} again")
        return ids

    def keep(self, ids: Any, good: BoolArray) -> None:
        """Keep the ids of good rows."""
        self._kept.append(ids if good.all() else ids.filter(arrow(self._where).array(good)))

    def result(self) -> Any:
        """All kept ids as one pyarrow column."""
        return arrow(self._where).chunked_array(self._kept)


def column_of(columns: Any, name: str, where: str, argument: str) -> Any:
    """One column of a batch, by name; `argument` is what named it."""
    names = columns.schema.names
    if name not in names:
        raise missing_column(argument, name, names, where, f"Name it with {argument}= ({command_option(argument)})")
    return columns.column(names.index(name))


def _rows(rows: list[int]) -> IntArray:
    return np.array(rows, dtype=np.int64)
