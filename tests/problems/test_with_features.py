"""Contexts with features: the problem's own answers, whatever the features say."""

import numpy as np
import pytest

import conformio as cio


def problems():
    grid = cio.Network.grid(3, 3)
    trips = [[0, 8], [3, 5], [0, 8]]
    one = cio.OracleProblem(lambda theta, u: np.eye(3)[np.argmin(theta)], 3, feasible_set="binary")
    return {
        "paths": (cio.ShortestPath(grid), trips),
        "knapsack": (cio.Knapsack([1.0, 2.0, 3.0]), [[3.0], [2.0], [3.0]]),
        "program": (cio.LinearProgram(A_ub=[[1.0, 1.0, 1.0]], sense="max", upper=2.0), [[3.0], [2.0], [3.0]]),
        "whole": (
            cio.IntegerProgram(A_ub=[[1.0, 2.0, 1.5]], sense="max", upper=2.0, integrality=[True] * 3),
            [[3.0], [2.0], [3.0]],
        ),
        "oracle": (one, [[0.0], [0.0], [0.0]]),
    }


@pytest.fixture(params=problems())
def pair(request):
    problem, own = problems()[request.param]
    features = [[1.0, 7.0], [2.0, 8.0], [3.0, 9.0]]
    return problem, np.array(own, dtype=float), np.hstack([own, features])


def as_dense(values):
    return values.toarray() if hasattr(values, "toarray") else values


def test_everything_is_the_problems_own(pair):
    problem, own, rows = pair
    wide = cio.WithFeatures(problem, 2)
    rng = np.random.default_rng(0)
    thetas = rng.uniform(0.5, 2.0, (3, problem.n_params))
    for theta in (thetas[0], thetas):
        decisions = problem.solve(theta, own)
        assert np.array_equal(as_dense(wide.solve(theta, rows)), as_dense(decisions))
        assert wide.is_optimal(theta, decisions, rows).all()
        for method in ("auto", "reference"):
            cap = cio.SphericalCap(theta, 0.2)
            found, wanted = (cio.solve_robust(p, cap, u, method=method) for p, u in ((wide, rows), (problem, own)))
            assert found.values == pytest.approx(wanted.values)
            assert found.method.tolist() == wanted.method.tolist()  # no shortcut is lost
            angles = [
                cio.conformity_angles(p, thetas[::-1], u, decisions, method=method)
                for p, u in ((wide, rows), (problem, own))
            ]
            assert angles[0] == pytest.approx(angles[1])
    assert (wide.is_feasible(decisions, rows) == problem.is_feasible(decisions, own)).all()
    assert wide.objective(thetas, decisions) == pytest.approx(problem.objective(thetas, decisions))
    level = [cio.quantile_angle(p, thetas, u, decisions, 0.5) for p, u in ((wide, rows), (problem, own))]
    assert level[0] == level[1]
    assert cio.metrics.actual_optimality_gap(wide, thetas[0], rows, decisions) == pytest.approx(
        cio.metrics.actual_optimality_gap(problem, thetas[0], own, decisions)
    )


def test_one_vector_solves_equal_contexts_once_whatever_the_features():
    calls = []
    counted = cio.OracleProblem(lambda theta, u: calls.append(u) or np.eye(3)[0], 3, feasible_set="binary")
    cio.WithFeatures(counted, 1).solve([1.0, 2.0, 3.0], [[0.0, k] for k in range(5)])
    assert len(calls) == 1
    assert calls[0].tolist() == [0.0]


def test_estimators_learn_the_same():
    problem, own = problems()["paths"]
    decisions = problem.solve(np.arange(1.0, problem.n_params + 1), own)
    rows = np.hstack([own, [[1.0], [1.0], [1.0]]])
    for estimator in (cio.SuboptimalityLoss(), cio.PerturbedFenchelYoung(epochs=2, random_state=0)):
        narrow = estimator.fit(problem, own, decisions).theta_
        assert estimator.fit(cio.WithFeatures(problem, 1), rows, decisions).theta_ == pytest.approx(narrow)


