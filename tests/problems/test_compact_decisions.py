"""Decisions of one byte an entry: accepted wherever decisions are, and no result changes by a bit."""

import numpy as np
import pytest
from scipy import sparse

import conformio as cio
from conformio.checks import as_decisions, dense
from conformio.networks.shortest import shortest_paths


def trips(rng, network, n_rows):
    contexts = np.array([rng.choice(network.n_nodes, 2, replace=False) for _ in range(n_rows)], dtype=float)
    costs = rng.uniform(0.5, 2.0, (n_rows, network.n_edges))
    return contexts, shortest_paths(network, costs, contexts).decisions(network.n_edges)


def compact(decisions, dtype=np.int8):
    parts = (decisions.data.astype(dtype), decisions.indices.astype(np.int32), decisions.indptr.astype(np.int32))
    return sparse.csr_array(parts, shape=decisions.shape)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.bool_])
def test_bytes_stay_bytes_and_are_not_copied(dtype):
    rows = compact(sparse.csr_array(np.eye(3)), dtype)
    kept = as_decisions(rows, 3, "test")
    assert kept.dtype == np.int8
    assert kept.indices.dtype == np.int32
    assert np.shares_memory(kept.data, rows.data)
    assert np.shares_memory(kept.indices, rows.indices)
    assert dense(kept).dtype == np.float64


@pytest.mark.parametrize(
    ("data", "indices"),
    [([1, 2, 1], [0, 1, 2]), ([1, 0, 1], [0, 1, 2]), ([1, 1, 1], [0, 0, 2]), ([1, -1, 1], [0, 1, 2])],
)
def test_other_bytes_become_floats(data, indices):
    rows = sparse.csr_array((np.array(data, np.int8), np.array(indices), np.array([0, 2, 3])), shape=(2, 3))
    plain = sparse.csr_array((np.array(data, float), np.array(indices), np.array([0, 2, 3])), shape=(2, 3))
    kept = as_decisions(rows, 3, "test")
    assert kept.dtype == np.float64
    np.testing.assert_array_equal(kept.toarray(), plain.toarray())


def test_many_duplicates_do_not_wrap_round():
    ones, zeros = np.ones(300, np.int8), np.zeros(300, np.int64)
    rows = sparse.csr_array((ones, zeros, np.array([0, 300])), shape=(1, 2))
    assert as_decisions(rows, 2, "test").toarray().tolist() == [[300.0, 0.0]]


def test_unsorted_rows_are_sorted_in_a_copy():
    indices = np.array([2, 0, 1])
    rows = sparse.csr_array((np.ones(3, np.int8), indices, np.array([0, 2, 3])), shape=(2, 3))
    assert as_decisions(rows, 3, "test").indices.tolist() == [0, 2, 1]
    assert rows.indices.tolist() == [2, 0, 1]


def test_every_result_is_the_same_bit_for_bit():
    rng = np.random.default_rng(0)
    network = cio.Network.grid(4, 5)
    problem = cio.ShortestPath(network)
    contexts, decisions = trips(rng, network, 300)
    small, theta = compact(decisions), rng.uniform(0.5, 2.0, network.n_edges)
    other = problem.solve(theta, contexts)
    own = rng.uniform(0.5, 2.0, (300, network.n_edges))

    def results(rows):
        yield cio.conformity_angles(problem, theta, contexts, rows)
        yield cio.conformity_angles(problem, theta, contexts[:3], rows[:3], method="reference")
        yield problem.objective(theta, rows)
        yield problem.objective(own, rows)
        yield problem.basis(rows).toarray()
        yield problem.is_feasible(rows, contexts)
        yield problem.is_optimal(theta, rows, contexts)
        yield cio.SuboptimalityLoss().fit(problem, contexts, rows).theta_
        yield cio.PerturbedFenchelYoung(epochs=2, random_state=0).fit(problem, contexts, rows).theta_
        yield cio.DistributionallyRobustLoss(0.1).fit(problem, contexts[:20], rows[:20]).theta_
        for kind, weights in (("exact", None), ("jaccard", None), ("weighted", theta)):
            yield cio.metrics.adherence(rows, other, kind, weights)
            yield cio.metrics.adherence(rows, rows[::-1], kind, weights)
        yield cio.metrics.actual_optimality_gap(problem, theta, contexts, rows)
        yield cio.nearest_rationalizable(problem, contexts, rows).toarray()
        yield cio.SphericalCap(theta, 0.1, "nonnegative").support(rows)
        yield np.concatenate(network.paths_from_decisions(rows))
        model = cio.ConformalIO(problem, cio.SuboptimalityLoss(), random_state=0).fit(contexts, rows)
        yield model.scores_
        yield model.covers(contexts, rows)
        yield model.score(contexts, rows)

    for wide, narrow in zip(results(decisions), results(small), strict=True):
        np.testing.assert_array_equal(narrow, wide)
        assert np.asarray(narrow).dtype == np.asarray(wide).dtype


def test_feasibility_of_compact_decisions():
    rng = np.random.default_rng(1)
    network = cio.Network.grid(3, 3)
    problem = cio.ShortestPath(network)
    contexts, decisions = trips(rng, network, 40)
    contexts[7] = contexts[7][::-1]
    feasible = problem.is_feasible(compact(decisions), contexts)
    np.testing.assert_array_equal(feasible, problem.is_feasible(decisions, contexts))
    assert np.flatnonzero(~feasible).tolist() == [7]
