"""`conformio prescribe`: robust decisions for new situations, in the names of the data."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from conformio.cli import options
from conformio.cli.groups import with_groups
from conformio.cli.options import Reading, Running
from conformio.cli.outputs import check_outputs
from conformio.cli.prescriptions import prescribe_table
from conformio.cli.progress import shown_progress
from conformio.cli.stored_model import open_model
from conformio.observations import TableWriter

__all__ = ["prescribe"]


@with_groups
def prescribe(
    model: options.ModelFile,
    data: Annotated[Path, typer.Option("--data", "--trips", "--contexts", help="Situations: a CSV or Parquet file.")],
    reading: Reading,
    running: Running,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="A .csv, .parquet or .jsonl file, an older one is replaced; default: CSV on stdout."
        ),
    ] = None,
    level: options.Level = None,
) -> None:
    """Prescribe a robust decision for every row, beside the classic one, with its certificate.

    Example: conformio prescribe model.zip --data requests.csv -o advice.csv
    """
    inputs = {"the model": model, "--data": data, "--config": running.config}
    check_outputs({"--out": out, "--skipped": reading.skipped_rows(data)}, inputs)
    with shown_progress(running.quiet) as step:
        step("reading the model", 0.0)
        opened = open_model(model, reading, data)
        step("reading situations", 0.1)
        wanted = opened.contexts(data)
        target, form = sys.stdout if out is None else out, ".jsonl" if running.as_json else ".csv"
        with TableWriter(target, opened.table.list_separator(), form, "prescribe") as writer:
            differing = prescribe_table(opened.model, opened.table, wanted, level, writer, step)
    if out is not None:
        result = {"n_rows": len(wanted), "n_differing": differing, "rows": wanted.report.to_dict(), "out": str(out)}
        text = f"{len(wanted)} prescriptions in {out}; {differing} differ from the classic ones"
        typer.echo(json.dumps(result, indent=2) if running.as_json else text)
