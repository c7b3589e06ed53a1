"""Ratios between the fast routes and plain alternatives on the paper's road grid, in one process.

Run with `make bench`. Every pair works on the same simulated decisions, after one unmeasured run of each.
"""

import sys
import time
from collections.abc import Callable

import numpy as np

import conformio as cio
from conformio.studies import road_grid_example

REPEATS = 5


def seconds(work: Callable[[], object]) -> float:
    """Median time of one run, after one that does not count."""
    work()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def report(name: str, first: float, second: float) -> None:
    """One line: microseconds a row for both, and their ratio."""
    sys.stdout.write(f"{name:44s} {1e6 * first:10.1f} us {1e6 * second:12.1f} us {second / first:10.1f}\n")


def main() -> None:
    """Measure and report."""
    drivers = road_grid_example(200, random_state=0)
    problem, trips, routes = drivers.problem, drivers.contexts, drivers.decisions
    model = cio.ConformalIO(problem, random_state=0).fit(trips, routes)
    theta, cap = model.theta_, model.uncertainty_set()
    n, few = len(trips), slice(0, 20)
    sys.stdout.write(f"{'one row of':44s} {'first':>13s} {'second':>15s} {'ratio':>10s}\n")

    def angles(rows: slice, method: str) -> float:
        return seconds(lambda: cio.conformity_angles(problem, theta, trips[rows], routes[rows], method=method))

    def robust(rows: slice, method: str) -> float:
        return seconds(lambda: cio.solve_robust(problem, cap, trips[rows], method=method))

    report("angles: auto, reference", angles(slice(n), "auto") / n, angles(few, "reference") / 20)
    report("robust routes: auto, reference", robust(slice(n), "auto") / n, robust(few, "reference") / 20)
    report(
        "routes: nominal, robust",
        seconds(lambda: problem.solve(theta, trips)) / n,
        robust(slice(n), "auto") / n,
    )


if __name__ == "__main__":
    main()
