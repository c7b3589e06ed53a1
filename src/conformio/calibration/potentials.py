"""Projection on the cones of paths and other 0/1 flows, in node potentials (method: `_kernels.potentials`).

Simple paths under nonnegative centres go through one compiled batch, where shortest-path trees give the starting
potentials. The rest goes row by row: centres with negative entries, and flows with loops. In the nonnegative domain
every edge of a loop must cost 0, so the nodes of a loop share one potential.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from conformio._kernels.path_cones import mark_sides, project_paths_batch
from conformio._kernels.potentials import ON, hinges, project_flow
from conformio.calibration.projections import Projections
from conformio.checks import FloatArray, IntArray
from conformio.problems.cones import PathCones

__all__ = ["project_paths"]

_MAX_ITER = 2_000


def project_paths(cones: PathCones, centers: FloatArray) -> Projections:
    """Project unit `centers` (N, n_edges) on the cone of each row's flow."""
    n_rows = len(cones)
    done = np.zeros(n_rows, dtype=bool)
    squares, lengths, errors = np.zeros(n_rows), np.zeros(n_rows), np.zeros(n_rows)
    if (centers >= 0.0).all():
        done, squares, lengths, errors = _project_batch(cones, centers)
    for row in np.flatnonzero(~done):
        squares[row], lengths[row], errors[row] = _project_row(cones, int(row), centers[row])
    distances = np.sqrt(squares)
    return Projections(distances, lengths, errors / np.maximum(2.0 * distances, 1e-150))


def _project_batch(cones: PathCones, centers: FloatArray) -> tuple[np.ndarray, FloatArray, FloatArray, FloatArray]:
    network, decisions = cones.network, cones.decisions
    origins, destinations = cones.contexts.astype(np.int64).T
    shared = len(centers) > 0 and centers.strides[0] == 0
    return project_paths_batch(  # type: ignore[no-any-return]
        network.out_start,
        network.out_edges,
        network.in_start,
        network.in_edges,
        network.tails,
        network.heads,
        network.zones,
        np.ascontiguousarray(centers[:1] if shared else centers),
        np.ascontiguousarray(origins),
        np.ascontiguousarray(destinations),
        np.lexsort((destinations, origins)),
        decisions.indptr.astype(np.int64),
        decisions.indices.astype(np.int64),
        cones.nonnegative,
        _MAX_ITER,
    )


def _project_row(cones: PathCones, row: int, center: FloatArray) -> tuple[float, float, float]:
    network = cones.network
    origin, destination = (int(node) for node in cones.contexts[row])
    flow = cones.decisions.indices[cones.decisions.indptr[row] : cones.decisions.indptr[row + 1]].astype(np.int64)
    side = np.empty(network.n_edges, dtype=np.int8)
    mark_sides(network.tails, network.heads, network.zones, origin, destination, flow, side)
    node = _contract_loops(cones, flow) if cones.nonnegative else np.arange(network.n_nodes)
    tails, heads = node[network.tails], node[network.heads]
    chain = _walk(tails, heads, flow, int(node[origin])) if cones.nonnegative else np.empty(0, dtype=np.int64)
    center = np.ascontiguousarray(center)
    potentials, repairs = np.zeros(int(node.max()) + 1), np.empty(network.n_edges)
    square, residual = project_flow(tails, heads, center, side, chain, potentials, _MAX_ITER)
    hinges(tails, heads, center, side, potentials, repairs)
    foot = np.where(side == ON, center - repairs, center + repairs)
    error = residual * square if np.isfinite(residual) else np.inf
    return square, float(np.linalg.norm(foot)), error


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
