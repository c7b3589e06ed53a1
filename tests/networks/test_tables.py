"""Reading tables of edges."""

from __future__ import annotations

import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from conformio.errors import InvalidInputError
from conformio.networks import Network

COLUMNS = {
    "from": ["b", "a", "b"],
    "to": ["a", "c", "c"],
    "t": [1.5, 2.0, 3.0],
    "lanes": [1, 2, 1],
    "name": list("xyz"),
}


def check(network):
    assert network.node_ids.tolist() == ["a", "b", "c"]
    assert network.tails.tolist() == [1, 0, 1]
    assert network.heads.tolist() == [0, 2, 2]
    assert list(network.attributes) == ["t", "lanes"]
    assert network.attributes["t"].tolist() == [1.5, 2.0, 3.0]
    assert network.attributes["lanes"].tolist() == [1, 2, 1]


def test_pandas():
    check(Network.from_table(pd.DataFrame(COLUMNS, index=[5, 5, 7]), tail="from", head="to"))


def test_polars():
    polars = pytest.importorskip("polars")
    check(Network.from_table(polars.DataFrame(COLUMNS), tail="from", head="to"))
    missing = polars.DataFrame({"a": [1, 2], "b": [2, None]})
    with pytest.raises(InvalidInputError, match=r"`path_or_frame` row 1 of .*missing value in column 'b'"):
        Network.from_table(missing, tail="a", head="b")
    missing = polars.DataFrame({"a": [1, 2], "b": [2, 1], "t": [1.0, float("nan")]})
    with pytest.raises(InvalidInputError, match=r"`path_or_frame` row 1 of .*missing value in column 't'"):
        Network.from_table(missing, tail="a", head="b")


def test_pyarrow():
    pa = pytest.importorskip("pyarrow")
    network = Network.from_table(pa.table({"a": ["x", "y"], "b": ["y", "x"], "m": [1, 2]}), tail="a", head="b")
    assert network.node_ids.tolist() == ["x", "y"]
    assert network.attributes["m"].tolist() == [1.0, 2.0]


def test_files(tmp_path):
    frame = pd.DataFrame(COLUMNS)
    frame.to_csv(tmp_path / "edges.csv", index=False)
    frame.to_parquet(tmp_path / "edges.parquet")
    for name in ("edges.csv", "edges.parquet"):
        check(Network.from_table(tmp_path / name, tail="from", head="to"))
        check(Network.from_table(str(tmp_path / name), tail="from", head="to"))


def test_numbers_as_names_are_sorted_as_numbers():
    network = Network.from_table(pd.DataFrame({"a": [100, 9], "b": [9, 20]}), tail="a", head="b")
    assert network.node_ids.tolist() == [9, 20, 100]
    assert network.tails.tolist() == [2, 0]


def test_nullable_and_object_numbers_are_numbers():
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 0]})
    frame["nullable"] = pd.array([1, 2], dtype="Int64")
    frame["objects"] = np.array([1.5, 2.5], dtype=object)
    frame["flags"] = [True, False]
    frame["both kinds"] = np.array([1, 2.5], dtype=object)
    frame["decimals"] = [Decimal("0.5"), Decimal(2)]
    frame["truths"] = np.array([True, False], dtype=object)
    frame["large"] = np.array([1, 10**30], dtype=object)
    frame["days"] = pd.to_datetime(["2024-01-01", "2024-01-02"])
    network = Network.from_table(frame, tail="a", head="b")
    assert list(network.attributes) == ["nullable", "objects", "flags", "both kinds", "decimals", "truths", "large"]
    assert network.attributes["objects"].dtype == np.float64
    assert network.attributes["both kinds"].tolist() == [1.0, 2.5]
    assert network.attributes["decimals"].tolist() == [0.5, 2.0]
    assert network.attributes["large"].tolist() == [1.0, 1e30]
    assert network.attributes["flags"].dtype == network.attributes["truths"].dtype == np.bool_


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"a": ["x", None], "b": ["y", "x"]},
            "`path_or_frame` row 1 of Network.from_table: must be complete.*'a'.*Fill",
        ),
        (
            {"a": [0, 1], "b": [1, 0], "t": [np.nan, 1.0]},
            "`path_or_frame` row 0 of .*missing value in column 't'",
        ),
        (
            {"a": [0, 1], "c": [1, 0]},
            r"`head` of Network.from_table: must be one of the columns \['a', 'c'\]; got 'b'",
        ),
        ({"c": [0, 1], "b": [1, 0]}, "`tail` of Network.from_table: must be one of the columns"),
        ({"a": [], "b": []}, "`path_or_frame` of Network.from_table: must have at least one row"),
        (
            {"a": ["0"], "b": [1]},
            "`tail` of .*: must name nodes by values of one type, as head; got int, str. Convert",
        ),
        ({"a": [1j], "b": [2j]}, "`tail` of .*: must name nodes by values that can be sorted; got complex"),
        ({"a": [1, 2], "b": [2, 2]}, "`heads` row 1 of Network: must not hold self-loops"),
    ],
)
def test_wrong_tables(columns, message):
    with pytest.raises(InvalidInputError, match=message):
        Network.from_table(pd.DataFrame(columns), tail="a", head="b")


