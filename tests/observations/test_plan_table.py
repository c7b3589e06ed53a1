"""Programs from model files and tables, plans and right-hand sides as columns."""

import numpy as np
import pyarrow as pa
import pytest

from conformio.errors import FaultyRowsError, InvalidInputError
from conformio.observations import PlanTable
from conformio.problems import ConvexProgram, IntegerProgram, LinearProgram, OracleProblem
from conformio.solvers import HighsModel, read_program

MPS = """NAME plan
ROWS
 N cost
 E orders
 L hours
 G demand
 L rng
COLUMNS
 x1 cost 3 orders 1
 x1 hours 2 rng 1
 x2 cost 2 orders 1
 x2 hours 1 demand 1
 x3 cost 3.5 orders 1
RHS
 RHS orders 10 hours 8
 RHS demand 1 rng 5
RANGES
 RNG rng 3
BOUNDS
 UP BND x1 4
ENDATA
"""
LP = """minimize
 cost: 3 x1 + 2 x2 + 3.5 x3
subject to
 orders: x1 + x2 + x3 = 10
 hours: 2 x1 + x2 <= 8
 demand: x2 >= 1
bounds
 x1 <= 4
end
"""


def model(folder, text=MPS, suffix=".mps"):
    (folder / f"plan{suffix}").write_text(text)
    return folder / f"plan{suffix}"


def test_rows_become_sides(tmp_path):
    table = PlanTable.from_model(model(tmp_path))
    assert isinstance(table.problem, LinearProgram)
    assert table.variables == ["x1", "x2", "x3"]
    assert table.sides == ["orders", "hours", "rng.upper", "demand", "rng.lower"]
    assert table.signs == [1, 1, 1, -1, -1]
    assert table.defaults == {"orders": 10, "hours": 8, "rng.upper": 5, "demand": 1, "rng.lower": 2}
    assert table.costs == [3, 2, 3.5]
    given = table.problem.to_state()
    assert given["A_eq"].toarray().tolist() == [[1, 1, 1]]
    assert given["A_ub"].toarray().tolist() == [[2, 1, 0], [1, 0, 0], [0, -1, 0], [-1, 0, 0]]
    assert given["upper"].tolist() == [4, np.inf, np.inf]


@pytest.mark.parametrize(("text", "suffix"), [(MPS, ".mps"), (LP, ".lp")])
def test_optima_are_those_of_the_file(text, suffix, tmp_path):
    """The problem, fed with the file's own sides and costs, against the solver on the file's own rows."""
    path = model(tmp_path, text, suffix)
    table, file = PlanTable.from_model(path), read_program(path, "here")
    contexts = table.read_contexts(pa.table({"x": [0]})).contexts
    found = table.problem.solve(table.costs, contexts)
    direct = HighsModel(file.matrix, file.row_lower, file.row_upper, file.lower, file.upper, sense=file.sense)
    assert found @ table.costs == pytest.approx(direct.solve(file.costs).value)
    assert table.problem.is_feasible(found, contexts).all()


def test_maximisation_and_whole_variables(tmp_path):
    text = "max\n obj: 3x + 2y\nst\n c: x + y <= 4.5\n x - y >= -1\nbounds\n x <= 3\ngeneral\n x\n y\nend\n"
    table = PlanTable.from_model(model(tmp_path, text, ".lp"))
    assert isinstance(table.problem, IntegerProgram)
    assert table.problem.sense == "max"
    assert len(table.sides) == 2
    assert table.problem.solve(table.costs, table.read_contexts(pa.table({"c": [2.5]})).contexts).tolist() == [[2, 0]]


@pytest.mark.parametrize(
    ("text", "suffix", "message"),
    [
        ("", ".mps", "must be a model that is read without a warning"),
        ("", ".lp", "must hold variables; got none"),
        ("garbage", ".lp", "must hold variables; got none"),
        ("\x00\x01", ".mps", "must be a model that is read without a warning; got ERROR"),
        (MPS.replace("demand 1 rng", "demand one rng"), ".mps", "line 16: must have a number here; got 'one'"),
        (MPS.replace("x1 4", "x1 four"), ".mps", "line 20: must have a number here; got 'four'"),
        (MPS.replace(" x3 cost", " MARKER MARKER MARKER 'INTORG'\n x3 cost"), ".mps", "must have a number here"),
        ("min\n o: x + [ x*x ]/2\nst\n c: x>=1\nend", ".lp", "must have a linear objective"),
        ("min\n o: x\nst\n c: x>=1\nbounds\n x<=5\nsemi\n x\nend", ".lp", "continuous and whole variables only"),
        (LP.replace("2 x1", "2e12 x1"), ".lp", "must be a program within the library's range"),
        (LP, ".txt", r"must be a \.mps or \.lp file"),
    ],
)
def test_hostile_models(text, suffix, message, tmp_path, capfd):
    with pytest.raises(InvalidInputError, match=f"`path` of PlanTable.from_model: .*{message}"):
        PlanTable.from_model(model(tmp_path, text, suffix))
    assert capfd.readouterr().out == ""


