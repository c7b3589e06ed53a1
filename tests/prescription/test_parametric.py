"""Binary problems: the parametric route, its ties and fallbacks, and hop counts, against enumeration."""

from itertools import product

import numpy as np
import pytest
from listed import Listed, best_value, family
from scipy import sparse

from conformio.errors import InfeasibleProblemError
from conformio.networks import Network
from conformio.prescription import solve_robust
from conformio.prescription.solution import Answers, join_decisions
from conformio.problems import IntegerProgram, Knapsack, ShortestPath
from conformio.sets import SphericalCap

SMALL = [0.0, 1e-10, 1e-9, 1e-7, 1e-5, 1e-3, 0.058, 0.4, 1.1, 1.5, np.pi / 2]
LARGE = [1.6, 2.0, 2.7, np.pi]


def random_families(rng, n_families=6):
    n = int(rng.integers(2, 8))
    families = [family(rng, n, int(rng.integers(1, 30))) for _ in range(n_families)]
    center = rng.normal(size=n) if rng.random() < 0.6 else rng.integers(-1, 2, n).astype(float)
    return families, center if center.any() else np.ones(n)


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("angle", [*SMALL, *LARGE])
def test_values_equal_enumeration(sense, angle):
    rng = np.random.default_rng(0)
    for _ in range(25):
        families, center = random_families(rng)
        problem, cap = Listed(families, sense), SphericalCap(center, angle)
        found = solve_robust(problem, cap, np.arange(6.0))
        best = [best_value(cap, members, sense) for members in families]
        assert np.allclose(found.values, best, rtol=0, atol=1e-9)
        assert problem.is_feasible(found.decisions, np.arange(6.0)[:, None]).all()
        assert found.is_certified(1e-8).all()
        assert set(found.method) == {"parametric"}
        assert found.oracle_calls.sum() + 0 == problem.calls


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("angle", [0.0, 0.3, 1.4])
def test_the_full_hull_is_the_reference_of_problems_known_by_their_solver(sense, angle):
    rng = np.random.default_rng(1)
    for _ in range(25):
        families, center = random_families(rng)
        problem, cap = Listed(families, sense), SphericalCap(center, angle)
        fast = solve_robust(problem, cap, np.arange(6.0))
        slow = solve_robust(problem, cap, np.arange(6.0), method="reference")
        assert set(slow.method) == {"hull-enumeration"}
        assert np.allclose(fast.values, slow.values, rtol=0, atol=1e-9)


def integer_program(rng, n, sense, domain="free"):
    weights = rng.integers(1, 6, (2, n)).astype(float)
    program = IntegerProgram(A_ub=weights, upper=np.ones(n), sense=sense, domain=domain)
    contexts = rng.integers(2, 3 * n, (4, 2)).astype(float)
    everything = np.array(list(product([0.0, 1.0], repeat=n)))
    lists = [everything[(everything @ weights.T <= u).all(axis=1)] for u in contexts]
    return program, contexts, lists


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("angle", [0.0, 1e-3, 0.5, 1.5, 1.7, 2.2])
def test_integer_programs_equal_enumeration_by_both_routes(sense, angle):
    rng = np.random.default_rng(4)
    for _ in range(3):
        program, contexts, lists = integer_program(rng, 5, sense)
        cap = SphericalCap(rng.normal(size=5), angle)
        found = solve_robust(program, cap, contexts)
        slow = solve_robust(program, cap, contexts[:2], method="reference")
        best = [best_value(cap, members, sense) for members in lists]
        assert np.allclose(found.values, best, rtol=0, atol=1e-9)
        assert np.allclose(slow.values, best[:2], rtol=0, atol=1e-8)
        assert found.is_certified(1e-8).all()
        assert set(found.method) == {"parametric"}
        assert program.is_feasible(found.decisions, contexts).all()


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.05, 0.5, 1.2, 1.8])
def test_knapsacks_whose_worst_case_is_clipped_at_zero(angle):
    rng = np.random.default_rng(6)
    weights, budgets = rng.random(6) + 0.2, np.array([0.8, 1.7, 2.5])
    everything = np.array(list(product([0.0, 1.0], repeat=6)))
    knapsack = Knapsack(weights, domain="nonnegative")
    cap = SphericalCap(rng.random(6), angle, "nonnegative")
    found = solve_robust(knapsack, cap, budgets)
    slow = solve_robust(knapsack, cap, budgets, method="reference")
    best = [best_value(cap, everything[everything @ weights <= b], "max") for b in budgets]
    assert np.allclose(found.values, best, rtol=0, atol=1e-9)
    assert np.allclose(slow.values, best, rtol=0, atol=1e-9)
    assert found.is_certified(1e-8).all()


