"""Two tables whose rows belong together, by a column of names or by their order, as one."""

from __future__ import annotations

from typing import Any

from conformio.errors import invalid
from conformio.observations._arrow import arrow, plain
from conformio.observations.sources import batches

__all__ = ["side_by_side", "whole_table"]


def side_by_side(left: Any, right: Any, key: str | None, where: str) -> Any:
    """A pyarrow table with the columns of both, in the order of `right`; both are held in memory."""
    first, second = whole_table(left, "contexts", where), whole_table(right, "source", where)
    if key is None:
        if first.num_rows != second.num_rows:
            got, remedy = f"{first.num_rows} rows", "Name the column of ids that joins them"
            raise invalid("contexts", where, f"must have {second.num_rows} rows, as the plans", got, remedy=remedy)
    else:
        first = first.take(_places(first, second, key, where)).drop_columns([key])
    shared = sorted(set(first.column_names) & set(second.column_names))
    if shared:
        raise invalid("contexts", where, "must have other columns than the plans", f"{shared[0]!r} in both")
    return arrow(where).table({**_columns(first), **_columns(second)})


def whole_table(source: Any, argument: str, where: str) -> Any:
    """All rows of a table as one pyarrow table, for tables that are known to be small."""
    parts = list(batches(source, where))
    bad = [row for part in parts for row, _ in part.malformed]
    if bad:
        raise invalid(argument, where, "must have as many cells in each row as in the header", "others", row=bad[0])
    if not parts:
        raise invalid(argument, where, "must have at least one row", "an empty table")
    return arrow(where).Table.from_batches([part.columns for part in parts])


def _columns(table: Any) -> dict[str, Any]:
    return {name: table.column(name) for name in table.column_names}


def _places(first: Any, second: Any, key: str, where: str) -> list[int]:
    for argument, table in (("contexts", first), ("source", second)):
        if key not in table.column_names:
            raise invalid(argument, where, f"must have the column {key!r}", f"the columns {table.column_names}")
    row_of: dict[Any, int] = {}
    for row, name in enumerate(plain(first.column(key)).to_pylist()):
        if name is None or row_of.setdefault(name, row) != row:
            raise invalid("contexts", where, f"must have one row for each {key}", repr(name), row=row)
    names = plain(second.column(key)).to_pylist()
    missing = [row for row, name in enumerate(names) if name not in row_of]
    if missing:
        got = f"{len(missing)} rows without, the first with {names[missing[0]]!r}"
        raise invalid("source", where, f"every {key} must be in the table of contexts", got, row=missing[0])
    unused = row_of.keys() - set(names)
    if unused:
        row = min(row_of[name] for name in unused)
        got = f"{len(unused)} rows without, the first of them row {row}"
        raise invalid("contexts", where, f"every {key} must be in the table of plans", got, row=row)
    return [row_of[name] for name in names]
