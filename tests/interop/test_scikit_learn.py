"""Predictors, searches and clones of scikit-learn work with pipelines as they are."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import conformio as cio


@pytest.fixture(scope="module")
def town():
    """Trips by hour; what streets cost is linear in the hour."""
    rng = np.random.default_rng(1)
    grid = cio.Network.grid(3, 3)
    problem = cio.WithFeatures(cio.ShortestPath(grid), 1)
    contexts = np.column_stack([[rng.choice(9, 2, replace=False) for _ in range(160)], rng.uniform(0, 1, 160)])
    minutes = 1 + np.outer(contexts[:, 2], rng.uniform(0, 3, grid.n_edges))
    return problem, contexts, minutes, problem.solve(minutes * rng.uniform(0.9, 1.1, minutes.shape), contexts)


def hourly(regressor):
    return cio.FixedParameters(lambda rows: regressor.predict(rows[:, 2:]))


@pytest.mark.parametrize(
    "regressor",
    [
        LinearRegression(),
        make_pipeline(PolynomialFeatures(2), StandardScaler(), LinearRegression()),
        MultiOutputRegressor(LinearRegression()),
    ],
    ids=lambda kind: type(kind).__name__,
)
def test_a_fitted_predictor_is_the_centre(town, regressor):
    problem, contexts, minutes, decisions = town
    regressor = clone(regressor).fit(contexts[:60, 2:], minutes[:60])
    model = cio.ConformalIO(problem, hourly(regressor), confidence_level=0.8)
    model.conformalize(contexts[60:120], decisions[60:120])
    new = contexts[120:]
    centers = regressor.predict(new[:, 2:])
    assert model.centers(new) == pytest.approx(centers / np.linalg.norm(centers, axis=1, keepdims=True))
    by_hand = cio.solve_robust(problem.problem, cio.SphericalCap(centers, model.angle_), new[:, :2])
    assert (model.predict(new) != by_hand.decisions).nnz == 0
    low, _ = cio.metrics.coverage_interval(60, 0.8, 40)
    assert model.covers(new, decisions[120:]).mean() >= low


def test_a_predictor_of_whole_contexts_needs_no_function():
    rng = np.random.default_rng(0)
    budgets = rng.uniform(1, 4, (80, 1))
    problem, worth = cio.Knapsack([1.0, 2.0, 1.5]), 1 + budgets @ [[0.5, 1.0, 0.2]]
    regressor = LinearRegression().fit(budgets, worth)
    decisions = problem.solve(worth * rng.uniform(0.8, 1.2, worth.shape), budgets)
    model = cio.ConformalIO(problem, cio.FixedParameters(regressor)).conformalize(budgets[:50], decisions[:50])
    assert model.estimator_.theta is regressor
    assert model.theta_ is None
    assert model.predict(budgets[50:]).shape == (30, 3)


def test_search_over_levels_and_estimators(town):
    problem, contexts, minutes, decisions = town
    regressor = LinearRegression().fit(contexts[:60, 2:], minutes[:60])
    backwards = cio.FixedParameters(lambda rows: 10 - regressor.predict(rows[:, 2:]))
    grid = {"estimator": [backwards, hourly(regressor)], "confidence_level": [0.3, 0.9]}
    search = GridSearchCV(cio.ConformalIO(problem, random_state=0), grid, cv=2, error_score="raise")
    search.fit(contexts[60:], decisions[60:])  # sparse decisions
    assert search.best_params_["estimator"].theta is grid["estimator"][1].theta  # cloned, the function is the same
    assert (search.cv_results_["mean_test_score"][[1, 3]] > search.cv_results_["mean_test_score"][[0, 2]]).all()
    assert search.best_estimator_.predict(contexts[:5]).shape == (5, 24)
    nested = GridSearchCV(
        cio.ConformalIO(problem, cio.PerturbedFenchelYoung(epochs=1, random_state=0), random_state=0),
        {"estimator__sigma": [0.1, 1.0]},
        cv=2,
        error_score="raise",
    )
    assert nested.fit(contexts, decisions).best_estimator_.estimator_.sigma in (0.1, 1.0)


def test_cross_val_score_of_dense_decisions(town):
    problem, contexts, _, decisions = town
    pipeline = cio.ConformalIO(problem, cio.SuboptimalityLoss(), confidence_level=0.8, random_state=0)
    coverage = lambda model, rows, seen: model.covers(rows, seen).mean()
    shares = cross_val_score(pipeline, contexts, decisions.toarray(), cv=3, scoring=coverage, error_score="raise")
    assert shares.shape == (3,)
    assert (shares > 0.5).all()
    scores = cross_val_score(pipeline, contexts, decisions.toarray(), cv=3, error_score="raise")
    assert ((scores >= 0) & (scores <= 1)).all()


def test_clones_are_unfitted_and_equal(town):
    problem, contexts, _, decisions = town
    pipeline = cio.ConformalIO(problem, cio.PerturbedFenchelYoung(epochs=1), 0.8, random_state=3)
    model = clone(pipeline).fit(contexts, decisions)
    copy = clone(model)
    assert copy.get_params()["problem"] is problem
    assert not hasattr(copy, "angle_")
    assert copy.fit(contexts, decisions).angle_ == model.angle_
