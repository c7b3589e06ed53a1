"""From cells to files: what is written, that it needs nothing else, and that a killed run ends with the same bytes."""

import csv
import json
import re
import signal
import subprocess
import sys
import time

import pytest
from results import (
    CONDITION,
    FENCHEL,
    KNAPSACK,
    ablation_rows,
    paper_like,
    split_rows,
    table1_rows,
    timing_rows,
    validity_rows,
)

import conformio as cio
from conformio.studies import reproduction, reproduction_studies, table1
from conformio.studies.evidence import data_files
from conformio.studies.evidence.document import document
from conformio.studies.evidence.drawings import image
from conformio.studies.evidence.page import page
from conformio.studies.evidence.sections import Evidence, Section, Table
from conformio.studies.findings.summaries import from_csv
from conformio.studies.findings.verdicts import Finding, Verdict
from conformio.studies.reproduction import evidence_of, reproduce, stored_evidence
from conformio.studies.reproduction_studies import STUDIES, Settings

pytest.importorskip("matplotlib")

NASTY = "<script>alert('x')</script> & \"a|b\" *c* _d_ [e] `f`"


def without_gains(rows):
    """A seed whose classic pipeline has no gap: its own improvement is undefined."""
    return [{name: None if "_gain" in name else value for name, value in row.items()} for row in rows]


@pytest.fixture(scope="module")
def summaries():
    conditions = [CONDITION, {**CONDITION, **FENCHEL}]
    free = [{**one, "domain": "free"} for one in conditions]
    paths = [row for one in conditions for row in paper_like(one)]
    paths += [row for one in free for row in paper_like(one, cycle_share=0.2)]
    everyone = [*conditions, KNAPSACK]
    return {
        "table1": table1_rows(),
        "validity": [row for one in everyone for row in validity_rows(one, lambda level: level)],
        "robustness": paths + without_gains(paper_like(KNAPSACK)),
        "timing": [row for one in everyone for row in timing_rows(one)],
        "split": [row for one in conditions for row in split_rows(one, lambda total, share: share / 2)],
        "sensitivity": paths + paper_like(KNAPSACK),
        "ablations": [row for one in everyone for row in ablation_rows(one)],
    }


@pytest.fixture(scope="module")
def evidence(summaries):
    return evidence_of(summaries, Settings(3))


class TestEvidence:
    def test_every_study_has_findings_and_tables(self, evidence):
        assert [section.name for section in evidence.sections] == list(STUDIES)
        assert all(section.findings and section.tables for section in evidence.sections)
        assert {finding.study for finding in evidence.findings} == set(STUDIES)

    def test_tables_are_rectangles_of_text(self, evidence):
        for table in (table for section in evidence.sections for table in section.tables):
            assert {len(row) for row in table.rows} == {len(table.columns)}, table.title
            assert all(isinstance(cell, str) for row in table.rows for cell in row)

    def test_it_says_how_to_make_it_again(self, evidence, summaries):
        assert evidence.command == "conformio reproduce all --seeds 3 --out DIR"
        assert "3 random seeds" in evidence.setting
        quick = evidence_of({"table1": summaries["table1"]}, Settings(2, quick=True))
        assert quick.command == "conformio reproduce table1 --quick --seeds 2 --out DIR"
        assert quick.setting.startswith("A quick look")

    def test_figures_have_the_same_bytes_every_time(self, evidence):
        figures = [figure for section in evidence.sections for figure in section.figures]
        assert len({figure.name for figure in figures}) == len(figures) >= 7
        for kind in ("svg", "png"):
            assert image(figures[0], kind) == image(figures[0], kind)
        assert b"<dc:date>" not in image(figures[0], "svg")

    def test_a_level_that_was_not_measured_is_a_dash(self, summaries):
        rows = [row for row in summaries["validity"] if not (row["n_calibration"] == 50 and row["level"] == 0.9)]
        (table, _) = STUDIES["validity"].shown.tables(rows)
        assert "-" in table.rows[0]
        assert "-" not in table.rows[1]


