"""What decisions are worth: optimality gaps, coverage and adherence."""

from conformio.metrics.adherence import adherence
from conformio.metrics.coverage import coverage, coverage_interval
from conformio.metrics.optimality_gaps import actual_optimality_gap, perceived_optimality_gap

__all__ = [
    "actual_optimality_gap",
    "adherence",
    "coverage",
    "coverage_interval",
    "perceived_optimality_gap",
]
