"""What every table of observations is: columns that become contexts and decisions, and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Self

from conformio.checks import Decisions, FloatArray, check_choice
from conformio.errors import invalid
from conformio.observations._arrow import arrow
from conformio.observations.observed import Observations
from conformio.problems import Problem

__all__ = ["ObservationTable"]


def _polars(table: Any, where: str) -> Any:
    try:
        import polars
    except ImportError as error:
        remedy = "Run: pip install polars"
        raise invalid("library", where, "needs polars", "no polars", remedy=remedy) from error
    return polars.from_arrow(table)


_FRAMES: dict[str, Callable[[Any, str], Any]] = {
    "pandas": lambda table, where: table.to_pandas(),
    "polars": _polars,
    "pyarrow": lambda table, where: table,
}


class ObservationTable(ABC):
    """How the rows of a table become contexts and decisions, and how these are written again.

    Attributes
    ----------
    kind : str
        The word for it in model files.
    row_id : str or None
        The column that names the rows; model files do not keep it, as each table has its own.
    """

    kind: ClassVar[str]
    row_id: str | None
    _columns: ClassVar[tuple[str, ...]]

    @abstractmethod
    def read(
        self, source: Any, *, on_bad: str = "stop", skipped: str | Path | None = None, keep_infeasible: bool = False
    ) -> Observations:
        """Contexts and decisions of all rows without faults.

        Parameters
        ----------
        source : path of a .csv or .parquet file or of a folder of them, or a pandas, polars or pyarrow table
        on_bad : {"stop", "skip"}
            Faulty rows are an error, raised when all of them are known, or are left out and written to `skipped`.
        skipped : path, optional
            CSV file for the rows left out, each with its reasons; written only if there are some.
        keep_infeasible : bool
            Keep decisions that break a constraint, for models with `infeasible="unexplained"`.

        Raises
        ------
        FaultyRowsError
            Lists every kind of fault with its count and first rows.
        InvalidInputError
            For a file that cannot be read, missing columns, and tables without a usable row.
        """

    @abstractmethod
    def read_contexts(self, source: Any, *, on_bad: str = "stop", skipped: str | Path | None = None) -> Observations:
        """Contexts alone, of rows for which a decision is wanted."""

    @abstractmethod
    def context_columns(self, contexts: FloatArray) -> dict[str, Any]:
        """Contexts as named columns."""

    @abstractmethod
    def decision_columns(self, decisions: Decisions, prefix: str = "") -> dict[str, Any]:
        """Decisions as named columns, in the form that `read` takes."""

    def frame(self, contexts: FloatArray, decisions: Decisions | None = None, library: str = "pandas") -> Any:
        """Contexts, and decisions for them, as a data frame in the form that `read` takes.

        Parameters
        ----------
        contexts : array, shape (N, context_width)
        decisions : array or CSR, shape (N, n_vars), optional
            For instance what `predict` returns.
        library : {"pandas", "polars", "pyarrow"}
            Whose frame it is to be.

        Raises
        ------
        InvalidInputError
            If the arguments do not fit the problem or each other, or the library is missing.
        """
        where = f"{type(self).__name__}.frame"
        check_choice(library, tuple(_FRAMES), "library", where)
        problem = self._problem()
        if decisions is None:
            columns = self.context_columns(problem.check_contexts(contexts, where))
        else:
            contexts, decisions = problem.check_rows(contexts, decisions, where)
            columns = {**self.context_columns(contexts), **self.decision_columns(decisions)}
        return _FRAMES[library](arrow(where).table(columns), where)

    @abstractmethod
    def _problem(self) -> Problem:
        """The problem whose decisions the table holds."""

    def list_separator(self) -> str:
        """What parts the names of a list where it is written as text."""
        return ";"

    @classmethod
    @abstractmethod
    def of_problem(cls, problem: Problem, state: dict[str, Any]) -> Self:
        """The table that `to_state` described, for the problem it belongs to."""

    def to_state(self) -> dict[str, Any]:
        """What a model file keeps, apart from the problem."""
        return {"kind": self.kind, **{name: getattr(self, name) for name in self._columns}}
