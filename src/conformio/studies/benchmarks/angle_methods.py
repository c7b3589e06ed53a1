"""Algorithms for the angles of routes, side by side: what the decision note on them quotes.

The chosen one: Newton's method in node potentials on the part of the network that can matter. Beside it

- the paper's strong-duality programs in Clarabel (`strong_duality`),
- detours as columns, found by shortest paths, with active sets (`detours`; interpreted, so its searches are counted and
  priced at the speed of a compiled search as well),
- Newton in potentials over all edges from potentials 0, the first route and still the one for costs of any sign,
- L-BFGS in potentials over all usable edges, from the shortest-path potentials.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter

import numpy as np
from scipy.optimize import minimize

from conformio.calibration import conformity_angles
from conformio.calibration.potentials import project_over_all_edges
from conformio.checks import FloatArray, IntArray
from conformio.networks import Network
from conformio.networks.flow_program import usable_edges
from conformio.studies.benchmarks.detours import distance
from conformio.studies.benchmarks.drivers import Drivers, drivers_on, grid_drivers, scattered_costs
from conformio.studies.benchmarks.measuring import Side, race
from conformio.studies.benchmarks.results import Check, Line, Outcome, Timing, ratio
from conformio.studies.benchmarks.settings import Comparison, Settings
from conformio.studies.benchmarks.strong_duality import StrongDuality

__all__ = ["COMPARISONS", "angle_by_descent"]

_STEPS = 5000


def _compare(settings: Settings) -> Outcome:
    lines: list[Line] = []
    timings: list[Timing] = []
    checks: list[Check] = []
    facts: dict[str, float] = {}
    for place, drivers in _places(settings).items():
        own = partial(conformity_angles, drivers.problem, drivers.theta, drivers.trips, drivers.routes)
        expected = own()
        moved = np.flatnonzero(expected > 0.0)[: settings.pick(6, 3)]
        chosen = race({"": Side(partial(_one_by_one, drivers, moved), len(moved))}, settings.pick(5, 1))[""]
        timings.append(Timing(f"chosen, {place}", chosen.seconds, chosen.items, chosen.peak_mib))
        searches: list[int] = []
        for method, angle in _methods(drivers, searches).items():
            start = perf_counter()
            angles = np.array([angle(int(row)) for row in moved])
            timing = Timing(f"{method}, {place}", (perf_counter() - start,), len(moved))
            timings.append(timing)
            error = float((np.abs(angles - expected[moved]) / expected[moved]).max())
            lines.append(ratio(f"angle of a route, {place}: {method}", timing, chosen, None, "the chosen algorithm"))
            facts[f"largest relative error, {place}: {method}"] = error
            if method == "detours as columns":
                checks.append(Check(f"chosen less detours as columns, relative, {place}", error, 1e-6))
        nominal = partial(drivers.problem.solve, drivers.theta, drivers.trips[moved])
        search = race({"": Side(nominal, len(moved))}, settings.pick(5, 1))[""]
        facts[f"searches of detours as columns, mean, {place}"] = float(np.mean(searches))
        facts[f"their time with compiled searches over the chosen algorithm's, {place}"] = float(
            np.mean(searches) * search.median / chosen.median
        )
    return Outcome(lines, timings, checks, facts=facts)


def _places(settings: Settings) -> dict[str, Drivers]:
    side = settings.pick(60, 8)
    network = Network.grid(side, side)
    places = {
        "paper grid": grid_drivers(settings.pick(600, 40)),
        f"{side}x{side} grid": drivers_on(network, scattered_costs(network), 20, spread=0.2),
    }
    if settings.data is not None:
        region = settings.network("ChicagoRegional")
        places["ChicagoRegional"] = drivers_on(region, region.attributes["free_flow_time"], settings.pick(20, 10))
    return places


def _one_by_one(drivers: Drivers, rows: IntArray) -> None:
    for row in rows:
        conformity_angles(drivers.problem, drivers.theta, drivers.trips[[row]], drivers.routes[[row]])


def _methods(drivers: Drivers, searches: list[int]) -> dict[str, Callable[[int], float]]:
    network, center = drivers.problem.network, drivers.theta / np.linalg.norm(drivers.theta)
    programs, walks = StrongDuality(network, center), drivers.walks()
    ends = drivers.trips.astype(int)

    def duality(row: int) -> float:
        return programs.angle(int(ends[row, 0]), int(ends[row, 1]), walks[row])

    def columns(row: int) -> float:
        found, n_searches = distance(network, center, int(ends[row, 0]), int(ends[row, 1]), walks[row].tolist())
        searches.append(n_searches)
        return float(np.arcsin(min(found, 1.0)))

    def everywhere(row: int) -> float:
        cones = drivers.problem.cones(drivers.trips[[row]], drivers.routes[[row]])
        square, _, _ = project_over_all_edges(cones, 0, center)
        return float(np.arcsin(min(np.sqrt(square), 1.0)))

    def descent(row: int) -> float:
        return angle_by_descent(network, center, int(ends[row, 0]), int(ends[row, 1]), walks[row])

    return {
        "strong-duality SOCP": duality,
        "detours as columns": columns,
        "Newton over all edges": everywhere,
        "L-BFGS in potentials": descent,
    }


def angle_by_descent(network: Network, center: FloatArray, origin: int, destination: int, path: IntArray) -> float:
    """L-BFGS on the sum of squared hinges, in units of what the path loses; free of the rule that rises be positive."""
    usable = np.flatnonzero(usable_edges(network, origin, destination))
    programs = StrongDuality(network, center)
    reached = programs.reached(usable, origin)
    usable = usable[np.isfinite(reached[network.tails[usable]])]
    on = np.zeros(network.n_edges, dtype=np.bool_)
    on[path] = True
    turned = on[usable]
    tails, heads = network.tails[usable], network.heads[usable]
    slack = center[usable] - (reached[heads] - reached[tails])
    begin, end = np.where(turned, heads, tails), np.where(turned, tails, heads)
    slack = np.where(turned, -slack, slack)
    scale = float(center[path].sum() - reached[destination])
    slack = slack / scale

    def value(x: FloatArray) -> tuple[float, FloatArray]:
        hinge = np.maximum(x[end] - x[begin] - slack, 0.0)
        n = network.n_nodes
        pull: FloatArray = np.bincount(end, hinge, n).astype(np.float64) - np.bincount(begin, hinge, n)
        return 0.5 * float(hinge @ hinge), pull

    options = {"maxiter": _STEPS, "maxfun": 2 * _STEPS, "ftol": 1e-15, "gtol": 1e-12}
    found = minimize(value, np.zeros(network.n_nodes), jac=True, method="L-BFGS-B", options=options)
    return float(np.arcsin(min(scale * np.sqrt(2.0 * found.fun), 1.0)))


COMPARISONS = (Comparison("angle-methods", "Algorithms for the angles of routes", _compare, 1.5),)