def test_the_clipped_worst_case_is_no_function_of_the_hull():
    """Why `max` problems with a nonnegative cap need the fallback: the hull alone would be wrong."""
    rng, wrong = np.random.default_rng(7), 0
    everything = np.array(list(product([0.0, 1.0], repeat=5)))
    for _ in range(60):
        weights, center, angle = rng.random(5) + 0.2, rng.random(5), rng.uniform(0.3, 1.3)
        knapsack, cut = Knapsack(weights), SphericalCap(center, angle, "nonnegative")
        whole = solve_robust(knapsack, SphericalCap(center, angle), [1.5], method="parametric")
        best = best_value(cut, everything[everything @ weights <= 1.5], "max")
        wrong += -cut.support(-whole.decisions[0]) < best - 1e-6
    assert wrong > 0


# ---------------------------------------------------------------- paths


def simple_paths(network, origin, destination):
    """Every simple path as a 0/1 vector."""
    found, stack = [], [(origin, (), frozenset([origin]))]
    while stack:
        node, edges, seen = stack.pop()
        if node == destination:
            x = np.zeros(network.n_edges)
            x[list(edges)] = 1.0
            found.append(x)
            continue
        for e in np.flatnonzero(network.tails == node):
            if network.heads[e] not in seen:
                stack.append((network.heads[e], (*edges, e), seen | {network.heads[e]}))
    return np.array(found)


def random_network(rng, n_nodes=6, n_edges=20):
    tails = rng.integers(0, n_nodes, n_edges)
    heads = (tails + rng.integers(1, n_nodes, n_edges)) % n_nodes
    ring = np.arange(n_nodes)
    return Network(np.append(tails, ring), np.append(heads, (ring + 1) % n_nodes), n_nodes)


@pytest.mark.parametrize("angle", [*SMALL, *LARGE])
def test_paths_equal_enumeration_by_both_routes(angle):
    rng = np.random.default_rng(9)
    for trial in range(6):
        network = random_network(rng)
        problem = ShortestPath(network)
        center = rng.random(network.n_edges) if trial % 2 else rng.integers(0, 3, network.n_edges) * 1.0
        center[0] += 1.0
        contexts = np.array([[0, 3], [4, 1], [2, 2]])
        for domain in ("free", "nonnegative"):
            cap = SphericalCap(center, angle, domain)
            best = [best_value(cap, simple_paths(network, *u), "min") for u in contexts]
            for method in ("auto", "parametric", "hop-count"):
                found = solve_robust(problem, cap, contexts, method=method)
                assert np.allclose(found.values, best, rtol=0, atol=1e-9)
                assert found.is_certified(1e-8).all()
                assert problem.is_feasible(found.decisions, contexts).all()
                assert found.decisions.sum(axis=1)[2] == 0


@pytest.mark.parametrize("angle", [0.0, 0.2, 1.4, 2.0])
def test_paths_by_the_mixed_integer_reference(angle):
    rng = np.random.default_rng(10)
    network = Network.grid(3, 3)
    cap = SphericalCap(rng.random(network.n_edges) + 0.1, angle)
    fast = solve_robust(ShortestPath(network), cap, [[0, 8], [6, 1]])
    slow = solve_robust(ShortestPath(network), cap, [[0, 8], [6, 1]], method="reference")
    assert set(slow.method) == {"cutting-plane"}
    assert np.allclose(fast.values, slow.values, rtol=0, atol=1e-8)


@pytest.mark.parametrize("angle", [0.1, 1.2, 1.9])
def test_paths_with_costs_of_either_sign(angle):
    rng = np.random.default_rng(11)
    network = Network.grid(2, 3)
    problem = ShortestPath(network, domain="free")
    cap = SphericalCap(rng.normal(size=network.n_edges) + 0.4, angle)
    fast = solve_robust(problem, cap, [[0, 5]])
    slow = solve_robust(problem, cap, [[0, 5]], method="reference")
    assert fast.values == pytest.approx(slow.values, abs=1e-8)


def test_on_the_grid_the_route_stays_near_two_nominal_solves_and_equals_hop_counts():
    rng = np.random.default_rng(12)
    network = Network.grid(6, 6)
    contexts = rng.integers(0, 36, (300, 2))
    for angle in (0.0, 0.0576, 0.3):
        cap = SphericalCap(rng.random(network.n_edges) + 0.2, angle)
        fast = solve_robust(ShortestPath(network), cap, contexts, method="parametric")
        slow = solve_robust(ShortestPath(network), cap, contexts, method="hop-count")
        assert np.allclose(fast.values, slow.values, rtol=0, atol=1e-12)
        assert fast.oracle_calls.mean() < 2.5


def test_hop_counts_report_unreachable_destinations():
    network = Network([0, 1], [1, 0], 3)
    with pytest.raises(InfeasibleProblemError, match=r"row 1 of solve_robust: there is no path from 0 to 2"):
        solve_robust(ShortestPath(network), SphericalCap([1.0, 1.0], 0.1), [[0, 1], [0, 2]], method="hop-count")
    with pytest.raises(InfeasibleProblemError, match=r"row 2 of solve_robust: there is no path from 0 to 2"):
        solve_robust(ShortestPath(network), SphericalCap([1.0, 1.0], 0.1), [[0, 1], [0, 1], [0, 2]])


