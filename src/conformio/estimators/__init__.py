"""Point estimators: from observed decisions to one parameter vector (or one per context)."""

from conformio.estimators.base import Estimator
from conformio.estimators.distributionally_robust import DistributionallyRobustLoss
from conformio.estimators.fixed_parameters import FixedParameters
from conformio.estimators.perturbed_fenchel_young import PerturbedFenchelYoung
from conformio.estimators.suboptimality import SuboptimalityLoss

__all__ = [
    "DistributionallyRobustLoss",
    "Estimator",
    "FixedParameters",
    "PerturbedFenchelYoung",
    "SuboptimalityLoss",
]
