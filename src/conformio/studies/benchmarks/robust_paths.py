"""Robust routes: against the cutting plane with a mixed-integer master, and against nominal decisions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conformio.checks import FloatArray
from conformio.networks import Network
from conformio.prescription import solve_robust
from conformio.problems import ShortestPath
from conformio.sets import SphericalCap
from conformio.studies.benchmarks.drivers import ANGLE, drivers_on, grid_drivers, scattered_costs
from conformio.studies.benchmarks.gurobi_cuts import GurobiCuts
from conformio.studies.benchmarks.measuring import Side, race
from conformio.studies.benchmarks.results import Check, Outcome, Target, ratio
from conformio.studies.benchmarks.settings import Comparison, Settings

__all__ = ["COMPARISONS"]

_CUTS = "cutting plane with HiGHS MIP master, models re-used"


def _cutting_plane(settings: Settings) -> Outcome:
    return _against_cuts(
        settings,
        _CUTS,
        lambda problem, cap, trips: solve_robust(problem, cap, trips, method="cutting-plane").values,
        settings.pick(20, 2),
        Target("at least", 10_000.0),
    )


def _gurobi(settings: Settings) -> Outcome:
    name = "cutting plane with Gurobi master, models re-used"
    return _against_cuts(settings, name, GurobiCuts.loaded().values, settings.pick(20, 2), None)


def _against_cuts(
    settings: Settings,
    name: str,
    slow: Callable[[ShortestPath, SphericalCap, FloatArray], FloatArray],
    n_slow: int,
    target: Target | None,
) -> Outcome:
    drivers = grid_drivers(settings.pick(600, 40))
    problem, trips = drivers.problem, drivers.trips
    cap = SphericalCap(drivers.theta, ANGLE, problem.domain)
    few = trips[:n_slow]
    own = "robust routes"
    timed = race(
        {
            own: Side(lambda: solve_robust(problem, cap, trips), len(trips)),
            name: Side(lambda: slow(problem, cap, few), n_slow, settings.pick(3, 1)),
        },
        settings.pick(21, 2),
    )
    found = solve_robust(problem, cap, trips)
    gap = np.abs(found.values[:n_slow] - slow(problem, cap, few)).max()
    checks = [
        Check("worst-case values", float(gap), 1e-6),
        Check("own certificates (gaps)", float(found.gap.max()), 1e-6),
    ]
    line = ratio("robust decision, paper grid, 4 degrees", timed[name], timed[own], target)
    return Outcome([line], list(timed.values()), checks, facts={"trips": len(trips), "trips of the baseline": n_slow})


def _beside_nominal(
    settings: Settings, place: str, network: Network, theta: FloatArray, trips: FloatArray, most: float
) -> Outcome:
    problem = ShortestPath(network)
    cap = SphericalCap(theta, ANGLE, problem.domain)
    own, other = f"robust decisions, {place}", f"nominal decisions, {place}"
    timed = race(
        {
            own: Side(lambda: solve_robust(problem, cap, trips), len(trips)),
            other: Side(lambda: problem.solve(theta, trips), len(trips)),
        },
        settings.pick(5 if network.n_edges > 1000 else 21, 2),
    )
    found = solve_robust(problem, cap, trips)
    checks = [Check("own certificates (gaps), relative", float((found.gap / found.values).max()), 1e-6)]
    line = ratio(
        f"robust decision, {place}", timed[own], timed[other], Target("at most", most), "nominal decision, same batch"
    )
    return Outcome([line], list(timed.values()), checks, facts={"trips": len(trips), "degrees": 4.0})


def _on_the_grid(settings: Settings) -> Outcome:
    drivers = grid_drivers(settings.pick(600, 40))
    return _beside_nominal(settings, "paper grid", drivers.problem.network, drivers.theta, drivers.trips, 3.0)


def _on_the_region(settings: Settings) -> Outcome:
    network = settings.network("ChicagoRegional")
    drivers = drivers_on(network, network.attributes["free_flow_time"], settings.pick(200, 3))
    return _beside_nominal(settings, "ChicagoRegional", network, drivers.theta, drivers.trips, 3.5)


def _on_a_large_grid(settings: Settings) -> Outcome:
    side = settings.pick(300, 20)
    network = Network.grid(side, side)
    rng = np.random.default_rng(0)
    trips = rng.choice(network.n_nodes, (settings.pick(40, 10), 2), replace=False).astype(np.float64)
    return _beside_nominal(settings, f"{side}x{side} grid", network, scattered_costs(network), trips, 3.5)


COMPARISONS = (
    Comparison("robust-paths", "Robust routes on the paper's grid", _cutting_plane, 0.3),
    Comparison("robust-paths-gurobi", "Robust routes on the paper's grid, Gurobi beside them", _gurobi, 0.1),
    Comparison("robust-nominal-grid", "Robust beside nominal routes on the paper's grid", _on_the_grid, 0.1),
    Comparison("robust-nominal-region", "Robust beside nominal routes on ChicagoRegional", _on_the_region, 0.3),
    Comparison("robust-nominal-large", "Robust beside nominal routes on a 300x300 grid", _on_a_large_grid, 0.3),
)
