"""The column that holds lists of names: real lists, or text such as `A;B;C`, `A -> B` or `['A', 'B']`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from conformio.checks import BoolArray, IntArray
from conformio.errors import invalid
from conformio.observations._arrow import arrow, plain
from conformio.observations.names import Names

__all__ = ["SEPARATORS", "ListColumn", "Lists", "free_separator"]

SEPARATORS = (";", "|", ",", "->", ">", "/", "\t", " ", ":", "_", "-")
"""What may part names in text, where no separator is given and exactly one of these yields known names."""

_SAMPLE = 200
_BETWEEN = "\x1f"


@dataclass(frozen=True, eq=False)
class Lists:
    """The lists of one batch, flattened.

    Attributes
    ----------
    lengths : (n,) array
        0 where there is no list.
    numbers : array
        All names of all lists as numbers, `UNKNOWN` or `MISSING` where they are none.
    pieces : pyarrow array
        The same as they are in the table.
    absent : (n,) bool array
        Rows whose cell is empty.
    """

    lengths: IntArray
    numbers: IntArray
    pieces: Any
    absent: BoolArray

    @property
    def rows(self) -> IntArray:
        """The row of each name."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def starts(self) -> IntArray:
        """Where each list begins in the flat arrays, and where the last ends."""
        return np.concatenate([[0], np.cumsum(self.lengths)])

    def at(self, k: int) -> str:
        """A name for messages: how it is written, and its place in its list."""
        row = int(np.searchsorted(self.starts, k, side="right")) - 1
        return f"{self.pieces[k].as_py()!r} at step {k - int(self.starts[row])}"

    def first(self, wrong: BoolArray) -> tuple[IntArray, IntArray]:
        """Rows with a marked name, and the first place in each."""
        places = np.flatnonzero(wrong)
        rows, first = np.unique(self.rows[places], return_index=True)
        return rows, places[first]

    def only(self, rows: BoolArray) -> Lists:
        """The same with the lists of the other rows emptied."""
        if rows.all():
            return self
        keep = np.repeat(rows, self.lengths)
        pieces = self.pieces.filter(arrow("Lists.only").array(keep))
        return Lists(np.where(rows, self.lengths, 0), self.numbers[keep], pieces, self.absent)


class ListColumn:
    """Reads a column of lists; how text is parted is settled by the first batch that has some.

    Parameters
    ----------
    names : Names
    separator : str, optional
        What parts names in text; None: found out, or an error if that is ambiguous.
    where : str
        Named in errors.
    """

    def __init__(self, names: Names, separator: str | None, where: str):
        if separator is not None and not (isinstance(separator, str) and separator):
            raise invalid("separator", where, "must be one or more characters", repr(separator))
        self._names, self._separator, self._where = names, separator, where
        self._pa = arrow(where)

    def read(self, column: Any) -> Lists:
        """The lists of one batch."""
        pa, array = self._pa, plain(column)
        absent = np.asarray(array.is_null())
        if pa.types.is_string(array.type):
            array = self._parted(array)
        elif pa.types.is_null(array.type):
            array = array.cast(pa.list_(pa.string()))
        elif not (pa.types.is_list(array.type) or pa.types.is_large_list(array.type)):
            array = self._parted(array.cast(pa.string()))  # single names: lists of one
        lengths = np.asarray(pa.compute.fill_null(pa.compute.list_value_length(array), 0), dtype=np.int64)
        pieces = plain(array.flatten())
        return Lists(lengths, self._names.numbers(pieces), pieces, absent)

    def _parted(self, text: Any) -> Any:
        compute = self._pa.compute
        trimmed = compute.utf8_trim_whitespace(text)
        kept = trimmed if not self._names.has_outer_spaces else text
        bracketed = np.asarray(compute.match_like(trimmed, "[%]").fill_null(True))
        if bracketed.all() and text.null_count < len(text):
            return self._pieces(_unbracketed(compute, trimmed), _BETWEEN, " \t\r\n'\"")
        kept = compute.if_else(compute.equal(trimmed, "[]"), "", kept)
        if self._separator is None:
            self._separator = self._found(kept)
        return self._pieces(kept, self._separator)

    def _pieces(self, text: Any, separator: str, around: str = " \t\r\n") -> Any:
        """Parted text; an empty list where there is nothing, and no white space around names unless theirs."""
        pa, compute = self._pa, self._pa.compute
        lists = compute.split_pattern(text, separator)
        lengths = np.asarray(compute.fill_null(compute.list_value_length(lists), 0))
        flat = lists.flatten()
        if not self._names.has_outer_spaces:
            flat = compute.utf8_trim(flat, around)
        empty = np.asarray(compute.equal(text, "").fill_null(False))
        if empty.any():
            flat = flat.filter(pa.array(~np.repeat(empty, lengths)))
            lengths = np.where(empty, 0, lengths)
        offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
        return pa.ListArray.from_arrays(offsets, flat)

    def _found(self, text: Any) -> str:
        """The one separator that parts some cell of the first rows into known names."""
        compute = self._pa.compute
        sample = text.drop_null().slice(0, _SAMPLE)
        scores: dict[str, int] = {}
        for separator in SEPARATORS:
            lists = self._pieces(sample, separator)
            lengths = np.asarray(compute.list_value_length(lists), dtype=np.int64)
            known = self._names.numbers(lists.flatten()) >= 0
            rows = np.repeat(np.arange(len(lengths)), lengths)
            whole = np.bincount(rows, known, len(lengths)) == lengths
            several = int((whole & (lengths > 1)).sum())
            if several:
                scores[separator] = several
        best = [separator for separator, score in scores.items() if score == max(scores.values())]
        if len(best) == 1:
            return best[0]
        if not scores and (self._names.numbers(sample) >= 0).any():
            return SEPARATORS[0]  # single names only
        remedy = f"Give the separator. Names of {self._names.things} are like {self._names.example()}"
        got = f"cells like {sample[0].as_py()[:80]!r}" if len(sample) else "empty cells"
        rule = f"must be written as names parted by one of {' '.join(map(repr, SEPARATORS))}"
        if best:
            rule = f"could be parted in more than one way ({' '.join(map(repr, best))})"
        raise invalid("separator", self._where, rule, got, remedy=remedy)


def free_separator(*kinds: Names) -> str:
    """The first separator that no name holds, so that text can be parted again."""
    for separator in SEPARATORS:
        if not any(names.any_holds(separator) for names in kinds):
            return separator
    return _BETWEEN


def _unbracketed(compute: Any, text: Any) -> Any:
    """The inside of `[...]`, names parted by a control character; tuples keep their commas, quotes go."""
    inside = compute.utf8_trim_whitespace(compute.utf8_slice_codeunits(text, 1, -1))
    tuples = np.asarray(compute.starts_with(inside, "(").fill_null(False))
    if tuples.any():
        return compute.replace_substring_regex(inside, r"\)\s*,\s*\(", f"){_BETWEEN}(")
    return compute.replace_substring(inside, ",", _BETWEEN)
