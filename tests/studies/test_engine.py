"""Cells: computed once, in any order and number of processes, whatever interrupts the run."""

import json
import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from multiprocessing import active_children

import pytest

import conformio as cio
from conformio.studies import cell_store, engine
from conformio.studies.cell_store import CellStore, fingerprint, write_whole
from conformio.studies.engine import Cell, run_cells

CALLS = []


def squares(n, seed=0):
    CALLS.append((n, seed))
    return [{"n": n, "square": n * n, "third": n / 3, "none": None, "text": "a"}]


def broken(n):
    raise ValueError(f"cell {n}")


def endless(n):
    time.sleep(600.0)
    return []


def cells(*numbers):
    return [Cell(squares, {"n": n}, seconds=n + 1.0) for n in numbers]


@pytest.fixture
def store(tmp_path):
    CALLS.clear()
    return CellStore(tmp_path / "cells", "code")


def test_rows_come_in_the_order_of_the_cells(store):
    rows = run_cells(cells(3, 1, 2), store)
    assert [row["square"] for (row,) in rows] == [9, 1, 4]


def test_a_finished_cell_is_never_computed_again(store):
    first = run_cells(cells(3, 1), store)
    again = run_cells(cells(1, 3, 5), store)
    assert CALLS == [(3, 0), (1, 0), (5, 0)]
    assert again[:2] == first[::-1]


def test_equal_cells_are_computed_once(store):
    rows = run_cells(cells(2, 2), store)
    assert rows[0] == rows[1]
    assert CALLS == [(2, 0)]


def test_parallel_equals_serial(store, tmp_path):
    serial = run_cells(cells(1, 2, 3), store)
    other = CellStore(tmp_path / "other", "code")
    assert run_cells(cells(1, 2, 3), other, workers=2) == serial
    assert {path.name: path.read_bytes() for path in store.folder.iterdir()} == {
        path.name: path.read_bytes() for path in other.folder.iterdir()
    }


def test_what_a_failing_run_finished_is_kept(store):
    with pytest.raises(ValueError, match="cell 7"):
        run_cells([*cells(1, 2), Cell(broken, {"n": 7})], store)
    run_cells(cells(1, 2), store)
    assert CALLS == [(1, 0), (2, 0)]


def test_a_failing_run_does_not_wait_for_its_other_cells(store):
    start = time.monotonic()
    with pytest.raises(ValueError, match="cell 7"):
        run_cells([Cell(endless, {"n": 1}, seconds=9.0), Cell(broken, {"n": 7})], store, workers=2)
    assert time.monotonic() - start < 300.0
    assert not active_children()


def test_cells_that_measure_time_come_last(store):
    run_cells([Cell(squares, {"n": 1}, alone=True), Cell(squares, {"n": 2})], store)
    assert CALLS == [(2, 0), (1, 0)]


def test_progress_counts_finished_cells_and_estimates_the_rest(store):
    seen = []
    run_cells(cells(1), store)
    run_cells(cells(1, 2, 3), store, report=seen.append)
    assert [(p.done, p.total) for p in seen] == [(1, 3), (2, 3), (3, 3)]
    assert seen[0].seconds_left is None
    assert seen[1].seconds_left > 0.0
    assert seen[2].seconds_left == 0.0
    assert [p.label for p in seen] == ["starting", "squares", "squares"]


def test_a_worker_ends_when_its_parent_does(monkeypatch):
    waited, ended = [], []
    monkeypatch.setattr(engine.connection, "wait", waited.append)
    monkeypatch.setattr(engine.os, "_exit", ended.append)
    engine._watch(3)
    assert (waited, ended) == ([[3]], [1])


def test_only_a_worker_watches(monkeypatch):
    started = []

    class Watcher:
        def __init__(self, target, args, daemon):
            assert daemon
            self.args = args

        def start(self):
            started.append(self.args)

    monkeypatch.setattr(engine, "Thread", Watcher)
    monkeypatch.setattr(engine, "parent_process", lambda: None)
    engine._end_with_parent()
    assert started == []
    monkeypatch.setattr(engine, "parent_process", lambda: type("Parent", (), {"sentinel": 5}))
    engine._end_with_parent()
    assert started == [(5,)]


