"""PyEPO's perturbed Fenchel-Young training on its own grid, beside ours: same routes, steps, samples, optimiser.

PyEPO knows one trip, from the first corner of a grid to the last, and edges that lead east or south. Both libraries
learn one cost vector for all rows from routes that drivers chose under costs of their own; both run Adam at the same
rate over batches of one size with one standard normal perturbation a row and step. PyEPO runs on its OR-Tools backend.
OR-Tools and highspy each bring a HiGHS and cannot share a process, so both trainings run in one of their own.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np

from conformio.estimators import PerturbedFenchelYoung
from conformio.networks import Network
from conformio.problems import ShortestPath
from conformio.studies.benchmarks.measuring import Side, race
from conformio.studies.benchmarks.own_process import in_own_process, need_installed
from conformio.studies.benchmarks.results import Check, Outcome, Target, ratio
from conformio.studies.benchmarks.settings import Comparison, Settings

__all__ = ["COMPARISONS", "one_way_grid", "train_both", "train_pyepo"]

SIDE, N_ROWS, BATCH, EPOCHS, RATE, SIGMA = 6, 640, 64, 10, 0.1, 1.0


def one_way_grid(side: int) -> Network:
    """Streets east and south, in PyEPO's order of arcs."""
    arcs = []
    for i in range(side):
        arcs += [(i * side + j, i * side + j + 1) for j in range(side - 1)]
        if i < side - 1:
            arcs += [(i * side + j, (i + 1) * side + j) for j in range(side)]
    tails, heads = np.array(arcs).T
    return Network(tails, heads)


def train_pyepo(routes: np.ndarray, epochs: int) -> tuple[np.ndarray, int]:
    """The last costs and the number of steps, written as in PyEPO's own training examples."""
    pyepo, torch = import_module("pyepo"), import_module("torch")

    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = pyepo.model.shortestPathModel((SIDE, SIDE), backend="ortools")
    loss_of = pyepo.func.perturbedFenchelYoung(model, n_samples=1, sigma=SIGMA, processes=1)
    costs = torch.nn.Parameter(torch.ones(model.num_cost))
    adam = torch.optim.Adam([costs], lr=RATE)
    table = torch.utils.data.TensorDataset(torch.as_tensor(routes, dtype=torch.float32))
    loader = torch.utils.data.DataLoader(table, batch_size=BATCH, shuffle=True)
    steps = 0
    for _ in range(epochs):
        for (chosen,) in loader:
            loss = loss_of(costs.expand(len(chosen), -1), chosen)
            adam.zero_grad()
            loss.backward()
            adam.step()
            with torch.no_grad():
                costs.clamp_(min=0.0)
            steps += 1
    return costs.detach().numpy(), steps


def _compare(settings: Settings) -> Outcome:
    for module, install in (("torch", "torch==2.13.0"), ("pyepo", "pyepo"), ("ortools", "ortools")):
        need_installed(module, f"pip install {install}")
    return in_own_process(train_both, settings)


def train_both(settings: Settings) -> Outcome:
    """Both trainings, their runs taking turns."""
    problem, routes, star = _drivers()
    trips, epochs = np.tile([0.0, SIDE * SIDE - 1.0], (N_ROWS, 1)), settings.pick(EPOCHS, 1)
    estimator = PerturbedFenchelYoung(sigma=SIGMA, epochs=epochs, batch_size=BATCH, learning_rate=RATE, random_state=0)
    dense = routes.toarray()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        costs, steps = train_pyepo(dense, epochs)
        timed = race(
            {
                "steps of ours": Side(lambda: estimator.fit(problem, trips, routes), steps),
                "steps of PyEPO": Side(lambda: train_pyepo(dense, epochs), steps, settings.pick(3, 1)),
            },
            settings.pick(9, 1),
        )
    fitted = estimator.fit(problem, trips, routes)

    def excess(theta: np.ndarray) -> float:
        found = float(problem.objective(star, problem.solve(np.maximum(theta, 0.0), trips[:1]))[0])
        return found / float(problem.objective(star, problem.solve(star, trips[:1]))[0]) - 1.0

    line = ratio(
        "PFYL, same steps and samples", timed["steps of PyEPO"], timed["steps of ours"], Target("at least", 50.0),
        "PyEPO, OR-Tools backend",
    )  # fmt: skip
    own, other = excess(np.asarray(fitted.theta_)), excess(costs)
    checks = [
        Check("steps", float(abs(fitted.n_iter_ - steps)), 0.0),
        Check("true cost of the learned route above PyEPO's, relative", max(own - other, 0.0), 0.05),
    ]
    facts = {"rows": N_ROWS, "rows a step": BATCH, "steps": steps, "excess cost": own, "excess cost of PyEPO": other}
    return Outcome([line], list(timed.values()), checks, facts=facts)


def _drivers() -> tuple[ShortestPath, Any, np.ndarray]:
    problem = ShortestPath(one_way_grid(SIDE))
    rng = np.random.default_rng(0)
    star = rng.uniform(1.0, 10.0, problem.n_params)
    chosen = star * rng.uniform(0.5, 2.0, (N_ROWS, problem.n_params))
    return problem, problem.solve(chosen, np.tile([0.0, SIDE * SIDE - 1.0], (N_ROWS, 1))), star


COMPARISONS = (Comparison("perturbed", "Perturbed Fenchel-Young training", _compare, 0.8),)
