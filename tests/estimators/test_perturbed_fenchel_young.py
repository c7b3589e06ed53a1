"""The perturbed loss: gradients against differences, a hand-written training loop, both domains, its errors."""

import numpy as np
import pytest
from finite_problems import Listed, random_data, random_problem
from scipy import sparse
from sklearn.base import clone

from conformio.errors import InfeasibleProblemError, InvalidInputError, NotFittedError, UnboundedProblemError
from conformio.estimators import PerturbedFenchelYoung
from conformio.estimators.base import TrainingData
from conformio.estimators.perturbed_fenchel_young import _PerturbedLoss
from conformio.networks import Network
from conformio.problems import Knapsack, LinearProgram, ShortestPath
from conformio.problems.base import row_products


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("squared", [False, True])
def test_gradient_is_that_of_the_smoothed_loss(sense, squared):
    rng = np.random.default_rng(0)
    problem = random_problem(rng, sense, squared=squared)
    data = TrainingData.checked(problem, *random_data(problem, rng), "test")
    perturbed = _PerturbedLoss(data, 2.0, 40, np.zeros(4, dtype=bool))
    theta, rows, step = rng.normal(size=4), np.arange(30), 1e-7

    def at(point):  # common random numbers: piecewise linear, hence exact differences off the kinks
        return perturbed.loss_and_gradient(point, rows, np.random.default_rng(1))

    _, gradient = at(theta)
    differences = [(at(theta + step * e)[0] - at(theta - step * e)[0]) / (2 * step) for e in np.eye(4)]
    np.testing.assert_allclose(gradient, differences, atol=1e-6)
    assert np.abs(gradient).max() > 0.1


def test_loss_is_nonnegative_up_to_its_constant_and_convex():
    rng = np.random.default_rng(2)
    problem = random_problem(rng)
    data = TrainingData.checked(problem, *random_data(problem, rng), "test")
    perturbed = _PerturbedLoss(data, 1.0, 20, np.zeros(4, dtype=bool))

    def loss(point):
        return perturbed.loss_and_gradient(point, np.arange(30), np.random.default_rng(3))[0]

    for _ in range(20):
        one, other = rng.normal(size=(2, 4)) * 3
        assert loss((one + other) / 2) <= (loss(one) + loss(other)) / 2 + 1e-12


def train_by_hand(problem, contexts, decisions, sigma, n_samples, epochs, batch, rate, seed, start):
    """The same method, row by row, from its definition."""
    rng = np.random.default_rng(seed)
    sign, project = (1.0 if problem.sense == "min" else -1.0), problem.domain == "nonnegative"
    theta, m, v, t, last = start.copy(), np.zeros(len(start)), np.zeros(len(start)), 0, 0.0
    for _ in range(epochs):
        order, last = rng.permutation(len(contexts)), 0.0
        for first in range(0, len(order), batch):
            rows = order[first : first + batch]
            noise = iter(rng.standard_normal((len(rows) * n_samples, len(start))))
            gradient, t = np.zeros(len(start)), t + 1
            for k in rows:
                for _ in range(n_samples):
                    costs = theta + sigma * next(noise)
                    costs = np.maximum(costs, 0.0) if project else costs
                    best = problem.nominal(costs, contexts[k : k + 1])[0]
                    gradient += sign * (decisions[k] - best) / (len(rows) * n_samples)
                    last += sign * (theta @ decisions[k] - costs @ best) / (n_samples * len(order))
            m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
            theta = theta - rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
            theta = np.maximum(theta, 0.0) if project else theta
    return theta, last, t


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("domain", ["free", "nonnegative"])
@pytest.mark.parametrize("n_samples", [1, 3])
def test_training_loop(sense, domain, n_samples):
    rng = np.random.default_rng(4)
    problem = random_problem(rng, sense, domain)
    contexts, decisions = random_data(problem, rng, 21)
    start = np.array([0.3, 3.0, 4.0, 2.5])
    settings = {"sigma": 0.7, "n_samples": n_samples, "epochs": 4, "batch_size": 8, "learning_rate": 0.2}
    fit = PerturbedFenchelYoung(start, **settings, random_state=5).fit(problem, contexts, decisions)
    theta, loss, n_steps = train_by_hand(problem, contexts, decisions, 0.7, n_samples, 4, 8, 0.2, 5, start)
    np.testing.assert_allclose(fit.theta_, theta, rtol=1e-9, atol=1e-12)
    assert fit.loss_ == pytest.approx(loss, rel=1e-9)
    assert fit.n_iter_ == n_steps == 12


