"""Given parameters: vectors, callables and fitted models, checked when they are used."""

import numpy as np
import pytest
from finite_problems import Listed
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

from conformio.errors import InvalidInputError, NotFittedError
from conformio.estimators import FixedParameters

PROBLEM = Listed([[[1.0, 0.0], [0.0, 1.0]]] * 4, domain="nonnegative")
CONTEXTS = np.array([[0.0], [1.0], [2.0]])
DECISIONS = np.array([[1.0, 0.0]] * 3)


def linear(contexts):
    return np.hstack([contexts + 1.0, 2.0 * contexts + 1.0])


def test_vector():
    estimator = FixedParameters([1, 2])
    with pytest.raises(NotFittedError, match=r"FixedParameters\.parameters: call FixedParameters\.fit"):
        estimator.parameters(CONTEXTS)
    assert estimator.fit(PROBLEM, CONTEXTS, DECISIONS) is estimator
    np.testing.assert_array_equal(estimator.theta_, [1.0, 2.0])
    np.testing.assert_array_equal(estimator.parameters(CONTEXTS), [[1.0, 2.0]] * 3)
    assert not estimator.needs_data


def test_vector_needs_no_decisions_and_keeps_its_own_copy():
    given = np.array([1.0, 2.0])
    estimator = FixedParameters(given).fit(PROBLEM, CONTEXTS)
    given[0] = 9.0
    assert estimator.theta_[0] == 1.0


def test_decisions_need_not_be_feasible_but_must_fit():
    FixedParameters([1.0, 2.0]).fit(PROBLEM, CONTEXTS, DECISIONS + 1.0)
    with pytest.raises(InvalidInputError, match=r"`decisions` of FixedParameters\.fit: must have 3 rows"):
        FixedParameters([1.0, 2.0]).fit(PROBLEM, CONTEXTS, DECISIONS[:2])


def test_callable():
    estimator = FixedParameters(linear).fit(PROBLEM, CONTEXTS, DECISIONS)
    assert estimator.theta_ is None
    np.testing.assert_array_equal(estimator.parameters([3.0, 0.0]), [[4.0, 7.0], [1.0, 1.0]])
    with pytest.raises(NotFittedError):
        FixedParameters(linear).parameters(CONTEXTS)
    with pytest.raises(InvalidInputError, match=r"`contexts` of FixedParameters\.parameters: must have 1 column;"):
        estimator.parameters([[0.0, 1.0]])


def test_fitted_model_survives_cloning():
    model = LinearRegression().fit(CONTEXTS, linear(CONTEXTS))
    estimator = clone(FixedParameters(model))
    assert estimator.theta is model
    estimator.fit(PROBLEM, CONTEXTS, DECISIONS)
    np.testing.assert_allclose(estimator.parameters([[3.0]]), [[4.0, 7.0]])


@pytest.mark.parametrize(
    ("theta", "message"),
    [
        ([1.0], r"`theta` of FixedParameters\.fit: must have shape \(2,\); got shape \(1,\)"),
        ([[1.0, 2.0]] * 3, r"`theta` .* must have shape \(2,\); got shape \(3, 2\)"),
        ([1.0, np.inf], r"`theta` .* must be finite"),
        (["a", "b"], r"`theta` .* real numbers"),
        ([1.0, -1.0], r"`theta` of FixedParameters\.fit: must be >= 0 wherever the problem's parameters must"),
        ([0.0, 0.0], r"`theta` .* must not be zero: it has no direction"),
        (lambda u: np.ones(2), r"`theta` .* must have shape \(3, 2\), one row of parameters per context"),
        (lambda u: linear(u) - 1.0, r"`theta` row 0 .* must not be zero"),
        (lambda u: 2.0 - linear(u), r"`theta` row 1 .* must be >= 0 wherever"),
        (
            lambda u: u["age"],
            r"`theta` of FixedParameters\.fit: must predict from contexts of shape \(3, 1\); got IndexError",
        ),
        (lambda u: linear(u) / u, r"`theta` row 0 .* must be finite"),
    ],
)
def test_wrong_parameters(theta, message):
    with np.errstate(divide="ignore"), pytest.raises(InvalidInputError, match=message):
        FixedParameters(theta).fit(PROBLEM, CONTEXTS, DECISIONS)


def test_predictions_are_checked_where_they_are_used():
    estimator = FixedParameters(lambda u: 3.0 - u + np.zeros((1, 2))).fit(PROBLEM, CONTEXTS, DECISIONS)
    with pytest.raises(InvalidInputError, match=r"`theta` row 1 of FixedParameters\.parameters: must be >= 0"):
        estimator.parameters([0.0, 4.0])


def test_wrong_problem():
    with pytest.raises(InvalidInputError, match=r"`problem` of FixedParameters\.fit: must be a forward problem"):
        FixedParameters([1.0]).fit(None, CONTEXTS)
