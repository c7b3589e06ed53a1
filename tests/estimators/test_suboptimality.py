"""The sub-optimality loss: its value against the whole linear program, its certificate, its ties and its errors."""

import itertools
import warnings

import numpy as np
import pytest
from finite_problems import Listed, losses, random_data, random_problem, smallest_mean_loss
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from conformio.errors import InvalidInputError, NotFittedError, SolverError, UnboundedProblemError
from conformio.estimators import SuboptimalityLoss
from conformio.estimators.base import TrainingData
from conformio.estimators.cutting_planes import l1_ball, minimize_over_ball
from conformio.estimators.losses import MeanLoss
from conformio.networks import Network
from conformio.problems import Knapsack, LinearProgram, OracleProblem, ShortestPath


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("domain", ["free", "nonnegative"])
@pytest.mark.parametrize("squared", [False, True])
def test_loss_is_that_of_the_whole_program(sense, domain, squared):
    rng = np.random.default_rng(7)
    for trial in range(12):
        problem = random_problem(rng, sense, domain, squared=squared, as_csr=trial % 2 == 0 and not squared)
        contexts, decisions = random_data(problem, rng)
        center = rng.uniform(0.2, 3.0, 4)
        radius = rng.uniform(0.1, 0.99) * center.sum()
        estimator = SuboptimalityLoss(center, radius).fit(problem, contexts, decisions)
        whole = smallest_mean_loss(problem, contexts, decisions, center, radius)
        allowed = 1e-6 * max(center.mean(), estimator.loss_)
        assert 0.0 <= estimator.gap_ <= allowed
        assert estimator.lower_bound_ <= whole + 1e-8
        assert whole - 1e-8 <= estimator.loss_ <= whole + allowed + 1e-8
        _check_point(estimator, problem, contexts, decisions, center, radius)


def _check_point(estimator, problem, contexts, decisions, center, radius):
    theta = estimator.theta_
    assert np.abs(theta - center).sum() <= radius * (1 + 1e-9)
    assert problem.domain == "free" or (theta >= 0).all()
    assert estimator.loss_ == pytest.approx(losses(problem, theta, contexts, decisions).mean(), abs=1e-12)
    assert estimator.gap_ == estimator.loss_ - estimator.lower_bound_


def test_default_ball_is_a_quarter_around_one():
    rng = np.random.default_rng(1)
    problem = random_problem(rng)
    contexts, decisions = random_data(problem, rng)
    estimator = SuboptimalityLoss().fit(problem, contexts, decisions)
    assert estimator.loss_ == pytest.approx(smallest_mean_loss(problem, contexts, decisions, np.ones(4), 1.0), abs=2e-6)


@pytest.mark.parametrize("domain", ["free", "nonnegative"])
def test_knapsack(domain):
    rng = np.random.default_rng(3)
    problem = Knapsack(rng.uniform(0.5, 1.5, 6), domain=domain)
    values = rng.uniform(0.5, 1.5, 6) * rng.uniform(0.5, 2.0, (20, 6))
    contexts = rng.choice([1.5, 2.5, 3.5], 20)[:, None]
    decisions = problem.solve(values, contexts)
    every = np.array(list(itertools.product((0.0, 1.0), repeat=6)))
    budgets, which = np.unique(contexts, return_inverse=True)
    listed = Listed([every[problem.is_feasible(every, np.full((64, 1), b))] for b in budgets], "max", domain)
    whole = smallest_mean_loss(listed, which.reshape(-1, 1), decisions, np.ones(6), 1.5)
    estimator = SuboptimalityLoss().fit(problem, contexts, decisions)
    assert estimator.loss_ == pytest.approx(whole, abs=2e-6)
    assert estimator.lower_bound_ <= whole + 1e-8


@pytest.mark.parametrize("domain", ["free", "nonnegative"])
def test_shortest_path(domain):
    rng = np.random.default_rng(4)
    network = Network.grid(3, 3)
    problem = ShortestPath(network, domain=domain)
    costs = rng.uniform(0.2, 2.0, (25, network.n_edges))
    contexts = np.array([rng.choice(9, 2, replace=False) for _ in range(25)])
    decisions = problem.solve(costs, contexts)
    estimator = SuboptimalityLoss().fit(problem, contexts, decisions)
    excess = problem.objective(estimator.theta_, decisions) - problem.objective(
        estimator.theta_, problem.solve(estimator.theta_, contexts)
    )
    assert estimator.loss_ == pytest.approx(excess.mean(), abs=1e-9)
    assert estimator.gap_ <= 1e-6
    for _ in range(200):  # no other member of the ball does better than the bound says
        step = rng.dirichlet(np.ones(network.n_edges)) * rng.choice([-1, 1], network.n_edges)
        other = np.ones(network.n_edges) + network.n_edges / 4 * step
        other = np.maximum(other, 0.0)
        best = problem.objective(other, problem.solve(other, contexts))
        assert (problem.objective(other, decisions) - best).mean() >= estimator.lower_bound_ - 1e-9


