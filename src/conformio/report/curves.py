"""What the charts show, as a few hundred numbers whatever the size of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conformio.checks import FloatArray
from conformio.metrics import coverage, coverage_interval
from conformio.ranks import ConfidenceLevel

__all__ = ["BAND", "CURVE_LEVELS", "angle_histogram", "coverage_curve"]

BAND = 0.99
CURVE_LEVELS = tuple(k / 100 for k in range(1, 100))
_BINS = 32


def coverage_curve(
    test: FloatArray, levels: Sequence[ConfidenceLevel], angles: Sequence[float], n_calibration: int
) -> dict[str, list[float]]:
    """Coverage of the test decisions at each level's angle, and the interval that holds it with probability 0.99.

    Returns
    -------
    dict
        Lists ``level``, ``coverage``, ``low`` and ``high``.
    """
    bands = [coverage_interval(n_calibration, level, len(test), BAND) for level in levels]
    return {
        "level": [float(level) for level in levels],
        "coverage": [coverage(test, angle) for angle in angles],
        "low": [low for low, _ in bands],
        "high": [high for _, high in bands],
    }


def angle_histogram(test: FloatArray, scores: FloatArray | None, largest: float) -> dict[str, Any]:
    """Shares of angles that are exactly 0, in equal bins, beyond the last bin, and pi (unexplained).

    Parameters
    ----------
    test : array
        Angles of the test decisions.
    scores : array or None
        Angles of the calibration decisions, where they are known.
    largest : float
        An angle that the bins must reach, unless it is pi.
    """
    everything = test if scores is None else np.concatenate([test, scores])
    inner = everything[(everything > 0.0) & (everything < np.pi)]
    most = float(np.quantile(inner, 0.995)) if len(inner) else 0.0
    top = max(most, largest if largest < np.pi else 0.0) * 1.02 or 0.01
    edges = np.linspace(0.0, min(top, np.pi), _BINS + 1)
    return {
        "edges": edges.tolist(),
        "test": _shares(test, edges),
        "calibration": None if scores is None else _shares(scores, edges),
    }


def _shares(angles: FloatArray, edges: FloatArray) -> dict[str, Any]:
    """Bins are open to the left: an angle of exactly 0 is in none of them."""
    n = len(angles)
    inner = angles[(angles > 0.0) & (angles <= edges[-1]) & (angles < np.pi)]
    counts = np.bincount(np.searchsorted(edges, inner) - 1, minlength=_BINS)
    beyond = int(((angles > edges[-1]) & (angles < np.pi)).sum())
    zero, unexplained = int((angles == 0.0).sum()), int((angles == np.pi).sum())
    return {
        "n": n,
        "zero": zero / n,
        "bins": (counts / n).tolist(),
        "beyond": beyond / n,
        "unexplained": unexplained / n,
    }
