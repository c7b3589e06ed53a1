"""Adapters to the numerical solvers; nothing else in the package imports them."""

from conformio.solvers.conic import ConeSpec, ConicModel, ConicSolution
from conformio.solvers.highs import HighsModel, HighsSolution

__all__ = ["ConeSpec", "ConicModel", "ConicSolution", "HighsModel", "HighsSolution"]
