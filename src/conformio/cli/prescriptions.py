"""Prescriptions as a table: each distinct situation solved once, blocks of rows written as they come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from conformio.checks import BoolArray, Decisions, FloatArray
from conformio.cli.progress import Step
from conformio.errors import told_of
from conformio.model import ConformalIO
from conformio.observations import Observations, ObservationTable, TableWriter

__all__ = ["prescribe_table"]

_SITUATIONS = 2048
_ROWS = 16_384
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class _Prescriptions:
    robust: Decisions
    nominal: Decisions
    values: FloatArray
    gaps: FloatArray
    methods: Any


def prescribe_table(
    model: ConformalIO,
    table: ObservationTable,
    wanted: Observations,
    level: float | None,
    writer: TableWriter,
    step: Step,
) -> int:
    """Write one row per context; returns in how many the robust decision differs from the classic one.

    Columns: the row's id, the context, the robust decision, `worst_case_value` over unit-length parameters of
    the set, `gap` (certified distance from the best such value), `method` (the route that found it), the
    decision optimal for the point estimate alone (`nominal_...`), and whether the two differ.
    """
    situations, first, back = np.unique(wanted.contexts, axis=0, return_index=True, return_inverse=True)
    back = back.ravel()
    parts = []
    for start in range(0, len(situations), _SITUATIONS):
        step("prescribing", 0.2 + 0.7 * start / len(situations))
        block = slice(start, start + _SITUATIONS)
        with told_of("prescribe", wanted.rows[first[block]]):
            parts.append(_solved(model, situations[block], level))
    found = _joined(parts)
    differs = _apart(found.robust, found.nominal)
    for start in range(0, len(wanted), _ROWS):
        step("writing", 0.9 + 0.1 * start / len(wanted))
        rows = slice(start, start + _ROWS)
        writer.write(_block(table, wanted, rows, found, back[rows], differs))
    return int(differs[back].sum())


def _solved(model: ConformalIO, contexts: FloatArray, level: float | None) -> _Prescriptions:
    robust = model.prescribe(contexts, level)
    nominal = model.predict_nominal(contexts)
    return _Prescriptions(_compact(robust.decisions), _compact(nominal), robust.values, robust.gap, robust.method)


def _compact(decisions: Decisions) -> Decisions:
    """0/1 rows in small numbers."""
    if sparse.issparse(decisions) and (decisions.data == 1.0).all():
        return decisions.astype(np.int8)
    return decisions


def _joined(parts: list[_Prescriptions]) -> _Prescriptions:
    def stacked(name: str) -> Any:
        values = [getattr(part, name) for part in parts]
        if any(sparse.issparse(value) for value in values):
            return sparse.vstack([sparse.csr_array(value) for value in values], format="csr")
        return np.concatenate(values)

    return _Prescriptions(*(stacked(name) for name in ("robust", "nominal", "values", "gaps", "methods")))


def _apart(one: Decisions, other: Decisions) -> BoolArray:
    """Rows in which two sets of decisions differ."""
    gaps = abs(sparse.csr_array(one) - sparse.csr_array(other)) > _SAME
    return np.asarray(gaps.sum(axis=1)).ravel() > 0


def _block(
    table: ObservationTable, wanted: Observations, rows: slice, found: _Prescriptions, at: Any, differs: BoolArray
) -> dict[str, Any]:
    import pyarrow as pa

    return {
        table.row_id or "row": wanted.ids.slice(rows.start, rows.stop - rows.start),
        **table.context_columns(wanted.contexts[rows]),
        **table.decision_columns(found.robust[at]),
        "worst_case_value": pa.array(found.values[at]),
        "gap": pa.array(found.gaps[at]),
        "method": pa.array(found.methods[at].tolist()),
        **table.decision_columns(found.nominal[at], "nominal_"),
        "differs": pa.array(differs[at]),
    }
