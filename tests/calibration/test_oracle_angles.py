"""Conformity angles of knapsacks, integer programs and oracles against all cuts at once."""

import numpy as np
import pytest
from instances import angle_from_cuts, binary_points

import conformio as cio


def expected_angles(problem, center, contexts, decisions):
    sign = 1.0 if problem.sense == "min" else -1.0
    nonnegative = problem.domain == "nonnegative"
    return [
        angle_from_cuts(center, sign * (binary_points(problem, u) - x), nonnegative)
        for u, x in zip(contexts, decisions, strict=True)
    ]


@pytest.mark.parametrize("domain", ["free", "nonnegative"])
def test_knapsacks(domain):
    rng = np.random.default_rng(0)
    weights = rng.uniform(1, 10, 8)
    problem = cio.Knapsack(weights, domain=domain)
    budgets = rng.uniform(0.2, 0.8, 15) * weights.sum()
    decisions = problem.solve(rng.uniform(0, 10, (15, 8)), budgets)
    center = rng.uniform(1, 10, 8)
    fast = cio.conformity_angles(problem, center, budgets, decisions)
    np.testing.assert_allclose(fast, expected_angles(problem, center, budgets[:, None], decisions), atol=1e-9)
    slow = cio.conformity_angles(problem, center, budgets[:4], decisions[:4], method="reference")
    np.testing.assert_allclose(fast[:4], slow, atol=1e-6)
    assert (fast > 1e-3).any()


@pytest.mark.parametrize("sense", ["min", "max"])
def test_integer_programs(sense):
    rng = np.random.default_rng(1)
    rows = rng.integers(-3, 6, (2, 5)).astype(float)
    problem = cio.IntegerProgram(A_ub=rows, lower=0, upper=1, sense=sense)
    contexts = np.tile([[6.0, 5.0]], (5, 1))
    decisions = problem.solve(rng.normal(size=(5, 5)), contexts)
    center = rng.normal(size=5)
    fast = cio.conformity_angles(problem, center, contexts, decisions)
    np.testing.assert_allclose(fast, expected_angles(problem, center, contexts, decisions), atol=1e-9)
    slow = cio.conformity_angles(problem, center, contexts, decisions, method="reference")
    np.testing.assert_allclose(fast, slow, atol=1e-6)


def test_general_integers():
    problem = cio.IntegerProgram(A_ub=[[2.0, 3.0]], lower=0, upper=5, sense="max")
    points = np.array([[i, j] for i in range(6) for j in range(6) if 2 * i + 3 * j <= 11.5], dtype=float)
    chosen = np.array([[5.0, 0.0], [4.0, 1.0], [1.0, 3.0], [0.0, 3.0]])
    center = np.array([1.0, 1.0])
    expected = [angle_from_cuts(center, x - points) for x in chosen]
    got = cio.conformity_angles(problem, center, np.full((4, 1), 11.5), chosen)
    np.testing.assert_allclose(got, expected, atol=1e-9)


def test_oracle_equals_the_problem_it_wraps():
    rng = np.random.default_rng(2)
    weights = rng.uniform(1, 5, 6)
    knapsack = cio.Knapsack(weights)
    oracle = cio.OracleProblem(
        lambda theta, u: knapsack.solve(theta, u[None, :])[0], 6, sense="max", feasible_set="binary"
    )
    budgets = rng.uniform(4, 12, 10)
    decisions = knapsack.solve(rng.uniform(0, 1, (10, 6)), budgets)
    center = rng.uniform(0.1, 1, 6)
    np.testing.assert_allclose(
        cio.conformity_angles(oracle, center, budgets, decisions),
        cio.conformity_angles(knapsack, center, budgets, decisions),
        atol=1e-12,
    )


def test_nothing_within_ninety_degrees_is_pi_and_unexplained():
    """E4: everything fits, nothing was taken: only nonpositive values explain it, all beyond 90 degrees."""
    free = cio.Knapsack([1.0, 1.0])
    assert cio.conformity_angles(free, [1.0, 2.0], [5.0], [[0.0, 0.0]])[0] == np.pi
    slow = cio.conformity_angles(free, [1.0, 2.0], [5.0], [[0.0, 0.0]], method="reference")
    assert slow[0] == np.pi
    nonnegative = cio.Knapsack([1.0, 1.0], domain="nonnegative")
    assert cio.conformity_angles(nonnegative, [1.0, 2.0], [5.0], [[0.0, 0.0]])[0] == np.pi


@pytest.mark.parametrize("theta", [[0.0, 0.0], [np.nan, 1.0], [1.0, 2.0, 3.0], "ab", [[1.0, 2.0], [3.0, 4.0]]])
def test_wrong_centres(theta):
    with pytest.raises(cio.InvalidInputError, match="`theta`"):
        cio.conformity_angles(cio.Knapsack([1.0, 1.0]), theta, [1.0], [[1.0, 0.0]])


