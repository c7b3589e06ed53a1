"""Options that several commands share, each with its one line of help; groups of them as dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from conformio.cli.configuration import use_config
from conformio.errors import InvalidInputError
from conformio.ranks import exact_level

__all__ = [
    "Contexts",
    "Data",
    "Infeasible",
    "Jobs",
    "Level",
    "ModelFile",
    "OnBad",
    "Reading",
    "Running",
    "Steps",
    "as_levels",
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


def as_levels(value: Any) -> Any:
    """A level, several of them or none, as they are; the callback of `--level`."""
    for level in value if isinstance(value, list) else [value]:
        if level is not None:
            try:
                exact_level(level, "conformio")
            except InvalidInputError as error:
                raise typer.BadParameter(error.reason) from error
    return value


Level = Annotated[float | None, typer.Option(callback=as_levels, help="In [0, 1]; default: the model's own.")]


def _some_threads(jobs: int | None) -> int | None:
    if jobs == 0:
        raise typer.BadParameter("must be -1 or at least 1; got 0")
    return jobs


Jobs = Annotated[
    int | None,
    typer.Option(min=-1, callback=_some_threads, help="Threads for calibration; -1: as many as processors."),
]


@dataclass(frozen=True)
class Reading:
    """Which columns of the data mean what, and what becomes of faulty rows; None where it was not said."""

    path: Annotated[
        str | None,
        typer.Option("--path", rich_help_panel=_COLUMNS, help="Column of paths: lists, or text like A;B;C."),
    ] = None
    steps: Annotated[
        Steps | None, typer.Option("--steps", rich_help_panel=_COLUMNS, help="What paths list; default: nodes.")
    ] = None
    separator: Annotated[
        str | None, typer.Option(rich_help_panel=_COLUMNS, help="Parts names in text; default: found out.")
    ] = None
    row_id: Annotated[
        str | None, typer.Option("--id", rich_help_panel=_COLUMNS, help="Column that names the rows.")
    ] = None
    origin: Annotated[str | None, typer.Option(rich_help_panel=_COLUMNS, help="Column of origins.")] = None
    destination: Annotated[str | None, typer.Option(rich_help_panel=_COLUMNS, help="Column of destinations.")] = None
    budget: Annotated[str | None, typer.Option(rich_help_panel=_COLUMNS, help="Column of budgets.")] = None
    chosen: Annotated[str | None, typer.Option(rich_help_panel=_COLUMNS, help="Column of lists of items.")] = None
    allow_loops: Annotated[
        bool | None,
        typer.Option(
            "--allow-loops/--no-allow-loops", rich_help_panel=_ROWS, help="Keep paths that pass a node twice."
        ),
    ] = None
    on_bad: Annotated[
        OnBad, typer.Option("--on-bad", rich_help_panel=_ROWS, help="Faulty rows: an error, or left out and written.")
    ] = OnBad.stop
    skipped: Annotated[
        Path | None, typer.Option(rich_help_panel=_ROWS, help="Where rows left out go; default: *-skipped.csv.")
    ] = None

    def columns(self) -> dict[str, Any]:
        """What was said of the table's columns, by the names of its parameters."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("on_bad", "skipped")}
        return {name: str(v) if isinstance(v, Steps) else v for name, v in given.items() if v is not None}

    def skipped_rows(self, data: Path) -> Path | None:
        """The file for rows left out; None where faulty rows are an error."""
        if self.on_bad is OnBad.skip:
            return self.skipped or Path(f"{data.stem}-skipped.csv")
        if self.skipped is not None:
            raise typer.BadParameter("--skipped goes with --on-bad skip")
        return None


@dataclass(frozen=True)
class Running:
    """How a command is run and what it prints."""

    config: Annotated[
        Path | None,
        typer.Option(callback=use_config, is_eager=True, help="TOML file with these options; flags win over it."),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False
