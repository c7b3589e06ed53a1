"""Files to write, looked at before the work begins: no long run ends in a folder that does not exist.

Older outputs are replaced. What a command reads is never written over.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import typer

from conformio.errors import invalid

__all__ = ["check_outputs"]


def check_outputs(outputs: Mapping[str, Path | None], inputs: Mapping[str, Path | None]) -> None:
    """Refuse outputs that cannot be written, that are read as well, or that are each other; None is no file.

    Parameters
    ----------
    outputs, inputs : mapping of option to path
    """
    taken = {option: path for option, path in inputs.items() if path is not None}
    for option, path in outputs.items():
        if path is None:
            continue
        for other, used in taken.items():
            if _same(path, used):
                raise typer.BadParameter(f"{option} {path} would write over {other}. Name another file")
        _check_folder(option, path)
        taken[option] = path


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve() or (one.exists() and other.exists() and one.samefile(other))


def _check_folder(option: str, path: Path) -> None:
    argument, folder = option.removeprefix("--"), path.parent
    if path.is_dir():
        raise invalid(argument, "conformio", "must be a file that can be written", f"the folder {path}")
    if option != "--skipped" and path.exists() and not path.is_file():
        # outputs are moved into place: a device would be gone; rows left out are written to it
        raise invalid(argument, "conformio", "must be a regular file", f"{path}, a device or pipe")
    if not folder.is_dir():
        remedy = f"Make it first: mkdir -p {folder}"
        raise invalid(argument, "conformio", "must be in a folder that exists", path, remedy=remedy)
    if not os.access(folder, os.W_OK):
        raise invalid(argument, "conformio", "must be a file that can be written", f"{path} (its folder is read-only)")
