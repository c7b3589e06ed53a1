"""A model file and a table of data for it: what `calibrate`, `prescribe` and `evaluate` begin with."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import typer

from conformio.cli.options import OnBad, Steps
from conformio.model import ConformalIO, load
from conformio.observations import Observations, ObservationTable, PlanTable, table_for

__all__ = ["OpenModel", "open_model", "reading_options"]


@dataclass(frozen=True)
class OpenModel:
    """A loaded model, how its tables are read, and what becomes of faulty rows."""

    model: ConformalIO
    table: ObservationTable
    options: dict[str, Any]

    def observations(self, data: Path, contexts: Path | None = None) -> Observations:
        """Contexts and decisions; says on stderr what was skipped."""
        more: dict[str, Any] = {} if contexts is None else {"contexts": contexts}
        keep = self.model.infeasible == "unexplained"
        return _told(self.table.read(data, keep_infeasible=keep, **self.options, **more))

    def contexts(self, data: Path) -> Observations:
        """Contexts alone; says on stderr what was skipped."""
        return _told(self.table.read_contexts(data, **self.options))


def open_model(
    path: Path,
    data: Path,
    on_bad: OnBad,
    skipped: Path | None,
    contexts: Path | None,
    columns: dict[str, Any],
) -> OpenModel:
    """Load a model that holds no code, with the given columns in place of those it remembers."""
    model = load(path)
    table = table_for(model.problem, getattr(model, "table_", None))
    if contexts is not None and not isinstance(table, PlanTable):
        raise typer.BadParameter("--contexts goes with models of plans (--problem lp)")
    return OpenModel(model, with_columns(table, columns), reading_options(on_bad, skipped, data))


def with_columns(table: ObservationTable, columns: dict[str, Any]) -> ObservationTable:
    """The table with other columns; those that it does not have are wrong usage."""
    given = {name: str(value) if isinstance(value, Steps) else value for name, value in columns.items()}
    given = {name: value for name, value in given.items() if value is not None}
    known = {field.name for field in fields(table)}  # type: ignore[arg-type]
    for name in given.keys() - known:
        raise typer.BadParameter(f"--{name.replace('_', '-')} does not go with tables of {table.kind}")
    changed: ObservationTable = replace(table, **given)  # type: ignore[type-var]
    return changed


def reading_options(on_bad: OnBad, skipped: Path | None, data: Path) -> dict[str, Any]:
    """How faulty rows are treated, as arguments of `read`."""
    if on_bad is OnBad.stop:
        if skipped is not None:
            raise typer.BadParameter("--skipped goes with --on-bad skip")
        return {"on_bad": "stop"}
    return {"on_bad": "skip", "skipped": skipped or Path(f"{data.stem}-skipped.csv")}


def _told(observed: Observations) -> Observations:
    if observed.report.faults:
        typer.echo(f"conformio: {observed.report}", err=True)
    return observed
