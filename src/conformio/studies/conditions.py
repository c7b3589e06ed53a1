"""Under which conditions a study simulates: what the paper states, and what it leaves open (E7, E11).

One seed gives one set of decision makers for each problem, law and budget range; estimator and sign domain change
what is learned from them, not the people.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from conformio.checks import Domain, FloatArray, check_choice
from conformio.estimators import Estimator, PerturbedFenchelYoung, SuboptimalityLoss
from conformio.studies.cell_store import Row
from conformio.studies.paper_data import SimulatedDecisions, knapsack_example, road_grid_example

__all__ = [
    "BASE_LAW",
    "BUDGETS",
    "ESTIMATORS",
    "LABELS",
    "LAWS",
    "Condition",
    "base_conditions",
    "true_parameters",
]

LAWS = {
    "uniform [0, 1]": (0.0, 1.0),
    "uniform [1, 5]": (1.0, 5.0),
    "uniform [1, 10]": (1.0, 10.0),
    "uniform [0, 10]": (0.0, 10.0),
    "uniform [1, 20]": (1.0, 20.0),
    "log-normal": None,
}
BASE_LAW = "uniform [1, 10]"
_LOG_MEAN, _LOG_SD = 1.5, 0.5  # median 4.5, as wide as the uniform laws around it

BUDGETS = {"1/5 to 4/5": (0.2, 0.8), "1/5 to 5": (0.2, 5.0)}
ESTIMATORS = ("sub-optimality", "Fenchel-Young")
_PROBLEMS = ("shortest path", "knapsack")
LABELS = ("problem", "estimator", "domain", "law", "budgets")


@dataclass(frozen=True)
class Condition:
    """One choice of everything that the simulation needs.

    Attributes
    ----------
    problem : {"shortest path", "knapsack"}
    estimator : {"sub-optimality", "Fenchel-Young"}
    domain : {"free", "nonnegative"}
    law : str
        Key of `LAWS`: how the true parameters are drawn.
    budgets : str
        Key of `BUDGETS`, or empty for shortest paths.
    """

    problem: str
    estimator: str
    domain: Domain
    law: str = BASE_LAW
    budgets: str = ""

    def __post_init__(self) -> None:
        where = "Condition"
        check_choice(self.problem, _PROBLEMS, "problem", where)
        check_choice(self.estimator, ESTIMATORS, "estimator", where)
        check_choice(self.law, tuple(LAWS), "law", where)
        if self.problem == "knapsack" and not self.budgets:
            object.__setattr__(self, "budgets", "1/5 to 4/5")
        check_choice(self.budgets, ("",) if self.problem == "shortest path" else tuple(BUDGETS), "budgets", where)

    def as_settings(self) -> dict[str, Any]:
        """The fields, as settings of a cell."""
        return asdict(self)

    def labels(self) -> Row:
        """The fields as leading columns of rows; None for what the problem does not have."""
        return {name: value or None for name, value in self.as_settings().items()}

    def people(self, n: int, seed: int) -> SimulatedDecisions:
        """Decision makers of one seed."""
        rng = np.random.default_rng([seed, 2])
        if self.problem == "shortest path":
            truth = true_parameters(self.law, 120, seed)
            return road_grid_example(n, random_state=rng, theta_true=truth, domain=self.domain)
        truth = true_parameters(self.law, 10, seed)
        share = BUDGETS[self.budgets]
        return knapsack_example(n, random_state=rng, budget_share=share, theta_true=truth, domain=self.domain)

    def point_estimator(self, seed: int) -> Estimator:
        """The paper's two, with their settings in its appendix."""
        if self.estimator == "sub-optimality":
            return SuboptimalityLoss()
        return PerturbedFenchelYoung(random_state=seed)


def true_parameters(law: str, size: int, seed: int) -> FloatArray:
    """Draw the parameters by which decisions are really valued."""
    rng = np.random.default_rng([seed, 1])
    bounds = LAWS[law]
    return rng.uniform(*bounds, size) if bounds else rng.lognormal(_LOG_MEAN, _LOG_SD, size)


def base_conditions() -> list[Condition]:
    """Both problems and both estimators; costs nonnegative, values free, the library's defaults (and free costs)."""
    chosen = [("shortest path", "nonnegative"), ("shortest path", "free"), ("knapsack", "free")]
    return [Condition(problem, estimator, domain) for problem, domain in chosen for estimator in ESTIMATORS]  # type: ignore[arg-type]
