"""Names of nodes, edges, items or columns: from whatever form a table gives them in to numbers, and back.

A name is compared by value where table and owner hold whole numbers, otherwise as it is written: 7 as `7`, text as it
stands, a tuple such as OSMnx's (u, v, key) as `u-v-key` or in Python's way, `(u, v, key)`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformio.checks import IntArray
from conformio.errors import invalid
from conformio.observations._arrow import arrow, plain

__all__ = ["MISSING", "UNKNOWN", "Names"]

UNKNOWN, MISSING = -1, -2


class Names:
    """Names in the order of their numbers.

    Parameters
    ----------
    labels : array or list, optional
        None: every thing is named by its number.
    size : int
    things : str
        What is named, in the plural, e.g. ``"nodes"``.
    where : str
        Named in errors.
    """

    def __init__(self, labels: NDArray[Any] | list[Any] | None, size: int, things: str, where: str):
        self._labels = _as_list(labels, size)
        self.things, self._where = things, where
        self._pa = arrow(where)
        self.whole = all(
            isinstance(label, int) and not isinstance(label, bool) and abs(label) < 2**63 for label in self._labels
        )

    def __len__(self) -> int:
        return len(self._labels)

    def label(self, number: int) -> Any:
        """The name of one thing."""
        return self._labels[number]

    def example(self) -> str:
        """The first name, as it is written in tables."""
        return repr(self.column.slice(0, 1).to_pylist()[0])

    @cached_property
    def column(self) -> Any:
        """All names as a column: whole numbers where all are, else text; what `numbers` reads back."""
        return self._pa.array(self._labels, self._pa.int64()) if self.whole else self._pa.array(self._texts)

    def any_holds(self, text: str) -> bool:
        """Whether some name holds this text."""
        return any(text in name for name in self._texts)

    @cached_property
    def has_outer_spaces(self) -> bool:
        """Whether some name begins or ends in white space, so that none may be trimmed."""
        return any(text != text.strip() for text in self._texts)

    def numbers(self, values: Any) -> IntArray:
        """The number of each name; `UNKNOWN` for names of nothing, `MISSING` for empty cells."""
        pa, array = self._pa, plain(values)
        if pa.types.is_floating(array.type):
            array = _whole_or_text(pa, array)
        if pa.types.is_list(array.type) or pa.types.is_large_list(array.type) or pa.types.is_struct(array.type):
            array = _joined(pa, array)
        if pa.types.is_integer(array.type) and self.whole:
            found = pa.compute.index_in(array, value_set=self.column.cast(array.type, safe=False))
            return self._checked(found, array, self.column)
        text = array.cast(pa.string())
        forms, owner = self._forms
        found = pa.compute.index_in(text, value_set=forms)
        numbers = np.asarray(pa.compute.fill_null(owner.take(found), UNKNOWN), dtype=np.int64)
        return _with_missing(pa, numbers, text)

    def _checked(self, found: Any, array: Any, column: Any) -> IntArray:
        """Numbers of whole names; a name out of the table's range must not match what it wraps round to."""
        pa = self._pa
        numbers = np.asarray(pa.compute.fill_null(found, UNKNOWN), dtype=np.int64)
        if array.type.bit_width < 64 or array.type == pa.uint64():
            back = column.cast(array.type, safe=False).cast(pa.int64(), safe=False)
            wrapped = np.asarray(pa.compute.not_equal(back, column))
            numbers = np.where((numbers >= 0) & wrapped[numbers], UNKNOWN, numbers) if wrapped.any() else numbers
        return _with_missing(pa, numbers, array)

    @cached_property
    def _texts(self) -> list[str]:
        return [_written(label) for label in self._labels]

    @cached_property
    def _forms(self) -> tuple[Any, Any]:
        """Every way a name may be written, and whose it is."""
        owner: dict[str, int] = {}
        for number, (label, text) in enumerate(zip(self._labels, self._texts, strict=True)):
            for form in _forms_of(label, text):
                if owner.setdefault(form, number) != number:
                    pair = f"{self._labels[owner[form]]!r} and {label!r}"
                    rule = f"names of {self.things} must differ as text, or text cannot tell them apart"
                    raise invalid("network", self._where, rule, pair)
        return self._pa.array(list(owner)), self._pa.array(list(owner.values()), self._pa.int64())


def _as_list(labels: NDArray[Any] | list[Any] | None, size: int) -> list[Any]:
    if labels is None:
        return list(range(size))
    return list(labels.tolist() if isinstance(labels, np.ndarray) else labels)


def _written(label: Any) -> str:
    return "-".join(map(str, label)) if isinstance(label, tuple) else str(label)


def _forms_of(label: Any, text: str) -> list[str]:
    if not isinstance(label, tuple):
        return [text]
    spelled = repr(label)
    return [text, spelled, spelled[1:-1]]


def _whole_or_text(pa: Any, array: Any) -> Any:
    """7.0 is the name 7, as frames write whole numbers with gaps; 7.5 stays what it is."""
    array = pa.compute.if_else(pa.compute.is_nan(array), pa.scalar(None, array.type), array)
    try:
        return array.cast(pa.int64())
    except pa.ArrowInvalid:
        return array.cast(pa.string())


def _joined(pa: Any, array: Any) -> Any:
    """Tuples, as lists or structs, in the form `a-b-c`."""
    if pa.types.is_struct(array.type):
        return _hyphenated(pa, array.flatten())
    lengths = np.asarray(pa.compute.fill_null(pa.compute.list_value_length(array), 0))
    size, full = int(lengths.max(initial=0)), lengths > 0
    if not size:
        return pa.nulls(len(array), pa.string())
    if (lengths[full] < size).any():
        return pa.array([_written(tuple(row)) if row else None for row in array.to_pylist()], pa.string())
    parts = array.flatten()
    texts = _hyphenated(pa, [parts.take(pa.array(np.arange(k, len(parts), size))) for k in range(size)])
    return texts.take(pa.array(np.cumsum(full) - 1, mask=~full))


def _hyphenated(pa: Any, parts: list[Any]) -> Any:
    texts = [plain(part).cast(pa.string()) for part in parts]
    return pa.compute.binary_join_element_wise(*texts, "-", null_handling="emit_null")


def _with_missing(pa: Any, numbers: IntArray, array: Any) -> IntArray:
    if array.null_count:
        numbers = np.where(np.asarray(array.is_null()), MISSING, numbers)
    if pa.types.is_string(array.type):
        numbers = np.where(np.asarray(pa.compute.equal(array, "").fill_null(False)), MISSING, numbers)
    return np.asarray(numbers, dtype=np.int64)
