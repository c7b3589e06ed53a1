"""Uncertainty sets over parameter vectors of unit length."""

from conformio.sets.base import UncertaintySet
from conformio.sets.spherical_cap import SphericalCap

__all__ = ["SphericalCap", "UncertaintySet"]
