"""PyEPO's perturbed Fenchel-Young training on its own grid, beside ours: same routes, steps, samples, optimiser.

PyEPO knows one trip, from the first corner of a grid to the last, and edges that lead east or south. Both libraries
learn one cost vector for all rows from routes that drivers chose under costs of their own; both run Adam at the same
rate over the same batches with one standard normal perturbation a row and step. Run with PyEPO, its OR-Tools backend
and torch installed:

    python benchmarks/pyepo_grid.py
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from conformio.estimators import PerturbedFenchelYoung
from conformio.networks import Network
from conformio.problems import ShortestPath

SIDE, N_ROWS, BATCH, EPOCHS, RATE, SIGMA = 6, 640, 64, 10, 0.1, 1.0


def one_way_grid(side: int) -> tuple[Network, list[tuple[int, int]]]:
    """Streets east and south, in PyEPO's order of arcs."""
    arcs = []
    for i in range(side):
        arcs += [(i * side + j, i * side + j + 1) for j in range(side - 1)]
        if i < side - 1:
            arcs += [(i * side + j, (i + 1) * side + j) for j in range(side)]
    tails, heads = np.array(arcs).T
    return Network(tails, heads), arcs


def train_pyepo(routes: np.ndarray, threads: int = 1) -> tuple[np.ndarray, int]:
    """The last costs and the number of steps, written as in PyEPO's own training examples."""
    import pyepo
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    model = pyepo.model.shortestPathModel((SIDE, SIDE), backend="ortools")
    loss_of = pyepo.func.perturbedFenchelYoung(model, n_samples=1, sigma=SIGMA, processes=1)
    costs = torch.nn.Parameter(torch.ones(model.num_cost))
    adam = torch.optim.Adam([costs], lr=RATE)
    table = torch.utils.data.TensorDataset(torch.as_tensor(routes, dtype=torch.float32))
    loader = torch.utils.data.DataLoader(table, batch_size=BATCH, shuffle=True)
    steps = 0
    for _ in range(EPOCHS):
        for (chosen,) in loader:
            loss = loss_of(costs.expand(len(chosen), -1), chosen)
            adam.zero_grad()
            loss.backward()
            adam.step()
            with torch.no_grad():
                costs.clamp_(min=0.0)
            steps += 1
    return costs.detach().numpy(), steps


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
    network, _ = one_way_grid(SIDE)
    problem = ShortestPath(network)
    rng = np.random.default_rng(0)
    star = rng.uniform(1.0, 10.0, problem.n_params)
    chosen = star * rng.uniform(0.5, 2.0, (N_ROWS, problem.n_params))
    trips = np.tile([0.0, SIDE * SIDE - 1.0], (N_ROWS, 1))
    routes = problem.solve(chosen, trips)
    estimator = PerturbedFenchelYoung(sigma=SIGMA, epochs=EPOCHS, batch_size=BATCH, learning_rate=RATE, random_state=0)
    ours, theirs = estimator.fit(problem, trips, routes), train_pyepo(routes.toarray())

    def excess(theta: np.ndarray) -> float:
        return float(problem.objective(star, problem.solve(np.maximum(theta, 0.0), trips[:1]))[0])

    own = seconds(lambda: estimator.fit(problem, trips, routes), 5) / ours.n_iter_
    other = seconds(lambda: train_pyepo(routes.toarray()), 3) / theirs[1]
    sys.stdout.write(f"steps {ours.n_iter_} and {theirs[1]}\n")
    sys.stdout.write(f"one step of {BATCH} rows: {1e6 * own:.0f} us, PyEPO {1e6 * other:.0f} us: {other / own:.0f}x\n")
    sys.stdout.write(f"true cost of the learned route: {excess(ours.theta_):.3f}, PyEPO {excess(theirs[0]):.3f}\n")


if __name__ == "__main__":
    main()