def test_columns_of_one_name():
    frame = pd.DataFrame([[0, 1, 2]], columns=["a", "b", "a"])
    with pytest.raises(InvalidInputError, match="must have columns of different names"):
        Network.from_table(frame, tail="a", head="b")


def test_wrong_sources(tmp_path):
    with pytest.raises(
        InvalidInputError, match=r"must be a \.csv or \.parquet path, or a pandas, polars or pyarrow.*got int"
    ):
        Network.from_table(3, tail="a", head="b")
    with pytest.raises(InvalidInputError, match=r"must be a \.csv or \.parquet path; got .*edges\.xlsx"):
        Network.from_table(tmp_path / "edges.xlsx", tail="a", head="b")
    with pytest.raises(InvalidInputError, match=r"edges\.csv: must be a readable table"):
        Network.from_table(tmp_path / "edges.csv", tail="a", head="b")
    with pytest.raises(InvalidInputError, match=r"got no such file\. Check the name; a relative one starts"):
        Network.from_table("edges.parquet", tail="a", head="b")
    for name in ("empty.csv", "broken.parquet"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(InvalidInputError, match="must be a readable table"):
            Network.from_table(tmp_path / name, tail="a", head="b")


def test_without_pandas_the_install_command_is_named(monkeypatch, tmp_path):
    pd.DataFrame({"a": [0], "b": [1]}).to_parquet(tmp_path / "edges.parquet")
    (tmp_path / "edges.csv").write_text("a,b\n0,1\n")
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert Network.from_table(tmp_path / "edges.csv", tail="a", head="b").n_edges == 1
    with pytest.raises(
        InvalidInputError, match=r'needs pandas to read Parquet files; .*Run: pip install "conformio\[data\]"'
    ):
        Network.from_table(tmp_path / "edges.parquet", tail="a", head="b")


def from_text(tmp_path, text):
    path = tmp_path / "edges.csv"
    path.write_bytes(text.encode())
    return Network.from_table(path, tail="a", head="b")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b\n007,08\n08,10\n", ["007", "08", "10"]),
        ("a,b\n7,8\n8,-10\n", [-10, 7, 8]),
        ("a,b\nNA,1\nnull,nan\n", ["1", "NA", "nan", "null"]),
        ("a,b\n1,2.0\n2,+3\n", ["+3", "1", "2", "2.0"]),
        ("a,b\n1,1234567890123456789012\n", ["1", "1234567890123456789012"]),
        ("\ufeffa,b\r\n\r\n0,-0\r\n", ["-0", "0"]),
    ],
)
def test_names_in_files_stay_as_they_are_written(tmp_path, text, names):
    assert from_text(tmp_path, text).node_ids.tolist() == names


