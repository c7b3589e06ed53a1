"""An independent route to the distance of a path's cone: detours as columns, in units of what they gain.

The cone is `{theta >= 0 : a . theta >= 0 for every detour a}`, `a` being +1 on the detour and -1 on the stretch that it
replaces. The closest `theta = c + A v + mu`, `v, mu >= 0`, solves a small quadratic program in the Gram matrix of the
columns, whose entries are whole numbers, and in the detours' gains `-a . c`, summed exactly: nothing cancels,
however small the distance. Detours come from shortest paths under the current `theta` until none gains anything.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence

import numpy as np

from conformio.checks import FloatArray
from conformio.networks import Network

__all__ = ["distance"]

_NEGLIGIBLE = 1e-12
_ROUNDING = 1e-16


def _shortest(network: Network, theta: FloatArray, origin: int, destination: int) -> list[int]:
    """Edges of a least-cost path that crosses no zone, in walking order."""
    leaving: list[list[tuple[int, int]]] = [[] for _ in range(network.n_nodes)]
    for e, (i, j) in enumerate(zip(network.tails.tolist(), network.heads.tolist(), strict=True)):
        leaving[i].append((e, j))
    dist, queue = {origin: 0.0}, [(0.0, origin)]
    last: dict[int, int] = {}
    done: set[int] = set()
    while queue:
        reached, i = heapq.heappop(queue)
        if i in done:
            continue
        done.add(i)
        if network.zones[i] and i != origin:
            continue
        for e, j in leaving[i]:
            if j not in done and reached + theta[e] < dist.get(j, math.inf):
                dist[j], last[j] = reached + theta[e], e
                heapq.heappush(queue, (dist[j], j))
    node = destination
    path: list[int] = []
    while node != origin:
        path.append(last[node])
        node = int(network.tails[last[node]])
    return path[::-1]


def _detours(network: Network, path: Sequence[int], other: list[int]) -> Iterator[tuple[list[int], Sequence[int]]]:
    """(detour, stretch) pairs by which `other` leaves `path`."""
    place = {int(network.tails[e]): k for k, e in enumerate(path)} | {int(network.heads[path[-1]]): len(path)}
    start = 0
    run: list[int] = []
    for e in other:
        run.append(e)
        at = place.get(int(network.heads[e]))
        if at is not None:
            if run != path[start:at] and at > start:
                yield run, path[start:at]
            if at > start:
                start, run = at, []


def _least_squares(gram: FloatArray, gains: FloatArray) -> FloatArray:
    """`min 1/2 v'Gv - gains.v` over `v >= 0`, by active sets."""
    v, inside = np.zeros(len(gains)), np.zeros(len(gains), dtype=bool)
    for _ in range(50 * len(gains)):
        slope = np.where(inside, -np.inf, gains - gram @ v)
        enters = int(np.argmax(slope))
        if slope[enters] <= _NEGLIGIBLE * np.abs(gains).max():
            return v
        inside[enters] = True
        while True:
            used = np.flatnonzero(inside)
            fit = np.linalg.lstsq(gram[np.ix_(used, used)], gains[used], rcond=1e-13)[0]
            if (fit > 0).all():
                v[used] = fit
                break
            falling = fit <= 0
            step = (v[used] / np.maximum(v[used] - fit, 1e-300))[falling].min()
            v[used] += step * (fit - v[used])
            inside[used[falling & (v[used] <= 1e-14 * v.max())]] = False
            v[~inside] = 0.0
    raise AssertionError("active sets cycle")


def distance(
    network: Network, center: FloatArray, origin: int, destination: int, path: Sequence[int], max_rounds: int = 400
) -> tuple[float, int]:
    """Distance from `center` to the nonnegative costs that make the walked `path` shortest, and the searches made."""
    columns: list[dict[int, float]] = []
    gains: list[float] = []
    for e in path:
        columns.append({e: 1.0})
        gains.append(-center[e])
    theta, largest, v = center.copy(), 0.0, np.zeros(len(path))
    for searches in range(1, max_rounds + 1):
        new = 0
        for detour, stretch in _detours(network, path, _shortest(network, np.maximum(theta, 0.0), origin, destination)):
            column = {e: float((e in detour) - (e in stretch)) for e in [*detour, *stretch]}
            gain = math.fsum([center[e] for e in stretch] + [-center[e] for e in detour])
            left = gain - sum(sign * (theta[e] - center[e]) for e, sign in column.items())
            largest = max(largest, gain)
            if left > max(10 * _NEGLIGIBLE * largest, _ROUNDING):  # less is rounding of the centre
                columns.append(column)
                gains.append(gain)
                new += 1
        if not new:
            return math.sqrt(max(float(np.dot(gains, v)), 0.0)), searches
        matrix = np.zeros((network.n_edges, len(columns)))
        for k, column in enumerate(columns):
            matrix[list(column), k] = list(column.values())
        rows = np.flatnonzero(matrix.any(axis=1))
        gram = matrix[rows].T @ matrix[rows]
        v = _least_squares(gram, np.array(gains))
        theta = center + matrix @ v
    raise AssertionError("too many rounds")
