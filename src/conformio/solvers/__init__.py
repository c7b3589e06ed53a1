"""Adapters to the numerical solvers; nothing else in the package imports them."""

from conformio.solvers.conic import ConeSpec, ConicModel, ConicSolution
from conformio.solvers.highs import HighsModel, HighsSolution
from conformio.solvers.program_files import ProgramFile, read_program

__all__ = [
    "ConeSpec",
    "ConicModel",
    "ConicSolution",
    "HighsModel",
    "HighsSolution",
    "ProgramFile",
    "read_program",
]
