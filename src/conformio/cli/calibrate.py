"""`conformio calibrate`: the same point estimate, calibrated again on other decisions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformio.cli import options
from conformio.cli.groups import with_groups
from conformio.cli.options import Reading, Running
from conformio.cli.outputs import check_outputs
from conformio.cli.progress import shown_progress
from conformio.cli.stored_model import open_model
from conformio.cli.summary import show_model
from conformio.errors import told_of

__all__ = ["calibrate"]


@with_groups
def calibrate(
    model: options.ModelFile,
    data: options.Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file to write; an older one is replaced.")],
    reading: Reading,
    running: Running,
    contexts: options.Contexts = None,
    level: options.Level = None,
    jobs: options.Jobs = None,
) -> None:
    """Calibrate a model on decisions it was not trained on; the point estimate stays.

    Example: conformio calibrate model.zip --data newer.csv --level 0.95 -o newer.zip
    """
    outputs = {"--out": out, "--skipped": reading.skipped_rows(data)}
    check_outputs(outputs, {"the model": model, "--data": data, "--contexts": contexts, "--config": running.config})
    with shown_progress(running.quiet) as step:
        step("reading the model", 0.0)
        opened = open_model(model, reading, data, contexts)
        step("reading decisions", 0.1)
        observed = opened.observations(data, contexts)
        fitted = opened.model
        if level is not None:
            fitted.set_params(confidence_level=level)
        fitted.set_params(n_jobs=jobs)
        step("calibrating", 0.4)
        with told_of("calibrate", observed.rows):
            fitted.conformalize(observed.contexts, observed.decisions)
        step("writing", 0.9)
        fitted.save(out)
    show_model(fitted, observed.report, out, running.as_json)
