"""How angles, robust and nominal decisions grow with the network, and with the number of items."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from conformio.calibration import conformity_angles
from conformio.networks import Network
from conformio.prescription import solve_robust
from conformio.problems import Knapsack
from conformio.sets import SphericalCap
from conformio.studies.benchmarks.drivers import ANGLE, drivers_on, scattered_costs
from conformio.studies.benchmarks.measuring import Side, race
from conformio.studies.benchmarks.results import Check, Curve, Line, Outcome, Timing, fitted_exponent
from conformio.studies.benchmarks.settings import Comparison, Settings
from conformio.studies.paper_data import knapsack_example

__all__ = ["COMPARISONS"]

_FIT_FROM = 1  # the smallest size is overhead of the call


def _networks(settings: Settings) -> Outcome:
    sides = settings.pick((6, 15, 45, 100, 300), (4, 8))
    counts = settings.pick((600, 200, 60, 30, 12), (10, 5))
    found: dict[str, list[Timing]] = {"nominal routes": [], "robust routes, 4 degrees": [], "angles of routes": []}
    gap = 0.0
    for side, n_trips in zip(sides, counts, strict=True):
        network = Network.grid(side, side)
        center = scattered_costs(network)
        drivers = drivers_on(network, center, n_trips, spread=0.2)
        problem, cap = drivers.problem, SphericalCap(center, ANGLE, drivers.problem.domain)
        works = (
            partial(problem.solve, center, drivers.trips),
            partial(solve_robust, problem, cap, drivers.trips),
            partial(conformity_angles, problem, center, drivers.trips, drivers.routes),
        )
        timed = race({f"{k}": Side(work, n_trips) for k, work in enumerate(works)}, settings.pick(5, 1))
        for name, one in zip(found, timed.values(), strict=True):
            found[name].append(Timing(f"{name}, {side**2} nodes", one.seconds, one.items, one.peak_mib))
        robust = solve_robust(problem, cap, drivers.trips)
        gap = max(gap, float((robust.gap / robust.values).max()))
    return _curves(found, "nodes", [side**2 for side in sides], "a route", gap)


def _items(settings: Settings) -> Outcome:
    sizes = settings.pick((10, 30, 100, 300, 1000), (5, 12))
    found: dict[str, list[Timing]] = {
        "nominal baskets, real weights": [],
        "nominal baskets, whole weights": [],
        "robust baskets, real weights, 4 degrees": [],
        "robust baskets, whole weights, 4 degrees": [],
    }
    gap = 0.0
    for n_items in sizes:
        data = knapsack_example(settings.pick(50, 5), n_items, random_state=0)
        assert isinstance(data.problem, Knapsack)
        whole = Knapsack(np.rint(10.0 * np.asarray(data.problem.weights)))
        cap, theta, n = SphericalCap(data.theta_true, ANGLE), data.theta_true, len(data)
        works = (
            partial(data.problem.solve, theta, data.contexts),
            partial(whole.solve, theta, 10.0 * data.contexts),
            partial(solve_robust, data.problem, cap, data.contexts),
            partial(solve_robust, whole, cap, 10.0 * data.contexts),
        )
        timed = race({f"{k}": Side(work, n) for k, work in enumerate(works)}, settings.pick(5, 1))
        for name, one in zip(found, timed.values(), strict=True):
            found[name].append(Timing(f"{name}, {n_items} items", one.seconds, one.items, one.peak_mib))
        for problem, contexts in ((data.problem, data.contexts), (whole, 10.0 * data.contexts)):
            robust = solve_robust(problem, cap, contexts)
            gap = max(gap, float((robust.gap / np.abs(robust.values)).max()))
    return _curves(found, "items", sizes, "a basket", gap)


def _basket_angles(settings: Settings) -> Outcome:
    sizes = settings.pick((10, 30, 100, 300), (5, 8))
    timings = []
    for n_items in sizes:
        data = knapsack_example(20, n_items, random_state=0)
        center = data.theta_true * np.random.default_rng(1).uniform(0.9, 1.1, n_items)
        decided = data.problem.solve(data.theta_true, data.contexts)
        work = partial(conformity_angles, data.problem, center, data.contexts, decided)
        one = race({"": Side(work, len(data))}, settings.pick(3, 1))[""]
        timings.append(Timing(f"angles of baskets, {n_items} items", one.seconds, one.items, one.peak_mib))
    return _curves({"angles of baskets": timings}, "items", sizes, "a basket", 0.0)


def _curves(found: dict[str, list[Timing]], size: str, sizes: Sequence[int], row: str, gap: float) -> Outcome:
    curves, lines = [], []
    first = min(_FIT_FROM, len(sizes) - 2)
    for name, timings in found.items():
        medians = [one.median for one in timings]
        exponent = fitted_exponent(sizes[first:], medians[first:])
        peaks = tuple(one.peak_mib for one in timings)
        curves.append(Curve(f"{name}, {row}", size, tuple(sizes), tuple(medians), exponent, first, peaks))
        last = timings[-1]
        lines.append(Line(f"{name}, {sizes[-1]:,} {size}, {row}", "-", last.median, last.low, last.high, "s"))
    checks = [Check("own certificates (gaps), relative", gap, 1e-6)]
    return Outcome(lines, [one for timings in found.values() for one in timings], checks, curves)


COMPARISONS = (
    Comparison("network-growth", "Routes on grids of 36 to 90,000 nodes", _networks, 0.6),
    Comparison("item-growth", "Baskets from 10 to 1,000 items", _items, 0.2),
    Comparison("basket-angle-growth", "Angles of baskets from 10 to 300 items", _basket_angles, 0.2),
)
