"""InvOpt's training on knapsack choices of ten items, beside ours, on the sub-optimality loss.

InvOpt's programs for whole decisions (`discrete`, `discrete_consistent`, `mixed_integer_linear`) need a Gurobi licence;
what runs without one is its first-order method `FOM`, to which users hand a solver of the forward problem. Here that is
an enumeration of all selections in NumPy, faster than any general solver at this size. Both start at equal values.
The loss grows with the length of the parameters, and the two methods bound that in different ways, so losses are
compared at an L1 norm of ten. Run with InvOpt installed:

    python benchmarks/invopt_knapsack.py
"""

from __future__ import annotations

import itertools
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from conformio.estimators import SuboptimalityLoss
from conformio.studies import knapsack_example

N_ITEMS, N_ROWS = 10, 600
EPOCHS = (5, 50, 500)


def train_invopt(weights: np.ndarray, budgets: np.ndarray, chosen: np.ndarray, epochs: int) -> np.ndarray:
    """InvOpt's stochastic subgradients over reshuffled data, averaged, with falling steps."""
    import invopt

    every = np.array(list(itertools.product((0.0, 1.0), repeat=len(weights))))
    load = every @ weights

    def best(theta: np.ndarray, budget: float) -> np.ndarray:
        return every[np.argmin(np.where(load <= budget * (1 + 1e-9), every @ theta, np.inf))]

    np.random.seed(0)  # noqa: NPY002  InvOpt draws from the global generator
    return invopt.FOM(
        list(zip(budgets, chosen, strict=True)),
        lambda budget, x: x,
        -np.ones(len(weights)),  # InvOpt minimises
        best,
        lambda t: 0.1 / np.sqrt(1.0 + t),
        epochs,
        batch_type="reshuffled",
        averaged=1,
    )


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """Shortest processor time of one run, after one that does not count."""
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Measure both."""
    warnings.simplefilter("ignore")
    data = knapsack_example(N_ROWS, N_ITEMS, random_state=0)
    problem, budgets, chosen = data.problem, data.contexts[:, 0], data.decisions

    def loss(values: np.ndarray) -> float:
        scaled = values * N_ITEMS / np.abs(values).sum()
        best = problem.objective(scaled, problem.solve(scaled, data.contexts))
        return float((best - problem.objective(scaled, chosen)).mean())

    estimator = SuboptimalityLoss().fit(problem, data.contexts, chosen)
    own = seconds(lambda: estimator.fit(problem, data.contexts, chosen), 5)
    sys.stdout.write(f"equal values: loss {loss(np.ones(N_ITEMS)):.5f}\n")
    sys.stdout.write(f"ours: {1e3 * own:.1f} ms, loss {loss(estimator.theta_):.5f}, proven to {estimator.gap_:.1e}\n")
    for epochs in EPOCHS:
        values = -train_invopt(problem.weights, budgets, chosen, epochs)
        other = seconds(lambda epochs=epochs: train_invopt(problem.weights, budgets, chosen, epochs), 1)
        line = f"InvOpt, {epochs} epochs: {1e3 * other:.0f} ms, loss {loss(values):.5f}: {other / own:.0f}x\n"
        sys.stdout.write(line)


if __name__ == "__main__":
    main()
