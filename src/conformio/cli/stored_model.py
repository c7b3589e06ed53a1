"""A model file and a table of data for it: what `calibrate`, `prescribe` and `evaluate` begin with."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import typer

from conformio.cli.options import Reading
from conformio.model import ConformalIO, load
from conformio.observations import Observations, ObservationTable, PlanTable, table_for

__all__ = ["OpenModel", "open_model", "with_columns"]


@dataclass(frozen=True)
class OpenModel:
    """A loaded model, how its tables are read, and what becomes of faulty rows."""

    model: ConformalIO
    table: ObservationTable
    skipped: Path | None

    def observations(
        self, data: Path, contexts: Path | None = None, keep_infeasible: bool | None = None
    ) -> Observations:
        """Contexts and decisions, infeasible ones as the model would; says on stderr what was skipped."""
        more: dict[str, Any] = {} if contexts is None else {"contexts": contexts}
        keep = self.model.infeasible == "unexplained" if keep_infeasible is None else keep_infeasible
        return _told(self.table.read(data, keep_infeasible=keep, **self._bad(), **more))

    def contexts(self, data: Path) -> Observations:
        """Contexts alone; says on stderr what was skipped."""
        return _told(self.table.read_contexts(data, **self._bad()))

    def _bad(self) -> dict[str, Any]:
        return {"on_bad": "stop" if self.skipped is None else "skip", "skipped": self.skipped}


def open_model(path: Path, reading: Reading, data: Path, contexts: Path | None = None) -> OpenModel:
    """Load a model that holds no code, with the given columns in place of those it remembers."""
    skipped = reading.skipped_rows(data)
    model = load(path)
    table = table_for(model.problem, getattr(model, "table_", None))
    if contexts is not None and not isinstance(table, PlanTable):
        raise typer.BadParameter("--contexts goes with models of plans (--problem lp)")
    return OpenModel(model, with_columns(table, reading), skipped)


def with_columns(table: ObservationTable, reading: Reading) -> ObservationTable:
    """The table with other columns; those that it does not have are wrong usage."""
    given, known = reading.columns(), {field.name for field in fields(table)}  # type: ignore[arg-type]
    for name in given.keys() - known:
        raise typer.BadParameter(f"--{name.replace('_', '-')} does not go with tables of {table.kind}")
    changed: ObservationTable = replace(table, **given)  # type: ignore[type-var]
    return changed


def _told(observed: Observations) -> Observations:
    if observed.report.faults:
        typer.echo(f"conformio: {observed.report}", err=True)
    return observed