@pytest.fixture(scope="module")
def shown(evidence):
    return page(evidence)


class TestPage:
    def test_it_needs_nothing_else(self, shown):
        text = shown
        outside = [source for source in re.findall(r'(?:src|href)="([^"]*)"', text) if not source.startswith("#")]
        assert outside
        assert all(source.startswith("data:image/svg+xml;base64,") for source in outside)
        assert not re.search(r"https?:|<script|@import|url\(", text)

    def test_it_shows_every_claim_with_number_rule_and_verdict(self, evidence, shown):
        text = shown
        for finding in evidence.findings:
            assert text.count(f">{finding.verdict}</td>") >= 2
        assert text.count('class="rule"') >= len(evidence.findings)

    def test_text_is_escaped(self):
        shown = page(nasty())
        assert "<script>" not in shown
        assert "&lt;script&gt;" in shown


class TestDocument:
    def test_it_shows_every_claim_and_figure(self, evidence):
        text = document(evidence)
        assert text.count("- Rule: ") == len(evidence.findings)
        assert text.count("](evidence/") == sum(len(section.figures) for section in evidence.sections)
        assert "`conformio reproduce all --seeds 3 --out DIR`" in text
        assert text.endswith("\n")

    def test_tables_keep_their_columns(self):
        lines = [line for line in document(nasty()).splitlines() if line.startswith("|")]
        for line in lines:
            assert len(re.findall(r"(?<!\\)\|", line)) in (3, 4), line

    def test_text_is_shown_as_it_is(self):
        text = document(nasty())
        assert r"\<script\>" in text
        assert r"\*c\* \_d\_ \[e\] \`f\`" in text


def nasty():
    finding = Finding("study", NASTY, NASTY, NASTY, NASTY, Verdict.CONDITIONAL, NASTY)
    return Evidence(
        "command",
        "Setting.",
        [Section("study", NASTY, NASTY, (finding,), (Table(NASTY, ("a", NASTY), ((NASTY, "1"),)),), ())],
    )


def small(settings):
    return table1.cells(settings.seeds, 60)


@pytest.fixture
def tiny(monkeypatch):
    study = STUDIES["table1"]
    monkeypatch.setitem(
        reproduction_studies.STUDIES, "table1", reproduction_studies.Study(small, study.judged, study.shown)
    )


