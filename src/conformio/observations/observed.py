"""What reading a table gives, and how one pass over it is made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from conformio.checks import BoolArray, Decisions, FloatArray, IntArray
from conformio.observations.faults import BatchFaults, FaultLog, FaultReport, Kinds
from conformio.observations.growing import GrowingArray
from conformio.observations.identities import IDENTITY_KINDS, RowIds
from conformio.observations.sources import batches, check_apart

__all__ = ["Observations", "RowReader", "read_rows"]


@dataclass(frozen=True, eq=False)
class Observations:
    """The usable rows of a table.

    Attributes
    ----------
    contexts : array, shape (N, context_width)
    decisions : array or CSR, shape (N, n_vars), or None
        None where only contexts were read. CSR ones hold int8 data and 32-bit indices.
    ids : pyarrow.ChunkedArray
        How the table names its rows: the id column, or the row numbers.
    rows : int64 array, shape (N,)
        Where in the table they stand; row 0 is the first below the header.
    report : FaultReport
        What was wrong with the others.
    """

    contexts: FloatArray
    decisions: Decisions | None
    ids: Any
    rows: IntArray
    report: FaultReport

    def __len__(self) -> int:
        return len(self.contexts)

    def __repr__(self) -> str:
        kept = "without decisions" if self.decisions is None else f"decisions of {self.decisions.shape[1]} entries"
        return f"Observations({len(self)} of {self.report.n_rows} rows, {kept})"


class RowReader(Protocol):
    """Turns batches into contexts and decisions; one reader serves one pass."""

    kinds: Kinds

    def look(self, faults: BatchFaults) -> None:
        """Read a batch and note its faults."""

    def keep(self, good: BoolArray) -> None:
        """Keep the good rows of the batch looked at last."""

    def result(self) -> tuple[FloatArray, Decisions | None]:
        """Contexts and decisions of all kept rows."""


def read_rows(
    source: Any, reader: RowReader, row_id: str | None, on_bad: str, skipped: str | Path | None, where: str
) -> Observations:
    """One pass over a table: every row looked at, good ones kept, all faults reported at its end."""
    check_apart(source, skipped, where)
    ids, rows = RowIds(row_id, where), GrowingArray("int64")
    with FaultLog({**IDENTITY_KINDS, **reader.kinds}, on_bad, skipped, where) as log:
        for batch in batches(source, where):
            faults = log.open(batch)
            names = ids.look(faults)
            reader.look(faults)
            good = log.close(faults)
            reader.keep(good)
            ids.keep(names, good)
            rows.extend(batch.rows[good])
    report = log.report()
    contexts, decisions = reader.result()
    return Observations(contexts, decisions, ids.result(), rows.finish(), report)
