"""What a fitted model is, as a few plain values and as text."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import typer

from conformio.model import ConformalIO
from conformio.observations import FaultReport

__all__ = ["certified", "model_summary", "show_model"]


def model_summary(model: ConformalIO) -> dict[str, Any]:
    """Angle, level and the rows behind them."""
    return {
        "problem": repr(model.problem),
        "estimate": type(model.estimator_).__name__,
        "confidence_level": float(model.confidence_level),
        "angle_degrees": math.degrees(model.angle_),
        "n_calibration": model.n_calibration_,
        "n_unexplained": model.n_unexplained_,
        "tie_mass": model.tie_mass_,
    }


def certified(level: float, everything: bool) -> str:
    """What the set certifies; nothing where it holds all parameters, which need not explain every decision."""
    if everything:
        return f"Nothing is certified at level {level:.10g}: the calibrated set holds all parameters."
    return (
        f"With probability at least {level:.10g} the calibrated set meets the set of parameters that make the next "
        "decision optimal, if that decision comes from the same population. It does not promise to contain anyone's "
        "own parameters."
    )


def show_model(model: ConformalIO, report: FaultReport, out: Path, as_json: bool) -> None:
    """What was learnt, from which rows, and where it is, on stdout."""
    result = {**model_summary(model), "rows": report.to_dict(), "model": str(out)}
    typer.echo(json.dumps(result, indent=2)) if as_json else _show(result)


def _show(result: dict[str, Any]) -> None:
    rows = result["rows"]
    typer.echo(f"{result['problem']}, estimated by {result['estimate']}")
    typer.echo(f"rows: {rows['n_used']} of {rows['n_rows']} used, {result['n_calibration']} of them calibrate")
    level = result["confidence_level"]
    typer.echo(f"angle at level {level:.4g}: {result['angle_degrees']:.3f} degrees")
    if result["n_unexplained"]:
        typer.echo(f"{result['n_unexplained']} calibration decisions are explained by no parameters near the estimate")
    typer.echo(certified(level, everything=result["angle_degrees"] == math.degrees(math.pi)))
    typer.echo(f"model: {result['model']}")
