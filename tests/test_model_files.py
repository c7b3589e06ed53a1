"""A stored model is the model: the same prescriptions to the last bit, for every problem and elsewhere."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression

import conformio as cio
from conformio import model_files
from conformio.data import read_archive, write_archive
from conformio.studies import knapsack_example, road_grid_example


def shop(theta, u):
    """The one of four items that is worth most."""
    return np.eye(4)[int(np.argmax(theta))]


def oracle(n_params=4, sense="max"):
    return cio.OracleProblem(shop, n_params, sense, domain="free", feasible_set="binary")


def roads():
    grid = cio.Network.grid(3, 3)
    zones = np.zeros(9, dtype=bool)
    zones[4] = True
    return cio.Network(
        grid.tails,
        grid.heads,
        attributes={"minutes": np.linspace(1, 2, 24), "lanes": np.arange(24) % 3},
        zones=zones,
        node_ids=[("street", k) for k in range(9)],
        coordinates=grid.coordinates,
    )


def simulated(problem, contexts, seed=0):
    thetas = np.random.default_rng(seed).uniform(1, 3, (len(contexts), problem.n_params))
    return problem, contexts, problem.solve(thetas, contexts)


def trips(n, n_nodes=9, seed=1):
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(n_nodes, 2, replace=False) for _ in range(n)], dtype=float)


def case(name):
    if name == "roads":
        return simulated(cio.ShortestPath(roads()), trips(40))
    if name == "free roads":
        return simulated(cio.ShortestPath(cio.Network.grid(3, 3), domain="free"), trips(40))
    if name == "knapsack":
        shoppers = knapsack_example(40, 5, random_state=0)
        return shoppers.problem, shoppers.contexts, shoppers.decisions
    budgets = -np.random.default_rng(2).uniform(1, 3, (24, 1))
    matrix = sparse.csr_array(-np.array([[1.0, 2.0, 3.0]]))
    if name == "linear":
        return simulated(cio.LinearProgram(A_ub=matrix, upper=[4.0, 4.0, np.inf], domain="nonnegative"), budgets)
    return simulated(cio.IntegerProgram(A_ub=matrix, upper=4.0, integrality=[True, False, True]), budgets)


def fitted(name="roads", estimator=None):
    problem, contexts, decisions = case(name)
    chosen = cio.PerturbedFenchelYoung(epochs=2) if estimator is None else estimator
    model = cio.ConformalIO(problem, chosen, confidence_level=0.8, random_state=3)
    return model.fit(contexts, decisions), contexts, decisions


def dense(decisions):
    return decisions.toarray() if sparse.issparse(decisions) else decisions


CASES = ["roads", "free roads", "knapsack", "linear", "integer"]


@pytest.mark.parametrize("name", CASES)
def test_round_trip_of_every_problem(name, tmp_path):
    model, contexts, decisions = fitted(name)
    model.save(tmp_path / "m")
    again = cio.load(tmp_path / "m")
    assert dense(again.predict(contexts)).tobytes() == dense(model.predict(contexts)).tobytes()
    assert dense(again.predict_nominal(contexts)).tobytes() == dense(model.predict_nominal(contexts)).tobytes()
    np.testing.assert_array_equal(again.angles(contexts, decisions), model.angles(contexts, decisions))
    np.testing.assert_array_equal(again.scores_, model.scores_)
    assert again.angle(0.5) == model.angle(0.5)
    assert vars(again).keys() == vars(model).keys()
    assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys()


def test_networks_keep_all_they_know(tmp_path):
    model, _, _ = fitted()
    model.save(tmp_path / "m")
    before, after = model.problem.network, cio.load(tmp_path / "m").problem.network
    assert after.node_ids.tolist() == before.node_ids.tolist()
    assert after.attributes["lanes"].dtype == before.attributes["lanes"].dtype
    for name in ("tails", "heads", "zones", "coordinates"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name))
    np.testing.assert_array_equal(after.attributes["minutes"], before.attributes["minutes"])


ESTIMATORS = {
    "loss": lambda: cio.SuboptimalityLoss(center=np.full(24, 2.0)),
    "robust loss": lambda: cio.DistributionallyRobustLoss(0.1, risk="cvar", level=0.2),
    "given": lambda: cio.FixedParameters(np.linspace(1, 2, 24)),
    "seeded": lambda: cio.PerturbedFenchelYoung(epochs=1, random_state=np.random.default_rng(4)),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_round_trip_of_every_estimator(name, tmp_path):
    model, contexts, _ = fitted(estimator=ESTIMATORS[name]())
    model.save(tmp_path / "m")
    again = cio.load(tmp_path / "m")
    assert type(again.estimator) is type(again.estimator_) is type(model.estimator)
    np.testing.assert_array_equal(again.centers(contexts), model.centers(contexts))
    assert vars(again.estimator_).keys() == vars(model.estimator_).keys()
    np.testing.assert_array_equal(again.estimator_.parameters(contexts), model.estimator_.parameters(contexts))


def test_default_estimator_stays_the_default(tmp_path):
    problem, contexts, decisions = case("roads")
    cio.ConformalIO(problem, random_state=0).fit(contexts, decisions).save(tmp_path / "m")
    assert cio.load(tmp_path / "m").estimator is None


def test_loaded_models_go_on_working(tmp_path):
    model, contexts, decisions = fitted()
    model.save(tmp_path / "m")
    again = cio.load(tmp_path / "m").conformalize(contexts[:20], decisions[:20])
    assert again.n_calibration_ == 20
    again.fit(contexts, decisions)
    np.testing.assert_array_equal(again.scores_, model.scores_)


def test_equal_models_give_equal_files(tmp_path):
    for name in ("a", "b"):
        fitted()[0].save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("name", ["roads", "integer"])
def test_another_interpreter_prescribes_the_same_bits(name, tmp_path):
    model, contexts, _ = fitted(name)
    model.save(tmp_path / "m")
    np.save(tmp_path / "contexts.npy", contexts)
    script = """
