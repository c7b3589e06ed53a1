"""Options that several commands share, each with its one line of help."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from conformio.cli.configuration import use_config

__all__ = [
    "AllowLoops",
    "AsJson",
    "Budget",
    "Chosen",
    "Config",
    "Contexts",
    "Data",
    "Destination",
    "Infeasible",
    "Jobs",
    "ModelFile",
    "OnBad",
    "OnBadOption",
    "Origin",
    "PathColumn",
    "Quiet",
    "RowId",
    "Separator",
    "Skipped",
    "Steps",
    "StepsOption",
]


class OnBad(StrEnum):
    """What becomes of faulty rows."""

    stop = "stop"
    skip = "skip"


class Infeasible(StrEnum):
    """What infeasible decisions are."""

    error = "error"
    unexplained = "unexplained"


class Steps(StrEnum):
    """What paths list."""

    nodes = "nodes"
    edges = "edges"


_ROWS, _COLUMNS = "Rows", "Columns of the data"

Config = Annotated[
    Path | None,
    typer.Option(
        "--config", callback=use_config, is_eager=True, help="TOML file with these options; flags win over it."
    ),
]
ModelFile = Annotated[Path, typer.Argument(help="A file that conformio fit wrote.")]
Data = Annotated[
    Path,
    typer.Option(
        "--data", "--trips", "--decisions", help="CSV or Parquet file of the observations, or a folder of them."
    ),
]
Contexts = Annotated[
    Path | None, typer.Option(help="lp: right-hand sides in a table of their own, by --id or row by row.")
]
OnBadOption = Annotated[
    OnBad, typer.Option("--on-bad", rich_help_panel=_ROWS, help="Faulty rows: an error, or left out and written.")
]
Skipped = Annotated[
    Path | None, typer.Option(rich_help_panel=_ROWS, help="Where rows left out go; default: *-skipped.csv.")
]
RowId = Annotated[str | None, typer.Option("--id", rich_help_panel=_COLUMNS, help="Column that names the rows.")]
PathColumn = Annotated[
    str | None, typer.Option("--path", rich_help_panel=_COLUMNS, help="Column of paths: lists, or text like A;B;C.")
]
StepsOption = Annotated[
    Steps | None, typer.Option("--steps", rich_help_panel=_COLUMNS, help="What paths list; default: nodes.")
]
Separator = Annotated[
    str | None, typer.Option(rich_help_panel=_COLUMNS, help="Parts names in text; default: found out.")
]
Origin = Annotated[str | None, typer.Option(rich_help_panel=_COLUMNS, help="Column of origins.")]
Destination = Annotated[str | None, typer.Option(rich_help_panel=_COLUMNS, help="Column of destinations.")]
AllowLoops = Annotated[
    bool | None,
    typer.Option("--allow-loops/--no-allow-loops", rich_help_panel=_ROWS, help="Keep paths that pass a node twice."),
]
Budget = Annotated[str | None, typer.Option(rich_help_panel=_COLUMNS, help="Column of budgets.")]
Chosen = Annotated[str | None, typer.Option(rich_help_panel=_COLUMNS, help="Column of lists of items.")]
Jobs = Annotated[int | None, typer.Option(help="Threads for calibration; -1: as many as processors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
