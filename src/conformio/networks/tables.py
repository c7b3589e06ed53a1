"""Reading networks from tables with one row per edge: CSV, Parquet, pandas or polars."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformio.checks import BoolArray, first_row
from conformio.errors import InvalidInputError, invalid

__all__ = ["read_table"]


def read_table(path_or_frame: Any, tail: str, head: str, where: str) -> dict[str, Any]:
    """The parts of a network: two columns name the nodes, other numeric columns are attributes."""
    frame = _open(path_or_frame, where)
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise invalid("path_or_frame", where, "must have columns of different names", names)
    for argument, column in (("tail", tail), ("head", head)):
        if column not in names:
            raise invalid(argument, where, f"must be one of the columns {names}", repr(column))
    if not len(frame):
        raise invalid("path_or_frame", where, "must have at least one row", "an empty table")
    columns = {name: _column(frame, k, name, where) for k, name in enumerate(names)}
    tails, heads, labels = _numbered(columns[tail], columns[head], where)
    others = {name: values for name, values in columns.items() if name not in (tail, head)}
    return {
        "tails": tails,
        "heads": heads,
        "n_nodes": len(labels),
        "attributes": {name: values for name, values in others.items() if values.dtype.kind in "biuf"},
        "node_ids": labels,
    }


def _open(path_or_frame: Any, where: str) -> Any:
    if hasattr(path_or_frame, "columns") and hasattr(path_or_frame, "shape"):
        return path_or_frame
    if not isinstance(path_or_frame, (str, PathLike)):
        rule = "must be a .csv or .parquet path, or a pandas or polars data frame"
        raise invalid("path_or_frame", where, rule, type(path_or_frame).__name__)
    path = Path(path_or_frame)
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise invalid("path_or_frame", where, "must be a .csv or .parquet path", path)
    try:
        import pandas as pd
    except ImportError as error:
        rule = 'reading files needs pandas: pip install "conformio[data]"'
        raise InvalidInputError(f"`path_or_frame` of {where}: {rule}") from error
    try:
        return pd.read_csv(path) if path.suffix.lower() == ".csv" else pd.read_parquet(path)
    except (OSError, ValueError) as error:  # both readers' own errors are ValueErrors
        raise invalid("path_or_frame", where, f"{path}: must be a readable table", error) from error


def _column(frame: Any, k: int, name: str, where: str) -> NDArray[Any]:
    """One column as an array; a missing value is an error."""
    if hasattr(frame, "get_column"):  # polars
        series = frame.get_column(name)
        values = series.to_numpy()
        missing = series.is_null().to_numpy() | _nan(values)
    else:
        series = frame.iloc[:, k]
        missing = series.isna().to_numpy()
        values = series.to_numpy()
    if missing.any():
        got, remedy = f"a missing value in column {name!r}", "Fill it in or leave the column out"
        raise invalid("path_or_frame", where, "must be complete", got, row=first_row(missing), remedy=remedy)
    # extension types (nullable numbers, decimals) arrive as objects
    return values if values.dtype.kind != "O" else _plain(values)


def _nan(values: NDArray[Any]) -> BoolArray:
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=np.bool_)


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    kinds = {type(value) for value in values.tolist()}
    for kind in (bool, int, float):
        if kinds == {kind}:
            return values.astype(kind)
    return values


def _numbered(tails: NDArray[Any], heads: NDArray[Any], where: str) -> tuple[NDArray[Any], NDArray[Any], list[Any]]:
    """Nodes numbered in the order of their names; tails and heads must be named alike."""
    names = [*tails.tolist(), *heads.tolist()]
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