def test_facet_normal_of_the_papers_example():
    u = 10.0
    problem = LinearProgram(A_ub=[[-1.0, -u]], upper=[u, 2.0])
    decisions = np.array([[0.0, 1.0]] * 3 + [[u, 0.0]] * 4)
    estimator = SuboptimalityLoss(center=[1.0, 5.0], radius=5.0).fit(problem, [[-u]] * 7, decisions)
    assert estimator.theta_[1] / estimator.theta_[0] == pytest.approx(u, rel=1e-6)
    assert estimator.loss_ == pytest.approx(0.0, abs=1e-6)


def test_cost_is_driven_by_distinct_contexts():
    rng = np.random.default_rng(5)
    problem = random_problem(rng)
    contexts, decisions = random_data(problem, rng, 10)
    first = SuboptimalityLoss().fit(problem, contexts, decisions)
    solved, problem.rows_solved = problem.rows_solved, 0
    again = SuboptimalityLoss().fit(problem, np.tile(contexts, (50, 1)), np.tile(decisions, (50, 1)))
    assert problem.rows_solved == solved
    assert again.loss_ == pytest.approx(first.loss_, abs=1e-9)


@pytest.mark.parametrize("seeded", [False, True])
def test_merged_groups_have_the_same_optimum(seeded):
    rng = np.random.default_rng(6)
    problem = random_problem(rng, n_lists=12)
    contexts, decisions = random_data(problem, rng, 60)
    data = TrainingData.checked(problem, contexts, decisions, "test")
    ball = l1_ball(problem, None, 3.0, "test")
    apart = minimize_over_ball(MeanLoss(data), ball, 1e-7, 1000, "test")
    for max_terms in (1, 5):
        merged = MeanLoss(data, max_terms, np.random.default_rng(0) if seeded else None)
        assert len(merged.aux_lower) == max_terms
        found = minimize_over_ball(merged, ball, 1e-7, 1000, "test")
        assert found.loss == pytest.approx(apart.loss, abs=2e-7 * max(1.0, apart.loss))


def test_units_of_the_parameters_do_not_matter():
    rng = np.random.default_rng(8)
    problem = random_problem(rng)
    contexts, decisions = random_data(problem, rng)
    ones = SuboptimalityLoss().fit(problem, contexts, decisions)
    for scale in (2.0**-20, 2.0**20):
        other = SuboptimalityLoss(center=np.full(4, scale)).fit(problem, contexts, decisions)
        np.testing.assert_allclose(other.theta_, ones.theta_ * scale, rtol=1e-12)
        assert other.loss_ == pytest.approx(ones.loss_ * scale, rel=1e-12)


def test_seed_breaks_ties_and_repeats():
    rng = np.random.default_rng(10)
    network = Network.grid(4, 4)
    problem = ShortestPath(network)
    contexts = np.array([rng.choice(16, 2, replace=False) for _ in range(40)])
    decisions = problem.solve(rng.uniform(0.2, 2.0, (40, network.n_edges)), contexts)
    by_seed = {}
    for seed in (None, 0, 1, 2):
        fits = [SuboptimalityLoss(random_state=seed).fit(problem, contexts, decisions) for _ in range(2)]
        np.testing.assert_array_equal(fits[0].theta_, fits[1].theta_)
        by_seed[seed] = fits[0]
    values = [fit.loss_ for fit in by_seed.values()]
    assert np.ptp(values) <= 2e-6
    assert any(not np.allclose(fit.theta_, by_seed[None].theta_) for fit in by_seed.values())


def test_zero_radius_returns_the_centre():
    rng = np.random.default_rng(10)
    problem = random_problem(rng)
    contexts, decisions = random_data(problem, rng)
    estimator = SuboptimalityLoss(center=[1.0, 2.0, 3.0, 4.0], radius=0).fit(problem, contexts, decisions)
    np.testing.assert_allclose(estimator.theta_, [1.0, 2.0, 3.0, 4.0])
    assert estimator.gap_ <= 1e-9


