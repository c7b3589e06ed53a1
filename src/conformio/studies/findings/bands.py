"""The bands of the validity theorem around the level, beside the exact one (E14)."""

from __future__ import annotations

from math import log, sqrt

from conformio.ranks import calibration_rank

__all__ = ["exact_mean", "exact_sd", "printed_half_width", "proved_half_width"]


def printed_half_width(n_calibration: int) -> float:
    """What the theorem states: the root of a sum."""
    return sqrt((8.0 * log(n_calibration + 1) + 2.0 * log(n_calibration)) / n_calibration) + 2.0 / n_calibration


def proved_half_width(n_calibration: int) -> float:
    """What its proof gives: the sum of two roots."""
    roots = sqrt(8.0 * log(n_calibration + 1) / n_calibration) + sqrt(2.0 * log(n_calibration) / n_calibration)
    return roots + 2.0 / n_calibration


def exact_mean(n_calibration: int, level: float) -> float:
    """Expected coverage of tie-free angles: rank over `n_calibration + 1`."""
    return calibration_rank(n_calibration, level, "study") / (n_calibration + 1)


def exact_sd(n_calibration: int, level: float, n_test: int) -> float:
    """Standard deviation of the coverage of `n_test` rows: the beta-binomial one, per row."""
    mean = exact_mean(n_calibration, level)
    # a + b = n_calibration + 1 for the Beta(tau, n + 1 - tau) of the coverage
    spread = (n_calibration + 1 + n_test) / (n_calibration + 2)
    return sqrt(max(mean * (1.0 - mean), 0.0) * spread / n_test)
