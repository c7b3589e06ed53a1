"""Tables as streams of batches: CSV and Parquet files, folders of them, data frames.

Cells of a CSV file are text as it is written; `007` and `NA` stay what they are, and only empty cells are missing.
Rows of a CSV file with too few or too many cells are handed on as text, with their row numbers.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from conformio.checks import IntArray
from conformio.errors import InvalidInputError, invalid
from conformio.observations._arrow import arrow, plain_batch

__all__ = ["BATCH_ROWS", "Batch", "batches", "check_apart", "column_names"]

BATCH_ROWS = 16_384
"""Rows worked on at a time: some megabytes, whatever the size of the file."""

_BLOCK_BYTES = 1 << 24
_SUFFIXES = (".csv", ".parquet")


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a table.

    Attributes
    ----------
    columns : pyarrow.RecordBatch
    rows : int64 array
        Their numbers; row 0 is the first below the header, and counting goes on from file to file of a folder.
    malformed : tuple of (row, text)
        Lines that are no rows of the table, met so far and not reported before.
    """

    columns: Any
    rows: IntArray
    malformed: tuple[tuple[int, str], ...] = ()


def column_names(source: Any, where: str) -> list[str]:
    """The names of a table's columns."""
    pa = arrow(where)
    if _is_path(source):
        return _names_in(_files(source, where)[0], where)
    return list(_as_table(pa, source, where).schema.names)


def batches(source: Any, where: str, size: int = BATCH_ROWS) -> Iterator[Batch]:
    """The rows of a table, in batches of at most `size`.

    Parameters
    ----------
    source : path of a .csv or .parquet file or of a folder of them, or a pandas, polars or pyarrow table
    where : str
        Named in errors.
    size : int
        Most rows at a time.

    Raises
    ------
    InvalidInputError
        If a file cannot be read, or the files of a folder have different columns.
    """
    pa = arrow(where)
    if not _is_path(source):
        yield from _numbered(_as_table(pa, source, where).to_batches(max_chunksize=size), 0)
        return
    start, files = 0, _files(source, where)
    names = _names_in(files[0], where)
    for path in files:
        if _names_in(path, where) != names:
            raise invalid("source", where, f"{path}: must have the columns {names}", _names_in(path, where))
        read = _csv_batches if path.suffix.lower() == ".csv" else _parquet_batches
        try:
            for batch in read(pa, path, names, size, start):
                yield batch
                start = max([start, *(batch.rows[-1:] + 1), *(row + 1 for row, _ in batch.malformed)])
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            if isinstance(error, InvalidInputError):
                raise
            raise _unreadable(path, error, where) from error


def check_apart(source: Any, skipped: str | Path | None, where: str) -> None:
    """Refuse to write rows left out over the table they come from, or among the files of its folder."""
    if skipped is None or not _is_path(source):
        return
    read, written = Path(source).resolve(), Path(skipped).resolve()
    if written == read or (written.parent == read and written.suffix.lower() in _SUFFIXES):
        rule = "must be a file apart from the table that is read"
        raise invalid("skipped", where, rule, skipped, remedy="Name another file")


def _is_path(source: Any) -> bool:
    return isinstance(source, (str, PathLike))


def _unreadable(path: Path, error: object, where: str) -> InvalidInputError:
    encoded = isinstance(error, UnicodeDecodeError) or "UTF8" in str(error)
    remedy = "Save it in the encoding UTF-8" if encoded else "Open it with another program, or write it again"
    return invalid("source", where, f"{path}: must be a readable table", error, remedy=remedy)


def _files(source: Any, where: str) -> list[Path]:
    path = Path(source)
    if path.is_dir():
        found = sorted(file for file in path.iterdir() if file.suffix.lower() in _SUFFIXES)
        if not found:
            raise invalid("source", where, f"{path}: must hold .csv or .parquet files", "a folder without")
        return found
    if path.suffix.lower() not in _SUFFIXES:
        raise invalid("source", where, "must be a .csv or .parquet file, or a folder of them", path)
    if not path.is_file():
        remedy = "Check the name; a relative one starts at the working directory"
        raise invalid("source", where, f"{path}: must be a readable table", "no such file", remedy=remedy)
    return [path]


def _names_in(path: Path, where: str) -> list[str]:
    pa = arrow(where)
    try:
        if path.suffix.lower() == ".parquet":
            names = list(pa.parquet.read_schema(path).names)
        else:
            with path.open(newline="", encoding="utf-8-sig") as file:
                names = next((line for line in csv.reader(file, strict=True) if line), [])
    except (pa.ArrowException, OSError, UnicodeDecodeError, csv.Error) as error:
        raise _unreadable(path, error, where) from error
    if not names or len(set(names)) < len(names):
        rule = f"{path}: must have a header of different column names, separated by commas"
        raise invalid("source", where, rule, names or "an empty file")
    return names


def _as_table(pa: Any, source: Any, where: str) -> Any:
    try:
        if hasattr(source, "iloc"):  # pandas; its index is no column
            return pa.Table.from_pandas(source, preserve_index=False)
        return pa.table(source)
    except (pa.ArrowException, TypeError, ValueError) as error:
        rule = "must be a path, or a pandas, polars or pyarrow table whose columns hold one kind of value each"
        remedy = "Names of several parts may be written as text, e.g. u-v-key"
        raise invalid("source", where, rule, f"{type(source).__name__} ({error})", remedy=remedy) from error


def _numbered(parts: Any, start: int) -> Iterator[Batch]:
    for part in parts:
        yield Batch(plain_batch(part), np.arange(start, start + part.num_rows))
        start += part.num_rows


def _parquet_batches(pa: Any, path: Path, names: list[str], size: int, start: int) -> Iterator[Batch]:
    with pa.parquet.ParquetFile(path) as file:
        yield from _numbered(file.iter_batches(batch_size=size, use_threads=False), start)


def _csv_batches(pa: Any, path: Path, names: list[str], size: int, start: int) -> Iterator[Batch]:
    """Serial reading: only then does every malformed line come with its number."""
    malformed: list[tuple[int, str]] = []

    def note(line: Any) -> str:
        malformed.append((line.number - 2, line.text or ""))  # the header is number 1
        return "skip"

    reader = pa.csv.open_csv(
        path,
        read_options=pa.csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES),
        parse_options=pa.csv.ParseOptions(newlines_in_values=True, invalid_row_handler=note),
        convert_options=pa.csv.ConvertOptions(
            column_types={name: pa.string() for name in names},
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        ),
    )
    well_formed = told = 0
    with reader:
        for block in reader:
            for offset in range(0, block.num_rows, size):
                part = block.slice(offset, size)
                rows = _rows_between(np.arange(well_formed, well_formed + part.num_rows), malformed)
                well_formed += part.num_rows
                new, told = tuple(malformed[told:]), len(malformed)
                yield Batch(part, start + rows, tuple((start + row, text) for row, text in new))
    if told < len(malformed):
        none = pa.RecordBatch.from_pylist([], schema=reader.schema)
        left = tuple((start + row, text) for row, text in malformed[told:])
        yield Batch(none, np.zeros(0, dtype=np.int64), left)


def _rows_between(counted: IntArray, malformed: list[tuple[int, str]]) -> IntArray:
    """Row numbers of well-formed rows, given how many well-formed ones come before each."""
    before = np.array([row - k for k, (row, _) in enumerate(malformed)], dtype=np.int64)
    return np.asarray(counted + np.searchsorted(before, counted, side="right"), dtype=np.int64)
