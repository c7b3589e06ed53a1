"""Robust prescription: decisions with the best worst case over an uncertainty set, with certificates."""

from conformio.prescription.solution import RobustSolution
from conformio.prescription.solve import solve_robust
from conformio.prescription.task import TIE_ANGLE

__all__ = ["TIE_ANGLE", "RobustSolution", "solve_robust"]
