"""Problems and estimates from the options of `conformio fit`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from conformio.cli.options import Infeasible, Reading, as_levels
from conformio.cli.stored_model import with_columns
from conformio.errors import invalid
from conformio.estimators import Estimator, FixedParameters, PerturbedFenchelYoung, SuboptimalityLoss
from conformio.networks import Network
from conformio.observations import BasketTable, ObservationTable, PlanTable, TripTable
from conformio.problems import ShortestPath

__all__ = ["Method", "ProblemKind", "Sources", "new_estimator", "new_table", "problem_of"]


class ProblemKind(StrEnum):
    """What people solved."""

    path = "path"
    knapsack = "knapsack"
    lp = "lp"


class EstimatorKind(StrEnum):
    """How the point estimate is found."""

    pfyl = "pfyl"
    suboptimality = "suboptimality"
    fixed = "fixed"


class Domain(StrEnum):
    """Where parameters live."""

    free = "free"
    nonnegative = "nonnegative"


class SelfLoops(StrEnum):
    """What becomes of edges from a node to itself."""

    error = "error"
    drop = "drop"


class Scores(StrEnum):
    """What calibration works out."""

    all = "all"
    level = "level"


class Sense(StrEnum):
    """Direction of the objective."""

    min = "min"
    max = "max"


_ROADS, _SHOP, _PROGRAM = "Networks (--problem path)", "Items (--problem knapsack)", "Programs (--problem lp)"
_METHOD = "Method"


@dataclass(frozen=True)
class Sources:
    """Where a problem comes from; None where it was not said."""

    problem: Annotated[ProblemKind, typer.Option(help="What people solved.")] = ProblemKind.path
    network: Annotated[
        Path | None, typer.Option(rich_help_panel=_ROADS, help="Edges: .csv, .parquet, .tntp or .graphml.")
    ] = None
    tail: Annotated[str | None, typer.Option(rich_help_panel=_ROADS, help="Column: node an edge leaves.")] = None
    head: Annotated[str | None, typer.Option(rich_help_panel=_ROADS, help="Column: node an edge enters.")] = None
    edge_id: Annotated[str | None, typer.Option(rich_help_panel=_ROADS, help="Column that names edges.")] = None
    nodes: Annotated[
        Path | None,
        typer.Option(rich_help_panel=_ROADS, help="Table with node, x, y (and zone), or a _node.tntp file."),
    ] = None
    self_loops: Annotated[SelfLoops | None, typer.Option(rich_help_panel=_ROADS, help="Refuse or leave out.")] = None
    parallel: Annotated[
        str | None, typer.Option(rich_help_panel=_ROADS, help="Attribute whose least value chooses parallel edges.")
    ] = None
    items: Annotated[Path | None, typer.Option(rich_help_panel=_SHOP, help="Table of items.")] = None
    item: Annotated[str | None, typer.Option(rich_help_panel=_SHOP, help="Column of names; default: item.")] = None
    weight: Annotated[str | None, typer.Option(rich_help_panel=_SHOP, help="Column; default: weight.")] = None
    model: Annotated[Path | None, typer.Option(rich_help_panel=_PROGRAM, help="A .mps or .lp file.")] = None
    coefficients: Annotated[
        Path | None, typer.Option(rich_help_panel=_PROGRAM, help="Instead: table with row, column, value.")
    ] = None
    rows: Annotated[
        Path | None, typer.Option(rich_help_panel=_PROGRAM, help="And table with row, sense (and side).")
    ] = None
    columns: Annotated[
        Path | None, typer.Option(rich_help_panel=_PROGRAM, help="And table with column (lower, upper, integer, cost).")
    ] = None
    sense: Annotated[Sense | None, typer.Option(rich_help_panel=_PROGRAM, help="With tables; default: min.")] = None
    domain: Annotated[Domain | None, typer.Option(rich_help_panel=_METHOD, help="Where parameters live.")] = None

    def files(self) -> dict[str, Path | None]:
        """The files that are read, by their options."""
        names = ("network", "nodes", "items", "model", "coefficients", "rows", "columns")
        return {_flag(name): getattr(self, name) for name in names}


@dataclass(frozen=True)
class Method:
    """How parameters are estimated and the set is calibrated."""

    level: Annotated[
        float, typer.Option(callback=as_levels, rich_help_panel=_METHOD, help="Confidence level, e.g. 0.9 for 90%.")
    ] = 0.9
    estimator: Annotated[EstimatorKind, typer.Option(rich_help_panel=_METHOD, help="Point estimate.")] = (
        EstimatorKind.pfyl
    )
    start: Annotated[
        str | None,
        typer.Option(rich_help_panel=_METHOD, help="Known costs to begin at: an attribute; lp: objective."),
    ] = None
    epochs: Annotated[int | None, typer.Option(min=1, rich_help_panel=_METHOD, help="Passes of pfyl.")] = None
    calibration_fraction: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, rich_help_panel=_METHOD, help="Share of rows that calibrates; not 0 or 1."),
    ] = 0.25
    scores: Annotated[
        Scores,
        typer.Option(rich_help_panel=_METHOD, help="Calibrate for all levels, or faster for --level alone."),
    ] = Scores.all
    infeasible: Annotated[
        Infeasible, typer.Option(rich_help_panel=_METHOD, help="Infeasible decisions: faults, or kept.")
    ] = Infeasible.error
    seed: Annotated[int, typer.Option(min=0, rich_help_panel=_METHOD, help="Decides split and training.")] = 0


_OWN = {
    ProblemKind.path: ("network", "nodes", "tail", "head", "edge_id", "self_loops", "parallel"),
    ProblemKind.knapsack: ("items", "item", "weight"),
    ProblemKind.lp: ("model", "coefficients", "rows", "columns", "sense"),
}


def new_table(sources: Sources, reading: Reading) -> ObservationTable:
    """The problem, in the table that reads its decisions."""
    kind = sources.problem
    for other, names in _OWN.items():
        for name in names:
            if other is not kind and getattr(sources, name) is not None:
                raise typer.BadParameter(f"{_flag(name)} goes with --problem {other.value}")
    make = {ProblemKind.path: _trips, ProblemKind.knapsack: _baskets, ProblemKind.lp: _plans}[kind]
    return with_columns(make(sources), reading)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _needed(sources: Sources, *names: str, for_what: str) -> list[Any]:
    missing = [_flag(name) for name in names if getattr(sources, name) is None]
    if missing:
        raise typer.BadParameter(f"{for_what} needs {' and '.join(missing)}")
    return [getattr(sources, name) for name in names]


def _trips(sources: Sources) -> TripTable:
    _needed(sources, "network", for_what="--problem path")
    return TripTable(_network(sources), parallel=sources.parallel)


def _network(sources: Sources) -> Network:
    path = sources.network
    assert path is not None
    kind = path.suffix.lower()
    loops = {} if sources.self_loops is None else {"self_loops": sources.self_loops.value}
    if kind in (".tntp", ".graphml"):
        extra = ["tail", "head", "edge_id", *(["self_loops"] if kind == ".tntp" else ["nodes"])]
        given = [_flag(name) for name in extra if getattr(sources, name) is not None]
        if given:
            raise typer.BadParameter(f"{given[0]} does not go with a {kind} file")
        return Network.from_tntp(path, nodes=sources.nodes) if kind == ".tntp" else Network.from_graphml(path, **loops)
    if kind not in (".csv", ".parquet"):
        raise invalid("network", "fit", "must be a .csv, .parquet, .tntp or .graphml file", path)
    tail, head = _needed(sources, "tail", "head", for_what=f"a network in a {kind} file")
    return Network.from_table(path, tail=tail, head=head, edge_id=sources.edge_id, nodes=sources.nodes, **loops)


def _baskets(sources: Sources) -> BasketTable:
    (items,) = _needed(sources, "items", for_what="--problem knapsack")
    names = {name: getattr(sources, name) for name in ("item", "weight") if getattr(sources, name) is not None}
    return BasketTable.from_items(items, **names, **_domain(sources))


def _plans(sources: Sources) -> PlanTable:
    tables = ("coefficients", "rows", "columns")
    if sources.model is not None:
        given = [_flag(name) for name in (*tables, "sense") if getattr(sources, name) is not None]
        if given:
            raise typer.BadParameter(f"{given[0]} does not go with --model, which says it all")
        return PlanTable.from_model(sources.model, **_domain(sources))
    if all(getattr(sources, name) is None for name in tables):
        raise typer.BadParameter("--problem lp needs --model, or --coefficients, --rows and --columns")
    coefficients, rows, columns = _needed(sources, *tables, for_what="a program in tables")
    sense = "min" if sources.sense is None else sources.sense.value
    return PlanTable.from_tables(coefficients, rows, columns, sense=sense, **_domain(sources))


def _domain(sources: Sources) -> dict[str, Any]:
    return {} if sources.domain is None else {"domain": sources.domain.value}


def problem_of(table: ObservationTable, sources: Sources) -> Any:
    """The forward problem that a new table belongs to."""
    if isinstance(table, TripTable):
        return ShortestPath(table.network, **_domain(sources))
    assert isinstance(table, (BasketTable, PlanTable))
    return table.problem


def new_estimator(method: Method, table: ObservationTable) -> Estimator:
    """The point estimate, begun at a known vector of mean size 1 where one is named."""
    kind, start, epochs = method.estimator, method.start, method.epochs
    if epochs is not None and kind is not EstimatorKind.pfyl:
        raise typer.BadParameter("--epochs goes with --estimator pfyl")
    known = None if start is None else _start(table, start)
    if kind is EstimatorKind.pfyl:
        return PerturbedFenchelYoung(initial=known, **({} if epochs is None else {"epochs": epochs}))
    if kind is EstimatorKind.suboptimality:
        return SuboptimalityLoss(center=known)
    if known is None:
        raise typer.BadParameter("--estimator fixed needs --start")
    return FixedParameters(known)


def _start(table: ObservationTable, start: str) -> Any:
    if isinstance(table, TripTable):
        known = table.network.attributes
        if start not in known:
            raise invalid("start", "fit", f"must be one of the network's attributes {list(known)}", repr(start))
        values = known[start].astype(np.float64)
    elif isinstance(table, PlanTable) and start == "objective" and table.costs is not None:
        values = np.asarray(table.costs, dtype=np.float64)
    else:
        rule = "must be an attribute of the network, or `objective` for a program with costs"
        raise invalid("start", "fit", rule, repr(start))
    size = float(np.abs(values).mean())
    if size == 0.0:
        raise invalid("start", "fit", "must not be zero everywhere", repr(start))
    return values / size
