"""Projection on the cones of paths and other 0/1 flows, in node potentials (method: `_kernels.potentials`).

Simple paths under nonnegative centres go through one compiled batch, which looks at the part of the network that can
matter (`_kernels.regions`). The rest goes row by row over all edges: centres with negative entries, flows with loops,
and paths that are best explained by negative costs. In the nonnegative domain every edge of a loop must cost 0, so the
nodes of a loop share one potential.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from conformio._kernels.path_cones import EXACT, UNDONE, project_paths_batch
from conformio._kernels.potentials import hinges, project_flow, settle
from conformio.calibration.projections import OPTIMAL, Projections
from conformio.checks import FloatArray, IntArray
from conformio.networks.flow_program import usable_edges
from conformio.problems.cones import PathCones

__all__ = ["place_paths", "project_over_all_edges", "project_paths"]

_MAX_ITER = 2_000
_DOUBTFUL = 1e-8


def project_paths(cones: PathCones, centers: FloatArray) -> Projections:
    """Project unit `centers` (N, n_edges) on the cone of each row's flow."""
    return place_paths(cones, centers, 0.0, np.inf)[1]


def place_paths(cones: PathCones, centers: FloatArray, below: float, above: float) -> tuple[np.ndarray, Projections]:
    """`project_paths`, except that rows surely nearer than `below` or farther than `above` are not worked out.

    Returns
    -------
    status : int8 array (N,)
        `EXACT`, or `BELOW` or `ABOVE` for rows not worked out: their distances are bounds.
    projections : Projections
    """
    n_rows = len(cones)
    status = np.zeros(n_rows, dtype=np.int8)
    squares, lengths, errors = np.zeros(n_rows), np.zeros(n_rows), np.zeros(n_rows)
    if _distinct(centers).min(initial=0.0) >= 0.0:
        status, squares, lengths, errors = _project_batch(cones, centers, below**2, above**2)
    for row in np.flatnonzero((status == UNDONE) | np.isinf(squares)):
        squares[row], lengths[row], errors[row] = project_over_all_edges(cones, int(row), centers[row])
        status[row] = EXACT
    return status, Projections(np.sqrt(squares), lengths, errors)


def _distinct(centers: FloatArray) -> FloatArray:
    """One row when all rows are the same memory."""
    return np.ascontiguousarray(centers[:1] if len(centers) and centers.strides[0] == 0 else centers)


def _project_batch(
    cones: PathCones, centers: FloatArray, below: float, above: float
) -> tuple[np.ndarray, FloatArray, FloatArray, FloatArray]:
    network, decisions = cones.network, cones.decisions
    origins, destinations = cones.contexts.astype(np.int64).T
    return project_paths_batch(  # type: ignore[no-any-return]
        network.out_start,
        network.out_edges,
        network.in_start,
        network.in_edges,
        network.tails,
        network.heads,
        network.zones,
        _distinct(centers),
        np.ascontiguousarray(origins),
        np.ascontiguousarray(destinations),
        np.lexsort((destinations, origins)),
        decisions.indptr.astype(np.int64),
        decisions.indices.astype(np.int64),
        cones.nonnegative,
        _MAX_ITER,
        below,
        above,
    )


def project_over_all_edges(cones: PathCones, row: int, center: FloatArray) -> tuple[float, float, float]:
    """Squared distance, length of the foot and error of the distance, over all usable edges from potentials 0."""
    network = cones.network
    origin, destination = (int(node) for node in cones.contexts[row])
    flow = cones.decisions.indices[cones.decisions.indptr[row] : cones.decisions.indptr[row + 1]].astype(np.int64)
    node = _contract_loops(cones, flow) if cones.nonnegative else np.arange(network.n_nodes)
    tails, heads = node[network.tails], node[network.heads]
    chain = _walk(tails, heads, flow, int(node[origin])) if cones.nonnegative else np.empty(0, dtype=np.int64)
    on = np.zeros(network.n_edges, dtype=np.bool_)
    on[flow] = True
    apart = np.flatnonzero((on | usable_edges(network, origin, destination)) & (tails != heads))
    turned = on[apart]
    begin, end = np.where(turned, heads[apart], tails[apart]), np.where(turned, tails[apart], heads[apart])
    slack = np.where(turned, -center[apart], center[apart])
    potentials, repairs = np.zeros(int(node.max()) + 1), np.empty(len(apart))
    reach = 2.0 * np.sqrt(network.n_edges)  # |theta| <= 2 at the foot, and no simple walk is longer
    room = np.zeros(max(len(chain) - 1, 0))
    square, gap = project_flow(begin, end, slack, chain, room, potentials, reach, _MAX_ITER, -1.0)
    if 0.0 < square < _DOUBTFUL**2:  # rounding alone may have left it there
        room = 0.5 * OPTIMAL / np.sqrt(len(apart))
        square, gap = (0.0, 0.0) if settle(begin, end, slack, potentials.copy(), room) else (square, gap)
    hinges(begin, end, slack, potentials, repairs)
    foot = np.where(on & (tails == heads), 0.0, center)
    loops = float(np.sum((center - foot) ** 2))
    foot[apart] += np.where(turned, -repairs, repairs)
    return square + loops, float(np.linalg.norm(foot)), gap / np.sqrt(square) if square > 0.0 else 0.0


def _contract_loops(cones: PathCones, flow: IntArray) -> IntArray:
    """Potential index of every node: strongly connected nodes of the flow share one."""
    network = cones.network
    ends = (network.tails[flow], network.heads[flow])
    travelled = sparse.csr_array((np.ones(len(flow)), ends), shape=(network.n_nodes, network.n_nodes))
    return connected_components(travelled, directed=True, connection="strong")[1].astype(np.int64)  # type: ignore[no-any-return]


def _walk(tails: IntArray, heads: IntArray, flow: IntArray, origin: int) -> IntArray:
    """Potential indices along the flow once its loops are points: a simple path."""
    leaving = {int(tails[edge]): int(heads[edge]) for edge in flow if tails[edge] != heads[edge]}
    chain = [origin]
    while chain[-1] in leaving:
        chain.append(leaving[chain[-1]])
    return np.array(chain, dtype=np.int64)