def read(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class TestReproduce:
    def test_files_and_the_same_bytes_again(self, tiny, tmp_path):
        seen = []
        outcome = reproduce(["table1"], tmp_path, Settings(2), workers=1, report=seen.append)
        assert seen[-1].done == seen[-1].total == 8
        before = contents(tmp_path)
        names = {name for name in before if not name.startswith("cells")}
        assert names == {str(path.relative_to(tmp_path)) for path in outcome.files}
        assert {
            "evidence.md",
            "reproduction.html",
            "data/table1.csv",
            "data/verdicts.csv",
            "evidence/table1.csv",
        } <= names
        assert {"evidence/table1.svg", "evidence/table1.png"} <= names
        later = []
        reproduce(["table1"], tmp_path, Settings(2), workers=1, report=later.append)
        assert [p.done for p in later] == [8]
        assert contents(tmp_path) == before

    def test_tidy_rows_and_verdicts(self, tiny, tmp_path):
        outcome = reproduce(["table1"], tmp_path, Settings(2), workers=1)
        rows = read(tmp_path / "data" / "table1.csv")
        assert len(rows) == 2 * 4 * 4
        assert {row["seed"] for row in rows} == {"0", "1"}
        verdicts = read(tmp_path / "data" / "verdicts.csv")
        assert [row["verdict"] for row in verdicts] == [str(finding.verdict) for finding in outcome.evidence.findings]

    def test_the_document_comes_from_the_files_beside_it(self, tiny, tmp_path):
        outcome = reproduce(["table1"], tmp_path, Settings(2), workers=1)
        again = stored_evidence(tmp_path / "evidence", Settings(2))
        assert document(again) == outcome.document.read_text(encoding="utf-8")
        assert page(again) == outcome.page.read_text(encoding="utf-8")

    def test_parquet_holds_the_same_rows(self, tiny, tmp_path):
        parquet = pytest.importorskip("pyarrow.parquet")
        outcome = reproduce(["table1"], tmp_path, Settings(2), workers=1)
        assert outcome.parquet
        rows = parquet.read_table(tmp_path / "data" / "table1.parquet").to_pylist()
        assert rows == from_csv((tmp_path / "data" / "table1.csv").read_text())

    def test_without_pyarrow_there_is_no_parquet(self, tiny, tmp_path, monkeypatch):
        monkeypatch.setattr(data_files, "find_spec", lambda name: None)
        outcome = reproduce(["table1"], tmp_path, Settings(2), workers=1)
        assert not outcome.parquet
        assert not list(tmp_path.rglob("*.parquet"))

    def test_without_matplotlib_it_says_so_before_the_work(self, tiny, tmp_path, monkeypatch):
        monkeypatch.setattr(reproduction, "find_spec", lambda name: None)
        with pytest.raises(cio.InvalidInputError, match=r"conformio\[plots\]"):
            reproduce(["table1"], tmp_path / "out")
        assert not (tmp_path / "out").exists()

    def test_wrong_requests(self, tmp_path):
        with pytest.raises(cio.InvalidInputError, match="study"):
            reproduce(["table2"], tmp_path)
        with pytest.raises(cio.InvalidInputError, match="workers"):
            reproduce(["table1"], tmp_path, workers=0)
        with pytest.raises(cio.InvalidInputError, match="seeds"):
            Settings(1)

    def test_a_folder_that_is_a_file_is_named(self, tiny, tmp_path):
        (tmp_path / "data").write_text("")
        with pytest.raises(cio.InvalidInputError, match="must be a folder that can be written"):
            reproduce(["table1"], tmp_path, Settings(2), workers=1)


@pytest.mark.parametrize("quick", [False, True])
def test_every_study_has_cells_of_known_settings(quick):
    for name, study in STUDIES.items():
        cells = study.cells(Settings(2, quick))
        assert cells, name
        assert all(json.loads(json.dumps(cell.settings)) == cell.settings for cell in cells)
        assert {cell.alone for cell in cells} == {name == "timing"}


def test_quick_studies_are_smaller():
    seconds = {
        quick: sum(cell.seconds for study in STUDIES.values() for cell in study.cells(Settings(2, quick)))
        for quick in (False, True)
    }
    assert seconds[True] < seconds[False]


SCRIPT = """
import sys
from pathlib import Path
from conformio.studies import reproduction_studies as plan, table1
from conformio.studies.reproduction import reproduce

def small(settings):
    return table1.cells(settings.seeds, 60)

if __name__ == "__main__":
    old = plan.STUDIES["table1"]
    plan.STUDIES["table1"] = plan.Study(small, old.judged, old.shown)
    reproduce(["table1"], Path(sys.argv[1]), plan.Settings(2), workers=2)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
def test_a_killed_reproduction_ends_with_the_bytes_of_one_that_was_not(tiny, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    command = [sys.executable, str(tmp_path / "script.py"), str(killed)]
    process = subprocess.Popen(command)
    while not list((killed / "cells").glob("example-one-*.json")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    found = {path: path.stat().st_mtime_ns for path in (killed / "cells").glob("example-one-*.json")}
    subprocess.run(command, check=True)
    assert {path: path.stat().st_mtime_ns for path in found} == found
    reproduce(["table1"], whole, Settings(2), workers=1)
    assert contents(killed) == contents(whole)
