"""Polyhedral feasible sets as data: matrices that never change, sides that come with the context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformio.checks import BoolArray, FloatArray

__all__ = ["Polyhedron", "Sides"]


@dataclass(frozen=True)
class Polyhedron:
    """The fixed part of `{x : A_eq x = b_eq, A_ub x <= b_ub, lower <= x <= upper}`, some `x_j` whole.

    Attributes
    ----------
    A_eq, A_ub : scipy.sparse.csr_array
        Shapes (n_eq, n_vars) and (n_ub, n_vars); either may have no rows.
    integrality : bool array, shape (n_vars,)
    """

    A_eq: Any
    A_ub: Any
    integrality: BoolArray


@dataclass(frozen=True)
class Sides:
    """The part of a polyhedron that one context decides."""

    b_eq: FloatArray
    b_ub: FloatArray
    lower: FloatArray
    upper: FloatArray
