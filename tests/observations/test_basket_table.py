"""Baskets from tables: budgets and lists of items, every fault found and counted."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformio.errors import FaultyRowsError, InvalidInputError
from conformio.observations import BasketTable
from conformio.problems import Knapsack

ITEMS = {"item": ["tent", "stove", "gas can", "map"], "weight": [4.0, 3.0, 2.0, 1.0]}


def table(**columns):
    return BasketTable.from_items(pa.table(ITEMS), **columns)


def faults_of(error):
    return {fault.kind: [row for row, _ in fault.examples] for fault in error.report.faults}


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame", "Python lists"])
def test_every_form_gives_the_same_decisions(kind, tmp_path):
    lists = [["tent", "map"], ["stove"], [], ["map", "gas can", "stove"]]
    budgets = [5.0, 3.5, 2.0, 6.0]
    if kind == "csv":
        source = tmp_path / "b.csv"
        source.write_text(
            "id,budget,items\n"
            + "".join(
                f"{k},{b},{';'.join(names) or '[]'}\n" for k, (b, names) in enumerate(zip(budgets, lists, strict=True))
            )
        )
    elif kind == "Python lists":
        source = pa.table({"id": range(4), "budget": [str(b) for b in budgets], "items": [str(x) for x in lists]})
    else:
        source = pa.table({"id": range(4), "budget": budgets, "items": lists})
    if kind == "parquet":
        pq.write_table(source, tmp_path / "b.parquet")
        source = tmp_path / "b.parquet"
    baskets = table(row_id="id").read(source)
    assert baskets.decisions.toarray().tolist() == [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 1, 1]]
    assert baskets.contexts.tolist() == [[5], [3.5], [2], [6]]
    assert [str(name) for name in baskets.ids.to_pylist()] == ["0", "1", "2", "3"]


def test_outputs_are_inputs():
    baskets = np.random.default_rng(0).integers(0, 2, (30, 4))
    columns = table().decision_columns(baskets, "best_")
    budgets = table().context_columns(np.full((30, 1), 20.0))
    again = table(chosen="best_items").read(pa.table({**columns, **budgets}))
    np.testing.assert_array_equal(again.decisions.toarray(), baskets)


def test_faults_are_reported_at_once(tmp_path):
    budgets = ["5", "-4", "x", "", "inf", "1", "9", "9", "9"]
    lists = ["tent;map", "stove", "map", "map", "map", "tent;stove", "map;map", "yy;;map", ""]
    source = pa.table({"budget": budgets, "items": lists})
    with pytest.raises(FaultyRowsError, match=r"weight 7, budget 1.*") as caught:
        table(separator=";").read(source)
    assert faults_of(caught.value) == {
        "negative budget": [1],
        "not a number": [2, 4],
        "missing value": [3],
        "over budget": [5],
        "repeated item": [6],
        "unknown item": [7],
        "missing item": [7],
    }
    kept = table(separator=";").read(source, on_bad="skip", skipped=tmp_path / "s.csv", keep_infeasible=True)
    assert kept.rows.tolist() == [0, 5, 8]
    assert "unknown item: 'yy' at step 0" in (tmp_path / "s.csv").read_text()


def test_a_missing_list_is_no_empty_list():
    with pytest.raises(FaultyRowsError, match=r"missing list in 1 row.*Write \[\] where nothing was chosen"):
        table().read(pa.table({"budget": [1.0, 1.0], "items": [["map"], None]}))


def test_budgets_alone():
    wanted = table().read_contexts(pa.table({"budget": [3, 0]}))
    assert wanted.contexts.tolist() == [[3], [0]]
    assert wanted.decisions is None


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ({"item": ["a", "a"], "weight": [1, 2]}, "duplicate row id in 1 row"),
        ({"item": ["a", None], "weight": [1, 2]}, "missing row id in 1 row"),
        ({"item": ["a", "b"], "weight": [1, -2]}, r"negative weight in 1 row \(row 1: -2\)"),
        ({"item": ["a", "b"], "weight": ["1", "heavy"]}, "not a number in 1 row"),
        ({"item": ["a", "b"]}, "`weight` of .*: must be one of the columns"),
    ],
)
def test_wrong_items(items, message):
    with pytest.raises(InvalidInputError, match=message):
        BasketTable.from_items(pa.table(items))


def test_wrong_settings():
    with pytest.raises(InvalidInputError, match="`problem` of BasketTable: must be a Knapsack; got str"):
        BasketTable("shop")
    with pytest.raises(InvalidInputError, match="`item_names` of BasketTable: must name all 2 items; got 1 names"):
        BasketTable(Knapsack([1.0, 2.0]), ["a"])


def test_whole_numbers_as_names():
    names = BasketTable(Knapsack([1.0, 2.0]), [10, 20])
    assert names.read(pa.table({"budget": [3], "items": ["20|10"]})).decisions.toarray().tolist() == [[1, 1]]
    assert BasketTable(Knapsack([1.0, 2.0])).read(
        pa.table({"budget": [3], "items": [[1]]})
    ).decisions.toarray().tolist() == [[0, 1]]
