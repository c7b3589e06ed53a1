"""The knapsack kernel against full enumeration and HiGHS, ties and rounding included."""

import itertools

import numpy as np
import pytest

from conformio._kernels import knapsack as kernel
from conformio._kernels.knapsack import fill, fill_rows, fill_twin, tied_subsets_twin, walk_ties
from conformio.solvers import HighsModel

NO_RANKS = np.zeros(0, dtype=np.int64)


def instance(rng, kind, n):
    if kind == "uniform":
        return rng.random(n), rng.random(n)
    if kind == "signed":
        return rng.random(n), rng.normal(size=n)
    if kind == "decimal":
        return rng.integers(0, 5, n) / 10.0, rng.integers(-1, 4, n) / 10.0
    if kind == "alike":
        return np.full(n, 0.1), rng.integers(1, 3, n) / 10.0
    if kind == "subset":
        weights = rng.integers(1, 20, n) / 7.0
        return weights, weights.copy()
    weights = rng.integers(1, 20, n) / 7.0
    return weights, weights + 0.3


def capacity_for(rng, weights):
    choices = [0.0, weights.sum() * rng.random(), rng.choice(weights), weights[: len(weights) // 2].sum()]
    return float(rng.choice(choices)) * (1 + 1e-9)


KINDS = ["uniform", "signed", "decimal", "alike", "subset", "correlated"]


@pytest.mark.parametrize("kind", KINDS)
def test_fill_equals_its_twin_with_ties(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(150):
        weights, values = instance(rng, kind, int(rng.integers(1, 11)))
        capacity = capacity_for(rng, weights)
        take = np.full(len(weights), 7.0)
        assert fill(weights, values, capacity, take)
        assert take.tolist() == fill_twin(weights, values, capacity).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_walk_ties_finds_every_tied_selection_once(kind):
    rng = np.random.default_rng(10 + KINDS.index(kind))
    for _ in range(80):
        weights, values = instance(rng, kind, int(rng.integers(1, 11)))
        capacity = capacity_for(rng, weights)
        slack = 1e-9 * values[weights <= capacity].max(initial=0.0)
        floor = fill_twin(weights, values, capacity) @ values - slack
        expected = {tuple(x) for x in tied_subsets_twin(weights, values, capacity, slack)}
        count = walk_ties(weights, values, capacity, floor, NO_RANKS, np.zeros((0, len(weights))))
        found = np.empty((count, len(weights)))
        assert walk_ties(weights, values, capacity, floor, np.arange(count), found) == count
        assert count == len(expected)
        assert {tuple(x) for x in found} == expected


def test_walk_ties_repeats_ranks_and_leaves_rounding_no_trace():
    weights, values = np.full(6, 0.1), np.full(6, 0.3)
    out = np.empty((4, 6))
    ranks = np.array([0, 3, 3, 19])
    assert walk_ties(weights, values, 0.3 * (1 + 1e-9), 0.9 - 1e-9, ranks, out) == 20
    assert (out[1] == out[2]).all()
    assert len({tuple(x) for x in out}) == 3
    assert (out.sum(axis=1) == 3).all()


def test_decimal_ties_do_not_depend_on_rounding():
    # 0.1 + 0.2 exceeds 0.3 by one unit in the last place: the single item must win all the same.
    take = np.empty(3)
    assert fill(np.array([1.0, 1.0, 2.0]), np.array([0.1, 0.2, 0.3]), 2.0, take)
    assert take.tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_equal_items_are_taken_by_index(order):
    values = np.array([3.0, 3.0, 1.0, 1.0])[list(order)]
    take = np.empty(4)
    assert fill(np.ones(4), values, 3.0, take)
    assert take.tolist() == fill_twin(np.ones(4), values, 3.0).tolist()


@pytest.mark.parametrize(("n", "correlated"), [(60, False), (60, True), (400, False), (1000, False)])
def test_large_instances_against_highs(n, correlated):
    rng = np.random.default_rng(n)
    weights = rng.uniform(0.1, 1.0, n)
    values = weights + rng.uniform(0.0, 0.2, n) if correlated else rng.uniform(0.1, 1.0, n)
    for share in (0.2, 0.5, 0.8):
        capacity = share * weights.sum()
        take = np.empty(n)
        assert fill(weights, values, capacity, take)
        model = HighsModel(
            weights[None, :],
            np.array([-np.inf]),
            np.array([capacity]),
            np.zeros(n),
            np.ones(n),
            np.ones(n, bool),
            "max",
        )
        assert weights @ take <= capacity
        assert take @ values == pytest.approx(model.solve(costs=values).value, abs=1e-8)
        assert take @ values >= model.solve(costs=values).value - 1e-9


def test_fill_rows_shares_or_splits_values():
    rng = np.random.default_rng(3)
    weights, values = rng.random(8), rng.random((5, 8))
    capacities = rng.uniform(0.5, 3.0, 5)
    for given in (values, values[:1]):
        take = np.empty((5, 8))
        assert fill_rows(weights, given, capacities, take) == -1
        for k in range(5):
            assert take[k].tolist() == fill_twin(weights, given[min(k, len(given) - 1)], capacities[k]).tolist()


def test_running_out_of_states_is_reported(monkeypatch):
    # The limits are constants of the compiled code; the interpreted function reads them afresh.
    rng = np.random.default_rng(1)
    weights = rng.random(30)
    monkeypatch.setattr(kernel, "MAX_STATES", 3)
    for name in ("_core", "walk_ties"):
        function = getattr(kernel, name).py_func
        if name == "walk_ties":
            out = np.zeros((0, 30))
            assert function(weights, np.ones(30), 5.0, 0.0, NO_RANKS, out) == -1
        else:
            order = np.argsort(-(weights + 0.1) / weights)
            sorted_weights = weights[order]
            best = np.zeros(30, bool)
            assert not function(sorted_weights, sorted_weights + 0.1, order, 5.0, 1e-13, best)


def test_interpreted_kernel_agrees_with_the_compiled_one():
    rng = np.random.default_rng(8)
    for _ in range(10):
        weights, values = rng.random(9), rng.random(9)
        order = np.argsort(-values / weights, kind="stable")
        capacity = 0.4 * weights.sum()
        best, take = np.zeros(9, bool), np.empty(9)
        assert kernel._core.py_func(weights[order], values[order], order, capacity, 1e-13, best)
        assert fill(weights, values, capacity, take)
        assert sorted(order[best]) == np.flatnonzero(take).tolist()