def test_attributes_in_files(tmp_path):
    text = 'a,b,whole,real,flag,name,all\nx,y,1, 1e-3 ,True,Main,1\ny,x,20,.5,false,"No, thanks",2.5\n'
    known = from_text(tmp_path, text).attributes
    assert {name: values.tolist() for name, values in known.items()} == {
        "whole": [1, 20],
        "real": [0.001, 0.5],
        "flag": [True, False],
        "all": [1.0, 2.5],
    }
    assert known["whole"].dtype == np.int64


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a,b,t\n1,2,3\n2,3,four\n",
            "row 1 of .*: column 't' must hold numbers in all cells.*'four'. Correct the cell",
        ),
        ("a,b,t\n1,2,3\n2,3,NA\n", "row 1 of .*: column 't' must hold numbers in all cells or in none; got 'NA'"),
        ("a,b,t\n1,2,3\n2,3,1_000\n", "row 1 of .*: column 't' .*; got '1_000'"),
        ("a,b,t\n1,2,3\n2,3,inf\n", "row 1 of .*: column 't' .*; got 'inf'"),
        ("a,b,t\n1,2,3\n2,3,1e999\n", r"`attributes\['t'\]` row 1 of Network: must be finite"),
        ("a,b,t\n1,2,3\n2,3,\n", "row 1 of .*: must be complete; got a missing value in column 't'"),
        ("a,b,t\n,2,3\n2,3,\n", "row 0 of .*: must be complete; got a missing value in column 'a'"),
        ("a,b,t\n1,2,3\n2,3\n", "row 1 of .*: must have 3 cells, as the header; got 2"),
        ("a,b\n1,2\n2,3,4\n", "row 1 of .*: must have 2 cells, as the header; got 3"),
        ('a,b\n1,"2\n2,3\n', "must be a readable table; got unexpected end of data. Open it"),
        ("a,b,a\n1,2,3\n", "must have columns of different names"),
        ("a,b\n", "must have at least one row"),
        ('a,b,t\n1,2,"1,5"\n2,3,"2,5"\n', "row 0 of .*: column 't' must .*; got '1,5'. Write decimals with a point or"),
        ('a,b,t\n1,2,1\n2,3,"2,5"\n', "row 1 of .*: column 't' must .*; got '2,5'. Write decimals with a point or"),
        ("a,b,t\n1,2,True\n2,3,\n", "row 1 of .*: must be complete; got a missing value in column 't'"),
        ("a,b,t\n1,2,3\n2,3,4\n1,2,3\n", "row 2 of .*: must not repeat a row; got row 0 again. Remove one of them"),
        ("a;b;t\n1;2;3\n", "`tail` of .*; got 'a'. The cells seem to be separated by semicolons"),
        (
            "a;b;t\n1;2;3,5\n",
            "row 0 of .*; got 2. The cells seem to be separated by semicolons: separate them by commas",
        ),
        ("a,b\n1,2\n2,3,4\n", "must have 2 cells, as the header; got 3. Put cells that hold commas in double quotes"),
        ("a\tb\n1\t2\n", "`tail` of .*; got 'a'. The cells seem to be separated by tabs"),
        ("a, b\n1, 2\n", "`head` of .*; got 'b'. Did you mean ' b'"),
        ("A,b\n1,2\n", "`tail` of .*; got 'a'. Did you mean 'A'"),
        ("x,y\n1,2\n", r"`tail` of .* must be one of the columns \['x', 'y'\]; got 'a'$"),
    ],
)
def test_wrong_cells_are_named(tmp_path, text, message):
    with pytest.raises(InvalidInputError, match=message):
        from_text(tmp_path, text)


@pytest.mark.parametrize("cells", [[1.5, "x"], ["3", "four"], [2, True]])
def test_columns_of_a_frame_are_numbers_in_all_cells_or_in_none(cells):
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 0], "t": np.array(cells, dtype=object)})
    with pytest.raises(InvalidInputError, match=r"`path_or_frame` row 1 of .*: column 't' must hold numbers"):
        Network.from_table(frame, tail="a", head="b")


def test_names_in_frames_keep_their_type():
    frame = pd.DataFrame({"a": ["7", "8"], "b": ["8", "7"]})
    assert Network.from_table(frame, tail="a", head="b").node_ids.tolist() == ["7", "8"]


