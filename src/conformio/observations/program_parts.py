"""Programs as people write them, turned into the library's: equalities, then `<=` rows, contexts to match."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from conformio.checks import Domain, FloatArray, check_choice
from conformio.errors import InvalidInputError, invalid
from conformio.observations._arrow import plain
from conformio.observations.cells import number_cells
from conformio.observations.side_by_side import whole_table
from conformio.problems import IntegerProgram, LinearProgram
from conformio.solvers import ProgramFile

__all__ = ["program_from_tables", "program_of"]

_SENSES = {"<=": "<=", "=<": "<=", ">=": ">=", "=>": ">=", "=": "=", "==": "="}


def program_of(program: ProgramFile, domain: Domain, where: str) -> dict[str, Any]:
    """The library's problem, and how right-hand sides by name become its contexts."""
    low, high = program.row_lower, program.row_upper
    same = (low == high) | (np.isnan(low) & np.isnan(high))
    equal = np.flatnonzero(same)
    above, below = np.flatnonzero(~same & ~np.isinf(high)), np.flatnonzero(~same & ~np.isinf(low))
    both = set(above.tolist()) & set(below.tolist())
    sides = [program.rows[row] for row in equal]
    for rows, end in ((above, ".upper"), (below, ".lower")):
        sides += [program.rows[row] + (end if row in both else "") for row in rows.tolist()]
    signs = np.repeat([1.0, 1.0, -1.0], [len(equal), len(above), len(below)])
    values = np.concatenate([low[equal], high[above], low[below]])
    parts = {
        "A_eq": program.matrix[equal],
        "A_ub": sparse.vstack([program.matrix[above], -program.matrix[below]], format="csr"),
        "lower": program.lower,
        "upper": program.upper,
        "sense": program.sense,
        "domain": domain,
    }
    try:
        whole = program.integrality.any()
        problem = IntegerProgram(**parts, integrality=program.integrality) if whole else LinearProgram(**parts)
    except InvalidInputError as error:
        raise invalid("path", where, "must be a program within the library's range", error) from error
    return {
        "problem": problem,
        "variables": program.columns,
        "sides": sides,
        "signs": signs.tolist(),
        "defaults": {side: float(v) for side, v in zip(sides, values, strict=True) if not np.isnan(v)},
        "costs": program.costs.tolist(),
    }


def program_from_tables(coefficients: Any, rows: Any, columns: Any, sense: str, where: str) -> ProgramFile:
    """A program from tables; see `PlanTable.from_tables`. Sides that are not given are NaN."""
    check_choice(sense, ("min", "max"), "sense", where)
    by_row = _Cells(rows, "rows", where, key="row")
    by_column = _Cells(columns, "columns", where, key="column")
    kinds = by_row.words("sense", _SENSES)
    sides = by_row.numbers("side", np.nan)
    return ProgramFile(
        matrix=_matrix(_Cells(coefficients, "coefficients", where), by_row.keys, by_column.keys),
        row_lower=np.where(kinds == "<=", -np.inf, sides),
        row_upper=np.where(kinds == ">=", np.inf, sides),
        lower=by_column.numbers("lower", 0.0),
        upper=by_column.numbers("upper", np.inf),
        costs=by_column.numbers("cost", 0.0),
        integrality=by_column.numbers("integer", 0.0) != 0.0,
        sense="max" if sense == "max" else "min",
        rows=by_row.keys,
        columns=by_column.keys,
    )


class _Cells:
    """A small table, held whole; its errors name the row."""

    def __init__(self, source: Any, argument: str, where: str, key: str | None = None):
        self._argument, self._where = argument, where
        self._table = whole_table(source, argument, where)
        self.keys: list[str] = [] if key is None else self.names(key)
        if len(set(self.keys)) < len(self.keys):
            row = next(k for k, name in enumerate(self.keys) if name in self.keys[:k])
            raise self.error(f"column {key!r} must name each once", repr(self.keys[row]), row)

    def error(self, rule: str, got: object, row: int | None = None) -> InvalidInputError:
        return invalid(self._argument, self._where, rule, got, row=row)

    def names(self, column: str) -> list[str]:
        """A column of names as text; none may be missing."""
        if column not in self._table.column_names:
            raise self.error(f"must have the column {column!r}", f"the columns {self._table.column_names}")
        names = plain(self._table.column(column)).to_pylist()
        if None in names:
            raise self.error(f"column {column!r} must be filled in", None, names.index(None))
        return [str(name) for name in names]

    def words(self, column: str, allowed: dict[str, str]) -> Any:
        """A column of words, each of which stands for another."""
        found = self.names(column)
        for row, word in enumerate(found):
            if word.strip() not in allowed:
                raise self.error(f"column {column!r} must be one of {', '.join(allowed)}", repr(word), row)
        return np.array([allowed[word.strip()] for word in found])

    def numbers(self, column: str, default: float) -> FloatArray:
        """A column of numbers; the default where the column or the cell is missing."""
        if column not in self._table.column_names:
            return np.full(self._table.num_rows, default)
        cells = number_cells(plain(self._table.column(column)))
        if cells.wrong.any():
            row = int(np.flatnonzero(cells.wrong)[0])
            raise self.error(
                f"column {column!r} must hold finite numbers", self._table.column(column)[row].as_py(), row
            )
        return np.where(cells.missing, default, cells.values)


def _matrix(cells: _Cells, rows: list[str], columns: list[str]) -> Any:
    places = []
    for column, names in (("row", rows), ("column", columns)):
        number_of = {name: number for number, name in enumerate(names)}
        found = cells.names(column)
        for row, name in enumerate(found):
            if name not in number_of:
                raise cells.error(f"column {column!r} must name one of the table of {column}s", repr(name), row)
        places.append(np.array([number_of[name] for name in found], dtype=np.int64))
    values = cells.numbers("value", np.nan)
    if np.isnan(values).any():
        raise cells.error("column 'value' must be filled in", None, int(np.flatnonzero(np.isnan(values))[0]))
    flat = places[0] * len(columns) + places[1]
    _, first = np.unique(flat, return_index=True)
    if len(first) < len(flat):
        row = int(np.setdiff1d(np.arange(len(flat)), first)[0])
        got = f"row {rows[places[0][row]]!r}, column {columns[places[1][row]]!r} again"
        raise cells.error("must have one entry for each row and column", got, row)
    return sparse.csr_array((values, tuple(places)), shape=(len(rows), len(columns)))
