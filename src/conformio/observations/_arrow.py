"""The one door to pyarrow, the optional library that reads and writes tables."""

from __future__ import annotations

from typing import Any

from conformio.errors import invalid

__all__ = ["arrow", "plain"]


def arrow(where: str) -> Any:
    """The module pyarrow, or an error that names the command which installs it."""
    try:
        import pyarrow as pa
        import pyarrow.compute
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError as error:
        remedy = 'Run: pip install "conformio[data]"'
        raise invalid(
            "source", where, "reading and writing tables needs pyarrow", "no pyarrow", remedy=remedy
        ) from error
    return pa


def plain(values: Any) -> Any:
    """A column as one array, dictionaries looked up and long or viewed text as ordinary text."""
    import pyarrow as pa

    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    kind = array.type
    if pa.types.is_dictionary(kind):
        array = array.dictionary_decode()
        kind = array.type
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return array.cast(pa.string())
    return array