def test_missing_models(tmp_path):
    with pytest.raises(InvalidInputError, match=r"none\.mps: must be a readable model; got no such file"):
        PlanTable.from_model(tmp_path / "none.mps")


def coefficients():
    return pa.table({"row": ["h", "o", "o"], "column": ["x", "y", "x"], "value": [2.0, 1.0, 1.0]})


class TestTables:
    rows = pa.table({"row": ["h", "o", "d"], "sense": ["<=", "=", ">="], "side": [8.0, None, 1.0]})
    columns = pa.table({"column": ["x", "y"], "upper": [3.0, None], "cost": [1, 2], "integer": [True, False]})

    def test_they_make_a_program(self):
        table = PlanTable.from_tables(coefficients(), self.rows, self.columns, sense="max")
        assert isinstance(table.problem, IntegerProgram)
        assert table.sides == ["o", "h", "d"]
        assert table.signs == [1, 1, -1]
        assert table.defaults == {"h": 8.0, "d": 1.0}
        given = table.problem.to_state()
        assert given["A_eq"].toarray().tolist() == [[1, 1]]
        assert given["A_ub"].toarray().tolist() == [[2, 0], [0, 0]]
        assert given["upper"].tolist() == [3, np.inf]
        assert given["integrality"].tolist() == [True, False]
        assert (table.costs, table.problem.sense) == ([1, 2], "max")

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"rows": {"row": ["h"], "sense": ["<"]}}, "`rows` row 0 of .*: column 'sense' must be one of"),
            (
                {"rows": {"row": ["h", "h"], "sense": ["=", "="]}},
                "`rows` row 1 of .*: column 'row' must name each once",
            ),
            ({"rows": {"row": ["h", None], "sense": ["=", "="]}}, "`rows` row 1 of .*: column 'row' must be filled in"),
            ({"rows": {"row": ["h"]}}, "`rows` of .*: must have the column 'sense'"),
            ({"rows": {"row": ["h"], "sense": ["="]}}, "`coefficients` row 1 of .*: column 'row' must name one of the"),
            ({"columns": {"column": ["x", "y"], "cost": ["1", "?"]}}, "`columns` row 1 of .*: column 'cost' must hold"),
            (
                {"coefficients": {"row": ["h", "h"], "column": ["x", "x"], "value": [1, 2]}},
                "row 1 .*one entry for each",
            ),
            ({"coefficients": {"row": ["h"], "column": ["x"], "value": [None]}}, "'value' must be filled in"),
        ],
    )
    def test_wrong_ones(self, change, message):
        parts = {"coefficients": coefficients(), "rows": self.rows, "columns": self.columns}
        parts |= {name: pa.table(table) for name, table in change.items()}
        with pytest.raises(InvalidInputError, match=message):
            PlanTable.from_tables(**parts)