def test_sampling_and_rationalizing_are_the_problems_own():
    problem, own = problems()["knapsack"]
    wide, rows = cio.WithFeatures(problem, 1), np.hstack([own, [[1.0], [2.0], [3.0]]])
    assert np.array_equal(wide.sample_optimal([1.0] * 3, rows, 0), problem.sample_optimal([1.0] * 3, own, 0))
    broken = [[1, 1, 1], [0, 1, 0], [0, 0, 1]]
    moved = []
    for one, u in ((wide, rows), (problem, own)):
        with pytest.warns(cio.CalibrationWarning, match="1 of 3 decisions moved"):
            moved.append(as_dense(cio.nearest_rationalizable(one, u, broken)))
    assert np.array_equal(*moved)
    with pytest.raises(cio.InvalidInputError, match="its items weigh 6 in all, but the budget is 3"):
        cio.conformity_angles(wide, [1.0] * 3, rows, broken)


def test_states_of_problems_are_kept_and_code_is_asked_for(tmp_path):
    rows, decisions = [[1.0, 5.0]] * 9, [[1, 0]] * 9
    wide = cio.WithFeatures(cio.Knapsack([1.0, 1.0]), 1)
    model = cio.ConformalIO(wide, cio.FixedParameters([2.0, 1.0]), 0.8).conformalize(rows, decisions)
    model.save(tmp_path / "wide.conformio")
    again = cio.load(tmp_path / "wide.conformio")
    assert repr(again.problem) == repr(wide) == "WithFeatures(Knapsack(n_items=2, domain='free'), n_features=1)"
    assert np.array_equal(again.predict(rows), model.predict(rows))
    choose = lambda theta, u: np.eye(2)[np.argmax(theta)]
    coded = cio.WithFeatures(cio.OracleProblem(choose, 2, sense="max", feasible_set="binary"), 1)
    oracle = cio.ConformalIO(coded, cio.FixedParameters([2.0, 1.0]), 0.8).conformalize(rows, decisions)
    oracle.save(tmp_path / "coded.conformio")
    with pytest.raises(cio.ModelFileError, match=r"holds code.*solve=\.\.\."):
        cio.load(tmp_path / "coded.conformio")
    assert np.array_equal(cio.load(tmp_path / "coded.conformio", solve=choose).predict(rows), oracle.predict(rows))


def test_problems_of_ones_own_keep_no_state_and_no_file_names_other_classes():
    class Mine(cio.Knapsack):
        pass

    assert cio.WithFeatures(Mine([1.0]), 1).to_state() is None
    with pytest.raises(cio.InvalidInputError, match="must be one of the library's problems; got 'Problems'"):
        cio.WithFeatures.from_state({"problem": {"class": "Problems", "arguments": {}}, "n_features": 1})


@pytest.mark.parametrize(
    ("problem", "n_features", "message"),
    [
        ("paths", 1, "`problem` of WithFeatures: must be a forward problem without features of its own; got str"),
        (cio.WithFeatures(cio.Knapsack([1.0]), 1), 1, "got WithFeatures. Count all features in one WithFeatures"),
        (cio.Knapsack, 1, "got the class Knapsack, not an instance"),
        (cio.Knapsack([1.0]), 0, "`n_features` of WithFeatures: must be a whole number >= 1; got 0"),
    ],
)
def test_wrong_arguments(problem, n_features, message):
    with pytest.raises(cio.InvalidInputError, match=message):
        cio.WithFeatures(problem, n_features)


def test_wrong_contexts():
    wide = cio.WithFeatures(cio.ShortestPath(cio.Network.grid(2, 2)), 1)
    with pytest.raises(cio.InvalidInputError, match=r"must have 3 columns; got shape \(1, 2\)\. First those"):
        wide.solve(np.ones(8), [[0, 1]])
    with pytest.raises(cio.InvalidInputError, match=r"`contexts` row 0 of WithFeatures\.solve"):
        wide.solve(np.ones(8), [[0, 99, 1.0]])
    with pytest.raises(cio.InvalidInputError, match="must be finite"):
        wide.solve(np.ones(8), [[0, 1, np.nan]])
