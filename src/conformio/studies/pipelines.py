"""The two pipelines as the paper runs them, and what is measured on their decisions.

Of N decision makers the first part trains, the second calibrates, the rest test. The conformal pipeline estimates
on the first part and calibrates on the second; the classic one estimates on both and prescribes what is optimal for
its estimate, ties broken by a stated rule.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from conformio import metrics
from conformio.calibration import calibrated_angle, conformity_angles
from conformio.checks import Decisions, FloatArray, IntArray, dense
from conformio.errors import SolverError
from conformio.estimators import Estimator
from conformio.prescription import solve_robust
from conformio.problems import IntegerProgram, Knapsack, LinearProgram, Problem, ShortestPath
from conformio.ranks import calibration_rank
from conformio.sets import SphericalCap
from conformio.studies.conditions import Condition
from conformio.studies.paper_data import SimulatedDecisions

__all__ = ["TIE_RULES", "ZERO_ANGLE", "Part", "Split", "Trial", "finite_levels", "gain"]

TIE_RULES = ("uniform", "solver's vertex", "fewest ones", "alpha -> 0+")

ZERO_ANGLE = 1e-7
"""Angles up to this one count as 0: with free signs rounding leaves 1e-10 to 1e-9 where decisions are optimal."""

_TIE_NOISE = 1e-7


class Split(NamedTuple):
    """How many decision makers train, calibrate and test, in this order."""

    training: int
    calibration: int
    test: int

    @classmethod
    def paper(cls, n_people: int) -> Split:
        """60%, 20%, 20%."""
        fifth = n_people // 5
        return cls(n_people - 2 * fifth, fifth, fifth)


class Part(NamedTuple):
    """Some of the decision makers."""

    contexts: FloatArray
    decisions: Decisions
    thetas: FloatArray


class Trial:
    """One condition, one seed: data, both estimates, calibration angles; each computed when first asked for.

    Of `n_people` simulated decision makers (None: as many as the split needs) the first train and calibrate, the
    last test, so that splits of different sizes are measured on the same test decisions.

    `uncounted_ties` is the share of the decisions last drawn uniformly whose ties were too many to count, so that
    random costs of 1e-7 drew them.
    """

    def __init__(self, condition: Condition, split: Split, seed: int, n_people: int | None = None):
        self.condition, self.split, self.seed = condition, split, seed
        n_people = sum(split) if n_people is None else n_people
        self.data: SimulatedDecisions = condition.people(n_people, seed)
        self.problem: Problem = self.data.problem
        first, known = split.training, split.training + split.calibration
        self.training = self.part(slice(0, first))
        self.calibration = self.part(slice(first, known))
        self.known = self.part(slice(0, known))
        self.test = self.part(slice(n_people - split.test, n_people))
        self.uncounted_ties = 0.0
        self._prescribed: dict[tuple[float, bytes, bool], Decisions] = {}

    def part(self, rows: slice | IntArray) -> Part:
        """Some rows of the data."""
        return Part(self.data.contexts[rows], self.data.decisions[rows], self.data.thetas[rows])

    def estimate(self, part: Part) -> FloatArray:
        """A point estimate from a part."""
        estimator: Estimator = self.condition.point_estimator(self.seed)
        theta = estimator.fit(self.problem, part.contexts, part.decisions).theta_
        return np.asarray(theta)

    @cached_property
    def classic_theta(self) -> FloatArray:
        """Estimate of the classic pipeline: trained on all known decisions."""
        return self.estimate(self.known)

    @cached_property
    def conformal_theta(self) -> FloatArray:
        """Estimate of the conformal pipeline: trained on the training part."""
        return self.estimate(self.training)

    @cached_property
    def scores(self) -> FloatArray:
        """Calibration angles around the conformal estimate."""
        return self.angles(self.calibration)

    @cached_property
    def test_angles(self) -> FloatArray:
        """Angles of the test decisions around the conformal estimate."""
        return self.angles(self.test)

    def angles(self, part: Part) -> FloatArray:
        """Conformity angles around the conformal estimate; those up to `ZERO_ANGLE` are 0."""
        found = conformity_angles(self.problem, self.conformal_theta, part.contexts, part.decisions)
        return np.where(found <= ZERO_ANGLE, 0.0, found)

    def angle(self, level: float) -> float:
        """Calibrated angle."""
        return calibrated_angle(self.scores, level)

    def robust(self, angle: float, theta: FloatArray | None = None, relaxed: bool = False) -> Decisions:
        """Robust decisions for the test contexts, around the conformal estimate unless another is given."""
        center = self.conformal_theta if theta is None else theta
        key = (angle, center.tobytes(), relaxed)
        if key not in self._prescribed:
            cap = SphericalCap(center, angle, self.problem.domain)
            self._prescribed[key] = solve_robust(self.problem, cap, self.test.contexts, relaxed=relaxed).decisions
        return self._prescribed[key]

    def nominal(self, theta: FloatArray, rule: str, copies: int) -> Decisions:
        """Optimal decisions for the test contexts, `copies` of each row below each other, ties broken by a rule."""
        contexts = self.test.contexts
        if rule == "uniform":
            return self._drawn(theta, np.tile(contexts, (copies, 1)))
        if rule == "solver's vertex":
            once = self._by_highs(theta)
        elif rule == "fewest ones":
            once = _fewest_ones(self.problem, theta, contexts)
        else:
            once = self.robust(0.0, theta)
        return sparse.vstack([once] * copies, format="csr") if sparse.issparse(once) else np.tile(once, (copies, 1))

    def gaps(self, decisions: Decisions) -> dict[str, float]:
        """AOG, POG and adherence of decisions for the test contexts (one or several copies of them)."""
        copies = decisions.shape[0] // len(self.test.contexts)
        contexts = np.tile(self.test.contexts, (copies, 1))
        thetas = np.tile(self.test.thetas, (copies, 1))
        observed = (
            sparse.vstack([self.test.decisions] * copies, format="csr")
            if sparse.issparse(self.test.decisions)
            else np.tile(self.test.decisions, (copies, 1))
        )
        return {
            "aog": metrics.actual_optimality_gap(self.problem, self.data.theta_true, contexts, decisions),
            "pog": metrics.perceived_optimality_gap(self.problem, thetas, contexts, decisions),
            "adherence": float(metrics.adherence(decisions, observed).mean()),
        }

    def relaxed_gaps(self, decisions: Decisions) -> dict[str, float]:
        """The gaps of fractional flows, which the metrics refuse as decisions; excess by excess."""
        excess = {}
        for name, theta in (("aog", self.data.theta_true), ("pog", self.test.thetas)):
            best = self.problem.solve(theta, self.test.contexts)
            excess[name] = self.problem.objective(theta, decisions) - self.problem.objective(theta, best)
        return {name: float(values.mean()) for name, values in excess.items()}

    def cycle_share(self, decisions: Decisions) -> float | None:
        """Share of decisions with a cycle beside the path; None for knapsacks."""
        if not isinstance(self.problem, ShortestPath):
            return None
        ends = np.tile(self.test.contexts, (decisions.shape[0] // len(self.test.contexts), 1)).astype(np.int64)
        return float(np.mean(_with_cycles(self.problem, sparse.csr_array(decisions), ends[:, 0])))

    def _drawn(self, theta: FloatArray, contexts: FloatArray) -> Decisions:
        """Uniform over ties; where they are too many to count, what random costs of 1e-7 decide."""
        rng = np.random.default_rng([self.seed, 3])
        self.uncounted_ties = 0.0
        try:
            return self.problem.sample_optimal(theta, contexts, rng)
        except SolverError:
            distinct, back = np.unique(contexts, axis=0, return_inverse=True)
            order = np.argsort(back.ravel(), kind="stable")
            sizes = np.bincount(back.ravel())
            drawn = [self._drawn_alike(theta, row, size, rng) for row, size in zip(distinct, sizes, strict=True)]
            self.uncounted_ties /= len(contexts)
            return sparse.vstack(drawn, format="csr")[np.argsort(order, kind="stable")]

    def _drawn_alike(self, theta: FloatArray, context: FloatArray, size: int, rng: np.random.Generator) -> Decisions:
        contexts = np.tile(context, (size, 1))
        try:
            return sparse.csr_array(self.problem.sample_optimal(theta, contexts, rng))
        except SolverError:
            self.uncounted_ties += size
            noise = rng.uniform(0.0, _TIE_NOISE * np.abs(theta).max(), (size, len(theta)))
            return sparse.csr_array(self.problem.solve(theta + noise, contexts))

    def _by_highs(self, theta: FloatArray) -> Decisions:
        """Whatever vertex HiGHS ends at; the paper's solver would end at another."""
        contexts = self.test.contexts
        if isinstance(self.problem, Knapsack):
            weights = self.problem.weights
            items = IntegerProgram(A_ub=weights[None], upper=1.0, sense="max", integrality=np.ones(len(weights)) > 0)
            return np.round(dense(items.solve(theta, contexts)))
        network = self.problem.network  # type: ignore[attr-defined]
        flows = LinearProgram(A_eq=network.incidence, upper=1.0)
        balances = np.zeros((len(contexts), network.n_nodes))
        rows, ends = np.arange(len(contexts)), contexts.astype(np.int64)
        balances[rows, ends[:, 0]] -= 1.0
        balances[rows, ends[:, 1]] += 1.0
        return sparse.csr_array(np.round(dense(flows.solve(theta, balances))))


