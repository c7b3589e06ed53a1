"""A million trips on ChicagoRegional: one exact calibrated angle, and all angles, on two cores.

The trips are simulated. A thousand groups of drivers each have costs of their own around the free-flow times; each
group makes a thousand trips from fifty zones to any others, so lengths mix as distances between zones do. Routes are
made group by group and kept as CSR rows of one-byte ones; memory never holds more than one group's costs beside them.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from conformio.calibration import calibrated_angle, conformity_angles, quantile_angle
from conformio.checks import FloatArray
from conformio.networks import Network
from conformio.problems import ShortestPath
from conformio.studies.benchmarks.measuring import Side, race
from conformio.studies.benchmarks.own_process import in_own_process
from conformio.studies.benchmarks.results import Check, Line, Outcome, Target, duration
from conformio.studies.benchmarks.settings import Comparison, Settings

__all__ = ["COMPARISONS", "all_angles", "one_angle", "simulated_trips"]

_LEVEL = 0.9
_ORIGINS, _SPREAD, _THREADS = 50, 0.3, 2


def simulated_trips(network: Network, center: FloatArray, n_trips: int, group: int = 1000) -> tuple[FloatArray, Any]:
    """Trips and routes of groups of drivers, each group with costs of its own."""
    rng = np.random.default_rng(0)
    problem = ShortestPath(network)
    places = np.flatnonzero(network.zones) if network.zones.any() else np.arange(network.n_nodes)
    trips, lengths, edges = [], [np.zeros(1, dtype=np.int64)], []
    for start in range(0, n_trips, group):
        size = min(group, n_trips - start)
        from_few = rng.choice(len(places), min(_ORIGINS, len(places)), replace=False)
        first = from_few[rng.integers(len(from_few), size=size)]
        second = (first + rng.integers(1, len(places), size=size)) % len(places)
        ends = np.column_stack([places[first], places[second]]).astype(np.float64)
        costs = center * rng.uniform(1.0 - _SPREAD, 1.0 + _SPREAD, len(center))
        found = sparse.csr_array(problem.solve(costs, ends))
        trips.append(ends)
        lengths.append(np.diff(found.indptr))
        edges.append(found.indices.astype(np.int32))
    indptr = np.cumsum(np.concatenate(lengths))
    indices = np.concatenate(edges)
    ones = np.ones(len(indices), dtype=np.int8)
    narrow = indptr.astype(np.int32) if indptr[-1] < 2**31 else indptr
    return np.vstack(trips), sparse.csr_array((ones, indices, narrow), shape=(n_trips, network.n_edges))


def _prepared(settings: Settings) -> tuple[ShortestPath, FloatArray, FloatArray, Any]:
    network = settings.network("ChicagoRegional")
    center = network.attributes["free_flow_time"]
    return ShortestPath(network), center, *simulated_trips(network, center, settings.pick(1_000_000, 300))


def one_angle(settings: Settings) -> Outcome:
    """The calibrated angle of one level, exact."""
    problem, center, trips, routes = _prepared(settings)
    found = []

    def work() -> None:
        found.append(quantile_angle(problem, center, trips, routes, _LEVEL, n_jobs=_THREADS))

    name = f"one exact calibrated angle from {len(trips):,} simulated trips on ChicagoRegional, {_THREADS} cores"
    timing = race({name: Side(work, warm=False)}, 1)[name]
    peak = (timing.peak_mib or 0.0) / 1024
    some = np.random.default_rng(1).choice(len(trips), settings.pick(2000, 50), replace=False)
    few = conformity_angles(problem, center, trips[some], routes[some], n_jobs=_THREADS)
    one = quantile_angle(problem, center, trips[some], routes[some], _LEVEL, n_jobs=_THREADS)
    lines = [
        duration(name, timing, Target("at most", 1200.0)),
        Line("its peak memory, data included", "-", peak, peak, peak, "GiB", Target("at most", 4.0)),
    ]
    links = np.diff(routes.indptr)
    facts = {
        "degrees": float(np.degrees(found[0].angle)), "rows worked out to the end": found[0].n_exact,
        "links, fewest": int(links.min()), "links, median": float(np.median(links)), "links, most": int(links.max()),
    }  # fmt: skip
    checks = [
        Check("one angle less all angles, a sample, radians", abs(one.angle - calibrated_angle(few, _LEVEL)), 0.0)
    ]
    return Outcome(lines, [timing], checks, facts=facts)


def all_angles(settings: Settings) -> Outcome:
    """Every angle, and that the one of a level is among them bit for bit."""
    problem, center, trips, routes = _prepared(settings)
    found = []

    def work() -> None:
        found.append(conformity_angles(problem, center, trips, routes, n_jobs=_THREADS))

    name = f"all {len(trips):,} angles on ChicagoRegional, {_THREADS} cores"
    timing = race({name: Side(work, warm=False)}, 1)[name]
    peak = (timing.peak_mib or 0.0) / 1024
    one = quantile_angle(problem, center, trips, routes, _LEVEL, n_jobs=_THREADS)
    checks = [Check("one angle less all angles, radians", abs(one.angle - calibrated_angle(found[0], _LEVEL)), 0.0)]
    lines = [duration(name, timing), Line("its peak memory, data included", "-", peak, peak, peak, "GiB")]
    facts = {
        "share of zeros": float((found[0] == 0.0).mean()),
        "median, degrees": float(np.degrees(np.median(found[0]))),
    }
    return Outcome(lines, [timing], checks, facts=facts)


COMPARISONS = (
    Comparison(
        "region-million", "One calibrated angle from a million trips", partial(in_own_process, one_angle), 12.0, False
    ),
    Comparison("region-million-all", "All angles of a million trips", partial(in_own_process, all_angles), 40.0, False),
)
