"""Reading networks from tables with one row per edge: CSV, Parquet, pandas or polars."""

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

from conformio.checks import BoolArray, first_row
from conformio.errors import InvalidInputError, invalid

__all__ = ["read_table"]

_ARGUMENT = "path_or_frame"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)  # written in the one usual way, and within 64 bits
_TRUTH = {"true": True, "false": False}


def read_table(path_or_frame: Any, tail: str, head: str, where: str) -> dict[str, Any]:
    """The parts of a network: two columns name the nodes, other columns of numbers are attributes."""
    columns = _columns(path_or_frame, where)
    names = list(columns)
    for argument, column in (("tail", tail), ("head", head)):
        if column not in names:
            raise invalid(argument, where, f"must be one of the columns {names}", repr(column))
    if not len(columns[tail]):
        raise invalid(_ARGUMENT, where, "must have at least one row", "an empty table")
    written = isinstance(path_or_frame, (str, PathLike)) and Path(path_or_frame).suffix.lower() == ".csv"
    tails, heads, labels = _numbered(columns[tail], columns[head], written, where)
    others = {name: _as_numbers(values, name, where) for name, values in columns.items() if name not in (tail, head)}
    return {
        "tails": tails,
        "heads": heads,
        "n_nodes": len(labels),
        "attributes": {name: values for name, values in others.items() if values is not None},
        "node_ids": labels,
    }


# ---------------------------------------------------------------------- sources


_Columns: TypeAlias = dict[str, NDArray[Any]]


def _columns(path_or_frame: Any, where: str) -> _Columns:
    """Columns by name, none with a missing value."""
    if hasattr(path_or_frame, "columns") and hasattr(path_or_frame, "shape"):
        return _frame_columns(path_or_frame, where)
    if not isinstance(path_or_frame, (str, PathLike)):
        rule = "must be a .csv or .parquet path, or a pandas or polars data frame"
        raise invalid(_ARGUMENT, where, rule, type(path_or_frame).__name__)
    path = Path(path_or_frame)
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise invalid(_ARGUMENT, where, "must be a .csv or .parquet path", path)
    if not path.is_file():
        remedy = "Check the name; a relative one starts at the working directory"
        raise invalid(_ARGUMENT, where, f"{path}: must be a readable table", "no such file", remedy=remedy)
    try:
        return _csv_columns(path, where) if path.suffix.lower() == ".csv" else _parquet_columns(path, where)
    except InvalidInputError:  # one of ours, a ValueError too
        raise
    except (OSError, ValueError, csv.Error) as error:
        remedy = "Open it with another program, or write it again"
        raise invalid(_ARGUMENT, where, f"{path}: must be a readable table", error, remedy=remedy) from error


def _parquet_columns(path: Path, where: str) -> _Columns:
    try:
        import pandas as pd
    except ImportError as error:
        rule = 'reading Parquet files needs pandas: pip install "conformio[data]"'
        raise InvalidInputError(f"`{_ARGUMENT}` of {where}: {rule}") from error
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
            raise invalid(_ARGUMENT, where, f"must have {len(names)} cells, as the header", len(cells), row=k)
    table = np.array(rows, dtype=object).reshape(len(rows), len(names))
    for k, name in enumerate(names):
        _check_complete(np.asarray(table[:, k] == "", dtype=np.bool_), name, where)
    return {name: table[:, k] for k, name in enumerate(names)}


def _frame_columns(frame: Any, where: str) -> _Columns:
    names = [str(name) for name in frame.columns]
    _check_names(names, where)
    return {name: _frame_column(frame, k, name, where) for k, name in enumerate(names)}


def _frame_column(frame: Any, k: int, name: str, where: str) -> NDArray[Any]:
    if hasattr(frame, "get_column"):  # polars
        series = frame.get_column(name)
        values = series.to_numpy()
        missing = series.is_null().to_numpy() | (np.isnan(values) if values.dtype.kind == "f" else False)
    else:
        series = frame.iloc[:, k]
        missing = series.isna().to_numpy()
        values = series.to_numpy()
    _check_complete(missing, name, where)
    return np.asarray(values)


def _check_names(names: list[str], where: str) -> None:
    if len(set(names)) < len(names):
        raise invalid(_ARGUMENT, where, "must have columns of different names", names)


def _check_complete(missing: BoolArray, name: str, where: str) -> None:
    if missing.any():
        got, remedy = f"a missing value in column {name!r}", "Fill it in or leave the column out"
        raise invalid(_ARGUMENT, where, "must be complete", got, row=first_row(missing), remedy=remedy)


# ---------------------------------------------------------------------- cells


def _as_numbers(values: NDArray[Any], name: str, where: str) -> NDArray[Any] | None:
    """A column as numbers or as True and False; None where no cell is a number."""
    if values.dtype.kind in "biuf":
        return values
    cells = values.tolist()
    truths = [_TRUTH.get(str(cell).lower()) for cell in cells]
    if None not in truths:
        return np.array(truths, dtype=np.bool_)
    numbers = [_number(cell) for cell in cells]
    if not any(number is not None for number in numbers):
        return None
    if None in numbers:
        row = numbers.index(None)
        rule = f"column {name!r} must hold numbers in all cells or in none"
        remedy = "Correct the cell or leave the column out"
        raise invalid(_ARGUMENT, where, rule, repr(cells[row]), row=row, remedy=remedy)
    whole = all(isinstance(number, int) and abs(number) < 2**63 for number in numbers)
    return np.array(numbers, dtype=np.int64 if whole else np.float64)


def _number(cell: Any) -> int | float | None:
    """The number a cell holds or spells; None for anything else."""
    if isinstance(cell, str):
        text = cell.strip()
        if _WHOLE.fullmatch(text):
            return int(text)
        return float(text) if _NUMBER.fullmatch(text) else None
    if isinstance(cell, (bool, np.bool_)):
        return None
    if isinstance(cell, (int, np.integer)):
        return int(cell)
    return float(cell) if isinstance(cell, (Real, Decimal)) else None


def _numbered(
    tails: NDArray[Any], heads: NDArray[Any], written: bool, where: str
) -> tuple[NDArray[Any], NDArray[Any], list[Any]]:
    """Nodes numbered in the order of their names, alike in tails and heads; `written` names may spell numbers."""
    names = [*tails.tolist(), *heads.tolist()]
    if written and all(_WHOLE.fullmatch(name) for name in names):
        names = [int(name) for name in names]
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
    return numbers[: len(tails)], numbers[len(tails) :], labels
