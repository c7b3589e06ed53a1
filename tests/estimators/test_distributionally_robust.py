"""The robust loss: its formula against worst-case samples, its minimum against the whole conic program."""

import numpy as np
import pytest
from finite_problems import Listed, losses, random_data, random_problem, smallest_robust_loss
from sklearn.base import clone

from conformio.errors import InvalidInputError, SolverError
from conformio.estimators import DistributionallyRobustLoss, SuboptimalityLoss
from conformio.estimators.base import TrainingData
from conformio.estimators.cutting_planes import l1_ball, minimize_over_ball
from conformio.estimators.losses import NormPenalty, TailLoss, tail_mean
from conformio.networks import Network
from conformio.problems import OracleProblem, ShortestPath


def cvar(values, level):
    """By the definition: fill the worst `1 - level` of the probability from the top."""
    room, total = (1.0 - level) * len(values), 0.0
    for value in np.sort(values)[::-1]:
        part = min(room, 1.0)
        total, room = total + part * value, room - part
    return total / ((1.0 - level) * len(values))


@pytest.mark.parametrize("level", [0.0, 0.1, 0.3, 0.5, 0.9, 0.95, 0.999])
def test_tail_mean_is_the_mean_of_the_worst(level):
    rng = np.random.default_rng(0)
    for size in (1, 2, 7, 10, 20):
        values = rng.integers(0, 5, size) + rng.uniform(size=size) * rng.integers(0, 2)
        assert tail_mean(values, level) == pytest.approx(cvar(values, level), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize(("risk", "level"), [("mean", None), ("cvar", 0.0), ("cvar", 0.6), ("cvar", 0.97)])
def test_loss_is_that_of_the_whole_program(sense, risk, level):
    rng = np.random.default_rng(1)
    for trial in range(6):
        domain = ("free", "nonnegative")[trial % 2]
        problem = random_problem(rng, sense, domain, as_csr=trial % 3 == 0)
        contexts, decisions = random_data(problem, rng)
        center, reach = rng.uniform(0.2, 3.0, 4), (0.0, 0.2, 2.0)[trial % 3]
        radius = rng.uniform(0.1, 0.9) * center.sum()
        estimator = DistributionallyRobustLoss(reach, risk, level, center, radius)
        estimator.fit(problem, contexts, decisions)
        whole = smallest_robust_loss(problem, contexts, decisions, center, radius, reach, level)
        allowed = 1e-6 * max(center.mean(), estimator.loss_)
        assert 0.0 <= estimator.gap_ <= allowed
        assert estimator.loss_ == pytest.approx(whole, abs=allowed + 1e-6)
        own, size = losses(problem, estimator.theta_, contexts, decisions), np.linalg.norm(estimator.theta_)
        tail = 0.0 if level is None else level
        assert estimator.loss_ == pytest.approx(cvar(own, tail) + reach * size / (1 - tail), rel=1e-9)


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("level", [0.0, 0.5, 0.8])
def test_worst_sample_attains_the_loss_and_no_other_exceeds_it(sense, level):
    rng = np.random.default_rng(2)
    problem = random_problem(rng, sense)
    contexts, decisions = random_data(problem, rng, 20)
    reach, sign = 0.7, 1.0 if sense == "min" else -1.0
    risk = "cvar" if level else "mean"
    fit = DistributionallyRobustLoss(reach, risk, level or None).fit(problem, contexts, decisions)
    theta = fit.theta_
    best = np.array([problem.nominal(theta, contexts[k : k + 1])[0] for k in range(20)])

    def risk_of(moved):
        return cvar(sign * (moved - best) @ theta, level)

    along = sign * theta / np.linalg.norm(theta)
    if level == 0.0:
        shifts = np.full(20, reach)
    else:
        tail = round((1 - level) * 20)
        shifts = np.zeros(20)
        shifts[np.argsort(sign * (decisions - best) @ theta)[-tail:]] = reach / (1 - level)
    assert shifts.mean() == pytest.approx(reach)
    assert risk_of(decisions + shifts[:, None] * along) == pytest.approx(fit.loss_, rel=1e-9)
    for _ in range(300):
        moves = rng.standard_normal((20, 4)) * rng.exponential(size=(20, 1)) ** 3
        moves *= reach / np.linalg.norm(moves, axis=1).mean()
        assert risk_of(decisions + moves) <= fit.loss_ + 1e-9


def test_no_radius_is_the_plain_loss():
    rng = np.random.default_rng(3)
    problem = random_problem(rng)
    contexts, decisions = random_data(problem, rng)
    plain = SuboptimalityLoss().fit(problem, contexts, decisions)
    robust = DistributionallyRobustLoss(0.0).fit(problem, contexts, decisions)
    assert robust.loss_ == pytest.approx(plain.loss_, abs=2e-6)
    np.testing.assert_array_equal(robust.theta_, plain.theta_)


def test_large_radius_finds_the_shortest_vector():
    problem = ShortestPath(Network.grid(4, 4))
    rng = np.random.default_rng(4)
    contexts = np.array([rng.choice(16, 2, replace=False) for _ in range(10)])
    decisions = problem.solve(rng.uniform(0.5, 1.5, (10, problem.n_params)), contexts)
    fit = DistributionallyRobustLoss(1e4).fit(problem, contexts, decisions)
    d = problem.n_params
    np.testing.assert_allclose(fit.theta_, np.full(d, 0.75), atol=0.02)  # the loss hardly counts
    assert fit.n_iter_ < 40


@pytest.mark.parametrize("seeded", [False, True])
def test_merged_groups_have_the_same_optimum(seeded):
    rng = np.random.default_rng(5)
    problem = random_problem(rng, n_lists=8)
    contexts, decisions = random_data(problem, rng, 40)
    data = TrainingData.checked(problem, contexts, decisions, "test")
    ball = l1_ball(problem, None, 3.0, "test")
    apart = minimize_over_ball(TailLoss(data, 0.7), ball, 1e-7, 1000, "test")
    generator = np.random.default_rng(0) if seeded else None
    merged = minimize_over_ball(TailLoss(data, 0.7, 6, generator), ball, 1e-7, 1000, "test", generator)
    assert merged.loss == pytest.approx(apart.loss, abs=2e-7 * max(1.0, apart.loss))


def test_norm_cuts_never_cut_into_the_norm():
    rng = np.random.default_rng(6)
    problem = random_problem(rng)
    data = TrainingData.checked(problem, *random_data(problem, rng), "test")
    relaxation = NormPenalty(TailLoss(data, 0.5), 2.0)
    n_inner = 4 + 1 + 30
    point = np.concatenate([rng.normal(size=4), np.zeros(len(relaxation.aux_lower))])
    rows = relaxation.separate(point).rows[30:]  # after one row for each row of data
    assert rows.shape == (4, n_inner + 1 + 4)
    for _ in range(100):
        theta = rng.normal(size=4)
        length = np.linalg.norm(theta)
        inside = np.concatenate([theta, np.zeros(31), [length], theta**2 / length])
        assert (rows @ inside <= 1e-12).all()
    short = np.concatenate([point[:4], np.zeros(31), [0.999 * np.linalg.norm(point[:4])], np.full(4, 0.0)])
    short[-4:] = point[:4] ** 2 / np.linalg.norm(point[:4]) * 0.999
    assert (rows @ short > 0).any()


def test_clone_and_seed():
    rng = np.random.default_rng(7)
    problem = random_problem(rng)
    contexts, decisions = random_data(problem, rng)
    estimator = DistributionallyRobustLoss(0.1, "cvar", 0.5, random_state=3, max_iter=500)
    assert clone(estimator).get_params() == estimator.get_params()
    first = estimator.fit(problem, contexts, decisions).theta_
    np.testing.assert_array_equal(clone(estimator).fit(problem, contexts, decisions).theta_, first)
    assert estimator.parameters(contexts).shape == (30, 4)


FACTS = Listed([[[1.0, 0.0], [0.0, 1.0]]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1.0,), r"`radius_wasserstein` of DistributionallyRobustLoss\.fit: must be a number in \[0\.0, inf\]"),
        ((0.1, "var"), r"`risk` .* must be one of 'mean', 'cvar'; got 'var'"),
        ((0.1, "mean", 0.9), r'`level` .* must be None with risk="mean"; got 0\.9\. Use risk="cvar"'),
        ((0.1, "cvar"), r'`level` .* must be a number in \[0, 1\) with risk="cvar"; got None'),
        ((0.1, "cvar", 1.0), r"`level` .* must be below 1, where the worst case is infinite; got 1\.0"),
        ((0.1, "cvar", 1.5), r"`level` .* must be a number in \[0\.0, 1\.0\]; got 1\.5"),
    ],
)
def test_settings_out_of_range(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        DistributionallyRobustLoss(*arguments).fit(FACTS, [[0.0]], [[1.0, 0.0]])


def test_decisions_that_beat_the_solver_are_refused():
    problem = OracleProblem(lambda theta, u: np.array([2.0, 2.0]), n_params=2)
    with pytest.raises(SolverError, match=r"`contexts` row 1 of DistributionallyRobustLoss\.fit: .* beats"):
        DistributionallyRobustLoss(0.1, "cvar", 0.5).fit(problem, [0.0, 0.0], [[2.0, 2.0], [1.0, 1.0]])
