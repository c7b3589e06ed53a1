"""AOG and POG against enumeration, in both senses, absolute and relative, and their errors."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from conformio import metrics
from conformio.errors import InvalidInputError, SolverError
from conformio.networks import Network
from conformio.problems import Knapsack, LinearProgram, OracleProblem, ShortestPath

EVERY = np.array(list(itertools.product((0.0, 1.0), repeat=5)))


@pytest.fixture
def packs():
    rng = np.random.default_rng(0)
    problem = Knapsack(rng.uniform(0.5, 1.5, 5))
    contexts = rng.uniform(1.0, 4.0, (30, 1))
    decisions = np.array([rng.choice(EVERY[problem.weights @ EVERY.T <= u]) for (u,) in contexts])
    return problem, contexts, decisions, rng.uniform(0.2, 2.0, (30, 5))


def by_enumeration(problem, thetas, contexts, decisions):
    best = [(EVERY[problem.weights @ EVERY.T <= u] @ theta).max() for (u,), theta in zip(contexts, thetas, strict=True)]
    return np.array(best) - (thetas * decisions).sum(axis=1), np.array(best)


def test_perceived(packs):
    problem, contexts, decisions, thetas = packs
    excess, best = by_enumeration(problem, thetas, contexts, decisions)
    gap = metrics.perceived_optimality_gap(problem, thetas, contexts, decisions)
    assert isinstance(gap, float)
    assert gap == pytest.approx(excess.mean(), rel=1e-12)
    assert metrics.perceived_optimality_gap(problem, thetas, contexts, decisions, relative=True) == pytest.approx(
        (excess / best).mean(), rel=1e-12
    )


def test_actual(packs):
    problem, contexts, decisions, thetas = packs
    theta = thetas[0]
    excess, best = by_enumeration(problem, np.tile(theta, (30, 1)), contexts, decisions)
    given = sparse.csr_array(decisions)
    assert metrics.actual_optimality_gap(problem, theta, contexts, given) == pytest.approx(excess.mean(), rel=1e-12)
    assert metrics.actual_optimality_gap(problem, theta, contexts, given, relative=True) == pytest.approx(
        (excess / best).mean(), rel=1e-12
    )


def test_optimal_decisions_have_no_gap():
    rng = np.random.default_rng(1)
    problem = ShortestPath(Network.grid(4, 5))
    contexts = np.array([rng.choice(20, 2, replace=False) for _ in range(50)])
    thetas = rng.uniform(0.1, 1.0, (50, problem.n_params))
    own = problem.solve(thetas, contexts)
    assert metrics.perceived_optimality_gap(problem, thetas, contexts, own) == pytest.approx(0.0, abs=1e-12)
    others = problem.solve(thetas[0], contexts)
    assert metrics.actual_optimality_gap(problem, thetas[0], contexts, others) == pytest.approx(0.0, abs=1e-12)
    assert metrics.actual_optimality_gap(problem, thetas[0], contexts, own) > 0.01


def test_relative_gap_of_a_negative_optimum_is_nonnegative():
    problem = LinearProgram(A_eq=[[1.0, 1.0]], upper=1.0)
    gap = metrics.actual_optimality_gap(problem, [-2.0, -1.0], [[1.0]], [[0.0, 1.0]], relative=True)
    assert gap == pytest.approx(0.5)


PACK = Knapsack([1.0, 1.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ([1.0, 2.0], [[1.0], [1.0]], [[1, 0], [1, 1]]),
            r"`decisions` row 1 of metrics\.actual_opt.* must be feasible",
        ),
        (([1.0], [[1.0]], [[1, 0]]), r"`theta_true` of metrics\.actual_optimality_gap: must have shape \(2,\)"),
        (([[1.0, 2.0]], [[1.0]], [[1, 0]]), r"`theta_true` .* must have shape \(2,\); got shape \(1, 2\)"),
        (([1.0, np.nan], [[1.0]], [[1, 0]]), r"`theta_true` .* must be finite"),
        (([1.0, 2.0], np.empty((0, 1)), np.empty((0, 2))), r"`contexts` .* must have at least one row"),
        (([1.0, 2.0], [[1.0]], [[1, 0], [0, 1]]), r"`decisions` .* must have 1 rows"),
        (([1.0, 2.0], [[1.0]], [[1, 0]], "yes"), r"`relative` .* must be True or False"),
        (([1.0, 2.0], [[2.0], [0.0]], [[1, 0], [0, 0]], True), r"`contexts` row 1 .* optimum other than 0"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        metrics.actual_optimality_gap(PACK, *arguments)


def test_wrong_problem_and_thetas():
    with pytest.raises(InvalidInputError, match=r"`problem` of metrics\.actual_optimality_gap: must be a forward"):
        metrics.actual_optimality_gap("pack", [1.0], [[1.0]], [[1.0]])
    with pytest.raises(InvalidInputError, match=r"`thetas` of metrics\.perceived_opt.* must have shape \(1, 2\)"):
        metrics.perceived_optimality_gap(PACK, [1.0, 2.0], [[1.0]], [[1, 0]])
    walled = Knapsack([1.0, 1.0], domain="nonnegative")
    with pytest.raises(InvalidInputError, match=r"`thetas` row 0 .* must be >= 0 \(domain nonnegative\)"):
        metrics.perceived_optimality_gap(walled, [[1.0, -2.0]], [[1.0]], [[1, 0]])


def test_an_oracle_that_is_beaten_is_told():
    problem = OracleProblem(lambda theta, u: np.array([2.0, 2.0]), n_params=2)
    with pytest.raises(SolverError, match=r"`contexts` row 1 .* beats the solver's optimum by 2"):
        metrics.actual_optimality_gap(problem, [1.0, 1.0], [0.0, 0.0], [[2.0, 2.0], [1.0, 1.0]])
    with pytest.raises(SolverError, match="beats"):  # the decision counts, not the average
        metrics.actual_optimality_gap(problem, [1.0, 1.0], [0.0, 0.0], [[9.0, 9.0], [1.0, 1.0]])
