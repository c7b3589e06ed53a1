"""A folder to try the commands on: simulated trips, baskets and plans, with the commands in its README."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from conformio.checks import FloatArray, IntArray, as_index
from conformio.errors import invalid
from conformio.networks import Network
from conformio.observations import BasketTable, PlanTable, TableWriter, TripTable
from conformio.problems import Knapsack, ShortestPath

__all__ = ["export_example"]

_ROWS, _COLS = 5, 6
_PEOPLE, _TRAIN = 400, 300
_ITEMS = {"tent": 40, "stove": 25, "lamp": 12, "map": 8, "rope": 20, "mat": 30, "pot": 15, "axe": 22}
_PLAN = """NAME plan
ROWS
 N cost
 E orders
 L hours
 G own
COLUMNS
 chairs cost 3 orders 1
 chairs hours 2 own 1
 tables cost 2.5 orders 1
 tables hours 3 own 1
 bought cost 4.2 orders 1
RHS
 RHS orders 60 hours 100
 RHS own 10
BOUNDS
 UP BND chairs 40
 UP BND tables 40
 UP BND bought 80
ENDATA
"""
_TOML = """# One table per command; the keys are its options, and flags on the command line win.
# Relative paths start at this file's folder.

[fit]
network = "roads.csv"
tail = "from"
head = "to"
nodes = "nodes.csv"
data = "trips-train.parquet"
path = "route"
id = "trip"
start = "minutes"
level = 0.9
out = "trips.zip"

[prescribe]
model = "trips.zip"
data = "requests.csv"
out = "advice.csv"
"""
_README = """# Examples for conformio

Simulated data: the people in them do not exist. Run the commands in this folder, one after the other; nothing here
needs a network connection.

## Trips on a road network

`roads.csv` has one row per street and direction, `nodes.csv` the coordinates. `trips-train.parquet` holds routes as
lists of nodes, `trips-test.csv` as text such as `A1;A2;B2`; its column `usual` holds the quickest routes by `minutes`,
to compare with. The options of the first command are in `conformio.toml`. Open `report.html` in any browser.

```sh
conformio fit --config conformio.toml
conformio evaluate trips.zip --data trips-test.csv --level 0.5 --level 0.9
conformio report trips.zip --data trips-test.csv --id trip --baseline usual -o report.html
conformio prescribe trips.zip --data requests.csv
conformio prescribe --config conformio.toml
conformio calibrate trips.zip --data trips-test.csv --level 0.95 -o trips-95.zip
```

`trips-raw.csv` is as recorded, with faults. The command below leaves the faulty rows out and writes them, with their
reasons, to `faulty.csv`; without `--on-bad skip` it lists them and stops.

```sh
conformio evaluate trips.zip --data trips-raw.csv --on-bad skip --skipped faulty.csv
```

## Purchases within a budget

```sh
conformio fit --problem knapsack --items items.csv --weight price --decisions baskets-train.csv -o baskets.zip
conformio evaluate baskets.zip --data baskets-test.csv
conformio report baskets.zip --data baskets-test.csv -o baskets.html
conformio prescribe baskets.zip --data baskets-test.csv -o baskets-advice.jsonl
```

## Production plans

`plan.mps` says what can be made. Each row of `plans-train.csv` holds right-hand sides (`orders`, `hours`), called as
in the model, and the plan that was chosen. `own` is in no table and keeps the model's value.

