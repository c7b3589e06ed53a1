"""Records of runs: their shape, what resumes, what a failure leaves behind, and the arithmetic of ratios."""

import json
from dataclasses import replace

import numpy as np
import pytest
from bench_records import ALL, works

import conformio as cio
from conformio.studies.benchmarks import (
    COMPARISONS,
    Check,
    Settings,
    SkippedError,
    Target,
    Timing,
    chosen_comparisons,
    load_results,
    measuring,
    new_results,
    own_process,
    run_comparisons,
    settings,
    store_results,
)
from conformio.studies.benchmarks.measuring import Side, peak_memory, race
from conformio.studies.benchmarks.results import duration, fitted_exponent, ratio


def record(path=None, chosen=ALL):
    return run_comparisons(chosen, Settings(quick=True), new_results("conformio bench", Settings(quick=True)), path)


def test_every_comparison_leaves_an_entry(tmp_path):
    heard = []
    results = new_results("conformio bench", Settings())
    run_comparisons(ALL, Settings(), results, tmp_path / "r.json", lambda name, share: heard.append((name, share)))
    found = json.loads((tmp_path / "r.json").read_text())["comparisons"]
    assert {name: one["status"] for name, one in found.items()} == {
        "works": "done", "differs": "done", "skips": "skipped", "fails": "failed",
    }  # fmt: skip
    assert found["skips"]["reason"] == "peer is not installed; pip install peer"
    assert found["fails"]["reason"] == "ZeroDivisionError: seven by nothing"
    assert "bench_records.py" in found["fails"]["traceback"]
    assert [name for name, _ in heard] == [one.name for one in ALL]
    assert heard[0][1] == 0.0
    assert heard[-1][1] == pytest.approx(0.75)
    assert not list(tmp_path.glob(".*partial*"))


def test_entries_hold_lines_timings_checks_curves_and_facts():
    one = record()["comparisons"]["works"]
    line, memory, free = one["lines"]
    assert (line["value"], line["low"], line["high"]) == pytest.approx(
        (150.0, 2 / 10 / (0.3 / 100), 4 / 10 / (0.1 / 100))
    )
    assert [line["met"], memory["met"], free["met"]] == [True, False, None]
    assert one["timings"][0]["seconds"] == (2.0, 4.0, 3.0)
    assert one["timings"][0]["median"] == pytest.approx(0.3)
    assert one["checks"] == [{"what": "values", "value": 1e-9, "limit": 1e-6, "holds": True}]
    assert one["curves"][0]["exponent"] == 0.5
    assert one["facts"] == {"rows": 10}


def test_a_line_whose_answers_differ_is_not_met():
    one = record()["comparisons"]["differs"]
    assert not one["agree"]
    assert one["lines"][0]["met"] is False


def test_a_record_says_where_it_was_made():
    results = new_results("conformio bench x", Settings(quick=True))
    assert results["command"] == "conformio bench x"
    assert results["versions"]["conformio"]
    assert results["machine"]["cores"] >= 1
    assert results["threads"]["HiGHS"] == 1
    assert results["quick"]


def test_finished_comparisons_are_kept_and_others_made_again(tmp_path):
    path = tmp_path / "r.json"
    record(path)
    held = load_results([path])
    held["comparisons"]["works"]["facts"] = {"kept": True}
    held["comparisons"]["differs"]["status"] = "failed"
    again = run_comparisons(ALL, Settings(), held, path)
    assert again["comparisons"]["works"]["facts"] == {"kept": True}
    assert again["comparisons"]["differs"]["status"] == "done"


def test_a_process_that_dies_leaves_the_name_of_what_it_did(tmp_path):
    def dies(settings):
        raise KeyboardInterrupt

    chosen = [ALL[0], replace(ALL[1], run=dies)]
    with pytest.raises(KeyboardInterrupt):
        record(tmp_path / "r.json", chosen)
    found = load_results([tmp_path / "r.json"])["comparisons"]
    assert found["works"]["status"] == "done"
    assert found["differs"] == {"title": "Other answers", "status": "failed", "reason": "the process ended in it"}


def test_records_of_one_machine_are_joined(tmp_path):
    record(tmp_path / "a.json", ALL[:1])
    other = record(None, ALL[1:])
    other["command"] = "conformio bench more"
    store_results(other, tmp_path / "b.json")
    joined = load_results([tmp_path / "a.json", tmp_path / "b.json"])
    assert list(joined["comparisons"]) == [one.name for one in ALL]
    assert joined["command"] == "conformio bench\nconformio bench more"
    other["versions"] = {"conformio": "0"}
    store_results(other, tmp_path / "b.json")
    with pytest.raises(cio.InvalidInputError, match="must hold records of the same versions"):
        load_results([tmp_path / "a.json", tmp_path / "b.json"])