@pytest.mark.parametrize("domain", ["free", "nonnegative"])
def test_learns_the_costs_of_a_grid(domain):
    rng = np.random.default_rng(6)
    problem = ShortestPath(Network.grid(4, 4), domain=domain)
    star = rng.uniform(0.2, 2.0, problem.n_params)
    contexts = np.array([rng.choice(16, 2, replace=False) for _ in range(400)])
    decisions = problem.solve(star, contexts)
    fit = PerturbedFenchelYoung(sigma=0.3, epochs=30, random_state=0).fit(problem, contexts, decisions)

    def excess(theta):
        chosen = problem.objective(star, problem.solve(np.maximum(theta, 0.0), contexts))
        return (chosen - problem.objective(star, decisions)).mean()

    assert excess(fit.theta_) < 0.15 * excess(np.ones(problem.n_params))
    assert domain == "free" or (fit.theta_ >= 0).all()


def test_sparse_and_dense_decisions_agree():
    rng = np.random.default_rng(7)
    problem = random_problem(rng, as_csr=True)
    contexts, decisions = random_data(problem, rng)
    dense = PerturbedFenchelYoung(random_state=1).fit(problem, contexts, decisions)
    as_csr = PerturbedFenchelYoung(random_state=1).fit(problem, contexts, sparse.csr_array(decisions))
    np.testing.assert_allclose(dense.theta_, as_csr.theta_, rtol=1e-12)


def test_untouched_parameters_stay():
    problem = Listed([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    fit = PerturbedFenchelYoung([5.0, 6.0, 7.0], random_state=0).fit(problem, [[0.0]], [[1.0, 0.0, 0.0]])
    assert fit.theta_[2] == 7.0
    assert fit.theta_[0] != 5.0


def test_seeds():
    rng = np.random.default_rng(8)
    problem = random_problem(rng)
    data = random_data(problem, rng)
    estimator = PerturbedFenchelYoung(random_state=3, epochs=2)
    same = clone(estimator).fit(problem, *data).theta_
    np.testing.assert_array_equal(estimator.fit(problem, *data).theta_, same)
    generator = PerturbedFenchelYoung(random_state=np.random.default_rng(3), epochs=2).fit(problem, *data)
    np.testing.assert_array_equal(generator.theta_, same)
    other = PerturbedFenchelYoung(random_state=4, epochs=2).fit(problem, *data).theta_
    assert not np.array_equal(other, same)


def test_parameters():
    problem = Listed([[[1.0, 0.0], [0.0, 1.0]]])
    with pytest.raises(NotFittedError, match=r"call PerturbedFenchelYoung\.fit"):
        PerturbedFenchelYoung().parameters([[0.0]])
    fit = PerturbedFenchelYoung(random_state=0).fit(problem, [[0.0]], [[1.0, 0.0]])
    np.testing.assert_array_equal(fit.parameters([[0.0], [0.0]]), [fit.theta_, fit.theta_])


FACTS = Listed([[[1.0, 0.0], [0.0, 1.0]]], domain="nonnegative")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"initial": [1.0]}, r"`initial` of PerturbedFenchelYoung\.fit: must have shape \(2,\)"),
        ({"initial": [1.0, -1.0]}, r"`initial` .* must be >= 0 \(domain nonnegative\)"),
        ({"sigma": 0.0}, r"`sigma` .* must be a number in \(0\.0, inf\]; got 0\.0"),
        ({"n_samples": 0}, r"`n_samples` .* must be a whole number >= 1"),
        ({"epochs": 0}, r"`epochs` .* must be a whole number >= 1"),
        ({"batch_size": 1.5}, r"`batch_size` .* must be a whole number >= 1"),
        ({"learning_rate": 0.0}, r"`learning_rate` .* must be a number in \(0\.0, inf\]"),
        ({"random_state": "a"}, r"`random_state` .* must be a nonnegative int"),
    ],
)
def test_settings_out_of_range(settings, message):
    with pytest.raises(InvalidInputError, match=message):
        PerturbedFenchelYoung(**settings).fit(FACTS, [[0.0]], [[1.0, 0.0]])


