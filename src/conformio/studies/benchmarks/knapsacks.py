"""Knapsacks: training beside InvOpt, angles beside cone programs with all cuts, robust baskets beside cutting planes.

InvOpt's programs for whole decisions (`discrete`, `discrete_consistent`, `mixed_integer_linear`) need a Gurobi licence;
what runs without one is its first-order method `FOM`, to which users hand a solver of the forward problem. Here that is
an enumeration of all selections in NumPy, faster than any general solver at this size. Both start at equal values.
The loss grows with the length of the parameters, and the two methods bound that in different ways, so losses are
compared at an L1 norm of ten.
"""

from __future__ import annotations

import itertools
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse

from conformio.calibration import conformity_angles
from conformio.checks import FloatArray
from conformio.estimators import PerturbedFenchelYoung, SuboptimalityLoss
from conformio.prescription import solve_robust
from conformio.problems import Knapsack
from conformio.sets import SphericalCap
from conformio.solvers import ConeSpec, ConicModel
from conformio.studies.benchmarks.drivers import ANGLE
from conformio.studies.benchmarks.knapsack_cuts import minimise_by_cuts
from conformio.studies.benchmarks.measuring import Side, race
from conformio.studies.benchmarks.results import Check, Line, Outcome, Scalar, Target, Timing, ratio
from conformio.studies.benchmarks.settings import Comparison, Settings, peer
from conformio.studies.paper_data import SimulatedDecisions, knapsack_example

__all__ = ["COMPARISONS", "closest_with_all_cuts"]

_ITEMS = 10
_NO_EXPLANATION = 1e-5
_CUTTING = "cutting plane with HiGHS MIP master, models re-used"


def _training(settings: Settings) -> Outcome:
    invopt = peer("invopt", "pip install invopt")
    data = knapsack_example(settings.pick(600, 40), _ITEMS, random_state=0)
    weights, budgets = _weights(data), data.contexts[:, 0]

    def loss(values: FloatArray) -> float:
        scaled = values * _ITEMS / np.abs(values).sum()
        best = data.problem.objective(scaled, data.problem.solve(scaled, data.contexts))
        return float((best - data.problem.objective(scaled, data.decisions)).mean())

    fitted = SuboptimalityLoss().fit(data.problem, data.contexts, data.decisions)
    own_loss, own = loss(np.asarray(fitted.theta_)), "training, sub-optimality loss, 10 items"
    sides = {own: Side(lambda: SuboptimalityLoss().fit(data.problem, data.contexts, data.decisions))}
    lines, checks, losses = [], [], {}
    for epochs in settings.pick((5, 50, 500), (1,)):
        values = -_train_invopt(invopt, weights, budgets, data.decisions, epochs)
        name = f"InvOpt, first-order method, {epochs} epochs"
        losses[name] = loss(values)
        sides[name] = Side(partial(_train_invopt, invopt, weights, budgets, data.decisions, epochs), 1, 1, warm=False)
        checks.append(Check(f"own loss above that of {name}", own_loss - losses[name], 1e-6))
    timed = race(sides, settings.pick(9, 1))
    for name, other in losses.items():
        # fewer passes leave InvOpt farther from the loss that is to be reached
        target = Target("at least", 100.0) if name == list(losses)[-1] else None
        against = f"{name} (loss {other:.3f}, ours {own_loss:.3f})"
        lines.append(ratio("knapsack training, 10 items, loss not worse", timed[name], timed[own], target, against))
    facts = {
        "decisions": len(data),
        "own loss": own_loss,
        **{f"loss of {name}": value for name, value in losses.items()},
    }
    return Outcome(lines, list(timed.values()), checks, facts=facts)


def _train_invopt(invopt: Any, weights: FloatArray, budgets: FloatArray, chosen: Any, epochs: int) -> FloatArray:
    """InvOpt's stochastic subgradients over reshuffled data, averaged, with falling steps."""
    every = np.array(list(itertools.product((0.0, 1.0), repeat=len(weights))))
    load = every @ weights

    def best(theta: FloatArray, budget: float) -> FloatArray:
        return np.asarray(every[np.argmin(np.where(load <= budget * (1 + 1e-9), every @ theta, np.inf))])

    np.random.seed(0)  # noqa: NPY002  InvOpt draws from the global generator
    return np.asarray(
        invopt.FOM(
            list(zip(budgets, np.asarray(chosen), strict=True)),
            lambda budget, x: x,
            -np.ones(len(weights)),  # InvOpt minimises
            best,
            lambda t: 0.1 / np.sqrt(1.0 + t),
            epochs,
            batch_type="reshuffled",
            averaged=1,
        )
    )


