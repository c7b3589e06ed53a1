"""Results over seeds: rows that differ by their seed alone become one, with the mean, range and spread of each number.

Verdicts, tables and figures are computed from these rows, whose numbers are rounded to six digits: what a file of
them holds is what was judged.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from statistics import fmean, stdev

from conformio.studies.cell_store import Row, Scalar
from conformio.studies.findings.selection import column

__all__ = ["as_csv", "from_csv", "summarized"]

_DIGITS = 6


def summarized(rows: Sequence[Row], labels: Sequence[str], spread: bool = True) -> list[Row]:
    """One row for each combination of labels.

    Parameters
    ----------
    rows : sequence of Row
    labels : sequence of str
        Columns that tell rows apart. Of the others but `seed`, those with numbers get four columns each: mean, `low`
        and `high` over seeds, `sd`; None where a row has no number; those with text are left out.
    spread : bool
        Whether to keep more than means.

    Returns
    -------
    list of Row
        Labels, `n` (how many rows became one), numbers; in order of first appearance.
    """
    groups: dict[tuple[Scalar, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in labels), []).append(row)
    measured = [name for name in (rows[0] if rows else ()) if name not in (*labels, "seed")]
    return [
        {**dict(zip(labels, key, strict=True)), "n": len(group), **_numbers(group, measured, spread)}
        for key, group in groups.items()
    ]


def _numbers(group: list[Row], measured: list[str], spread: bool) -> Row:
    found: Row = {}
    for name in measured:
        if any(isinstance(row[name], str) for row in group):
            continue
        missing = any(row[name] is None for row in group)
        values = [] if missing else column(group, name)
        found[name] = None if missing else _rounded(fmean(values))
        if not spread:
            continue
        found[f"{name}_low"] = None if missing else _rounded(min(values))
        found[f"{name}_high"] = None if missing else _rounded(max(values))
        found[f"{name}_sd"] = None if missing else _rounded(stdev(values) if len(values) > 1 else 0.0)
    return found


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else value


def as_csv(rows: Sequence[Row]) -> str:
    """Rows of equal columns as text; nothing stands for None."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def from_csv(text: str) -> list[Row]:
    """What `as_csv` wrote: numbers are numbers again, empty cells None; text that reads like neither stays text."""
    return [{name: _value(cell) for name, cell in row.items()} for row in csv.DictReader(io.StringIO(text))]


def _value(cell: str) -> Scalar:
    if not cell:
        return None
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell
