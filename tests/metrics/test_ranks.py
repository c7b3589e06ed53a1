"""Ranks in exact arithmetic."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from conformio.errors import InvalidInputError
from conformio.ranks import calibration_rank, exact_level


def test_cases_that_floats_get_wrong():
    assert math.ceil(0.55 * 100) == 56
    assert calibration_rank(99, 0.55, "test") == 55
    assert calibration_rank(9, 0.9, "test") == 9
    assert calibration_rank(9, 1 - Fraction(1, 10), "test") == 9


def test_sweep_against_fractions():
    wrong_in_floats = 0
    for n in (0, 1, 2, 9, 10, 19, 49, 99, 199, 999):
        for thousandths in range(1001):
            level = thousandths / 1000
            rank = calibration_rank(n, level, "test")
            assert rank == -(-thousandths * (n + 1) // 1000)
            wrong_in_floats += rank != math.ceil(level * (n + 1))
    assert wrong_in_floats > 0


@pytest.mark.parametrize(
    "level",
    [0.55, np.float64(0.55), np.float32(0.55), Decimal("0.55"), Fraction(11, 20)],
)
def test_all_spellings_of_one_level(level):
    assert exact_level(level, "test") == Fraction(11, 20)


@pytest.mark.parametrize(("level", "rank"), [(0, 0), (0.0, 0), (1, 101), (1.0, 101), (np.int64(1), 101), (1e-9, 1)])
def test_ends(level, rank):
    assert calibration_rank(100, level, "test") == rank


@pytest.mark.parametrize("level", [-0.1, 1.1, np.nan, np.inf, Decimal("NaN"), "0.9", None, True, 2, [0.9]])
def test_wrong_levels(level):
    with pytest.raises(InvalidInputError, match=r"`confidence_level` of here: must be a number in \[0, 1\]; got"):
        calibration_rank(10, level, "here")


@pytest.mark.parametrize("n", [-1, 1.5, None, True])
def test_wrong_sizes(n):
    with pytest.raises(InvalidInputError, match=r"`n_calibration` of here: must be a whole number >= 0"):
        calibration_rank(n, 0.9, "here")


def test_levels_too_small_to_write_out_are_refused():
    with pytest.raises(InvalidInputError, match="must be 0 or at least 1e-300"):
        exact_level(Decimal("1E-99999999"), "test")
