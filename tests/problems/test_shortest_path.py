"""ShortestPath against networkx, HiGHS through scipy, and enumeration."""

from __future__ import annotations

import copy
import itertools
import pickle
import threading
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from scipy.optimize import linprog, milp

from conformio.data.leaves import pack, unpack
from conformio.errors import InfeasibleProblemError, InvalidInputError, SolverError
from conformio.networks import Network, shortest
from conformio.networks.flow_program import FlowProgram
from conformio.problems.cones import PathCones
from conformio.problems.shortest_path import TIE_TOLERANCE, ShortestPath

GRID = Network.grid(6, 6)


def random_network(rng, n=6, m=11, zone_rate=0.2):
    tails = rng.integers(n, size=m)
    return Network(tails, (tails + rng.integers(1, n, size=m)) % n, n, zones=rng.random(n) < zone_rate)


def is_usable(network, e, origin, destination):
    i, j = network.tails[e], network.heads[e]
    return not ((network.zones[i] and i != origin) or (network.zones[j] and j != destination))


def all_decisions(network, origin, destination):
    """X(u) by enumeration of all 0/1 vectors, from the definition."""
    found = []
    for x in itertools.product([0.0, 1.0], repeat=network.n_edges):
        balance = np.zeros(network.n_nodes)
        balance[origin] += 1
        balance[destination] -= 1
        used = [e for e in range(network.n_edges) if x[e]]
        for e in used:
            balance[network.tails[e]] -= 1
            balance[network.heads[e]] += 1
        if not balance.any() and all(is_usable(network, e, origin, destination) for e in used):
            found.append(x)
    return np.array(found).reshape(len(found), network.n_edges)


def is_simple(network, x):
    heads = network.heads[np.flatnonzero(x)]
    walk = network.paths_from_decisions([x])[0] if len(heads) else []
    nodes = [network.tails[walk[0]], *network.heads[walk]] if len(walk) else []
    return len(set(nodes)) == len(nodes)


def simple_decisions(network, flows):
    kept = []
    for x in flows:
        try:
            if is_simple(network, x):
                kept.append(x)
        except InvalidInputError:  # a path with cycles apart is no walk
            continue
    return np.array(kept)


# ---------------------------------------------------------------------- declarations


def test_what_it_declares():
    problem = ShortestPath(GRID)
    assert (problem.sense, problem.domain, problem.context_width) == ("min", "nonnegative", 2)
    assert (problem.n_params, problem.n_vars) == (120, 120)
    assert (problem.binary, problem.convex, problem.linear) == (True, False, True)
    assert repr(problem) == "ShortestPath(Network(n_nodes=36, n_edges=120), domain='nonnegative')"
    assert TIE_TOLERANCE == 1e-9


def test_wrong_constructor_arguments():
    with pytest.raises(InvalidInputError, match=r"got Graph. Write Network.from_networkx\(graph\)"):
        ShortestPath(nx.path_graph(3))
    with pytest.raises(InvalidInputError, match=r"`network` of ShortestPath: must be a Network; got list$"):
        ShortestPath([(0, 1)])
    with pytest.raises(InvalidInputError, match="`domain` of ShortestPath: must be one of 'nonnegative', 'free'"):
        ShortestPath(GRID, "positive")


@pytest.mark.parametrize(
    ("contexts", "message"),
    [
        (
            [[0, 1]] * 17 + [[0, 40]],
            r"^`contexts` row 17 of ShortestPath.solve: destination must be in 0\.\.35; got 40$",
        ),
        ([[0, 1], [-1, 3]], r"`contexts` row 1 of ShortestPath.solve: origin must be in 0\.\.35; got -1"),
        ([[0.5, 1]], "`contexts` row 0 of ShortestPath.solve: origin must be a whole number; got 0.5"),
        ([[0, 1, 2]], "`contexts` of ShortestPath.solve: must have 2 columns"),
        ([0, 1], r"`contexts` of ShortestPath.solve: must have one row per observation"),
        ([[0, np.nan]], "`contexts` row 0 of ShortestPath.solve: must be finite; got nan"),
        ([["a", "b"]], "`contexts` of ShortestPath.solve: must be node numbers, not names.*Network.node_index turns"),
        ([["a", 1]], "`contexts` of ShortestPath.solve: must be node numbers, not names.*Network.node_index turns"),
        ([["a"], ["b", "c"]], "must be a rectangular array of real numbers; got rows of different lengths"),
        ([[None, 1]], "`contexts` row 0 of ShortestPath.solve: must hold real numbers.*got None in column 0"),
    ],
)
def test_wrong_contexts(contexts, message):
    with pytest.raises(InvalidInputError, match=message):
        ShortestPath(GRID).solve(np.ones(120), contexts)


