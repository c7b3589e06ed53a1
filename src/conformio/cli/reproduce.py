"""`conformio reproduce`: the paper's numerical studies, from nothing to verdicts."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from conformio.cli.progress import shown_progress
from conformio.studies.engine import Progress
from conformio.studies.reproduction import Outcome
from conformio.studies.reproduction import reproduce as run
from conformio.studies.reproduction_studies import STUDIES, Settings

__all__ = ["reproduce"]

_QUICK_SEEDS, _SEEDS = 2, 10


class Choice(StrEnum):
    """What can be asked for."""

    TABLE1 = "table1"
    VALIDITY = "validity"
    ROBUSTNESS = "robustness"
    TIMING = "timing"
    SPLIT = "split"
    SENSITIVITY = "sensitivity"
    ABLATIONS = "ablations"
    ALL = "all"


def reproduce(
    study: Annotated[Choice, typer.Argument(help="What to reproduce.")] = Choice.ALL,
    quick: Annotated[bool, typer.Option("--quick", help="A first look: fewer people, conditions and seeds.")] = False,
    seeds: Annotated[
        int | None, typer.Option(min=2, help="Repetitions with other people; default: 10, with --quick 2.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for all results; an earlier run there is gone on with.")] = Path(
        "conformio-evidence"
    ),
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Repeat the paper's studies and judge each of its claims.

    A run that was stopped goes on where it stood when it is started again with the same folder.

    Example: conformio reproduce table1 --quick --out evidence
    """
    names = list(STUDIES) if study is Choice.ALL else [str(study)]
    settings = Settings(seeds or (_QUICK_SEEDS if quick else _SEEDS), quick)
    with shown_progress(quiet) as step:
        outcome = run(names, out, settings, workers, lambda progress: step(*_shown(progress)))
    typer.echo(json.dumps(_plain(outcome), indent=2)) if as_json else _show(outcome)


def _shown(progress: Progress) -> tuple[str, float]:
    left = progress.seconds_left
    ending = "" if left is None else f", {_duration(left)} left"
    share = progress.done / progress.total
    return f"{progress.label} {progress.done}/{progress.total}{ending}", share


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def _plain(outcome: Outcome) -> dict[str, object]:
    return {
        "command": outcome.evidence.command,
        "verdicts": [asdict(finding) for finding in outcome.evidence.findings],
        "page": str(outcome.page),
        "document": str(outcome.document),
        "files": [str(path) for path in outcome.files],
        "parquet": outcome.parquet,
    }


def _show(outcome: Outcome) -> None:
    console = Console(highlight=False, soft_wrap=True)
    table = Table(title="Claims and verdicts", box=box.SIMPLE)
    for name in ("study", "claim", "paper", "verdict"):
        table.add_column(name, overflow="fold")
    for finding in outcome.evidence.findings:
        table.add_row(finding.study, finding.claim, finding.paper, str(finding.verdict))
    console.print(table)
    if not outcome.parquet:
        console.print('No Parquet files: they need pyarrow. Run: pip install "conformio[data]"', markup=False)
    console.print(f"Page: {outcome.page}")
    console.print(f"Document: {outcome.document}")
