"""The 0/1 knapsack problem `max p . x` over `w . x <= c`, exactly, for real weights and values (compiled).

`fill` expands a core: items are sorted by value per weight, the greedy prefix that fits is the first state,
and items are added from the right or taken out from the left of the prefix, one at a time and in turn. A
state is its pair (weight, value). States that another one beats in both, and states whose linear relaxation
cannot reach the best solution, are dropped; items whose linear relaxation fixes them are skipped. That is
dynamic programming over a Pareto list: exact, and short in practice because it touches few items.

Values within `TIE` times the largest one count as equal. Among equal solutions the one with the fewest items
wins, then the one whose sorted item list is lexicographically first, so the answer does not hang on rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from conformio.checks import BoolArray, FloatArray, IntArray

__all__ = ["TIE", "fill", "fill_rows", "fill_twin", "tied_subsets_twin", "walk_ties"]

TIE = 1e-13
"""Difference of values, relative to the largest value that fits, below which solutions tie."""
MAX_STATES = 30_000_000
"""Most states `fill` keeps, and most nodes `walk_ties` visits, before they give up."""
_WEIGHT_TIE = 1e-13


class _States(NamedTuple):
    """The Pareto list, by rising weight and value; `node` leads to the items."""

    weight: FloatArray
    value: FloatArray
    size: IntArray
    node: IntArray


class _Past(NamedTuple):
    """How every state came about: node `i` is node `parent[i]` with position `toggled[i]` changed.

    Node 0 is the prefix. `items` maps positions to items, `start` is the length of the prefix; `mark` (zeros) and
    `subset` are scratch.
    """

    parent: IntArray
    toggled: IntArray
    items: IntArray
    start: int
    mark: IntArray
    subset: BoolArray


@njit(cache=True, nogil=True)
def _by_density(weights: FloatArray, values: FloatArray, items: IntArray) -> IntArray:
    """Sort `items` by falling value per weight, equal ones by index, weightless ones by their sign."""
    density = np.empty(len(items))
    for i in range(len(items)):
        w, p = weights[items[i]], values[items[i]]
        density[i] = -p / w if w > 0.0 else (0.0 if p == 0.0 else -np.sign(p) * np.inf)
    return items[np.argsort(density, kind="mergesort")]


@njit(cache=True, nogil=True)
def _largest_fitting(weights: FloatArray, values: FloatArray, capacity: float) -> float:
    largest = 0.0
    for j in range(len(weights)):
        if weights[j] <= capacity and values[j] > largest:
            largest = values[j]
    return largest


@njit(cache=True, nogil=True)
def _goes_first(a: int, b: int, past: _Past) -> bool:
    """Whether node `a`'s items, sorted, come lexicographically before node `b`'s (same number of items)."""
    u, v = a, b
    while u != v:
        if u > v:
            past.mark[past.toggled[u]] += 1
            u = past.parent[u]
        else:
            past.mark[past.toggled[v]] -= 1
            v = past.parent[v]
    meet, lowest, verdict = u, -1, False
    for end in (a, b):
        u = end
        while u != meet:
            j = past.toggled[u]
            if past.mark[j] != 0 and (lowest < 0 or past.items[j] < lowest):
                lowest = past.items[j]
                # Toggling adds an item right of the prefix and takes one out of it.
                verdict = (past.mark[j] > 0) == (j >= past.start)
            u = past.parent[u]
    for end in (a, b):
        u = end
        while u != meet:
            past.mark[past.toggled[u]] = 0
            u = past.parent[u]
    return verdict


@njit(cache=True, nogil=True)
def _first_differing(new: BoolArray, old: BoolArray, index: IntArray) -> bool:
    """Whether subset `new` is lexicographically before `old` (same number of items)."""
    lowest, verdict = -1, False
    for j in range(len(index)):
        if new[j] != old[j] and (lowest < 0 or index[j] < lowest):
            lowest, verdict = index[j], new[j]
    return verdict


@njit(cache=True, nogil=True)
def _read_state(node: int, past: _Past) -> None:
    """Write the subset that a node stands for into the scratch space `past.subset`."""
    past.subset[: past.start] = True
    past.subset[past.start :] = False
    while node > 0:
        past.subset[past.toggled[node]] = not past.subset[past.toggled[node]]
        node = past.parent[node]


@njit(cache=True, nogil=True)
def _greedy(w: FloatArray, p: FloatArray, capacity: float, subset: BoolArray) -> tuple[int, float, float, float]:
    """Length, weight and value of the longest prefix that fits, and the value after filling up greedily."""
    start, room, value = -1, capacity, 0.0
    prefix_weight, prefix_value = 0.0, 0.0
    for j in range(len(w)):
        if w[j] <= room:
            subset[j] = True
            room -= w[j]
            value += p[j]
        elif start < 0:
            start, prefix_weight, prefix_value = j, capacity - room, value
    return start, prefix_weight, prefix_value, value


@njit(cache=True, nogil=True)
def _grown(array: IntArray, size: int) -> IntArray:
    """`array` itself when it holds `size` entries, else a longer copy."""
    if len(array) >= size:
        return array
    longer = np.empty(2 * size, array.dtype)
    longer[: len(array)] = array
    return longer


@njit(cache=True, nogil=True)
def _offer(value: float, count: int, node: int, past: _Past, tie: float, best: BoolArray, record: FloatArray) -> None:
    """Make a feasible state the best solution if it wins.

    `record` holds the best value seen and the value and number of items of `best`.
    """
    record[0] = max(record[0], value)
    if value < record[0] - tie:
        return
    wins = record[1] < record[0] - tie or count < record[2]
    if not wins and count > record[2]:
        return
    _read_state(node, past)
    if wins or _first_differing(past.subset, best, past.items):
        best[:] = past.subset
        record[1], record[2] = value, count


@njit(cache=True, nogil=True)
def _merge(
    old: _States,
    new: _States,
    old_size: int,
    n_nodes: int,
    step: tuple[int, int, float, float],
    limits: tuple[float, float, float],
    room: tuple[float, float, float],
    past: _Past,
    best: BoolArray,
    record: FloatArray,
) -> tuple[int, int]:
    """Merge the states with themselves moved by one item into `new`; returns numbers of states and nodes."""
    j, sign, dw, dp = step
    tie, heavier, slack = limits
    capacity, gain, loss = room
    size, kept, moved, reached = 0, 0, 0, -np.inf
    while kept < old_size or moved < old_size:
        stays = moved == old_size or (kept < old_size and old.weight[kept] <= old.weight[moved] + dw)
        if stays:
            w, p, c, node = old.weight[kept], old.value[kept], old.size[kept], old.node[kept]
            kept += 1
        else:
            w, p, c, node = (
                old.weight[moved] + dw,
                old.value[moved] + dp,
                old.size[moved] + sign,
                np.int64(n_nodes),
            )
            past.parent[n_nodes], past.toggled[n_nodes] = old.node[moved], j
            moved += 1
        if p < reached - tie:
            continue
        if p <= reached + tie:
            last = size - 1
            if c > new.size[last] or (c == new.size[last] and not _goes_first(node, new.node[last], past)):
                continue
        if not stays and w <= capacity:
            _offer(p, c, node, past, tie, best, record)
        if p + (capacity - w) * (gain if w <= capacity else loss) < record[0] - slack:
            continue
        while size > 0 and new.weight[size - 1] >= w - heavier:
            size -= 1
        reached = max(reached, p)
        new.weight[size], new.value[size], new.size[size], new.node[size] = w, p, c, node
        size += 1
        n_nodes += not stays
    return size, n_nodes


@njit(cache=True, nogil=True)
def _core(w: FloatArray, p: FloatArray, index: IntArray, capacity: float, tie: float, best: BoolArray) -> bool:
    """Solve for items sorted by density of which not all fit; False when states run out."""
    m = len(w)
    start, prefix_weight, prefix_value, greedy_value = _greedy(w, p, capacity, best)
    record = np.array([greedy_value, greedy_value, np.float64(best.sum())])
    slack, critical = (m + 2) * tie, p[start] / w[start]
    relaxed = prefix_value + (capacity - prefix_weight) * critical
    parent, toggled = np.zeros(1024, np.int32), np.zeros(1024, np.int32)
    subset, mark = np.zeros(m, np.bool_), np.zeros(m, np.int64)
    states = _States(np.array([prefix_weight]), np.array([prefix_value]), np.array([start]), np.zeros(1, np.int64))
    left, right, size, n_nodes, turn = start - 1, start, 1, 1, True
    while size > 0 and (left >= 0 or right < m):
        adds = right < m and (turn or left < 0)
        turn = not turn
        j, sign = (right, 1) if adds else (left, -1)
        if adds:
            right += 1
        else:
            left -= 1
        if relaxed - abs(p[j] - critical * w[j]) < record[0] - slack:
            continue
        if n_nodes + size > MAX_STATES:
            return False
        gain = p[right] / w[right] if right < m else 0.0
        loss = p[left] / w[left] if left >= 0 and w[left] > 0.0 else np.inf
        parent, toggled = _grown(parent, n_nodes + size + 1), _grown(toggled, n_nodes + size + 1)
        past = _Past(parent, toggled, index, start, mark, subset)
        new = _States(
            np.empty(2 * size), np.empty(2 * size), np.empty(2 * size, np.int64), np.empty(2 * size, np.int64)
        )
        step, limits = (j, sign, sign * w[j], sign * p[j]), (tie, _WEIGHT_TIE * capacity, slack)
        size, n_nodes = _merge(states, new, size, n_nodes, step, limits, (capacity, gain, loss), past, best, record)
        states = new
    return True


@njit(cache=True, nogil=True)
def fill(weights: FloatArray, values: FloatArray, capacity: float, take: FloatArray) -> bool:
    """Write an optimal 0/1 vector into `take`; False when that needs more than `MAX_STATES` states."""
    take[:] = 0.0
    tie = TIE * _largest_fitting(weights, values, capacity)
    items = np.flatnonzero((values > tie) & (weights <= capacity))
    if weights[items].sum() <= capacity:
        take[items] = 1.0
        return True
    index = _by_density(weights, values, items)
    best = np.zeros(len(index), np.bool_)
    solved = _core(weights[index], values[index], index, capacity, tie, best)
    take[index[best]] = 1.0
    return solved


@njit(cache=True, nogil=True)
def fill_rows(weights: FloatArray, values: FloatArray, capacities: FloatArray, take: FloatArray) -> int:
    """`fill` for every capacity; `values` has one row for all or one each. First unsolved row, or -1."""
    for k in range(len(capacities)):
        if not fill(weights, values[k if len(values) > 1 else 0], capacities[k], take[k]):
            return k
    return -1


@njit(cache=True, nogil=True)
def _relaxation(weights: FloatArray, values: FloatArray, order: IntArray, capacity: float) -> tuple[float, float]:
    """Critical value per weight and value of the linear relaxation; `order` falls in density."""
    room, value = capacity, 0.0
    for j in order:
        if values[j] <= 0.0:
            break
        if weights[j] > room:
            ratio = values[j] / weights[j]
            return ratio, value + room * ratio
        room -= weights[j]
        value += values[j]
    return 0.0, value


@njit(cache=True, nogil=True)
def walk_ties(
    weights: FloatArray, values: FloatArray, capacity: float, floor: float, ranks: IntArray, out: FloatArray
) -> int:
    """Walk through every 0/1 vector that fits and is worth at least `floor`, depth first.

    The vectors of the given ranks (ascending, repeats allowed, counted from 0) are written to the rows of
    `out`. Returns how many vectors there are, or -1 when the walk is longer than `MAX_STATES` nodes.
    """
    order = _by_density(weights, values, np.flatnonzero(weights <= capacity))
    critical, relaxed = _relaxation(weights, values, order, capacity)
    vector = np.zeros(len(weights))
    core = np.empty(len(order), np.int64)
    # One entry per level: going back up must restore the very same floats.
    room, need = np.full(len(order) + 1, capacity), np.full(len(order) + 1, floor)
    k = 0
    for j in order:
        preference = values[j] - critical * weights[j]
        if relaxed - abs(preference) >= floor:
            core[k] = j
            k += 1
        elif preference > 0.0:
            vector[j] = 1.0
            room[0] -= weights[j]
            need[0] -= values[j]
    core = core[:k]
    level, count, written, visited, descending = 0, 0, 0, 0, True
    while level >= 0:
        visited += 1
        if visited > MAX_STATES:
            return -1
        if descending and level < k and _relaxation(weights, values, core[level:], room[level])[1] >= need[level]:
            j = core[level]
            takes = weights[j] <= room[level]
            vector[j] = takes
            room[level + 1] = room[level] - takes * weights[j]
            need[level + 1] = need[level] - takes * values[j]
            level += 1
            continue
        if descending and level == k and need[k] <= 0.0:
            while written < len(ranks) and ranks[written] == count:
                out[written] = vector
                written += 1
            count += 1
        level -= 1
        descending = level >= 0 and vector[core[level]] == 1.0
        if descending:
            vector[core[level]] = 0.0
            room[level + 1], need[level + 1] = room[level], need[level]
            level += 1
    return count


def tied_subsets_twin(weights: FloatArray, values: FloatArray, capacity: float, slack: float) -> FloatArray:
    """All 0/1 vectors that fit and are worth within `slack` of the best, by enumeration, shape (k, n)."""
    n = len(weights)
    vectors = ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(np.float64)
    vectors = vectors[vectors @ weights <= capacity]
    worth = vectors @ values
    return vectors[worth >= worth.max() - slack]


def fill_twin(weights: FloatArray, values: FloatArray, capacity: float) -> FloatArray:
    """`fill` by full enumeration, ties and all."""
    fitting = values[weights <= capacity]
    tie = TIE * max(fitting.max(initial=0.0), 0.0)
    ties = tied_subsets_twin(weights, values, capacity, tie * (len(weights) + 2))
    return min(ties, key=lambda x: (x.sum(), np.flatnonzero(x).tolist()))
