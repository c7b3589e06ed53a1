"""`conformio fit`: from files of decisions to a calibrated model in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from conformio.cli import options
from conformio.cli.groups import with_groups
from conformio.cli.new_problem import Method, ProblemKind, Sources, new_estimator, new_table, problem_of
from conformio.cli.options import Reading, Running
from conformio.cli.outputs import check_outputs
from conformio.cli.progress import shown_progress
from conformio.cli.stored_model import OpenModel
from conformio.cli.summary import show_model
from conformio.errors import told_of
from conformio.model import ConformalIO

__all__ = ["fit"]


@with_groups
def fit(
    data: options.Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file to write; an older one is replaced.")],
    sources: Sources,
    reading: Reading,
    method: Method,
    running: Running,
    contexts: options.Contexts = None,
    jobs: options.Jobs = None,
) -> None:
    """Learn from decisions, calibrate, and write the model.

    Example: conformio fit --network roads.csv --tail from --head to --trips trips.csv --path route -o model.zip
    """
    if contexts is not None and sources.problem is not ProblemKind.lp:
        raise typer.BadParameter("--contexts goes with --problem lp")
    skipped = reading.skipped_rows(data)
    inputs = {"--data": data, "--contexts": contexts, "--config": running.config, **sources.files()}
    check_outputs({"--out": out, "--skipped": skipped}, inputs)
    with shown_progress(running.quiet) as step:
        step("reading the problem", 0.0)
        table = new_table(sources, reading)
        fitted = ConformalIO(
            problem_of(table, sources),
            new_estimator(method, table),
            confidence_level=method.level,
            calibration_fraction=method.calibration_fraction,
            infeasible=method.infeasible.value,
            random_state=method.seed,
            n_jobs=jobs,
            scores=method.scores.value,
        )
        step("reading decisions", 0.1)
        observed = OpenModel(fitted, table, skipped).observations(data, contexts)
        step("estimating and calibrating", 0.4)
        with told_of("fit", observed.rows):
            _train(fitted, observed)
        fitted.table_ = table.to_state()
        step("writing", 0.9)
        fitted.save(out)
    show_model(fitted, observed.report, out, running.as_json)


def _train(fitted: ConformalIO, observed: Any) -> None:
    """All rows calibrate where the point estimate needs none."""
    assert fitted.estimator is not None
    use = fitted.fit if fitted.estimator.needs_data else fitted.conformalize
    use(observed.contexts, observed.decisions)
