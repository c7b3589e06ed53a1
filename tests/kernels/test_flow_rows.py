"""The check of trips, row by row, against flow balances in matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from conformio._kernels.flow_rows import are_unit_flows
from conformio.networks import Network

TOL = 1e-9


def verdicts(network, rows, ends):
    return are_unit_flows(
        rows.indptr, rows.indices, rows.data, network.tails, network.heads, network.zones,
        np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1]), TOL,
    )  # fmt: skip


def twin(network, row, origin, destination):
    whole = np.round(row)
    used = whole != 0
    balance = np.zeros(network.n_nodes)
    balance[origin] -= 1
    balance[destination] += 1
    crossed = network.zones[network.tails] & (network.tails != origin)
    crossed |= network.zones[network.heads] & (network.heads != destination)
    return (
        (np.abs(row - whole) <= TOL).all()
        and np.isin(whole, (0, 1)).all()
        and not (used & crossed).any()
        and (network.incidence @ whole == balance).all()
    )


@pytest.mark.parametrize("kind", [np.float64, np.int8])
@pytest.mark.parametrize("seed", range(20))
def test_equals_twin(seed, kind):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 5)), int(rng.integers(1, 9))
    tails = rng.integers(n, size=m)
    network = Network(tails, (tails + rng.integers(1, n, size=m)) % n, n, zones=rng.random(n) < 0.2)
    dense = (rng.random((400, m)) < 0.4).astype(float)
    if kind is np.float64:
        dense += rng.choice([0.0, 0.0, 0.0, 1e-10, 1e-3, 1.0, -1.0], dense.shape) * (rng.random(dense.shape) < 0.1)
    else:
        dense += rng.choice([0, 1, -2], dense.shape) * (rng.random(dense.shape) < 0.05)
    rows, ends = sparse.csr_array(dense.astype(kind)), rng.integers(n, size=(400, 2))
    expected = [twin(network, row, *end) for row, end in zip(dense, ends, strict=True)]
    np.testing.assert_array_equal(verdicts(network, rows, ends), expected)
    assert any(expected)


def test_verdicts_do_not_lean_on_earlier_rows():
    network = Network.grid(2, 2)
    bad = network.decisions_from_paths([[0, 1, 3]], kind="nodes")
    rows = sparse.csr_array(sparse.vstack([2 * bad, bad, bad]))
    np.testing.assert_array_equal(verdicts(network, rows, np.array([[0, 3], [0, 1], [0, 3]])), [False, False, True])


def test_circles_and_trips_that_go_nowhere():
    network = Network([0, 1, 1], [1, 0, 2])
    rows = sparse.csr_array(np.array([[0.0, 0, 0], [1, 1, 0], [1, 0, 0]]))
    np.testing.assert_array_equal(verdicts(network, rows, np.array([[0, 0]] * 3)), [True, True, False])
