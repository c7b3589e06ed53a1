"""All comparisons by name, in the order in which they run."""

from __future__ import annotations

from collections.abc import Sequence

from conformio.errors import invalid
from conformio.studies.benchmarks import (
    angle_methods,
    experiment,
    growth,
    kernels,
    knapsacks,
    million,
    path_angles,
    perturbed,
    programs,
    robust_paths,
    startup,
    training,
)
from conformio.studies.benchmarks.settings import Comparison

__all__ = ["COMPARISONS", "chosen_comparisons"]

COMPARISONS: tuple[Comparison, ...] = (
    *path_angles.COMPARISONS,
    *robust_paths.COMPARISONS,
    *training.COMPARISONS,
    *perturbed.COMPARISONS,
    *knapsacks.COMPARISONS,
    *programs.COMPARISONS,
    *growth.COMPARISONS,
    *angle_methods.COMPARISONS,
    *kernels.COMPARISONS,
    *experiment.COMPARISONS,
    *startup.COMPARISONS,
    *million.COMPARISONS,
)


def chosen_comparisons(names: Sequence[str]) -> list[Comparison]:
    """Those named, in the order of the catalogue; without names all that run by default."""
    known = {one.name: one for one in COMPARISONS}
    unknown = [name for name in names if name not in known]
    if unknown:
        rule = f"must be one of {', '.join(known)}"
        raise invalid("names", "conformio bench", rule, ", ".join(unknown))
    return [one for one in COMPARISONS if one.name in names or (not names and one.by_default)]
