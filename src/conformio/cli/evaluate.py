"""`conformio evaluate`: coverage and adherence of a model on decisions it has not seen."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any

import numpy as np
import typer

from conformio import metrics
from conformio.checks import Decisions, FloatArray
from conformio.cli import options
from conformio.cli.groups import with_groups
from conformio.cli.options import Reading, Running
from conformio.cli.outputs import check_outputs
from conformio.cli.progress import shown_progress
from conformio.cli.stored_model import open_model
from conformio.diagnosis import role_of
from conformio.errors import told_of
from conformio.model import ConformalIO
from conformio.observations import Observations

__all__ = ["evaluate"]

_BAND = 0.99


@with_groups
def evaluate(
    model: options.ModelFile,
    data: options.Data,
    reading: Reading,
    running: Running,
    contexts: options.Contexts = None,
    level: Annotated[
        list[float] | None,
        typer.Option(callback=options.as_levels, help="In [0, 1], may be given often; default: the model's own."),
    ] = None,
    jobs: options.Jobs = None,
) -> None:
    """Measure a model on test decisions: coverage, and how often prescriptions are what people did.

    Example: conformio evaluate model.zip --data test.csv --level 0.5 --level 0.9
    """
    inputs = {"the model": model, "--data": data, "--contexts": contexts, "--config": running.config}
    check_outputs({"--skipped": reading.skipped_rows(data)}, inputs)
    with shown_progress(running.quiet) as step:
        step("reading the model", 0.0)
        opened = open_model(model, reading, data, contexts)
        opened.model.set_params(n_jobs=jobs)
        step("reading decisions", 0.1)
        observed = opened.observations(data, contexts)
        step("measuring angles", 0.2)
        with told_of("evaluate", observed.rows):
            angles = opened.model.angles(observed.contexts, observed.decisions)
            levels = level or [float(opened.model.confidence_level)]
            measured = [_classic(opened.model, observed)]
            for k, one in enumerate(levels):
                step(f"prescribing at level {one}", 0.5 + 0.5 * k / len(levels))
                measured.append(_conformal(opened.model, observed, angles, one))
    unexplained = int((angles == np.pi).sum())
    role, _ = role_of(opened.model, observed.contexts, observed.decisions)
    result: dict[str, Any] = {"n_test": len(observed), "role": role, "n_unexplained": unexplained, "methods": measured}
    result |= {"n_calibration": opened.model.n_calibration_, "rows": observed.report.to_dict()}
    typer.echo(json.dumps(result, indent=2)) if running.as_json else _show(result)


def _classic(model: ConformalIO, observed: Observations) -> dict[str, Any]:
    nominal = model.predict_nominal(observed.contexts)
    empty = dict.fromkeys(("level", "angle_degrees", "coverage", "band"))
    return {"method": "classic", **empty, **_adherence(model, nominal, observed)}


def _conformal(model: ConformalIO, observed: Observations, angles: FloatArray, level: float) -> dict[str, Any]:
    angle = model.angle(level)
    return {
        "method": "conformal",
        "level": level,
        "angle_degrees": math.degrees(angle),
        "coverage": metrics.coverage(angles, angle),
        "band": list(metrics.coverage_interval(model.n_calibration_, level, len(angles), mass=_BAND)),
        **_adherence(model, model.predict(observed.contexts, level), observed),
    }


def _adherence(model: ConformalIO, prescribed: Decisions, observed: Observations) -> dict[str, Any]:
    kinds = ("exact", "jaccard") if model.problem.binary else ("exact",)
    shares = {kind: float(metrics.adherence(prescribed, observed.decisions, kind).mean()) for kind in kinds}
    return {"adherence": shares["exact"], "jaccard": shares.get("jaccard")}


def _show(result: dict[str, Any]) -> None:
    typer.echo(f"{result['n_test']} test decisions; {result['n_calibration']} calibrated the model")
    if result["role"] != "new":
        typer.echo(f"Not a test: the model was {result['role']} on these decisions. Measure on others")
    if result["n_unexplained"]:
        typer.echo(f"{result['n_unexplained']} of them are explained by no parameters near the estimate")
    typer.echo(f"{'method':<10}{'level':>7}{'angle':>9}{'coverage':>10}{'99% band':>16}{'adherence':>11}{'jaccard':>9}")
    for row in result["methods"]:
        band = "-" if row["band"] is None else f"{row['band'][0]:.3f} - {row['band'][1]:.3f}"
        cells = [_number(row[name], 3) for name in ("level", "angle_degrees", "coverage")]
        shares = [_number(row[name], 3) for name in ("adherence", "jaccard")]
        typer.echo(
            f"{row['method']:<10}{cells[0]:>7}{cells[1]:>9}{cells[2]:>10}{band:>16}{shares[0]:>11}{shares[1]:>9}"
        )
    typer.echo("Angles are in degrees. Without ties, coverage lies in the band in 99% of draws; ties only raise it.")


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
