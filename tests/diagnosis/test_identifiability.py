"""What decisions leave free, against enumeration of all decisions and dense ranks."""

import itertools

import numpy as np
import pytest
from scipy import sparse

import conformio as cio
from conformio.diagnosis.identifiability import idle_parameters, irrelevant_dimension, rank_bounds
from conformio.diagnosis.path_directions import cycle_dimension, edges_on_the_way, tied_circulations
from conformio.diagnosis.sparse_rank import sparse_rank
from conformio.studies import road_grid_example


@pytest.mark.parametrize("seed", range(20))
def test_rank_of_sparse_matrices(seed):
    rng = np.random.default_rng(seed)
    left, right = rng.integers(-1, 2, (60, 12)), rng.integers(-1, 2, (12, 80))
    matrix = (left * (rng.random((60, 12)) < 0.2)) @ (right * (rng.random((12, 80)) < 0.2))
    rank = int(np.linalg.matrix_rank(matrix)) if matrix.any() else 0
    for limit in (15, 30, 1000):  # shrunk both ways, one way, not at all
        assert sparse_rank(sparse.csr_array(matrix.astype(float)), limit) == rank
    assert sparse_rank(sparse.csr_array(matrix.astype(float)), 2) == min(rank, 2)


def test_rank_of_an_incidence_matrix_is_known():
    assert sparse_rank(cio.Network.grid(20, 20).incidence) == 400 - 1
    assert sparse_rank(cio.Network.grid(20, 20).incidence, 500) == 400 - 1
    assert sparse_rank(sparse.csr_array((5, 5))) == 0


def digraph(rng, n_nodes=7, n_edges=12, zones=0):
    tails, heads = rng.integers(n_nodes, size=(2, 3 * n_edges))
    keep = tails != heads
    closed = np.arange(n_nodes) < zones
    return cio.Network(tails[keep][:n_edges], heads[keep][:n_edges], n_nodes, zones=closed)


def all_flows(problem, context):
    """Every 0/1 flow of one trip, cycles beside the path included."""
    points = np.array(list(itertools.product([0.0, 1.0], repeat=problem.n_vars)))
    return points[problem.is_feasible(points, np.tile(context, (len(points), 1)))]


def joined(problem):
    n = problem.network.n_nodes
    pairs = np.array([(o, d) for o in range(n) for d in range(n) if o != d], dtype=float)
    ways = [len(all_flows(problem, pair)) for pair in pairs]
    return pairs[np.array(ways) > 0]


def span(rows):
    return int(np.linalg.matrix_rank(rows)) if len(rows) and np.any(rows) else 0


@pytest.mark.parametrize("seed", range(12))
def test_paths_against_enumeration(seed):
    rng = np.random.default_rng(seed)
    problem = cio.ShortestPath(digraph(rng, zones=seed % 3))
    pairs = joined(problem)
    contexts = pairs[rng.integers(len(pairs), size=4)]
    center = rng.integers(1, 3, problem.n_params).astype(float)  # small whole numbers: many ties
    flows = [all_flows(problem, context) for context in contexts]
    decisions = np.array([some[rng.integers(len(some))] for some in flows])
    answers = problem.solve(center, contexts)
    tied = [x - some[some @ center <= (some @ center).min() + 1e-9] for x, some in zip(decisions, flows, strict=True)]
    rank = span(np.vstack(tied))
    assert rank_bounds(problem, center, contexts, sparse.csr_array(decisions), answers) == (rank, rank)
    differences = np.vstack([some - some[0] for some in flows])
    never_felt = problem.n_params - span(differences)
    assert irrelevant_dimension(problem, contexts) <= never_felt
    assert rank <= problem.n_params - never_felt


