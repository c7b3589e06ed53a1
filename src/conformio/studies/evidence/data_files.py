"""Tidy tables as files: CSV always, Parquet where pyarrow is installed."""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from conformio.studies.cell_store import Row, write_whole
from conformio.studies.findings.summaries import as_csv

__all__ = ["can_write_parquet", "write_table"]


def can_write_parquet() -> bool:
    """Whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def write_table(folder: Path, name: str, rows: Sequence[Row]) -> list[Path]:
    """Write rows of equal columns; the paths of the files."""
    found = [folder / f"{name}.csv"]
    write_whole(found[0], as_csv(rows).encode())
    if can_write_parquet():
        found.append(folder / f"{name}.parquet")
        write_whole(found[1], _parquet(rows))
    return found


def _parquet(rows: Sequence[Row]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    stream = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows)), stream)
    return stream.getvalue()
