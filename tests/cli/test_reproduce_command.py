"""`conformio reproduce`: what it prints, where it writes, how it ends."""

import json
from functools import partial

import pytest

from conformio.cli.reproduce import Choice, _duration, _shown
from conformio.studies import reproduction, reproduction_studies, table1
from conformio.studies.engine import Progress
from conformio.studies.evidence import data_files
from conformio.studies.reproduction_studies import STUDIES, Study

pytest.importorskip("matplotlib")

ASKED = []


def small(settings):
    ASKED.append(settings)
    return table1.cells(settings.seeds, 60)


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    ASKED.clear()
    study = STUDIES["table1"]
    monkeypatch.setitem(reproduction_studies.STUDIES, "table1", Study(small, study.judged, study.shown))


@pytest.fixture
def run(command_line):
    return partial(command_line, "reproduce")


def test_every_study_can_be_asked_for():
    assert [choice.value for choice in Choice] == [*STUDIES, "all"]


def test_a_table_of_verdicts_and_where_the_page_is(run, tmp_path):
    code, out, err = run("table1", "--seeds", 2, "--workers", 1, "--out", tmp_path / "deep" / "out")
    assert code == 0, err
    for word in ("study", "claim", "paper", "verdict", "corrected", "reproduction.html", "evidence.md"):
        assert word in out
    assert (tmp_path / "deep" / "out" / "reproduction.html").exists()
    assert (ASKED[0].seeds, ASKED[0].quick) == (2, False)


def test_json_is_for_machines(run, tmp_path):
    code, out, err = run("table1", "--quick", "--json", "--quiet", "--workers", 1, "--out", tmp_path)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["command"] == "conformio reproduce table1 --quick --seeds 2 --out DIR"
    assert {"study", "claim", "paper", "measured", "rule", "verdict", "conditions"} == set(found["verdicts"][0])
    assert found["page"] in found["files"]
    assert (ASKED[0].seeds, ASKED[0].quick) == (2, True)


def test_everything_with_ten_seeds_is_the_default(run, monkeypatch, tmp_path):
    asked = []

    def stop(names, out, settings, workers, report):
        asked.append((names, settings.seeds, settings.quick, workers))
        raise KeyboardInterrupt

    monkeypatch.setattr("conformio.cli.reproduce.run", stop)
    code, _, err = run("--quiet", "--out", tmp_path)
    assert (code, err) == (130, "conformio: interrupted\n")
    assert asked == [(list(STUDIES), 10, False, 2)]


def test_without_pyarrow_it_says_what_is_missing(run, monkeypatch, tmp_path):
    monkeypatch.setattr(data_files, "find_spec", lambda name: None)
    code, out, _ = run("table1", "--seeds", 2, "--workers", 1, "--out", tmp_path)
    assert code == 0
    assert 'pip install "conformio[data]"' in out


def test_without_matplotlib_it_fails_with_the_remedy(run, monkeypatch, tmp_path):
    monkeypatch.setattr(reproduction, "find_spec", lambda name: None)
    code, out, err = run("table1", "--out", tmp_path)
    assert (code, out) == (1, "")
    assert 'pip install "conformio[plots]"' in err


def test_a_folder_that_is_a_file_fails(run, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = run("table1", "--out", tmp_path / "file")
    assert code == 1
    assert "--out: must be a folder that can be made" in err


@pytest.mark.parametrize("arguments", [("table2",), ("table1", "--seeds", 1), ("--workers", 0)])
def test_wrong_usage(run, arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert "Usage" in err


def test_progress_shows_counts_and_the_time_left():
    assert _shown(Progress(0, 8, "starting", None)) == ("starting 0/8", 0.0)
    assert _shown(Progress(2, 8, "gaps-of", 75.2)) == ("gaps-of 2/8, 1 min 15 s left", 0.25)
    assert _duration(9.6) == "10 s"
