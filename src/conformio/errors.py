"""The one tree of errors, and the one form of their messages.

Every message says what is wrong, where, what is allowed, what was got, and where it helps what to do:
"`contexts` row 17 of ShortestPath.solve: destination must be in 0..35; got 40".
"""

from __future__ import annotations

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
    "invalid",
    "spot",
]


class ConformioError(Exception):
    """Root of every error this library raises on purpose."""


class InvalidInputError(ConformioError, ValueError):
    """An argument is outside what the callee accepts."""


class FaultyRowsError(InvalidInputError):
    """Rows of a table are faulty; `report` lists every kind of fault with its count and first rows."""

    def __init__(self, message: str, report: Any = None):
        super().__init__(message)
        self.report = report


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
    return InvalidInputError(f"{spot(argument, where, row)}: {rule}; got {got}{ending}")
