"""Inverse-feasible cones as data: for each row, all `theta` that make its decision optimal.

A problem states its cones in one of four forms; `calibration` has one file per form that projects on them.
The sense of the problem is already worked in: every form describes `{theta : decision optimal}` directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from conformio.checks import BoolArray, FloatArray
from conformio.networks import Network

if TYPE_CHECKING:
    from conformio.problems.base import Problem

__all__ = [
    "Cones",
    "CutCones",
    "GeneratedCone",
    "GeneratedCones",
    "PathCones",
    "StationaryCone",
    "StationaryCones",
]


@dataclass(frozen=True)
class PathCones:
    """Cones of 0/1 flows in one network: node potentials certify optimality on the flow LP over [0, 1].

    Attributes
    ----------
    network : Network
    contexts : (N, 2) float array of (origin, destination)
    decisions : CSR (N, n_edges), 0/1
    nonnegative : bool
        Intersect each cone with the nonnegative orthant.
    """

    network: Network
    contexts: FloatArray
    decisions: Any
    nonnegative: bool

    def __len__(self) -> int:
        return len(self.contexts)


@dataclass(frozen=True)
class GeneratedCone:
    """`{lines w + rays v : w free, v >= 0}`; `lines` is (d, k), `rays` is (d, m)."""

    lines: FloatArray
    rays: FloatArray


@dataclass(frozen=True)
class GeneratedCones:
    """Cones of linear programs: equality normals and bounded-above variables' duals generate them."""

    rows: Sequence[GeneratedCone]
    nonnegative: bool

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class StationaryCone:
    """`{theta : gradients theta + rays v + lines w = 0 for some v >= 0, w}`: KKT conditions at a decision.

    `gradients` is (n, d), column i the gradient of basis function i; `rays` (n, m) and `lines` (n, k) are
    gradients of active inequality and of equality constraints.
    """

    gradients: FloatArray
    rays: FloatArray
    lines: FloatArray


@dataclass(frozen=True)
class StationaryCones:
    """Cones of convex programs; `nonnegative[i]` forces `theta_i >= 0`."""

    rows: Sequence[StationaryCone]
    nonnegative: BoolArray

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class CutCones:
    """Cones known only through the solver: `theta . basis(x_hat)` is no worse than at what it returns.

    Attributes
    ----------
    problem : Problem
        Its `nominal` separates.
    contexts : (N, context_width) float array
    bases : (N, d) float array
        Basis functions at the observed decisions.
    """

    problem: Problem
    contexts: FloatArray
    bases: FloatArray

    def __len__(self) -> int:
        return len(self.contexts)


Cones: TypeAlias = PathCones | GeneratedCones | StationaryCones | CutCones