def test_one_row():
    problem = Listed([[[1.0, 0.0], [0.0, 1.0]]])
    estimator = SuboptimalityLoss().fit(problem, [0.0], [[1.0, 0.0]])
    assert estimator.loss_ == pytest.approx(0.0, abs=1e-9)


def test_mask_of_the_problem_is_respected():
    # without the mask theta = (-0.5, 1) would explain the choice of (2, 0) better than any theta_1 >= 0
    lists = [[[2.0, 1.0], [0.0, 0.0]]]
    free, masked = Listed(lists), Listed(lists)
    masked.nonnegative_params = np.array([True, False])
    data = np.zeros((1, 1)), np.array([[2.0, 1.0]])
    settings = {"center": [0.5, 1.0], "radius": 1.2}
    assert SuboptimalityLoss(**settings).fit(free, *data).theta_[0] < 0
    found = SuboptimalityLoss(**settings).fit(masked, *data)
    assert found.theta_[0] >= 0
    assert found.loss_ == pytest.approx(0.3, abs=1e-9)  # theta = (0, 0.3)
    with pytest.raises(InvalidInputError, match=r"`center` of SuboptimalityLoss\.fit: must be >= 0 wherever"):
        SuboptimalityLoss(center=[-1.0, 1.0]).fit(masked, *data)


# ---------------------------------------------------------------------- habits


def test_parameters_before_and_after_fit():
    problem = Listed([[[1.0, 0.0], [0.0, 1.0]]])
    estimator = SuboptimalityLoss()
    with pytest.raises(NotFittedError, match=r"SuboptimalityLoss\.parameters: call SuboptimalityLoss\.fit"):
        estimator.parameters([[0.0]])
    assert estimator.fit(problem, [[0.0]], [[1.0, 0.0]]) is estimator
    rows = estimator.parameters([0.0, 0.0, 0.0])
    assert rows.shape == (3, 2)
    np.testing.assert_array_equal(rows, np.tile(estimator.theta_, (3, 1)))
    with pytest.raises(ValueError, match="read-only"):
        rows[0] = 0.0
    with pytest.raises(InvalidInputError, match=r"`contexts` of SuboptimalityLoss\.parameters: must have 1 col"):
        estimator.parameters([[0.0, 1.0]])


def test_clone_and_params():
    estimator = SuboptimalityLoss(center=[1.0, 2.0], radius=0.5, tol=1e-4, max_iter=7, random_state=3)
    copy = clone(estimator)
    assert copy is not estimator
    assert copy.get_params() == estimator.get_params()
    assert copy.set_params(radius=0.25).radius == 0.25
    assert estimator.needs_data


def test_refit_forgets():
    problem = Listed([[[1.0, 0.0], [0.0, 1.0]]])
    estimator = SuboptimalityLoss().fit(problem, [[0.0]], [[1.0, 0.0]])
    expected = SuboptimalityLoss().fit(problem, [[0.0]], [[0.0, 1.0]]).theta_
    np.testing.assert_array_equal(estimator.fit(problem, [[0.0]], [[0.0, 1.0]]).theta_, expected)


# ---------------------------------------------------------------------- warnings and errors


def test_open_gap_is_told():
    rng = np.random.default_rng(11)
    problem = random_problem(rng, n_lists=20)
    contexts, decisions = random_data(problem, rng, 60)
    with pytest.warns(ConvergenceWarning, match=r"SuboptimalityLoss\.fit: .* max_iter = 1 rounds; raise max_iter"):
        estimator = SuboptimalityLoss(max_iter=1).fit(problem, contexts, decisions)
    whole = smallest_mean_loss(problem, contexts, decisions, np.ones(4), 1.0)
    assert estimator.n_iter_ == 1
    assert estimator.lower_bound_ <= whole <= estimator.loss_
    assert estimator.gap_ > 1e-6


def test_unreachable_tolerance_is_told():
    rng = np.random.default_rng(12)
    problem = random_problem(rng, n_lists=20)
    warned = 0
    for _ in range(10):
        contexts, decisions = random_data(problem, rng, 60)
        with warnings.catch_warnings(record=True) as records:
            warnings.simplefilter("always")
            fit = SuboptimalityLoss(tol=1e-30).fit(problem, contexts, decisions)
        assert bool(records) == (fit.gap_ > 1e-30 * max(1.0, fit.loss_))
        assert all("told from rounding; raise tol" in str(record.message) for record in records)
        assert fit.gap_ <= 1e-8
        warned += bool(records)
    assert warned > 0


