"""The command `conformio`; its libraries come with the extra `cli`."""

from __future__ import annotations

import sys
from importlib.util import find_spec

__all__ = ["main"]


def main() -> None:
    """Run the command line: exit 0 when fine, 1 when it failed, 2 for wrong usage, 130 when interrupted."""
    missing = [name for name in ("typer", "rich") if find_spec(name) is None]
    if missing:
        sys.exit(f'conformio: the command line needs {" and ".join(missing)}. Run: pip install "conformio[cli]"')
    try:
        from conformio.cli.app import app

        app()
    except KeyboardInterrupt:  # while the libraries are loaded; commands end with it themselves
        sys.stderr.write("conformio: interrupted\n")
        sys.exit(130)