@pytest.mark.parametrize("text", ["", "[]", '{"format": 2}', '{"format": 1, "comparisons": []}'])
def test_other_files_are_refused(tmp_path, text):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(cio.InvalidInputError, match="must be a record that conformio bench wrote"):
        load_results([tmp_path / "r.json"])


def test_no_file_is_refused():
    with pytest.raises(cio.InvalidInputError, match="must name at least one file"):
        load_results([])


def test_numbers_that_json_has_not_become_null(tmp_path):
    store_results(
        {"a": float("nan"), "b": np.float64(2.0), "c": (np.inf,), "d": np.bool_(True), "e": None}, tmp_path / "r"
    )
    assert json.loads((tmp_path / "r").read_text()) == {"a": None, "b": 2.0, "c": [None], "d": True, "e": None}


def test_ratios_are_of_medians_an_item_and_their_extremes():
    over, under = Timing("over", (10.0, 30.0, 20.0), 10), Timing("under", (1.0, 4.0, 2.0), 2)
    line = ratio("work", over, under)
    assert (line.value, line.low, line.high) == (2.0 / 1.0, 1.0 / 2.0, 3.0 / 0.5)
    assert line.baseline == "over"
    assert ratio("work", over, under, None, "other").baseline == "other"
    alone = duration("work", over)
    assert (alone.value, alone.low, alone.high, alone.unit) == (20.0, 10.0, 30.0, "s")


def test_targets_include_their_bound():
    assert Target("at least", 3.0).met(3.0)
    assert not Target("at least", 3.0).met(2.9)
    assert Target("at most", 3.0).met(3.0)
    assert not Target("at most", 3.0).met(3.1)
    assert not Check("values", float("nan"), 1.0).holds


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.3])
def test_exponents_of_power_laws_are_found(exponent):
    sizes = np.array([10, 100, 1000, 30_000])
    assert fitted_exponent(sizes, 3e-6 * sizes**exponent) == pytest.approx(exponent, abs=1e-12)


def test_sides_take_turns_and_first_runs_do_not_count():
    order = []
    timed = race({"a": Side(lambda: order.append("a"), 5), "b": Side(lambda: order.append("b"), 1, 1, warm=False)}, 2)
    assert order == ["a", "a", "b", "a"]
    assert [len(timed[name].seconds) for name in "ab"] == [2, 1]
    assert timed["a"].items == 5


def test_peaks_of_memory_are_seen():
    before = peak_memory(lambda: None)
    peak = peak_memory(lambda: np.ones(40 * 2**17))
    assert before is None or peak - before == pytest.approx(40.0, abs=15.0)


def test_peaks_without_a_proc_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(measuring, "_RESET", tmp_path / "absent")
    assert peak_memory(lambda: None) > 1.0
    monkeypatch.setattr(measuring.sys, "platform", "darwin")
    assert peak_memory(lambda: None) > 0.0
    monkeypatch.setitem(measuring.sys.modules, "resource", None)
    assert peak_memory(lambda: None) is None


def test_a_status_without_a_peak(monkeypatch, tmp_path):
    (tmp_path / "status").write_text("Name: x\n")
    monkeypatch.setattr(measuring, "_STATUS", tmp_path / "status")
    monkeypatch.setattr(measuring, "_RESET", tmp_path / "status")
    assert peak_memory(lambda: None) is None


def test_networks_are_found_or_the_reason_told(tmp_path):
    with pytest.raises(SkippedError, match=r"pass --data with Small_net\.tntp"):
        Settings().network("Small")
    with pytest.raises(SkippedError, match=r"there is no Small_net\.tntp"):
        Settings(data=tmp_path).network("Small")


def test_peers_are_loaded_or_the_command_told():
    assert settings.peer("json", "-") is json
    with pytest.raises(SkippedError, match=r"no_such_peer cannot be imported .*; pip install no_such_peer"):
        settings.peer("no_such_peer", "pip install no_such_peer")
    own_process.need_installed("json", "-")
    with pytest.raises(SkippedError, match="no_such_peer is not installed; pip install it"):
        own_process.need_installed("no_such_peer", "pip install it")


def test_work_in_another_process():
    assert own_process.in_own_process(works, Settings()).facts == {"rows": 10}


def test_names_choose_comparisons_in_their_order():
    names = [one.name for one in COMPARISONS]
    assert len(set(names)) == len(names)
    assert [one.name for one in chosen_comparisons([names[3], names[1]])] == [names[1], names[3]]
    assert [one.name for one in chosen_comparisons([])] == [one.name for one in COMPARISONS if one.by_default]
    with pytest.raises(cio.InvalidInputError, match="`names` of conformio bench: must be one of path-angles"):
        chosen_comparisons(["nothing"])
