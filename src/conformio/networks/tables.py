"""Reading networks from tables with one row per edge: CSV, Parquet, pandas, polars or pyarrow."""

from __future__ import annotations

import csv
import re
from decimal import Decimal
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from conformio.checks import first_row, missing_column, separator_hint
from conformio.errors import InvalidInputError, invalid
from conformio.networks.spelled_numbers import spelled_number, whole_names

__all__ = ["read_table"]

_ARGUMENT = "path_or_frame"
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*", re.ASCII)
_NODE = "node"
_TRUTH = {"true": True, "false": False}

_Columns: TypeAlias = dict[str, NDArray[Any]]


def read_table(
    path_or_frame: Any,
    tail: str,
    head: str,
    where: str,
    *,
    edge_id: str | None = None,
    nodes: Any = None,
    self_loops: str = "error",
) -> dict[str, Any]:
    """The parts of a network: two columns name the nodes, other columns of numbers are attributes."""
    columns = _columns(path_or_frame, where)
    named = {"tail": tail, "head": head, **({} if edge_id is None else {"edge_id": edge_id})}
    for argument, column in named.items():
        if column not in columns:
            raise missing_column(argument, column, list(columns), where)
        _check_complete(columns[column], column, where)
    _check_repeats(columns, tail, head, where)
    columns = _without_loops(columns, tail, head) if self_loops == "drop" else columns
    if not len(columns[tail]):
        raise invalid(_ARGUMENT, where, "must have at least one row", "an empty table")
    places = {} if nodes is None else _node_columns(nodes, where)
    sources = [path_or_frame] if nodes is None else [path_or_frame, nodes]
    (tails, heads, rows), labels = _numbered(
        [columns[tail], columns[head], places.get(_NODE, np.zeros(0, dtype=object))], all(map(_written, sources)), where
    )
    others = {name: _as_numbers(v, name, where) for name, v in columns.items() if name not in named.values()}
    return {
        "tails": tails,
        "heads": heads,
        "n_nodes": len(labels),
        "attributes": {name: values for name, values in others.items() if values is not None},
        "node_ids": labels,
        "edge_ids": None if edge_id is None else _edge_names(columns[edge_id], _written(path_or_frame)),
        **_placed(places, rows, labels, where),
    }


def _check_repeats(columns: _Columns, tail: str, head: str, where: str) -> None:
    """Refuse a row whose cells are all those of another one; parallel edges differ in some column."""
    ends = list(zip(columns[tail].tolist(), columns[head].tolist(), strict=True))
    if len(set(ends)) == len(ends):
        return
    first_of: dict[tuple[str, ...], int] = {}
    for row, cells in enumerate(zip(*(values.tolist() for values in columns.values()), strict=True)):
        first = first_of.setdefault(tuple(map(repr, cells)), row)
        if first != row:
            remedy = "Remove one of them, or tell two parallel edges apart by a column of names"
            raise invalid(_ARGUMENT, where, "must not repeat a row", f"row {first} again", row=row, remedy=remedy)


def _written(source: Any) -> bool:
    """Whether names come as text that may spell numbers."""
    return isinstance(source, (str, PathLike)) and Path(source).suffix.lower() == ".csv"


def _without_loops(columns: _Columns, tail: str, head: str) -> _Columns:
    kept = np.array([a != b for a, b in zip(columns[tail].tolist(), columns[head].tolist(), strict=True)], dtype=bool)
    return {name: values[kept] for name, values in columns.items()}


def _edge_names(values: NDArray[Any], written: bool) -> list[Any]:
    names: list[Any] = values.tolist()
    return (whole_names(names) if written else None) or names


def _node_columns(nodes: Any, where: str) -> _Columns:
    columns = _columns(nodes, where)
    missing = [name for name in (_NODE, "x", "y") if name not in columns]
    if missing:
        rule = f"must have the columns {_NODE}, x and y (and zone, if there are any)"
        raise invalid("nodes", where, rule, f"the columns {list(columns)}")
    for name in (_NODE, "x", "y", "zone"):
        _check_complete(columns.get(name, np.zeros(0)), name, where)
    return columns