class TestStore:
    def test_names_depend_on_function_settings_and_code(self, store, tmp_path):
        other = CellStore(tmp_path / "cells", "other code")
        keys = {
            store.key("a", {"n": 1}),
            store.key("b", {"n": 1}),
            store.key("a", {"n": 2}),
            other.key("a", {"n": 1}),
        }
        assert len(keys) == 4
        assert store.key("a", {"n": 1, "m": 2}) == store.key("a", {"m": 2, "n": 1})

    @pytest.mark.parametrize(
        "content", [b"", b"{", b"[]", b'{"settings": {"n": 1}, "rows": 3}', b'{"settings": {"n": 2}, "rows": []}']
    )
    def test_a_damaged_file_is_computed_again(self, store, content):
        run_cells(cells(1), store)
        (path,) = store.folder.iterdir()
        whole = path.read_bytes()
        path.write_bytes(content)
        run_cells(cells(1), store)
        assert CALLS == [(1, 0), (1, 0)]
        assert path.read_bytes() == whole

    def test_rows_that_were_altered_are_computed_again(self, store):
        run_cells(cells(2), store)
        (path,) = store.folder.iterdir()
        held = json.loads(path.read_bytes())
        held["rows"][0] = dict.fromkeys(held["rows"][0], 7)
        path.write_text(json.dumps(held))
        assert store.load("squares", {"n": 2}) is None

    def test_numbers_survive_exactly(self, store):
        store.save("a", {}, [{"third": 1 / 3, "none": None, "true": True}])
        assert store.load("a", {}) == [{"third": 1 / 3, "none": None, "true": True}]

    def test_numbers_that_are_none_are_refused(self, store):
        with pytest.raises(ValueError, match="JSON compliant"):
            store.save("a", {}, [{"x": float("nan")}])
        assert list(store.folder.iterdir()) == []

    def test_what_killed_runs_left_is_removed_and_what_others_write_is_not(self, store):
        process = subprocess.Popen([sys.executable, "-c", ""])
        process.wait()
        dead = store.folder / f".partial-{process.pid}-0"
        alive, other = store.folder / f".partial-{os.getpid()}-99", store.folder / "notes.txt"
        for path in (dead, alive, other):
            path.write_bytes(b"half")
        CellStore(store.folder, "code")
        assert not dead.exists()
        assert alive.exists()
        assert other.exists()

    def test_a_process_of_others_counts_as_running(self, monkeypatch):
        def refuse(process, signal_number):
            raise PermissionError

        monkeypatch.setattr(cell_store.os, "kill", refuse)
        assert cell_store._runs(1)

    def test_a_folder_that_cannot_be_made_is_named(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(cio.InvalidInputError, match=r"`out` of reproduce: must be a folder that can be made"):
            CellStore(tmp_path / "file" / "cells")

    def test_a_folder_that_cannot_be_written_is_named_and_left_clean(self, tmp_path):
        (tmp_path / "taken").mkdir()
        with pytest.raises(cio.InvalidInputError, match="must be a folder that can be written"):
            write_whole(tmp_path / "taken", b"a file over a folder")
        assert [path.name for path in tmp_path.iterdir()] == ["taken"]

    def test_what_is_stored_says_what_it_is(self, store):
        run_cells(cells(2), store)
        (path,) = store.folder.iterdir()
        held = json.loads(path.read_bytes())
        assert (held["cell"], held["settings"], held["code"]) == ("squares", {"n": 2}, "code")


class TestFingerprint:
    @pytest.fixture
    def package(self, monkeypatch, tmp_path):
        for name in ("model.py", "studies/engine.py", "studies/findings/verdicts.py", "cli/reproduce.py"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("1")
        monkeypatch.setattr(cell_store.conformio, "__file__", str(tmp_path / "__init__.py"))
        fingerprint.cache_clear()
        yield tmp_path
        fingerprint.cache_clear()

    @pytest.mark.parametrize(
        ("name", "counts"),
        [
            ("model.py", True),
            ("studies/engine.py", True),
            ("studies/findings/verdicts.py", False),
            ("cli/reproduce.py", False),
        ],
    )
    def test_what_computes_counts_and_what_shows_does_not(self, package, name, counts):
        before = fingerprint()
        (package / name).write_text("2")
        fingerprint.cache_clear()
        assert (fingerprint() != before) == counts


KILLED = """
import sys, time
from pathlib import Path
from conformio.studies.cell_store import CellStore
from conformio.studies.engine import Cell, run_cells
sys.path.insert(0, {here!r})
from slow_cells import slow

if __name__ == "__main__":
    store = CellStore(Path({folder!r}), "code")
    run_cells([Cell(slow, {{"n": n, "log": {log!r}}}) for n in range(4)], store, workers=2)
"""
SLOW = """
import time
def slow(n, log):
    with open(log, "a") as stream:
        stream.write(f"{n}\\n")
    time.sleep(0.3)
    return [{"n": n}]
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
def test_a_killed_run_goes_on_where_it_stood_and_ends_with_the_same_bytes(tmp_path, monkeypatch):
    (tmp_path / "slow_cells.py").write_text(SLOW)
    log, folder, whole = tmp_path / "log", tmp_path / "cells", tmp_path / "whole"

    script = tmp_path / "run.py"
    script.write_text(KILLED.format(here=str(tmp_path), folder=str(folder), log=str(log)))
    process = subprocess.Popen([sys.executable, str(script)])
    while not list(folder.glob("slow-*.json")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    finished = {path.name: path.stat().st_mtime_ns for path in folder.glob("slow-*.json")}
    assert 1 <= len(finished) < 4
    log.write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    cells = [Cell(import_module("slow_cells").slow, {"n": n, "log": str(log)}) for n in range(4)]
    run_cells(cells, CellStore(folder, "code"))
    assert len(log.read_text().split()) == 4 - len(finished)
    assert finished.items() <= {path.name: path.stat().st_mtime_ns for path in folder.glob("slow-*.json")}.items()
    run_cells(cells, CellStore(whole, "code"))
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == {p.name: p.read_bytes() for p in whole.iterdir()}