def test_wrong_words_and_shapes():
    problem = cio.Knapsack([1.0, 1.0])
    good = (problem, [1.0, 2.0], [1.0], [[1.0, 0.0]])
    with pytest.raises(
        cio.InvalidInputError, match="`method` of conformity_angles: must be one of 'auto', 'reference'"
    ):
        cio.conformity_angles(*good, method="fast")
    with pytest.raises(cio.InvalidInputError, match="`infeasible`"):
        cio.conformity_angles(*good, infeasible="drop")
    with pytest.raises(cio.InvalidInputError, match="must have 2 rows, one per context; got 1 rows"):
        cio.conformity_angles(problem, [1.0, 2.0], [1.0, 1.0], [[1.0, 0.0]])
    with pytest.raises(cio.InvalidInputError, match="`theta` row 1 of conformity_angles: must not be zero"):
        cio.conformity_angles(problem, [[1.0, 2.0], [0.0, 0.0]], [1.0, 1.0], [[1.0, 0.0], [0.0, 1.0]])


def test_infeasible_decisions_are_named_or_kept_at_pi():
    problem = cio.Knapsack([1.0, 1.0])
    decisions = [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 0.0]]
    budgets = [1.0, 1.0, 1.0, 1.0]
    with pytest.raises(
        cio.InvalidInputError,
        match=r"row 1 .*2 infeasible rows: 1, 3 \(row 1: its items weigh 2 .*budget is 1\)\. Correct or",
    ):
        cio.conformity_angles(problem, [1.0, 2.0], budgets, decisions)
    angles = cio.conformity_angles(problem, [1.0, 2.0], budgets, decisions, infeasible="unexplained")
    np.testing.assert_array_equal(angles[[1, 3]], np.pi)
    assert (angles[[0, 2]] < np.pi / 2).all()


def test_degenerate_cuts_of_whole_numbers():
    """A face that general-purpose least squares gets wrong."""
    weights = [
        0.30162985045148094, 0.8249852773563023, 0.5880763080586523, 0.7751799642773807,
        0.9788533406250605, 0.1464718186277243, 0.782964371524396,
    ]  # fmt: skip
    problem = cio.Knapsack(weights, domain="nonnegative")
    center, budget, decision = [2, 2, 0, 0, 0, 3, 2], [3.32755669077287], [[1, 0, 0, 1, 0, 0, 0]]
    for method in ("auto", "reference"):
        angle = cio.conformity_angles(problem, center, budget, decision, method=method)
        np.testing.assert_allclose(angle, 1.1191628, atol=1e-6)


def test_the_reference_knows_an_empty_projection_whatever_the_rounding_of_its_cuts():
    """Found by random search: the cuts' common point is the origin, which the conic solver misses by more than 3e-5."""
    weights = [1.2225285924432938, 1.8064243589476394, 1.9258980296319814, 1.2628977700704178, 1.836656722093709]
    problem = cio.Knapsack(weights, domain="nonnegative")
    for method in ("auto", "reference"):
        found = cio.conformity_angles(problem, [0, 10, 20, 20, 10], [3.3138517], [[1, 0, 0, 0, 0]], method=method)
        assert found[0] == np.pi


@pytest.mark.parametrize("scale", [1e-250, 1e-10, 1e10, 1e149])
def test_the_length_of_the_centre_does_not_matter(scale):
    problem = cio.Knapsack([1.0, 1.0])
    angles = cio.conformity_angles(problem, [2 * scale, scale], [1.0, 1.0], [[1, 0], [0, 1]])
    np.testing.assert_allclose(angles, [0.0, np.arctan2(2, 1) - np.pi / 4], atol=1e-12)


def test_overflowing_centres_are_refused():
    with pytest.raises(cio.InvalidInputError, match=r"`theta` .* must not exceed 1e\+150.* Rescale"):
        cio.conformity_angles(cio.Knapsack([1.0, 1.0]), [1e200, 1.0], [1.0], [[1, 0]])
    with pytest.raises(cio.InvalidInputError, match="must not exceed"):
        cio.ShortestPath(cio.Network.grid(3, 3)).solve(np.full(24, 6e307), [[0, 8]])


@pytest.mark.parametrize("n_jobs", [0, -2, "a", 1.5, True])
def test_wrong_workers(n_jobs):
    with pytest.raises(cio.InvalidInputError, match="`n_jobs` of conformity_angles: must be None, -1"):
        cio.conformity_angles(cio.Knapsack([1.0, 1.0]), [1.0, 1.0], [1.0], [[1, 0]], n_jobs=n_jobs)


def test_no_rows_give_no_angles():
    assert cio.conformity_angles(cio.Knapsack([1.0]), [1.0], [], np.zeros((0, 1))).shape == (0,)


def test_failing_oracle_names_the_row():
    def solve(theta, u):
        raise RuntimeError("licence expired")

    problem = cio.OracleProblem(solve, 2, feasible_set="binary")
    with pytest.raises(cio.SolverError, match=r"`contexts` row 0 of conformity_angles.*licence expired"):
        cio.conformity_angles(problem, [1.0, 2.0], [1.0], [[1.0, 0.0]])
