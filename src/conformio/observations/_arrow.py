"""The one door to pyarrow, the optional library that reads and writes tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformio.errors import invalid

__all__ = ["arrow", "plain", "plain_batch"]


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
    """A column as one array: dictionaries looked up, text as ordinary text, lists of every kind as lists."""
    import pyarrow as pa

    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    kind = array.type
    if pa.types.is_dictionary(kind):
        return plain(array.dictionary).take(array.indices)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return array.cast(pa.string())
    if pa.types.is_fixed_size_list(kind):
        return plain(array.cast(pa.large_list(kind.value_type)))
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):  # which casts read wrongly
        return plain(pa.array(array.to_pylist(), pa.large_list(kind.value_type)))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _plain_lists(pa, array)
    return array


def _plain_lists(pa: Any, array: Any) -> Any:
    values = plain(array.values)
    if values is array.values or values.type == array.type.value_type:
        return array
    offsets = pa.array(np.array(array.offsets))  # a copy: parts of arrays take no mask
    return type(array).from_arrays(offsets, values, mask=array.is_null() if array.null_count else None)


def plain_batch(batch: Any) -> Any:
    """A record batch whose columns are all `plain`, as kinds that few functions know are of no use to anybody."""
    import pyarrow as pa

    columns = [plain(column) for column in batch.columns]
    if all(new is old for new, old in zip(columns, batch.columns, strict=True)):
        return batch
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
