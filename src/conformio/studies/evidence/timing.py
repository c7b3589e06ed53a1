"""The timing table, shown."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from conformio.studies.cell_store import Row
from conformio.studies.evidence.sections import Figure, Table
from conformio.studies.findings.printed import SECONDS, ratio_printed
from conformio.studies.findings.selection import column, distinct
from conformio.studies.findings.timing import ratio
from conformio.studies.findings.wording import by_condition

__all__ = ["TITLE", "WORDS", "figures", "tables"]

TITLE = "Computation times"
WORDS = (
    "Training of both pipelines and prediction, nominal and robust, one row at a time and the whole test set at once. "
    "Each duration is the least of three repetitions, with nothing else of the run on the machine, and is measured "
    "once: later runs read it from the store. The paper's seconds are from another machine with a commercial solver. "
    "They are shown, not compared; quotients are."
)
_COLUMNS = ("train_classic", "train_conformal", "nominal_single", "robust_single", "nominal_batch", "robust_batch")


def tables(rows: Sequence[Row]) -> tuple[Table, ...]:
    """Milliseconds beside the paper's, and quotients."""
    known = distinct(rows, "machine", "python", "conformio")
    machines = "; ".join(f"{machine}, Python {python}, conformio {own}" for machine, python, own in known)
    titles = tuple(name.replace("_", " ") for name in _COLUMNS)
    lines = [(name, *(_milliseconds(group, c) for c in _COLUMNS)) for name, group in by_condition(rows).items()]
    lines += [(f"{problem}, paper", *_printed(problem)) for problem in SECONDS]
    return (
        Table(f"Milliseconds, mean over seeds (sd); prediction per decision. {machines}", ("", *titles), tuple(lines)),
        _quotients(rows),
    )


def _milliseconds(rows: Sequence[Row], name: str) -> str:
    mean, sd = (1000.0 * fmean(column(rows, f"{name}{end}")) for end in ("", "_sd"))
    return f"{mean:.3g} ({sd:.2g})"


def _printed(problem: str) -> tuple[str, ...]:
    seconds = SECONDS[problem]
    known = [f"{1000.0 * seconds[name]:.0f}" for name in ("train_classic", "train_conformal", "nominal", "robust")]
    return (*known, "-", "-")


def _quotients(rows: Sequence[Row]) -> Table:
    pairs = (
        ("train_conformal", "train_classic"),
        ("robust_single", "nominal_single"),
        ("robust_batch", "nominal_batch"),
    )
    lines = [(name, *(f"{ratio(group, *pair):.2f}" for pair in pairs)) for name, group in by_condition(rows).items()]
    for problem in SECONDS:
        training = f"{ratio_printed(problem, 'train_conformal', 'train_classic'):.2f}"
        lines.append((f"{problem}, paper", training, f"{ratio_printed(problem, 'robust', 'nominal'):.0f}", "-"))
    columns = ("", "training, conformal / classic", "single row, robust / nominal", "batch, robust / nominal")
    return Table("Quotients", columns, tuple(lines))


def figures(rows: Sequence[Row]) -> tuple[Figure, ...]:
    """None: the paper shows a table."""
    return ()
