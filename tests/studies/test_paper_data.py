"""The simulated examples follow the paper's recipe where it states one, and the corrections elsewhere."""

import numpy as np
import pytest
from scipy import stats

from conformio.errors import InvalidInputError
from conformio.studies import knapsack_example, road_grid_example


class TestRoadGrid:
    def test_size_is_the_corrected_one(self):
        drivers = road_grid_example(30, random_state=0)
        assert drivers.problem.n_params == 120  # E1: 6 x 6 nodes
        assert drivers.problem.network.n_nodes == 36
        assert len(drivers) == 30
        assert drivers.thetas.shape == drivers.decisions.shape == (30, 120)

    def test_everyone_is_optimal_in_their_own_eyes(self):
        drivers = road_grid_example(50, random_state=3)
        assert drivers.problem.is_optimal(drivers.thetas, drivers.decisions, drivers.contexts).all()
        assert not drivers.problem.is_optimal(drivers.theta_true, drivers.decisions, drivers.contexts).all()

    def test_trips_join_two_different_nodes_uniformly(self):
        trips = road_grid_example(4000, 2, 2, random_state=0).contexts
        assert (trips[:, 0] != trips[:, 1]).all()
        _, counts = np.unique(trips, axis=0, return_counts=True)
        assert len(counts) == 12
        assert stats.chisquare(counts).pvalue > 1e-3

    def test_seeds_decide_everything(self):
        first, again, other = (road_grid_example(20, 3, 3, random_state=seed) for seed in (5, 5, 6))
        np.testing.assert_array_equal(first.thetas, again.thetas)
        np.testing.assert_array_equal(first.contexts, again.contexts)
        assert (first.decisions != again.decisions).nnz == 0
        assert not np.array_equal(first.theta_true, other.theta_true)
        rng = np.random.default_rng(5)
        np.testing.assert_array_equal(road_grid_example(20, 3, 3, random_state=rng).thetas, first.thetas)


class TestPerceptions:
    def test_they_follow_the_stated_distribution(self):
        people = road_grid_example(3000, 2, 2, random_state=1, true_range=(5.0, 5.0))
        rng = np.random.default_rng(2)
        recipe = np.maximum(5.0 * rng.uniform(0.5, 2.0, 24_000) + rng.standard_normal(24_000), 0.0) + 0.1
        assert stats.ks_2samp(people.thetas.ravel(), recipe).pvalue > 1e-3

    def test_they_never_fall_below_a_tenth(self):
        people = road_grid_example(500, 2, 2, random_state=1, true_range=(0.0, 0.1))
        assert people.thetas.min() == 0.1

    def test_the_truth_is_uniform_on_its_range(self):
        truth = road_grid_example(1, 40, 40, random_state=0).theta_true
        assert stats.kstest(truth, stats.uniform(1.0, 9.0).cdf).pvalue > 1e-3


class TestKnapsack:
    def test_everyone_is_optimal_in_their_own_eyes(self):
        shoppers = knapsack_example(40, random_state=0)
        assert shoppers.problem.n_params == 10
        assert shoppers.problem.is_optimal(shoppers.thetas, shoppers.decisions, shoppers.contexts).all()
        weights = shoppers.problem.weights
        assert 1.0 <= weights.min() <= weights.max() <= 10.0

    def test_default_budgets_leave_something_to_decide(self):
        shoppers = knapsack_example(300, random_state=0)
        shares = shoppers.contexts[:, 0] / shoppers.problem.weights.sum()
        assert 0.2 <= shares.min() < 0.25
        assert 0.75 < shares.max() <= 0.8
        assert not shoppers.decisions.all(axis=1).any()

    def test_printed_budgets_take_everything_five_times_in_six(self):
        shoppers = knapsack_example(1200, random_state=0, budget_share=(0.2, 5.0))  # E7
        everything = int(shoppers.decisions.all(axis=1).sum())
        assert stats.binomtest(everything, 1200, 4.0 / 4.8).pvalue > 1e-3


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (
            road_grid_example,
            {"n_decision_makers": 0},
            "`n_decision_makers` of road_grid_example.*whole number >= 1",
        ),
        (road_grid_example, {"rows": 0}, "`rows` of Network.grid"),
        (road_grid_example, {"true_range": (3.0, 1.0)}, "`true_range` of road_grid_example"),
        (road_grid_example, {"true_range": 3.0}, r"`true_range`.*must be a pair \(low, high\)"),
        (road_grid_example, {"random_state": "x"}, "`random_state` of road_grid_example"),
        (knapsack_example, {"n_items": 2.5}, "`n_items` of knapsack_example.*whole number"),
        (knapsack_example, {"budget_share": (-0.1, 1.0)}, "`budget_share` of knapsack_example"),
        (knapsack_example, {"n_decision_makers": True}, "`n_decision_makers` of knapsack_example"),
    ],
)
def test_wrong_settings(make, options, message):
    with pytest.raises(InvalidInputError, match=message):
        make(**options)
