"""The flow program against scipy and enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from conformio.errors import InfeasibleProblemError, SolverError
from conformio.networks import Network, flow_program
from conformio.networks.flow_program import FlowProgram, has_light_cycle, usable_edges
from conformio.networks.tied_paths import TooManyTiesError


def all_flows(network, origin, destination):
    """Every feasible 0/1 flow, one per row."""
    usable = np.flatnonzero(usable_edges(network, origin, destination))
    x = np.zeros((2 ** len(usable), network.n_edges))
    x[:, usable] = list(itertools.product([0.0, 1.0], repeat=len(usable)))
    balance = np.zeros(network.n_nodes)
    balance[origin] -= 1
    balance[destination] += 1
    gaps = (network.incidence @ x.T).T - balance
    return x[~gaps.any(axis=1)]


def random_network(rng, n=5, m=10):
    tails = rng.integers(n, size=m)
    return Network(tails, (tails + rng.integers(1, n, size=m)) % n, n, zones=rng.random(n) < 0.2)


@pytest.mark.parametrize("seed", range(8))
def test_one_program_serves_many_costs_and_pairs(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng)
    program = FlowProgram(network, "test")
    for row in range(12):
        costs = np.round(rng.normal(size=10), 1) * 10.0 ** rng.integers(-6, 7)
        origin, destination = rng.integers(5, size=2)
        flows = all_flows(network, origin, destination)
        if not len(flows):
            with pytest.raises(InfeasibleProblemError, match=f"row {row} of test"):
                program.solve(costs, origin, destination, row)
            continue
        flow = program.solve(costs, origin, destination, row)
        best = (flows @ costs).min()
        assert (flows == flow.x).all(axis=1).any()
        assert flow.value == pytest.approx(best, rel=1e-9, abs=1e-9 * np.abs(costs).max())
        tied = program.solve_all(costs, origin, destination, 1e-9, row)
        slack = 1e-9 * np.abs(costs).max()
        want = {tuple(np.flatnonzero(x)) for x in flows[flows @ costs <= best + slack]}
        assert len(tied) == len(want)
        assert {tuple(edges) for edges in tied} == want


def test_grid_values_equal_scipy():
    rng = np.random.default_rng(0)
    grid = Network.grid(5, 5)
    program = FlowProgram(grid, "test")
    for _ in range(20):
        costs, (origin, destination) = rng.normal(size=80), rng.integers(25, size=2)
        balance = np.zeros(25)
        balance[origin] -= 1
        balance[destination] += 1
        want = linprog(costs, A_eq=grid.incidence.toarray(), b_eq=balance, bounds=(0, 1)).fun
        flow = program.solve(costs, origin, destination, 0)
        assert flow.value == pytest.approx(want, abs=1e-9)
        # potentials prove it: the dual value of the box-constrained program
        reduced = costs - grid.incidence.T @ flow.potentials
        assert balance @ flow.potentials + np.minimum(reduced, 0).sum() == pytest.approx(want, abs=1e-8)


def test_costs_of_zero_need_no_scale():
    flow = FlowProgram(Network([0], [1]), "test").solve(np.zeros(1), 0, 1, 0)
    assert flow.x.tolist() == [True]


def test_too_many_tied_flows():
    program = FlowProgram(Network.grid(6, 6), "test")
    with pytest.raises(TooManyTiesError, match="more than 10000 flows tie"):
        program.solve_all(np.zeros(120), 0, 35, 1e-9, 0)


def test_a_point_that_is_no_vertex_is_not_passed_off_as_one(monkeypatch):
    program = FlowProgram(Network([0, 0], [1, 1]), "test")
    answer = program._model.solve(np.ones(2), np.array([-1.0, 1.0]), np.array([-1.0, 1.0]))
    half = type(answer)(np.array([0.5, 0.5]), 1.0, 1.0, answer.row_duals, answer.reduced_costs)
    monkeypatch.setattr(program._model, "solve", lambda *args, **kwargs: half)
    with pytest.raises(SolverError, match="row 4 of test: the flow program stopped away from a vertex; rescale"):
        program.solve(np.ones(2), 0, 1, 4)


def test_usable_edges_by_definition():
    network = Network([0, 1, 2, 2, 3], [1, 2, 3, 0, 1], zones=[True, False, True, False])
    assert usable_edges(network, 0, 3).tolist() == [True, False, False, False, True]
    assert usable_edges(network, 2, 0).tolist() == [False, False, True, True, True]
    assert usable_edges(network, 1, 3).tolist() == [False, False, False, False, True]
    assert flow_program.FLOW_LIMIT == 10_000


def test_light_cycles():
    network = Network([0, 1, 1], [1, 0, 2])
    everything = np.ones(3, bool)
    assert has_light_cycle(network, np.array([0.0, 1e-10, 5.0]), everything, 1e-9)
    assert not has_light_cycle(network, np.array([0.0, 1e-8, 0.0]), everything, 1e-9)
    assert not has_light_cycle(network, np.zeros(3), np.array([True, False, True]), 1e-9)


def test_ties_do_not_hang_on_what_was_solved_before():
    network = Network.grid(4, 4)
    costs = np.ones(network.n_edges)
    costs[0] = -0.5
    fresh = FlowProgram(network, "test").solve(costs, 0, 15, 0)
    used = FlowProgram(network, "test")
    rng = np.random.default_rng(0)
    for _ in range(5):
        used.solve(rng.standard_normal(network.n_edges), *rng.choice(16, 2, replace=False), 0)
        np.testing.assert_array_equal(used.solve(costs, 0, 15, 0).x, fresh.x)
