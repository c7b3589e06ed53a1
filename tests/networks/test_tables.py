"""Reading tables of edges."""

from __future__ import annotations

import sys

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
    frame["mixed"] = np.array([1.5, "x"], dtype=object)
    network = Network.from_table(frame, tail="a", head="b")
    assert list(network.attributes) == ["nullable", "objects", "flags"]
    assert network.attributes["objects"].dtype == np.float64
    assert network.attributes["flags"].dtype == np.bool_


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
    with pytest.raises(InvalidInputError, match=r"must be a \.csv or \.parquet path, or a pandas or polars.*got int"):
        Network.from_table(3, tail="a", head="b")
    with pytest.raises(InvalidInputError, match=r"must be a \.csv or \.parquet path; got .*edges\.xlsx"):
        Network.from_table(tmp_path / "edges.xlsx", tail="a", head="b")
    with pytest.raises(InvalidInputError, match=r"edges\.csv: must be a readable table"):
        Network.from_table(tmp_path / "edges.csv", tail="a", head="b")
    for name in ("empty.csv", "broken.parquet"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(InvalidInputError, match="must be a readable table"):
            Network.from_table(tmp_path / name, tail="a", head="b")


def test_without_pandas_the_install_command_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InvalidInputError, match=r'reading files needs pandas: pip install "conformio\[data\]"'):
        Network.from_table(tmp_path / "edges.csv", tail="a", head="b")
