"""`conformio demo`: the paper's road-grid example, from data to a table and a report."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from conformio.cli.progress import shown_progress
from conformio.studies.demo import DemoResult, certificate, run_demo
from conformio.studies.demo_report import COLUMNS, check_can_plot, prepared_folder, table_cells, write_report
from conformio.studies.example_folder import export_example

__all__ = ["demo"]


def demo(
    out: Annotated[Path, typer.Option(help="Folder for report.html; made if missing.")] = Path("conformio-demo"),
    seed: Annotated[int, typer.Option(min=0, help="Decides the data, the split and the training.")] = 0,
    decision_makers: Annotated[int, typer.Option(min=100, help="How many are simulated.")] = 1000,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    export: Annotated[
        Path | None, typer.Option(help="Instead: an empty folder for example files and commands to try.")
    ] = None,
) -> None:
    """Compare the classic and the conformal pipeline on the paper's road grid.

    Example: conformio demo --out results --seed 7
    """
    if export is not None:
        _export(export, seed, as_json)
        return
    check_can_plot()
    folder = prepared_folder(out)
    with shown_progress(quiet) as step:
        result = run_demo(decision_makers, seed, step)
    report = write_report(result, folder)
    if as_json:
        typer.echo(json.dumps({**asdict(result), "certificate": certificate(result), "report": str(report)}, indent=2))
    else:
        _show(result, report)


def _export(folder: Path, seed: int, as_json: bool) -> None:
    files = [str(path) for path in export_example(folder, seed)]
    text = f"{len(files)} files in {folder}. Go there and follow {folder / 'README.md'}"
    typer.echo(json.dumps({"files": files}, indent=2) if as_json else text)


def _show(result: DemoResult, report: Path) -> None:
    console = Console(highlight=False, soft_wrap=True)
    table = Table(title="Test trips on the paper's road grid", box=box.SIMPLE, padding=0)
    for name in COLUMNS:
        table.add_column(name, justify="left" if name == "method" else "right", no_wrap=True)
    for row in result.rows:
        table.add_row(*table_cells(row))
    console.print(table)
    console.print(
        f"{result.n_train} decision makers train, {result.n_calibration} calibrate, {result.n_test} test. "
        f"Fitting took {result.classic_fit_seconds:.2f} s (classic) and {result.conformal_fit_seconds:.2f} s "
        "(conformal); the column seconds is the time to prescribe all test trips."
    )
    console.print(f"{result.zero_angle_share:.1%} of the calibration angles are exactly 0.")
    console.print(certificate(result))
    console.print(f"Report: {report}")