def test_names_are_pointed_to_where_nodes_have_them():
    network = Network([0], [1], node_ids=[100, 200])
    with pytest.raises(InvalidInputError, match=r"must be in 0\.\.1; got 100. Nodes are numbered.*node_index"):
        ShortestPath(network).solve([1.0], [[100, 200]])


def test_negative_costs_need_the_free_domain():
    theta = np.ones(120)
    theta[3] = -1.0
    with pytest.raises(InvalidInputError, match=r"`theta` of ShortestPath.solve: must be >= 0.*free"):
        ShortestPath(GRID).solve(theta, [[0, 1]])
    assert ShortestPath(GRID, "free").solve(theta, [[0, 1]]).shape == (1, 120)


# ---------------------------------------------------------------------- solve


@pytest.mark.parametrize("rowwise", [False, True])
@pytest.mark.parametrize("domain", ["nonnegative", "free"])
def test_values_equal_networkx_on_the_grid(rowwise, domain):
    rng = np.random.default_rng(0)
    problem = ShortestPath(GRID, domain)
    contexts = rng.integers(36, size=(80, 2))
    theta = rng.random((80, 120) if rowwise else 120) * (rng.random(120) < 0.9)
    decisions = problem.solve(theta, contexts)
    assert sparse.issparse(decisions)
    assert decisions.format == "csr"
    assert decisions.has_canonical_format
    assert problem.is_feasible(decisions, contexts).all()
    values = problem.objective(theta, decisions)
    for k, (o, t) in enumerate(contexts.tolist()):
        graph = nx.DiGraph()
        costs = theta[k] if rowwise else theta
        graph.add_weighted_edges_from(zip(GRID.tails.tolist(), GRID.heads.tolist(), costs, strict=True))
        assert values[k] == pytest.approx(nx.dijkstra_path_length(graph, o, t), abs=1e-12)


def test_of_equal_costs_the_fewest_edges_win():
    network = Network([0, 1, 2, 0], [1, 2, 3, 3])
    for costs in ([0.1, 0.2, 0.3, 0.1 + 0.2 + 0.3], [0.3, 0.2, 0.1, 0.1 + 0.2 + 0.3]):
        assert ShortestPath(network).solve(costs, [[0, 3]]).toarray().tolist() == [[0, 0, 0, 1]]


def test_costs_of_zero_are_walked_in_few_edges():
    problem = ShortestPath(GRID)
    decisions = problem.solve(np.zeros(120), [[0, 35], [7, 7], [0, 5]])
    assert decisions.sum(axis=1).tolist() == [10, 0, 5]


