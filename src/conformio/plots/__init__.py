"""Figures for notebooks and papers, drawn with matplotlib (extra `plots`); each returns its axes."""

from conformio.plots.angle_distribution import angles
from conformio.plots.coverage_curve import coverage
from conformio.plots.gap_curve import gaps
from conformio.plots.road_map import network

__all__ = ["angles", "coverage", "gaps", "network"]
