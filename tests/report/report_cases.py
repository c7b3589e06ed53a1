"""Reports on small models with hostile names."""

import numpy as np
import pyarrow as pa

import conformio as cio
from conformio.observations import BasketTable, TripTable
from conformio.report import Baseline, measure, page_of

HOSTILE = ["<img onerror=alert(1) src=x>", "</script><script>alert(1)</script>", "<!--", "a\u2028b", "&lt;", '"', "'"]


class Case:
    """A model, the rows it is measured on, and what is measured."""

    def __init__(self, model, table, observed, baseline=None, **settings):
        self.model, self.table, self.observed = model, table, observed
        self.measures = measure(model, observed, baseline, **settings)

    def page(self):
        return page_of(self.measures, self.table, self.observed, "model <b>", "data & more")


def trips_of(problem, n, seed):
    rng = np.random.default_rng(seed)
    trips = np.array([rng.choice(problem.network.n_nodes, 2, replace=False) for _ in range(n)])
    return trips, problem.solve(rng.uniform(1, 3, (n, problem.n_params)), trips)


def road_case(coordinates=True, **settings):
    grid = cio.Network.grid(4, 4)
    names = HOSTILE + [f"N{k}" for k in range(16 - len(HOSTILE))]
    network = cio.Network(
        grid.tails, grid.heads, 16, node_ids=names, coordinates=grid.coordinates if coordinates else None
    )
    problem = cio.ShortestPath(network)
    trips, routes = trips_of(problem, 220, 3)
    model = cio.ConformalIO(problem, cio.SuboptimalityLoss(), random_state=0).fit(trips[:120], routes[:120])
    table = TripTable(network, path="nodes", row_id="id")
    ids = [f"{HOSTILE[k % len(HOSTILE)]} {k}" for k in range(100)]
    columns = TripTable(network).decision_columns(routes[120:])
    observed = table.read(pa.table({"id": ids, "nodes": columns["nodes"]}))
    other = problem.solve(np.ones(problem.n_params), trips[120:])
    known = np.arange(100) % 10 > 0
    return Case(model, table, observed, Baseline("<b>hops</b>", other, known), **settings)


def shop_case(**settings):
    rng = np.random.default_rng(5)
    shop = cio.Knapsack([4.0, 3.0, 2.0, 5.0, 1.0])
    budgets = rng.integers(3, 12, (160, 1)).astype(float)
    baskets = shop.solve(rng.uniform(1, 2, (160, 5)), budgets)
    model = cio.ConformalIO(shop, cio.SuboptimalityLoss(), random_state=0).fit(budgets[:80], baskets[:80])
    table = BasketTable(shop, HOSTILE[:5])
    columns = table.decision_columns(baskets[80:])
    observed = table.read(pa.table({"budget": budgets[80:, 0], "items": columns["items"]}))
    return Case(model, table, observed, **settings)


def city_case():
    """A network of about ten thousand edges."""
    problem = cio.ShortestPath(cio.Network.grid(51, 50))
    rng = np.random.default_rng(2)
    costs = rng.uniform(1, 3, problem.n_params)
    trips = np.array([rng.choice(problem.network.n_nodes, 2, replace=False) for _ in range(150)])
    routes = problem.solve(costs * rng.lognormal(0, 0.1, problem.n_params), trips)
    model = cio.ConformalIO(problem, cio.FixedParameters(costs)).conformalize(trips[:50], routes[:50])
    table = TripTable(problem.network, path="nodes")
    return Case(model, table, table.read(pa.table(table.decision_columns(routes[50:]))))
