"""Compiled loops against plain NumPy and SciPy: what justifies each of the small ones.

The large ones have comparisons of their own: searches and robust routes `robust-paths`, projections in potentials and
regions `angle-methods`, path counts of perturbed training `perturbed`, cutting-plane angles `knapsack-angles`, robust
baskets `robust-knapsack`, robust linear programs `robust-programs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import nnls
from scipy.sparse.csgraph import dijkstra

from conformio._kernels.envelope import solve_weighted, solve_weighted_twin
from conformio._kernels.flow_rows import are_unit_flows
from conformio._kernels.grouping import add_rows_by_group, group_rows, group_rows_twin
from conformio._kernels.knapsack import fill_rows, fill_twin
from conformio._kernels.least_squares import nonnegative_least_squares
from conformio._kernels.potentials import hinges, hinges_twin
from conformio._kernels.regions import costs_within
from conformio._kernels.sparse_rows import products_and_squares, products_and_squares_twin
from conformio.checks import FloatArray
from conformio.networks import Network
from conformio.problems import Knapsack
from conformio.studies.benchmarks.drivers import grid_drivers
from conformio.studies.benchmarks.measuring import Side, race
from conformio.studies.benchmarks.results import Check, Line, Outcome, Timing, ratio
from conformio.studies.benchmarks.settings import Comparison, Settings

__all__ = ["COMPARISONS"]


class _Pair(NamedTuple):
    """A loop and what it replaces; both return what must be equal."""

    name: str
    plain_name: str
    fast: Callable[[], Any]
    plain: Callable[[], Any]


def _compare(settings: Settings) -> Outcome:
    lines: list[Line] = []
    timings: list[Timing] = []
    checks: list[Check] = []
    rng = np.random.default_rng(0)
    for pair in [*_rows_of_routes(settings, rng), *_searches(settings, rng), *_small_algebra(rng), *_baskets(rng)]:
        difference = np.abs(np.asarray(pair.fast(), dtype=float) - np.asarray(pair.plain(), dtype=float)).max()
        checks.append(Check(pair.name, float(difference), 1e-9))
        plain = f"{pair.name}: {pair.plain_name}"
        sides = {pair.name: Side(pair.fast), plain: Side(pair.plain, 1, settings.pick(5, 1))}
        timed = race(sides, settings.pick(15, 1))
        lines.append(ratio(f"loop: {pair.name}", timed[plain], timed[pair.name], None, pair.plain_name))
        timings += timed.values()
    return Outcome(lines, timings, checks)


def _rows_of_routes(settings: Settings, rng: np.random.Generator) -> Iterator[_Pair]:
    drivers = grid_drivers(settings.pick(600, 40))
    network, trips = drivers.problem.network, drivers.trips.astype(np.int64)
    routes = sparse.csr_array(drivers.routes).astype(np.float64)
    ends = (np.ascontiguousarray(trips[:, 0]), np.ascontiguousarray(trips[:, 1]))
    balance = np.zeros((len(trips), network.n_nodes))
    np.add.at(balance, (np.arange(len(trips)), ends[0]), -1.0)
    np.add.at(balance, (np.arange(len(trips)), ends[1]), 1.0)

    def verdicts() -> Any:
        return are_unit_flows(
            routes.indptr, routes.indices, routes.data, network.tails, network.heads, network.zones, *ends, 1e-9
        )

    def plain_verdicts() -> Any:
        whole = (np.abs(routes.data - 1.0) <= 1e-9).all()
        return ((routes @ network.incidence.T).toarray() == balance).all(axis=1) & whole

    yield _Pair("trips checked", "sparse product", verdicts, plain_verdicts)
    centers = drivers.theta[None, :]
    yield _Pair(
        "products and squares of sparse rows", "dense rows",
        lambda: products_and_squares(routes.indptr, routes.indices, routes.data, centers),
        lambda: products_and_squares_twin(routes, centers),
    )  # fmt: skip
    many = drivers.trips[rng.integers(len(trips), size=settings.pick(100_000, 500))]
    yield _Pair(
        "equal contexts grouped", "numpy.unique",
        lambda: np.concatenate(group_rows(many)), lambda: np.concatenate(group_rows_twin(many)),
    )  # fmt: skip
    group = rng.integers(10, size=len(trips))
    member = sparse.csr_array((np.ones(len(group)), (group, np.arange(len(group)))))

    def sums() -> FloatArray:
        total = np.zeros((10, network.n_edges))
        add_rows_by_group(routes.indptr, routes.indices, routes.data, group, total)
        return total

    def plain_sums() -> FloatArray:
        return np.asarray((member @ routes).toarray())

    yield _Pair("rows added by group", "sparse product", sums, plain_sums)


def _searches(settings: Settings, rng: np.random.Generator) -> Iterator[_Pair]:
    side = settings.pick(60, 8)
    network = Network.grid(side, side)
    costs, n, m = rng.uniform(1.0, 10.0, network.n_edges), network.n_nodes, network.n_edges
    graph = sparse.csr_array((costs, (network.tails, network.heads)), shape=(n, n))
    dist, pred = np.empty(n), np.empty(n, np.int64)
    heap, keys = np.empty(m + 1, np.int64), np.empty(m + 1)

    def costs_from() -> FloatArray:
        start, edges = network.out_start, network.out_edges
        costs_within(start, edges, network.heads, costs, network.zones, 0, np.inf, dist, pred, heap, keys)
        return dist

    yield _Pair(f"one tree, {n:,} nodes", "scipy Dijkstra", costs_from, lambda: dijkstra(graph, indices=0))
    x, y, slack = rng.normal(size=n), np.empty(m), rng.normal(size=m)

    def repaired() -> FloatArray:
        hinges(network.tails, network.heads, slack, x, y)
        return y

    def plainly() -> Any:
        return hinges_twin(network.tails, network.heads, slack, x)  # type: ignore[no-untyped-call]

    yield _Pair("hinges of all edges", "NumPy", repaired, plainly)


def _small_algebra(rng: np.random.Generator) -> Iterator[_Pair]:
    network = Network.grid(6, 6)
    weights, rhs = rng.uniform(0.1, 1.0, network.n_edges), rng.normal(size=network.n_nodes)
    rhs -= rhs.mean()

    def rises(x: FloatArray) -> FloatArray:
        return x[network.heads] - x[network.tails]

    yield _Pair(
        "weighted Laplacian, 36 nodes", "dense least squares",
        lambda: rises(solve_weighted(network.tails, network.heads, weights, rhs.copy())),
        lambda: rises(solve_weighted_twin(network.tails, network.heads, weights, rhs)),
    )  # fmt: skip
    matrix, target = rng.normal(size=(20, 10)), rng.normal(size=20)
    yield _Pair(
        "nonnegative least squares, 20 by 10", "scipy.optimize.nnls",
        lambda: nonnegative_least_squares(matrix, target, 1000)[0], lambda: nnls(matrix, target)[0],
    )  # fmt: skip


def _baskets(rng: np.random.Generator) -> Iterator[_Pair]:
    weights, values = rng.uniform(1.0, 10.0, 10), rng.uniform(1.0, 10.0, 10)
    budgets = weights.sum() * rng.uniform(0.2, 0.8, 20)
    problem = Knapsack(weights)

    def filled() -> FloatArray:
        take = np.zeros((len(budgets), len(weights)))
        fill_rows(weights, values[None, :], budgets, take)
        return take

    def enumerated() -> FloatArray:
        return np.array([fill_twin(weights, values, budget) for budget in budgets])

    yield _Pair("baskets, 10 items", "enumeration in NumPy", filled, enumerated)
    contexts = budgets[:, None]
    yield _Pair(
        "baskets read off a catalogue, 10 items", "enumeration in NumPy",
        lambda: np.asarray(problem.solve(values, contexts)), enumerated,
    )  # fmt: skip


COMPARISONS = (Comparison("kernels", "Compiled loops beside NumPy and SciPy", _compare, 0.2),)
