"""`fit`, `calibrate`, `prescribe`, `evaluate`: from files to files, exit codes, what goes where."""

import csv
import io
import json
import os
import re
import shlex
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

import conformio as cio
from conformio import cli
from conformio.cli.summary import certified
from conformio.observations import table_for
from conformio.studies.example_folder import export_example

FIT = ["fit", "--network", "roads.csv", "--tail", "from", "--head", "to", "--trips", "trips-train.parquet"]
FIT += ["--path", "route", "--start", "minutes"]


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    export_example(folder)
    return folder


@pytest.fixture
def run(examples, monkeypatch, command_line):
    """Run a command in the example folder, in this process; returns exit code, stdout, stderr."""
    monkeypatch.chdir(examples)

    def command(*arguments):
        code, out, err = command_line(*arguments)
        return code, out, " ".join(err.split())

    return command


def commands_of(readme):
    blocks = re.findall(r"^```sh\n(.*?)^```", readme.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def test_every_command_of_the_readme(examples, run):
    lines = commands_of(examples / "README.md")
    assert len(lines) == 15
    for line in lines:
        code, out, err = run(*shlex.split(line)[1:])
        assert code == 0, (line, err)
        assert out, line
    with (examples / "faulty.csv").open(newline="") as file:
        faulty = list(csv.DictReader(file))
    assert [row["trip"] for row in faulty] == ["R0020", "R0021", "R0022", "R0023"]
    advice = [json.loads(line) for line in (examples / "baskets-advice.jsonl").read_text().splitlines()]
    assert len(advice) == 100
    assert {"row", "budget", "items", "worst_case_value", "gap", "method", "nominal_items", "differs"} == set(advice[0])


def test_examples_are_the_same_every_time(examples, tmp_path):
    export_example(tmp_path / "again")
    for path in sorted((tmp_path / "again").iterdir()):
        assert path.read_bytes() == (examples / path.name).read_bytes(), path.name


@pytest.fixture(scope="module")
def model(examples):
    """The model of the example, made once by the command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(examples)
        patch.setattr(sys, "argv", ["conformio", *FIT, "--id", "trip", "-o", "m.zip", "--quiet", "--jobs", "1"])
        with pytest.raises(SystemExit):
            cli.main()
    return examples / "m.zip"


class TestFitAndUse:
    def test_the_model_is_what_the_library_makes(self, model, examples):
        roads = cio.Network.from_table(examples / "roads.csv", tail="from", head="to")
        table = pq.read_table(examples / "trips-train.parquet").to_pydict()
        paths = [roads.node_index(route) for route in table["route"]]
        decisions = roads.decisions_from_paths(paths, kind="nodes")
        contexts = [(path[0], path[-1]) for path in paths]
        known = roads.attributes["minutes"] / roads.attributes["minutes"].mean()
        estimator = cio.PerturbedFenchelYoung(known)
        own = cio.ConformalIO(cio.ShortestPath(roads), estimator, random_state=0).fit(contexts, decisions)
        made = cio.load(model)
        np.testing.assert_array_equal(made.theta_, own.theta_)
        np.testing.assert_array_equal(made.scores_, own.scores_)
        assert made.data_fingerprint_ == own.data_fingerprint_
        assert made.table_["path"] == "route"
        assert table_for(made.problem, made.table_).path == "route"

    def test_fit_tells_what_it_made(self, run, examples):
        code, out, err = run(*FIT, "-o", "n.zip", "--json", "--quiet", "--level", 0.8, "--seed", 3)
        assert (code, err) == (0, "")
        result = json.loads(out)
        model = cio.load(examples / "n.zip")
        assert result["confidence_level"] == model.confidence_level == 0.8
        assert result["angle_degrees"] == pytest.approx(np.degrees(model.angle_))
        assert result["rows"] == {"n_rows": 300, "n_used": 300, "faults": [], "skipped": None}
        assert result["n_calibration"] == 75
        assert model.random_state == 3

    def test_evaluate_measures_what_the_library_measures(self, run, model, examples):
        code, out, _ = run("evaluate", model, "--data", "trips-test.csv", "--json", "--level", 0.5, "--level", 0.9)
        assert code == 0
        result, fitted = json.loads(out), cio.load(model)
        test = table_for(fitted.problem, fitted.table_).read(examples / "trips-test.csv")
        classic, half, most = result["methods"]
        assert most["coverage"] == fitted.covers(test.contexts, test.decisions).mean()
        assert half["coverage"] == fitted.covers(test.contexts, test.decisions, 0.5).mean()
        assert most["adherence"] == fitted.score(test.contexts, test.decisions)
        assert most["band"] == list(cio.metrics.coverage_interval(75, 0.9, 100))
        nominal = fitted.predict_nominal(test.contexts)
        assert classic["jaccard"] == cio.metrics.adherence(nominal, test.decisions, "jaccard").mean()
        assert (result["n_test"], result["role"], classic["level"]) == (100, "new", None)

    def test_decisions_that_are_no_test_are_known(self, run, model, examples):
        assert "Not a test" not in run("evaluate", model, "--data", "trips-test.csv")[1]
        _, out, _ = run("evaluate", model, "--data", "trips-train.parquet")
        assert "Not a test: the model was fitted on these decisions." in out
        run("calibrate", model, "--data", "trips-test.csv", "-o", "again.zip", "--quiet")
        _, out, _ = run("evaluate", "again.zip", "--data", "trips-test.csv")
        assert "Not a test: the model was calibrated on these decisions." in out

    @pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
    def test_prescriptions_by_name(self, run, model, examples, suffix):
        out = examples / f"out{suffix}"
        code, said, _ = run("prescribe", model, "--data", "requests.csv", "-o", out)
        assert code == 0
        assert said.startswith(f"10 prescriptions in {out}; ")
        rows = read(out)
        fitted = cio.load(model)
        roads = fitted.problem.network
        contexts = [roads.node_index([row["origin"], row["destination"]]) for row in rows]
        solution = fitted.prescribe(contexts)
        for row, path, value in zip(rows, roads.paths_from_decisions(solution.decisions), solution.values, strict=True):
            names = roads.node_ids[[roads.tails[path[0]], *roads.heads[path]]].tolist()
            assert as_list(row["nodes"]) == names
            assert [int(edge) for edge in as_list(row["edges"])] == path.tolist()
            assert float(row["worst_case_value"]) == pytest.approx(value, rel=1e-12)
            assert str(row["differs"]) == str(row["nodes"] != row["nominal_nodes"])
        assert [row["method"] for row in rows] == solution.method.tolist()

    def test_prescriptions_on_stdout(self, run, model):
        code, out, err = run("prescribe", model, "--data", "requests.csv", "--quiet")
        assert (code, err) == (0, "")
        assert [row["row"] for row in csv.DictReader(out.splitlines())] == [str(k) for k in range(10)]
        _, out, _ = run("prescribe", model, "--data", "requests.csv", "--quiet", "--json", "--level", 0.5)
        assert [json.loads(line)["row"] for line in out.splitlines()] == list(range(10))

    def test_ids_and_ends_of_paths(self, run, model):
        code, out, _ = run("prescribe", model, "--data", "trips-test.csv", "--id", "trip", "--quiet")
        rows = list(csv.DictReader(out.splitlines()))
        assert code == 0
        assert [row["trip"] for row in rows] == [f"T{k:04d}" for k in range(300, 400)]

    def test_calibrate_again(self, run, model, examples):
        code, out, _ = run("calibrate", model, "--data", "trips-test.csv", "--level", 0.95, "-o", "c.zip", "--json")
        assert code == 0
        before, after = cio.load(model), cio.load(examples / "c.zip")
        np.testing.assert_array_equal(after.theta_, before.theta_)
        assert (after.n_calibration_, after.confidence_level) == (100, 0.95)
        assert json.loads(out)["angle_degrees"] == pytest.approx(np.degrees(after.angle_))
        assert after.table_ == before.table_
        assert after.data_fingerprint_ == before.data_fingerprint_
        assert after.calibration_fingerprint_ != before.calibration_fingerprint_

    def test_warnings_are_one_line(self, run, model, examples):
        (examples / "few.csv").write_text("trip,route\nx,A1;A2;A3;B3;B2;B1;C1;C2\n")
        code, out, err = run("calibrate", model, "--data", "few.csv", "-o", "few.zip", "--quiet")
        assert code == 0
        assert err.startswith("conformio: warning: 1 calibration decisions cannot certify level 0.9")
        assert "Nothing is certified at level 0.9: the calibrated set holds all parameters." in out
        assert "With probability" not in out

    def test_a_level_near_one_is_not_rounded_up(self):
        assert certified(0.99996, everything=False).startswith(
            "With probability at least 0.99996 the calibrated set meets"
        )


def read(path):
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    lines = path.read_text().splitlines()
    return list(csv.DictReader(lines)) if path.suffix == ".csv" else [json.loads(line) for line in lines]


def as_list(cell):
    return cell.split(";") if isinstance(cell, str) else cell


class TestOtherSources:
    def test_tntp_and_edges(self, run, examples):
        (examples / "net.tntp").write_text(
            "<NUMBER OF NODES> 3\n<NUMBER OF LINKS> 4\n<FIRST THRU NODE> 1\n<END OF METADATA>\n~ a b time ;\n"
            "1 2 3 ;\n2 3 1 ;\n1 3 5 ;\n3 1 1 ;\n"
        )
        lines = ["way"] + ["0;1", "2", "0;1", "3;0"] * 5
        (examples / "links.csv").write_text("\n".join(lines) + "\n")
        code, out, err = run("fit", "--network", "net.tntp", "--data", "links.csv", "--path", "way", "--steps", "edges",
                             "-o", "t.zip", "--estimator", "suboptimality", "--start", "time", "--json")  # fmt: skip
        assert code == 0, err
        assert json.loads(out)["rows"]["n_used"] == 20

    def test_programs_in_tables(self, run, examples):
        (examples / "coef.csv").write_text("row,column,value\norders,a,1\norders,b,1\nhours,a,2\n")
        (examples / "lines.csv").write_text("row,sense,side\norders,>=,4\nhours,<=,6\n")
        (examples / "cols.csv").write_text("column,upper,cost\na,9,1\nb,9,2\n")
        (examples / "days.csv").write_text("orders\n4\n6\n5\n7\n" * 5)
        (examples / "days.csv").write_text("orders\n" + "4\n6\n5\n7\n" * 5)
        (examples / "done.csv").write_text("a,b\n" + "3,1\n3,3\n2,3\n3,4\n" * 5)
        code, out, err = run("fit", "--problem", "lp", "--coefficients", "coef.csv", "--rows", "lines.csv", "--columns",
                             "cols.csv", "--data", "done.csv", "--contexts", "days.csv", "-o", "l.zip", "--json",
                             "--estimator", "fixed", "--start", "objective")  # fmt: skip
        assert code == 0, err
        assert json.loads(out)["n_calibration"] == 20
        code, out, _ = run("prescribe", "l.zip", "--data", "days.csv", "--quiet", "--level", 0)
        row = next(csv.DictReader(out.splitlines()))
        assert (float(row["orders"]), float(row["hours"])) == (4.0, 6.0)
        assert (float(row["nominal_a"]), float(row["nominal_b"])) == pytest.approx((3.0, 1.0))

    def test_infeasible_decisions_may_be_unexplained(self, run, examples):
        (examples / "over.csv").write_text("budget,items\n" + "40,tent\n30,stove\n12,lamp\n10,tent\n" * 10)
        shop = ["fit", "--problem", "knapsack", "--items", "items.csv", "--weight", "price", "--data", "over.csv"]
        code, _, err = run(*shop, "-o", "k.zip")
        assert code == 1
        assert "over budget in 10 rows (row 3: weight 40, budget 10;" in err
        code, out, err = run(*shop, "-o", "k.zip", "--infeasible", "unexplained", "--epochs", 2)
        assert code == 0
        assert "training decisions are infeasible and train nothing" in err
        assert "rows: 40 of 40 used" in out


class TestFaults:
    def test_stop_lists_them_all(self, run):
        code, out, err = run(*FIT[:-6], "--data", "trips-raw.csv", "--path", "route", "-o", "never.zip")
        assert (code, out) == (1, "")
        for words in ("missing path in 1 row (row 23", "unknown name", "'Z9' at step 1", "broken path", "closed trip"):
            assert words in err
        assert "--on-bad skip" in err

    def test_skip_writes_them(self, run, examples):
        code, _, err = run(*FIT[:-6], "--data", "trips-raw.csv", "--path", "route", "-o", "r.zip", "--on-bad", "skip",
                           "--epochs", 1)  # fmt: skip
        assert code == 0
        assert "The other rows are in trips-raw-skipped.csv" in err
        assert len((examples / "trips-raw-skipped.csv").read_text().splitlines()) == 5


class TestConfiguration:
    def config(self, folder, text):
        (folder / "c.toml").write_text(text)
        return folder / "c.toml"

    def test_flags_win_and_paths_start_at_the_file(self, run, examples, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        config = self.config(examples, (examples / "conformio.toml").read_text() + "\n[evaluate]\nlevel = [0.5, 0.6]\n")
        code, out, _ = run("fit", "--config", config, "--level", 0.7, "--json")
        assert code == 0
        assert json.loads(out)["confidence_level"] == 0.7
        assert cio.load(examples / "trips.zip").confidence_level == 0.7
        for flags, levels in (([], [None, 0.5, 0.6]), (["--level", 0.8], [None, 0.8])):
            model, data = examples / "trips.zip", examples / "trips-test.csv"
            code, out, _ = run("evaluate", model, "--data", data, "--config", config, "--json", *flags)
            assert [row["level"] for row in json.loads(out)["methods"]] == levels

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("[fit]\nlevle = 0.9\n", "[fit] has no option 'levle'; it has allow-loops, budget"),
            (
                "[fitt]\nlevel = 0.9\n",
                "[fitt] is no table of a command; commands are bench, calibrate, demo, evaluate",
            ),
            ("level = 0.9\n", "[level] is no table of a command"),
            ("[prescribe]\nmodel = 'm.zip'\n", "must have a table [fit]; it has prescribe"),
            ("[fit\n", "must be TOML"),
            ("[fit]\nlevel = 'high'\n", "'--level'"),
            ("[fit]\nlevel = 7\n", "'--level': must be a number in [0, 1]; got 7.0. Write 0.07 for 7 percent"),
            ("[fit]\nconfig = 'x.toml'\n", "[fit] has no option 'config'"),
        ],
    )
    def test_what_is_wrong_in_it_is_wrong_usage(self, run, tmp_path, text, message):
        code, out, err = run("fit", "--config", self.config(tmp_path, text), "--data", "x.csv", "-o", "x.zip")
        assert (code, out) == (2, "")
        assert message.replace(" ", "") in re.sub(r"[\s│]", "", err)

    def test_a_missing_file(self, run):
        code, _, err = run("fit", "--config", "none.toml", "--data", "x.csv", "-o", "x.zip")
        assert code == 2
        assert "none.toml" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing option"),
        (["--data", "x.csv", "-o", "x.zip"], "--problem path needs --network"),
        (["--data", "x.csv", "-o", "x.zip", "--network", "roads.csv"], "needs --tail and --head"),
        (["--data", "x.csv", "-o", "x.zip", "--network", "net.tntp", "--tail", "a"], "--tail does not go with a .tntp"),
        (["--data", "x.csv", "-o", "x.zip", "--items", "items.csv"], "--items goes with --problem knapsack"),
        (["--data", "x.csv", "-o", "x.zip", "--problem", "knapsack"], "--problem knapsack needs --items"),
        (["--data", "x.csv", "-o", "x.zip", "--problem", "lp"], "--problem lp needs --model, or --coefficients"),
        (["--data", "x.csv", "-o", "x.zip", "--problem", "lp", "--rows", "r"], "needs --coefficients and --columns"),
        (
            ["--data", "x.csv", "-o", "x.zip", "--problem", "lp", "--model", "m", "--sense", "max"],
            "--sense does not go",
        ),
        (["--data", "x.csv", "-o", "x.zip", "--problem", "cars"], "'--problem'"),
        (["--data", "x.csv", "-o", "x.zip", "--level", "95"], "Write 0.95 for 95 percent"),
        ([*FIT[1:], "-o", "x.zip", "--budget", "b"], "--budget does not go with tables of trips"),
        ([*FIT[1:], "-o", "x.zip", "--skipped", "s.csv"], "--skipped goes with --on-bad skip"),
        ([*FIT[1:], "-o", "x.zip", "--contexts", "c.csv"], "--contexts goes with --problem lp"),
        ([*FIT[1:], "-o", "x.zip", "--estimator", "suboptimality", "--epochs", "3"], "--epochs goes with"),
        ([*FIT[1:-2], "-o", "x.zip", "--estimator", "fixed"], "--estimator fixed needs --start"),
        ([*FIT[1:], "-o", "x.zip", "--jobs", "0"], "must be -1 or at least 1; got 0"),
    ],
)
def test_wrong_usage_exits_with_2(run, arguments, message):
    code, out, err = run("fit", *arguments)
    assert (code, out) == (2, "")
    assert message.replace(" ", "") in re.sub(r"[\s│]", "", err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*FIT[1:-1], "hours", "-o", "x.zip"], "--start: must be one of the network's attributes ['minutes']"),
        ([*FIT[1:], "-o", "none/x.zip"], "--out: must be in a folder that exists; got none/x.zip"),
        (["--data", "none.csv", "-o", "x.zip", *FIT[1:7]], "none.csv: must be a readable table; got no such file"),
        (["--data", "x.csv", "-o", "x.zip", "--network", "roads.txt"], "must be a .csv, .parquet, .tntp or .graphml"),
        ([*FIT[1:], "-o", "x.zip", "--calibration-fraction", "1"], "--calibration-fraction: must be"),
    ],
)
def test_failures_exit_with_1(run, arguments, message):
    code, out, err = run("fit", *arguments)
    assert (code, out) == (1, "")
    assert message in err


def test_rows_without_a_decision_are_named_as_in_the_data(run, examples):
    sources = ["--problem", "lp", "--model", "plan.mps", "--data", "plans-train.csv"]
    run("fit", *sources, "--start", "objective", "--estimator", "fixed", "-o", "u.zip", "--infeasible", "unexplained")
    rows = ["orders,hours,chairs,tables,bought", "69,x,1,1,1", "69,83,0,27.666667,41.333333", "999,69,0,23,51"]
    (examples / "hard.csv").write_text("\n".join(rows))
    for command in (["evaluate"], ["report"], ["prescribe"]):
        code, _, err = run(*command, "u.zip", "--data", "hard.csv", "--on-bad", "skip", "--skipped", "out.csv")
        assert code == 1
        assert "the data, row 2: no decision satisfies the constraints" in err


def test_names_beyond_the_output_are_told(run, examples, monkeypatch):
    for name in ("roads.csv", "trips-test.csv"):
        (examples / f"8-{name}").write_text((examples / name).read_text().replace("A1", "Ä1"), encoding="utf-8")
    fit = ["--network", "8-roads.csv", "--tail", "from", "--head", "to", "--trips", "8-trips-test.csv"]
    assert run("fit", *fit, "--path", "route", "-o", "8.zip")[0] == 0
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    code, _, err = run("prescribe", "8.zip", "--data", "8-trips-test.csv", "--path", "route")
    assert code == 1
    assert r"'\xc4' in a name cannot be written as ascii. Rename it" in err


def test_devices_are_never_replaced(run, examples):
    os.mkfifo(examples / "pipe")
    code, _, err = run(*FIT, "-o", "pipe")
    assert code == 1
    assert "--out: must be a regular file; got pipe, a device or pipe" in err
    assert (examples / "pipe").is_fifo()


def test_files_that_are_no_models(run, examples):
    (examples / "no.zip").write_text("no")
    for command in (["evaluate"], ["prescribe"], ["calibrate", "-o", "x.zip"]):
        code, _, err = run(*command, "no.zip", "--data", "trips-test.csv")
        assert code == 1
        assert "no.zip: this is no model file" in err
        assert "Write it with ConformalIO.save or conformio fit" in err


@pytest.mark.parametrize("command", ["evaluate", "prescribe", "report", "calibrate"])
def test_levels_in_percent_are_told_from_shares(run, command):
    out = ["-o", "x.zip"] if command == "calibrate" else []
    code, _, err = run(command, "trips.zip", "--data", "trips-test.csv", "--level", "90", *out)
    assert code == 2
    assert "Write0.9for90percent" in re.sub(r"[\s│]", "", err)


class TestExport:
    def test_it_says_where_to_go_on(self, run, tmp_path):
        code, out, _ = run("demo", "--export", tmp_path / "new")
        assert code == 0
        assert "14 files in" in out
        assert "README.md" in out

    def test_a_folder_with_files_is_left_alone(self, run, tmp_path):
        (tmp_path / "mine.txt").write_text("x")
        code, _, err = run("demo", "--export", tmp_path)
        assert code == 1
        assert "must be an empty folder; got one with mine.txt" in err
        assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]

    def test_a_file_in_the_way(self, run, tmp_path):
        (tmp_path / "file").write_text("x")
        code, _, err = run("demo", "--export", tmp_path / "file")
        assert code == 1
        assert "must be a folder that can be made" in err


@pytest.mark.parametrize("command", ["fit", "calibrate", "prescribe", "evaluate"])
def test_help_shows_an_example(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"Example: conformio {command} " in " ".join(out.split())


def test_completion_is_offered(run):
    assert "--install-completion" in run("--help")[1]
