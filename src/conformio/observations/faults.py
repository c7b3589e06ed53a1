"""What is wrong with the rows of a table: every kind of fault, counted, with its first rows.

Faults are found batch by batch. A row may have several; it is then counted in each kind, and skipped once.
"""

from __future__ import annotations

import csv
import json
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

import numpy as np

from conformio.checks import BoolArray, IntArray, check_choice
from conformio.errors import ConformioError, FaultyRowsError, InvalidInputError, invalid
from conformio.observations.sources import Batch

__all__ = ["BatchFaults", "Fault", "FaultLog", "FaultReport", "Kinds"]

_SHOWN = 5
_MALFORMED = "not a row"
_FIXED_KINDS = {_MALFORMED: ("must have as many cells as the header", "Put cells that hold commas in double quotes")}

Kinds = Mapping[str, tuple[str, str]]
"""Name of a fault -> (what is allowed, what to do)."""


@dataclass(frozen=True)
class Fault:
    """One kind of fault.

    Attributes
    ----------
    kind, rule, remedy : str
    count : int
        Rows that have it.
    examples : tuple of (row, detail)
        The first of them.
    """

    kind: str
    rule: str
    remedy: str
    count: int
    examples: tuple[tuple[int, str], ...]

    def __str__(self) -> str:
        shown = "; ".join(f"row {row}: {detail}" for row, detail in self.examples)
        more = "; ..." if self.count > len(self.examples) else ""
        rows = "1 row" if self.count == 1 else f"{self.count} rows"
        return f"{self.kind} in {rows} ({shown}{more}): {self.rule}." + (f" {self.remedy}." if self.remedy else "")


@dataclass(frozen=True)
class FaultReport:
    """All that was found in one pass.

    Attributes
    ----------
    n_rows, n_used : int
        Rows of the table, and how many of them are free of faults.
    faults : tuple of Fault
        The most frequent first.
    skipped : Path or None
        The file that holds the faulty rows, where they were skipped.
    """

    n_rows: int
    n_used: int
    faults: tuple[Fault, ...]
    skipped: Path | None

    def __str__(self) -> str:
        lines = [f"{self.n_used} of {self.n_rows} rows are free of faults"]
        lines += [f"  - {fault}" for fault in self.faults]
        return "\n".join([*lines, f"  The other rows are in {self.skipped}"] if self.skipped else lines)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        faults = [
            {
                "kind": f.kind,
                "count": f.count,
                "rows": [row for row, _ in f.examples],
                "details": [d for _, d in f.examples],
            }
            for f in self.faults
        ]
        path = None if self.skipped is None else str(self.skipped)
        return {"n_rows": self.n_rows, "n_used": self.n_used, "faults": faults, "skipped": path}


@dataclass
class _Tally:
    count: int = 0
    examples: list[tuple[int, str]] = field(default_factory=list)


