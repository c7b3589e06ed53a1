"""Problems behind the user's own solver: what is checked, what is wrapped, what is passed on."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from conformio.errors import InfeasibleProblemError, InvalidInputError, SolverError
from conformio.problems import OracleProblem
from conformio.problems.cones import CutCones


def cheapest(theta, u):
    """Take the u cheapest items."""
    x = np.zeros(len(theta))
    x[np.argsort(theta, kind="stable")[: int(u[0])]] = 1.0
    return x


def is_choice(x, u):
    return bool(x.sum() == u[0])


def squares(x):
    return np.array([x[0] ** 2, x[1] ** 2])


def split(theta, u):
    """min theta1 x1^2 + theta2 x2^2 with x1 + x2 = u."""
    return u[0] * theta[::-1] / theta.sum()


def binary_problem(**changes):
    return OracleProblem(cheapest, 4, feasible_set="binary", **{"is_member": is_choice, **changes})


def test_traits():
    problem = binary_problem()
    assert (problem.n_params, problem.n_vars, problem.sense, problem.domain) == (4, 4, "min", "free")
    assert (problem.binary, problem.convex, problem.linear) == (True, False, True)
    convex = OracleProblem(split, 2, "min", squares, n_vars=2, feasible_set="convex", domain="nonnegative")
    assert (convex.binary, convex.convex, convex.linear, convex.domain) == (False, True, False, "nonnegative")
    plain = OracleProblem(cheapest, 4, sense="max", context_width=0)
    assert (plain.binary, plain.convex, plain.sense, plain.context_width) == (False, False, "max", 0)


def test_answers_are_passed_on_in_order():
    problem, rng = binary_problem(), np.random.default_rng(0)
    thetas, contexts = rng.random((6, 4)), np.array([1.0, 2.0, 1.0, 4.0, 0.0, 3.0])
    found = problem.solve(thetas, contexts)
    expected = [cheapest(theta, [u]) for theta, u in zip(thetas, contexts, strict=True)]
    np.testing.assert_array_equal(found, expected)
    assert problem.is_optimal(thetas, sparse.csr_array(found), contexts).all()
    np.testing.assert_array_equal(problem.solve(thetas[0], contexts)[[0, 2]], [found[0], found[0]])


def test_membership():
    problem = binary_problem()
    decisions = [[1.0, 0, 0, 0], [1, 1, 0, 0], [0.5, 0.5, 0, 0]]
    assert problem.is_feasible(decisions, [1.0, 1.0, 1.0]).tolist() == [True, False, False]
    blind = OracleProblem(cheapest, 4)
    assert blind.is_feasible(decisions, [1.0, 1.0, 1.0]).all()


def test_a_basis_enters_objective_and_cones():
    problem = OracleProblem(split, 2, "min", squares, n_vars=2)
    found = problem.solve([1.0, 3.0], [4.0])
    np.testing.assert_allclose(found, [[3.0, 1.0]])
    np.testing.assert_allclose(problem.objective([1.0, 3.0], found), [12.0])
    cones = problem.cones(np.array([[4.0]]), sparse.csr_array(found))
    assert isinstance(cones, CutCones)
    np.testing.assert_allclose(cones.bases, [[9.0, 1.0]])
    assert cones.problem is problem


def test_the_users_code_cannot_change_our_arrays():
    def greedy(theta, u):
        theta[:] = -1.0
        u[:] = 9.0
        return np.zeros(2)

    theta, contexts = np.ones(2), np.ones((2, 1))
    OracleProblem(greedy, 2).solve(theta, contexts)
    assert theta.tolist() == [1.0, 1.0]
    assert contexts.tolist() == [[1.0], [1.0]]


def test_draws_need_a_sampler():
    with pytest.raises(InvalidInputError, match=r"`sample` of OracleProblem.sample_optimal: .*Pass sample=callable"):
        binary_problem().sample_optimal(np.ones(4), [1.0])

    def sampler(theta, u, generator):
        return np.eye(4)[generator.integers(4)]

    problem = binary_problem(sample=sampler)
    drawn = problem.sample_optimal(np.ones(4), np.ones(400), random_state=0)
    np.testing.assert_array_equal(drawn, problem.sample_optimal(np.ones(4), np.ones(400), random_state=0))
    assert (drawn.sum(axis=0) > 60).all()
    with pytest.raises(SolverError, match=r"row 0 of OracleProblem.sample_optimal: `sample` returned a decision that"):
        problem.sample_optimal(np.ones(4), [2.0])


ANSWERS = {
    r"`solve` must return 4 finite numbers; got shape \(3,\)": np.ones(3),
    r"`solve` must return 4 finite numbers; got shape \(1, 4\)": np.ones((1, 4)),
    r"`solve` must return 4 finite numbers; got shape \(\)": None,
    r"`solve` must return 4 finite numbers; got list": ["a"] * 4,
    r"`solve` must return 4 finite numbers; got nan": [1.0, np.nan, 0.0, 0.0],
    r'`solve` must return 0/1 vectors \(feasible_set="binary"\); got an entry 0.5': [1.0, 0.5, 0.0, 0.0],
    r"`solve` returned a decision that `is_member` rejects": np.ones(4),
}


@pytest.mark.parametrize("message", ANSWERS)
def test_wrong_answers_name_the_row(message):
    def second_wrong(theta, u):
        return cheapest(theta, u) if u[0] == 1 else ANSWERS[message]

    problem = OracleProblem(second_wrong, 4, feasible_set="binary", is_member=is_choice)
    with pytest.raises(SolverError, match=r"`contexts` row 1 of OracleProblem.solve: " + message):
        problem.solve(np.ones(4), [1.0, 2.0])


def test_what_the_users_code_raises_is_chained():
    def broken(theta, u):
        raise RuntimeError("licence expired")

    with pytest.raises(SolverError, match=r"row 0 .*solve: `solve` raised RuntimeError: licence expired") as caught:
        OracleProblem(broken, 2).solve(np.ones(2), [1.0])
    causes = []
    error = caught.value
    while error is not None:
        causes.append(type(error))
        error = error.__cause__
    assert RuntimeError in causes

    def closed(theta, u):
        raise InfeasibleProblemError("shop", "closed today")

    with pytest.raises(InfeasibleProblemError, match=r"row 1 of OracleProblem.solve: closed today"):
        OracleProblem(lambda theta, u: closed(theta, u) if u[0] > 1 else theta, 2).solve(np.ones(2), [1.0, 2.0])


def test_broken_basis_and_membership():
    problem = OracleProblem(split, 2, "min", lambda x: x[:1], n_vars=2)
    with pytest.raises(SolverError, match=r"row 0 of OracleProblem.basis: `basis` must return 2 finite numbers"):
        problem.basis([[1.0, 2.0]])
    problem = OracleProblem(cheapest, 4, is_member=lambda x, u: "yes")
    with pytest.raises(SolverError, match=r"row 0 of OracleProblem.is_feasible: `is_member` must return True or False"):
        problem.is_feasible(np.ones((1, 4)), [1.0])


CONSTRUCTIONS = {
    r"`solve` of OracleProblem: must be callable": {"solve": None},
    r"`basis` of OracleProblem: must be callable": {"basis": 3, "n_vars": 2},
    r"`is_member` of OracleProblem: must be callable": {"is_member": True},
    r"`sample` of OracleProblem: must be callable": {"sample": 1},
    r"`n_params` of OracleProblem: must be a whole number >= 1": {"n_params": 0},
    r"`context_width` of OracleProblem": {"context_width": -1},
    r"`sense` of OracleProblem": {"sense": "up"},
    r"`domain` of OracleProblem": {"domain": "up"},
    r"`feasible_set` of OracleProblem: must be one of": {"feasible_set": "finite"},
    r"`n_vars` of OracleProblem: must be given with a basis": {"basis": squares},
    r"`n_vars` of OracleProblem: must equal n_params = 2": {"n_vars": 3},
    r"`n_vars` of OracleProblem: must be a whole number": {"n_vars": 2.0},
    r'`feasible_set` of OracleProblem: "binary" needs': {
        "basis": squares,
        "n_vars": 2,
        "feasible_set": "binary",
    },
}


@pytest.mark.parametrize("message", CONSTRUCTIONS)
def test_wrong_constructions(message):
    with pytest.raises(InvalidInputError, match=message):
        OracleProblem(**{"solve": split, "n_params": 2, **CONSTRUCTIONS[message]})


def test_pickling_keeps_the_users_functions():
    other = pickle.loads(pickle.dumps(binary_problem()))
    np.testing.assert_array_equal(other.solve([3.0, 1.0, 2.0, 4.0], [2.0]), [[0.0, 1.0, 1.0, 0.0]])
    again = OracleProblem(**other.to_state(), **other.functions())
    assert again.to_state() == other.to_state()
    assert repr(again) == repr(other)


def test_a_short_description():
    shown = repr(OracleProblem(lambda theta, u: theta, 2, feasible_set="binary"))
    assert shown == (
        "OracleProblem(n_params=2, n_vars=2, context_width=1, sense='min', domain='free', feasible_set='binary')"
    )
    assert repr(OracleProblem(lambda theta, u: theta, 2)).endswith("feasible_set=None)")


def test_complex_answers_are_refused():
    problem = OracleProblem(lambda theta, u: [1j, 0.0], n_params=2)
    with pytest.raises(SolverError, match="must return 2 finite numbers; got list"):
        problem.solve([1.0, 1.0], [[0.0]])
