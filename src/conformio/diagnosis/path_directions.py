"""What choices among paths can say of edge costs: tied paths, and changes of the costs that no trip can feel.

- All paths of one trip differ by circulations. Those of the tied paths of one origin are spanned by one circulation
  for each tight edge outside its tree of least costs: the edge and the tree's path to its tail, less the tree's path
  to its head.
- Adding `w(head) - w(tail)` to every cost changes all paths of a trip by the same amount, whatever the potentials `w`,
  and an edge that lies on no way from an origin to a destination matters to nobody. Flows over `F` edges, which touch
  `n` nodes in `c` connected pieces, differ in at most `F - n + c` independent ways: the cycles of an undirected graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components

from conformio.checks import BoolArray, FloatArray, IntArray
from conformio.networks import Network
from conformio.networks.flow_program import has_light_cycle
from conformio.networks.shortest import cost_tree
from conformio.problems.shortest_path import TIE_TOLERANCE

__all__ = ["cycle_dimension", "edges_on_the_way", "tied_circulations"]


def cycle_dimension(network: Network, edges: IntArray) -> int:
    """Dimension of the circulations on these edges, directions aside: edges less nodes plus connected pieces."""
    tails, heads = network.tails[edges], network.heads[edges]
    nodes = np.unique(np.concatenate([tails, heads]))
    links = sparse.csr_array((np.ones(len(edges)), (tails, heads)), shape=(network.n_nodes, network.n_nodes))
    pieces = connected_components(links, directed=False)[1][nodes]
    return len(edges) - len(nodes) + len(np.unique(pieces))


def edges_on_the_way(network: Network, contexts: FloatArray) -> IntArray:
    """Edges that some origin reaches and that lead on to some destination; all that any of the trips can use."""
    starts, ends = (np.isin(np.arange(network.n_nodes), contexts[:, column].astype(np.int64)) for column in (0, 1))
    zones = network.zones
    open_edges = (~zones[network.tails] | starts[network.tails]) & (~zones[network.heads] | ends[network.heads])
    reached = _reached(network.tails[open_edges], network.heads[open_edges], starts)
    leading = _reached(network.heads[open_edges], network.tails[open_edges], ends)
    return np.flatnonzero(open_edges & reached[network.tails] & leading[network.heads])


def tied_circulations(network: Network, costs: FloatArray, contexts: FloatArray) -> Any | None:
    """Rows that span all differences between tied least-cost paths of the same trip, CSR; costs >= 0.

    None where a cycle costs nothing: tied flows are then more than paths.
    """
    rows: list[tuple[IntArray, FloatArray]] = []
    for origin in np.unique(contexts[:, 0]).astype(np.int64):
        destinations = contexts[contexts[:, 0] == origin, 1].astype(np.int64)
        dist, parent = cost_tree(network, costs, int(origin))
        slack = TIE_TOLERANCE * float(dist[destinations].max())
        crossed = ~network.zones[network.tails] | (network.tails == origin)
        if costs.min() <= slack and has_light_cycle(network, costs, crossed, slack):
            return None
        tight = np.flatnonzero(crossed & np.isfinite(dist[network.tails]))
        tails, heads = network.tails[tight], network.heads[tight]
        tight = tight[dist[tails] + costs[tight] <= dist[heads] + slack]
        loose_ends = tight[parent[network.heads[tight]] != tight]
        if len(loose_ends):
            behind = _behind(network, tight, destinations)
            for edge in loose_ends[behind[network.heads[loose_ends]]]:
                rows.append(_circulation(network, parent, int(edge)))
    return _stacked(rows, network.n_edges)


def _behind(network: Network, tight: IntArray, destinations: IntArray) -> BoolArray:
    """Nodes from which tight edges lead to a destination."""
    ends = np.zeros(network.n_nodes, dtype=np.bool_)
    ends[destinations] = True
    return _reached(network.heads[tight], network.tails[tight], ends)


def _reached(tails: IntArray, heads: IntArray, starts: BoolArray) -> BoolArray:
    """Nodes that edges lead to from any of the starts, these included."""
    n = len(starts)
    first = np.flatnonzero(starts)
    sources, targets = np.concatenate([tails, np.full(len(first), n)]), np.concatenate([heads, first])
    links = sparse.csr_array((np.ones(len(sources)), (sources, targets)), shape=(n + 1, n + 1))
    found = np.zeros(n + 1, dtype=np.bool_)
    found[breadth_first_order(links, n, return_predecessors=False)] = True
    return found[:n]


def _circulation(network: Network, parent: IntArray, edge: int) -> tuple[IntArray, FloatArray]:
    there = [edge, *_tree_path(network, parent, int(network.tails[edge]))]
    instead = _tree_path(network, parent, int(network.heads[edge]))
    return np.array(there + instead), np.repeat([1.0, -1.0], [len(there), len(instead)])


def _tree_path(network: Network, parent: IntArray, node: int) -> list[int]:
    path: list[int] = []
    while parent[node] >= 0:
        path.append(int(parent[node]))
        node = int(network.tails[path[-1]])
    return path


def _stacked(rows: list[tuple[IntArray, FloatArray]], n_edges: int) -> Any:
    indptr = np.cumsum([0, *(len(edges) for edges, _ in rows)])
    indices = np.concatenate([np.zeros(0, dtype=np.int64), *(edges for edges, _ in rows)])
    signs = np.concatenate([np.zeros(0), *(signs for _, signs in rows)])
    stacked = sparse.csr_array((signs, indices, indptr), shape=(len(rows), n_edges))
    stacked.sum_duplicates()  # edges that both ways share cancel out
    return stacked
