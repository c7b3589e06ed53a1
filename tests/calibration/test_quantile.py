"""The calibrated angle: exact ranks, both ends, and statistics over repeated draws."""

from fractions import Fraction

import numpy as np
import pytest

import conformio as cio


@pytest.mark.parametrize(("level", "n"), [(0.55, 99), (0.9, 9), (0.7, 9), (0.95, 19), (0.29, 99)])
def test_rank_is_exact_where_floats_are_wrong(level, n):
    angles = np.linspace(0.01, 1.0, n)
    rank = -(-Fraction(str(level)) * (n + 1) // 1)
    assert cio.calibrated_angle(angles, level) == angles[int(rank) - 1]


def test_order_does_not_matter_and_ties_are_fine():
    angles = [0.3, 0.1, 0.2, 0.2]
    assert cio.calibrated_angle(angles, 0.4) == 0.2
    assert cio.calibrated_angle(angles[::-1], 0.6) == 0.2
    assert cio.calibrated_angle([0.0, 0.0, 0.0], 0.5) == 0.0


def test_level_zero_is_the_point_estimate():
    assert cio.calibrated_angle([0.5, 0.7], 0.0) == 0.0


def test_too_few_decisions_give_everything_and_say_how_many_would_do():
    with pytest.warns(cio.CalibrationWarning, match=r"8 calibration decisions cannot certify level 0.9.* at least 9"):
        assert cio.calibrated_angle(np.full(8, 0.1), 0.9) == np.pi
    assert cio.calibrated_angle(np.full(9, 0.1), 0.9) == 0.1
    with pytest.warns(cio.CalibrationWarning, match="no finite calibration set certifies level 1"):
        assert cio.calibrated_angle([0.1], 1.0) == np.pi


def test_unexplained_decisions_keep_their_place():
    angles = [0.1, 0.2, np.pi, 0.3]
    assert cio.calibrated_angle(angles, 0.6) == 0.3
    assert cio.calibrated_angle(angles, 0.8) == np.pi


@pytest.mark.parametrize("angles", [[], [-0.1], [3.2], [np.nan], [np.inf], [[0.1]], "x", [None]])
def test_wrong_angles(angles):
    with pytest.raises(cio.InvalidInputError, match="`angles`"):
        cio.calibrated_angle(angles, 0.5)


@pytest.mark.parametrize("level", [-0.1, 1.1, np.nan, "0.9", None, True])
def test_wrong_levels(level):
    with pytest.raises(cio.InvalidInputError, match="`confidence_level`"):
        cio.calibrated_angle([0.1], level)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "level"), [(20, 0.5), (50, 0.9), (99, 0.55)])
def test_coverage_lies_in_the_exact_band_without_ties(n, level):
    """Given the calibration set coverage is Beta(tau, n + 1 - tau); 99.9% two-sided bands, so 0.1% false alarms."""
    from scipy import stats

    rng = np.random.default_rng(0)
    tau = int(-(-Fraction(str(level)) * (n + 1) // 1))
    draws, n_test = 400, 50
    covered = 0
    for _ in range(draws):
        angle = cio.calibrated_angle(rng.uniform(0, 1, n), level)
        covered += int((rng.uniform(0, 1, n_test) <= angle).sum())
    beta = stats.beta(tau, n + 1 - tau)
    spread = np.sqrt(beta.var() / draws + beta.mean() * (1 - beta.mean()) / (draws * n_test))
    assert abs(covered / (draws * n_test) - beta.mean()) < 3.29 * spread


def test_warnings_point_at_the_line_that_called_the_library():
    model = cio.ConformalIO(cio.Knapsack([1.0, 1.0]), cio.FixedParameters([2.0, 1.0]), confidence_level=0.5)
    model.conformalize([1.0] * 3, [[1, 0]] * 3)
    for call in (lambda: cio.calibrated_angle([0.1], 0.9), lambda: model.predict([1.0], 0.9)):
        with pytest.warns(cio.CalibrationWarning) as caught:
            call()
        assert [warning.filename for warning in caught] == [__file__]
