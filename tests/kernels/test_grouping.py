"""Equal rows in one pass, against sorting; sums over them, against a matrix product."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from conformio._kernels.grouping import add_rows_by_group, group_rows, group_rows_twin
from conformio.estimators.base import TrainingData
from conformio.networks import Network
from conformio.problems import Knapsack, ShortestPath


@pytest.mark.parametrize("seed", range(30))
def test_groups_equal_those_found_by_sorting(seed):
    rng = np.random.default_rng(seed)
    n, width, kinds = int(rng.integers(1, 3000)), int(rng.integers(1, 4)), int(rng.integers(1, 60))
    rows = rng.integers(-kinds, kinds, (n, width)) * rng.choice([1.0, 0.1, 1e300, 1e-300])
    if seed % 3 == 0:
        rows = rng.standard_normal((n, width))
    first, group = group_rows(rows)
    for found, expected in zip((first, group), group_rows_twin(rows), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("rows", [np.zeros((0, 2)), np.zeros((1, 2)), np.zeros((4, 0)), np.array([[0.0], [-0.0]])])
def test_edge_cases(rows):
    for found, expected in zip(group_rows(rows), group_rows_twin(rows), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_zero_has_one_sign():
    first, group = group_rows(np.array([[-0.0, 1.0], [2.0, 1.0], [0.0, 1.0]]))
    np.testing.assert_array_equal(first, [0, 1])
    np.testing.assert_array_equal(group, [0, 1, 0])


def test_many_whole_numbers_are_told_apart_without_long_searches():
    rows = np.stack(np.meshgrid(np.arange(300.0), np.arange(300.0)), axis=-1).reshape(-1, 2)
    first, group = group_rows(np.concatenate([rows, rows]))
    assert len(first) == 90_000
    np.testing.assert_array_equal(group[:90_000], group[90_000:])


@pytest.mark.parametrize("kind", [np.float64, np.int8])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sums_hold_more_than_one_byte(kind, index):
    rng = np.random.default_rng(1)
    rows = sparse.csr_array(rng.random((5000, 7)) < 0.4).astype(kind)
    rows.indptr, rows.indices = rows.indptr.astype(index), rows.indices.astype(index)
    group, sums = rng.integers(3, size=5000), np.zeros((3, 7))
    add_rows_by_group(rows.indptr, rows.indices, rows.data, group, sums)
    one_hot = (group == np.arange(3)[:, None]).astype(float)
    np.testing.assert_array_equal(sums, one_hot @ rows.toarray().astype(float))
    assert sums.max() > 127


@pytest.mark.parametrize("dense_entries", [0, 1 << 22])
@pytest.mark.parametrize("maximise", [False, True])
def test_observed_sums_are_those_of_the_rows(monkeypatch, dense_entries, maximise):
    monkeypatch.setattr("conformio.estimators.base._DENSE_ENTRIES", dense_entries)
    rng = np.random.default_rng(2)
    if maximise:
        problem, contexts = Knapsack([1.0, 2.0, 4.0]), rng.choice([2.0, 5.0], (50, 1))
    else:
        problem = ShortestPath(Network.grid(3, 3))
        contexts = np.array([rng.choice(9, 2, replace=False) for _ in range(50)], dtype=float)
    decisions = problem.solve(rng.uniform(1, 2, (50, problem.n_params)), contexts)
    data = TrainingData.checked(problem, contexts, decisions, "test")
    one_hot = (data.context_of == np.arange(len(data.distinct))[:, None]).astype(float)
    signed = (decisions if maximise else decisions.toarray()) * problem.sign
    found = data.observed_sums()
    np.testing.assert_array_equal(found if maximise else found.toarray(), one_hot @ signed)
    np.testing.assert_array_equal(data.counts(), one_hot.sum(axis=1))
