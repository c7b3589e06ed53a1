"""Adherence by sets, dense and sparse alike."""

import numpy as np
import pytest
from scipy import sparse

from conformio import metrics
from conformio.errors import InvalidInputError

RNG = np.random.default_rng(0)
OURS = (RNG.uniform(size=(40, 8)) < 0.4).astype(float)
THEIRS = np.where(RNG.uniform(size=(40, 1)) < 0.3, OURS, (RNG.uniform(size=(40, 8)) < 0.4).astype(float))
OURS[0] = THEIRS[0] = OURS[1] = 0.0
WEIGHTS = np.array([0.0, 1.0, 2.0, 0.5, 3.0, 0.0, 1.5, 1.0])


def by_sets(kind):
    found = []
    for x, y in zip(OURS, THEIRS, strict=True):
        a, b = set(np.flatnonzero(x)), set(np.flatnonzero(y))
        if kind == "exact":
            found.append(float(a == b))
            continue
        worth = WEIGHTS if kind == "weighted" else np.ones(8)
        union = sum(worth[j] for j in a | b)
        found.append(sum(worth[j] for j in a & b) / union if union else 1.0)
    return found


@pytest.mark.parametrize("kind", ["exact", "jaccard", "weighted"])
@pytest.mark.parametrize("ours", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("theirs", [np.asarray, sparse.csr_array])
def test_all_forms_agree(kind, ours, theirs):
    weights = WEIGHTS if kind == "weighted" else None
    got = metrics.adherence(ours(OURS), theirs(THEIRS), kind, weights)
    assert got.shape == (40,)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, by_sets(kind), rtol=1e-12)
    assert 0.0 < got.mean() < 1.0


def test_exact_is_the_default_and_has_a_tolerance():
    x = np.array([[0.5, 2.0], [0.5, 2.0]])
    y = x + np.array([[1e-10, 0.0], [1e-8, 0.0]])
    assert metrics.adherence(x, y).tolist() == [1.0, 0.0]
    assert metrics.adherence(sparse.csr_array(x), sparse.csr_array(y)).tolist() == [1.0, 0.0]


def test_nearly_binary_decisions_are_read_as_binary():
    got = metrics.adherence([[1.0 - 1e-12, 1e-12, 1.0]], [[1.0, 0.0, 0.0]], "jaccard")
    assert got.tolist() == [0.5]


def test_nothing_that_weighs_anything():
    assert metrics.adherence([[1, 0]], [[0, 1]], "weighted", [0.0, 0.0]).tolist() == [1.0]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_fractional_decisions_have_no_overlap(form):
    half = form([[1.0, 0.0], [0.0, 0.0], [0.0, 0.5]])
    binary = form([[1.0, 0.0]] * 3)
    with pytest.raises(InvalidInputError, match=r"`decisions` row 2 of metrics\.adherence: must be 0 or 1 .* 0\.5"):
        metrics.adherence(half, binary, "jaccard")
    with pytest.raises(InvalidInputError, match=r"`observed` row 2 of metrics\.adherence: must be 0 or 1"):
        metrics.adherence(binary, half, "weighted", [1.0, 1.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 0.0], [[1.0, 0.0]]), r"`decisions` of metrics\.adherence: must have one row per observation"),
        (([[1.0, 0.0]], [[1.0]]), r"`observed` .* must have one row per observation and 2 columns"),
        (([[1.0, 0.0]], [[1.0, 0.0]] * 2), r"`observed` .* must have 1 rows"),
        (([[1.0, np.nan]], [[1.0, 0.0]]), r"`decisions` row 0 .* must be finite"),
        (([[1.0, 0.0]], [[1.0, 0.0]], "dice"), r"`kind` .* must be one of 'exact', 'jaccard', 'weighted'"),
        (([[1.0, 0.0]], [[1.0, 0.0]], "jaccard", [1, 1]), r'`weights` .* must be None with kind="jaccard"'),
        (([[1.0, 0.0]], [[1.0, 0.0]], "weighted"), r'`weights` .* must be 2 numbers with kind="weighted"; got None'),
        (([[1.0, 0.0]], [[1.0, 0.0]], "weighted", [1]), r"`weights` .* must have length 2"),
        (([[1.0, 0.0]], [[1.0, 0.0]], "weighted", [1, -1]), r"`weights` row 1 .* must be >= 0; got -1"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        metrics.adherence(*arguments)