@settings(deadline=None, max_examples=60, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_both_domains_solve_what_enumeration_solves(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng)
    origin, destination = rng.integers(6, size=2)
    flows = all_decisions(network, origin, destination)
    free, paths = ShortestPath(network, "free"), ShortestPath(network)
    costs = np.round(rng.normal(size=11), 1)
    for problem, theta in ((free, costs), (free, np.abs(costs)), (paths, np.abs(costs))):
        if not len(flows):
            with pytest.raises(InfeasibleProblemError, match=f"from {origin} to {destination}; take the row out"):
                problem.solve(theta, [[origin, destination]])
            continue
        decision = problem.solve(theta, [[origin, destination]])
        assert (flows == decision.toarray()).all(axis=1).any()
        assert decision.toarray()[0] @ theta == pytest.approx((flows @ theta).min(), abs=1e-9)
        if (theta >= 0).all():
            assert is_simple(network, decision.toarray()[0])
        assert problem.is_optimal(theta, decision, [[origin, destination]]).all()


def test_free_values_equal_scipy_on_the_grid():
    rng = np.random.default_rng(1)
    problem = ShortestPath(GRID, "free")
    contexts = rng.integers(36, size=(12, 2))
    theta = rng.normal(size=(12, 120))
    values = problem.objective(theta, problem.solve(theta, contexts))
    shape = problem.polyhedron()
    for k, context in enumerate(contexts):
        sides = problem.sides(context.astype(float))
        bounds = np.column_stack([sides.lower, sides.upper])
        want = linprog(theta[k], A_eq=shape.A_eq.toarray(), b_eq=sides.b_eq, bounds=bounds).fun
        assert values[k] == pytest.approx(want, abs=1e-8)


def test_rows_with_and_without_negative_costs_mix():
    rng = np.random.default_rng(2)
    problem = ShortestPath(GRID, "free")
    contexts, theta = rng.integers(36, size=(9, 2)), rng.normal(size=(9, 120))
    theta[::2] = np.abs(theta[::2])
    together = problem.solve(theta, contexts).toarray()
    alone = [problem.solve(row, [context]).toarray()[0] for row, context in zip(theta, contexts, strict=True)]
    np.testing.assert_allclose((together * theta).sum(axis=1), (np.array(alone) * theta).sum(axis=1), atol=1e-9)
    assert problem.is_feasible(together, contexts).all()


def test_the_inner_route_takes_negative_costs_in_either_domain():
    theta = np.full(120, -1.0)
    decision = ShortestPath(GRID).nominal(theta, np.array([[0.0, 0.0]]))
    assert decision.sum() == 120


def test_the_default_call_takes_the_compiled_search(monkeypatch):
    calls = []
    compiled = shortest.path_batch
    monkeypatch.setattr(shortest, "path_batch", lambda *args: calls.append(len(args)) or compiled(*args))
    monkeypatch.setattr(FlowProgram, "solve", lambda *args: pytest.fail("not the flow program"))
    for domain in ("nonnegative", "free"):
        ShortestPath(GRID, domain).solve(np.ones(120), [[0, 35]] * 4)
    assert len(calls) == 2


def test_no_context_no_decision():
    problem = ShortestPath(GRID)
    assert problem.solve(np.ones(120), np.zeros((0, 2))).shape == (0, 120)
    assert problem.sample_optimal(np.ones(120), np.zeros((0, 2)), 0).shape == (0, 120)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("method", ["solve", "sample_optimal"])
@pytest.mark.parametrize("rowwise", [False, True])
def test_pairs_without_a_path_are_named(sign, method, rowwise):
    problem = ShortestPath(Network([0, 2], [1, 3]), "free")
    contexts = [[0, 1], [2, 3], [0, 1], [0, 3]]
    theta = np.array([1.0, sign])
    if rowwise:
        theta = np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 1.0], theta])
    message = f"`contexts` row 3 of ShortestPath.{method}: there is no path from 0 to 3; take the row out"
    with pytest.raises(InfeasibleProblemError, match=message):
        getattr(problem, method)(theta, contexts)


# ---------------------------------------------------------------------- zones


def test_zones_are_ends_but_never_passages():
    network = Network([0, 1, 0, 2, 1], [1, 3, 2, 3, 0], zones=[False, True, False, False])
    problem = ShortestPath(network)
    theta = [1.0, 1.0, 5.0, 5.0, 1.0]
    contexts = [[0, 3], [0, 1], [1, 3], [1, 2]]
    decisions = problem.solve(theta, contexts).toarray()
    assert decisions.tolist() == [[0, 0, 1, 1, 0], [1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 1]]
    assert problem.usable_edges([0, 3]).tolist() == [False, False, True, True, False]
    assert problem.usable_edges([1, 3]).tolist() == [False, True, True, True, True]
    with pytest.raises(InvalidInputError, match=r"ShortestPath.usable_edges: origin must be in 0\.\.3; got 9"):
        problem.usable_edges([9, 0])
    through = np.array([[1.0, 1.0, 0, 0, 0]])
    assert not problem.is_feasible(through, [[0, 3]])[0]
    free = ShortestPath(network, "free").solve([-1.0, -1.0, 5.0, 5.0, -1.0], [[0, 3]]).toarray()
    assert free.tolist() == [[0, 0, 1, 1, 0]]


def test_zones_in_the_way_are_an_error_that_says_so():
    problem = ShortestPath(Network([0, 1], [1, 2], zones=[False, True, False]))
    with pytest.raises(InfeasibleProblemError, match="no path that crosses no zone from 0 to 2"):
        problem.solve([1.0, 1.0], [[0, 2]])


# ---------------------------------------------------------------------- feasibility


