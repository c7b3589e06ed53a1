"""What findings are drawn from: a fitted pipeline's calibration, and decisions measured around its centre.

Rows that the pipeline was fitted or calibrated on say nothing of its coverage. They are known by their fingerprint,
which sees all of them in their order; a mixture of old and new rows passes for new.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from conformio.checks import BoolArray, Decisions, FloatArray, IntArray
from conformio.data import data_fingerprint
from conformio.problems import Problem
from conformio.ranks import ConfidenceLevel, angle_of_rank, calibration_rank

__all__ = ["Evidence", "Role", "role_of"]

Role: TypeAlias = Literal["new", "fitted", "calibrated"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Checked rows, their angles, and what the pipeline knows.

    Attributes
    ----------
    problem : Problem
    contexts, decisions : arrays
        The rows given.
    angles : (N,) array
        Around the pipeline's centre; pi where infeasible.
    feasible : (N,) bool array
    role : {"new", "fitted", "calibrated"}
        What the rows were to the pipeline.
    training : int array
        Feasible rows that identifiability is judged by: those that trained the estimate where these are known.
    center : (n_params,) array or None
        None where the centre depends on the context.
    learned : bool
        Whether the estimate was learned from decisions.
    scores : (n_calibration,) array or None
        Calibration angles; None where only one level was calibrated.
    level : confidence level
    angle : float
        Calibrated angle at `level`.
    n_calibration, n_unexplained, n_excluded : int
    tie_mass : float
    """

    problem: Problem
    contexts: FloatArray
    decisions: Decisions
    angles: FloatArray
    feasible: BoolArray
    role: Role
    training: IntArray
    center: FloatArray | None
    learned: bool
    scores: FloatArray | None
    level: ConfidenceLevel
    angle: float
    n_calibration: int
    n_unexplained: int
    n_excluded: int
    tie_mass: float

    @classmethod
    def of(cls, model: Any, contexts: FloatArray, decisions: Decisions, angles: FloatArray) -> Evidence:
        """From a fitted `ConformalIO`, checked rows and their angles."""
        feasible = model.problem.feasible(decisions, contexts)
        role, training = role_of(model, contexts, decisions)
        scores = getattr(model, "scores_", None)
        level = model.confidence_level if scores is not None else model.calibrated_level_
        angle = model.angle_ if scores is None else _angle_at(scores, level)
        return cls(
            problem=model.problem,
            contexts=contexts,
            decisions=decisions,
            angles=angles,
            feasible=feasible,
            role=role,
            training=training[feasible[training]],
            center=model.theta_,
            learned=model.estimator_.needs_data,
            scores=scores,
            level=level,
            angle=float(angle),
            n_calibration=int(model.n_calibration_),
            n_unexplained=int(model.n_unexplained_),
            n_excluded=int(getattr(model, "n_excluded_", 0)),
            tie_mass=float(model.tie_mass_ if scores is None else (scores == angle).mean()),
        )

    @property
    def rank(self) -> int:
        """Rank of the calibrated angle; 0 stands for the angle 0, `n_calibration + 1` for pi."""
        return min(calibration_rank(self.n_calibration, self.level, "diagnose"), self.n_calibration + 1)


def _angle_at(scores: FloatArray, level: ConfidenceLevel) -> float:
    return angle_of_rank(scores, calibration_rank(len(scores), level, "diagnose"))


def role_of(model: Any, contexts: FloatArray, decisions: Decisions) -> tuple[Role, IntArray]:
    """What the rows were to the pipeline, and which of them trained its estimate as far as that is known."""
    rows, mark = np.arange(len(contexts)), data_fingerprint(contexts, decisions)
    if mark == getattr(model, "data_fingerprint_", None):
        held_out = model.calibration_indices_
        kept = held_out[held_out < len(rows)]
        same = data_fingerprint(contexts[kept], decisions[kept]) == getattr(model, "calibration_fingerprint_", None)
        return "fitted", np.setdiff1d(rows, held_out) if same else rows
    return ("calibrated" if mark == getattr(model, "calibration_fingerprint_", None) else "new"), rows