def test_potentials_are_all_that_a_strong_network_hides():
    problem = cio.ShortestPath(cio.Network.grid(4, 5))
    contexts = np.array([[0.0, 19.0], [3.0, 8.0]])
    assert irrelevant_dimension(problem, contexts) == 20 - 1
    edges = edges_on_the_way(problem.network, contexts)
    assert len(edges) == problem.n_params
    assert cycle_dimension(problem.network, edges) == problem.n_params - span(problem.network.incidence.toarray())


def test_edges_on_no_way_are_hidden():
    network = cio.Network([0, 0, 1, 2, 3], [1, 2, 3, 3, 4])  # a diamond and a street behind it
    problem = cio.ShortestPath(network)
    contexts = np.array([[0.0, 3.0]])
    assert edges_on_the_way(network, contexts).tolist() == [0, 1, 2, 3]
    assert irrelevant_dimension(problem, contexts) == 4  # one comparison of two ways is all there is
    ties = tied_circulations(network, np.ones(5), contexts).toarray()
    assert np.abs(ties).tolist() == [[1, 1, 1, 1, 0]]


def test_zones_close_edges():
    network = cio.Network([0, 1, 0, 2], [1, 2, 2, 0], zones=[False, True, False])
    assert edges_on_the_way(network, np.array([[0.0, 2.0]])).tolist() == [2, 3]
    assert edges_on_the_way(network, np.array([[1.0, 2.0]])).tolist() == [1, 2, 3]


def test_cycles_that_cost_nothing_leave_bounds():
    problem = cio.ShortestPath(cio.Network.grid(2, 3))
    contexts = np.array([[0.0, 5.0]])
    costs = np.ones(problem.n_params)
    assert tied_circulations(problem.network, costs, contexts).shape[0] == 2
    assert tied_circulations(problem.network, 0.0 * costs, contexts) is None
    answers = problem.solve(0.0 * costs, contexts)
    assert rank_bounds(problem, 0.0 * costs, contexts, answers, answers) == (0, 9)


def suboptimality(problem, theta, contexts, decisions):
    return problem.sign * (
        problem.objective(theta, decisions) - problem.objective(theta, problem.solve(theta, contexts))
    )


@pytest.fixture(scope="module")
def drivers():
    return road_grid_example(120, rows=4, cols=4, random_state=1)


def test_free_directions_change_no_sub_optimality_and_others_do(drivers):
    problem, contexts, decisions = drivers.problem, drivers.contexts[:40], drivers.decisions[:40]
    center = np.random.default_rng(0).uniform(1, 2, problem.n_params)  # unique best answers
    answers = problem.solve(center, contexts)
    differences = (sparse.csr_array(decisions) - answers).toarray()
    free = np.linalg.svd(differences)[2][span(differences) :]
    low, high = rank_bounds(problem, center, contexts, decisions, answers)
    assert low == high == problem.n_params - len(free)
    before = suboptimality(problem, center, contexts, decisions)
    for direction in free[:5]:
        for step in (1e-6, -1e-6):
            after = suboptimality(problem, center + step * direction, contexts, decisions)
            np.testing.assert_allclose(after, before, atol=1e-12)
    pinned = np.linalg.svd(differences)[2][0]
    assert np.abs(suboptimality(problem, center + 1e-6 * pinned, contexts, decisions) - before).max() > 1e-8


def test_costs_never_in_play_may_grow_without_end(drivers):
    problem, contexts, decisions = drivers.problem, drivers.contexts[:10], drivers.decisions[:10]
    center = np.random.default_rng(0).uniform(1, 2, problem.n_params)
    answers = problem.solve(center, contexts)
    idle = idle_parameters(problem, contexts, decisions, answers)
    used = np.asarray(decisions.sum(axis=0)).ravel() + np.asarray(answers.sum(axis=0)).ravel()
    assert idle.tolist() == np.flatnonzero(used == 0).tolist()
    dearer = center.copy()
    dearer[idle] += 100.0
    before, after = (suboptimality(problem, theta, contexts, decisions) for theta in (center, dearer))
    np.testing.assert_allclose(after, before, atol=1e-12)
    assert problem.is_optimal(dearer, answers, contexts).all()