def _placed(places: _Columns, rows: NDArray[Any], labels: list[Any], where: str) -> dict[str, Any]:
    """Coordinates and zones in the order of the labels; `rows` are the numbers of the table's nodes."""
    if not places:
        return {}
    seen = np.bincount(rows, minlength=len(labels))
    for wrong, rule in ((seen == 0, "must have a row for every node"), (seen > 1, "must name each node once")):
        if wrong.any():
            raise invalid("nodes", where, rule, f"node {labels[first_row(wrong)]!r}")
    order = np.argsort(rows)
    parts = {"coordinates": np.column_stack([_place_column(places, name, where) for name in ("x", "y")])[order]}
    if "zone" in places:
        parts["zones"] = _place_column(places, "zone", where)[order].astype(bool)
    return parts


def _place_column(places: _Columns, name: str, where: str) -> NDArray[Any]:
    values = _as_numbers(places[name], name, where)
    if values is None or (name == "zone" and not np.isin(values, (0, 1)).all()):
        rule = "True and False, or 1 and 0" if name == "zone" else "numbers"
        raise invalid("nodes", where, f"column {name!r} must hold {rule}", places[name].tolist()[:3])
    return values


def _columns(path_or_frame: Any, where: str) -> _Columns:
    """Columns by name; missing values are None."""
    if hasattr(path_or_frame, "shape") and hasattr(path_or_frame, "columns"):
        arrow = hasattr(path_or_frame, "column_names")
        return _frame_columns(path_or_frame.to_pandas() if arrow else path_or_frame, where)
    if not isinstance(path_or_frame, (str, PathLike)):
        rule = "must be a .csv or .parquet path, or a pandas, polars or pyarrow table"
        remedy = "Call .collect() first" if hasattr(path_or_frame, "collect") else ""
        raise invalid(_ARGUMENT, where, rule, type(path_or_frame).__name__, remedy=remedy)
    path = Path(path_or_frame)
    if path.suffix.lower() not in (".csv", ".parquet"):
        remedy = "Save the sheet as CSV" if path.suffix.lower() in (".xls", ".xlsx", ".ods") else ""
        raise invalid(_ARGUMENT, where, "must be a .csv or .parquet path", path, remedy=remedy)
    if not path.is_file():
        remedy = "Check the name; a relative one starts at the working directory"
        raise invalid(_ARGUMENT, where, f"{path}: must be a readable table", "no such file", remedy=remedy)
    try:
        return _csv_columns(path, where) if path.suffix.lower() == ".csv" else _parquet_columns(path, where)
    except InvalidInputError:  # one of ours, a ValueError too
        raise
    except (OSError, ValueError, csv.Error) as error:
        remedy = "Open it with another program, or write it again"
        if isinstance(error, UnicodeDecodeError):
            remedy = "Save it in the encoding UTF-8"
        raise invalid(_ARGUMENT, where, f"{path}: must be a readable table", error, remedy=remedy) from error


def _parquet_columns(path: Path, where: str) -> _Columns:
    try:
        import pandas as pd
    except ImportError as error:
        rule, remedy = "needs pandas to read Parquet files", 'Run: pip install "conformio[data]"'
        raise invalid(_ARGUMENT, where, rule, "no pandas", remedy=remedy) from error
    return _frame_columns(pd.read_parquet(path), where)


