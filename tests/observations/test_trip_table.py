"""Trips from tables: every format and kind of name gives the same decisions, every fault is found and counted."""

import csv
import json
import os
import sys
from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformio.errors import FaultyRowsError, InvalidInputError
from conformio.networks import Network
from conformio.observations import TripTable, sources
from conformio.observations.growing import GrowingArray
from conformio.problems import ShortestPath

GRID = Network.grid(4, 4)
LABELS = {
    "numbers": None,
    "whole": [100 + 7 * k for k in range(16)],
    "large": [2**53 + 1 + k for k in range(16)],
    "text": [f"Place {k}" for k in range(16)],
    "zeros": [f"{k:03d}" for k in range(16)],
    "tuples": [(k // 4, k % 4) for k in range(16)],
}


def named(kind):
    edges = None if LABELS[kind] is None else [f"e{k}" for k in range(GRID.n_edges)]
    if kind == "tuples":
        edges = [(*LABELS[kind][t], *LABELS[kind][h], 0) for t, h in zip(GRID.tails, GRID.heads, strict=True)]
    if kind == "whole":
        edges = list(range(500, 500 + GRID.n_edges))
    return Network(GRID.tails, GRID.heads, 16, {"t": np.ones(48)}, node_ids=LABELS[kind], edge_ids=edges)


def walks(n, seed=0):
    """Random simple paths as lists of edges."""
    rng = np.random.default_rng(seed)
    ends = np.array([rng.choice(16, 2, replace=False) for _ in range(n)])
    routes = ShortestPath(GRID).solve(rng.uniform(1, 2, (n, 48)), ends)
    return [path.tolist() for path in GRID.paths_from_decisions(routes)]


def listed(network, paths, steps):
    """The same paths by name."""
    if steps == "edges":
        return [[e if network.edge_ids is None else network.edge_ids.tolist()[e] for e in path] for path in paths]
    names = list(range(16)) if network.node_ids is None else network.node_ids.tolist()
    return [[names[network.tails[path[0]]], *(names[network.heads[e]] for e in path)] for path in paths]


def written(name):
    return "-".join(map(str, name)) if isinstance(name, tuple) else str(name)


def source(kind, lists, folder):
    """The trips in one of the forms in which people keep them."""
    ids = [f"trip {k}" for k in range(len(lists))]
    text = [";".join(map(written, names)) for names in lists]
    if kind == "parquet lists":
        pq.write_table(pa.table({"id": ids, "path": lists}), folder / "t.parquet", row_group_size=7)
    elif kind == "parquet text":
        pq.write_table(pa.table({"id": ids, "path": pa.array(text).dictionary_encode()}), folder / "t.parquet")
    elif kind == "csv":
        pd.DataFrame({"id": ids, "path": text}).to_csv(folder / "t.csv", index=False)
        return folder / "t.csv"
    elif kind == "csv of Python lists":
        pd.DataFrame({"id": ids, "path": [str(names) for names in lists]}).to_csv(folder / "t.csv", index=False)
        return folder / "t.csv"
    elif kind == "pandas":
        return pd.DataFrame({"id": ids, "path": lists}, index=np.arange(len(ids))[::-1])
    elif kind == "arrow":
        return pa.table({"id": ids, "path": pa.array(lists, pa.large_list(pa.array(lists[0]).type))})
    elif kind == "folder":
        (folder / "many").mkdir()
        for part, rows in (("a", slice(0, 11)), ("b", slice(11, None))):
            pq.write_table(pa.table({"id": ids[rows], "path": lists[rows]}), folder / "many" / f"{part}.parquet")
        return folder / "many"
    return folder / "t.parquet"


SOURCES = ["parquet lists", "parquet text", "csv", "csv of Python lists", "pandas", "arrow", "folder"]


@pytest.mark.parametrize("steps", ["nodes", "edges"])
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("kind", SOURCES)
def test_every_form_gives_the_same_decisions(kind, labels, steps, tmp_path):
    network, paths = named(labels), walks(20)
    lists = listed(network, paths, steps)
    trips = TripTable(network, steps=steps, row_id="id").read(source(kind, lists, tmp_path))
    wanted = GRID.decisions_from_paths(paths)
    np.testing.assert_array_equal(trips.decisions.toarray(), wanted.toarray())
    np.testing.assert_array_equal(trips.contexts, [[GRID.tails[p[0]], GRID.heads[p[-1]]] for p in paths])
    assert trips.ids.to_pylist() == [f"trip {k}" for k in range(20)]
    assert trips.report.n_used == trips.report.n_rows == 20
    np.testing.assert_array_equal(trips.rows, np.arange(20))


def test_decisions_are_small_and_canonical():
    trips = TripTable(GRID).read(pa.table({"path": listed(GRID, walks(30), "nodes")}))
    flows = trips.decisions
    assert (flows.data.dtype, flows.indices.dtype, flows.indptr.dtype) == (np.int8, np.int32, np.int32)
    again = flows.copy()
    again.has_canonical_format = False
    again.has_sorted_indices = False
    again.sum_duplicates()
    np.testing.assert_array_equal(again.indices, flows.indices)


@pytest.mark.parametrize("kind", ["parquet lists", "csv"])
def test_streaming_equals_reading_at_once(kind, tmp_path, monkeypatch):
    network = named("text")
    table, path = TripTable(network, row_id="id"), source(kind, listed(network, walks(60), "nodes"), tmp_path)
    whole = table.read(path)
    monkeypatch.setattr(sources, "_BLOCK_BYTES", 400)
    monkeypatch.setattr(sources.batches, "__defaults__", (7,))
    parts = table.read(path)
    assert len(list(sources.batches(path, "here"))) > 5
    np.testing.assert_array_equal(parts.decisions.toarray(), whole.decisions.toarray())
    np.testing.assert_array_equal(parts.contexts, whole.contexts)
    assert parts.ids.to_pylist() == whole.ids.to_pylist()


def looked_up(values):
    return pa.array(values).dictionary_encode()


@pytest.mark.parametrize(
    "column",
    [
        looked_up(["A;B;C", "A;C"]),
        pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.uint8()), pa.array(["A;C", "A;B;C"], pa.string_view())),
        pa.array(["A;B;C", "A;C"], pa.string_view()),
        pa.array(["A;B;C", "A;C"], pa.large_string()),
        pa.array([["A", "B", "C"], ["A", "C"]], pa.list_view(pa.string())),
        pa.array([["A", "B", "C"], ["A", "C"]], pa.large_list_view(pa.string_view())),
        pa.ListArray.from_arrays([0, 3, 5], looked_up(["A", "B", "C", "A", "C"])),
    ],
    ids=lambda column: str(column.type).split("<")[0],
)
def test_columns_of_every_kind_of_text_and_list(column, tmp_path):
    network = Network([0, 1, 0], [1, 2, 2], node_ids=["A", "B", "C"])
    table = TripTable(network)
    seen = table.read(pa.table({"path": column}))
    assert seen.decisions.toarray().tolist() == [[1, 1, 0], [0, 0, 1]]
    fewer = TripTable(Network([0], [2], node_ids=["A", "Q", "C"]))
    again = fewer.read(pa.table({"path": column}), on_bad="skip", skipped=tmp_path / "left.csv")
    assert again.contexts.tolist() == [[0, 2]]
    assert "'B' at step 1" in (tmp_path / "left.csv").read_text()


