"""The one tree of errors, and the one form of their messages.

Every message says what is wrong, where, what is allowed, what was got, and where it helps what to do:
"`contexts` row 17 of ShortestPath.solve: destination must be in 0..35; got 40".
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.exceptions import NotFittedError as _SklearnNotFittedError

__all__ = [
    "CalibrationWarning",
    "ConformioError",
    "FaultyRowsError",
    "InfeasibleProblemError",
    "InvalidInputError",
    "ModelFileError",
    "NotFittedError",
    "RowError",
    "SolverError",
    "UnboundedProblemError",
    "UncertifiedWarning",
    "command_option",
    "invalid",
    "spot",
    "told_of",
    "warn_caller",
]

_ROW_WISE = ("contexts", "decisions", "theta")


class ConformioError(Exception):
    """Root of every error this library raises on purpose."""


class InvalidInputError(ConformioError, ValueError):
    """An argument is outside what the callee accepts; knows its row, if one is at fault, as `RowError` does."""

    argument: str = ""
    where: str = ""
    reason: str = ""
    row: int | None = None

    def moved(self, where: str, row: int | None) -> InvalidInputError:
        """The same failure, told of another callee and row."""
        return _placed(self.argument, where, self.reason, row)


class FaultyRowsError(InvalidInputError):
    """Rows of a table are faulty; `report` lists every kind of fault with its count and first rows."""

    def __init__(self, message: str, report: Any = None, where: str = ""):
        super().__init__(message if not where else f"{spot('source', where)}: {message}")
        self.report, self.argument, self.where, self.reason = report, "source", where, message


class NotFittedError(ConformioError, _SklearnNotFittedError):  # type: ignore[misc]
    """A fitted quantity was asked for before `fit` (or `conformalize`)."""


class RowError(ConformioError):
    """A failure that belongs to one row of a batch; knows its row, so that callers can translate it.

    Parameters
    ----------
    where : str
        The callee, e.g. ``"ShortestPath.solve"``.
    reason : str
        What is wrong and what to do, without the place.
    row : int, optional
        The row of `contexts` it belongs to.
    """

    def __init__(self, where: str, reason: str, row: int | None = None):
        super().__init__(f"{spot('contexts', where, row)}: {reason}")
        self.where, self.reason, self.row = where, reason, row

    def __reduce__(self) -> tuple[type, tuple[str, str, int | None]]:
        return type(self), (self.where, self.reason, self.row)

    def moved(self, where: str, row: int | None) -> RowError:
        """The same failure, told of another callee and row."""
        return type(self)(where, self.reason, row)


class InfeasibleProblemError(RowError):
    """The forward problem has no feasible decision for some context."""


class UnboundedProblemError(RowError):
    """The forward problem has no finite optimum for some parameters and context."""


class SolverError(RowError):
    """A numerical solver stopped without an answer that could be verified."""


class ModelFileError(ConformioError):
    """A stored model cannot be read, or does not fit this version."""


class CalibrationWarning(UserWarning):
    """The calibration set is too small for the level, or something else weakens what is certified."""


class UncertifiedWarning(UserWarning):
    """An answer is returned whose optimality gap could not be closed; the gap says by how much."""


def spot(argument: str, where: str, row: int | None = None) -> str:
    """Name a place: "`contexts` row 17 of ShortestPath.solve"."""
    at_row = "" if row is None else f" row {row}"
    return f"`{argument}`{at_row} of {where}"


def invalid(
    argument: str, where: str, rule: str, got: object, row: int | None = None, remedy: str = ""
) -> InvalidInputError:
    """Build the error for one offending argument, in the house form.

    Parameters
    ----------
    argument : str
        Name of the argument as the caller wrote it.
    where : str
        The callee, e.g. ``"ShortestPath.solve"``.
    rule : str
        What is allowed, as the end of a sentence, e.g. ``"must be in 0..35"``.
    got : object
        What was received.
    row : int, optional
        First offending row.
    remedy : str, optional
        A closing sentence that says what to do.
    """
    ending = f". {remedy}" if remedy else ""
    return _placed(argument, where, f"{rule}; got {got}{ending}", row)


def _placed(argument: str, where: str, reason: str, row: int | None) -> InvalidInputError:
    error = InvalidInputError(f"{spot(argument, where, row)}: {reason}")
    error.argument, error.where, error.reason, error.row = argument, where, reason, row
    return error


def command_option(argument: str) -> str:
    """The command line's option for an argument of the library."""
    known = {"row_id": "--id", "source": "--data", "confidence_level": "--level", "random_state": "--seed"}
    return known.get(argument, f"--{argument.replace('_', '-')}")


@contextmanager
def told_of(where: str, rows: Any = None) -> Iterator[None]:
    """Failures of single rows inside, told of `where` and of the rows of its caller.

    Parameters
    ----------
    where : str
        The method that the user called.
    rows : sequence of int, optional
        The caller's number of each row that is worked on inside; None where they are the same.
    """
    try:
        yield
    except RowError as error:
        raise error.moved(where, _named(error.row, rows)) from error
    except InvalidInputError as error:
        if error.row is None or error.argument not in _ROW_WISE:
            raise
        raise error.moved(where, _named(error.row, rows)) from error


def _named(row: int | None, rows: Any) -> int | None:
    return row if row is None or rows is None else int(rows[row])


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line, outside this library, from which the library was called."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "conformio":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
