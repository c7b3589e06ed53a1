"""`conformio fit`: from files of decisions to a calibrated model in one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from conformio.cli import options
from conformio.cli.new_problem import (
    Domain,
    EstimatorKind,
    ProblemKind,
    SelfLoops,
    Sense,
    Sources,
    new_estimator,
    new_table,
    problem_of,
)
from conformio.cli.progress import shown_progress
from conformio.cli.stored_model import OpenModel, reading_options
from conformio.cli.summary import model_summary, show_summary
from conformio.model import ConformalIO

__all__ = ["fit"]

_ROADS, _SHOP, _PROGRAM = "Networks (--problem path)", "Items (--problem knapsack)", "Programs (--problem lp)"
_METHOD = "Method"


def fit(
    ctx: typer.Context,
    data: options.Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file to write.")],
    config: options.Config = None,
    problem: Annotated[ProblemKind, typer.Option(help="What people solved.")] = ProblemKind.path,
    network: Annotated[
        Path | None, typer.Option(rich_help_panel=_ROADS, help="Edges: .csv, .parquet, .tntp or .graphml.")
    ] = None,
    tail: Annotated[str | None, typer.Option(rich_help_panel=_ROADS, help="Column: node an edge leaves.")] = None,
    head: Annotated[str | None, typer.Option(rich_help_panel=_ROADS, help="Column: node an edge enters.")] = None,
    edge_id: Annotated[str | None, typer.Option(rich_help_panel=_ROADS, help="Column that names edges.")] = None,
    nodes: Annotated[
        Path | None,
        typer.Option(rich_help_panel=_ROADS, help="Table with node, x, y (and zone), or a _node.tntp file."),
    ] = None,
    self_loops: Annotated[SelfLoops | None, typer.Option(rich_help_panel=_ROADS, help="Refuse or leave out.")] = None,
    parallel: Annotated[
        str | None, typer.Option(rich_help_panel=_ROADS, help="Attribute whose least value chooses parallel edges.")
    ] = None,
    items: Annotated[Path | None, typer.Option(rich_help_panel=_SHOP, help="Table of items.")] = None,
    item: Annotated[str | None, typer.Option(rich_help_panel=_SHOP, help="Column of names; default: item.")] = None,
    weight: Annotated[str | None, typer.Option(rich_help_panel=_SHOP, help="Column; default: weight.")] = None,
    model: Annotated[Path | None, typer.Option(rich_help_panel=_PROGRAM, help="A .mps or .lp file.")] = None,
    coefficients: Annotated[
        Path | None, typer.Option(rich_help_panel=_PROGRAM, help="Instead: table with row, column, value.")
    ] = None,
    rows: Annotated[
        Path | None, typer.Option(rich_help_panel=_PROGRAM, help="And table with row, sense (and side).")
    ] = None,
    columns: Annotated[
        Path | None, typer.Option(rich_help_panel=_PROGRAM, help="And table with column (lower, upper, integer, cost).")
    ] = None,
    sense: Annotated[Sense | None, typer.Option(rich_help_panel=_PROGRAM, help="With tables; default: min.")] = None,
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
    level: Annotated[float, typer.Option(min=0.0, max=1.0, rich_help_panel=_METHOD, help="Confidence level.")] = 0.9,
    estimator: Annotated[
        EstimatorKind, typer.Option(rich_help_panel=_METHOD, help="Point estimate.")
    ] = EstimatorKind.pfyl,
    start: Annotated[
        str | None,
        typer.Option(rich_help_panel=_METHOD, help="Known costs to begin at: an attribute; lp: objective."),
    ] = None,
    epochs: Annotated[int | None, typer.Option(min=1, rich_help_panel=_METHOD, help="Passes of pfyl.")] = None,
    domain: Annotated[Domain | None, typer.Option(rich_help_panel=_METHOD, help="Where parameters live.")] = None,
    calibration_fraction: Annotated[
        float, typer.Option(rich_help_panel=_METHOD, help="Share of rows that calibrates.")
    ] = 0.25,
    infeasible: Annotated[
        options.Infeasible, typer.Option(rich_help_panel=_METHOD, help="Infeasible decisions: faults, or kept.")
    ] = options.Infeasible.error,
    seed: Annotated[int, typer.Option(min=0, rich_help_panel=_METHOD, help="Decides split and training.")] = 0,
    jobs: options.Jobs = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Learn from decisions, calibrate, and write the model.

    Example: conformio fit --network roads.csv --tail from --head to --trips trips.csv --path nodes -o model.zip
    """
    given = ctx.params
    sources = Sources(**{name: given[name] for name in Sources.__dataclass_fields__})
    named = ("path", "steps", "separator", "row_id", "origin", "destination", "budget", "chosen", "allow_loops")
    reading = reading_options(on_bad, skipped, data)
    if contexts is not None and problem is not ProblemKind.lp:
        raise typer.BadParameter("--contexts goes with --problem lp")
    with shown_progress(quiet) as step:
        step("reading the problem", 0.0)
        table = new_table(problem, sources, {name: given[name] for name in named})
        chosen_estimator = new_estimator(estimator, table, start, epochs)
        fitted = ConformalIO(
            problem_of(table, sources),
            chosen_estimator,
            confidence_level=level,
            calibration_fraction=calibration_fraction,
            infeasible=infeasible.value,
            random_state=seed,
            n_jobs=jobs,
        )
        step("reading decisions", 0.1)
        observed = OpenModel(fitted, table, reading).observations(data, contexts)
        step("estimating and calibrating", 0.4)
        _train(fitted, observed)
        fitted.table_ = table.to_state()
        step("writing", 0.9)
        fitted.save(out)
    result = {**model_summary(fitted), "rows": observed.report.to_dict(), "model": str(out)}
    typer.echo(json.dumps(result, indent=2)) if as_json else show_summary(result)


def _train(fitted: ConformalIO, observed: Any) -> None:
    """All rows calibrate where the point estimate needs none."""
    assert fitted.estimator is not None
    use = fitted.fit if fitted.estimator.needs_data else fitted.conformalize
    use(observed.contexts, observed.decisions)