class TestPlans:
    def table(self, folder, **options):
        return PlanTable.from_model(model(folder), **options)

    def test_sides_in_the_files_own_sense(self, tmp_path):
        frame = pa.table({"demand": ["2", "1"], "x1": ["2", "2"], "x2": [2.0, 3.0], "x3": [6, 5]})
        plans = self.table(tmp_path).read(frame)
        assert plans.contexts.tolist() == [[10, 8, 5, -2, -2], [10, 8, 5, -1, -2]]
        assert plans.decisions.tolist() == [[2, 2, 6], [2, 3, 5]]
        assert self.table(tmp_path).context_columns(plans.contexts)["demand"].to_pylist() == [2, 1]
        columns = self.table(tmp_path).decision_columns(plans.decisions, "best_")
        assert columns["best_x3"].to_pylist() == [6, 5]

    def test_two_tables_by_name_or_by_order(self, tmp_path):
        plans = {"x1": [2, 2], "x2": [1, 2], "x3": [7, 6]}
        by_name = self.table(tmp_path, row_id="day").read(
            pa.table({"day": ["a", "b"], **plans}), contexts=pa.table({"hours": [8, 9], "day": ["b", "a"]})
        )
        by_order = self.table(tmp_path).read(pa.table(plans), contexts=pa.table({"hours": [9, 8]}))
        np.testing.assert_array_equal(by_name.contexts, by_order.contexts)
        assert by_name.contexts[:, 1].tolist() == [9, 8]
        assert by_name.ids.to_pylist() == ["a", "b"]

    @pytest.mark.parametrize(
        ("contexts", "message"),
        [
            (
                {"day": ["a"], "hours": [8]},
                "`source` row 1 of .*: every day must be in the table of contexts; got 1 rows",
            ),
            (
                {"day": ["a", "b", "c"], "hours": [8, 8, 8]},
                "`contexts` row 2 of .*: every day must be in the table of p",
            ),
            ({"day": ["a", "a"], "hours": [8, 8]}, "`contexts` row 1 of .*: must have one row for each day; got 'a'"),
            ({"hours": [8, 8]}, "`contexts` of .*: must have the column 'day'"),
            ({"day": ["a", "b"], "x1": [8, 8]}, "`contexts` of .*: must have other columns than the plans; got 'x1'"),
        ],
    )
    def test_tables_that_do_not_match(self, contexts, message, tmp_path):
        plans = pa.table({"day": ["a", "b"], "x1": [2, 2], "x2": [1, 2], "x3": [7, 6]})
        with pytest.raises(InvalidInputError, match=message):
            self.table(tmp_path, row_id="day").read(plans, contexts=pa.table(contexts))

    @pytest.mark.parametrize("place", ["plans.csv", "sides.csv"])
    def test_rows_left_out_replace_neither_table(self, place, tmp_path):
        table = PlanTable(LinearProgram(A_ub=[[1.0]]), ["x"], ["hours"])
        (tmp_path / "plans.csv").write_text("x\n1\n9\n")
        (tmp_path / "sides.csv").write_text("hours\n2\n2\n")
        with pytest.raises(InvalidInputError, match="must be a file apart from the table that is read"):
            table.read(tmp_path / "plans.csv", contexts=tmp_path / "sides.csv", on_bad="skip", skipped=tmp_path / place)
        assert (tmp_path / "plans.csv").read_text() == "x\n1\n9\n"
        assert (tmp_path / "sides.csv").read_text() == "hours\n2\n2\n"

    def test_contexts_without_a_side(self):
        table = PlanTable(LinearProgram(A_ub=[[1.0]]), ["x"], ["hours"], defaults={"hours": 3.0})
        message = r"`contexts` of PlanTable\.read: must have a column for one .*\['hours'\] at least; got \['huors'\]"
        with pytest.raises(InvalidInputError, match=message):
            table.read(pa.table({"x": [1.0]}), contexts=pa.table({"huors": [2.0]}))

    def test_tables_of_different_length(self, tmp_path):
        with pytest.raises(InvalidInputError, match=r"`contexts` of .*: must have 1 rows, as the plans; got 2 rows"):
            self.table(tmp_path).read(pa.table({"x1": [2]}), contexts=pa.table({"hours": [1, 2]}))

    def test_faults(self, tmp_path):
        frame = pa.table(
            {"x1": ["2", "3", "", "2", "9"], "x2": ["1", "4", "1", "?", "1"], "x3": ["7", "3", "7", "7", "0"]}
        )
        with pytest.raises(FaultyRowsError) as caught:
            self.table(tmp_path).read(frame)
        found = {fault.kind: fault.examples for fault in caught.value.report.faults}
        assert found == {
            "infeasible plan": ((1, "row 'hours'"), (4, "row 'hours'")),
            "missing value": ((2, "x1 ''"),),
            "not a number": ((3, "x2 '?'"),),
        }
        kept = self.table(tmp_path).read(frame, on_bad="skip", skipped=tmp_path / "s.csv", keep_infeasible=True)
        assert kept.rows.tolist() == [0, 1, 4]

    def test_missing_columns_are_all_named(self, tmp_path):
        with pytest.raises(
            InvalidInputError, match=r"`source` of .*: must have a column for each of .*none for x1, x3"
        ):
            self.table(tmp_path).read(pa.table({"x2": [1]}))

    def test_any_problem_with_columns_of_numbers(self):
        problem = OracleProblem(lambda theta, u: np.eye(3)[np.argmin(theta)], 3)
        plans = PlanTable(problem, ["a", "b", "c"], ["u"]).read(pa.table({"u": [1], "a": [0], "b": [1], "c": [0]}))
        assert plans.decisions.tolist() == [[0, 1, 0]]

    def test_constraints_without_rows(self):
        cp = pytest.importorskip("cvxpy")

        def build(u):
            x = cp.Variable(2)
            return x, [cp.square(x[0]), cp.square(x[1])], [cp.sum(x) == u[0]]

        table = PlanTable(ConvexProgram(build, 2), ["a", "b"], ["u"])
        with pytest.raises(FaultyRowsError, match=r"infeasible plan in 1 row \(row 1: outside its constraints\)"):
            table.read(pa.table({"u": [1, 1], "a": [0.5, 1.0], "b": [0.5, 1.0]}))

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((["a"], ["u"]), r"`variables` of PlanTable: must be 2 different names; got \['a'\]"),
            ((["a", "b"], "u"), "`sides` of PlanTable: must be 1 different names"),
            ((["a", "u"], ["u"]), "`sides` of PlanTable: must differ from the names of variables; got u"),
            ((["a", "b"], ["u"], [1, 1]), "`signs` of PlanTable: must be 1 numbers; got 2"),
        ],
    )
    def test_wrong_settings(self, arguments, message):
        with pytest.raises(InvalidInputError, match=message):
            PlanTable(LinearProgram(A_ub=[[1.0, 2.0]]), *arguments)
