"""`conformio prescribe`: robust decisions for new situations, in the names of the data."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from conformio.cli import options
from conformio.cli.prescriptions import prescribe_table
from conformio.cli.progress import shown_progress
from conformio.cli.stored_model import open_model
from conformio.observations import TableWriter

__all__ = ["prescribe"]


def prescribe(
    model: options.ModelFile,
    data: Annotated[Path, typer.Option("--data", "--trips", "--contexts", help="Situations: a CSV or Parquet file.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A .csv, .parquet or .jsonl file; default: CSV on stdout.")
    ] = None,
    config: options.Config = None,
    level: Annotated[float | None, typer.Option(min=0.0, max=1.0, help="Default: the model's own.")] = None,
    path: options.PathColumn = None,
    steps: options.StepsOption = None,
    separator: options.Separator = None,
    row_id: options.RowId = None,
    origin: options.Origin = None,
    destination: options.Destination = None,
    budget: options.Budget = None,
    on_bad: options.OnBadOption = options.OnBad.stop,
    skipped: options.Skipped = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Prescribe a robust decision for every row, beside the classic one, with its certificate.

    Example: conformio prescribe model.zip --data requests.csv -o advice.csv
    """
    with shown_progress(quiet) as step:
        step("reading the model", 0.0)
        columns: dict[str, Any] = {"path": path, "steps": steps, "separator": separator, "row_id": row_id}
        columns |= {"origin": origin, "destination": destination, "budget": budget}
        opened = open_model(model, data, on_bad, skipped, None, columns)
        step("reading situations", 0.1)
        wanted = opened.contexts(data)
        with TableWriter(
            sys.stdout if out is None else out,
            opened.table.list_separator(),
            ".jsonl" if as_json else ".csv",
            "prescribe",
        ) as writer:
            differing = prescribe_table(opened.model, opened.table, wanted, level, writer, step)
    if out is not None:
        result = {"n_rows": len(wanted), "n_differing": differing, "rows": wanted.report.to_dict(), "out": str(out)}
        text = f"{len(wanted)} prescriptions in {out}; {differing} differ from the classic ones"
        typer.echo(json.dumps(result, indent=2) if as_json else text)
