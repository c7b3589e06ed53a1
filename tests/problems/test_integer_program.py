"""Integer programs against scipy and full enumeration, and uniform draws from their ties."""

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import Bounds, LinearConstraint, milp

from conformio.errors import InfeasibleProblemError, InvalidInputError, SolverError, UnboundedProblemError
from conformio.problems import IntegerProgram, integer_program
from conformio.problems.cones import CutCones

NO_CONTEXT = np.empty((1, 0))


def chi_square(drawn, expected):
    """p-value of `drawn` being uniform over the rows of `expected`; nothing else may turn up."""
    names = {tuple(x): k for k, x in enumerate(expected)}
    counts = np.zeros(len(names))
    for x in drawn:
        counts[names[tuple(x)]] += 1
    return stats.chisquare(counts).pvalue if len(names) > 1 else 1.0


def whole_points(lower, upper):
    return np.array(list(itertools.product(*(range(a, b + 1) for a, b in zip(lower, upper, strict=True)))), dtype=float)


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("scale", [1e-8, 1e6])
def test_optimum_equals_enumeration(sense, scale):
    rng = np.random.default_rng(0)
    points = whole_points([-1] * 4, [2] * 4)
    A_eq, A_ub = rng.integers(-2, 3, (1, 4)), rng.normal(size=(2, 4))
    program = IntegerProgram(A_eq, A_ub, lower=-1, upper=2, sense=sense)
    feasible = points[rng.integers(len(points), size=10)]
    contexts = np.hstack([feasible @ A_eq.T, feasible @ A_ub.T + 0.3])
    thetas = scale * rng.normal(size=(10, 4))
    found = program.solve(thetas, contexts)
    assert (found == found.round()).all()
    assert program.is_feasible(found, contexts).all()
    assert program.is_optimal(thetas, found, contexts).all()
    for theta, x, context in zip(thetas, found, contexts, strict=True):
        fits = (points @ A_eq.T == context[:1]).all(axis=1) & (points @ A_ub.T <= context[1:]).all(axis=1)
        values = points[fits] @ theta
        assert x @ theta == pytest.approx(values.min() if sense == "min" else values.max(), rel=1e-9)


def test_mixed_optimum_equals_scipy():
    rng = np.random.default_rng(1)
    mask = np.array([True, False, True, False, True])
    A_ub = rng.normal(size=(3, 5))
    program = IntegerProgram(A_ub=A_ub, lower=-2.5, upper=2.5, sense="max", integrality=mask)
    contexts, thetas = rng.uniform(0.0, 2.0, (6, 3)), rng.normal(size=(6, 5))
    found = program.solve(thetas, contexts)
    assert program.is_feasible(found, contexts).all()
    assert (found[:, mask] == found[:, mask].round()).all()
    for theta, x, b in zip(thetas, found, contexts, strict=True):
        best = milp(-theta, constraints=LinearConstraint(A_ub, ub=b), bounds=Bounds(-2.5, 2.5), integrality=mask)
        assert theta @ x == pytest.approx(-best.fun, abs=1e-8)


def test_traits():
    box = {"lower": 0.0, "upper": [1.0, 1.0]}
    assert IntegerProgram(**box).binary
    assert not IntegerProgram(**box).convex
    assert not IntegerProgram(**box, integrality=[True, False]).binary
    assert not IntegerProgram(lower=0.0, upper=[1.0, 2.0]).binary
    assert not IntegerProgram(lower=[0.5, 0.0], upper=1.0).binary
    relaxed = IntegerProgram(**box, integrality=np.zeros(2, dtype=int))
    assert relaxed.convex
    assert not relaxed.binary
    assert IntegerProgram(**box, integrality=[1, 0]).polyhedron().integrality.tolist() == [True, False]


def test_wholeness_is_part_of_feasibility():
    program = IntegerProgram(upper=[3.0, 3.0], integrality=[True, False])
    decisions = [[1.0, 0.5], [1.5, 1.0], [1.0 + 1e-9, 0.0], [4.0, 0.0]]
    assert program.is_feasible(decisions, np.empty((4, 0))).tolist() == [True, False, True, False]


def test_whole_variables_are_returned_exactly_whole():
    program = IntegerProgram(upper=[3.0, 3.0, 3.0], integrality=[True, True, False])
    answer = program._rounded(np.array([1.0 - 4e-10, 2.0 + 4e-10, 0.7]))
    assert answer.tolist() == [1.0, 2.0, 0.7]


def test_cones_separate_through_the_problem_itself():
    program = IntegerProgram(A_ub=[[1.0, 1.0]], upper=1.0)
    cones = program.cones(np.ones((2, 1)), np.eye(2))
    assert isinstance(cones, CutCones)
    assert cones.problem is program
    np.testing.assert_array_equal(cones.bases, np.eye(2))
    sides = program.sides(np.array([1.5]))
    assert sides.b_ub.tolist() == [1.5]
    assert sides.upper.tolist() == [1.0, 1.0]


# ---------------------------------------------------------------------- uniform draws


def test_binary_ties_are_drawn_uniformly():
    # Choose 2 of 5 with two values alike: ties among {0, 1} x {2, 3, 4}.
    program = IntegerProgram(A_ub=np.ones((1, 5)), upper=np.ones(5), sense="max")
    theta = np.array([3.0, 3.0, 5.0, 1.0, 1.0])
    points = whole_points([0] * 5, [1] * 5)
    points = points[points.sum(axis=1) <= 3]
    best = points[points @ theta == (points @ theta).max()]
    assert len(best) == 1
    theta = np.array([3.0, 1.0, 1.0, 1.0, 0.0])
    best = points[points @ theta == (points @ theta).max()]
    assert len(best) == 3
    contexts = np.full((3000, 1), 3.0)
    drawn = program.sample_optimal(theta, contexts, random_state=0)
    assert chi_square(drawn, best) > 0.01
    np.testing.assert_array_equal(drawn, program.sample_optimal(theta, contexts, random_state=0))