def test_items_that_are_always_or_never_taken():
    problem = cio.Knapsack([1.0, 1.0, 5.0, 1.0])
    contexts, center = np.array([[2.0], [2.0], [3.0]]), np.array([9.0, 2.0, 4.0, 1.0])
    decisions = np.array([[1, 1, 0, 0], [1, 0, 0, 1], [1, 1, 0, 1]], dtype=float)
    answers = problem.solve(center, contexts)
    assert idle_parameters(problem, contexts, decisions, answers).tolist() == [0, 2]
    assert irrelevant_dimension(problem, contexts) == 1  # item 2 fits no budget
    assert rank_bounds(problem, center, contexts, decisions, answers) == (1, 3)


@pytest.mark.parametrize("kind", [cio.LinearProgram, cio.IntegerProgram])
def test_programs(kind):
    problem = kind(A_eq=[[1.0, 1.0, 1.0, 0.0]], lower=0.0, upper=[4.0, 4.0, np.inf, 0.0])
    contexts = np.array([[4.0], [6.0]])
    decisions = np.array([[4.0, 0.0, 0.0, 0.0], [4.0, 2.0, 0.0, 0.0]])
    answers = problem.solve([1.0, 2.0, 3.0, 1.0], contexts)
    np.testing.assert_array_equal(answers, decisions)
    assert irrelevant_dimension(problem, contexts) == 2  # the sum of the first three, and the fixed last one
    assert idle_parameters(problem, contexts, decisions, answers).tolist() == [0, 2, 3]
    assert rank_bounds(problem, np.array([1.0, 2.0, 3.0, 1.0]), contexts, decisions, answers) == (0, 2)


def test_what_is_not_known_is_said():
    problem = cio.OracleProblem(lambda theta, u: np.where(theta < 0, 1.0, -1.0), n_params=3)
    contexts, decisions = np.zeros((20, 1)), np.tile([1.0, -1.0, 1.0], (20, 1))
    model = cio.ConformalIO(problem, cio.FixedParameters([-1.0, 1.0, 1.0]), 0.5).conformalize(contexts, decisions)
    finding = model.diagnose(contexts, decisions)["identifiability"]
    assert finding.numbers["n_idle"] is None
    assert (finding.numbers["rank_low"], finding.numbers["rank_high"]) == (1, 3)
    assert "not known for this problem" in finding.words


def test_predicted_parameters_and_infeasible_decisions_only(drivers):
    ones = np.ones(drivers.problem.n_params)
    predictor = cio.FixedParameters(lambda contexts: np.tile(ones, (len(contexts), 1)))
    model = cio.ConformalIO(drivers.problem, predictor, 0.5, infeasible="unexplained")
    model.conformalize(drivers.contexts[:50], drivers.decisions[:50])
    words = model.diagnose(drivers.contexts[50:], drivers.decisions[50:])["identifiability"].words
    assert "predictor" in words
    fixed = cio.ConformalIO(drivers.problem, cio.FixedParameters(ones), 0.5, infeasible="unexplained")
    fixed.conformalize(drivers.contexts[:50], drivers.decisions[:50])
    finding = fixed.diagnose(drivers.contexts[50:], np.zeros((70, drivers.problem.n_vars)))["identifiability"]
    assert "none of the decisions is feasible" in finding.words


def test_training_that_leaves_most_costs_alone_is_told(drivers):
    trips = drivers.contexts[:1].repeat(40, axis=0)
    routes = drivers.problem.solve(np.ones(drivers.problem.n_params), trips)
    model = cio.ConformalIO(drivers.problem, cio.SuboptimalityLoss(), 0.5, random_state=0).fit(trips, routes)
    finding = model.diagnose(trips, routes)["identifiability"]
    assert finding.verdict == "notice"
    assert "initial=" in finding.remedy
    assert finding.numbers["n_idle"] > drivers.problem.n_params / 2