class FaultLog:
    """Collects the faults of one pass over a table; a context manager, as it may write a file.

    Parameters
    ----------
    kinds : Kinds
        The faults this table can have.
    on_bad : {"stop", "skip"}
        Whether faulty rows are an error once all are known, or are left out and written to `skipped`.
    skipped : path, optional
        Where skipped rows go, as CSV: their number, the reasons, and the row itself.
    where : str
        Named in errors.
    """

    def __init__(self, kinds: Kinds, on_bad: str, skipped: str | Path | None, where: str):
        check_choice(on_bad, ("stop", "skip"), "on_bad", where)
        if on_bad == "skip" and skipped is None:
            remedy = "Skipped rows are never lost: name the file they are written to"
            raise invalid("skipped", where, 'must be a path with on_bad="skip"', None, remedy=remedy)
        self._kinds, self._where = {**_FIXED_KINDS, **kinds}, where
        self._tallies = {kind: _Tally() for kind in self._kinds}
        self._file = _SkippedRows(Path(skipped), where) if on_bad == "skip" and skipped is not None else None
        self.n_rows = self.n_used = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close(keep=error is None or isinstance(error, ConformioError))

    def open(self, batch: Batch) -> BatchFaults:
        """Where the faults of one batch are noted."""
        for row, text in batch.malformed:
            self._note(_MALFORMED, row, repr(text[:80]))
            if self._file is not None:
                self._file.write(batch.columns.schema.names, row, [_MALFORMED], [text])
        self.n_rows += len(batch.malformed) + len(batch.rows)
        return BatchFaults(self, batch)

    def close(self, faults: BatchFaults) -> BoolArray:
        """Count what was noted of a batch, write its faulty rows, and say which rows are good."""
        good = np.ones(len(faults.batch.rows), dtype=np.bool_)
        reasons: dict[int, list[str]] = {}
        for kind, rows, detail in faults.noted:
            good[rows] = False
            self._tallies[kind].count += len(rows)
            for k, row in enumerate(rows.tolist()):
                if len(self._tallies[kind].examples) < _SHOWN:
                    self._tallies[kind].examples.append((int(faults.batch.rows[row]), detail(k)))
                elif self._file is None:
                    break
                if self._file is not None:
                    reasons.setdefault(row, []).append(f"{kind}: {detail(k)}")
        if self._file is not None and reasons:
            self._write(self._file, faults.batch, reasons)
        self.n_used += int(good.sum())
        return good

    def report(self) -> FaultReport:
        """All faults so far; an error if there are any and `on_bad` is "stop"."""
        found = [
            Fault(kind, *self._kinds[kind], tally.count, tuple(tally.examples))
            for kind, tally in self._tallies.items()
            if tally.count
        ]
        found.sort(key=lambda fault: -fault.count)
        path = self._file.path if self._file is not None and found else None
        report = FaultReport(self.n_rows, self.n_used, tuple(found), path)
        if found and self._file is None:
            remedy = 'Correct them, or leave them out with on_bad="skip" and skipped=FILE (--on-bad skip)'
            raise FaultyRowsError(f"{report}\n{remedy}", report, self._where)
        if not report.n_used:
            got = f"{report.n_rows} rows, none of them without a fault" if found else "an empty table"
            raise invalid("source", self._where, "must hold at least one row to use", f"{got}\n{report}")
        return report

    def _note(self, kind: str, row: int, detail: str) -> None:
        tally = self._tallies[kind]
        tally.count += 1
        if len(tally.examples) < _SHOWN:
            tally.examples.append((row, detail))

    def _write(self, file: _SkippedRows, batch: Batch, reasons: dict[int, list[str]]) -> None:
        rows = sorted(reasons)
        cells = batch.columns.take(rows).to_pydict()
        for k, row in enumerate(rows):
            values = [column[k] for column in cells.values()]
            file.write(list(cells), int(batch.rows[row]), reasons[row], values)


@dataclass
class BatchFaults:
    """The faults of one batch, each with its rows (within the batch) and their details."""

    log: FaultLog
    batch: Batch
    noted: list[tuple[str, IntArray, Callable[[int], str]]] = field(default_factory=list)

    def note(self, kind: str, rows: IntArray, detail: Callable[[int], str]) -> None:
        """Note distinct rows of the batch; `detail(k)` says what is wrong with the k-th of them."""
        if len(rows):
            self.noted.append((kind, rows, detail))

    def good(self) -> BoolArray:
        """Which rows have no fault so far."""
        good = np.ones(len(self.batch.rows), dtype=np.bool_)
        for _, rows, _ in self.noted:
            good[rows] = False
        return good


class _SkippedRows:
    """The file of skipped rows, made with the first of them; an older one stays until all rows are read."""

    def __init__(self, path: Path, where: str):
        self.path, self._where = path, where
        apart = path.is_file() or not path.exists()
        self._draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}") if apart else path
        self._file: TextIO | None = None

    def write(self, names: list[str], row: int, reasons: list[str], values: list[Any]) -> None:
        try:
            if self._file is None:
                self._file = self._draft.open("w", newline="", encoding="utf-8")
                csv.writer(self._file).writerow(["row", "reasons", *names])
            csv.writer(self._file).writerow([row, " | ".join(reasons), *map(_cell, values)])
        except OSError as error:
            raise self._unwritable(error) from error

    def close(self, keep: bool) -> None:
        """Put the file in its place, unless reading was cut off."""
        if self._file is None:
            return
        try:
            self._file.close()
            if keep and self._draft != self.path:
                os.replace(self._draft, self.path)
        except OSError as error:
            raise self._unwritable(error) from error
        finally:
            if self._draft != self.path:
                self._draft.unlink(missing_ok=True)

    def _unwritable(self, error: OSError) -> InvalidInputError:
        rule = f"{self.path}: must be a file that can be written"
        return invalid("skipped", self._where, rule, error.strerror or str(error))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
