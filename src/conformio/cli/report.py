"""`conformio report`: one page that shows what was learned, what is certified, and where prescriptions differ."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from conformio.checks import Decisions
from conformio.cli import options
from conformio.cli.groups import with_groups
from conformio.cli.options import Reading, Running
from conformio.cli.outputs import check_outputs
from conformio.cli.progress import shown_progress
from conformio.cli.stored_model import OpenModel, open_model
from conformio.errors import FaultyRowsError, InvalidInputError, invalid, told_of
from conformio.observations import BasketTable, Observations, ObservationTable, PlanTable, TripTable
from conformio.report import Baseline, Measures, measure, page_of, write_report

__all__ = ["report"]


@with_groups
def report(
    model: options.ModelFile,
    data: options.Data,
    reading: Reading,
    running: Running,
    out: Annotated[Path, typer.Option("--out", "-o", help="The page; an older one is replaced.")] = Path("report.html"),
    contexts: options.Contexts = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="Column of decisions of another method, to compare with; lp: what its columns begin with."),
    ] = None,
    level: Annotated[
        list[float] | None,
        typer.Option(callback=options.as_levels, help="A further level in [0, 1] for the slider; may be given often."),
    ] = None,
    sample: Annotated[int, typer.Option(min=1, help="Most decisions that prescriptions are made for.")] = 5000,
    shown: Annotated[int, typer.Option(min=1, help="Most decisions shown one by one.")] = 2000,
    jobs: options.Jobs = None,
) -> None:
    """Write a report on a model and decisions it has not seen: one HTML file, for any browser, without a network.

    Example: conformio report model.zip --data test.parquet -o report.html
    """
    inputs = {"the model": model, "--data": data, "--contexts": contexts, "--config": running.config}
    skipped = reading.skipped_rows(data)
    check_outputs({"--out": out, "--skipped": skipped}, inputs)
    with shown_progress(running.quiet) as step:
        step("reading the model", 0.0)
        opened = open_model(model, reading, data, contexts)
        opened.model.set_params(n_jobs=jobs)
        step("reading decisions", 0.05)
        observed = opened.observations(data, contexts)
        other = None if baseline is None else _baseline(opened, observed, data, contexts, baseline)
        with told_of("report", observed.rows):
            measures = measure(opened.model, observed, other, level or (), sample, shown, step)
        step("writing", 0.95)
        page = page_of(measures, opened.table, observed, model.stem, data.name)
        write_report(out, page)
    result = {**_summary(measures), "bytes": len(page.encode("utf-8")), "rows": observed.report.to_dict()}
    text = f"{result['n_test']} decisions measured; {result['n_shown']} of them can be looked at one by one in {out}"
    typer.echo(json.dumps({**result, "out": str(out)}, indent=2) if running.as_json else text)


def _summary(measures: Measures) -> dict[str, Any]:
    own = measures.levels[measures.own]
    return {
        "n_test": len(measures.evidence.angles),
        "n_prescribed": measures.n_prescribed,
        "n_shown": len(measures.sample.rows),
        "level": own.level,
        "coverage": own.coverage,
        "levels": [one.level for one in measures.levels],
        "verdict": measures.diagnosis.verdict,
    }


def _baseline(opened: OpenModel, observed: Observations, data: Path, contexts: Path | None, column: str) -> Baseline:
    """Decisions of another method, put in the rows of the observed ones."""
    table = _other_table(opened.table, column)
    skipped = None if opened.skipped is None else opened.skipped.with_stem(f"{opened.skipped.stem}-baseline")
    try:
        found = replace(opened, table=table, skipped=skipped).observations(data, contexts, keep_infeasible=True)
    except FaultyRowsError:
        raise
    except InvalidInputError as error:
        rule = "must name decisions in the form of the observed ones"
        raise invalid("baseline", "conformio", rule, f"{column!r}: {error.reason or error}") from error
    places = np.minimum(np.searchsorted(found.rows, observed.rows), len(found) - 1)
    known = found.rows[places] == observed.rows
    apart = known & (found.contexts[places] != observed.contexts).any(axis=1)
    if apart.any():
        rule = "must hold decisions of the same trips as the observed ones"
        raise invalid("baseline", "conformio", rule, "other ends", row=int(observed.rows[apart][0]))
    decisions: Decisions = found.decisions
    return Baseline(column, decisions[places], known)


def _other_table(table: ObservationTable, column: str) -> ObservationTable:
    if isinstance(table, TripTable):
        return replace(table, path=column)
    if isinstance(table, PlanTable):
        return replace(table, variables=[f"{column}{name}" for name in table.variables])
    assert isinstance(table, BasketTable)
    return replace(table, chosen=column)
