"""Random instances for the calibration tests, and the slow definitions the fast routes are compared with."""

import itertools

import numpy as np
from scipy import sparse
from scipy.optimize import lsq_linear

import conformio as cio


def digraph(rng, n_nodes=12, n_edges=40, zones=0):
    """A connected random digraph with parallel edges: a ring both ways, plus random edges."""
    ring = np.arange(n_nodes)
    tails = np.concatenate([ring, np.roll(ring, -1), rng.integers(n_nodes, size=n_edges)])
    heads = np.concatenate([np.roll(ring, -1), ring, rng.integers(n_nodes, size=n_edges)])
    keep = tails != heads
    closed = np.arange(n_nodes) < zones
    return cio.Network(tails[keep], heads[keep], n_nodes=n_nodes, zones=closed)


def pairs(rng, n_nodes, n_rows):
    return np.array([rng.choice(n_nodes, 2, replace=False) for _ in range(n_rows)], dtype=float)


def trips(rng, network, n_rows, spread=1.0):
    """Trips of drivers with their own random costs, and a centre they scatter around."""
    center = rng.uniform(0.1, 1.0, network.n_edges)
    problem = cio.ShortestPath(network)
    perceived = np.maximum(center * rng.uniform(1 - spread / 2, 1 + spread, (n_rows, network.n_edges)), 0.0)
    contexts = pairs(rng, network.n_nodes, n_rows)
    return center, contexts, problem.solve(perceived + 1e-3, contexts)


def angle_from_cuts(center, differences, nonnegative=False):
    """Angle to `{theta : differences theta >= 0}`, the rows being all `basis(x) - basis(x_hat)`."""
    center = center / np.linalg.norm(center)
    rows = np.vstack([differences, np.eye(len(center))]) if nonnegative else differences
    foot = closest(rows, center)
    if np.linalg.norm(foot) < 1e-6:
        return np.pi
    return float(np.arctan2(np.linalg.norm(center - foot), np.linalg.norm(foot)))


def closest(rows, center):
    """Projection of `center` on `{theta : rows theta >= 0}`: bounded least squares in its multipliers, checked."""
    rows = rows[np.abs(rows).any(axis=1)]
    columns = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).T
    foot = center + columns @ lsq_linear(columns, -center, (0, np.inf), method="bvls", tol=1e-15, max_iter=5000).x
    assert (columns.T @ foot).min(initial=0.0) > -1e-9
    return foot


def binary_points(problem, context):
    points = np.array(list(itertools.product([0.0, 1.0], repeat=problem.n_vars)))
    return points[problem.is_feasible(points, np.tile(context, (len(points), 1)))]


def vertices(A_ub, b_ub, lower, upper):
    """All vertices of a small bounded polytope, by solving every square subsystem."""
    n = len(lower)
    normals = np.vstack([A_ub, -np.eye(n), np.eye(n)])
    sides = np.concatenate([b_ub, -lower, upper])
    found = []
    for rows in itertools.combinations(range(len(sides)), n):
        square = normals[list(rows)]
        if abs(np.linalg.det(square)) > 1e-10:
            point = np.linalg.solve(square, sides[list(rows)])
            if (normals @ point <= sides + 1e-9).all():
                found.append(point)
    return np.unique(np.round(found, 12), axis=0)


def as_csr(decisions):
    return sparse.csr_array(decisions)
