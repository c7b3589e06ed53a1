"""Distances to cones, and the angle they make.

The conformity angle of a decision is the angle between the unit centre and its projection `P` on the inverse-feasible
cone: `atan2(|centre - P|, |P|)`, which keeps all digits near zero where `arccos` loses half of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conformio.checks import BoolArray, FloatArray

__all__ = ["NO_EXPLANATION", "OPTIMAL", "Projections"]

OPTIMAL = 1e-12
"""A centre closer than this to the cone already makes the decision optimal: angle exactly 0."""

NO_EXPLANATION = 1e-9
"""A projection shorter than this is the origin: no parameters within 90 degrees explain the decision, angle pi."""


@dataclass(frozen=True)
class Projections:
    """Unit centres projected on one cone per row.

    Attributes
    ----------
    distances, lengths : (N,)
        `|centre - P|` and `|P|`.
    errors : (N,)
        What the route can vouch for: absolute error of `distances`; 0 where the answer is closed-form.
    """

    distances: FloatArray
    lengths: FloatArray
    errors: FloatArray

    @classmethod
    def of_feet(cls, centers: FloatArray, feet: FloatArray, errors: FloatArray) -> Projections:
        """From the projections themselves, `feet` (N, d)."""
        return cls(np.linalg.norm(centers - feet, axis=1), np.linalg.norm(feet, axis=1), errors)

    @property
    def certified(self) -> BoolArray:
        """Rows whose distance is proven to 1e-9, or to a millionth of itself where that is less."""
        return np.asarray(self.errors <= np.minimum(1e-9, np.maximum(1e-6 * self.distances, OPTIMAL)))

    @property
    def angles(self) -> FloatArray:
        """Radians in [0, pi/2), or pi where the cone holds nothing within 90 degrees (correction E4)."""
        angles = np.arctan2(self.distances, self.lengths)
        angles[self.distances <= OPTIMAL] = 0.0
        angles[self.lengths <= NO_EXPLANATION] = np.pi
        return angles
