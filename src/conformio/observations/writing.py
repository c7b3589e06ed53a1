"""Tables out: CSV, Parquet or JSON lines, block by block, whole or not at all."""

from __future__ import annotations

import csv
import json
import math
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from conformio.errors import InvalidInputError, invalid
from conformio.observations._arrow import arrow

__all__ = ["TableWriter"]

_FORMATS = (".csv", ".parquet", ".jsonl")


class TableWriter:
    """Writes blocks of columns to one file; a context manager.

    Parameters
    ----------
    target : path, or an open text file
        A `.csv`, `.parquet` or `.jsonl` file, which appears when all is written and replaces an older one.
    separator : str
        Parts the names of lists in CSV cells.
    form : {".csv", ".jsonl"}
        What is written to an open file.
    where : str
        Named in errors.
    """

    def __init__(self, target: Path | TextIO, separator: str = ";", form: str = ".csv", where: str = "TableWriter"):
        self._path = target if isinstance(target, Path) else None
        self._form = target.suffix.lower() if isinstance(target, Path) else form
        if self._form not in _FORMATS:
            raise invalid("out", where, f"must be a file of the kind {', '.join(_FORMATS)}", target)
        self._separator, self._where = separator, where
        self._stream: Any = None if isinstance(target, Path) else target
        self._draft: Path | None = None
        self._writer: Any = None

    def __enter__(self) -> Self:
        return self

    def write(self, columns: Mapping[str, Any]) -> None:
        """Append a block: pyarrow columns of equal length, of the same names every time."""
        block = arrow(self._where).table(dict(columns))
        try:
            if self._path is not None and self._draft is None:
                self._draft = self._path.with_name(f".{self._path.name}.{secrets.token_hex(6)}")
                if self._form != ".parquet":
                    self._stream = self._draft.open("w", newline="", encoding="utf-8")
            {".csv": self._csv, ".jsonl": self._jsonl, ".parquet": self._parquet}[self._form](block)
        except OSError as error:
            raise self._unwritable(error) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._form == ".parquet" and self._writer is not None:
                self._writer.close()
            elif self._path is not None and self._stream is not None:
                self._stream.close()
            if self._draft is not None and self._path is not None and error is None:
                os.replace(self._draft, self._path)
        except OSError as failure:
            raise self._unwritable(failure) from failure
        finally:
            if self._draft is not None:
                self._draft.unlink(missing_ok=True)

    def _unwritable(self, error: OSError) -> InvalidInputError:
        reason = error.strerror or str(error)
        target = "standard output" if self._path is None else self._path
        return invalid("out", self._where, "must be a file that can be written", f"{target} ({reason})")

    def _csv(self, block: Any) -> None:
        if self._writer is None:
            self._writer = csv.writer(self._stream, lineterminator="\n")
            self._writer.writerow(block.column_names)
        columns = [block.column(name).to_pylist() for name in block.column_names]
        self._writer.writerows([self._cell(value) for value in row] for row in zip(*columns, strict=True))

    def _cell(self, value: Any) -> Any:
        if isinstance(value, list):
            return self._separator.join(map(str, value)) if value else "[]"
        return "" if value is None else repr(value) if isinstance(value, float) else value

    def _jsonl(self, block: Any) -> None:
        for row in block.to_pylist():
            plain = {name: None if _is_endless(value) else value for name, value in row.items()}
            self._stream.write(json.dumps(plain, ensure_ascii=False, allow_nan=False, default=str) + "\n")

    def _parquet(self, block: Any) -> None:
        if self._writer is None:
            self._writer = arrow(self._where).parquet.ParquetWriter(self._draft, block.schema)
        self._writer.write_table(block)


def _is_endless(value: Any) -> bool:
    """JSON knows no infinity and no NaN; both become null."""
    return isinstance(value, float) and not math.isfinite(value)
