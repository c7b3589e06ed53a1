"""Columns of numbers, and wide tables of them: what is missing, and what is no finite number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from conformio.checks import BoolArray, Decisions, FloatArray, IntArray, dense
from conformio.observations._arrow import arrow, plain
from conformio.observations.faults import BatchFaults, Kinds
from conformio.observations.identities import column_of
from conformio.problems import Problem

__all__ = ["NUMBER_KINDS", "NumberCells", "infeasible_rows", "number_cells", "number_table"]

NUMBER_KINDS: Kinds = {
    "missing value": ("every cell must be filled in", "Fill it in"),
    "not a number": ("cells must hold finite numbers", "Correct the cell"),
}

_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
_BLOCK_CELLS = 2_000_000


@dataclass(frozen=True, eq=False)
class NumberCells:
    """One column: its values, and which cells are missing or are no finite numbers."""

    values: FloatArray
    missing: BoolArray
    wrong: BoolArray


def number_table(columns: list[str], faults: BatchFaults, where: str, argument: str = "source") -> FloatArray:
    """Some columns of a batch as one array; notes missing values and cells that are no finite numbers.

    `argument` is what named the columns.
    """
    cells = [plain(column_of(faults.batch.columns, name, where, argument)) for name in columns]
    read = [number_cells(column) for column in cells]
    for kind, flag in (("missing value", "missing"), ("not a number", "wrong")):
        wrong = np.column_stack([getattr(part, flag) for part in read])
        rows = np.flatnonzero(wrong.any(axis=1))
        first = wrong[rows].argmax(axis=1)

        def detail(k: int, rows: IntArray = rows, first: IntArray = first) -> str:
            return f"{columns[first[k]]} {cells[first[k]][int(rows[k])].as_py()!r}"

        faults.note(kind, rows, detail)
    return np.column_stack([part.values for part in read])


def number_cells(column: Any) -> NumberCells:
    """A column of any type; text counts as a number when it spells one."""
    pa = arrow("cells")
    missing = np.asarray(column.is_null())
    if pa.types.is_string(column.type):
        missing |= np.asarray(pa.compute.equal(column, "").fill_null(True))
        spelled = pa.compute.match_substring_regex(column, _NUMBER).fill_null(False)
        column = pa.compute.utf8_trim_whitespace(pa.compute.if_else(spelled, column, pa.scalar(None, pa.string())))
    elif pa.types.is_floating(column.type):
        missing |= np.isnan(np.asarray(column.fill_null(0.0), dtype=np.float64))
    elif not (pa.types.is_integer(column.type) or pa.types.is_decimal(column.type) or pa.types.is_boolean(column.type)):
        return NumberCells(np.zeros(len(column)), missing, ~missing)
    kind = pa.uint8() if pa.types.is_boolean(column.type) else pa.float64()
    values = np.asarray(column.cast(kind, safe=False).cast(pa.float64()).fill_null(np.nan), dtype=np.float64)
    return NumberCells(values, missing, ~missing & ~np.isfinite(values))


def infeasible_rows(problem: Problem, contexts: FloatArray, decisions: Decisions, rows: IntArray) -> IntArray:
    """Those of the rows whose decisions are outside `X(u)`, looked at in blocks that fit in memory."""
    size = max(1, _BLOCK_CELLS // problem.n_vars)
    parts = [rows[k : k + size] for k in range(0, len(rows), size)]
    found = [part[~problem.feasible(dense(decisions[part]).astype(np.float64), contexts[part])] for part in parts]
    return np.concatenate([np.zeros(0, dtype=np.int64), *found])
