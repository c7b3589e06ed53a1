"""`conformio calibrate`: the same point estimate, calibrated again on other decisions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from conformio.cli import options
from conformio.cli.progress import shown_progress
from conformio.cli.stored_model import open_model
from conformio.cli.summary import model_summary, show_summary

__all__ = ["calibrate"]


def calibrate(
    model: options.ModelFile,
    data: options.Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file to write.")],
    config: options.Config = None,
    level: Annotated[float | None, typer.Option(min=0.0, max=1.0, help="Default: the model's own.")] = None,
    contexts: options.Contexts = None,
    path: options.PathColumn = None,
    steps: options.StepsOption = None,
    separator: options.Separator = None,
    row_id: options.RowId = None,
    origin: options.Origin = None,
    destination: options.Destination = None,
    budget: options.Budget = None,
    chosen: options.Chosen = None,
    allow_loops: options.AllowLoops = None,
    on_bad: options.OnBadOption = options.OnBad.stop,
    skipped: options.Skipped = None,
    jobs: options.Jobs = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Calibrate a model on decisions it was not trained on; the point estimate stays.

    Example: conformio calibrate model.zip --data newer.csv --level 0.95 -o newer.zip
    """
    with shown_progress(quiet) as step:
        step("reading the model", 0.0)
        columns: dict[str, Any] = {
            "path": path,
            "steps": steps,
            "separator": separator,
            "row_id": row_id,
            "origin": origin,
        }
        columns |= {"destination": destination, "budget": budget, "chosen": chosen, "allow_loops": allow_loops}
        opened = open_model(model, data, on_bad, skipped, contexts, columns)
        step("reading decisions", 0.1)
        observed = opened.observations(data, contexts)
        fitted = opened.model
        if level is not None:
            fitted.set_params(confidence_level=level)
        fitted.set_params(n_jobs=jobs)
        step("calibrating", 0.4)
        fitted.conformalize(observed.contexts, observed.decisions)
        step("writing", 0.9)
        fitted.save(out)
    result = {**model_summary(fitted), "rows": observed.report.to_dict(), "model": str(out)}
    typer.echo(json.dumps(result, indent=2)) if as_json else show_summary(result)
