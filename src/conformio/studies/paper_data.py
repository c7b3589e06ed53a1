"""Simulated decision makers as in the paper, section "Numerical Studies", paragraph "Data generation".

Decision maker k perceives `theta_hat_k = max(theta* p_k + eps_k, 0) + 0.1` entry by entry, with `p_k` uniform
on [1/2, 2] and `eps_k` standard normal, and decides optimally under that perception. Three things differ from
the printed text, or are missing in it: 120 edges are a grid of 6 x 6 nodes, not 5 x 5 (E1); budgets are a
fifth to four fifths of the total weight, because up to five times the total (as printed) leaves nothing to
decide for five in six (E7); and the distribution of `theta*`, which the paper does not state, is uniform on
[1, 10] here (E11).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from conformio.checks import (
    Decisions,
    Domain,
    FloatArray,
    RandomState,
    as_generator,
    as_index,
    as_parameters,
    as_scalar,
)
from conformio.errors import invalid
from conformio.networks import Network
from conformio.problems import Knapsack, Problem, ShortestPath

__all__ = ["SimulatedDecisions", "knapsack_example", "road_grid_example"]

_PERCEPTION_FLOOR = 0.1


@dataclass(frozen=True)
class SimulatedDecisions:
    """A forward problem, and decision makers who solved it under their own perception of its parameters.

    Attributes
    ----------
    problem : Problem
    theta_true : (d,) float array
        The parameters by which decisions are really valued.
    thetas : (N, d) float array
        What each decision maker perceives; a real data set never shows these.
    contexts : (N, context_width) float array
    decisions : (N, n_vars) array or CSR
        Optimal for each decision maker's own perception.
    """

    problem: Problem
    theta_true: FloatArray
    thetas: FloatArray
    contexts: FloatArray
    decisions: Decisions

    def __len__(self) -> int:
        return len(self.contexts)


def road_grid_example(
    n_decision_makers: int = 1000,
    rows: int = 6,
    cols: int = 6,
    random_state: RandomState = None,
    true_range: tuple[float, float] = (1.0, 10.0),
    theta_true: ArrayLike | None = None,
    domain: Domain = "nonnegative",
) -> SimulatedDecisions:
    """Drivers on a grid of streets, each on a random trip between two different nodes.

    Parameters
    ----------
    n_decision_makers : int
    rows, cols : int
        Nodes of the grid; the paper's 120 edges are 6 x 6 nodes.
    random_state : int, numpy.random.Generator or None
    true_range : (float, float)
        `theta_true` is uniform on this interval, unless given.
    theta_true : array-like (n_params,), optional
        The true parameters, where another law drew them; not negative.
    domain : {"nonnegative", "free"}
        Where estimates and sets may look for parameters; perceptions are positive in either case.

    Examples
    --------
    >>> from conformio.studies import road_grid_example
    >>> drivers = road_grid_example(100, random_state=0)
    >>> drivers.problem.n_params, drivers.decisions.shape
    (120, (100, 120))
    """
    where = "road_grid_example"
    n_people = as_index(n_decision_makers, "n_decision_makers", where, low=1)
    rng = as_generator(random_state, where)
    problem = ShortestPath(Network.grid(rows, cols), domain)
    truth = _true_parameters(problem.n_params, theta_true, true_range, rng, where)
    n_nodes = rows * cols
    origins = rng.integers(n_nodes, size=n_people)
    destinations = (origins + rng.integers(1, n_nodes, size=n_people)) % n_nodes
    contexts = np.column_stack([origins, destinations]).astype(np.float64)
    return _decide(problem, truth, contexts, rng)


def knapsack_example(
    n_decision_makers: int = 1000,
    n_items: int = 10,
    random_state: RandomState = None,
    budget_share: tuple[float, float] = (0.2, 0.8),
    true_range: tuple[float, float] = (1.0, 10.0),
    theta_true: ArrayLike | None = None,
    domain: Domain = "free",
) -> SimulatedDecisions:
    """Shoppers who fill knapsacks of different budgets from the same items; weights are uniform on [1, 10].

    Parameters
    ----------
    n_decision_makers, n_items : int
    random_state : int, numpy.random.Generator or None
    budget_share : (float, float)
        Budgets are this share of the total weight, uniform; the paper prints ``(0.2, 5.0)``.
    true_range : (float, float)
        `theta_true` is uniform on this interval, unless given.
    theta_true : array-like (n_params,), optional
        The true parameters, where another law drew them; not negative.
    domain : {"nonnegative", "free"}
        Where estimates and sets may look for parameters; perceptions are positive in either case.

    Examples
    --------
    >>> from conformio.studies import knapsack_example
    >>> shoppers = knapsack_example(50, random_state=0)
    >>> bool(shoppers.problem.is_feasible(shoppers.decisions, shoppers.contexts).all())
    True
    """
    where = "knapsack_example"
    n_people = as_index(n_decision_makers, "n_decision_makers", where, low=1)
    n_items = as_index(n_items, "n_items", where, low=1)
    low, high = _interval(budget_share, "budget_share", where)
    rng = as_generator(random_state, where)
    weights = rng.uniform(1.0, 10.0, n_items)
    truth = _true_parameters(n_items, theta_true, true_range, rng, where)
    contexts = weights.sum() * rng.uniform(low, high, (n_people, 1))
    return _decide(Knapsack(weights, domain), truth, contexts, rng)


def _decide(
    problem: Problem, theta_true: FloatArray, contexts: FloatArray, rng: np.random.Generator
) -> SimulatedDecisions:
    thetas = _perceptions(theta_true, len(contexts), rng)
    return SimulatedDecisions(problem, theta_true, thetas, contexts, problem.solve(thetas, contexts))


def _perceptions(theta_true: FloatArray, n_people: int, rng: np.random.Generator) -> FloatArray:
    shape = (n_people, len(theta_true))
    noisy = theta_true * rng.uniform(0.5, 2.0, shape) + rng.standard_normal(shape)
    return np.asarray(np.maximum(noisy, 0.0) + _PERCEPTION_FLOOR)


def _true_parameters(
    n_params: int, given: ArrayLike | None, true_range: tuple[float, float], rng: np.random.Generator, where: str
) -> FloatArray:
    if given is not None:
        return as_parameters(given, 1, n_params, "nonnegative", where, "theta_true").reshape(-1)
    low, high = _interval(true_range, "true_range", where)
    return rng.uniform(low, high, n_params)


def _interval(bounds: tuple[float, float], argument: str, where: str) -> tuple[float, float]:
    if not isinstance(bounds, tuple) or len(bounds) != 2:
        raise invalid(argument, where, "must be a pair (low, high)", repr(bounds))
    low = as_scalar(bounds[0], argument, where, low=0.0)
    return low, as_scalar(bounds[1], argument, where, low=low)
