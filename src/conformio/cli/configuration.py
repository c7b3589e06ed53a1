"""`--config FILE`: a TOML file with one table per command, whose keys are the command's options.

    [fit]
    network = "roads.csv"
    tail = "from"
    on-bad = "skip"

Options on the command line win. Relative paths start at the file's folder. Tables and keys that are no commands and
options are errors.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer

__all__ = ["use_config"]


def use_config(ctx: typer.Context, path: Path | None) -> Path | None:
    """Take the file's values as defaults of this command; the callback of `--config`."""
    if path is None or ctx.resilient_parsing:
        return path
    document = _document(path)
    commands = sorted(getattr(ctx.parent.command, "commands", {})) if ctx.parent else []
    for name, table in document.items():
        if name not in commands or not isinstance(table, dict):
            raise typer.BadParameter(f"{path}: [{name}] is no table of a command; commands are {', '.join(commands)}")
    command = ctx.info_name or ""
    if command not in document:
        raise typer.BadParameter(f"{path}: must have a table [{command}]; it has {', '.join(document) or 'none'}")
    known = _options(ctx)
    defaults = {}
    for key, value in document[command].items():
        if key not in known:
            allowed = ", ".join(sorted(known))
            raise typer.BadParameter(f"{path}: [{command}] has no option {key!r}; it has {allowed}")
        name, is_path = known[key]
        defaults[name] = _based(value, path) if is_path else value
    ctx.default_map = defaults
    return path


def _document(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise typer.BadParameter(f"{path}: must be a file that can be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{path}: must be TOML ({error})") from error


def _options(ctx: typer.Context) -> dict[str, tuple[str, bool]]:
    """What may stand in the table: the long name of each option -> its parameter, and whether that is a path."""
    hints = get_type_hints(ctx.command.callback) if ctx.command.callback else {}
    found = {}
    for param in ctx.command.params:
        name = param.name or ""
        if name not in ("config", "help"):
            longs = [option.removeprefix("--") for option in param.opts if option.startswith("--")]
            named = longs or [name.replace("_", "-")]
            found.update(dict.fromkeys(named, (name, Path in (hints[name], *get_args(hints[name])))))
    return found


def _based(value: Any, path: Path) -> Any:
    return str(path.parent / value) if isinstance(value, str) else value