def test_lists_with_gaps_and_of_parts_of_tables():
    network = Network([0, 1, 0], [1, 2, 2], node_ids=["A", "B", "C"])
    lists = [["A", "B"], None, ["A", "C"], ["B", "C"]]
    offsets, mask = [0, 2, 2, 4, 6], pa.array([False, True, False, False])
    column = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), looked_up([*"ABACBC"]), mask=mask)
    assert column.to_pylist() == lists
    with pytest.raises(FaultyRowsError, match=r"missing path in 1 row \(row 1"):
        TripTable(network).read(pa.table({"path": column}))
    part = pa.table({"path": column}).slice(2)
    assert TripTable(network).read(part).contexts.tolist() == [[0, 2], [1, 2]]


def test_lists_of_one_length_are_lists():
    network = Network([0, 1, 0], [1, 2, 2], node_ids=[10, 20, 30])
    column = pa.array([[10, 20], [10, 30]], pa.list_(pa.int8(), 2))
    assert TripTable(network).read(pa.table({"path": column})).contexts.tolist() == [[0, 1], [0, 2]]


@pytest.mark.parametrize("place", ["trips.csv", "folder/left.csv"])
def test_rows_left_out_never_replace_the_table(place, tmp_path):
    """Neither the file that is read, nor a file that the next reading of its folder would take for trips."""
    table = TripTable(Network([0, 1], [1, 2], node_ids=["A", "B", "C"]))
    text = "path\nA;B\nA;Q\n"
    (tmp_path / "folder").mkdir()
    for name in ("trips.csv", "folder/trips.csv"):
        (tmp_path / name).write_text(text)
    source = tmp_path / place if place == "trips.csv" else tmp_path / "folder"
    skipped = tmp_path / "folder" / ".." / place
    with pytest.raises(InvalidInputError, match=r"`skipped` of TripTable\.read: must be a file apart from the table"):
        table.read(source, on_bad="skip", skipped=skipped)
    assert (tmp_path / "trips.csv").read_text() == text
    assert len(table.read(source, on_bad="skip", skipped=tmp_path / "left.csv")) == 1