FACTS = Listed([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [0.0, 0.0]]], domain="nonnegative")
ROWS = np.array([[0.0], [1.0]]), np.array([[1.0, 0.0], [1.0, 1.0]])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"center": [1.0]}, r"`center` of SuboptimalityLoss\.fit: must have shape \(2,\)"),
        ({"center": [1.0, np.nan]}, r"`center` .* must be finite"),
        ({"center": [1.0, -1.0]}, r"`center` .* must be >= 0 \(domain nonnegative\)"),
        ({"center": [0.0, 0.0]}, r"`center` .* must not be zero: it has no direction; got zeros only"),
        ({"radius": 2.0}, r"`radius` .* must be below the L1 norm of the centre, 2: .*theta = 0; got 2\.0"),
        ({"radius": -0.5}, r"`radius` .* must be a number in \[0\.0, inf\]; got -0\.5"),
        ({"radius": "big"}, r"`radius` .* must be a number"),
        ({"tol": 0.0}, r"`tol` .* must be a number in \(0\.0, inf\]; got 0\.0"),
        ({"max_iter": 0}, r"`max_iter` .* must be a whole number >= 1; got 0"),
        ({"random_state": -1}, r"`random_state` .* must be a nonnegative int"),
    ],
)
def test_settings_out_of_range(settings, message):
    estimator = SuboptimalityLoss(**settings)
    with pytest.raises(InvalidInputError, match=message):
        estimator.fit(FACTS, *ROWS)


@pytest.mark.parametrize(
    ("contexts", "decisions", "message"),
    [
        (np.empty((0, 1)), np.empty((0, 2)), r"`contexts` of SuboptimalityLoss\.fit: must have at least one row"),
        (
            [[0.0], [1.0]],
            [[1.0, 0.0], [1.0, 0.0]],
            r"`decisions` row 1 .* must be feasible.*1 infeasible row: 1 .it lies outside",
        ),
        ([[0.0], [1.0]], [[1.0, 0.0]], r"`decisions` .* must have 2 rows"),
        ([[0.0]], [[1.0, np.inf]], r"`decisions` row 0 .* must be finite"),
        ([[0.0, 1.0]], [[1.0, 0.0]], r"`contexts` .* must have 1 column;"),
    ],
)
def test_wrong_data(contexts, decisions, message):
    with pytest.raises(InvalidInputError, match=message):
        SuboptimalityLoss().fit(FACTS, contexts, decisions)


def test_wrong_problem():
    with pytest.raises(InvalidInputError, match=r"`problem` of SuboptimalityLoss\.fit: must be a forward problem"):
        SuboptimalityLoss().fit("grid", *ROWS)


def test_failures_of_the_forward_problem_name_the_row():
    problem = LinearProgram(A_ub=[[-1.0, -1.0]], domain="free")  # x1 + x2 >= u, x >= 0: unbounded for theta < 0
    decisions = [[1.0, 0.0], [0.0, 2.0]]
    with pytest.raises(UnboundedProblemError, match=r"`contexts` row \d of SuboptimalityLoss\.fit: .*unbounded"):
        SuboptimalityLoss(center=[-1.0, -1.0], radius=0.1).fit(problem, [[-1.0], [-2.0]], decisions)


@pytest.mark.parametrize("as_csr", [False, True])
def test_decisions_that_beat_the_solver_are_refused(as_csr):
    problem = OracleProblem(lambda theta, u: np.array([2.0, 2.0]), n_params=2)  # no is_member: any x is believed
    decisions = np.array([[2.0, 2.0], [1.0, 1.0]])
    given = sparse.csr_array(decisions) if as_csr else decisions
    with pytest.raises(SolverError, match=r"`contexts` row 1 .* beats the forward solver's optimum by 2"):
        SuboptimalityLoss().fit(problem, [0.0, 1.0], given)
    data = TrainingData.checked(problem, [0.0, 1.0], given, "test")
    merged = MeanLoss(data, max_terms=1)
    with pytest.raises(SolverError, match=r"`contexts` of test: the observed decision beats"):
        merged.separate(np.ones(3))
