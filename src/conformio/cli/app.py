"""The list of commands; each lives in a file of its own name."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from conformio.cli.demo import demo

__all__ = ["app"]

app = typer.Typer(name="conformio", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("conformio"))
        raise typer.Exit


@app.callback()
def root(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Conformal inverse optimization: learn from decisions, prescribe new ones, with a certificate."""


app.command()(demo)
