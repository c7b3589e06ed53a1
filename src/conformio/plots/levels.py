"""A fitted pipeline and the levels to draw it at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformio.checks import described
from conformio.errors import invalid
from conformio.model import ConformalIO
from conformio.ranks import ConfidenceLevel, calibration_rank, exact_level

__all__ = ["as_levels", "as_model"]


def as_model(model: Any, where: str) -> ConformalIO:
    """A fitted pipeline; an unfitted one says so itself."""
    if not isinstance(model, ConformalIO):
        raise invalid("model", where, "must be a fitted ConformalIO", described(model))
    model.angle()
    return model


def as_levels(levels: Any, model: ConformalIO, steps: int, where: str) -> list[ConfidenceLevel]:
    """The levels asked for, sorted; None: `steps` of them, those that the calibration set can certify."""
    if levels is None:
        return _certified(model, steps, where)
    if isinstance(levels, str) or not isinstance(levels, Iterable):
        raise invalid("levels", where, "must be a sequence of confidence levels", repr(levels))
    given = list(levels)
    if not given:
        raise invalid("levels", where, "must hold at least one level", "none")
    return sorted(given, key=lambda level: exact_level(level, where))


def _certified(model: ConformalIO, steps: int, where: str) -> list[ConfidenceLevel]:
    if not hasattr(model, "scores_"):
        return [model.calibrated_level_]
    n = model.n_calibration_
    levels: list[ConfidenceLevel] = [k / steps for k in range(1, steps)]
    return [level for level in levels if calibration_rank(n, level, where) <= n] or [model.confidence_level]
