"""Conformity angles of paths: against the paper's strong-duality programs, and against nominal decisions."""

from __future__ import annotations

from functools import partial
from time import perf_counter

import numpy as np

from conformio.calibration import conformity_angles
from conformio.checks import FloatArray, IntArray
from conformio.studies.benchmarks.drivers import Drivers, drivers_on, grid_drivers
from conformio.studies.benchmarks.measuring import Side, race
from conformio.studies.benchmarks.results import Check, Line, Outcome, Target, Timing, ratio
from conformio.studies.benchmarks.settings import Comparison, Settings, SkippedError
from conformio.studies.benchmarks.strong_duality import StrongDuality

__all__ = ["COMPARISONS"]

_SOCP = "strong-duality SOCP in Clarabel, per trip"


def _grid_angles(settings: Settings) -> Outcome:
    drivers = grid_drivers(settings.pick(600, 40))
    few = slice(0, settings.pick(120, 10))
    lines: list[Line] = []
    timings: list[Timing] = []
    checks: list[Check] = []
    for name, theta in drivers.estimates.items():
        every, skipping = (StrongDuality(drivers.problem.network, theta, skip) for skip in (False, True))
        jobs = list(zip(drivers.trips[few].astype(int).tolist(), drivers.walks()[few], strict=True))

        slow = partial(_angles_by_programs, every, jobs)
        fast = partial(conformity_angles, drivers.problem, theta, drivers.trips, drivers.routes)
        own, other = f"angles around the {name} estimate", f"{_SOCP} ({name})"
        searched = f"{_SOCP}, programs only for trips that are not shortest ({name})"
        timed = race(
            {
                own: Side(fast, len(drivers.trips)),
                other: Side(slow, len(jobs), settings.pick(3, 1)),
                searched: Side(partial(_angles_by_programs, skipping, jobs), len(jobs), settings.pick(3, 1)),
            },
            settings.pick(9, 2),
        )
        work = f"angles, paper grid (120 edges), {len(drivers.trips)} trips, {name} estimate"
        lines.append(ratio(work, timed[other], timed[own], Target("at least", 150.0, 300.0), _SOCP))
        only = f"{_SOCP}, only for trips that are not shortest"
        lines.append(ratio(work, timed[searched], timed[own], None, only))
        timings += timed.values()
        checks.append(Check(f"angles, radians ({name})", float(np.abs(slow() - fast()[few]).max()), 1e-7))
    return Outcome(lines, timings, checks, facts={"trips": len(drivers.trips), "trips of the baseline": few.stop})


def _angles_by_programs(programs: StrongDuality, jobs: list[tuple[list[int], IntArray]]) -> FloatArray:
    return np.array([programs.angle(origin, destination, walk) for (origin, destination), walk in jobs])


def _angles_and_decisions(settings: Settings) -> Outcome:
    drivers = grid_drivers(settings.pick(600, 40))
    lines: list[Line] = []
    timings: list[Timing] = []
    for name, theta in drivers.estimates.items():
        own, other = f"angles ({name} estimate)", f"nominal decisions ({name} estimate)"
        timed = race(
            {
                own: Side(partial(conformity_angles, drivers.problem, theta, drivers.trips, drivers.routes)),
                other: Side(partial(drivers.problem.solve, theta, drivers.trips)),
            },
            settings.pick(21, 2),
        )
        work = f"angle, paper grid, {name} estimate"
        lines.append(ratio(work, timed[own], timed[other], Target("at most", 20.0), "nominal decision, same batch"))
        timings += timed.values()
    return Outcome(lines, timings, facts={"trips": len(drivers.trips)})


def _regional_angles(settings: Settings) -> Outcome:
    network = settings.network("ChicagoRegional")
    drivers = _trips_of_length(
        drivers_on(network, network.attributes["free_flow_time"], settings.pick(60, 60)),
        *settings.pick((30, 130), (2, 130)),
    )
    n_trips = min(settings.pick(12, 2), len(drivers.trips))
    programs = StrongDuality(network, drivers.theta)
    walks = drivers.walks()
    conformity_angles(drivers.problem, drivers.theta, drivers.trips[:1], drivers.routes[:1])
    own, other, differences = [], [], []
    for k in range(n_trips):
        fast = race({"": Side(partial(_single, drivers, k))}, settings.pick(5, 1))[""]
        start = perf_counter()
        slow = programs.angle(int(drivers.trips[k, 0]), int(drivers.trips[k, 1]), walks[k])
        other.append(perf_counter() - start)
        own.append(fast.median)
        differences.append(abs(_single(drivers, k) - slow) / slow)
    each = np.array(other) / np.array(own)
    target = Target("at least", 50.0, 200.0)
    work = "angle, single trips of 30-130 links on ChicagoRegional"
    return Outcome(
        [Line(work, _SOCP, float(np.median(each)), float(each.min()), float(each.max()), "x", target)],
        [Timing("angle of one trip, a call each", tuple(own)), Timing(_SOCP, tuple(other))],
        [Check("angles, relative", max(differences), 1e-6)],
        facts={"trips": n_trips, "links, median": float(np.median([len(walk) for walk in walks[:n_trips]]))},
    )  # fmt: skip


def _single(drivers: Drivers, k: int) -> float:
    return float(conformity_angles(drivers.problem, drivers.theta, drivers.trips[[k]], drivers.routes[[k]])[0])


def _trips_of_length(drivers: Drivers, low: int, high: int) -> Drivers:
    """Trips of so many links that the centre does not explain."""
    links = np.diff(drivers.routes.indptr)
    angles = conformity_angles(drivers.problem, drivers.theta, drivers.trips, drivers.routes)
    kept = np.flatnonzero((links >= low) & (links <= high) & (angles > 0.0))
    if not len(kept):
        raise SkippedError(f"no simulated trip of {low} to {high} links leaves the shortest path")
    return Drivers(drivers.problem, drivers.trips[kept], drivers.routes[kept], drivers.estimates)


COMPARISONS = (
    Comparison("path-angles", "Angles of paths on the paper's grid", _grid_angles, 0.2),
    Comparison("angle-decision", "Angles beside nominal decisions on the paper's grid", _angles_and_decisions, 0.1),
    Comparison("regional-angles", "Angles of single trips on ChicagoRegional", _regional_angles, 0.8),
)
