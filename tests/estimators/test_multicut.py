"""The estimator against a plain multi-cut program that shares no code with it."""

import numpy as np
import pytest

from conformio.estimators import SuboptimalityLoss
from conformio.studies import knapsack_example, road_grid_example
from conformio.studies.benchmarks import multicut


@pytest.mark.parametrize("example", [road_grid_example, knapsack_example])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("n_rows", [30, 700])
def test_same_optimum(example, seed, n_rows):
    data = example(n_rows, random_state=seed)
    estimator = SuboptimalityLoss().fit(data.problem, data.contexts, data.decisions)
    plain = multicut.minimize_multicut(data.problem, data.contexts, data.decisions)
    assert plain.loss - plain.lower_bound <= 1e-6
    assert 0.0 <= estimator.gap_ <= 1e-6
    assert estimator.loss_ == pytest.approx(plain.loss, abs=1e-6)
    assert estimator.lower_bound_ <= plain.loss + 1e-9


def test_forward_programs_one_by_one():
    data = road_grid_example(20, 3, 3, random_state=0)
    solve = multicut.flows_one_by_one(data.problem)
    plain = multicut.minimize_multicut(data.problem, data.contexts, data.decisions, forward=solve)
    other = multicut.minimize_multicut(data.problem, data.contexts, data.decisions)
    assert plain.loss == pytest.approx(other.loss, abs=1e-6)
    theta = np.ones(data.problem.n_params)
    costs = solve(theta, data.contexts) @ theta
    np.testing.assert_allclose(costs, data.problem.nominal(theta, data.contexts) @ theta)


def test_a_million_rows_would_group_as_few_do():
    data = road_grid_example(300, random_state=2)
    again = np.random.default_rng(0).permutation(np.tile(np.arange(300), 40))
    once = SuboptimalityLoss().fit(data.problem, data.contexts, data.decisions)
    often = SuboptimalityLoss().fit(data.problem, data.contexts[again], data.decisions[again])
    assert often.loss_ == pytest.approx(once.loss_, abs=1e-6)