import sys
import numpy as np
import conformio as cio
model, contexts = cio.load("m"), np.load("contexts.npy")
found = model.predict(contexts)
np.save("found.npy", found.toarray() if hasattr(found, "toarray") else found)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", script], cwd=tmp_path, check=True)
    assert np.load(tmp_path / "found.npy").tobytes() == dense(model.predict(contexts)).tobytes()


FIXTURES = Path(__file__).parent / "fixtures"


class TestVersion1:
    """Files that release 0.1.0 wrote."""

    def test_they_load_and_go_on(self, tmp_path):
        model = cio.load(FIXTURES / "model-version-1.zip")
        network = model.problem.network
        assert network.node_ids.tolist() == [("street", k) for k in range(9)]
        assert network.edge_ids is None
        assert model.confidence_level == 0.8
        assert model.angle_ == model.angle(0.8)
        assert model.predict([[0, 8]]).sum() == 4
        model.save(tmp_path / "m")
        again = cio.load(tmp_path / "m")
        np.testing.assert_array_equal(again.scores_, model.scores_)

    def test_the_same_problem_still_agrees(self):
        model = cio.load(FIXTURES / "model-version-1.zip")
        assert cio.load(FIXTURES / "model-version-1.zip", problem=model.problem).problem is model.problem

    def test_code_is_asked_for(self):
        with pytest.raises(cio.ModelFileError, match=r"OracleProblem holds code.*load\(path, problem=\.\.\.\)"):
            cio.load(FIXTURES / "oracle-version-1.zip")
        assert cio.load(FIXTURES / "oracle-version-1.zip", problem=oracle()).predict([[0.0]]).shape == (1, 4)


def test_the_document_tells_where_the_model_comes_from(tmp_path):
    model, _, _ = fitted()
    model.save(tmp_path / "m")
    with zipfile.ZipFile(tmp_path / "m") as stored:
        content = json.loads(stored.read("model.json"))["content"]
    assert content["provenance"]["conformio"] == cio.__version__
    assert content["provenance"]["numpy"] == np.__version__
    assert content["settings"]["confidence_level"] == 0.8
    assert content["settings"]["random_state"] == 3
    assert content["provenance"]["seed"] == 3
    assert content["provenance"]["data_sha256"] == model.data_fingerprint_
    assert content["provenance"]["calibration_sha256"] == model.calibration_fingerprint_
    assert content["about"]["problem"] == repr(model.problem)
    assert content["about"]["n_calibration"] == model.n_calibration_ == len(model.calibration_indices_)
    assert content["about"]["angle_degrees"] == pytest.approx(np.degrees(model.angle_), abs=1e-6)