def finite_levels(levels: tuple[float, ...], n_calibration: int) -> list[float]:
    """The levels that so many calibration decisions can certify."""
    return [level for level in levels if calibration_rank(n_calibration, level, "study") <= n_calibration]


def gain(gap: Any, classic: Any) -> float | None:
    """By which share a gap is smaller than the classic one; None where there is nothing to gain."""
    return 1.0 - gap / classic if classic > 0.0 else None


def _fewest_ones(problem: Problem, theta: FloatArray, contexts: FloatArray) -> Decisions:
    """Of the tied decisions one with the fewest ones, by a small equal cost on every edge or item."""
    costs = np.asarray(theta) + problem.sign * 1e-6 * float(np.abs(theta).max())
    return problem.solve(np.maximum(costs, 0.0) if problem.domain == "nonnegative" else costs, contexts)


def _with_cycles(problem: ShortestPath, decisions: Any, origins: IntArray) -> Any:
    """Whether following the flow from the origin leaves edges unused or meets a node twice."""
    tails, heads = problem.network.tails, problem.network.heads
    found = np.zeros(len(origins), dtype=bool)
    for k in range(len(origins)):
        edges = decisions.indices[decisions.indptr[k] : decisions.indptr[k + 1]]
        out: dict[int, int] = dict(zip(tails[edges].tolist(), heads[edges].tolist(), strict=True))
        node, steps = int(origins[k]), 0
        while node in out and steps <= len(edges):
            node, steps = out[node], steps + 1
        found[k] = steps != len(edges) or len(out) != len(edges)
    return found