def test_mask_of_the_problem_is_respected():
    problem = Listed([[[1.0, 0.0], [0.0, 1.0]]])
    problem.nonnegative_params = np.array([True, False])
    with pytest.raises(InvalidInputError, match=r"`initial` .* must be >= 0 wherever the problem's"):
        PerturbedFenchelYoung([-1.0, 1.0]).fit(problem, [[0.0]], [[1.0, 0.0]])
    fit = PerturbedFenchelYoung(learning_rate=1.0, random_state=0).fit(problem, [[0.0]], [[1.0, 0.0]])
    assert fit.theta_[0] == 0.0


def test_everything_projected_away():
    problem = Listed([[[1.0, 1.0], [2.0, 2.0], [0.0, 0.0]]], domain="nonnegative")
    settings = {"learning_rate": 50.0, "epochs": 1, "random_state": 0}
    with pytest.raises(InvalidInputError, match=r"`learning_rate` .* projected all of them to 0; got 50\.0\. Lower"):
        PerturbedFenchelYoung(**settings).fit(problem, [[0.0]], [[2.0, 2.0]])


def test_failures_of_the_forward_problem_name_the_row():
    problem = LinearProgram(A_ub=[[-1.0, -1.0]], domain="free")  # unbounded once a perturbed cost is negative
    with pytest.raises(UnboundedProblemError, match=r"`contexts` row [012] of PerturbedFenchelYoung\.fit: .*unbo"):
        PerturbedFenchelYoung(sigma=5.0, n_samples=4, random_state=0).fit(
            problem, [[-1.0], [-2.0], [-3.0]], [[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]
        )


def test_infeasible_decisions_are_named():
    with pytest.raises(
        InvalidInputError, match=r"`decisions` row 0 of PerturbedFenchelYoung\.fit: every decision must be feasible"
    ):
        PerturbedFenchelYoung().fit(FACTS, [[0.0]], [[1.0, 1.0]])


@pytest.mark.parametrize("n_samples", [1, 2])
@pytest.mark.parametrize("kind", ["paths", "free paths", "items"])
def test_totals_without_decisions_train_as_decisions_do(kind, n_samples, monkeypatch):
    rng = np.random.default_rng(20)
    if kind == "items":
        problem, contexts = Knapsack(rng.uniform(1, 2, 6)), rng.uniform(2, 6, (70, 1))
    else:
        domain = "free" if kind == "free paths" else "nonnegative"
        problem = ShortestPath(Network.grid(3, 3), domain=domain)
        contexts = np.array([rng.choice(9, 2, replace=False) for _ in range(70)], dtype=float)
    decisions = problem.solve(rng.uniform(1, 3, (70, problem.n_params)), contexts)
    estimator = PerturbedFenchelYoung(epochs=3, n_samples=n_samples, batch_size=32, random_state=0)
    fast = clone(estimator).fit(problem, contexts, decisions)

    def plain(self, theta, contexts):
        best = problem.nominal(theta, contexts)
        return np.asarray(best.sum(axis=0)).ravel(), float(row_products(theta, best).sum())

    monkeypatch.setattr(type(problem), "optimal_totals", plain)
    slow = estimator.fit(problem, contexts, decisions)
    np.testing.assert_allclose(fast.theta_, slow.theta_, rtol=1e-12, atol=1e-14)
    assert fast.loss_ == pytest.approx(slow.loss_, rel=1e-12)


def test_the_default_route_builds_no_decisions(monkeypatch):
    problem = ShortestPath(Network.grid(3, 3))
    contexts = np.array([[0.0, 8.0], [2.0, 6.0]])
    decisions = problem.solve(np.ones(problem.n_params), contexts)
    monkeypatch.setattr(ShortestPath, "nominal", lambda *arguments: pytest.fail("solved row by row"))
    assert PerturbedFenchelYoung(epochs=2, random_state=0).fit(problem, contexts, decisions).n_iter_ == 2


def test_a_trip_without_a_path_names_its_row():
    problem = ShortestPath(Network([0, 1], [1, 0], 3))
    data = TrainingData.checked(problem, [[0, 1], [1, 0]], [[1.0, 0.0], [0.0, 1.0]], "test")
    object.__setattr__(data, "contexts", np.array([[0.0, 1.0], [0.0, 2.0]]))
    with pytest.raises(InfeasibleProblemError, match=r"`contexts` row 1 of test: .*no path from 0 to 2"):
        data.optimal_totals(np.ones((2, 2)), np.array([0, 1]))
