"""Plans: decisions of linear and integer programs as columns of numbers, right-hand sides as columns beside them.

A program comes from a `.mps` or `.lp` file, or from three tables. People keep right-hand sides in the program's own
sense (`demand >= 10`); the library's contexts have equalities first and all inequalities as `<=`. The table
translates both ways: context entry j is `signs[j]` times the value of `sides[j]`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np

from conformio.checks import BoolArray, Decisions, Domain, FloatArray, dense
from conformio.errors import invalid
from conformio.observations._arrow import arrow
from conformio.observations.cells import NUMBER_KINDS, infeasible_rows, number_table
from conformio.observations.faults import BatchFaults, Kinds
from conformio.observations.growing import GrowingArray
from conformio.observations.observed import Observations, read_rows
from conformio.observations.program_parts import program_from_tables, program_of
from conformio.observations.side_by_side import side_by_side
from conformio.observations.sources import check_apart, column_names
from conformio.observations.table import ObservationTable
from conformio.problems import Problem
from conformio.solvers import read_program

__all__ = ["PlanTable"]

_PLAN_KINDS: Kinds = {
    **NUMBER_KINDS,
    "infeasible plan": (
        "every plan must satisfy its constraints",
        'Correct it, or keep such plans as unexplained (infeasible="unexplained", --infeasible unexplained)',
    ),
}


@dataclass(frozen=True)
class PlanTable(ObservationTable):
    """How a table of plans is read.

    Parameters
    ----------
    problem : Problem
        Any problem whose decisions are columns of numbers, e.g. a LinearProgram.
    variables : sequence of str, length n_vars
        Columns of decisions.
    sides : sequence of str, length context_width
        Columns of contexts.
    signs : sequence of float, optional
        A context entry is its sign times its column; default: all 1.
    defaults : mapping of str to float
        Values of sides that no table has.
    costs : sequence of float, optional
        What the program's file says of the objective; a start for estimates, never used unless asked for.
    row_id : str, optional
        The column that names the plans; None: they are called by row number.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from conformio.observations import PlanTable
    >>> from conformio.problems import LinearProgram
    >>> table = PlanTable(LinearProgram(A_ub=[[1.0, 2.0]], sense="max"), ["x", "y"], ["hours"])
    >>> plans = table.read(pa.table({"hours": [8, 6], "x": [8, 0], "y": [0, 3]}))
    >>> plans.contexts.tolist(), plans.decisions.tolist()
    ([[8.0], [6.0]], [[8.0, 0.0], [0.0, 3.0]])
    """

    problem: Problem
    variables: Sequence[str]
    sides: Sequence[str]
    signs: Sequence[float] | None = None
    defaults: Mapping[str, float] = field(default_factory=dict)
    costs: Sequence[float] | None = None
    row_id: str | None = None

    kind = "plans"
    _columns = ("variables", "sides", "signs", "defaults", "costs")

    def __post_init__(self) -> None:
        for argument, size in (("variables", self.problem.n_vars), ("sides", self.problem.context_width)):
            names = getattr(self, argument)
            if isinstance(names, str) or len(names) != size or len(set(names)) < size:
                raise invalid(argument, "PlanTable", f"must be {size} different names", repr(list(names)))
        if self.signs is not None and len(self.signs) != len(self.sides):
            raise invalid("signs", "PlanTable", f"must be {len(self.sides)} numbers", len(self.signs))
        shared = sorted(set(self.variables) & set(self.sides))
        if shared:
            raise invalid("sides", "PlanTable", "must differ from the names of variables", shared[0])

    @classmethod
    def from_model(cls, path: str | PathLike[str], *, domain: Domain = "free", row_id: str | None = None) -> Self:
        """Take the program from a `.mps` or `.lp` file.

        Columns of plans are called as the file's variables, right-hand sides as its rows; a row with two sides
        has two of them, `row.lower` and `row.upper`. Sides that no table has keep the file's value.

        Parameters
        ----------
        path : path of a .mps or .lp file
        domain : {"free", "nonnegative"}
            Where parameters live.
        row_id : str, optional
        """
        where = "PlanTable.from_model"
        parts = program_of(read_program(path, where), domain, where)
        return cls(**parts, row_id=row_id)

    @classmethod
    def from_tables(
        cls,
        coefficients: Any,
        rows: Any,
        columns: Any,
        *,
        sense: str = "min",
        domain: Domain = "free",
        row_id: str | None = None,
    ) -> Self:
        """Take the program from three tables.

        Parameters
        ----------
        coefficients : path or frame
            Columns ``row``, ``column`` and ``value``; entries not named are 0.
        rows : path or frame
            Columns ``row`` and ``sense`` (``<=``, ``>=`` or ``=``) and, as default, ``side``.
        columns : path or frame
            Column ``column`` and, where they differ from 0, infinity, False and 0: ``lower``, ``upper``,
            ``integer``, ``cost``.
        sense : {"min", "max"}
        domain : {"free", "nonnegative"}
        row_id : str, optional
        """
        where = "PlanTable.from_tables"
        program = program_from_tables(coefficients, rows, columns, sense, where)
        return cls(**program_of(program, domain, where), row_id=row_id)

    @classmethod
    def of_problem(cls, problem: Problem, state: dict[str, Any]) -> Self:
        """The table of a problem's plans."""
        return cls(problem, **state)

    def read(
        self,
        source: Any,
        *,
        on_bad: str = "stop",
        skipped: str | Path | None = None,
        keep_infeasible: bool = False,
        contexts: Any = None,
    ) -> Observations:
        """Right-hand sides and plans; see `ObservationTable.read`.

        `contexts` is a second table with the right-hand sides, where `source` has plans only. Its rows go with
        those of `source` by `row_id`, or one by one in their order.
        """
        where = "PlanTable.read"
        for table in (source, contexts):
            check_apart(table, skipped, where)
        joined = source if contexts is None else side_by_side(contexts, source, self.row_id, where)
        if contexts is not None and not set(column_names(contexts, where)) & set(self.sides):
            rule = f"must have a column for one of the right-hand sides {list(self.sides)[:12]} at least"
            raise invalid("contexts", where, rule, column_names(contexts, where)[:12])
        reader = _PlanReader(self, joined, True, keep_infeasible, where)
        return read_rows(joined, reader, self.row_id, on_bad, skipped, where)

    def read_contexts(self, source: Any, *, on_bad: str = "stop", skipped: str | Path | None = None) -> Observations:
        """Right-hand sides alone."""
        where = "PlanTable.read_contexts"
        reader = _PlanReader(self, source, False, True, where)
        return read_rows(source, reader, self.row_id, on_bad, skipped, where)

    def context_columns(self, contexts: FloatArray) -> dict[str, Any]:
        """Right-hand sides in the program's own sense."""
        pa, signs = arrow("PlanTable"), self._signs()
        return {name: pa.array(contexts[:, k] * signs[k] + 0.0) for k, name in enumerate(self.sides)}

    def decision_columns(self, decisions: Decisions, prefix: str = "") -> dict[str, Any]:
        """One column per variable."""
        pa, points = arrow("PlanTable"), dense(decisions)
        return {f"{prefix}{name}": pa.array(points[:, k] + 0.0) for k, name in enumerate(self.variables)}

    def _problem(self) -> Problem:
        return self.problem

    def _signs(self) -> FloatArray:
        return np.ones(len(self.sides)) if self.signs is None else np.asarray(self.signs, dtype=np.float64)


