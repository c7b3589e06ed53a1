"""Conformal inverse optimization: learn from decisions, prescribe new ones, with a certificate."""

from importlib.metadata import version as _version

from conformio import bounds, metrics
from conformio.calibration import calibrated_angle, conformity_angles, nearest_rationalizable
from conformio.errors import (
    CalibrationWarning,
    ConformioError,
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
)
from conformio.sets import SphericalCap

__version__ = _version("conformio")

__all__ = [
    "CalibrationWarning",
    "ConformalIO",
    "ConformioError",
    "ConvexProgram",
    "DistributionallyRobustLoss",
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
    "RobustSolution",
    "ShortestPath",
    "SolverError",
    "SphericalCap",
    "SuboptimalityLoss",
    "UnboundedProblemError",
    "UncertifiedWarning",
    "__version__",
    "bounds",
    "calibrated_angle",
    "conformity_angles",
    "load",
    "metrics",
    "nearest_rationalizable",
    "solve_robust",
]
