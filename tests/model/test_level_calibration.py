"""`scores="level"`: the same angle, coverage and prescriptions; other levels are refused, not guessed."""

import numpy as np
import pytest

import conformio as cio

PROBLEM = cio.ShortestPath(cio.Network.grid(6, 6))


def data(n_rows=600, seed=0):
    rng = np.random.default_rng(seed)
    contexts = np.array([rng.choice(36, 2, replace=False) for _ in range(n_rows)])
    costs = rng.uniform(0.5, 1.5, PROBLEM.n_params) * rng.uniform(0.4, 1.6, (n_rows, PROBLEM.n_params))
    return contexts, PROBLEM.solve(costs, contexts)


def models(**options):
    contexts, decisions = data()
    for scores in ("all", "level"):
        model = cio.ConformalIO(PROBLEM, cio.SuboptimalityLoss(), 0.9, 0.5, random_state=0, scores=scores, **options)
        yield model.fit(contexts, decisions)


def test_everything_at_the_level_is_the_same():
    whole, quick = models()
    for name in ("angle_", "tie_mass_", "n_calibration_", "n_unexplained_"):
        assert getattr(quick, name) == getattr(whole, name)
    assert not hasattr(quick, "scores_")
    contexts, decisions = data(100, seed=1)
    np.testing.assert_array_equal(quick.covers(contexts, decisions), whole.covers(contexts, decisions))
    np.testing.assert_array_equal(quick.predict(contexts).toarray(), whole.predict(contexts).toarray())
    assert quick.angle(0.90) == quick.angle() == whole.angle(0.9)


def test_another_level_says_what_to_do_and_that_helps():
    _, quick = models()
    with pytest.raises(cio.InvalidInputError, match=r'must be 0\.9.*got 0\.8\. Set scores="all" and call conformalize'):
        quick.angle(0.8)
    with pytest.raises(cio.InvalidInputError, match=r"must be 0\.9"):
        quick.predict([[0, 35]], confidence_level=0.5)
    contexts, decisions = data()
    every = quick.set_params(scores="all").conformalize(contexts, decisions)
    assert every.angle(0.8) == cio.calibrated_angle(every.scores_, 0.8)
    assert not hasattr(quick.set_params(scores="level").conformalize(contexts, decisions), "scores_")


def test_the_level_itself_may_change_between_calibrations():
    whole, quick = models()
    contexts, decisions = data()
    for model in (whole, quick):
        model.set_params(confidence_level=0.7).conformalize(contexts, decisions)
    assert quick.angle_ == whole.angle_ == quick.angle(0.7)


def test_saved_and_read_again(tmp_path):
    _, quick = models()
    quick.save(tmp_path / "model.cio")
    read = cio.load(tmp_path / "model.cio")
    assert read.angle() == quick.angle_
    assert read.get_params()["scores"] == "level"
    np.testing.assert_array_equal(read.predict([[0, 35]]).toarray(), quick.predict([[0, 35]]).toarray())
    with pytest.raises(cio.InvalidInputError, match=r"must be 0\.9"):
        read.angle(0.5)


def test_infeasible_rows_count_as_unexplained():
    contexts, decisions = data(200)
    contexts[::50] = contexts[::50, ::-1]
    angles = {}
    for scores in ("all", "level"):
        estimator = cio.FixedParameters(np.ones(PROBLEM.n_params))
        model = cio.ConformalIO(PROBLEM, estimator, 0.9, infeasible="unexplained", scores=scores)
        model.conformalize(contexts, decisions)
        angles[scores] = model.angle_
        assert model.n_unexplained_ == 4
    assert angles["all"] == angles["level"]


def test_wrong_word():
    with pytest.raises(cio.InvalidInputError, match=r"`scores` of ConformalIO\.fit: must be one of 'all', 'level'"):
        cio.ConformalIO(PROBLEM, scores="some").fit(*data(20))
