"""The list of commands; each lives in a file of its own name."""

from __future__ import annotations

import inspect
from importlib.metadata import version
from typing import Annotated

import typer

from conformio.cli.bench import bench
from conformio.cli.calibrate import calibrate
from conformio.cli.demo import demo
from conformio.cli.evaluate import evaluate
from conformio.cli.failures import Commands
from conformio.cli.fit import fit
from conformio.cli.prescribe import prescribe
from conformio.cli.report import report
from conformio.cli.reproduce import reproduce

__all__ = ["app"]

app = typer.Typer(name="conformio", cls=Commands, no_args_is_help=True, pretty_exceptions_enable=False)


def _flowing(text: str | None) -> str:
    """Help whose paragraphs are broken by the terminal alone, not where the source breaks its lines."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in inspect.cleandoc(text or "").split("\n\n"))


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("conformio"))
        raise typer.Exit


def root(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Conformal inverse optimization: learn from decisions, prescribe new ones, with a certificate.

    Results go to stdout or to the named file, progress and warnings to stderr. Exit codes: 0 fine, 1 failed, 2 wrong
    usage, 130 interrupted.
    """


app.callback(help=_flowing(root.__doc__))(root)
for command in (demo, fit, calibrate, prescribe, evaluate, report, reproduce, bench):
    app.command(help=_flowing(command.__doc__))(command)
