"""`conformio bench`: speed against baselines and peers, target beside result.

The comparisons are loaded when the command runs: no other command waits for them.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from conformio.cli.outputs import check_outputs
from conformio.cli.progress import shown_progress

__all__ = ["bench"]

_WIDE = 200


def bench(
    names: Annotated[
        list[str] | None, typer.Argument(help="Comparisons to make; default: all but the long ones. See --list.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Tiny sizes: shows that all works, measures little.")] = False,
    data: Annotated[
        Path | None, typer.Option(help="Folder of TNTP networks, such as ChicagoRegional_net.tntp.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="JSON file for every timing; kept up to date meanwhile.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep what the file of --out holds finished, and add to it.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    list_them: Annotated[bool, typer.Option("--list", help="Only list the comparisons.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Measure the fast routes against plain formulations and other libraries.

    A comparison whose library or data are missing is left out with the reason; one that fails is reported and the
    others go on. Results of finished comparisons are stored at once, so that --resume goes on where a run ended.

    Example: conformio bench path-angles training --out results.json
    """
    from conformio.studies import benchmarks

    if list_them:
        _list(as_json)
        return
    if resume and out is None:
        raise typer.BadParameter("--resume goes with --out")
    if data is not None and not data.is_dir():
        raise typer.BadParameter(f"--data must be a folder; got {data}")
    check_outputs({"--out": out}, {})
    try:
        chosen = benchmarks.chosen_comparisons(names or [])
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    settings = benchmarks.Settings(quick, data)
    results = _record(settings, out if resume else None)
    if out is not None:
        benchmarks.store_results(results, out)
    with shown_progress(quiet) as step:
        benchmarks.run_comparisons(chosen, settings, results, out, step)
    if as_json:
        typer.echo(json.dumps(results, indent=1, default=float))
    else:
        _show(results, [one.name for one in chosen])
    if any(results["comparisons"][one.name]["status"] == "failed" for one in chosen):
        raise typer.Exit(1)


def _record(settings: Any, old: Path | None) -> dict[str, Any]:
    from conformio.studies.benchmarks import load_results, new_results

    fresh = new_results(_command(), settings)
    if old is None or not old.exists():
        return fresh
    held = load_results([old])
    for key, name in (("versions", "versions of libraries"), ("quick", "sizes (--quick)")):
        if held[key] != fresh[key]:
            raise typer.BadParameter(f"--resume: {old.name} was measured with other {name}. Name a new file")
    if fresh["command"] not in held["command"].split("\n"):
        held["command"] += "\n" + fresh["command"]
    return held


def _command() -> str:
    """The command as it was typed, folders without the machine's own part of their path."""
    words = [Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:]]
    return shlex.join(["conformio", *words])


def _list(as_json: bool) -> None:
    from conformio.studies import benchmarks

    if as_json:
        typer.echo(
            json.dumps(
                [{"name": one.name, "title": one.title, "default": one.by_default} for one in benchmarks.COMPARISONS]
            )
        )
        return
    for one in benchmarks.COMPARISONS:
        note = "" if one.by_default else " (only when named)"
        typer.echo(f"{one.name:24s} {one.title}, about {one.minutes:g} min{note}")


def _show(results: dict[str, Any], names: list[str]) -> None:
    from conformio.studies.benchmarks.page import line_cells

    console = Console(highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = _WIDE
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    for title in ("work", "against", "target", "result", ""):
        table.add_column(title, overflow="fold")
    found = {name: results["comparisons"][name] for name in names}
    for one in found.values():
        for line in one.get("lines", ()):
            table.add_row(*line_cells(line))
    console.print(table)
    for name, one in found.items():
        if one["status"] != "done":
            console.print(f"{name}: {one['status']}: {one['reason']}", markup=False)
        elif not one["agree"]:
            wrong = [check["what"] for check in one["checks"] if not check["holds"]]
            console.print(f"{name}: the answers differ: {', '.join(wrong)}", markup=False)
