"""Shortest paths: `min theta . x` over 0/1 flows `x` of one unit from `u = (origin, destination)`.

With costs >= 0 a least-cost simple path is optimal and the compiled search finds it; with a negative cost
the problem is the flow linear program on [0, 1], whose solutions may hold cycles beside the path (paper,
appendix Forward Problems; the matrix is totally unimodular).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from conformio._kernels.flow_rows import are_unit_flows
from conformio._kernels.paths import path_totals
from conformio.checks import (
    BoolArray,
    Decisions,
    Domain,
    FloatArray,
    IntArray,
    as_contexts,
    check_choice,
    first_row,
)
from conformio.errors import InfeasibleProblemError, InvalidInputError, SolverError, invalid, told_of
from conformio.networks import Network
from conformio.networks.flow_program import FlowProgram, has_light_cycle, usable_edges
from conformio.networks.shortest import cost_tree, sealed, shortest_paths
from conformio.networks.tied_paths import TiedPaths, TooManyTiesError
from conformio.problems._distinct_rows import distinct_rows
from conformio.problems._per_thread import PerThread
from conformio.problems.base import Problem
from conformio.problems.cones import PathCones
from conformio.problems.polyhedra import Polyhedron, Sides

__all__ = ["TIE_TOLERANCE", "ShortestPath"]

TIE_TOLERANCE = 1e-9
_BINARY = 1e-9
_COARSER = "round or rescale the parameters, or keep them away from 0"


class ShortestPath(Problem):
    """Cheapest trips on a network; a context is (origin, destination), a decision has one 0/1 entry per edge.

    A decision is feasible when it sends one unit from origin to destination over usable edges: those that
    neither leave a zone other than the origin nor enter one other than the destination. Where both are the
    same node the empty trip is feasible.

    Parameters
    ----------
    network : Network
    domain : {"nonnegative", "free"}
        Where edge costs live. `solve` then returns a simple path when no cost is negative, of equal costs
        the one with the fewest edges; with a negative cost a vertex of the flow polytope, which may hold
        cycles.

    Notes
    -----
    `sample_optimal` is uniform over all solutions that tie with the optimum; multiplying all costs by one
    number changes no tie. For `domain="nonnegative"` solutions are the simple paths, and those tie that cost
    at most `(1 + TIE_TOLERANCE)` times the optimum (where it is 0, exactly 0). Cycles that cost nothing make
    them hard to count, and beyond `tied_paths.PIECE_LIMIT` steps of search inside such cycles it raises
    `SolverError`. For `domain="free"` solutions are all 0/1 flows, and those tie that lie within
    `TIE_TOLERANCE * max |theta|` of the optimum; where costs are negative or a cycle costs nothing, more
    than `flow_program.FLOW_LIMIT` of them raise `SolverError`.

    Examples
    --------
    >>> import numpy as np
    >>> from conformio.networks import Network
    >>> from conformio.problems.shortest_path import ShortestPath
    >>> trips = ShortestPath(Network([0, 1, 0], [1, 2, 2]))
    >>> trips.solve([1.0, 1.0, 3.0], [[0, 2], [1, 2]]).toarray()
    array([[1., 1., 0.],
           [0., 1., 0.]])
    >>> trips.is_optimal([1.0, 1.0, 3.0], [[0, 0, 1]], [[0, 2]])
    array([False])
    """

    sense = "min"
    context_width = 2
    binary = True

    def __init__(self, network: Network, domain: Domain = "nonnegative"):
        if not isinstance(network, Network):
            raise _no_network(network)
        check_choice(domain, ("nonnegative", "free"), "domain", "ShortestPath")
        self.network = network
        self.domain = domain
        self.n_params = self.n_vars = network.n_edges
        self._programs: PerThread[FlowProgram] = PerThread()

    def __repr__(self) -> str:
        return f"ShortestPath({self.network!r}, domain={self.domain!r})"

    def check_contexts(self, contexts: ArrayLike, where: str) -> FloatArray:
        """Contexts as (N, 2), origins and destinations nodes of the network."""
        if _holds_names(contexts):
            rule, remedy = "must be node numbers, not names", "Network.node_index turns names into numbers"
            raise invalid("contexts", where, rule, type(contexts).__name__ + " of names", remedy=remedy)
        values = as_contexts(contexts, self.context_width, where)
        last = self.network.n_nodes - 1
        if len(values) and (values.min() < 0 or values.max() > last or (values != np.rint(values)).any()):
            wrong = (values != np.round(values)) | (values < 0) | (values > last)
            row = first_row(wrong)
            column = int(np.flatnonzero(wrong[row])[0])
            value, name = values[row, column], ("origin", "destination")[column]
            rule = f"{name} must be in 0..{last}" if value == round(value) else f"{name} must be a whole number"
            known = self.network.node_ids is not None
            remedy = "Nodes are numbered from 0; Network.node_index turns names into numbers" if known else ""
            raise invalid("contexts", where, rule, f"{value:.15g}", row=row, remedy=remedy)
        return values

    def usable_edges(self, context: ArrayLike) -> BoolArray:
        """Edges a trip of this (origin, destination) may use, shape (n_edges,)."""
        ends = self.check_contexts(np.asarray(context)[None], self._where("usable_edges"))[0].astype(np.int64)
        return usable_edges(self.network, *ends)

    def feasible(self, decisions: Decisions, contexts: FloatArray) -> BoolArray:
        """Whether each decision is a 0/1 flow of one unit over usable edges, shape (N,)."""
        rows, network = sparse.csr_array(decisions), self.network
        origins, destinations = (sealed(contexts[:, column], np.int64) for column in (0, 1))
        verdict: BoolArray = are_unit_flows(
            sealed(rows.indptr, None), sealed(rows.indices, None), sealed(rows.data, None),
            network.tails, network.heads, network.zones, origins, destinations, _BINARY,
        )  # fmt: skip
        return verdict

    def check_decisions(self, decisions: Any, where: str) -> Decisions:
        """Decisions as a (N, n_edges) array or CSR."""
        try:
            return super().check_decisions(decisions, where)
        except InvalidInputError as error:
            if not _looks_like_paths(decisions):
                raise
            rule, remedy = "must have one 0/1 entry per edge", "network.decisions_from_paths turns paths into decisions"
            raise invalid("decisions", where, rule, "what look like paths", remedy=remedy) from error

    def why_infeasible(self, decision: FloatArray, context: FloatArray) -> str:
        """An entry, a street that is closed to the trip, or the ends of the path."""
        broken = np.flatnonzero(np.minimum(np.abs(decision), np.abs(decision - 1.0)) > _BINARY)
        if len(broken):
            return f"the entry of edge {broken[0]} is {decision[broken[0]]:g}, neither 0 nor 1"
        return _why_no_trip(self.network, np.flatnonzero(decision > 0.5), context)

    def to_state(self) -> dict[str, Any]:
        """The network and the domain."""
        return {"network": self.network.to_state(), "domain": self.domain}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The problem that `to_state` described."""
        parts = state["network"]
        if parts["zones"] is None:  # a file without a byte per node could ask for any amount of memory
            raise invalid("zones", "ShortestPath.from_state", "must say of every node whether it is one", None)
        return cls(Network(**parts), state["domain"])

    def polyhedron(self) -> Polyhedron:
        """Node-edge incidence; whole flows."""
        m = self.n_vars
        return Polyhedron(self.network.incidence, sparse.csr_array((0, m)), np.ones(m, dtype=np.bool_))

    def sides(self, context: FloatArray) -> Sides:
        """One unit from origin to destination, unusable edges closed."""
        origin, destination = context.astype(np.int64)
        balance = np.zeros(self.network.n_nodes)
        balance[origin] -= 1.0
        balance[destination] += 1.0
        upper = usable_edges(self.network, origin, destination).astype(np.float64)
        return Sides(b_eq=balance, b_ub=np.zeros(0), lower=np.zeros(self.n_vars), upper=upper)

    def cones(self, contexts: FloatArray, decisions: Decisions) -> PathCones:
        """Potentials on the network certify optimality."""
        return PathCones(self.network, contexts, sparse.csr_array(decisions), self.domain == "nonnegative")

    def nominal(self, theta: FloatArray, contexts: FloatArray) -> Decisions:
        """One optimal decision per row, CSR: by search where no cost is negative, else the flow program."""
        negative = np.broadcast_to((theta < 0).any(axis=-1), len(contexts))
        if not negative.any():
            return self._paths(theta, contexts)
        if negative.all():
            return self._flows(theta, contexts)
        groups = [np.flatnonzero(~negative), np.flatnonzero(negative)]
        parts = []
        for rows, solve in zip(groups, (self._paths, self._flows), strict=True):
            with told_of("ShortestPath.nominal", rows):
                parts.append(solve(theta[rows], contexts[rows]))
        return sparse.vstack(parts, format="csr")[np.argsort(np.concatenate(groups))]

    def _paths(self, theta: FloatArray, contexts: FloatArray) -> Decisions:
        batch = shortest_paths(self.network, theta, contexts)
        if not batch.found.all():
            raise self.no_path(contexts, first_row(~batch.found))
        return batch.decisions(self.n_vars)

    def optimal_totals(self, theta: FloatArray, contexts: FloatArray) -> tuple[FloatArray, float]:
        """How many of the rows' paths use each edge, and the sum of their costs."""
        if theta.min(initial=0.0) < 0.0:
            return super().optimal_totals(theta, contexts)
        network, counts = self.network, np.zeros(self.n_params)
        origins, destinations = (sealed(contexts[:, column], np.int64) for column in (0, 1))
        value, missing = path_totals(
            network.out_start, network.out_edges, network.tails, network.heads,
            sealed(theta), network.zones, origins, destinations, counts,
        )  # fmt: skip
        if missing >= 0:
            raise self.no_path(contexts, int(missing))
        return counts, float(value)

    def _flows(self, theta: FloatArray, contexts: FloatArray) -> Decisions:
        program = self._program()
        flows = []
        for row, (origin, destination) in enumerate(contexts.astype(np.int64)):
            costs = theta if theta.ndim == 1 else theta[row]
            try:
                flow = program.solve(costs, origin, destination, row)
            except InfeasibleProblemError as error:
                raise self.no_path(contexts, row) from error
            flows.append(np.flatnonzero(flow.x))
        return self._as_rows(flows)

    def no_path(self, contexts: FloatArray, row: int) -> InfeasibleProblemError:
        """The error for a row of `contexts` whose ends no path joins, to be raised."""
        origin, destination = (int(node) for node in contexts[row])
        crossing = " that crosses no zone" if self.network.zones.any() else ""
        reason = f"there is no path{crossing} from {origin} to {destination}; take the row out or join the nodes"
        return InfeasibleProblemError("ShortestPath.nominal", reason, row)

    def draw_optimal(self, theta: FloatArray, contexts: FloatArray, rng: np.random.Generator) -> Decisions:
        """One decision per row, uniform over the row's ties; see the class notes."""
        chosen: list[IntArray] = [np.zeros(0, dtype=np.int64)] * len(contexts)
        rooted: tuple[FloatArray, int, FloatArray] | None = None
        for costs, rows in distinct_rows(theta, contexts) if theta.ndim == 1 else _single_rows(theta):
            row = int(rows[0])
            origin, destination = (int(node) for node in contexts[row])
            try:
                if (costs < 0).any():
                    draws = self._draw_flows(costs, contexts, rows, rng)
                else:
                    # groups come sorted by origin, so that one tree serves all of them in turn
                    if rooted is None or rooted[0] is not costs or rooted[1] != origin:
                        rooted = (
                            costs,
                            origin,
                            cost_tree(self.network, costs, origin)[0],
                        )
                    draws = self._draw_paths(costs, rooted[2], contexts, rows, rng)
            except TooManyTiesError as error:
                reason = f"ties cannot be sampled from {origin} to {destination}: {error}; {_COARSER}"
                raise SolverError(self._where("draw_optimal"), reason, row) from error
            for k, edges in zip(rows, draws, strict=True):
                chosen[k] = edges
        return self._as_rows(chosen)

    def _draw_paths(
        self,
        costs: FloatArray,
        dist: FloatArray,
        contexts: FloatArray,
        rows: IntArray,
        rng: np.random.Generator,
    ) -> Iterable[IntArray]:
        """Draws for equal rows with costs >= 0; all optimal flows are paths unless a cycle costs nothing."""
        origin, destination = (int(node) for node in contexts[rows[0]])
        if not np.isfinite(dist[destination]):
            raise self.no_path(contexts, int(rows[0]))
        scale = dist[destination] if self.domain == "nonnegative" else costs.max()
        slack = TIE_TOLERANCE * float(scale)
        if self.domain == "free" and costs.min() <= slack:
            usable = usable_edges(self.network, origin, destination)
            if has_light_cycle(self.network, costs, usable, slack):
                return self._draw_flows(costs, contexts, rows, rng)
        ties = TiedPaths(self.network, costs, dist, origin, destination, slack)
        return [ties.draw(rng) for _ in rows]

    def _draw_flows(
        self, costs: FloatArray, contexts: FloatArray, rows: IntArray, rng: np.random.Generator
    ) -> Iterable[IntArray]:
        row = int(rows[0])
        origin, destination = (int(node) for node in contexts[row])
        try:
            flows = self._program().solve_all(costs, origin, destination, TIE_TOLERANCE, row)
        except InfeasibleProblemError as error:
            raise self.no_path(contexts, row) from error
        return [flows[k] for k in rng.integers(len(flows), size=len(rows))]

    def _program(self) -> FlowProgram:
        return self._programs.get(lambda: FlowProgram(self.network, "ShortestPath"))

    def _as_rows(self, edges: list[IntArray]) -> Decisions:
        indptr = np.cumsum([0, *(len(row) for row in edges)])
        flat = np.concatenate([np.zeros(0, dtype=np.int64), *edges])
        rows = sparse.csr_array((np.ones(len(flat)), flat, indptr), shape=(len(edges), self.n_vars))
        rows.sort_indices()
        return rows