def _angles(settings: Settings) -> Outcome:
    data = knapsack_example(settings.pick(1000, 60), _ITEMS, random_state=0)
    half = len(data) // 2
    fitted = PerturbedFenchelYoung(random_state=0).fit(data.problem, data.contexts[:half], data.decisions[:half])
    theta, rows = np.asarray(fitted.theta_), slice(half, None)
    contexts, decisions = data.contexts[rows], np.asarray(data.decisions[rows])
    n_slow = settings.pick(30, 4)

    def fast() -> FloatArray:
        return conformity_angles(data.problem, theta, contexts, decisions)

    def slow() -> FloatArray:
        return _angles_with_all_cuts(data, theta, contexts[:n_slow], decisions[:n_slow])

    name = "SOCP with all cuts in Clarabel, per basket"
    timed = race({"angles": Side(fast, half), name: Side(slow, n_slow, settings.pick(3, 1))}, settings.pick(9, 1))
    line = ratio("knapsack angles, 10 items", timed[name], timed["angles"], Target("at least", 100.0))
    difference = float(np.abs(fast()[:n_slow] - slow()).max())
    facts = {"baskets": half, "baskets of the baseline": n_slow}
    return Outcome([line], list(timed.values()), [Check("angles, radians", difference, 1e-7)], facts=facts)


def _angles_with_all_cuts(
    data: SimulatedDecisions, theta: FloatArray, contexts: FloatArray, decisions: FloatArray
) -> FloatArray:
    weights = _weights(data)
    every = np.array(list(itertools.product((0.0, 1.0), repeat=len(weights))))
    load = every @ weights
    center = theta / np.linalg.norm(theta)
    found = np.empty(len(contexts))
    for k, (budget, chosen) in enumerate(zip(contexts[:, 0], decisions, strict=True)):
        fits = every[load <= budget * (1 + 1e-12)]
        better = fits - chosen
        better = better[better.any(axis=1)]
        distance = 0.0
        if (better @ center).max(initial=0.0) > 0.0:
            distance = closest_with_all_cuts(better, center)
        found[k] = np.arcsin(distance) if distance < 1.0 - _NO_EXPLANATION**2 else np.pi
    return found


def closest_with_all_cuts(better: FloatArray, center: FloatArray) -> float:
    """`min |theta - center|` over `theta . (x - x_hat) <= 0` for every feasible `x`."""
    d, n_cuts = len(center), len(better)
    held = sparse.hstack([sparse.csr_array((n_cuts, 1)), sparse.csr_array(better)])
    matrix = sparse.vstack([held, -sparse.eye_array(1 + d)], format="csc")
    rhs = np.concatenate([np.zeros(n_cuts + 1), -center])
    costs = np.zeros(1 + d)
    costs[0] = 1.0
    cones: list[ConeSpec] = [("nonnegative", n_cuts), ("second_order", d + 1)]
    return float(ConicModel(None, costs, matrix, rhs, cones, tol=1e-9).solve().x[0])


def _robust(settings: Settings) -> Outcome:
    n_items = settings.pick(1000, 12)
    lines: list[Line] = []
    timings: list[Timing] = []
    checks: list[Check] = []
    facts: dict[str, Scalar] = {"degrees": 4.0, "seconds after which the baseline stops": settings.pick(60.0, 5.0)}
    for kind in ("real", "whole"):
        data = knapsack_example(20, n_items, random_state=0)
        scale = 10.0 if kind == "whole" else 1.0
        weights = np.rint(_weights(data) * scale) if kind == "whole" else _weights(data)
        problem, contexts = Knapsack(weights), data.contexts * scale
        cap = SphericalCap(data.theta_true, ANGLE)
        own = f"robust baskets, {n_items} items, {kind} weights"
        work = Side(partial(solve_robust, problem, cap, contexts), len(contexts))
        timed = race({own: work}, settings.pick(9, 1))[own]
        found = solve_robust(problem, cap, contexts)
        start = perf_counter()
        other = minimise_by_cuts(weights, float(contexts[0, 0]), cap, facts["seconds after which the baseline stops"])  # type: ignore[arg-type]
        slow = Timing(f"{_CUTTING} ({kind} weights)", (perf_counter() - start,))
        against = _CUTTING if other.finished else f"{_CUTTING}, stopped unfinished after {slow.median:.0f} s"
        what = f"robust knapsack, {n_items:,} items, {kind} weights, certified"
        lines.append(ratio(what, slow, timed, Target("at least", 100.0), against))
        timings += [timed, slow]
        value = float(found.values[0])
        facts[f"baseline finished ({kind})"] = other.finished
        facts[f"baseline's gap at the end, relative ({kind})"] = (other.bound - other.value) / value
        # values are maxima: ours must lie between the baseline's decision and its bound
        outside = max(other.value - value, value - other.bound, 0.0) / value
        checks.append(Check(f"worst-case value outside the baseline's bounds, relative ({kind})", outside, 1e-6))
        gap = float((found.gap / np.abs(found.values)).max())
        checks.append(Check(f"own certificates (gaps), relative ({kind})", gap, 1e-6))
    return Outcome(lines, timings, checks, facts=facts)


def _weights(data: SimulatedDecisions) -> FloatArray:
    assert isinstance(data.problem, Knapsack)
    return np.asarray(data.problem.weights)


COMPARISONS = (
    Comparison("knapsack-training", "Knapsack training beside InvOpt", _training, 0.5),
    Comparison("knapsack-angles", "Angles of baskets", _angles, 0.2),
    Comparison("robust-knapsack", "Robust baskets from many items", _robust, 1.0),
)
