"""Table 1: the paper's Example, simulated, beside its closed forms as printed and as corrected (E2, E3, E5, E12).

The forward problem is `min theta . x` over `x1 + u x2 >= u, 0 <= x1 <= u, 0 <= x2 <= 2`; the truth points to 45
degrees, perceptions are uniform over the first quadrant. With `d_u = arctan(u)`, decisions are `(0, 1)` for angles up
to `d_u` and `(u, 0)` beyond, the estimate is `(1, u)`, every conformity angle is 0.
"""

from __future__ import annotations

from math import atan, hypot, pi, sin, sqrt
from typing import Any

import numpy as np

from conformio import metrics
from conformio.bounds import OptimalityGapBounds, optimality_gap_bounds
from conformio.calibration import calibrated_angle, conformity_angles
from conformio.checks import FloatArray
from conformio.estimators import SuboptimalityLoss
from conformio.prescription import solve_robust
from conformio.problems import LinearProgram
from conformio.sets import SphericalCap
from conformio.studies.cell_store import Row
from conformio.studies.engine import Cell

__all__ = ["POLICIES", "SIZES", "cells", "closed_forms", "example_bounds", "example_one", "printed_bounds"]

SIZES = (2, 10, 50, 100)
POLICIES = ("classic", "robust optimum, 45 degrees", "robust optimum, calibrated angle", "best vertex")
_TRUTH = np.full(2, sqrt(0.5))
_RADIUS = 1.5  # every direction of the first quadrant; the ball of the experiments ends 18 degrees from (1, 1)


def cells(n_seeds: int, n_people: int = 5000) -> list[Cell]:
    """One cell for each u and seed."""
    settings = [{"u": u, "seed": seed, "n_people": n_people} for u in SIZES for seed in range(n_seeds)]
    return [Cell(example_one, each, seconds=0.8) for each in settings]


def example_one(u: int, seed: int, n_people: int) -> list[Row]:
    """Simulate the Example: learn from a fifth of the people, measure all policies on all of them."""
    rng = np.random.default_rng([seed, u])
    problem = LinearProgram(A_ub=[[-1.0, -float(u)]], lower=0.0, upper=[float(u), 2.0])
    turn = rng.uniform(0.0, pi / 2, n_people)
    thetas, contexts = np.column_stack([np.cos(turn), np.sin(turn)]), np.full((n_people, 1), -float(u))
    learned = slice(0, n_people // 5)
    observed = problem.solve(thetas[learned], contexts[learned])
    estimate = SuboptimalityLoss(radius=_RADIUS).fit(problem, contexts[learned], observed)
    theta = np.asarray(estimate.theta_)
    angle = calibrated_angle(conformity_angles(problem, theta, contexts[learned], observed), 0.9)
    policies = {
        "classic": problem.sample_optimal(theta, contexts, rng),
        "robust optimum, 45 degrees": _robust(problem, theta, pi / 4, contexts),
        "robust optimum, calibrated angle": _robust(problem, theta, angle, contexts),
        "best vertex": np.tile([0.0, 1.0], (n_people, 1)),
    }
    shared: Row = {
        "u": u,
        "seed": seed,
        "estimate_error": float(np.linalg.norm(theta / np.linalg.norm(theta) - np.array([1.0, u]) / hypot(1, u))),
        "calibrated_angle": float(angle),
    }
    rows: list[Row] = []
    for policy, decisions in policies.items():
        aog = metrics.actual_optimality_gap(problem, _TRUTH, contexts, decisions)
        pog = metrics.perceived_optimality_gap(problem, thetas, contexts, decisions)
        rows.append({**shared, "policy": policy, "aog": aog, "pog": pog})
    return rows


def _robust(problem: LinearProgram, theta: FloatArray, angle: float, contexts: FloatArray) -> Any:
    return solve_robust(problem, SphericalCap(theta, angle), contexts).decisions


def closed_forms(u: float) -> dict[str, dict[str, tuple[float, float]]]:
    """Exact gaps of each kind of policy: `{policy: {gap: (as derived in the paper, corrected)}}`.

    The paper takes the best vertex for the robust optimum, so its derivation for both is the same.
    """
    root = hypot(1.0, u)
    mean = 2.0 / pi  # the density of the angle, which the paper leaves out (E3)
    vertex_aog, vertex_pog = (0.0, 0.0), (pi / (2.0 * root), mean * (root - u))
    robust_aog = (0.0, (u - 1.0) / (sqrt(2.0) * root**2))
    robust_pog = (pi / (2.0 * root), mean * ((u + u * u) / root**2 - 1.0 - u + root))
    classic_aog = sqrt(2.0) * (u - 1.0) / 4.0
    classic_pog = root - (u + 1.0) / 2.0
    return {
        "classic": {"aog": (classic_aog, classic_aog), "pog": (classic_pog, mean * classic_pog)},
        "robust optimum": {"aog": robust_aog, "pog": robust_pog},
        "best vertex": {"aog": vertex_aog, "pog": vertex_pog},
    }


def example_bounds(u: float, angle: float) -> OptimalityGapBounds:
    """The corrected theorem in the Example, every constant in closed form."""
    return optimality_gap_bounds(angle, **_constants(u))


def printed_bounds(u: float, angle: float) -> tuple[OptimalityGapBounds, OptimalityGapBounds]:
    """The theorem as printed, and the least it can give: the same with `eta = sigma = 0`."""
    known = _constants(u)
    chord = 2.0 - 2.0 * np.cos(2.0 * angle)
    eta, sigma = known["eta"], known["sigma"]
    aog = (chord + eta + sigma) * known["mu_star"] + (eta + sigma) * known["mu_robust"]
    pog = (eta + chord) * known["mu"] + eta * known["mu_robust"]
    least = OptimalityGapBounds(aog=float(chord * known["mu_star"]), pog=float(chord * known["mu"]))
    return OptimalityGapBounds(aog=float(aog), pog=float(pog)), least


def _constants(u: float) -> dict[str, float]:
    """What the theorem asks for; inverse-feasible sets are over the whole sphere, as the paper defines them."""
    turn = atan(u)
    widest = max(turn, pi - turn)  # (0, 1) is optimal for angles in [0, d_u], (u, 0) for [d_u, pi]
    share = 2.0 * turn / pi
    return {
        "eta": 2.0 * sin(widest / 2.0),
        "sigma": 1.0 - 2.0 * sqrt(2.0) / pi,
        "mu": share + (1.0 - share) * u,
        "mu_robust": u / hypot(1.0, u),
        "mu_star": 1.0,
    }