def _no_network(given: object) -> InvalidInputError:
    remedy = "Write Network.from_networkx(graph)" if hasattr(given, "add_edge") else ""
    return invalid("network", "ShortestPath", "must be a Network", type(given).__name__, remedy=remedy)


def _holds_names(contexts: ArrayLike) -> bool:
    """Whether a string is among the entries; arrays of other faults have their own message."""
    try:
        entries = np.asarray(contexts)
    except (TypeError, ValueError):
        return False
    return entries.dtype.kind in "OSU" and any(isinstance(entry, (str, bytes)) for entry in entries.ravel().tolist())


def _looks_like_paths(decisions: Any) -> bool:
    """Rows of different lengths, or of names."""
    if not isinstance(decisions, (list, tuple)) or not all(isinstance(row, (list, tuple)) for row in decisions):
        return False
    return len({len(row) for row in decisions}) > 1 or any(isinstance(step, str) for row in decisions for step in row)


def _why_no_trip(network: Network, edges: IntArray, context: FloatArray) -> str:
    """What keeps these edges from being one trip from `context[0]` to `context[1]` over usable edges."""
    origin, destination = (int(node) for node in context)
    if not shortest_paths(network, np.ones(network.n_edges), context[None]).found.all():
        crossing = " that crosses no zone" if network.zones.any() else ""
        return f"no path{crossing} leads from {_named(network, origin)} to {_named(network, destination)} at all"
    trip = f"the trip goes from {_named(network, origin)} to {_named(network, destination)}"
    if not len(edges):
        return f"it uses no edge, but {trip}"
    closed = edges[~usable_edges(network, origin, destination)[edges]]
    if len(closed):
        return f"edge {closed[0]} leaves or enters a zone that is no end of the trip, and zones are never crossed"
    balance = np.bincount(network.heads[edges], minlength=network.n_nodes)
    balance -= np.bincount(network.tails[edges], minlength=network.n_nodes)
    starts, ends = (np.flatnonzero(sign * balance > 0) for sign in (-1, 1))
    if not len(starts):
        return f"its edges form closed loops, but {trip}"
    if len(starts) > 1 or len(ends) > 1 or balance.max() > 1:
        return f"its edges do not join into one path: paths start at {_list(starts)} and end at {_list(ends)}"
    return f"it leads from {_named(network, int(starts[0]))} to {_named(network, int(ends[0]))}, but {trip}"


def _named(network: Network, node: int) -> str:
    return f"node {node}" if network.node_ids is None else f"node {node} ({network.node_ids.tolist()[node]!r})"


def _list(nodes: IntArray) -> str:
    return ", ".join(str(node) for node in nodes[:5]) + (", ..." if len(nodes) > 5 else "")


def _single_rows(theta: FloatArray) -> Iterator[tuple[FloatArray, IntArray]]:
    """Each row a group of its own: vectors as long as a network are rarely equal and dear to compare."""
    for row, costs in enumerate(theta):
        yield costs, np.array([row])