@pytest.mark.parametrize("labels", LABELS)
def test_outputs_are_inputs(labels):
    """What is written in names is read back as the same decisions."""
    network, paths = named(labels), walks(25, seed=3)
    table = TripTable(network)
    decisions = GRID.decisions_from_paths(paths)
    columns = table.decision_columns(decisions, "best_")
    frame = pa.table(columns)
    for steps in ("nodes", "edges"):
        again = TripTable(network, path=f"best_{steps}", steps=steps).read(frame)
        np.testing.assert_array_equal(again.decisions.toarray(), decisions.toarray())
        ends = pa.table(table.context_columns(again.contexts))
        np.testing.assert_array_equal(table.read_contexts(ends).contexts, again.contexts)


class TestSeparators:
    @pytest.mark.parametrize("separator", [";", "|", ",", " -> ", " > ", "; ", " ", "/", "\t", "-"])
    def test_they_are_found(self, separator):
        text = [separator.join(map(str, names)) for names in listed(GRID, walks(9), "nodes")]
        trips = TripTable(GRID).read(pa.table({"path": text}))
        np.testing.assert_array_equal(trips.decisions.toarray(), GRID.decisions_from_paths(walks(9)).toarray())

    def test_any_other_is_given(self):
        text = ["::".join(map(str, names)) for names in listed(GRID, walks(9), "nodes")]
        with pytest.raises(InvalidInputError, match=r"`separator` of .*: must be written as names parted by one of"):
            TripTable(GRID).read(pa.table({"path": text}))
        assert len(TripTable(GRID, separator="::").read(pa.table({"path": text}))) == 9

    def test_two_readings_are_an_error(self):
        with pytest.raises(InvalidInputError, match=r"could be parted in more than one way \(';' '\|'\)"):
            TripTable(GRID).read(pa.table({"path": ["0;1", "1|2"]}))

    def test_names_with_outer_spaces_are_left_alone(self):
        network = Network([0], [1], node_ids=["a ", " b"])
        assert len(TripTable(network).read(pa.table({"path": ["a ; b"]}))) == 1

    def test_nothing_is_no_separator(self):
        with pytest.raises(InvalidInputError, match=r"`separator` of .*: must be one or more characters; got ''"):
            TripTable(GRID, separator="").read(pa.table({"path": ["0;1"]}))


def roads():
    """Two parallel edges from A to B, and the zone D."""
    return Network(
        [0, 1, 2, 0, 3, 0, 2],
        [1, 2, 3, 3, 0, 1, 0],
        attributes={"minutes": [1, 2, 3, 4, 5, 0.5, 1]},
        zones=[False, False, False, True],
        node_ids=["A", "B", "C", "D"],
        edge_ids=["ab", "bc", "cd", "ad", "da", "ab2", "ca"],
    )


FAULTY = [
    ("A;B;C", None),
    (None, "missing path"),
    ("", "missing path"),
    ("A;;C", "missing step"),
    ("A;X;Y", "unknown name"),
    ("B;D", "broken path"),
    ("A;A;D", "standing still"),
    ("A", "closed trip"),
    ("C;A;C;A", "against one way"),
    ("C;A;B;C;D", "loop"),
    ("C;A;B;C", "closed trip"),
    ("C;A;D", None),
    ("B;C;D;A", "crossed zone"),
    ("A;B;C;A;B;C;D", "repeated edge"),
]