@pytest.mark.parametrize("seed", range(12))
def test_feasible_is_the_definition(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, n=4, m=7)
    problem = ShortestPath(network)
    every = np.array(list(itertools.product([0.0, 1.0], repeat=7)))
    for origin, destination in itertools.product(range(4), repeat=2):
        members = {tuple(x) for x in all_decisions(network, origin, destination)}
        contexts = np.tile([origin, destination], (len(every), 1))
        want = [tuple(x) in members for x in every]
        assert problem.is_feasible(every, contexts).tolist() == want
        assert problem.is_feasible(sparse.csr_array(every), contexts).tolist() == want


def test_feasible_within_tolerance_only():
    problem = ShortestPath(Network([0, 1, 0], [1, 2, 2]))
    rows = [[1.0, 1.0, 1e-10], [1 - 1e-10, 1.0, -1e-10], [1.0, 1.0, 1e-6], [1 - 1e-6, 1.0, 0.0]]
    rows += [[0.5, 0.5, 0.5], [2.0, 2.0, -1.0], [1.0, 1.0, 0.0]]
    want = [True, True, False, False, False, False, True]
    assert problem.is_feasible(rows, [[0, 2]] * 7).tolist() == want


def test_a_worse_path_is_not_optimal():
    problem = ShortestPath(Network([0, 1, 0], [1, 2, 2]))
    rows = [[1, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert problem.is_optimal([1.0, 1.0, 3.0], rows, [[0, 2]] * 3).tolist() == [True, False, False]


# ---------------------------------------------------------------------- sampling


def assert_uniform(rows, support, false_alarm=1e-4):
    counts = Counter(tuple(row) for row in rows.tolist())
    members = {tuple(x) for x in support.tolist()}
    assert set(counts) <= members
    if len(members) > 1:
        assert stats.chisquare([counts[x] for x in sorted(members)]).pvalue > false_alarm


def test_samples_are_uniform_over_all_shortest_paths():
    grid = Network.grid(4, 4)
    problem = ShortestPath(grid)
    graph = nx.DiGraph(zip(grid.tails.tolist(), grid.heads.tolist(), strict=True))
    paths = list(nx.all_shortest_paths(graph, 0, 15))
    support = grid.decisions_from_paths(paths, kind="nodes").toarray()
    assert len(support) == 20
    draws = problem.sample_optimal(np.full(48, 0.1), [[0, 15]] * 4000, random_state=0)
    assert_uniform(draws.toarray(), support)
    assert problem.is_optimal(np.full(48, 0.1), draws, [[0, 15]] * 4000).all()


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kind", ["nonnegative", "free", "free with zeros"])
def test_samples_are_uniform_over_what_enumeration_finds(seed, kind):
    rng = np.random.default_rng(1000 + seed)
    flows = np.zeros((0, 0))
    while not len(flows):
        network = random_network(rng, n=5, m=10)
        origin, destination = rng.integers(5, size=2)
        flows = all_decisions(network, origin, destination)
    theta = rng.integers(0 if kind != "free" else -1, 2, size=10).astype(float)
    if kind == "nonnegative":
        flows = simple_decisions(network, flows)
    support = flows[flows @ theta <= (flows @ theta).min() + 1e-9]
    problem = ShortestPath(network, kind.split()[0])
    draws = problem.sample_optimal(theta, [[origin, destination]] * (80 * len(support)), random_state=seed)
    assert_uniform(draws.toarray(), support)


def test_free_costs_above_zero_are_counted_without_a_limit():
    grid = Network.grid(12, 12)
    draws = ShortestPath(grid, "free").sample_optimal(np.ones(grid.n_edges), [[0, 143]] * 50, random_state=0)
    assert (draws.sum(axis=1) == 22).all()
    assert len({tuple(row) for row in draws.toarray().tolist()}) == 50


def test_samples_answer_to_each_row():
    rng = np.random.default_rng(3)
    problem = ShortestPath(GRID)
    contexts = rng.integers(36, size=(60, 2))
    for theta in (
        rng.integers(1, 3, size=120).astype(float),
        rng.integers(1, 3, size=(60, 120)).astype(float),
    ):
        draws = problem.sample_optimal(theta, contexts, random_state=4)
        assert problem.is_optimal(theta, draws, contexts).all()
        again = problem.sample_optimal(theta, contexts, random_state=4)
        assert (draws != again).nnz == 0
        other = problem.sample_optimal(theta, contexts, random_state=5)
        assert (draws != other).nnz > 0


def test_ties_within_the_tolerance_are_ties_and_beyond_it_are_not():
    network = Network([0, 0], [1, 1])
    problem = ShortestPath(network)
    near = problem.sample_optimal([1.0, 1.0 + 0.9e-9], [[0, 1]] * 200, random_state=0).sum(axis=0)
    assert near.min() > 50
    far = problem.sample_optimal([1.0, 1.0 + 2e-9], [[0, 1]] * 200, random_state=0).sum(axis=0)
    assert far.tolist() == [200, 0]


@pytest.mark.parametrize("domain", ["nonnegative", "free"])
@pytest.mark.parametrize("scale", [1e-200, 1e-10, 1.0, 1e10])
def test_ties_do_not_depend_on_the_scale(domain, scale):
    problem = ShortestPath(Network([0, 0, 1, 1], [1, 1, 2, 2]), domain)
    theta = scale * np.array([1.0, 1.5, 2.0, 2.0])
    draws = problem.sample_optimal(theta, [[0, 2]] * 200, random_state=0).sum(axis=0)
    assert draws[:2].tolist() == [200, 0]
    assert draws[2:].min() > 50


@pytest.mark.parametrize("scale", [1e-200, 1e-10, 1.0, 1e10])
def test_ties_of_negative_costs_do_not_depend_on_the_scale(scale):
    problem = ShortestPath(Network([0, 0, 1, 1], [1, 1, 2, 2]), "free")
    theta = scale * np.array([-1.0, -1.5, 2.0, 2.0])
    draws = problem.sample_optimal(theta, [[0, 2]] * 200, random_state=0).sum(axis=0)
    assert draws[:2].tolist() == [0, 200]
    assert draws[2:].min() > 50


def test_dear_edges_elsewhere_widen_ties_of_the_free_domain_only():
    network = Network([0, 0, 1], [1, 1, 2])
    theta = np.array([1e-10, 1.5e-10, 1.0])
    for domain, drawn in (("nonnegative", 1), ("free", 2)):
        draws = ShortestPath(network, domain).sample_optimal(theta, [[0, 1]] * 200, random_state=0)
        assert np.count_nonzero(draws.sum(axis=0)) == drawn
    free = ShortestPath(network).sample_optimal(np.array([0.0, 1e-300, 1.0]), [[0, 1]] * 200, random_state=0)
    assert free.sum(axis=0).tolist() == [200, 0, 0]


@pytest.mark.parametrize("domain", ["nonnegative", "free"])
def test_too_many_free_cycles_are_an_error(domain):
    problem = ShortestPath(GRID, domain)
    theta = np.ones((2, 120))
    theta[1] = 0.0
    message = "`contexts` row 1 of ShortestPath.sample_optimal: ties .* from 0 to 35: .*round or rescale"
    with pytest.raises(SolverError, match=message):
        problem.sample_optimal(theta, [[0, 35], [0, 35]], random_state=0)


# ---------------------------------------------------------------------- descriptions for other layers


@pytest.mark.parametrize("seed", range(8))
def test_the_polyhedron_is_the_feasible_set(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, n=5, m=10)
    problem = ShortestPath(network)
    shape = problem.polyhedron()
    assert shape.integrality.all()
    assert shape.A_ub.shape == (0, 10)
    for origin, destination in itertools.product(range(5), repeat=2):
        sides = problem.sides(np.array([origin, destination], dtype=float))
        flows = all_decisions(network, origin, destination)
        theta = rng.normal(size=10)
        answer = milp(
            theta,
            constraints=(shape.A_eq, sides.b_eq, sides.b_eq),
            integrality=np.ones(10),
            bounds=(sides.lower, sides.upper),
        )
        assert answer.success == bool(len(flows))
        if len(flows):
            assert answer.fun == pytest.approx((flows @ theta).min(), abs=1e-9)


@pytest.mark.parametrize("domain", ["nonnegative", "free"])
def test_cones_carry_the_network_and_the_domain(domain):
    problem = ShortestPath(GRID, domain)
    contexts = np.array([[0.0, 1.0], [2.0, 2.0]])
    decisions = problem.nominal(np.ones(120), contexts)
    for rows in (decisions, decisions.toarray()):
        cones = problem.cones(contexts, rows)
        assert isinstance(cones, PathCones)
        assert len(cones) == 2
        assert cones.network is GRID
        assert cones.nonnegative == (domain == "nonnegative")
        assert (cones.decisions != decisions).nnz == 0


@pytest.mark.parametrize("domain", ["nonnegative", "free"])
def test_state_survives_being_written_as_plain_values(domain):
    network = Network([0, 1], [1, 0], attributes={"t": [1.0, 2.0]}, zones=[True, False], node_ids=[(0, 0), (0, 1)])
    arrays = {}
    again = ShortestPath.from_state(unpack(pack(ShortestPath(network, domain).to_state(), "problem", arrays), arrays))
    assert again.domain == domain
    for name in ("tails", "heads", "zones"):
        np.testing.assert_array_equal(getattr(again.network, name), getattr(network, name))
    assert again.network.node_ids.tolist() == [(0, 0), (0, 1)]
    assert again.network.attributes["t"].tolist() == [1.0, 2.0]


def test_solver_models_are_kept_per_thread_and_never_copied(monkeypatch):
    built = []
    init = FlowProgram.__init__
    monkeypatch.setattr(FlowProgram, "__init__", lambda *args: built.append(threading.get_ident()) or init(*args))
    problem = ShortestPath(GRID, "free")
    theta = np.random.default_rng(0).normal(size=120)
    first = problem.solve(theta, [[0, 35], [1, 2]]).toarray()
    problem.solve(-theta, [[0, 35]])
    assert len(built) == 1
    results = []
    thread = threading.Thread(target=lambda: results.append(problem.solve(theta, [[0, 35], [1, 2]]).toarray()))
    thread.start()
    thread.join()
    assert len(set(built)) == 2
    assert copy.deepcopy(problem) is problem
    again = pickle.loads(pickle.dumps(problem))
    results.append(again.solve(theta, [[0, 35], [1, 2]]).toarray())
    assert len(built) == 3
    for result in results:
        np.testing.assert_allclose(result @ theta, first @ theta, atol=1e-9)


ROADS = Network([0, 1, 2, 0, 3, 4], [1, 2, 0, 3, 2, 5], node_ids=list("abcdef"))


@pytest.mark.parametrize(
    ("edges", "trip", "reason"),
    [
        (
            [0],
            (0, 2),
            r"it leads from node 0 \('a'\) to node 1 \('b'\), but the trip goes from .*'a'.* to node 2 \('c'\)",
        ),
        ([], (0, 2), r"it uses no edge, but the trip goes from node 0 \('a'\) to node 2"),
        ([0, 1, 2], (1, 0), "its edges form closed loops, but the trip goes"),
        ([0, 1, 3, 4], (0, 2), "do not join into one path: paths start at 0 and end at 2"),
        ([0, 4], (0, 2), "do not join into one path: paths start at 0, 3 and end at 1, 2"),
        ([5], (0, 5), r"no path leads from node 0 \('a'\) to node 5 \('f'\) at all"),
    ],
)
def test_infeasible_trips_say_why(edges, trip, reason):
    decision = np.zeros(6)
    decision[edges] = 1.0
    problem = ShortestPath(ROADS)
    assert not problem.is_feasible([decision], [trip])[0]
    with pytest.raises(InvalidInputError, match=reason):
        problem.require_feasible(decision[None], np.array([trip], dtype=float), "here")


def test_infeasible_entries_and_zones_say_why():
    with pytest.raises(InvalidInputError, match=r"the entry of edge 1 is 0\.5, neither 0 nor 1"):
        ShortestPath(ROADS).require_feasible(np.array([[1, 0.5, 0, 0, 0, 0]]), np.array([[0.0, 2.0]]), "here")
    zoned = Network([0, 1, 0], [1, 2, 2], zones=[False, True, False])
    with pytest.raises(InvalidInputError, match="edge 0 leaves or enters a zone that is no end of the trip"):
        ShortestPath(zoned).require_feasible(np.array([[1.0, 1.0, 0.0]]), np.array([[0.0, 2.0]]), "here")


def test_every_infeasible_trip_has_a_reason():
    rng = np.random.default_rng(5)
    network = Network.grid(3, 3)
    problem = ShortestPath(network)
    trips = np.array([rng.choice(9, 2, replace=False) for _ in range(300)], dtype=float)
    decisions = problem.solve(np.ones(network.n_edges), trips).toarray()
    flip = rng.integers(network.n_edges, size=300)
    decisions[np.arange(300), flip] = 1.0 - decisions[np.arange(300), flip]
    for row in np.flatnonzero(~problem.is_feasible(decisions, trips)):
        said = problem.why_infeasible(decisions[row], trips[row])
        assert said.startswith(("it leads", "its edges", "it uses no edge"))
