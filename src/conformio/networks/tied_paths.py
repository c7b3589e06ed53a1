"""All least-cost simple paths of one origin and destination, to draw from uniformly (costs >= 0).

A path ties when its cost is within `slack` of the least. All its edges are then tight, `d(i) + c_ij <= d(j)
+ slack` with `d` the costs from the origin. Where the tight edges form no cycle, tight paths are counted
and drawn in proportion; a draw whose excesses add up beyond `slack` is drawn again, which leaves the law
uniform over the ties.

Zero-cost cycles make tight edges cyclic, and simple paths are then hard to count in general. A simple path
enters and leaves a strongly connected piece once, so it is enough to list the simple paths inside each
piece, up to `PIECE_LIMIT` steps of search, and to count across pieces.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from itertools import accumulate

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components

from conformio._kernels.ties import count_tight, draw_tight
from conformio.checks import FloatArray, IntArray
from conformio.networks.network import Network
from conformio.networks.shortest import sealed

__all__ = ["PIECE_LIMIT", "TiedPaths", "TooManyTiesError"]

PIECE_LIMIT = 100_000
_REDRAW_LIMIT = 10_000


class TooManyTiesError(Exception):
    """Ties cannot be drawn from; the caller knows the row and says so in the library's own error."""


class TiedPaths:
    """The tied paths of one pair, ready to be drawn from.

    Parameters
    ----------
    network : Network
    costs : float array >= 0, shape (n_edges,)
    dist : float array, shape (n_nodes,)
        Least costs from the origin (`cost_tree`); finite at the destination.
    origin, destination : int
    slack : float
    """

    def __init__(
        self,
        network: Network,
        costs: FloatArray,
        dist: FloatArray,
        origin: int,
        destination: int,
        slack: float,
    ):
        self._costs, self._best, self._slack = costs, float(dist[destination]), slack
        self._origin, self._destination = origin, destination
        self._search = (
            network.in_start, network.in_edges, network.tails, sealed(costs), network.zones,
            dist, origin, destination, slack,
        )  # fmt: skip
        acyclic, self._n_met, self._log_ways = count_tight(*self._search)
        self._pieces = None if acyclic else _Pieces.of(network, costs, dist, origin, destination, slack)

    def draw(self, rng: np.random.Generator) -> IntArray:
        """One of the tied paths, each as likely as any other: its edges in walking order."""
        for _ in range(_REDRAW_LIMIT):
            path = self._draw_tight(rng)
            if self._costs[path].sum() <= self._best + self._slack:
                return path
        raise TooManyTiesError("almost all paths of tight edges cost too much together")

    def _draw_tight(self, rng: np.random.Generator) -> IntArray:
        if self._pieces is not None:
            return self._pieces.draw(rng)
        return np.asarray(draw_tight(*self._search, self._log_ways, rng.random(self._n_met)))


@dataclass
class _Pieces:
    """Tight edges by strongly connected piece; `routes[v]` lists how its piece leads to `v`.

    `entering[u]` are the tight edges that come to `u` from other pieces, `ways[v]` the number of simple
    tight paths to `v` from the origin: `ways[v] = sum over routes (u, path) to v of entries(u)`.
    """

    origin: int
    destination: int
    tails: IntArray
    entering: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    routes: dict[int, list[tuple[int, list[int]]]] = field(default_factory=lambda: defaultdict(list))
    ways: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    entries: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    @classmethod
    def of(
        cls,
        network: Network,
        costs: FloatArray,
        dist: FloatArray,
        origin: int,
        destination: int,
        slack: float,
    ) -> _Pieces:
        tails, heads = network.tails, network.heads
        crossed = ~network.zones[tails] | (tails == origin)
        # no simple path re-enters its origin or leaves its destination
        crossed &= (heads != origin) & (tails != destination) & np.isfinite(dist[tails])
        tight = np.flatnonzero(crossed)
        tight = tight[dist[tails[tight]] + costs[tight] <= dist[heads[tight]] + slack]
        shape = (network.n_nodes, network.n_nodes)
        links = sparse.csr_array((np.ones(len(tight)), (tails[tight], heads[tight])), shape=shape)
        _, piece = connected_components(links, connection="strong")
        behind = breadth_first_order(sparse.csr_array(links.T), destination, return_predecessors=False)
        tight = tight[np.isin(heads[tight], behind)]
        pieces = cls(origin, destination, tails)
        pieces._count(tight.tolist(), heads, piece.tolist())
        return pieces

    def _count(self, tight: list[int], heads: IntArray, piece: list[int]) -> None:
        inside: dict[int, list[int]] = defaultdict(list)
        before: dict[int, set[int]] = {piece[self.origin]: set(), piece[self.destination]: set()}
        exits, nodes = {self.destination}, defaultdict(set)
        for node in (self.origin, self.destination):
            nodes[piece[node]].add(node)
        for e in tight:
            i, j = int(self.tails[e]), int(heads[e])
            nodes[piece[i]].add(i)
            nodes[piece[j]].add(j)
            if piece[i] == piece[j]:
                inside[i].append(e)
            else:
                self.entering[j].append(e)
                exits.add(i)
                before.setdefault(piece[j], set()).add(piece[i])
        budget = PIECE_LIMIT
        for k in TopologicalSorter(before).static_order():
            for u in sorted(nodes[k]):
                self.entries[u] = (u == self.origin) + sum(self.ways[int(self.tails[e])] for e in self.entering[u])
                if self.entries[u]:
                    budget = self._list_routes(u, inside, heads, exits, budget)

    def _list_routes(self, u: int, inside: dict[int, list[int]], heads: IntArray, exits: set[int], budget: int) -> int:
        """List the simple paths from `u` inside its piece; return what is left of the search budget."""
        path: list[int] = []
        passed = {u}
        stack = [iter([-1])]
        while stack:
            e = next(stack[-1], None)
            if e is None:
                stack.pop()
                if path:
                    passed.discard(int(heads[path.pop()]))
                continue
            v = u if e < 0 else int(heads[e])
            if e >= 0:
                if v in passed:
                    continue
                passed.add(v)
                path.append(e)
            budget -= 1
            if budget < 0:
                raise TooManyTiesError(f"zero-cost cycles tie more than {PIECE_LIMIT} partial paths")
            if v in exits:
                self.routes[v].append((u, path.copy()))
                self.ways[v] += self.entries[u]
            stack.append(iter(inside[v]))
        return budget

    def draw(self, rng: np.random.Generator) -> IntArray:
        backwards: list[int] = []
        v = self.destination
        while True:
            u, path = self._choose_route(v, rng)
            backwards.extend(reversed(path))
            if u == self.origin:
                return np.array(backwards[::-1], dtype=np.int64)
            e = self._choose_edge(u, rng)
            backwards.append(e)
            v = int(self.tails[e])

    def _choose_route(self, v: int, rng: np.random.Generator) -> tuple[int, list[int]]:
        weights = [self.entries[u] for u, _ in self.routes[v]]
        return self.routes[v][_choose(weights, rng)]

    def _choose_edge(self, u: int, rng: np.random.Generator) -> int:
        weights = [self.ways[int(self.tails[e])] for e in self.entering[u]]
        return self.entering[u][_choose(weights, rng)]


def _choose(weights: list[int], rng: np.random.Generator) -> int:
    """An index in proportion to whole weights of any size; 64 bits to spare make the bias 2^-64."""
    bounds = list(accumulate(weights))
    number = int.from_bytes(rng.bytes(bounds[-1].bit_length() // 8 + 9), "little") % bounds[-1]
    return bisect_right(bounds, number)