class TestFaults:
    def table(self, **options):
        return TripTable(roads(), parallel="minutes", **options)

    def csv(self, folder):
        with (folder / "t.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["id", "path"], *([k, path or ""] for k, (path, _) in enumerate(FAULTY))])
        return folder / "t.csv"

    def test_all_are_reported_at_once(self, tmp_path):
        with pytest.raises(FaultyRowsError, match=r"`source` of TripTable.read: 2 of 14 rows are free of") as caught:
            self.table().read(self.csv(tmp_path))
        found = {fault.kind: fault for fault in caught.value.report.faults}
        for kind in {kind for _, kind in FAULTY if kind}:
            rows = [row for row, (_, wanted) in enumerate(FAULTY) if wanted == kind]
            assert set(rows) <= {row for row, _ in found[kind].examples}, kind
        assert found["missing path"].count == 2
        assert found["loop"].count == 2  # the repeated edge as well
        for words in (
            "'X' at step 1",
            "Names of nodes are like 'A'",
            "'B' at step 0 is followed by 'D'",
            "node 'C' again",
        ):
            assert words in str(caught.value), words
        assert "edge 'ab2' again" in str(caught.value) or "edge 'bc' again" in str(caught.value)

    def test_skipped_rows_are_kept_with_their_reasons(self, tmp_path):
        trips = self.table(row_id="id").read(self.csv(tmp_path), on_bad="skip", skipped=tmp_path / "bad.csv")
        assert trips.ids.to_pylist() == ["0", "11"]
        assert trips.rows.tolist() == [0, 11]
        with (tmp_path / "bad.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert [int(row["row"]) for row in rows] == [k for k, (_, kind) in enumerate(FAULTY) if kind]
        for row in rows:
            path, kind = FAULTY[int(row["row"])]
            assert row["path"] == (path or "")
            assert kind in row["reasons"]
        assert trips.report.skipped == tmp_path / "bad.csv"
        assert "bad.csv" in str(trips.report)
        assert json.loads(json.dumps(trips.report.to_dict()))["n_used"] == 2

    def test_an_older_file_stays_until_all_rows_are_read(self, tmp_path, monkeypatch):
        skipped = tmp_path / "bad.csv"
        skipped.write_text("older")

        def stopped(*arguments):
            assert skipped.read_text() == "older"
            assert len(list(tmp_path.iterdir())) == 2
            raise KeyboardInterrupt

        columns = pa.table({"path": ["A;D", "A;Nowhere"]})
        with monkeypatch.context() as patch:
            patch.setattr(GrowingArray, "extend", stopped)
            with pytest.raises(KeyboardInterrupt):
                self.table().read(columns, on_bad="skip", skipped=skipped)
        assert skipped.read_text() == "older"
        self.table().read(columns, on_bad="skip", skipped=skipped)
        assert "Nowhere" in skipped.read_text()
        assert list(tmp_path.iterdir()) == [skipped]

    def test_rows_left_out_may_go_to_a_device_or_nowhere(self, tmp_path):
        columns = pa.table({"path": ["A;D", "A;Nowhere"]})
        assert len(self.table().read(columns, on_bad="skip", skipped=os.devnull)) == 1
        with pytest.raises(InvalidInputError, match=r"`skipped`.*must be a file that can be written; got Is a dir"):
            self.table().read(columns, on_bad="skip", skipped=tmp_path)

    @pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs a device that is always full")
    def test_a_disk_that_fills_up_is_told(self):
        columns = pa.table({"path": ["A;D", "A;Nowhere"]})
        with pytest.raises(InvalidInputError, match=r"`skipped`.*must be a file that can be written; got No space"):
            self.table().read(columns, on_bad="skip", skipped="/dev/full")

    def test_no_fault_no_file(self, tmp_path):
        self.table().read(pa.table({"path": ["A;D"]}), on_bad="skip", skipped=tmp_path / "bad.csv")
        assert not (tmp_path / "bad.csv").exists()

    def test_ids_are_complete_and_unique(self):
        frame = pa.table({"id": [5, 6, None, 5, 5], "path": ["A;D"] * 5})
        with pytest.raises(FaultyRowsError) as caught:
            self.table(row_id="id").read(frame)
        assert {f.kind: f.examples for f in caught.value.report.faults} == {
            "duplicate row id": ((3, "5 again"), (4, "5 again")),
            "missing row id": ((2, "no id"),),
        }

    def test_streets_written_one_way_only_are_told_from_gaps(self):
        ways = Network([0, 1], [1, 2], node_ids=["A", "B", "C"])
        with pytest.raises(FaultyRowsError) as caught:
            TripTable(ways).read(pa.table({"path": ["A;B;C", "C;B;A", "A;C", "B;B"]}))
        rows = {fault.kind: [row for row, _ in fault.examples] for fault in caught.value.report.faults}
        assert rows == {"against one way": [1], "broken path": [2], "standing still": [3]}
        assert "row 1: 'C' at step 0 is followed by 'B'" in str(caught.value)
        assert "a row for each direction" in str(caught.value)

    @pytest.mark.parametrize(("header", "row"), [("id,path", "1,A;\xdc"), ("\xdc,path", "1,A;B")])
    def test_another_encoding_says_which_one_is_read(self, tmp_path, header, row):
        (tmp_path / "t.csv").write_bytes(f"{header}\n{row}\n".encode("cp1252"))
        with pytest.raises(InvalidInputError, match=r"must be a readable table; got .*Save it in the encoding UTF-8"):
            self.table().read(tmp_path / "t.csv")

    def test_parallel_edges_need_a_choice(self):
        frame = pa.table({"path": ["A;B", "A;D"]})
        with pytest.raises(FaultyRowsError, match=r"ambiguous step in 1 row \(row 0: 'A' at step 0 is followed by 'B'"):
            TripTable(roads()).read(frame)
        chosen = self.table().read(frame).decisions.toarray()
        assert np.flatnonzero(chosen[0]).tolist() == [5]

    def test_faults_of_edges(self):
        lists = [["ab", "bc"], ["ab", "ab2"], ["ad", "da"], ["ca", "zz"], [], ["ab", None], None]
        with pytest.raises(FaultyRowsError) as caught:
            self.table(steps="edges").read(pa.table({"path": lists}))
        kinds = {fault.kind: [row for row, _ in fault.examples] for fault in caught.value.report.faults}
        assert kinds == {
            "broken path": [1],
            "closed trip": [2],
            "crossed zone": [2],
            "unknown name": [3],
            "empty path": [4],
            "missing step": [5],
            "missing path": [6],
        }

    def test_loops_and_zones_may_be_kept(self):
        frame = pa.table({"path": ["C;A;B;C;D", "B;C;D;A"]})
        kept = self.table(allow_loops=True).read(frame, keep_infeasible=True)
        problem = ShortestPath(roads())
        assert problem.is_feasible(kept.decisions.astype(float), kept.contexts).tolist() == [True, False]
        assert problem.network.paths_from_decisions(kept.decisions.astype(float))[0].tolist() == [6, 5, 1, 2]

    def test_stated_ends_must_agree(self):
        frame = pa.table({"path": ["A;D", "A;D", "A;D"], "o": ["A", "B", None], "d": ["D", "D", "D"]})
        with pytest.raises(FaultyRowsError, match=r"ends disagree in 2 rows \(row 1: o 'B', path 'A'; row 2: o None"):
            self.table(origin="o", destination="d").read(frame)

    def test_counts_do_not_depend_on_batches(self, tmp_path, monkeypatch):
        paths = [path for path, _ in FAULTY] * 9
        frame = pa.table({"path": paths})
        reports = []
        for size in (1000, 5, 1):
            monkeypatch.setattr(sources.batches, "__defaults__", (size,))
            with pytest.raises(FaultyRowsError) as caught:
                self.table().read(frame)
            reports.append(caught.value.report)
        assert reports[0] == reports[1] == reports[2]
        assert {f.kind: f.count for f in reports[0].faults}["unknown name"] == 9

    def test_random_lists_against_a_plain_check(self):
        network, rng = roads(), np.random.default_rng(5)
        lists = [[str(s) for s in rng.choice(list("ABCDX"), rng.integers(1, 6))] for _ in range(400)]
        trips_log = []
        with pytest.raises(FaultyRowsError) as caught:
            TripTable(network, parallel="minutes").read(pa.table({"path": lists}))
        good = [row for row, names in enumerate(lists) if plain_verdict(network, names)]
        assert caught.value.report.n_used == len(good)
        fine = pa.table({"path": [lists[row] for row in good]})
        trips_log.append(len(TripTable(network, parallel="minutes").read(fine)))
        assert trips_log == [len(good)]
        assert 5 < len(good) < 200


def plain_verdict(network, names):
    """Whether a list of nodes is a simple path of one edge or more that crosses no zone."""
    pairs = {("ABCD"[t], "ABCD"[h]) for t, h in zip(network.tails, network.heads, strict=True)}
    joined = all(pair in pairs for pair in pairwise(names))
    return joined and len(names) > 1 and len(set(names)) == len(names) and "D" not in names[1:-1]


class TestEnds:
    def test_ends_from_columns_or_paths(self):
        table = TripTable(roads())
        frame = pa.table({"origin": ["A", "C"], "destination": ["D", "B"]})
        assert table.read_contexts(frame).contexts.tolist() == [[0, 3], [2, 1]]
        assert table.read_contexts(frame).decisions is None
        assert table.read_contexts(pa.table({"path": ["A;D", "C;A"]})).contexts.tolist() == [[0, 3], [2, 0]]

    def test_faults(self):
        network = Network([0, 1, 3], [1, 2, 0], 4, node_ids=list("ABCD"), zones=[False, True, False, False])
        frame = pa.table(
            {"origin": ["A", "X", None, "A", "B", "A", "D"], "destination": ["B", "A", "B", "A", "C", "C", "B"]}
        )
        with pytest.raises(FaultyRowsError) as caught:
            TripTable(network).read_contexts(frame)
        kinds = {fault.kind: [row for row, _ in fault.examples] for fault in caught.value.report.faults}
        assert kinds == {"unknown node": [1], "missing end": [2], "closed trip": [3], "no way": [5]}
        assert "origin 'A' and destination 'C'" in str(caught.value)

    def test_reach_agrees_with_the_solver(self):
        rng = np.random.default_rng(1)
        network = Network([0, 1, 2, 4, 5, 6, 3, 6], [1, 2, 0, 5, 6, 4, 4, 7], 9, zones=np.arange(9) == 4)
        ends = np.array([[o, d] for o in range(9) for d in range(9) if o != d])[rng.permutation(72)]
        with pytest.raises(FaultyRowsError) as caught:
            TripTable(network).read_contexts(pa.table({"origin": ends[:, 0], "destination": ends[:, 1]}))
        problem, lost = ShortestPath(network), 0
        for pair in ends:
            try:
                problem.solve(np.ones(8), [pair])
            except Exception:
                lost += 1
        assert {f.kind: f.count for f in caught.value.report.faults} == {"no way": lost}


def test_an_osmnx_shaped_graph():
    graph = nx.MultiDiGraph()
    for k, (x, y) in enumerate([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)]):
        graph.add_node(10**10 + k, x=x, y=y)
    a, b, c = graph.nodes
    for u, v, key, length in [(a, b, 0, 5.0), (a, b, 1, 3.0), (b, c, 0, 4.0), (c, a, 0, 9.0)]:
        graph.add_edge(u, v, key, length=length, osmid=key)
    network = Network.from_networkx(graph)
    by_edges = pa.table({"route": [[(a, b, 1), (b, c, 0)], [(c, a, 0)]]})
    trips = TripTable(network, path="route", steps="edges").read(by_edges)
    by_nodes = TripTable(network, path="route", parallel="length").read(pa.table({"route": [[a, b, c], [c, a]]}))
    np.testing.assert_array_equal(trips.decisions.toarray(), [[0, 1, 1, 0], [0, 0, 0, 1]])
    np.testing.assert_array_equal(by_nodes.decisions.toarray(), trips.decisions.toarray())
    written = TripTable(network).decision_columns(trips.decisions)
    assert written["edges"].to_pylist()[0] == [f"{a}-{b}-1", f"{b}-{c}-0"]
    structs = pa.array([[{"u": a, "v": b, "key": 1}]])
    assert len(TripTable(network, path="route", steps="edges").read(pa.table({"route": structs}))) == 1


class TestFiles:
    def read(self, path):
        return TripTable(GRID, row_id="id").read(path)

    def test_lines_that_are_no_rows(self, tmp_path):
        text = "id,path\n1,0;1\n2,0;1,x\n\n3,1;2\n4\n5,2;3\n6,3;2,,\n"
        (tmp_path / "t.csv").write_text(text)
        with pytest.raises(FaultyRowsError, match=r"not a row in 3 rows \(row 1: '2,0;1,x'; row 3: '4'; row 5"):
            self.read(tmp_path / "t.csv")
        trips = TripTable(GRID).read(tmp_path / "t.csv", on_bad="skip", skipped=tmp_path / "s.csv")
        assert trips.rows.tolist() == [0, 2, 4]
        assert (tmp_path / "s.csv").read_text().splitlines()[1] == '1,not a row,"2,0;1,x"'

    def test_cells_are_text_as_written(self, tmp_path):
        network = Network([0, 1], [1, 2], node_ids=["007", "NA", "nan"])
        (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfid,path\n01,007;NA\n1,NA;nan\n")
        trips = TripTable(network, row_id="id").read(tmp_path / "t.csv")
        assert trips.ids.to_pylist() == ["01", "1"]
        assert trips.contexts.tolist() == [[0, 1], [1, 2]]

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("t.csv", b"", "must have a header of different column names"),
            ("t.csv", b"id,id\n1,2\n", "must have a header of different column names"),
            ("t.csv", b"a,b\n1,2\n", "must be one of the columns"),
            ("t.csv", b"id,path\n1,\xff\xfe\n", "must be a readable table"),
            ("t.csv", b"id,path\n", "must hold at least one row to use; got an empty table"),
            ("t.csv", b"\x00\x01\x02", "must be one of the columns|must be a readable table"),
            ("t.parquet", b"PAR1 nonsense PAR1", "must be a readable table"),
            ("t.parquet", b"", "must be a readable table"),
            ("t.txt", b"id,path\n", r"must be a \.csv or \.parquet file"),
        ],
    )
    def test_hostile_files(self, tmp_path, name, content, message):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InvalidInputError, match=f"`(source|row_id)` of TripTable.read: .*(?:{message})"):
            self.read(tmp_path / name)

    def test_truncated_parquet(self, tmp_path):
        pq.write_table(pa.table({"id": range(2000), "path": [[0, 1]] * 2000}), tmp_path / "t.parquet")
        blob = (tmp_path / "t.parquet").read_bytes()
        for cut in (len(blob) // 2, len(blob) - 5):
            (tmp_path / "t.parquet").write_bytes(blob[:cut])
            with pytest.raises(InvalidInputError, match="must be a readable table"):
                self.read(tmp_path / "t.parquet")
        broken = bytearray(blob)
        broken[60:90] = bytes(30)
        (tmp_path / "t.parquet").write_bytes(bytes(broken))
        with pytest.raises(InvalidInputError):
            self.read(tmp_path / "t.parquet")

    def test_missing_files_and_empty_folders(self, tmp_path):
        with pytest.raises(InvalidInputError, match=r"t\.csv: must be a readable table; got no such file"):
            self.read(tmp_path / "t.csv")
        with pytest.raises(InvalidInputError, match=r"must hold \.csv or \.parquet files"):
            self.read(tmp_path)

    def test_files_of_a_folder_must_agree(self, tmp_path):
        (tmp_path / "a.csv").write_text("id,path\n1,0;1\n")
        (tmp_path / "b.csv").write_text("id,way\n1,0;1\n")
        with pytest.raises(
            InvalidInputError, match=r"b\.csv: must have the columns \['id', 'path'\]; got \['id', 'way'\]"
        ):
            self.read(tmp_path)

    def test_other_things(self):
        with pytest.raises(InvalidInputError, match="must be a path, or a pandas, polars or pyarrow table"):
            self.read(17)

    def test_without_pyarrow_the_install_command_is_named(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(InvalidInputError, match=r'needs pyarrow.*pip install "conformio\[data\]"'):
            self.read("t.csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": "stops"}, "`steps` of TripTable: must be one of 'nodes', 'edges'"),
        ({"origin": "o"}, "`origin` of TripTable: must be given together with destination"),
        ({"parallel": "hours"}, r"`parallel` of TripTable: must be one of the network's attributes \['minutes'\]"),
        ({"network": 5}, "`network` of TripTable: must be a Network; got int"),
    ],
)
def test_wrong_settings(options, message):
    with pytest.raises(InvalidInputError, match=message):
        TripTable(**{"network": roads(), **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_bad": "drop"}, "`on_bad` of TripTable.read: must be one of 'stop', 'skip'"),
        ({"on_bad": "skip"}, '`skipped` of TripTable.read: must be a path with on_bad="skip"'),
    ],
)
def test_wrong_ways_of_reading(options, message):
    with pytest.raises(InvalidInputError, match=message):
        TripTable(roads()).read(pa.table({"path": ["A;D"]}), **options)


def test_names_that_text_cannot_tell_apart():
    network = Network([0], [1], node_ids=[7, "7"])
    with pytest.raises(InvalidInputError, match="names of nodes must differ as text"):
        TripTable(network).read(pa.table({"path": ["7;7"]}))
