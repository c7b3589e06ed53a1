"""What the scripts of a page are given: plain values and packed arrays, no prose."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from conformio.checks import Decisions, FloatArray, IntArray, dense
from conformio.errors import InvalidInputError
from conformio.networks import Network
from conformio.observations import Observations, ObservationTable
from conformio.observations.walk_order import ordered_edges
from conformio.plots.layout import places_of
from conformio.problems import ShortestPath
from conformio.report.encoding import packed, packed_whole, ragged
from conformio.report.labels import context_texts, node_labels, things, variable_names
from conformio.report.measures import LevelMeasures, Measures, Shares

__all__ = ["payload"]


def payload(measures: Measures, table: ObservationTable, observed: Observations) -> dict[str, Any]:
    """Everything the charts, the slider and the map need.

    Parameters
    ----------
    measures : Measures
    table : ObservationTable
        Names what is shown.
    observed : Observations
        The rows that were measured, with their ids.
    """
    problem = measures.model.problem
    one, parameter = things(problem)
    network = problem.network if isinstance(problem, ShortestPath) else None
    return {
        "words": {"one": one, "parameter": parameter, "sense": problem.sense},
        "levels": [_level(level) for level in measures.levels],
        "own": measures.own,
        "classic": _shares(measures.classic),
        "baseline": _baseline(measures),
        "curve": measures.curve,
        "angles": measures.histogram,
        "network": None if network is None else _network(network, measures.center),
        "variables": None if network is not None else _variables(measures, table),
        "sample": _sample(measures, table, observed),
        "decisions": _decisions(measures, network),
    }


def _level(one: LevelMeasures) -> dict[str, Any]:
    plain = {name: getattr(one, name) for name in ("level", "angle", "coverage", "gap", "extra", "differs")}
    return {**plain, "band": list(one.band), **_shares(one.kept)}


def _shares(shares: Shares) -> dict[str, Any]:
    return {"exact": shares.exact, "overlap": shares.overlap, "n": shares.n}


def _baseline(measures: Measures) -> dict[str, Any] | None:
    if measures.baseline is None:
        return None
    kept = measures.baseline_kept
    return {"name": measures.baseline.name, **(_shares(kept) if kept else {"exact": None, "overlap": None, "n": 0})}


def _network(network: Network, costs: FloatArray) -> dict[str, Any]:
    places = places_of(network)
    places = places / 4.0  # exact, and the span of the largest floats stays one
    low, size = places.min(axis=0), float(np.ptp(places, axis=0).max()) or 1.0
    return {
        "computed": network.coordinates is None,
        "places": packed((places - low) / size),
        "tails": packed_whole(network.tails),
        "heads": packed_whole(network.heads),
        "costs": packed(_relative(costs)),
        "names": node_labels(network),
    }


def _relative(costs: FloatArray) -> FloatArray:
    """Costs as multiples of their mean size: only ratios of parameters mean anything."""
    return costs / (float(np.abs(costs).mean()) or 1.0)


def _variables(measures: Measures, table: ObservationTable) -> dict[str, Any]:
    problem = measures.model.problem
    known = problem.linear and problem.n_params == problem.n_vars
    values = packed(_relative(measures.center)) if known else None
    return {"names": variable_names(problem, table), "values": values, "binary": problem.binary}


def _sample(measures: Measures, table: ObservationTable, observed: Observations) -> dict[str, Any]:
    rows, evidence = measures.sample.rows, measures.evidence
    ids = observed.ids.take(rows)
    return {
        "ids": [str(name) if table.row_id else f"row {name}" for name in ids.to_pylist()],
        "contexts": context_texts(table, evidence.contexts[rows]),
        "angles": packed(evidence.angles[rows], "f8"),
    }


def _decisions(measures: Measures, network: Network | None) -> dict[str, Any]:
    """Each different decision of the sample once, and which of them is whose; 0 stands for none."""
    rows, evidence, baseline = measures.sample.rows, measures.evidence, measures.baseline
    kinds = [evidence.decisions[rows], *measures.shown]
    if baseline is not None:
        kinds.append(baseline.decisions[rows])
    pool = _Pool()
    numbers = [pool.numbers(kind) for kind in kinds]
    if baseline is not None:
        numbers[-1] = np.where(baseline.known[rows], numbers[-1], 0)
    last = len(measures.levels) + 2
    return {
        "observed": packed_whole(numbers[0]),
        "classic": packed_whole(numbers[1]),
        "robust": [packed_whole(one) for one in numbers[2:last]],
        "baseline": None if baseline is None else packed_whole(numbers[last]),
        **pool.content(network),
    }


class _Pool:
    """Different decisions, numbered from 1 on in the order of their first use."""

    def __init__(self) -> None:
        self._known: dict[bytes, int] = {}
        self._rows: list[tuple[IntArray, FloatArray]] = []

    def numbers(self, decisions: Decisions) -> IntArray:
        return np.array([self._number(*row) for row in _entries(decisions)], dtype=np.int64)

    def content(self, network: Network | None) -> dict[str, Any]:
        """Edges in walking order, or entries with their values; the empty decision comes first, as number 0."""
        lists = [np.zeros(0, np.int64), *(indices for indices, _ in self._rows)]
        if network is not None:
            lists = _walks(network, lists)
        values = np.concatenate([np.zeros(0), *(values for _, values in self._rows)])
        lengths = np.array([len(one) for one in lists])
        plain = bool((values == 1.0).all())
        return {**ragged(lengths, np.concatenate(lists)), "values": None if plain else packed(values, "f8")}

    def _number(self, indices: IntArray, values: FloatArray) -> int:
        key = indices.tobytes() + values.tobytes()
        if key not in self._known:
            self._rows.append((indices, values))
            self._known[key] = len(self._rows)
        return self._known[key]


def _walks(network: Network, lists: list[IntArray]) -> list[IntArray]:
    """Edges in walking order; flows with cycles apart, which free costs allow, stay as they are."""
    ends = np.cumsum([0, *(len(one) for one in lists)])
    ones = np.ones(int(ends[-1]), dtype=np.int8)
    flows = sparse.csr_array((ones, np.concatenate(lists), ends), shape=(len(lists), network.n_edges))
    try:
        flat, lengths = ordered_edges(network, flows)
    except InvalidInputError:
        return lists
    return np.split(flat, np.cumsum(lengths)[:-1])


def _entries(decisions: Decisions) -> list[tuple[IntArray, FloatArray]]:
    """Indices and values of what differs from 0, row by row; rounding of solvers is none."""
    rows = sparse.csr_array(decisions).astype(np.float64) if sparse.issparse(decisions) else None
    if rows is None:
        points = dense(decisions)
        rows = sparse.csr_array(np.where(np.abs(points) <= 1e-9, 0.0, np.round(points, 9)))
    rows.sort_indices()
    rows.eliminate_zeros()
    cuts = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    return [(rows.indices[a:b].astype(np.int64), rows.data[a:b]) for a, b in cuts]