class TestProblemsThatHoldCode:
    def saved(self, folder):
        problem = oracle()
        contexts = np.zeros((60, 1))
        decisions = problem.solve(np.random.default_rng(0).normal(size=(60, 4)), contexts)
        model = cio.ConformalIO(problem, cio.FixedParameters([4.0, 3.0, 2.0, 1.0]), random_state=0)
        model.fit(contexts, decisions).save(folder / "m")
        return model, contexts

    def test_they_are_given_again(self, tmp_path):
        model, contexts = self.saved(tmp_path)
        problem = oracle()
        again = cio.load(tmp_path / "m", problem=problem)
        assert again.problem is problem
        np.testing.assert_array_equal(dense(again.predict(contexts)), dense(model.predict(contexts)))

    def test_without_them_the_remedy_is_named(self, tmp_path):
        self.saved(tmp_path)
        with pytest.raises(
            cio.ModelFileError,
            match=r"OracleProblem holds code.*: solve\. Call load\(path, solve=",
        ):
            cio.load(tmp_path / "m")

    def test_their_functions_alone_will_do(self, tmp_path):
        model, contexts = self.saved(tmp_path)
        again = cio.load(tmp_path / "m", solve=shop)
        assert again.problem.binary
        assert again.problem.sense == "max"
        np.testing.assert_array_equal(dense(again.predict(contexts)), dense(model.predict(contexts)))

    def test_a_convex_program_is_built_again(self, tmp_path):
        cp = pytest.importorskip("cvxpy")

        def build(u):
            x = cp.Variable(2)
            return x, [cp.square(x[0]), cp.square(x[1])], [cp.sum(x) == u[0]]

        problem = cio.ConvexProgram(build, 2, example_context=[3.0])
        contexts = np.linspace(1, 2, 8)[:, None]
        decisions = problem.solve(np.random.default_rng(0).uniform(1, 2, (8, 2)), contexts)
        model = cio.ConformalIO(problem, cio.FixedParameters([1.0, 1.0]), confidence_level=0.5)
        model.conformalize(contexts, decisions).save(tmp_path / "m")
        with pytest.raises(cio.ModelFileError, match=r"ConvexProgram holds code.*: build\. Call load\(path, build="):
            cio.load(tmp_path / "m")
        again = cio.load(tmp_path / "m", build=build)
        assert again.problem.to_state()["example_context"].tolist() == [3.0]
        np.testing.assert_array_equal(again.predict([[2.0]]), model.predict([[2.0]]))

    @pytest.mark.parametrize("functions", [{"basis": shop}, {"solve": shop, "basis": shop}])
    def test_other_functions_are_refused(self, tmp_path, functions):
        self.saved(tmp_path)
        with pytest.raises(cio.ModelFileError, match=r"OracleProblem holds code.*: solve \(got .*basis"):
            cio.load(tmp_path / "m", **functions)

    def test_both_are_too_much(self, tmp_path):
        self.saved(tmp_path)
        with pytest.raises(cio.InvalidInputError, match="`problem` of load: must be given without functions"):
            cio.load(tmp_path / "m", problem=oracle(), solve=shop)

    def test_problems_without_code_need_none(self, tmp_path):
        fitted()[0].save(tmp_path / "m")
        with pytest.raises(
            cio.ModelFileError, match=r"ShortestPath needs no functions \(got solve\)\. Call load\(path\)"
        ):
            cio.load(tmp_path / "m", solve=shop)

    @pytest.mark.parametrize(
        ("problem", "reason"),
        [
            (oracle(n_params=5), "its n_params must be 4; got 5"),
            (oracle(sense="min"), "its sense must be 'max'; got 'min'"),
            (cio.Knapsack([1.0, 1.0, 1.0, 1.0]), "its class must be 'OracleProblem'; got 'Knapsack'"),
        ],
    )
    def test_others_are_refused(self, tmp_path, problem, reason):
        self.saved(tmp_path)
        with pytest.raises(cio.ModelFileError, match=f"is not the one that was saved: {reason}"):
            cio.load(tmp_path / "m", problem=problem)

    def test_something_else_is_refused(self, tmp_path):
        self.saved(tmp_path)
        with pytest.raises(cio.InvalidInputError, match="`problem` of load: must be a conformio problem; got str"):
            cio.load(tmp_path / "m", problem="oracle")

    def test_own_classes_are_given_again_too(self, tmp_path):
        class Roads(cio.ShortestPath):
            pass

        problem, contexts, decisions = simulated(Roads(cio.Network.grid(3, 3)), trips(40))
        cio.ConformalIO(problem, random_state=0).fit(contexts, decisions).save(tmp_path / "m")
        with pytest.raises(cio.ModelFileError, match="Roads holds code"):
            cio.load(tmp_path / "m")
        assert cio.load(tmp_path / "m", problem=problem).problem is problem


