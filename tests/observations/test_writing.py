"""Tables out, and the table that belongs to a model."""

import csv
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformio.errors import InvalidInputError, ModelFileError
from conformio.networks import Network
from conformio.observations import BasketTable, PlanTable, TableWriter, TripTable, table_for
from conformio.problems import Knapsack, LinearProgram, ShortestPath

BLOCKS = [
    {"id": pa.array(["a", None]), "path": pa.array([["A", "B"], []]), "gap": pa.array([0.1, np.inf])},
    {"id": pa.array(["é, \n"]), "path": pa.array([["C"]]), "gap": pa.array([2.0])},
]


def write_blocks(path, blocks):
    with TableWriter(path) as writer:
        for block in blocks:
            writer.write(block)


def written(path):
    write_blocks(path, BLOCKS)
    return path


def test_parquet(tmp_path):
    table = pq.read_table(written(tmp_path / "t.parquet"))
    assert table.to_pydict() == {"id": ["a", None, "é, \n"], "path": [["A", "B"], [], ["C"]], "gap": [0.1, np.inf, 2.0]}


def test_csv(tmp_path):
    with written(tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows == [["id", "path", "gap"], ["a", "A;B", "0.1"], ["", "[]", "inf"], ["é, \n", "C", "2.0"]]


def test_json_lines(tmp_path):
    lines = written(tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [
        {"id": "a", "path": ["A", "B"], "gap": 0.1},
        {"id": None, "path": [], "gap": None},
        {"id": "é, \n", "path": ["C"], "gap": 2.0},
    ]


def test_open_files_and_other_separators():
    stream = io.StringIO()
    with TableWriter(stream, "|") as writer:
        writer.write(BLOCKS[0])
    assert stream.getvalue() == "id,path,gap\na,A|B,0.1\n,[],inf\n"


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_whole_or_not_at_all(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    path.write_text("old")
    with pytest.raises(pa.ArrowInvalid):
        write_blocks(path, [BLOCKS[0], {"id": pa.array(["a"]), "path": pa.array([])}])
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_folders_that_are_not_there(tmp_path, suffix):
    with pytest.raises(InvalidInputError, match="`out` of TableWriter: must be a file that can be written"):
        written(tmp_path / "none" / f"t{suffix}")


def test_a_folder_in_the_way(tmp_path):
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(InvalidInputError, match="`out` of TableWriter: must be a file that can be written"):
        written(tmp_path / "t.csv")


def test_other_kinds_of_file(tmp_path):
    with pytest.raises(InvalidInputError, match=r"`out` of TableWriter: must be a file of the kind \.csv"):
        TableWriter(tmp_path / "t.xlsx")


class TestTablesOfModels:
    ROADS = Network([0, 1], [1, 2], node_ids=["a;b", "c|d", "e"], attributes={"t": [1, 2]})

    def test_they_are_described_without_the_problem(self):
        trips = TripTable(self.ROADS, "p", "edges", "|", "id", "o", "d", "t", True)
        again = table_for(ShortestPath(self.ROADS), json.loads(json.dumps(trips.to_state())))
        assert again == TripTable(self.ROADS, "p", "edges", "|", None, "o", "d", "t", True)
        shop = Knapsack([1.0, 2.0])
        assert table_for(shop, BasketTable(shop, ["x", "y"], "b").to_state()) == BasketTable(shop, ["x", "y"], "b")
        program = LinearProgram(A_ub=[[1.0, 2.0]])
        plans = PlanTable(program, ["x", "y"], ["u"], [-1.0], {"u": 3.0}, [1.0, 2.0])
        assert table_for(program, plans.to_state()) == plans

    def test_models_without_one_get_the_plainest(self):
        assert table_for(ShortestPath(self.ROADS)) == TripTable(self.ROADS)
        assert isinstance(table_for(Knapsack([1.0])), BasketTable)
        plain = table_for(LinearProgram(A_ub=[[1.0, 2.0]]))
        assert (plain.variables, plain.sides) == (["x0", "x1"], ["u0"])

    @pytest.mark.parametrize(
        "state",
        [{}, {"kind": "cars"}, {"kind": "baskets"}, {"kind": "trips", "wheels": 4}, {"kind": "trips", "steps": "x"}, 3],
    )
    def test_altered_descriptions(self, state):
        with pytest.raises(ModelFileError, match="its description of tables does not fit its problem"):
            table_for(ShortestPath(self.ROADS), state)

    def test_a_separator_that_no_name_holds(self):
        assert TripTable(self.ROADS).list_separator() == ","
        assert BasketTable(Knapsack([1.0]), ["x"]).list_separator() == ";"
