"""The edges of simple paths in walking order, for many rows at once, by pointer jumping.

In a simple path every edge has at most one successor. With the number of edges after each one known, found in
`log2(length)` rounds of doubling, the order is known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from conformio.checks import Decisions, IntArray
from conformio.networks import Network

__all__ = ["ordered_edges"]


def ordered_edges(network: Network, decisions: Decisions) -> tuple[IntArray, IntArray]:
    """Edges of each 0/1 row in walking order, flat, and how many each row has.

    Rows that are no simple path take the slower route of `Network.paths_from_decisions`, and its errors.
    """
    rows = sparse.csr_array(decisions)
    if not np.isin(rows.data, (0, 1)).all():
        return _one_by_one(network, decisions)
    rows = rows if rows.data.all() else _without_zeros(rows)
    lengths, edges = np.diff(rows.indptr).astype(np.int64), rows.indices.astype(np.int64)
    of_row = np.repeat(np.arange(len(lengths)), lengths)
    after = _edges_after(network, edges, of_row)
    places = rows.indptr[1:].astype(np.int64)[of_row] - 1 - after
    ordered = np.full(len(edges), -1)
    inside = (places >= 0) & (after < lengths[of_row])
    ordered[places[inside]] = edges[inside]
    joined = network.heads[ordered[:-1]] == network.tails[ordered[1:]]
    if (ordered < 0).any() or not (joined | (of_row[:-1] != of_row[1:])).all():
        return _one_by_one(network, decisions)
    return ordered, lengths


def _edges_after(network: Network, edges: IntArray, of_row: IntArray) -> IntArray:
    """How many edges follow each one in its row."""
    n, none = network.n_nodes, len(edges)
    leaving, wanted = of_row * n + network.tails[edges], of_row * n + network.heads[edges]
    order = np.argsort(leaving)
    place = np.searchsorted(leaving[order], wanted)
    known = np.append(leaving[order], -1)[place] == wanted
    successor = np.append(np.where(known, np.append(order, none)[place], none), none)
    after = np.append(known.astype(np.int64), 0)
    for _ in range(int(none).bit_length()):  # ends also where a row goes round in circles
        if (successor == none).all():
            break
        after = after + after[successor]
        successor = successor[successor]
    return after[:none]


def _without_zeros(rows: Any) -> Any:
    rows = rows.copy()
    rows.eliminate_zeros()
    return rows


def _one_by_one(network: Network, decisions: Decisions) -> tuple[IntArray, IntArray]:
    walks = network.paths_from_decisions(decisions)
    return np.concatenate([np.zeros(0, np.int64), *walks]), np.array([len(walk) for walk in walks], dtype=np.int64)
