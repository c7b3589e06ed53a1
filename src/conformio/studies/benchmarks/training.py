"""Training on the sub-optimality loss: against a multi-cut program, and how it grows with the data."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from conformio.estimators import SuboptimalityLoss
from conformio.studies.benchmarks.measuring import Side, race
from conformio.studies.benchmarks.multicut import flows_one_by_one, minimize_multicut
from conformio.studies.benchmarks.results import Check, Curve, Line, Outcome, Target, Timing, fitted_exponent, ratio
from conformio.studies.benchmarks.settings import Comparison, Settings
from conformio.studies.paper_data import SimulatedDecisions, road_grid_example

__all__ = ["COMPARISONS"]

_MULTICUT = "multi-cut LP with HiGHS, warm-started"
_SECONDS_AT_MOST = 2.0


def _multicut(settings: Settings) -> Outcome:
    lines: list[Line] = []
    timings: list[Timing] = []
    checks: list[Check] = []
    for n_trips in settings.pick((600, 800), (60,)):
        data = road_grid_example(n_trips, random_state=0)
        problem, job = data.problem, (data.problem, data.contexts, data.decisions)
        literal = flows_one_by_one(problem)  # type: ignore[arg-type]
        own, compiled, printed = (
            f"training, {n_trips} trips",
            f"{_MULTICUT}, compiled searches as forward solver ({n_trips})",
            f"{_MULTICUT}, flow programs in HiGHS as forward solver ({n_trips})",
        )
        timed = race(
            {
                own: Side(partial(SuboptimalityLoss().fit, *job)),
                compiled: Side(partial(minimize_multicut, *job), 1, settings.pick(5, 1)),
                printed: Side(partial(minimize_multicut, *job, forward=literal), 1, 1, warm=False),
            },
            settings.pick(9, 2),
        )
        target = Target("at least", 10.0)
        work = f"training, {n_trips} trips, same optimum"
        lines.append(ratio(work, timed[printed], timed[own], target, f"{_MULTICUT}, forward programs in HiGHS too"))
        lines.append(ratio(work, timed[compiled], timed[own], target, f"{_MULTICUT}, our searches as forward solver"))
        timings += timed.values()
        fitted, plain = SuboptimalityLoss().fit(*job), minimize_multicut(*job)
        checks.append(Check(f"training losses ({n_trips})", abs(fitted.loss_ - plain.loss), 1e-6))
        checks.append(Check(f"own certificate (gap, {n_trips})", fitted.gap_, 1e-6))
    return Outcome(lines, timings, checks)


def _growth(settings: Settings) -> Outcome:
    sizes = settings.pick((1_000, 10_000, 100_000, 1_000_000), (100, 300))
    base = road_grid_example(sizes[0], random_state=0)
    timings, medians = [], []
    for n_trips in sizes:
        data = _many_trips(base, n_trips)
        name = f"training, {n_trips} trips"
        work = Side(partial(SuboptimalityLoss().fit, base.problem, *data))
        timings.append(race({name: work}, settings.pick(5, 1))[name])
        medians.append(timings[-1].median)
    big, small = timings[-1], timings[1 if len(timings) > 2 else 0]
    line = ratio(
        f"training, {sizes[-1]} trips over the grid's pairs",
        big,
        small,
        Target("at most", _SECONDS_AT_MOST),
        small.label,
    )
    curve = Curve(
        "training (sub-optimality loss)", "trips", sizes, tuple(medians), fitted_exponent(sizes, medians),
        peak_mib=tuple(one.peak_mib for one in timings),
    )  # fmt: skip
    peak = max((one.peak_mib or 0.0) for one in timings) / 1024
    memory = Line("peak memory of training, data included", "-", peak, peak, peak, "GiB")
    return Outcome([line, memory], timings, curves=[curve])


def _many_trips(base: SimulatedDecisions, n_trips: int) -> tuple[Any, Any]:
    """Trips and routes of as many drivers under one truth, simulated in blocks so that memory stays small."""
    problem, blocks = base.problem, []
    for start in range(0, n_trips, 50_000):
        size = min(50_000, n_trips - start)
        found = road_grid_example(size, random_state=start + 1, theta_true=base.theta_true)
        blocks.append((found.contexts, sparse.csr_array(found.decisions)))
    assert problem.n_params == blocks[0][1].shape[1]
    return np.vstack([one[0] for one in blocks]), sparse.vstack([one[1] for one in blocks], format="csr")


COMPARISONS = (
    Comparison("training", "Training on the sub-optimality loss", _multicut, 0.8),
    Comparison("training-growth", "Training on many trips", _growth, 1.2),
)