```sh
conformio fit --problem lp --model plan.mps --data plans-train.csv --start objective --estimator fixed -o plans.zip
conformio evaluate plans.zip --data plans-test.csv
conformio report plans.zip --data plans-test.csv -o plans.html
conformio prescribe plans.zip --data plans-test.csv -o plans-advice.csv
```
"""


def export_example(folder: Path, random_state: int = 0) -> list[Path]:
    """Write the folder; returns its files.

    Parameters
    ----------
    folder : Path
        Made if missing; must be empty.
    random_state : int
        Decides the data.
    """
    where = "demo"
    seed = as_index(random_state, "random_state", where)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        present = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise invalid("export", where, f"{folder}: must be a folder that can be made", error.strerror) from error
    if present:
        raise invalid("export", where, f"{folder}: must be an empty folder", f"one with {present[0]}")
    rng = np.random.default_rng(seed)
    try:
        _trips(folder, rng)
        _baskets(folder, rng)
        _plans(folder, rng)
        for name, text in (("conformio.toml", _TOML), ("README.md", _README)):
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise invalid("export", where, f"{folder}: must be a folder that can be written", error.strerror) from error
    return sorted(folder.iterdir())


def _trips(folder: Path, rng: np.random.Generator) -> None:
    grid = Network.grid(_ROWS, _COLS)
    names = [f"{'ABCDEFGH'[k // _COLS]}{k % _COLS + 1}" for k in range(grid.n_nodes)]
    minutes = rng.uniform(1.0, 3.0, grid.n_edges).round(1)
    roads = Network(grid.tails, grid.heads, grid.n_nodes, {"minutes": minutes}, node_ids=names)
    places = zip(names, grid.coordinates if grid.coordinates is not None else [], strict=True)
    ends = zip(grid.tails.tolist(), grid.heads.tolist(), minutes.tolist(), strict=True)
    _write(folder / "roads.csv", ["from", "to", "minutes"], ((names[t], names[h], m) for t, h, m in ends))
    _write(folder / "nodes.csv", ["node", "x", "y"], ((name, int(x), int(y)) for name, (x, y) in places))
    contexts = _pairs(rng, _PEOPLE, grid.n_nodes)
    perceived = minutes * rng.lognormal(0.0, 0.2, (_PEOPLE, grid.n_edges))
    table, problem = TripTable(roads), ShortestPath(roads)
    routes = table.decision_columns(problem.solve(perceived, contexts))["nodes"]
    usual = table.decision_columns(problem.solve(minutes, contexts[_TRAIN:]))["nodes"].to_pylist()
    ids = [f"T{k:04d}" for k in range(_PEOPLE)]
    with TableWriter(folder / "trips-train.parquet") as writer:
        writer.write({"trip": ids[:_TRAIN], "route": routes.slice(0, _TRAIN)})
    texts = [";".join(route) for route in routes.slice(_TRAIN).to_pylist()]
    quickest = (";".join(route) for route in usual)
    _write(folder / "trips-test.csv", ["trip", "route", "usual"], zip(ids[_TRAIN:], texts, quickest, strict=True))
    raw = [*texts[:20], "A1;Z9;B1", "A1;C3", "A1;A2;A1", "", *texts[20:]]
    _write(folder / "trips-raw.csv", ["trip", "route"], ((f"R{k:04d}", text) for k, text in enumerate(raw)))
    wanted = _pairs(rng, 10, grid.n_nodes)
    _write(folder / "requests.csv", ["origin", "destination"], ((names[o], names[d]) for o, d in wanted.tolist()))


def _pairs(rng: np.random.Generator, size: int, n: int) -> IntArray:
    """Pairs of different nodes."""
    first = rng.integers(n, size=size)
    return np.column_stack([first, (first + rng.integers(1, n, size=size)) % n])


def _baskets(folder: Path, rng: np.random.Generator) -> None:
    prices = np.array([*_ITEMS.values()], dtype=np.float64)
    _write(folder / "items.csv", ["item", "price"], _ITEMS.items())
    shop = Knapsack(prices)
    budgets = rng.integers(40, 120, (_PEOPLE, 1)).astype(np.float64)
    worth = prices * rng.lognormal(0.0, 0.3, len(prices)) * rng.lognormal(0.0, 0.15, (_PEOPLE, len(prices)))
    chosen = BasketTable(shop, list(_ITEMS)).decision_columns(shop.solve(worth, budgets))["items"].to_pylist()
    rows = [(k, int(b), ";".join(names) or "[]") for k, ((b,), names) in enumerate(zip(budgets, chosen, strict=True))]
    _split(folder, "baskets", ["basket", "budget", "items"], rows)


def _plans(folder: Path, rng: np.random.Generator) -> None:
    (folder / "plan.mps").write_text(_PLAN, encoding="utf-8")
    table = PlanTable.from_model(folder / "plan.mps")
    sides = {"orders": rng.integers(40, 90, _PEOPLE), "hours": rng.integers(60, 160, _PEOPLE)}
    contexts = np.column_stack([sides["orders"], sides["hours"], np.full(_PEOPLE, -table.defaults["own"])])
    costs = np.asarray(table.costs) * rng.lognormal(0.0, 0.15, (_PEOPLE, table.problem.n_params))
    plans: FloatArray = np.asarray(table.problem.solve(costs, contexts)).round(6) + 0.0
    rows = [(*map(int, side), *plan) for side, plan in zip(contexts[:, :2].tolist(), plans.tolist(), strict=True)]
    _split(folder, "plans", [*sides, *table.variables], rows)


def _split(folder: Path, name: str, header: Sequence[str], rows: list[Any]) -> None:
    _write(folder / f"{name}-train.csv", header, rows[:_TRAIN])
    _write(folder / f"{name}-test.csv", header, rows[_TRAIN:])


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
