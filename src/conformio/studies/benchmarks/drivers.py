"""Simulated drivers that several comparisons share; cached, because building them is no part of any."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from conformio.checks import FloatArray, IntArray
from conformio.estimators import PerturbedFenchelYoung, SuboptimalityLoss
from conformio.networks import Network
from conformio.problems import ShortestPath
from conformio.studies.paper_data import road_grid_example

__all__ = ["ANGLE", "Drivers", "drivers_on", "grid_drivers", "scattered_costs"]

ANGLE = np.radians(4.0)
"""The angle of robust decisions in all comparisons: about what the paper's grid calibrates at level 0.9."""


@dataclass(frozen=True)
class Drivers:
    """Trips and routes on one network, and the two point estimates they could be measured against."""

    problem: ShortestPath
    trips: FloatArray
    routes: Any
    estimates: dict[str, FloatArray]

    @property
    def theta(self) -> FloatArray:
        """The first estimate."""
        return next(iter(self.estimates.values()))

    def walks(self) -> list[IntArray]:
        """Edges of each route in walking order."""
        paths = self.problem.network.paths_from_decisions(self.routes)
        return [np.asarray(path, dtype=np.int64) for path in paths]


@lru_cache(maxsize=4)
def grid_drivers(n_trips: int, n_train: int = 400, seed: int = 0) -> Drivers:
    """The paper's grid: `n_trips` trips, after `n_train` others from which costs were learnt."""
    data = road_grid_example(n_train + n_trips, random_state=seed)
    assert isinstance(data.problem, ShortestPath)
    known, new = slice(0, n_train), slice(n_train, None)
    estimates = {}
    for name, estimator in (
        ("perturbed Fenchel-Young", PerturbedFenchelYoung(random_state=seed)),
        ("sub-optimality loss", SuboptimalityLoss(random_state=seed)),
    ):
        fitted = estimator.fit(data.problem, data.contexts[known], data.decisions[known])
        estimates[name] = np.asarray(fitted.theta_)
    return Drivers(data.problem, data.contexts[new], data.decisions[new], estimates)


def drivers_on(network: Network, center: FloatArray, n_trips: int, seed: int = 0, spread: float = 0.4) -> Drivers:
    """Drivers between random places of any network, each with costs of their own around the centre."""
    rng = np.random.default_rng(seed)
    problem = ShortestPath(network)
    places = np.flatnonzero(network.zones) if network.zones.any() else np.arange(network.n_nodes)
    first = rng.integers(len(places), size=n_trips)
    second = (first + rng.integers(1, len(places), size=n_trips)) % len(places)
    trips = np.column_stack([places[first], places[second]]).astype(np.float64)
    block = max(1, 20_000_000 // network.n_edges)
    routes = []
    for start in range(0, n_trips, block):
        part = trips[start : start + block]
        costs = center * rng.uniform(1.0 - spread, 1.0 + spread, (len(part), network.n_edges))
        routes.append(problem.solve(costs, part))
    from scipy import sparse

    return Drivers(problem, trips, sparse.vstack(routes, format="csr"), {"travel times": center})


def scattered_costs(network: Network, seed: int = 0) -> FloatArray:
    """Costs uniform on [1, 10], as the true parameters of the paper's grid."""
    return np.random.default_rng(seed).uniform(1.0, 10.0, network.n_edges)
