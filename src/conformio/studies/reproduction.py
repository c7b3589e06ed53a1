"""The paper's numerical studies from cells to verdicts: run what is missing, judge, write everything down.

    DIR/cells        finished cells, one file each; what a killed run goes on from
    DIR/data         tidy results: one row per measurement and seed, and the verdicts (CSV, Parquet)
    DIR/evidence     results over seeds (CSV) and figures (SVG, PNG)
    DIR/evidence.md  the document made from DIR/evidence, reproduction.html the page

Verdicts, tables and figures come from the rows over seeds alone, so that the files of `DIR/evidence` are all they need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from conformio.checks import as_index, check_choice
from conformio.errors import InvalidInputError, invalid
from conformio.studies.cell_store import CellStore, Row, write_whole
from conformio.studies.engine import Report, run_cells
from conformio.studies.evidence.data_files import can_write_parquet, write_table
from conformio.studies.evidence.document import document
from conformio.studies.evidence.drawings import image
from conformio.studies.evidence.page import page
from conformio.studies.evidence.sections import Evidence
from conformio.studies.findings.summaries import as_csv, from_csv
from conformio.studies.reproduction_studies import STUDIES, Settings

__all__ = ["Outcome", "evidence_of", "reproduce", "stored_evidence"]

_WHERE = "reproduce"


@dataclass(frozen=True)
class Outcome:
    """What a run found and wrote.

    Attributes
    ----------
    evidence : Evidence
    page, document : Path
    files : tuple of Path
        All that were written, cells left out.
    parquet : bool
        Whether Parquet files are among them; they need pyarrow.
    """

    evidence: Evidence
    page: Path
    document: Path
    files: tuple[Path, ...]
    parquet: bool


def reproduce(
    names: Sequence[str],
    folder: str | Path,
    settings: Settings = Settings(),  # noqa: B008  frozen
    workers: int = 2,
    report: Report = lambda progress: None,
) -> Outcome:
    """Run studies, go on with what an earlier run left unfinished, and write all results.

    Parameters
    ----------
    names : sequence of str
        Keys of `STUDIES`.
    folder : str or Path
        Made if missing. Files of other studies in it are left alone.
    settings : Settings
    workers : int
        Processes.
    report : callable
        Told of every finished cell.

    Raises
    ------
    InvalidInputError
        If a study is unknown, matplotlib is missing or the folder cannot be written.
    """
    for name in names:
        check_choice(name, tuple(STUDIES), "study", _WHERE)
    workers = as_index(workers, "workers", _WHERE, low=1)
    if find_spec("matplotlib") is None:
        raise InvalidInputError('the figures need matplotlib. Run: pip install "conformio[plots]"')
    target = Path(folder)
    store = CellStore(target / "cells")
    cells = {name: STUDIES[name].cells(settings) for name in names}
    rows = iter(run_cells([cell for name in names for cell in cells[name]], store, workers, report))
    results = {name: [row for _ in cells[name] for row in next(rows)] for name in names}
    return _written(results, target, settings)


def evidence_of(summaries: Mapping[str, Sequence[Row]], settings: Settings) -> Evidence:
    """Judge and show results over seeds.

    Parameters
    ----------
    summaries : mapping of study to rows
    settings : Settings
        Told to the reader.
    """
    studies = "all" if set(summaries) == set(STUDIES) else " ".join(summaries)
    quick = " --quick" if settings.quick else ""
    command = f"conformio reproduce {studies}{quick} --seeds {settings.seeds} --out DIR"
    sections = [STUDIES[name].section(name, rows) for name, rows in summaries.items()]
    return Evidence(command, _setting(settings), sections)


def _setting(settings: Settings) -> str:
    if settings.quick:
        return f"A quick look: {settings.seeds} seeds, fewer people and fewer conditions than the paper has."
    return f"Everything is repeated with {settings.seeds} random seeds."


def stored_evidence(folder: Path, settings: Settings) -> Evidence:
    """The evidence of a folder of results over seeds (`DIR/evidence`)."""
    found = {name: folder / f"{name}.csv" for name in STUDIES}
    held = {name: from_csv(path.read_text(encoding="utf-8")) for name, path in found.items() if path.exists()}
    return evidence_of(held, settings)


def _written(results: Mapping[str, Sequence[Row]], target: Path, settings: Settings) -> Outcome:
    data, shown = target / "data", target / "evidence"
    for folder in (data, shown):
        _made(folder)
    summaries = {name: STUDIES[name].summary(rows) for name, rows in results.items()}
    evidence = evidence_of(summaries, settings)
    files = [path for name, rows in results.items() for path in write_table(data, name, rows)]
    files += write_table(data, "verdicts", [{**asdict(f), "verdict": str(f.verdict)} for f in evidence.findings])
    texts = {shown / f"{name}.csv": as_csv(rows) for name, rows in summaries.items()}
    texts |= {target / "evidence.md": document(evidence), target / "reproduction.html": page(evidence)}
    contents = {path: text.encode() for path, text in texts.items()}
    for figure in (figure for section in evidence.sections for figure in section.figures):
        contents |= {
            shown / f"{figure.name}.svg": image(figure, "svg"),
            shown / f"{figure.name}.png": image(figure, "png"),
        }
    for path, content in contents.items():
        write_whole(path, content)
    return Outcome(
        evidence=evidence,
        page=target / "reproduction.html",
        document=target / "evidence.md",
        files=(*files, *contents),
        parquet=can_write_parquet(),
    )


def _made(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        rule = f"must be a folder that can be written ({error.strerror})"
        raise invalid("out", _WHERE, rule, str(folder.parent)) from error
