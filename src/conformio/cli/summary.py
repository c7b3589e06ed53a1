"""What a fitted model is, as a few plain values and as text."""

from __future__ import annotations

import math
from typing import Any

import typer

from conformio.model import ConformalIO

__all__ = ["certified", "model_summary", "show_summary"]


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


def certified(level: float) -> str:
    """What the set certifies, in one sentence."""
    return (
        f"With probability at least {level:.4g} the calibrated set meets the set of parameters that make the next "
        "decision optimal, if that decision comes from the same population. It does not promise to contain anyone's "
        "own parameters."
    )


def show_summary(result: dict[str, Any]) -> None:
    """The same as text on stdout."""
    rows = result["rows"]
    typer.echo(f"{result['problem']}, estimated by {result['estimate']}")
    typer.echo(f"rows: {rows['n_used']} of {rows['n_rows']} used, {result['n_calibration']} of them calibrate")
    level = result["confidence_level"]
    typer.echo(f"angle at level {level:.4g}: {result['angle_degrees']:.3f} degrees")
    if result["n_unexplained"]:
        typer.echo(f"{result['n_unexplained']} calibration decisions are explained by no parameters near the estimate")
    typer.echo(certified(level))
    typer.echo(f"model: {result['model']}")
