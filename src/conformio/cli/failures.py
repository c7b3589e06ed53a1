"""Failures in the words of the command line: options instead of arguments, one message and no traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import typer
import typer.core

from conformio.errors import ConformioError, InvalidInputError, RowError, command_option

__all__ = ["Commands"]

_FAILED, _INTERRUPTED = 1, 130
_SOURCES = {
    "Network.": {"path_or_frame": "--network", "path": "--network", "graph": "--network"},
    "BasketTable.from_items": {"source": "--items"},
    "PlanTable.from_model": {"path": "--model"},
}
_COMMANDS = ("fit", "calibrate", "prescribe", "evaluate", "report")
_OWN = (
    *("TripTable", "BasketTable", "PlanTable", "ConformalIO", "Network."),
    *(*_COMMANDS, "demo", "reproduce", "conformio"),
)
_DECISIONS = {"contexts": "the data", "decisions": "the data"}


class Commands(typer.core.TyperGroup):
    """Commands that end with 0 when fine, 1 when they failed, 2 for wrong usage, 130 when interrupted.

    Usage is wrong where the command line, or its TOML file, alone shows it; what depends on other files is a failure.
    A reader of our output who stops reading, as `head` does, is neither.
    """

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Read the words before the command; help and version print on the way."""
        made: list[Any] = []
        code = _exit_code(lambda: made.append(super(Commands, self).make_context(*args, **kwargs)))
        if not made:
            raise typer.Exit(code)
        return made[0]

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        raise typer.Exit(_exit_code(lambda: super(Commands, self).invoke(ctx)))


def _exit_code(run: Callable[[], object]) -> int:
    try:
        run()
        if sys.stdout is not None:  # None where the shell closed it
            sys.stdout.flush()
    except ConformioError as error:
        if isinstance(_root(error), BrokenPipeError):
            return _reader_gone()
        return _failed(_said(error))
    except BrokenPipeError:
        return _reader_gone()
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # how rich says it
            return 0
        raise
    except UnicodeEncodeError as error:
        text = error.object[error.start : error.end].encode("ascii", "backslashreplace").decode("ascii")
        return _failed(f"'{text}' in a name cannot be written as {error.encoding}. Rename it, or set PYTHONUTF8=1")
    except OSError as error:
        return _failed(f"{error.filename or 'the output'}: {error.strerror or error}")
    except MemoryError:
        return _failed("there is not enough memory for this. Use fewer rows, or a machine with more")
    except KeyboardInterrupt:
        sys.stderr.write("conformio: interrupted\n")
        return _INTERRUPTED
    return 0


def _said(error: ConformioError) -> str:
    """The error's message, with the option in place of the argument where the command line has one."""
    if isinstance(error, RowError) and error.where in _COMMANDS:
        return f"the data{'' if error.row is None else f', row {error.row}'}: {error.reason}"
    if not isinstance(error, InvalidInputError) or not error.where.startswith(_OWN):
        return str(error)
    known = next((names for start, names in _SOURCES.items() if error.where.startswith(start)), {})
    data = _DECISIONS if error.where.startswith(("ConformalIO", *_COMMANDS)) else {}
    place = {**known, **data}.get(error.argument) or command_option(error.argument)
    at_row = "" if error.row is None else f", row {error.row}"
    return f"{place}{at_row}: {error.reason}"


def _root(error: BaseException) -> BaseException:
    return error if error.__cause__ is None else _root(error.__cause__)


def _failed(message: str) -> int:
    sys.stderr.write(f"conformio: {message}\n")
    return _FAILED


def _reader_gone() -> int:
    """Nothing more can be written; the interpreter must not try at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