class _PlanReader:
    kinds = _PLAN_KINDS

    def __init__(self, table: PlanTable, source: Any, planned: bool, keep_infeasible: bool, where: str):
        present = set(column_names(source, where))
        self._given = [name for name in table.sides if name in present]
        wanted = [name for name in table.sides if name not in table.defaults] + (
            list(table.variables) if planned else []
        )
        missing = [name for name in wanted if name not in present]
        if missing:
            rule = f"must have a column for each of {wanted if len(wanted) < 12 else f'{len(wanted)} names'}"
            raise invalid("source", where, rule, f"none for {', '.join(missing[:12])}{' ...' * (len(missing) > 12)}")
        self._table, self._planned, self._keep, self._where = table, planned, keep_infeasible, where
        self._contexts, self._decisions = GrowingArray("float64"), GrowingArray("float64")
        self._last: tuple[FloatArray, FloatArray] | None = None

    def look(self, faults: BatchFaults) -> None:
        table, n = self._table, len(faults.batch.rows)
        names = self._given + (list(table.variables) if self._planned else [])
        values = number_table(names, faults, self._where) if names else np.zeros((n, 0))
        sides, plans = values[:, : len(self._given)], values[:, len(self._given) :]
        place = {name: k for k, name in enumerate(self._given)}
        contexts = np.empty((n, len(table.sides)))
        for j, name in enumerate(table.sides):
            contexts[:, j] = sides[:, place[name]] if name in place else table.defaults[name]
        contexts *= table._signs()
        if self._planned and not self._keep:
            rows = infeasible_rows(table.problem, contexts, plans, np.flatnonzero(faults.good()))
            faults.note("infeasible plan", rows, lambda k: self._broken(contexts[rows[k]], plans[rows[k]]))
        self._last = contexts, plans

    def keep(self, good: BoolArray) -> None:
        assert self._last is not None
        contexts, plans = self._last
        self._contexts.extend(contexts[good].ravel())
        if self._planned:
            self._decisions.extend(plans[good].ravel())

    def result(self) -> tuple[FloatArray, Decisions | None]:
        contexts = self._contexts.finish().reshape(-1, len(self._table.sides))
        if not self._planned:
            return contexts, None
        return contexts, self._decisions.finish().reshape(-1, len(self._table.variables))

    def _broken(self, context: FloatArray, plan: FloatArray) -> str:
        """The constraint that a plan breaks most."""
        table, polyhedron = self._table, self._table.problem.polyhedron()
        if polyhedron is None:
            return "outside its constraints"
        sides = table.problem.sides(context)
        excess = {
            "row": np.concatenate([np.abs(polyhedron.A_eq @ plan - sides.b_eq), polyhedron.A_ub @ plan - sides.b_ub]),
            "bound of": np.maximum(sides.lower - plan, plan - sides.upper),
            "wholeness of": np.where(polyhedron.integrality, np.abs(plan - np.round(plan)), 0.0),
        }
        word = max(excess, key=lambda name: excess[name].max(initial=-np.inf))
        at = int(excess[word].argmax())
        return f"{word} {(table.sides if word == 'row' else table.variables)[at]!r}"