class TestAgreement:
    def test_an_equal_problem_may_be_given(self, tmp_path):
        model, _, _ = fitted()
        model.save(tmp_path / "m")
        same = cio.ShortestPath(roads())
        assert cio.load(tmp_path / "m", problem=same).problem is same

    def test_other_data_are_seen(self, tmp_path):
        model, _, _ = fitted()
        model.save(tmp_path / "m")
        other = cio.ShortestPath(cio.Network.grid(3, 3))
        with pytest.raises(cio.ModelFileError, match="its data differ"):
            cio.load(tmp_path / "m", problem=other)


class TestWhatCannotBeStored:
    def test_functions(self, tmp_path):
        def guess(contexts):
            return np.ones((len(contexts), 24))

        model, _, _ = fitted(estimator=cio.FixedParameters(guess))
        with pytest.raises(
            cio.InvalidInputError,
            match="`theta` of FixedParameters: functions and predictors cannot be stored",
        ):
            model.save(tmp_path / "m")
        assert not (tmp_path / "m").exists()

    def test_predictors(self, tmp_path):
        predictor = LinearRegression().fit(np.zeros((2, 2)), np.ones((2, 24)))
        model, _, _ = fitted(estimator=cio.FixedParameters(predictor))
        with pytest.raises(cio.InvalidInputError, match="functions and predictors cannot be stored"):
            model.save(tmp_path / "m")

    def test_estimators_of_ones_own(self, tmp_path):
        class Own(cio.FixedParameters):
            pass

        model, _, _ = fitted(estimator=Own(np.ones(24)))
        with pytest.raises(cio.InvalidInputError, match=r"must be one of the library's own estimators.*got 'Own'"):
            model.save(tmp_path / "m")

    def test_unfitted_models(self, tmp_path):
        with pytest.raises(cio.NotFittedError, match="Call fit"):
            cio.ConformalIO(cio.Knapsack([1.0])).save(tmp_path / "m")


