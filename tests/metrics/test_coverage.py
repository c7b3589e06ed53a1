"""Coverage, and the interval it should lie in, against scipy, fractions and simulation."""

from decimal import Decimal
from fractions import Fraction
from math import comb, factorial

import numpy as np
import pytest
from scipy import stats

from conformio import metrics
from conformio.errors import InvalidInputError
from conformio.ranks import calibration_rank


def test_coverage_compares_exactly():
    angle = 0.1
    assert metrics.coverage([0.0, angle, np.nextafter(angle, 1.0), np.pi], angle) == 0.5
    assert metrics.coverage([0.3], np.pi) == 1.0
    assert metrics.coverage([0.3, 0.0], 0.0) == 0.5


@pytest.mark.parametrize(
    ("angles", "angle", "message"),
    [
        ([], 0.1, r"`angles` of metrics\.coverage: must hold at least one angle"),
        ([0.1, -0.1], 0.1, r"`angles` row 1 .* must be radians in \[0, pi\]; got -0\.1"),
        ([0.1, 3.2], 0.1, r"`angles` row 1 .* must be radians"),
        ([0.1, np.nan], 0.1, r"`angles` row 1 .* must be finite"),
        ([[0.1]], 0.1, r"`angles` .* must have one dimension"),
        ([0.1], 90, r"`angle` .* must be a number in \[0\.0, 3\.14"),
        ([0.1], None, r"`angle` .* must be a number"),
    ],
)
def test_wrong_angles(angles, angle, message):
    with pytest.raises(InvalidInputError, match=message):
        metrics.coverage(angles, angle)


def exact_quantiles(n_test, a, b, mass):
    """Beta-binomial quantiles in integer arithmetic."""

    def beta(x, y):
        return Fraction(factorial(x - 1) * factorial(y - 1), factorial(x + y - 1))

    chances = [comb(n_test, k) * beta(k + a, n_test - k + b) / beta(a, b) for k in range(n_test + 1)]
    tail = (1 - Fraction(str(mass))) / 2
    low = next(k for k in range(n_test + 1) if sum(chances[: k + 1]) >= tail)
    high = next(k for k in range(n_test, -1, -1) if sum(chances[k:]) >= tail)
    assert sum(chances[low : high + 1]) >= 1 - 2 * tail
    return low / n_test, high / n_test


@pytest.mark.parametrize("n_calibration", [9, 10, 19, 57])
@pytest.mark.parametrize("level", [0.05, 0.5, 0.55, 0.9])
@pytest.mark.parametrize("mass", [0.5, 0.99])
def test_interval_is_exact(n_calibration, level, mass):
    rank = calibration_rank(n_calibration, level, "test")
    for n_test in (1, 7, 40):
        assert metrics.coverage_interval(n_calibration, level, n_test, mass) == exact_quantiles(
            n_test, rank, n_calibration + 1 - rank, mass
        )


def test_interval_agrees_with_scipy_on_large_samples():
    low, high = metrics.coverage_interval(500, 0.9, 20_000, 0.98)
    law = stats.betabinom(20_000, 451, 50)
    assert law.cdf(round(low * 20_000) - 1) < 0.01 <= law.cdf(round(low * 20_000))
    assert law.sf(round(high * 20_000)) < 0.01 <= law.sf(round(high * 20_000) - 1)


def test_interval_of_simulated_coverage():
    rng = np.random.default_rng(0)
    low, high = metrics.coverage_interval(50, 0.8, 200, 0.9)
    rank = calibration_rank(50, 0.8, "test")
    inside = 0
    for _ in range(4000):
        cut = np.sort(rng.uniform(size=50))[rank - 1]
        inside += low <= (rng.uniform(size=200) <= cut).mean() <= high
    assert 0.89 <= inside / 4000 <= 0.95  # at least 0.9 minus 2 standard errors, little above it


def test_limits():
    assert metrics.coverage_interval(9, 0.95, 100) == (1.0, 1.0)
    assert metrics.coverage_interval(9, 1.0, 100) == (1.0, 1.0)
    assert metrics.coverage_interval(9, 0.0, 100) == (0.0, 0.0)
    assert metrics.coverage_interval(9, 0.9, 100)[0] < 1.0  # 0.9 * 10 is 9, not 10
    assert metrics.coverage_interval(9, 0.5, 100, mass=1.0) == (0.0, 1.0)
    assert metrics.coverage_interval(9, Decimal("0.5"), 100) == metrics.coverage_interval(9, 0.5, 100)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 0.9, 10), r"`n_calibration` of metrics\.coverage_interval: must be a whole number >= 0"),
        ((10, 1.1, 10), r"`confidence_level` of metrics\.coverage_interval: must be a number in \[0, 1\]; got 1\.1"),
        ((10, 0.9, 0), r"`n_test` .* must be a whole number >= 1"),
        ((10, 0.9, 10, 0.0), r"`mass` .* must be a number in \(0\.0, 1\.0\]"),
        ((10, 0.9, 10, 1.5), r"`mass` .* must be a number in \(0\.0, 1\.0\]"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        metrics.coverage_interval(*arguments)
