"""The catalogue of subsets against enumeration and the dynamic program, ties and all."""

import numpy as np
import pytest

from conformio._kernels.knapsack import fill_rows, fill_twin
from conformio._kernels.small_knapsack import catalogue_of, fill_from_catalogue
from conformio.problems import Knapsack, knapsack


def filled(weights, values, capacities):
    take = np.zeros((len(capacities), len(weights)))
    fill_from_catalogue(*catalogue_of(weights), values, capacities, take)
    return take


@pytest.mark.parametrize("seed", range(80))
def test_equals_enumeration(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    if seed % 2:
        weights, values = rng.integers(0, 4, n).astype(float), rng.integers(-2, 5, n).astype(float)
        capacities = rng.integers(0, 9, 12).astype(float)
    else:
        weights, values = rng.uniform(0.1, 1, n), rng.normal(0.5, 1, n)
        capacities = np.append(rng.uniform(0, weights.sum(), 11), 0.0)
    found = filled(weights, values, capacities)
    expected = np.array([fill_twin(weights, values, capacity) for capacity in capacities])
    np.testing.assert_array_equal(found, expected)
    again = np.zeros_like(found)
    assert fill_rows(weights, values[None], capacities, again) == -1
    np.testing.assert_array_equal(found, again)


def test_ties_of_rounding_do_not_decide():
    weights, values = np.ones(3), np.array([0.1, 0.2, 0.1 + 0.2])
    np.testing.assert_array_equal(filled(weights, values, np.array([2.0, 3.0]))[0], [0.0, 1.0, 1.0])
    np.testing.assert_array_equal(filled(np.array([1.0, 1.0, 2.0]), values, np.array([2.0])), [[0.0, 0.0, 1.0]])


def test_default_call_reads_the_catalogue(monkeypatch):
    problem, budgets = Knapsack(np.arange(1.0, 7.0)), np.arange(1.0, 21.0)[:, None]
    values = np.random.default_rng(0).uniform(1, 2, 6)
    expected = problem.nominal(np.tile(values, (20, 1)), budgets)
    monkeypatch.setattr(knapsack, "fill_rows", lambda *arguments: pytest.fail("solved one by one"))
    np.testing.assert_array_equal(problem.nominal(values, budgets), expected)
    with pytest.raises(pytest.fail.Exception):
        Knapsack(np.arange(1.0, 16.0)).nominal(np.ones(15), budgets)
