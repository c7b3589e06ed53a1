"""Least-cost 0/1 flows of one unit, for costs of any sign: a linear program on one network.

    min c . x   over  (inflow - outflow)(i) = [i = destination] - [i = origin],  0 <= x <= 1,  x = 0 on
    unusable edges

Its matrix is totally unimodular, so a vertex is 0/1 (paper, appendix Forward Problems); with negative costs
it may hold cycles beside the path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from conformio._kernels.flows import equivalent_flows
from conformio.checks import BoolArray, FloatArray, IntArray
from conformio.errors import SolverError
from conformio.networks.network import Network
from conformio.networks.tied_paths import TooManyTiesError
from conformio.solvers import HighsModel

__all__ = ["FLOW_LIMIT", "Flow", "FlowProgram", "has_light_cycle", "usable_edges"]

FLOW_LIMIT = 10_000
_INTEGRAL = 1e-6


@dataclass(frozen=True)
class Flow:
    """A least-cost flow, the node potentials that prove it, and its cost."""

    x: BoolArray
    potentials: FloatArray
    value: float


class FlowProgram:
    """One solver model per network: costs, sides and, with zones, bounds change between solves.

    Parameters
    ----------
    network : Network
    where : str
        Named in errors.
    """

    def __init__(self, network: Network, where: str):
        self.network, self.where = network, where
        n, m = network.n_nodes, network.n_edges
        self._zoned = bool(network.zones.any())
        self._model = HighsModel(
            network.incidence, np.zeros(n), np.zeros(n), np.zeros(m), np.ones(m), where=where, forgetful=True
        )

    def solve(self, costs: FloatArray, origin: int, destination: int, row: int) -> Flow:
        """A least-cost flow for costs of any sign; `row` is named when there is none."""
        scale = float(np.abs(costs).max()) or 1.0  # the solver's tolerances are absolute
        balance = np.zeros(self.network.n_nodes)
        balance[origin] -= 1.0
        balance[destination] += 1.0
        lower = upper = None
        if self._zoned:
            upper = usable_edges(self.network, origin, destination).astype(np.float64)
            lower = np.zeros(self.network.n_edges)
        answer = self._model.solve(costs / scale, balance, balance, lower, upper, row=row)
        x = answer.x > 0.5
        if np.abs(answer.x - x).max() > _INTEGRAL:
            reason = "the flow program stopped away from a vertex; rescale the parameters"
            raise SolverError(self.where, reason, row)
        return Flow(x, answer.row_duals * scale, float(costs @ x))

    def solve_all(self, costs: FloatArray, origin: int, destination: int, tolerance: float, row: int) -> list[IntArray]:
        """The edges of every 0/1 flow within `slack = tolerance * max |costs|` of the least cost.

        Edges whose reduced cost `c_ij - (w_j - w_i)` differs from 0 by more than the slack are alike in all
        of them; the others are searched for equivalent flows.

        Raises
        ------
        TooManyTiesError
            Beyond `FLOW_LIMIT` flows.
        """
        flow = self.solve(costs, origin, destination, row)
        slack = tolerance * float(np.abs(costs).max())
        tails, heads = self.network.tails, self.network.heads
        reduced = costs - (flow.potentials[heads] - flow.potentials[tails])
        loose = (np.abs(reduced) <= slack) & usable_edges(self.network, origin, destination)
        loose &= _on_residual_cycles(self.network, loose, flow.x)
        free = np.flatnonzero(loose)
        complete, flips = equivalent_flows(tails[free], heads[free], self.network.n_nodes, flow.x[free], FLOW_LIMIT)
        if not complete:
            raise TooManyTiesError(f"more than {FLOW_LIMIT} flows tie")
        tied = flips @ costs[free] <= flips[0] @ costs[free] + slack
        fixed = np.flatnonzero(flow.x & ~loose)
        return [np.sort(np.concatenate([fixed, free[flip]])) for flip in flips[tied]]


def usable_edges(network: Network, origin: int, destination: int) -> BoolArray:
    """Edges that neither leave a zone other than the origin nor enter one other than the destination."""
    zones = network.zones
    leaves = ~zones[network.tails] | (network.tails == origin)
    enters = ~zones[network.heads] | (network.heads == destination)
    return np.asarray(leaves & enters)


def has_light_cycle(network: Network, costs: FloatArray, usable: BoolArray, slack: float) -> bool:
    """Whether usable edges of cost at most `slack` form a cycle; for costs >= 0 none else is as light."""
    light = np.flatnonzero(usable & (costs <= slack))
    return bool(_cyclic(network.n_nodes, network.tails[light], network.heads[light]).any())


def _on_residual_cycles(network: Network, loose: BoolArray, x: BoolArray) -> BoolArray:
    """Which loose edges lie on a cycle when used edges are turned around; the others cannot change."""
    edges = np.flatnonzero(loose)
    used = x[edges]
    tails = np.where(used, network.heads[edges], network.tails[edges])
    heads = np.where(used, network.tails[edges], network.heads[edges])
    found = np.zeros(network.n_edges, dtype=np.bool_)
    found[edges] = _cyclic(network.n_nodes, tails, heads)
    return found


def _cyclic(n_nodes: int, tails: IntArray, heads: IntArray) -> BoolArray:
    """Which of these edges lie on a cycle: both ends in one strongly connected piece."""
    links = sparse.csr_array((np.ones(len(tails)), (tails, heads)), shape=(n_nodes, n_nodes))
    _, piece = connected_components(links, connection="strong")
    return np.asarray(piece[tails] == piece[heads])
