"""Finished cells on disk: one file each, complete or absent, named by all that decides its content.

The name of a file holds a hash of the cell's function, its settings, and the fingerprint of the code: the versions
of this library and of those it computes with, and the bytes of every module that a cell can reach. A cell of other
code is therefore another file; it is left alone and never read.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import conformio
from conformio.errors import invalid

__all__ = ["CellStore", "Row", "Scalar", "fingerprint", "write_whole"]

Scalar: TypeAlias = str | int | float | bool | None
Row: TypeAlias = dict[str, Scalar]

_COMPUTES_WITH = ("conformio", "numpy", "scipy", "numba", "scikit-learn", "highspy", "clarabel")
_SHOWS_ONLY = (
    "cli",
    "diagnosis",
    "plots",
    "report",
    "studies/benchmarks",
    "studies/demo",
    "studies/evidence",
    "studies/example_folder",
    "studies/findings",
    "studies/reproduction",
)
_PARTIAL = re.compile(r"\.partial-(\d+)-\d+")
_SERIAL = count()


@cache
def fingerprint() -> str:
    """Versions and source that decide what a cell computes, as 16 hexadecimal digits.

    Modules that only show results (commands, findings, pages) are left out: editing them costs no computation.
    """
    root = Path(conformio.__file__).parent
    digest = sha256(json.dumps({name: version(name) for name in _COMPUTES_WITH}).encode())
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(_SHOWS_ONLY):
            digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that other processes, and this one after a crash, see all of it or nothing."""
    partial = path.parent / f".partial-{os.getpid()}-{next(_SERIAL)}"
    try:
        with partial.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        rule = f"must be a folder that can be written ({error.strerror})"
        raise invalid("out", "reproduce", rule, str(path.parent)) from error


class CellStore:
    """The folder of finished cells of one fingerprint.

    Parameters
    ----------
    folder : Path
        Made if missing. What a killed run left half written there is removed.
    code : str, optional
        Fingerprint; None is that of the running code.

    Raises
    ------
    InvalidInputError
        If the folder cannot be made.
    """

    def __init__(self, folder: Path, code: str | None = None):
        self.folder = folder
        self.code = fingerprint() if code is None else code
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            rule = f"must be a folder that can be made and written ({error.strerror})"
            raise invalid("out", "reproduce", rule, str(folder)) from error
        for path in folder.iterdir():
            found = _PARTIAL.fullmatch(path.name)
            if found and not _runs(int(found[1])):
                path.unlink(missing_ok=True)

    def key(self, name: str, settings: Mapping[str, Any]) -> str:
        """The stem of a cell's file."""
        identity = json.dumps([name, settings, self.code], sort_keys=True, allow_nan=False)
        return f"{name}-{sha256(identity.encode()).hexdigest()[:20]}"

    def load(self, name: str, settings: Mapping[str, Any]) -> list[Row] | None:
        """The rows of a finished cell; None when it has to be computed (again)."""
        try:
            held = json.loads((self.folder / f"{self.key(name, settings)}.json").read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        if not isinstance(held, dict) or held.get("settings") != settings:
            return None
        rows: list[Row] = held.get("rows", [])
        return rows if held.get("rows_sha256") == _digest(rows) else None

    def save(self, name: str, settings: Mapping[str, Any], rows: Sequence[Row]) -> None:
        """Store the rows of a finished cell."""
        held = {"cell": name, "settings": settings, "code": self.code, "rows": rows, "rows_sha256": _digest(rows)}
        content = json.dumps(held, indent=1, allow_nan=False).encode() + b"\n"
        write_whole(self.folder / f"{self.key(name, settings)}.json", content)


def _digest(rows: Any) -> str:
    return sha256(json.dumps(rows).encode()).hexdigest()


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
