"""`conformio bench`: the table, the file, what resumes, and wrong usage."""

import json
from functools import partial

import pytest

from conformio.studies import benchmarks as command
from conformio.studies.benchmarks import Check, Comparison, Line, Outcome, SkippedError, Target


def quick(settings):
    line = Line("some work", "another way", 12.0 if settings.quick else 1.0, 10.0, 14.0, "x", Target("at least", 10.0))
    return Outcome([line], checks=[Check("values", 0.0, 1e-6)])


def wrong(settings):
    return Outcome([], checks=[Check("costs", 1.0, 1e-6)])


def skipped(settings):
    raise SkippedError("peer is not installed; pip install peer")


def failed(settings):
    raise ZeroDivisionError("by nothing")


PLAYED = [
    Comparison("works", "One that works", quick),
    Comparison("wrong", "Other answers", wrong),
    Comparison("skipped", "One left out", skipped),
    Comparison("failed", "One that fails", failed, by_default=False),
]


@pytest.fixture
def run(monkeypatch, command_line):
    monkeypatch.setattr(command, "COMPARISONS", PLAYED)
    monkeypatch.setattr(
        command,
        "chosen_comparisons",
        lambda names: [one for one in PLAYED if one.name in (names or ["works", "skipped"])],
    )
    return partial(command_line, "bench")


def test_a_table_with_targets_beside_results(run):
    code, out, err = run("--quick", "works", "wrong", "skipped")
    assert code == 0
    assert "some work  another way  ≥ 10×   12× (10 to 14×)  met" in out
    assert "wrong: the answers differ: costs" in out
    assert "skipped: skipped: peer is not installed; pip install peer" in out
    assert "12" not in err


def test_a_failed_comparison_ends_with_1_and_loses_no_other(run, tmp_path):
    code, out, _ = run("works", "failed", "--out", tmp_path / "r.json")
    assert code == 1
    assert "not met" in out
    assert "failed: failed: ZeroDivisionError: by nothing" in out
    assert json.loads((tmp_path / "r.json").read_text())["comparisons"]["works"]["status"] == "done"


def test_the_file_holds_the_command_without_folders_of_this_machine(run, tmp_path):
    assert run("--json", "--quick", "--out", tmp_path / "r.json", "works")[0] == 0
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["command"] == "conformio bench --json --quick --out r.json works"
    code, out, _ = run("--json", "--quick", "works")
    assert code == 0
    assert json.loads(out)["comparisons"]["works"]["lines"][0]["met"]


def test_resuming_adds_to_the_file(run, tmp_path):
    path = tmp_path / "r.json"
    run("--out", path, "works")
    before = json.loads(path.read_text())
    assert run("--out", path, "--resume", "works", "wrong")[0] == 0
    after = json.loads(path.read_text())
    assert after["comparisons"]["works"] == before["comparisons"]["works"]
    assert list(after["comparisons"]) == ["works", "wrong"]
    assert after["command"].split("\n")[1].endswith("--resume works wrong")
    assert run("--out", path, "--resume", "works", "wrong")[0] == 0
    code, _, err = run("--out", path, "--resume", "--quick")
    assert code == 2
    assert "r.json was measured with other sizes (--quick)" in " ".join(err.replace("│", " ").split())
    assert run("--out", tmp_path / "new.json", "--resume", "works")[0] == 0


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"command": 7}, "`command`"),
        ({"versions": None}, "`versions`"),
        ({"comparisons": {"works": 5}}, "`works`"),
        ({"comparisons": {"works": {"status": "done", "agree": True, "lines": [{}], "checks": []}}}, "`works`"),
        ({"comparisons": {"works": {"status": "failed"}}}, "`works`"),
    ],
)
def test_a_damaged_file_is_not_gone_on_with(run, tmp_path, change, named):
    path = tmp_path / "r.json"
    run("--out", path, "works")
    damaged = json.dumps({**json.loads(path.read_text()), **change})
    path.write_text(damaged)
    code, out, err = run("--out", path, "--resume", "works")
    assert (code, out) == (1, "")
    assert f"must be a record that conformio bench wrote; got {path}, whose {named} is damaged" in err
    assert path.read_text() == damaged


def test_a_list(run):
    code, out, _ = run("--list")
    assert code == 0
    assert "works                    One that works, about 0.1 min\n" in out
    assert "(only when named)" in out
    assert [one["name"] for one in json.loads(run("--list", "--json")[1])] == [one.name for one in PLAYED]


@pytest.mark.parametrize(
    ("words", "message"),
    [(["--resume"], "--resume goes with --out"), (["--data", "nowhere"], "--data must be a folder; got nowhere")],
)
def test_wrong_usage(run, words, message):
    code, _, err = run(*words)
    assert code == 2
    assert message in " ".join(err.replace("│", " ").split())


def test_an_unknown_comparison(command_line):
    code, _, err = command_line("bench", "nothing")
    assert code == 2
    assert "must be one of path-angles" in " ".join(err.replace("│", " ").split())
