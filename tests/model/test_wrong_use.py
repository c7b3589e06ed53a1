"""What a user is told when data or calls are wrong: the method called, the row as passed, and what to do."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression

import conformio as cio
from conformio.studies import road_grid_example


@pytest.fixture(scope="module")
def drivers():
    return road_grid_example(120, rows=4, cols=4, random_state=0)


@pytest.fixture
def model(drivers):
    return cio.ConformalIO(drivers.problem, cio.SuboptimalityLoss(), 0.8, random_state=3).fit(
        drivers.contexts, drivers.decisions
    )


class Fails:
    """A solver that cannot answer one context, the more so when asked once too often."""

    def __init__(self, context, calls_before=0):
        self.context, self.left = context, calls_before

    def __call__(self, theta, u):
        if u[0] == self.context:
            self.left -= 1
            if self.left < 0:
                raise ZeroDivisionError("by nothing")
        return np.eye(3)[np.argmin(theta)]


def oracle(solve):
    return cio.OracleProblem(solve, 3, feasible_set="binary")


class TestRowsAreThoseOfTheUser:
    contexts, decisions = np.arange(40.0), np.eye(3)[np.arange(40) % 3]

    def test_in_training(self):
        model = cio.ConformalIO(oracle(Fails(21)), cio.SuboptimalityLoss(), random_state=0)
        with pytest.raises(cio.SolverError, match=r"^`contexts` row 21 of ConformalIO\.fit: `solve` raised ZeroDiv"):
            model.fit(self.contexts, self.decisions)

    @pytest.mark.parametrize("row", range(40))
    def test_in_either_part(self, row):
        for estimator in (cio.SuboptimalityLoss(), cio.FixedParameters([1.0, 2.0, 3.0])):
            model = cio.ConformalIO(oracle(Fails(row)), estimator, random_state=1)
            calibrates = row in np.sort(np.random.default_rng(1).permutation(40)[:10])
            if isinstance(estimator, cio.FixedParameters) and not calibrates:
                continue
            with pytest.raises(cio.SolverError, match=rf"`contexts` row {row} of ConformalIO\.fit: "):
                model.fit(self.contexts, self.decisions)

    def test_rows_left_out_of_training_are_counted(self):
        decisions = self.decisions.copy()
        decisions[:12] = 0.5
        model = cio.ConformalIO(oracle(Fails(21)), cio.SuboptimalityLoss(), infeasible="unexplained", random_state=0)
        with (
            pytest.warns(cio.CalibrationWarning),
            pytest.raises(cio.SolverError, match=r"`contexts` row 21 of ConformalIO\.fit"),
        ):
            model.fit(self.contexts, decisions)

    def test_in_predicted_parameters(self):
        def signed(contexts):
            return np.where(contexts == 21.0, 0.0, 1.0) * np.ones((len(contexts), 3))

        for seed in range(4):
            model = cio.ConformalIO(oracle(Fails(-1)), cio.FixedParameters(signed), random_state=seed)
            with pytest.raises(cio.InvalidInputError, match=r"`theta` row 21 of ConformalIO\.fit: must not be zero"):
                model.fit(self.contexts, self.decisions)

    def test_in_prediction(self):
        network = cio.Network([0, 1, 2, 3], [1, 0, 3, 2])
        model = cio.ConformalIO(cio.ShortestPath(network), cio.FixedParameters(np.ones(4)), 0.5)
        model.conformalize([[0, 1], [2, 3]] * 5, [[1, 0, 0, 0], [0, 0, 1, 0]] * 5)
        for method in ("predict", "prescribe", "predict_nominal"):
            message = rf"`contexts` row 1 of ConformalIO\.{method}: there is no path from 0 to 2"
            with pytest.raises(cio.InfeasibleProblemError, match=message):
                getattr(model, method)([[0, 1], [0, 2]])


class TestFailuresChangeNothing:
    def check_unchanged(self, model, before, failing):
        with pytest.raises(cio.ConformioError):
            failing()
        after = vars(model)
        fitted = {name for name in before if name.endswith("_")}
        assert fitted == {name for name in after if name.endswith("_")}
        assert all(after[name] is before[name] for name in fitted)

    def test_refitting_with_a_wrong_estimator(self, model, drivers):
        plan = model.predict(drivers.contexts[:5]).toarray()
        before = dict(vars(model))
        model.set_params(estimator=cio.PerturbedFenchelYoung(sigma=-1))
        self.check_unchanged(model, before, lambda: model.fit(drivers.contexts, drivers.decisions))
        np.testing.assert_array_equal(model.predict(drivers.contexts[:5]).toarray(), plan)

    def test_refitting_on_infeasible_rows(self, model, drivers):
        before = dict(vars(model))
        self.check_unchanged(model, before, lambda: model.fit(drivers.contexts, drivers.decisions[::-1]))
        self.check_unchanged(model, before, lambda: model.conformalize(drivers.contexts, drivers.decisions[::-1]))

    def test_calibration_that_fails_after_training(self):
        rows = TestRowsAreThoseOfTheUser
        model = cio.ConformalIO(oracle(Fails(-1)), cio.SuboptimalityLoss(), 0.5, random_state=0)
        model.fit(rows.contexts, rows.decisions)
        before = dict(vars(model))
        calibrates = float(model.calibration_indices_[0])
        model.set_params(problem=oracle(Fails(calibrates)))
        self.check_unchanged(model, before, lambda: model.fit(rows.contexts, rows.decisions))

    def test_calibrating_on_nothing(self, model, drivers):
        before = dict(vars(model))

        def failing():
            with pytest.raises(cio.InvalidInputError, match=r"`contexts` of ConformalIO\.conformalize: .*one row") as e:
                model.conformalize(drivers.contexts[:0], drivers.decisions[:0])
            raise e.value

        self.check_unchanged(model, before, failing)

    def test_first_conformalize(self, drivers):
        fresh = cio.ConformalIO(drivers.problem, cio.FixedParameters(drivers.theta_true), "0.5")
        with pytest.raises(cio.InvalidInputError):
            fresh.conformalize(drivers.contexts, drivers.decisions)
        assert not hasattr(fresh, "estimator_")


class TestInfeasibleRows:
    def test_every_method_names_itself_and_the_setting(self, drivers, model):
        decisions = drivers.decisions[:9].toarray()
        decisions[4] = 0.0
        for method in ("fit", "conformalize", "covers", "angles"):
            message = (
                rf"^`decisions` row 4 of ConformalIO\.{method}: every decision must be feasible for its context; got "
                r"1 infeasible row: 4 \(it uses no edge, but the trip goes from node \d+ to node \d+\)\. Correct or "
                r'remove them, .*`nearest_rationalizable`, or build .*ConformalIO\(\.\.\., infeasible="unexplained"\)'
            )
            with pytest.raises(cio.InvalidInputError, match=message):
                getattr(model, method)(drivers.contexts[:9], decisions)

    def test_rows_in_another_order(self, model, drivers):
        message = r"ConformalIO\.covers: .*So many are seldom single mistakes: check the order of the columns"
        with pytest.raises(cio.InvalidInputError, match=message):
            model.covers(drivers.contexts, drivers.decisions[::-1])
        with pytest.raises(
            cio.InvalidInputError, match=r"it leads from node (\d+) to node (\d+), but .* \2 to node \1"
        ):
            model.covers(drivers.contexts[:, ::-1], drivers.decisions)


class TestColumnNames:
    def frame(self, contexts, columns=("o", "d")):
        pandas = pytest.importorskip("pandas")
        return pandas.DataFrame(contexts, columns=list(columns))

    @pytest.fixture
    def named(self, drivers):
        model = cio.ConformalIO(drivers.problem, cio.SuboptimalityLoss(), 0.8, random_state=3)
        return model.fit(self.frame(drivers.contexts), drivers.decisions)

    def test_they_are_kept(self, named, model, tmp_path):
        assert named.feature_names_in_.tolist() == ["o", "d"]
        assert named.n_features_in_ == model.n_features_in_ == 2
        assert not hasattr(model, "feature_names_in_")
        named.save(tmp_path / "m.conformio")
        again = cio.load(tmp_path / "m.conformio")
        assert again.feature_names_in_.tolist() == ["o", "d"]
        assert again.n_features_in_ == 2

    @pytest.mark.parametrize(
        "method", ["predict", "prescribe", "predict_nominal", "centers", "covers", "angles", "score", "conformalize"]
    )
    def test_another_order_is_refused(self, named, drivers, method):
        swapped = self.frame(drivers.contexts)[["d", "o"]]
        rest = (drivers.decisions,) if method in ("covers", "angles", "score", "conformalize") else ()
        message = rf"`contexts` of ConformalIO\.{method}: must have the columns of the fitted data, \['o', 'd'\]; got"
        with pytest.raises(cio.InvalidInputError, match=message + r" \['d', 'o'\]\. Write contexts\[\['o', 'd'\]\]"):
            getattr(named, method)(swapped, *rest)

    def test_other_names_are_refused(self, named, drivers):
        with pytest.raises(cio.InvalidInputError, match=r"got \['a', 'b'\]\. Name them alike"):
            named.predict(self.frame(drivers.contexts, ("a", "b")))

    def test_the_same_names_and_none_are_fine(self, named, drivers):
        plan = named.predict(drivers.contexts[:9]).toarray()
        np.testing.assert_array_equal(named.predict(self.frame(drivers.contexts[:9])).toarray(), plan)
        numbered = self.frame(drivers.contexts[:9], (0, 1))
        np.testing.assert_array_equal(named.predict(numbered).toarray(), plan)

    def test_fitting_again_forgets_them_and_conformalize_keeps_them(self, named, drivers):
        named.conformalize(drivers.contexts, drivers.decisions)
        assert named.feature_names_in_.tolist() == ["o", "d"]
        named.fit(drivers.contexts, drivers.decisions)
        assert not hasattr(named, "feature_names_in_")
        named.conformalize(self.frame(drivers.contexts, ("from", "to")), drivers.decisions)
        assert named.feature_names_in_.tolist() == ["from", "to"]

    def test_polars(self, drivers):
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame(drivers.contexts, schema=["o", "d"])
        model = cio.ConformalIO(drivers.problem, cio.FixedParameters(drivers.theta_true), 0.8)
        model.conformalize(frame, drivers.decisions)
        assert model.feature_names_in_.tolist() == ["o", "d"]


class TestArguments:
    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
    def test_swapped(self, model, drivers, form):
        decisions = form(drivers.decisions.toarray())
        for method in ("fit", "conformalize", "covers", "score"):
            message = (
                rf"ConformalIO\.{method}: must have 2 columns and `decisions` 48; got 48 and 2\. The two .*swapped"
            )
            with pytest.raises(cio.InvalidInputError, match=message):
                getattr(model, method)(decisions, drivers.contexts)

    def test_swapped_budgets(self):
        shop, bought = cio.Knapsack([1.0, 2.0]), np.array([[1.0, 0.0]] * 8)
        with pytest.raises(cio.InvalidInputError, match=r"must have 1 columns and .* got 2 and 1\. The two"):
            cio.ConformalIO(shop).fit(bought, [3.0] * 8)
        with pytest.raises(cio.InvalidInputError, match=r"must have 1 column; got shape \(8, 2\)"):
            cio.ConformalIO(shop).fit(bought, bought)

    def test_decisions_left_out(self, model, drivers):
        with pytest.raises(cio.InvalidInputError, match=r"`decisions` of ConformalIO\.fit: must be given; got None"):
            model.fit(drivers.contexts, None)

    def test_paths_for_decisions(self, model, drivers):
        for paths in ([[0, 1, 2], [3, 4]], [["A", "B"], ["B", "C"]]):
            with pytest.raises(cio.InvalidInputError, match=r"what look like paths\. network.decisions_from_paths"):
                model.fit(drivers.contexts[:2], paths)
        with pytest.raises(cio.InvalidInputError, match="must have one row per observation and 48 columns"):
            model.fit(drivers.contexts[:2], [[0, 1], [2, 3]])

    def test_nothing_at_all(self, drivers):
        with pytest.raises(cio.InvalidInputError, match=r"got shape \(0,\)$"):
            cio.ConformalIO(drivers.problem).fit([], [])
        with pytest.raises(cio.InvalidInputError, match=r"got 0 in all\. Give more rows$"):
            cio.ConformalIO(drivers.problem).fit(drivers.contexts[:0], drivers.decisions[:0])

    @pytest.mark.parametrize(
        ("method", "decided"), [("predict", False), ("prescribe", False), ("covers", True), ("uncertainty_set", None)]
    )
    def test_levels_blame_the_method_called(self, model, drivers, method, decided):
        rows = () if decided is None else (drivers.contexts[:2], *([drivers.decisions[:2]] if decided else []))
        with pytest.raises(cio.InvalidInputError, match=rf"`confidence_level` of ConformalIO\.{method}: "):
            getattr(model, method)(*rows, confidence_level=90)

    @pytest.mark.parametrize("method", ["predict", "prescribe", "predict_nominal"])
    def test_contexts_blame_the_method_called(self, model, method):
        with pytest.raises(cio.InvalidInputError, match=rf"`contexts` row 0 of ConformalIO\.{method}: "):
            getattr(model, method)([[0, 99]])

    def test_other_things_for_problems_and_estimators(self, drivers):
        wrong = {
            "estimator": [
                (cio.SuboptimalityLoss, "got the class SuboptimalityLoss, .*Write SuboptimalityLoss.., with brackets"),
                (LinearRegression(), r"Write FixedParameters\("),
                (drivers.theta_true, r"got ndarray. Write FixedParameters\("),
                ("suboptimality", "got str. Write for instance estimator=SuboptimalityLoss"),
            ],
            "problem": [
                (cio.ShortestPath, "got the class ShortestPath, not an instance. Build one: ShortestPath"),
                (drivers.problem.network, r"got Network. Write ShortestPath\(network\)"),
                ("roads", "got str"),
            ],
        }
        for name, value, hint in [(name, *pair) for name, pairs in wrong.items() for pair in pairs]:
            model = cio.ConformalIO(**{"problem": drivers.problem, name: value})
            with pytest.raises(cio.InvalidInputError, match=rf"`{name}` of ConformalIO\.fit: must be .*{hint}"):
                model.fit(drivers.contexts, drivers.decisions)

    @pytest.mark.parametrize(
        ("level", "hint"),
        [
            (90, "got 90. Write 0.9 for 90 percent"),
            ("0.9", "got '0.9'. Write it as a number"),
            (-0.5, r"got -0\.5$"),
            (1.0000001, r"got 1\.0000001$"),
        ],
    )
    def test_levels(self, model, level, hint):
        with pytest.raises(cio.InvalidInputError, match=f"must be a number in .0, 1.; {hint}"):
            model.angle(level)

    def test_degrees(self):
        with pytest.raises(
            cio.InvalidInputError, match=r"`angle` of .*; got 25. Angles are radians: write numpy.radians\(25"
        ):
            cio.SphericalCap([1.0, 2.0], 25)
        with pytest.raises(cio.InvalidInputError, match=r"`angle` of metrics.coverage: .*numpy.radians\(5"):
            cio.metrics.coverage([0.1, 0.2], 5)
        with pytest.raises(cio.InvalidInputError, match=r"`angles` row 0 .*got 10.0. numpy.radians turns"):
            cio.calibrated_angle([10, 20], 0.5)

    def test_other_words(self):
        with pytest.raises(cio.InvalidInputError, match=r"`sense` of .*; got 'maximize'. Write 'max'"):
            cio.LinearProgram(A_ub=[[1.0, 1.0]], sense="maximize")

    def test_parameters_are_not_dumped(self, drivers):
        theta = drivers.theta_true.copy()
        theta[7] = -1.5
        for estimator in (cio.FixedParameters(theta), cio.SuboptimalityLoss(center=theta)):
            with pytest.raises(cio.InvalidInputError, match=r"must be >= 0 .*; got -1.5 at position 7"):
                cio.ConformalIO(drivers.problem, estimator).fit(drivers.contexts, drivers.decisions)
        theta[7] = np.nan
        with pytest.raises(cio.InvalidInputError, match=r"`theta` of .*: must be finite; got nan at position 7"):
            drivers.problem.solve(theta, drivers.contexts)
        zeros = np.zeros(len(theta))
        for estimator, name in ((cio.FixedParameters(zeros), "theta"), (cio.SuboptimalityLoss(center=zeros), "center")):
            with pytest.raises(cio.InvalidInputError, match=f"`{name}` of .*: must not be zero: .*; got zeros only"):
                cio.ConformalIO(drivers.problem, estimator).fit(drivers.contexts, drivers.decisions)


class TestCells:
    problem = cio.Knapsack([1.0, 2.0])
    bought = np.array([[1.0, 0.0]] * 8)

    def angles(self, contexts):
        return cio.conformity_angles(self.problem, [1.0, 1.0], contexts, self.bought)

    def test_numbers_in_objects_are_taken(self):
        plain = self.angles(np.full(8, 2.0))
        mixed = np.array([[2], [2.0], [np.int8(2)], [np.float32(2)], [2], [2], [2], [2]], dtype=object)
        np.testing.assert_array_equal(self.angles(mixed), plain)

    def test_nullable_frames_are_taken(self):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame({"budget": [2] * 8})
        for nullable in (frame.convert_dtypes(), frame.astype("Int64"), frame.astype("Float64")):
            np.testing.assert_array_equal(self.angles(nullable), self.angles(frame))
        missing = frame.astype("Int64")
        missing.iloc[5, 0] = None
        with pytest.raises(cio.InvalidInputError, match=r"`contexts` row 5 of .*: must .*; got (nan|<NA>)"):
            self.angles(missing)

    def test_arrow_frames_are_taken(self):
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        frame = pandas.DataFrame({"budget": [2] * 8}).convert_dtypes(dtype_backend="pyarrow")
        np.testing.assert_array_equal(self.angles(frame), self.angles(np.full(8, 2.0)))

    @pytest.mark.parametrize("cell", ["2", "two", None, 2j, [2]])
    def test_others_are_named(self, cell):
        cells = np.full((8, 1), 2, dtype=object)
        cells[3, 0] = cell
        with pytest.raises(cio.InvalidInputError, match=r"`contexts` row 3 of .*: must hold real numbers in all cells"):
            self.angles(cells)

    def test_text_is_named(self):
        with pytest.raises(
            cio.InvalidInputError, match=r"row 0 of .*: must hold real numbers in all cells; got '2' in"
        ):
            self.angles([["2"]] * 8)

    def test_numbers_no_float_can_hold(self):
        for number in (2**53 + 1, 10**400, -(2**53) - 1):
            with pytest.raises(
                cio.InvalidInputError, match=r"row 1 of .*: must hold numbers that a float keeps exactly"
            ):
                self.angles(np.array([[2], [number]] * 4, dtype=object))
        self.problem.solve([1.0, 1.0], np.array([[2**53]], dtype=object))

    def test_masked_entries(self):
        with pytest.raises(cio.InvalidInputError, match=r"`contexts` row 2 of .*: must not have masked entries"):
            self.angles(np.ma.masked_array(np.full((8, 1), 2.0), mask=np.arange(8)[:, None] == 2))
        kept = np.ma.masked_array(np.full((8, 1), 2.0), mask=False)
        np.testing.assert_array_equal(self.angles(kept), self.angles(np.full(8, 2.0)))