class TestForgedFiles:
    """Whole files with valid checksums whose content no `save` would write."""

    def forged(self, folder, change):
        model, _, _ = fitted("knapsack")
        model.save(folder / "m")
        content = read_archive(folder / "m", model_files.HEADER)
        change(content)
        write_archive(folder / "m", model_files.HEADER, content)
        return folder / "m"

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            (lambda c: c.pop("settings"), "settings"),
            (lambda c: c["problem"].update({"class": "subprocess"}), "library's own problems"),
            (lambda c: c["problem"].update({"class": "Problem"}), "Problem"),
            (lambda c: c["fitted_estimator"].update({"class": "Knapsack"}), "library's own estimators"),
            (lambda c: c["problem"]["arguments"].update(weights="x"), "weights"),
            (lambda c: c["problem"]["arguments"].update(extra=1), "extra"),
            (lambda c: c["fitted"].update(predict=1), "'predict' is no fitted attribute"),
            (lambda c: c["fitted"].update(__class__="x"), "'__class__' is no fitted attribute"),
            (lambda c: c["fitted_estimator"]["fitted"].update(fit=1), "'fit' is no fitted attribute"),
            (lambda c: c.update(estimator=3), "subscriptable"),
            (lambda c: c["settings"].update(extra=1), "extra"),
            (lambda c: c["settings"].update(confidence_level=7), "`confidence_level` of load"),
            (lambda c: c["fitted"].pop("angle_"), "angle_"),
            (lambda c: c["fitted"].pop("scores_"), "calibrated_level_"),
            (lambda c: c["fitted"].update(scores_=np.full(10, np.nan)), "`scores_` row 0 of the stored fit"),
            (lambda c: c["fitted"].update(scores_=np.full(7, 0.1)), "must be 10 angles, 0 of them pi"),
            (lambda c: c["fitted"].update(n_unexplained_=3), "must be 10 angles, 3 of them pi"),
            (lambda c: c["fitted"].update(angle_=float("nan")), "`angle_` of the stored fit"),
            (lambda c: c["fitted"].update(angle_=0.123), "one of the calibration angles; got 0.123"),
            (lambda c: c["fitted"].update(tie_mass_=2.0), "`tie_mass_`"),
            (lambda c: c["fitted"].update(theta_=None), "`theta_`.*exactly where the estimator has one vector"),
            (lambda c: c["fitted"].update(theta_=np.full(5, np.inf)), "`theta_`.*must be finite"),
            (lambda c: c["fitted"].update(theta_=np.ones(3)), "`theta_`.*must have shape"),
            (lambda c: c["fitted"].update(theta_=2.0 * c["fitted"]["theta_"]), "with unit length"),
        ],
    )
    def test_they_are_refused(self, tmp_path, change, reason):
        path = self.forged(tmp_path, change)
        with pytest.raises(cio.ModelFileError, match=f"describes no model.*{reason}"):
            cio.load(path)

    def test_nodes_that_are_not_in_the_file_take_no_memory(self, tmp_path):
        fitted()[0].save(tmp_path / "m")
        content = read_archive(tmp_path / "m", model_files.HEADER)
        absent = {"zones": None, "coordinates": None, "node_ids": None}
        content["problem"]["arguments"]["network"].update(absent, n_nodes=2**31 - 1)
        write_archive(tmp_path / "m", model_files.HEADER, content)
        with pytest.raises(cio.ModelFileError, match=r"`zones`.*must say of every node"):
            cio.load(tmp_path / "m")

    def test_a_level_set_after_the_fit_is_no_forgery(self, tmp_path):
        model, _, _ = fitted("knapsack")
        model.set_params(confidence_level=0.4).save(tmp_path / "m")
        assert cio.load(tmp_path / "m").angle() == model.angle()

    def test_a_file_of_another_release(self, tmp_path, monkeypatch):
        model, _, _ = fitted("knapsack")
        with monkeypatch.context() as patch:
            patch.setattr(model_files, "HEADER", model_files.Header("conformio-model", 9))
            model.save(tmp_path / "m")
        with pytest.raises(
            cio.ModelFileError, match="reads versions 1 to 2 of conformio-model; the file has version 9"
        ):
            cio.load(tmp_path / "m")


def test_devices_stay_devices(tmp_path):
    model, _, _ = fitted("knapsack")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(cio.ModelFileError, match="it is no regular file"):
        model.save(tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()


def test_a_missing_file(tmp_path):
    with pytest.raises(cio.ModelFileError, match="cannot be read"):
        cio.load(tmp_path / "none")


def test_the_paper_grid_survives(tmp_path):
    drivers = road_grid_example(100, random_state=0)
    model = cio.ConformalIO(drivers.problem, random_state=0).fit(drivers.contexts, drivers.decisions)
    model.save(tmp_path / "m")
    assert (cio.load(tmp_path / "m").predict(drivers.contexts) != model.predict(drivers.contexts)).nnz == 0


@pytest.mark.parametrize("path", [None, 3, b"m"])
def test_what_is_no_path(path, tmp_path):
    model = cio.ConformalIO(cio.Knapsack([1.0, 1.0]), cio.FixedParameters([1.0, 2.0]), 0.5)
    model.conformalize([[1.0]] * 4, [[1.0, 0.0]] * 4)
    for call, name in ((model.save, "save"), (cio.load, "load")):
        with pytest.raises(
            cio.InvalidInputError, match=rf"`path` of {name}: must be the path of a file; got .*Write for"
        ):
            call(path)
