"""The pipeline as scikit-learn users expect it, and what it certifies."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import conformio as cio
from conformio.studies import knapsack_example, road_grid_example


@pytest.fixture(scope="module")
def drivers():
    return road_grid_example(240, rows=4, cols=4, random_state=0)


@pytest.fixture(scope="module")
def model(drivers):
    return cio.ConformalIO(drivers.problem, cio.SuboptimalityLoss(), 0.8, random_state=3).fit(
        drivers.contexts, drivers.decisions
    )


def test_fitted_attributes(model, drivers):
    assert np.linalg.norm(model.theta_) == pytest.approx(1.0)
    assert model.n_calibration_ == len(model.scores_) == 60
    assert model.n_unexplained_ == 0
    assert model.angle_ == model.angle() == cio.calibrated_angle(model.scores_, 0.8)
    indices = model.calibration_indices_
    again = cio.conformity_angles(drivers.problem, model.theta_, drivers.contexts[indices], drivers.decisions[indices])
    np.testing.assert_array_equal(model.scores_, again)
    assert 0 <= model.tie_mass_ <= 1


def test_constructor_only_stores_and_clone_works(drivers):
    estimator = cio.SuboptimalityLoss(tol=1e-3)
    model = cio.ConformalIO(drivers.problem, estimator, confidence_level="wrong", n_jobs=2)
    assert model.get_params(deep=False)["confidence_level"] == "wrong"
    twin = clone(model.set_params(confidence_level=0.7, estimator__tol=1e-2))
    assert twin.confidence_level == 0.7
    assert twin.estimator.tol == 1e-2
    assert twin.problem is drivers.problem
    assert not hasattr(twin, "theta_")
    assert copy.deepcopy(model).problem is drivers.problem


def test_deterministic_under_a_seed_and_blind_to_workers(drivers):
    def scores(**settings):
        model = cio.ConformalIO(drivers.problem, cio.PerturbedFenchelYoung(epochs=2), **settings)
        return model.fit(drivers.contexts, drivers.decisions).scores_

    np.testing.assert_array_equal(scores(random_state=5), scores(random_state=5, n_jobs=2))
    assert not np.array_equal(scores(random_state=5), scores(random_state=6))


def test_sparse_and_dense_decisions_are_the_same_data(drivers):
    def fit(decisions):
        model = cio.ConformalIO(drivers.problem, cio.SuboptimalityLoss(), random_state=1)
        return model.fit(drivers.contexts, decisions).scores_

    np.testing.assert_array_equal(fit(drivers.decisions), fit(drivers.decisions.toarray()))


def test_other_levels_need_no_refit(model, drivers):
    trips = drivers.contexts[:30]
    for level in (0.0, 0.3, 0.95):
        refit = clone(model).set_params(confidence_level=level).fit(drivers.contexts, drivers.decisions)
        assert model.angle(level) == refit.angle_
        here, there = model.predict(trips, level), refit.predict(trips)
        np.testing.assert_array_equal(here.toarray(), there.toarray())


def test_levels_are_monotone(model):
    levels = np.linspace(0, 0.98, 30)
    assert (np.diff([model.angle(level) for level in levels]) >= 0).all()


def test_prescriptions_are_feasible_and_certified(model, drivers):
    solution = model.prescribe(drivers.contexts, 0.95)
    assert drivers.problem.is_feasible(solution.decisions, drivers.contexts).all()
    assert solution.is_certified(1e-9).all()
    np.testing.assert_array_equal(model.predict(drivers.contexts, 0.95).toarray(), solution.decisions.toarray())
    cap = model.uncertainty_set(0.95)
    np.testing.assert_allclose(cap.support(solution.decisions), solution.values, atol=1e-12)


def test_nominal_decisions_are_the_classic_pipeline(model, drivers):
    plan = model.predict_nominal(drivers.contexts)
    assert drivers.problem.is_optimal(model.theta_, plan, drivers.contexts).all()


def test_covers_is_the_angle_test(model, drivers):
    covered = model.covers(drivers.contexts, drivers.decisions, 0.8)
    np.testing.assert_array_equal(covered, model.angles(drivers.contexts, drivers.decisions) <= model.angle(0.8))
    share = covered[model.calibration_indices_].mean()
    assert share >= 0.8


def test_score_is_mean_adherence(model, drivers):
    plan = model.predict(drivers.contexts)
    same = (abs(plan - drivers.decisions).sum(axis=1) == 0).mean()
    assert model.score(drivers.contexts, drivers.decisions) == pytest.approx(same)


def test_cross_validation_and_grid_search_over_levels_and_estimators(drivers):
    model = cio.ConformalIO(drivers.problem, cio.SuboptimalityLoss(), 0.5, random_state=0)
    scores = cross_val_score(model, drivers.contexts, drivers.decisions.toarray(), cv=3)
    assert scores.shape == (3,)
    assert (scores > 0.2).all()
    grid = {
        "confidence_level": [0.3, 0.8],
        "estimator": [cio.SuboptimalityLoss(), cio.PerturbedFenchelYoung(epochs=3)],
    }
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(drivers.contexts, drivers.decisions)
    assert set(search.best_params_) == set(grid)
    assert search.predict(drivers.contexts[:3]).shape == (3, drivers.problem.n_vars)


def test_conformalize_keeps_the_estimate(model, drivers):
    other = copy.deepcopy(model)
    other.conformalize(drivers.contexts[:50], drivers.decisions[:50])
    np.testing.assert_array_equal(other.theta_, model.theta_)
    assert other.n_calibration_ == 50
    np.testing.assert_array_equal(other.calibration_indices_, np.arange(50))


def test_conformalize_alone_with_fixed_parameters(drivers):
    fixed = cio.FixedParameters(7.0 * drivers.theta_true)
    model = cio.ConformalIO(drivers.problem, fixed, 0.9).conformalize(drivers.contexts, drivers.decisions)
    np.testing.assert_allclose(model.theta_, drivers.theta_true / np.linalg.norm(drivers.theta_true))
    assert model.n_calibration_ == 240
    with pytest.raises(cio.NotFittedError, match=r"there is no point estimate yet. Call fit first"):
        cio.ConformalIO(drivers.problem).conformalize(drivers.contexts, drivers.decisions)


def test_one_centre_per_context():
    shoppers = knapsack_example(120, random_state=0)
    base = shoppers.theta_true

    def predicted(contexts):
        return base * (1.0 + 0.01 * np.asarray(contexts))

    model = cio.ConformalIO(shoppers.problem, cio.FixedParameters(predicted), 0.8, random_state=0)
    model.fit(shoppers.contexts, shoppers.decisions)
    assert model.theta_ is None
    centers = model.centers(shoppers.contexts[:5])
    np.testing.assert_allclose(np.linalg.norm(centers, axis=1), 1.0)
    rows = model.calibration_indices_[:4]
    alone = [
        cio.conformity_angles(
            shoppers.problem, predicted(shoppers.contexts[[k]])[0], shoppers.contexts[[k]], shoppers.decisions[[k]]
        )[0]
        for k in rows
    ]
    np.testing.assert_allclose(model.scores_[:4], alone, atol=1e-12)
    assert model.predict(shoppers.contexts[:5]).shape == (5, 10)
    assert model.covers(shoppers.contexts, shoppers.decisions).mean() > 0.6
    with pytest.raises(cio.InvalidInputError, match="this model predicts one centre per context"):
        model.uncertainty_set()


def test_unexplained_and_infeasible_rows_stay_in_the_calibration_set():
    problem = cio.Knapsack([1.0, 1.0, 1.0])
    budgets = np.full(40, 1.0)
    decisions = np.eye(3)[np.arange(40) % 3]
    decisions[:4] = 0.0
    model = cio.ConformalIO(problem, cio.FixedParameters([1.0, 2.0, 3.0]), 0.5)
    model.conformalize(budgets, decisions)
    assert model.n_unexplained_ == 4
    decisions[4:6] = 1.0
    with pytest.raises(cio.InvalidInputError, match="infeasible rows: 4, 5"):
        model.conformalize(budgets, decisions)
    model.set_params(infeasible="unexplained").conformalize(budgets, decisions)
    assert model.n_unexplained_ == 6
    assert model.n_calibration_ == 40


def test_infeasible_rows_train_nothing_and_say_so(drivers):
    decisions = drivers.decisions.toarray()
    decisions[[3, 50, 100, 150]] = 0.0
    model = cio.ConformalIO(drivers.problem, cio.SuboptimalityLoss(), 0.5, random_state=0)
    with pytest.raises(cio.InvalidInputError, match=r"ConformalIO\.fit: .*4 infeasible rows: 3, 50, 100, 150"):
        model.fit(drivers.contexts, decisions)
    model.set_params(infeasible="unexplained")
    with pytest.warns(cio.CalibrationWarning, match="of 180 training decisions are infeasible and train nothing"):
        model.fit(drivers.contexts, decisions)
    assert model.n_excluded_ > 0
    assert model.n_excluded_ + model.n_unexplained_ == 4
    with pytest.raises(cio.InvalidInputError, match="must hold feasible ones to train on"):
        model.fit(drivers.contexts, np.zeros_like(decisions))


def test_too_few_calibration_rows_warn_and_prescribe_for_everything(drivers):
    model = cio.ConformalIO(drivers.problem, cio.SuboptimalityLoss(), 0.9, random_state=0)
    with pytest.warns(cio.CalibrationWarning, match="2 calibration decisions cannot certify level 0.9"):
        model.fit(drivers.contexts[:8], drivers.decisions[:8])
    assert model.angle_ == np.pi
    with pytest.warns(cio.CalibrationWarning):
        plan = model.predict(drivers.contexts[:4])
    fewest = drivers.problem.solve(np.ones(drivers.problem.n_params), drivers.contexts[:4])
    np.testing.assert_array_equal(plan.sum(axis=1), fewest.sum(axis=1))  # the worst case is |x|: fewest streets win


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"confidence_level": 1.5}, "`confidence_level` of ConformalIO.fit"),
        ({"confidence_level": "high"}, "`confidence_level`"),
        ({"calibration_fraction": 0.0}, "`calibration_fraction`"),
        ({"calibration_fraction": 1.0}, r"must be a number in \(0.0, 1.0\); got 1.0"),
        ({"infeasible": "drop"}, "`infeasible`"),
        ({"random_state": "seed"}, "`random_state`"),
        ({"estimator": 3}, "`estimator`"),
        ({"problem": "roads"}, "`problem`"),
    ],
)
def test_wrong_settings(drivers, settings, message):
    model = cio.ConformalIO(**{"problem": drivers.problem, **settings})
    with pytest.raises(cio.InvalidInputError, match=message):
        model.fit(drivers.contexts, drivers.decisions)


def test_wrong_data(drivers):
    model = cio.ConformalIO(drivers.problem, cio.SuboptimalityLoss())
    with pytest.raises(cio.InvalidInputError, match="must leave at least one row"):
        model.fit(drivers.contexts[:1], drivers.decisions[:1])
    with pytest.raises(cio.InvalidInputError, match="must leave at least one row"):
        model.fit(np.zeros((0, 2)), sparse.csr_array((0, drivers.problem.n_vars)))
    with pytest.raises(cio.InvalidInputError, match=r"`decisions`.*240 rows"):
        model.fit(drivers.contexts, drivers.decisions[:10])
    with pytest.raises(cio.InvalidInputError, match="`contexts`"):
        model.fit(drivers.contexts[:, :1], drivers.decisions)


@pytest.mark.parametrize("call", ["predict", "prescribe", "predict_nominal", "angle", "uncertainty_set", "save"])
def test_using_a_model_before_fitting(drivers, call, tmp_path):
    model = cio.ConformalIO(drivers.problem)
    arguments = {"angle": (), "uncertainty_set": (), "save": (tmp_path / "m",)}.get(call, (drivers.contexts,))
    with pytest.raises(cio.NotFittedError, match="Call fit, or conformalize, first"):
        getattr(model, call)(*arguments)
    with pytest.raises(cio.NotFittedError):
        model.covers(drivers.contexts, drivers.decisions)
    with pytest.raises(cio.NotFittedError):
        model.score(drivers.contexts, drivers.decisions)


def test_pickle_keeps_the_prescriptions(model, drivers):
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        back.predict(drivers.contexts[:20]).toarray(), model.predict(drivers.contexts[:20]).toarray()
    )


@pytest.mark.slow
def test_coverage_of_repeated_calibrations_lies_in_the_exact_band():
    """Over the unit disc every decision has one explanation, so angles are tie-free: coverage is Beta-binomial.

    Both tails at 0.05%.
    """
    cp = pytest.importorskip("cvxpy")

    def build(u):
        x = cp.Variable(2)
        return x, [x[0], x[1]], [cp.sum_squares(x) <= 1]

    problem = cio.ConvexProgram(build, n_params=2)
    level, n_calibration, n_test, draws = 0.75, 19, 20, 50
    rng = np.random.default_rng(7)
    model = cio.ConformalIO(problem, cio.FixedParameters([1.0, 1.0]), level)
    covered = 0
    for _ in range(draws):
        thetas = rng.normal([1.0, 1.0], 0.5, (n_calibration + n_test, 2))
        decisions = -thetas / np.linalg.norm(thetas, axis=1, keepdims=True)
        contexts = np.zeros(n_calibration + n_test)
        model.conformalize(contexts[:n_calibration], decisions[:n_calibration])
        assert model.tie_mass_ == 1 / n_calibration
        covered += int(model.covers(contexts[n_calibration:], decisions[n_calibration:]).sum())
    beta = stats.beta(15, 5)  # rank ceil(0.75 * 20) = 15
    assert beta.mean() == level
    spread = np.sqrt(beta.var() / draws + level * (1 - level) / (draws * n_test))
    assert abs(covered / (draws * n_test) - level) < 3.29 * spread


@pytest.mark.slow
def test_coverage_with_ties_is_at_least_the_level():
    """Sub-optimality-loss estimates make many angles 0; coverage may exceed the level but not fall below it."""
    level, draws, shares = 0.5, 25, []
    for seed in range(draws):
        people = road_grid_example(120, rows=4, cols=4, random_state=seed)
        model = cio.ConformalIO(people.problem, cio.SuboptimalityLoss(), level, 0.4, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.fit(people.contexts[:80], people.decisions[:80])
        shares.append(model.covers(people.contexts[80:], people.decisions[80:]).mean())
    spread = np.std(shares) / np.sqrt(draws)
    assert np.mean(shares) > level - 3.3 * spread


def test_what_is_kept_follows_the_fitted_arrays():
    problem = cio.ShortestPath(cio.Network.grid(3, 3))
    rng = np.random.default_rng(0)
    contexts = np.array([rng.choice(9, 2, replace=False) for _ in range(80)])
    decisions = problem.solve(rng.uniform(1, 4, (80, problem.n_params)), contexts)
    model = cio.ConformalIO(problem, random_state=0).fit(contexts, decisions)
    cap = model.uncertainty_set(0.8)
    assert model.uncertainty_set(0.8) is cap
    assert cap.angle == model.angle(0.8) == cio.calibrated_angle(model.scores_, 0.8)
    model.scores_ = np.linspace(0.1, 0.2, 20)
    assert model.angle(0.8) == cio.calibrated_angle(model.scores_, 0.8)
    assert model.uncertainty_set(0.8).angle == model.angle(0.8)
    model.theta_ = model.theta_[::-1].copy()
    np.testing.assert_allclose(model.uncertainty_set(0.8).center, model.theta_)
    other = model.fit(contexts[::-1], decisions[::-1])
    np.testing.assert_allclose(other.uncertainty_set(0.8).center, other.theta_)


def test_too_few_rows_are_told_every_time():
    problem = cio.Knapsack([1.0, 2.0])
    model = cio.ConformalIO(problem, cio.FixedParameters([1.0, 1.0]), confidence_level=0.5)
    model.conformalize([[1.0], [2.0]], [[1.0, 0.0], [0.0, 1.0]])
    for _ in range(2):
        with pytest.warns(cio.CalibrationWarning, match="2 calibration decisions cannot certify level 0.9"):
            assert model.angle(0.9) == np.pi
