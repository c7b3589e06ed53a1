"""Conformal inverse optimization: learn from decisions, prescribe new ones, with a certificate."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformio import bounds, metrics, observations, plots
    from conformio.calibration import (
        QuantileAngle,
        calibrated_angle,
        conformity_angles,
        nearest_rationalizable,
        quantile_angle,
    )
    from conformio.diagnosis import Diagnosis, Finding
    from conformio.errors import (
        CalibrationWarning,
        ConformioError,
        FaultyRowsError,
        InfeasibleProblemError,
        InvalidInputError,
        ModelFileError,
        NotFittedError,
        SolverError,
        UnboundedProblemError,
        UncertifiedWarning,
    )
    from conformio.estimators import (
        DistributionallyRobustLoss,
        FixedParameters,
        PerturbedFenchelYoung,
        SuboptimalityLoss,
    )
    from conformio.model import ConformalIO, load
    from conformio.networks import Network
    from conformio.prescription import RobustSolution, solve_robust
    from conformio.problems import (
        ConvexProgram,
        IntegerProgram,
        Knapsack,
        LinearProgram,
        OracleProblem,
        ShortestPath,
        WithFeatures,
    )
    from conformio.sets import SphericalCap

    __version__: str

__all__ = [
    "CalibrationWarning",
    "ConformalIO",
    "ConformioError",
    "ConvexProgram",
    "Diagnosis",
    "DistributionallyRobustLoss",
    "FaultyRowsError",
    "Finding",
    "FixedParameters",
    "InfeasibleProblemError",
    "IntegerProgram",
    "InvalidInputError",
    "Knapsack",
    "LinearProgram",
    "ModelFileError",
    "Network",
    "NotFittedError",
    "OracleProblem",
    "PerturbedFenchelYoung",
    "QuantileAngle",
    "RobustSolution",
    "ShortestPath",
    "SolverError",
    "SphericalCap",
    "SuboptimalityLoss",
    "UnboundedProblemError",
    "UncertifiedWarning",
    "WithFeatures",
    "__version__",
    "bounds",
    "calibrated_angle",
    "conformity_angles",
    "load",
    "metrics",
    "nearest_rationalizable",
    "observations",
    "plots",
    "quantile_angle",
    "solve_robust",
]

_HOMES = {
    "calibration": (
        "QuantileAngle",
        "calibrated_angle",
        "conformity_angles",
        "nearest_rationalizable",
        "quantile_angle",
    ),
    "diagnosis": ("Diagnosis", "Finding"),
    "errors": (
        "CalibrationWarning",
        "ConformioError",
        "FaultyRowsError",
        "InfeasibleProblemError",
        "InvalidInputError",
        "ModelFileError",
        "NotFittedError",
        "SolverError",
        "UnboundedProblemError",
        "UncertifiedWarning",
    ),
    "estimators": ("DistributionallyRobustLoss", "FixedParameters", "PerturbedFenchelYoung", "SuboptimalityLoss"),
    "model": ("ConformalIO", "load"),
    "networks": ("Network",),
    "prescription": ("RobustSolution", "solve_robust"),
    "problems": (
        "ConvexProgram",
        "IntegerProgram",
        "Knapsack",
        "LinearProgram",
        "OracleProblem",
        "ShortestPath",
        "WithFeatures",
    ),
    "sets": ("SphericalCap",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = {*_HOMES, "bounds", "data", "metrics", "observations", "plots", "solvers"}


def _find(name: str) -> object:
    """A public name, loaded when it is first asked for: `import conformio` alone costs next to nothing."""
    if name in _HOME_OF:
        return getattr(_import_module(f"conformio.{_HOME_OF[name]}"), name)
    if name in _MODULES:
        return _import_module(f"conformio.{name}")
    if name == "__version__":
        return _import_module("importlib.metadata").version("conformio")
    raise AttributeError(f"module 'conformio' has no attribute {name!r}")


if not TYPE_CHECKING:  # type checkers read the imports above, and would take any name for known

    def __getattr__(name):
        found = globals()[name] = _find(name)
        return found


def __dir__() -> list[str]:
    return list(__all__)
