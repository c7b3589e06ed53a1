"""`conformio report` from files: baselines, sampling, wrong use."""

import json
import re
import sys

import pytest

import conformio as cio
from conformio import cli
from conformio.observations import table_for
from conformio.studies.example_folder import export_example

FITS = (
    ["fit", "--config", "conformio.toml"],
    ["fit", "--problem", "knapsack", "--items", "items.csv", "--weight", "price", "--decisions", "baskets-train.csv"]
    + ["-o", "baskets.zip"],
    ["fit", "--problem", "lp", "--model", "plan.mps", "--start", "objective", "--estimator", "fixed"]
    + ["--data", "plans-train.csv", "-o", "plans.zip"],
)


def call(*arguments):
    """Run a command in this process; its exit code, and the message it ends with."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["conformio", *map(str, arguments), "--quiet"])
        with pytest.raises(SystemExit) as stop:
            cli.main()
    code = stop.value.code
    return (1, code) if isinstance(code, str) else (code or 0, "")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The example folder with its three models."""
    folder = tmp_path_factory.mktemp("report") / "example"
    export_example(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert [call(*fit)[0] for fit in FITS] == [0, 0, 0]
    return folder


@pytest.fixture
def folder(made, monkeypatch):
    monkeypatch.chdir(made)
    return made


def data_of(path):
    return json.loads(re.search(r'id="report-data">(.*?)</script>', path.read_text(encoding="utf-8"))[1])


def test_json_tells_what_was_made(folder, capfd):
    code, _ = call("report", "trips.zip", "--data", "trips-test.csv", "--id", "trip", "--json", "--level", 0.66)
    result = json.loads(capfd.readouterr().out)
    assert (code, result["out"]) == (0, "report.html")
    assert result["bytes"] == (folder / "report.html").stat().st_size
    assert (result["n_test"], result["n_prescribed"], result["n_shown"]) == (100, 100, 100)
    assert 0.66 in result["levels"]
    data = data_of(folder / "report.html")
    assert data["sample"]["ids"][0] == "T0300"
    assert data["baseline"] is None
    model = cio.load("trips.zip")
    test = table_for(model.problem, model.table_).read("trips-test.csv")
    assert result["coverage"] == model.covers(test.contexts, test.decisions).mean()


def test_a_baseline_of_trips(folder, capfd):
    code, _ = call(
        *("report", "trips.zip", "--data", "trips-test.csv", "--baseline", "usual", "-o", "b.html"),
    )
    assert code == 0
    assert "100 decisions measured" in capfd.readouterr().out
    baseline = data_of(folder / "b.html")["baseline"]
    model = cio.load("trips.zip")
    test = table_for(model.problem, model.table_).read("trips-test.csv")
    quickest = model.problem.solve(model.problem.network.attributes["minutes"], test.contexts)
    assert baseline["exact"] == cio.metrics.adherence(quickest, test.decisions).mean()
    assert (baseline["name"], baseline["n"]) == ("usual", 100)


def test_a_baseline_with_gaps(folder, capfd):
    lines = (folder / "trips-test.csv").read_text().splitlines()
    lines[3] = ",".join([*lines[3].split(",")[:2], ""])
    (folder / "gaps.csv").write_text("\n".join(lines) + "\n")
    options = ("report", "trips.zip", "--data", "gaps.csv", "--baseline", "usual", "-o", "g.html")
    code, _ = call(*options)
    assert (code, "1 row" in capfd.readouterr().err) == (1, True)
    assert call(*options, "--on-bad", "skip")[0] == 0
    assert data_of(folder / "g.html")["baseline"]["n"] == 99
    assert "missing path" in (folder / "gaps-skipped-baseline.csv").read_text()


def test_a_baseline_of_other_trips(folder, capfd):
    lines = (folder / "trips-test.csv").read_text().splitlines()
    lines[5] = ",".join([*lines[5].split(",")[:2], "A1;A2"])
    (folder / "other.csv").write_text("\n".join(lines) + "\n")
    code, _ = call("report", "trips.zip", "--data", "other.csv", "--baseline", "usual", "-o", "o.html")
    assert code == 1
    assert "--baseline, row 4: must hold decisions of the same trips" in capfd.readouterr().err
    assert not (folder / "o.html").exists()


def test_baselines_of_baskets_and_plans(folder, capfd):
    header, *rows = (folder / "baskets-test.csv").read_text().splitlines()
    lines = [f"{header},other", *(f"{row},[]" for row in rows)]
    (folder / "baskets-other.csv").write_text("\n".join(lines) + "\n")
    assert call("report", "baskets.zip", "--data", "baskets-other.csv", "--baseline", "other", "-o", "k.html")[0] == 0
    data = data_of(folder / "k.html")
    assert data["baseline"]["overlap"] <= data["classic"]["overlap"]
    assert data["network"] is None
    assert call("prescribe", "plans.zip", "--data", "plans-test.csv", "-o", "advice.csv")[0] == 0
    left = (folder / "plans-test.csv").read_text().splitlines()
    right = (folder / "advice.csv").read_text().splitlines()
    both = [f"{one},{','.join(other.split(',')[-4:-1])}" for one, other in zip(left, right, strict=True)]
    (folder / "plans-both.csv").write_text("\n".join(both) + "\n")
    capfd.readouterr()
    options = ("report", "plans.zip", "--data", "plans-both.csv", "--baseline", "nominal_", "-o", "p.html")
    assert call(*options) == (0, ""), capfd.readouterr().err
    data = data_of(folder / "p.html")
    assert data["baseline"]["exact"] == data["classic"]["exact"]
    assert data["baseline"]["overlap"] is None


def test_sampling_is_said(folder):
    options = ("--sample", 40, "--shown", 12, "-o", "s.html")
    assert call("report", "trips.zip", "--data", "trips-test.csv", *options)[0] == 0
    text = " ".join((folder / "s.html").read_text(encoding="utf-8").split())
    assert (
        "Coverage and angles are measured on all 100 trips. Prescriptions, and every share of them, refer to 40" in text
    )
    assert "12 trips are shown one by one" in text
    assert len(data_of(folder / "s.html")["sample"]["ids"]) == 12


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--data", "trips-test.csv", "-o", "trips.zip"], 2, "would write over the model"),
        (["--data", "trips-test.csv", "-o", "no/where.html"], 1, "must be in a folder that exists"),
        (["--data", "trips-test.csv", "--baseline", "nothing"], 1, "--baseline: must name decisions"),
        (["--data", "trips-test.csv", "--shown", "0"], 2, "--shown"),
    ],
)
def test_wrong_use(folder, capfd, arguments, code, message):
    found, said = call("report", "trips.zip", *arguments)
    assert found == code
    assert message in " ".join((capfd.readouterr().err + said).split())