def test_all_feasible_points_tie_when_theta_is_zero():
    points = whole_points([-1, 0, 0], [1, 2, 1])
    points = points[points.sum(axis=1) <= 2]
    program = IntegerProgram(A_ub=np.ones((1, 3)), lower=[-1, 0, 0], upper=[1, 2, 1])
    drawn = program.sample_optimal(np.zeros(3), np.full((4000, 1), 2.0), random_state=1)
    assert chi_square(drawn, points) > 0.01


@pytest.mark.parametrize("sense", ["min", "max"])
def test_general_integer_ties_equal_enumeration(sense):
    rng = np.random.default_rng(2)
    points = whole_points([0] * 3, [3] * 3)
    for _ in range(6):
        row, theta = rng.integers(1, 4, 3).astype(float), rng.integers(-2, 3, 3).astype(float) / 3.0
        program = IntegerProgram(A_ub=[row], lower=0.0, upper=3.0, sense=sense)
        fits = points[points @ row <= 6.0]
        values = fits @ theta
        target = values.min() if sense == "min" else values.max()
        ties = fits[np.abs(values - target) < 1e-12]
        drawn = program.sample_optimal(theta, np.full((60 * len(ties), 1), 6.0), random_state=3)
        assert chi_square(drawn, ties) > 0.001


def test_rows_of_different_contexts_are_drawn_together_and_the_model_stays_clean():
    program = IntegerProgram(A_ub=np.ones((1, 3)), upper=np.ones(3), sense="max")
    contexts = np.array([[1.0], [2.0], [1.0], [3.0]])
    drawn = program.sample_optimal(np.ones(3), contexts, random_state=0)
    np.testing.assert_array_equal(drawn.sum(axis=1), [1, 2, 1, 3])
    assert program._kept_model().n_rows == 1
    np.testing.assert_array_equal(program.solve([1.0, 2.0, 3.0], [[1.0]]), [[0.0, 0.0, 1.0]])


def test_no_whole_variable_means_the_optimal_face():
    program = IntegerProgram(A_ub=[[-1.0, -1.0]], integrality=[False, False])
    drawn = program.sample_optimal([1.0, 1.0], np.full((2000, 1), -1.0), random_state=4)
    assert stats.kstest(drawn[:, 0], "uniform").pvalue > 0.01


def test_mixed_ties_are_refused():
    program = IntegerProgram(upper=[1.0, 1.0], integrality=[True, False])
    with pytest.raises(InvalidInputError, match=r"`integrality` of .*all True or all False.*; got 1 whole. Use solve"):
        program.sample_optimal([1.0, 1.0], NO_CONTEXT)


def test_too_many_ties_are_refused_and_leave_no_trace(monkeypatch):
    monkeypatch.setattr(integer_program, "MAX_TIED_SOLUTIONS", 5)
    program = IntegerProgram(lower=[0, 0], sense="max", A_ub=[[1.0, -1.0]])
    with pytest.raises(SolverError, match=r"row 0 of IntegerProgram.sample_optimal: more than 5 optimal solutions"):
        program.sample_optimal([1.0, -1.0], [[2.0]])
    assert program._kept_model().n_rows == 1
    np.testing.assert_array_equal(program.solve([1.0, -2.0], [[2.0]]), [[2.0, 0.0]])


# ---------------------------------------------------------------------- failures, copies, threads


def test_infeasible_and_unbounded_rows():
    program = IntegerProgram(A_eq=[[2.0, 2.0]], upper=[3.0, 3.0])
    with pytest.raises(InfeasibleProblemError, match=r"row 1 of IntegerProgram.solve: no decision"):
        program.solve([1.0, 1.0], [[2.0], [3.0]])
    with pytest.raises(UnboundedProblemError, match=r"row 0 of IntegerProgram.solve"):
        IntegerProgram(A_ub=[[1.0]], lower=-np.inf).solve([1.0], [[1.0]])


@pytest.mark.parametrize("mask", [[True], [[True, False]], [0.5, 1.0], [2, 0], ["a", "b"]])
def test_wrong_integrality(mask):
    with pytest.raises(InvalidInputError, match="`integrality` of IntegerProgram: must be 2 values of True or False"):
        IntegerProgram(upper=[1.0, 1.0], integrality=mask)


def test_wrong_sense_and_domain():
    with pytest.raises(InvalidInputError, match="`sense` of IntegerProgram"):
        IntegerProgram(upper=[1.0], sense="up")
    with pytest.raises(InvalidInputError, match="`domain` of IntegerProgram"):
        IntegerProgram(upper=[1.0], domain="up")
    with pytest.raises(InvalidInputError, match=r"row 0 of IntegerProgram.solve: must be >= 0"):
        IntegerProgram(upper=[1.0], domain="nonnegative").solve([[-1.0]], NO_CONTEXT)


def test_pickling_and_threads():
    program = IntegerProgram(A_ub=[[2.0, 3.0, 4.0]], upper=np.ones(3), sense="max")
    thetas = np.random.default_rng(5).random((20, 3))
    expected = program.solve(thetas, np.full((20, 1), 5.0))
    other = pickle.loads(pickle.dumps(program))
    np.testing.assert_array_equal(other.solve(thetas, np.full((20, 1), 5.0)), expected)
    rebuilt = IntegerProgram.from_state(program.to_state())
    np.testing.assert_array_equal(rebuilt.solve(thetas, np.full((20, 1), 5.0)), expected)
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda theta: program.solve(theta, [[5.0]])[0], thetas))
    np.testing.assert_array_equal(found, expected)