# ---------------------------------------------------------------- ties and angle 0


@pytest.mark.parametrize("method", ["auto", "parametric", "hop-count"])
def test_ties_of_paths_go_to_fewest_edges_and_do_not_jump(method):
    rng = np.random.default_rng(13)
    network = Network.grid(4, 4)
    contexts = rng.integers(0, 16, (60, 2))
    for _ in range(6):
        center = rng.integers(0, 3, network.n_edges) * 1.0
        answers = [
            solve_robust(ShortestPath(network), SphericalCap(center, a), contexts, method=method)
            for a in (0.0, 1e-12, 5e-10, 1e-9)
        ]
        for answer in answers[1:]:
            assert (answer.decisions != answers[0].decisions).nnz == 0
        for k, u in enumerate(contexts):
            paths = simple_paths(network, *u)
            cheap = paths[paths @ center <= (paths @ center).min() + 1e-9]
            assert answers[0].decisions[[k]].sum() == cheap.sum(axis=1).min()


@pytest.mark.parametrize("sense", ["min", "max"])
def test_ties_of_families_go_to_fewest_ones_whatever_the_oracle_returns(sense):
    rng, moved = np.random.default_rng(14), 0
    for _ in range(150):
        families, _ = random_families(rng, 3)
        center = rng.integers(-1, 2, families[0].shape[1]).astype(float)
        if not center.any():
            continue
        problem = Listed(families, sense)
        nominal = problem.solve(center, np.arange(3.0))
        answers = [solve_robust(problem, SphericalCap(center, a), np.arange(3.0)) for a in (0.0, 7e-10, 1e-9)]
        for k, members in enumerate(families):
            worth = members @ center * (1.0 if sense == "min" else -1.0)
            fewest = members[worth <= worth.min() + 1e-9].sum(axis=1).min()
            for answer in answers:
                assert answer.decisions[k].sum() == fewest
                assert np.array_equal(answer.decisions[k], answers[0].decisions[k])
            moved += nominal[k].sum() > fewest
    assert moved > 10


def test_centres_of_rows_and_repeated_contexts():
    rng = np.random.default_rng(15)
    families, _ = random_families(rng)
    n = families[0].shape[1]
    problem, rows = Listed(families), np.array([0, 3, 3, 1, 0, 3], dtype=float)
    for angle in (0.0, 1e-9, 0.3):
        centers = rng.normal(size=(6, n))
        many = solve_robust(problem, SphericalCap(centers, angle), rows)
        for k in range(6):
            one = solve_robust(problem, SphericalCap(centers[k], angle), rows[k : k + 1])
            assert many.values[k] == pytest.approx(one.values[0], abs=1e-14)
    problem.calls = 0
    shared = solve_robust(problem, SphericalCap(centers[0], 0.3), rows)
    assert problem.calls <= shared.oracle_calls[[0, 1, 3]].sum()
    assert np.array_equal(shared.decisions[0], shared.decisions[4])


def test_sparse_and_dense_answers_can_be_joined():
    dense, rows = np.eye(3), sparse.csr_array(2.0 * np.eye(3)[:1])
    assert join_decisions([dense]) is dense
    assert join_decisions([dense, rows]).toarray()[3].tolist() == [2.0, 0.0, 0.0]
    first = Answers(dense, np.zeros(3), np.ones(3, dtype=np.int64), np.full(3, "a"))
    second = Answers(rows, np.ones(1), np.array([5]), np.full(1, "longer"))
    joined = first.replaced(np.array([1]), second)
    assert joined.decisions.toarray()[1].tolist() == [2.0, 0.0, 0.0]
    assert joined.bounds.tolist() == [0.0, 1.0, 0.0]
    assert joined.calls.tolist() == [1, 6, 1]
    assert joined.methods.tolist() == ["a", "longer", "a"]


def test_ties_that_only_rounding_tells_apart():
    """Whole centres tie exactly; scaled to unit length their sums differ in the last digit, either way."""
    rng, tempting = np.random.default_rng(16), 0
    for _ in range(300):
        members, center = family(rng, 7, 40), rng.integers(1, 10, 7).astype(float)
        cap = SphericalCap(center, 0.0)
        worth, rounded = members @ center, members @ cap.center
        tied = worth == worth.min()
        fewest = members[tied].sum(axis=1).min()
        tempting += members[tied][rounded[tied].argmin()].sum() > fewest
        found = solve_robust(Listed([members]), cap, [0.0])
        assert members[tied].tolist().count(found.decisions[0].tolist()) == 1
        assert found.decisions[0].sum() == fewest
    assert tempting > 0


def test_ties_of_integer_programs_stay_with_the_hull():
    program = IntegerProgram(A_ub=-np.ones((1, 8)), upper=np.ones(8))
    found = [solve_robust(program, SphericalCap(np.ones(8), a), [[-2.0]]) for a in (0.0, 9e-10, 1e-9)]
    for answer in found:
        assert answer.method.tolist() == ["parametric"]
        assert np.array_equal(answer.decisions, found[0].decisions)