class TestNamesAndPlaces:
    def files(self, folder, nodes="node,x,y,zone\n7,0,0,1\n8,1,0,0\n9,1.5,1,0\n11,4,4,0\n"):
        (folder / "e.csv").write_text("a,b,link\n7,8,L1\n8,9,L2\n8,8,L3\n9,8,L4\n")
        (folder / "n.csv").write_text(nodes)
        return {"tail": "a", "head": "b", "nodes": folder / "n.csv", "self_loops": "drop"}

    def test_edges_have_names_and_nodes_places(self, tmp_path):
        network = Network.from_table(tmp_path / "e.csv", edge_id="link", **self.files(tmp_path))
        assert network.edge_ids.tolist() == ["L1", "L2", "L4"]
        assert network.node_ids.tolist() == [7, 8, 9, 11]
        assert network.coordinates.tolist() == [[0, 0], [1, 0], [1.5, 1], [4, 4]]
        assert network.zones.tolist() == [True, False, False, False]

    def test_frames_do_as_well(self, tmp_path):
        pd = pytest.importorskip("pandas")
        options = self.files(tmp_path) | {"nodes": pd.read_csv(self.files(tmp_path)["nodes"]).iloc[::-1]}
        edges = pd.DataFrame({"a": [7, 8], "b": [8, 9]})
        network = Network.from_table(edges, **options)
        assert network.coordinates.tolist() == [[0, 0], [1, 0], [1.5, 1], [4, 4]]
        assert network.edge_ids is None

    @pytest.mark.parametrize(
        ("nodes", "message"),
        [
            ("node,x\n7,0\n", "`nodes` of .*: must have the columns node, x and y"),
            ("node,x,y\n7,0,0\n8,1,0\n", "`nodes` of .*: must have a row for every node; got node 9"),
            ("node,x,y\n7,0,0\n8,1,0\n9,1,1\n9,1,1\n", "`nodes` of .*: must name each node once; got node 9"),
            ("node,x,y\n7,a,0\n8,b,0\n9,c,1\n", "`nodes` of .*: column 'x' must hold numbers"),
            ("node,x,y,zone\n7,0,0,2\n8,1,0,0\n9,1,1,0\n", "`nodes` of .*: column 'zone' must hold True and False"),
        ],
    )
    def test_wrong_tables_of_nodes(self, tmp_path, nodes, message):
        with pytest.raises(InvalidInputError, match=message):
            Network.from_table(tmp_path / "e.csv", **self.files(tmp_path, nodes))

    def test_unknown_column_of_names(self, tmp_path):
        with pytest.raises(InvalidInputError, match=r"`edge_id` of .*: must be one of the columns"):
            Network.from_table(tmp_path / "e.csv", edge_id="x", **self.files(tmp_path))


def test_parallel_edges_that_differ_somewhere_are_kept(tmp_path):
    assert from_text(tmp_path, "a,b,t\n1,2,3\n1,2,4\n").n_edges == 2
    assert from_text(tmp_path, "a,b,street\n1,2,High Street\n1,2,Back Lane\n").n_edges == 2
    frame = pd.DataFrame({"a": [0, 0], "b": [1, 1], "t": [2.0, 2.0]})
    with pytest.raises(InvalidInputError, match=r"row 1 of .*: must not repeat a row; got row 0 again"):
        Network.from_table(frame, tail="a", head="b")


def test_gaps_in_text_that_is_left_out_do_not_matter(tmp_path):
    network = from_text(tmp_path, "a,b,street,t,note\n1,2,High Street,3,\n2,1,,4,\n")
    assert {name: values.tolist() for name, values in network.attributes.items()} == {"t": [3, 4]}
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 0], "street": ["High Street", None], "t": [3, 4]})
    assert list(Network.from_table(frame, tail="a", head="b").attributes) == ["t"]
    with pytest.raises(InvalidInputError, match=r"row 1 of .*: must be complete; got a missing value in column 't'"):
        Network.from_table(frame.assign(t=[3.0, None]), tail="a", head="b")


def test_other_files_and_frames_come_with_a_hint(tmp_path):
    with pytest.raises(InvalidInputError, match=r"edges\.xlsx\. Save the sheet as CSV"):
        Network.from_table(tmp_path / "edges.xlsx", tail="a", head="b")
    (tmp_path / "edges.csv").write_bytes("a,b\n\xe9,b\n".encode("latin-1"))
    with pytest.raises(InvalidInputError, match=r"must be a readable table; .*Save it in the encoding UTF-8"):
        Network.from_table(tmp_path / "edges.csv", tail="a", head="b")
    polars = pytest.importorskip("polars")
    with pytest.raises(InvalidInputError, match=r"got LazyFrame\. Call \.collect\(\) first"):
        Network.from_table(polars.DataFrame({"a": [0], "b": [1]}).lazy(), tail="a", head="b")


def test_a_name_for_costs():
    network = Network([0], [1], attributes={"km": [1.0]})
    with pytest.raises(InvalidInputError, match=r"`costs` of .*; got 'km'\. Write costs=network.attributes\['km'\]"):
        network.decisions_from_paths([[0, 1]], kind="nodes", costs="km")