def _csv_columns(path: Path, where: str) -> _Columns:
    """Cells as they are written: other readers turn the names 007 and NA into 7 and nothing."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = [line for line in csv.reader(file, strict=True) if line]
    if not lines:
        raise invalid(_ARGUMENT, where, f"{path}: must be a readable table", "an empty file")
    names, rows = lines[0], lines[1:]
    _check_names(names, where)
    for k, cells in enumerate(rows):
        if len(cells) != len(names):
            remedy = separator_hint(names) or "Put cells that hold commas in double quotes"
            rule = f"must have {len(names)} cells, as the header"
            raise invalid(_ARGUMENT, where, rule, len(cells), row=k, remedy=remedy)
    table = np.array(rows, dtype=object).reshape(len(rows), len(names))
    table[table == ""] = None
    return {name: table[:, k] for k, name in enumerate(names)}


def _frame_columns(frame: Any, where: str) -> _Columns:
    names = [str(name) for name in frame.columns]
    _check_names(names, where)
    return {name: _frame_column(frame, k, name) for k, name in enumerate(names)}


def _frame_column(frame: Any, k: int, name: str) -> NDArray[Any]:
    if hasattr(frame, "get_column"):  # polars
        series = frame.get_column(name)
        values = series.to_numpy()
        missing = series.is_null().to_numpy() | (np.isnan(values) if values.dtype.kind == "f" else False)
    else:
        series = frame.iloc[:, k]
        missing = series.isna().to_numpy()
        values = series.to_numpy()
    cells = np.asarray(values)
    if missing.any():
        cells = cells.astype(object)
        cells[missing] = None
    return cells


def _check_names(names: list[str], where: str) -> None:
    if len(set(names)) < len(names):
        raise invalid(_ARGUMENT, where, "must have columns of different names", names)


def _check_complete(cells: NDArray[Any], name: str, where: str) -> None:
    missing = np.array([cell is None for cell in cells]) if cells.dtype.hasobject else np.zeros(0, dtype=np.bool_)
    if missing.any():
        got, remedy = f"a missing value in column {name!r}", "Fill it in or leave the column out"
        raise invalid(_ARGUMENT, where, "must be complete", got, row=first_row(missing), remedy=remedy)


def _as_numbers(values: NDArray[Any], name: str, where: str) -> NDArray[Any] | None:
    """A column as numbers or as True and False; None where no cell is a number."""
    if values.dtype.kind in "biuf":
        return values
    cells = values.tolist()
    present = [cell for cell in cells if cell is not None]
    truths = [_TRUTH.get(str(cell).lower()) for cell in present]
    numbers = [_number(cell) for cell in present]
    commas = [isinstance(cell, str) and _DECIMAL_COMMA.fullmatch(cell) is not None for cell in present]
    spelled = bool(present) and all(commas)
    if not present or (None in truths and not spelled and not any(number is not None for number in numbers)):
        return None
    _check_complete(values, name, where)
    if None not in truths:
        return np.array(truths, dtype=np.bool_)
    if None in numbers:
        row = numbers.index(None)
        rule = f"column {name!r} must hold numbers in all cells or in none"
        remedy = "Write decimals with a point" if commas[row] else "Correct the cell"
        raise invalid(_ARGUMENT, where, rule, repr(cells[row]), row=row, remedy=f"{remedy} or leave the column out")
    whole = all(isinstance(number, int) and abs(number) < 2**63 for number in numbers)
    return np.array(numbers, dtype=np.int64 if whole else np.float64)


def _number(cell: Any) -> int | float | None:
    """The number a cell holds or spells; None for anything else."""
    if isinstance(cell, str):
        return spelled_number(cell.strip())
    if isinstance(cell, (bool, np.bool_)):
        return None
    if isinstance(cell, (int, np.integer)):
        return int(cell)
    return float(cell) if isinstance(cell, (Real, Decimal)) else None


def _numbered(columns: list[NDArray[Any]], written: bool, where: str) -> tuple[list[NDArray[Any]], list[Any]]:
    """Nodes numbered in the order of their names, alike in all columns; `written` names may spell numbers."""
    names = [name for column in columns for name in column.tolist()]
    names = (whole_names(names) if written else None) or names
    kinds = sorted({type(name).__name__ for name in names})
    if len(kinds) > 1:
        remedy = "Convert both columns to one type"
        raise invalid("tail", where, "must name nodes by values of one type, as head", ", ".join(kinds), remedy=remedy)
    try:
        labels = sorted(set(names))
    except TypeError as error:
        raise invalid("tail", where, "must name nodes by values that can be sorted", kinds[0]) from error
    number_of = {name: number for number, name in enumerate(labels)}
    numbers = np.array([number_of[name] for name in names], dtype=np.int64)
    return np.split(numbers, np.cumsum([len(column) for column in columns])[:-1]), labels
