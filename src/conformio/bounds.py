"""Bounds on the optimality gaps of robust prescriptions (paper, theorem "POG Bound", corrected).

    POG <= (eta + chord) mu + eta mu_robust
    AOG <= (chord + eta + sigma) mu_star + (eta + sigma) mu_robust

`chord` is the largest distance between two unit vectors of the cap. Two members of a cap of angle a are at
most 2a apart in angle, so the chord is `2 sin(a)` up to a = pi/2 and 2 above. The paper puts `2 (1 - cos(2
a))` there, which is the *squared* chord and falls below the chord for a < 30 degrees (E2). All parameters
are unit vectors in the theorem, so every constant must be measured after normalising (E10); `nu(x) =
|basis(x)|_2`.

The proof of the second bound swaps a decision maker's parameters for their mean. With one centre that is sound:
another decision maker, drawn independently of the context, is met by the same cap. A centre for each context is
calibrated for that context's decision makers alone, so there the mean must be taken given the context.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from conformio.checks import as_angle, as_scalar

__all__ = ["OptimalityGapBounds", "optimality_gap_bounds"]


class OptimalityGapBounds(NamedTuple):
    """Upper bounds on the actual and on the perceived optimality gap, for unit-length parameters."""

    aog: float
    pog: float


def optimality_gap_bounds(
    angle: float, eta: float, sigma: float, mu: float, mu_robust: float, mu_star: float
) -> OptimalityGapBounds:
    """Bounds on AOG and POG of the robust prescription, both measured under *unit-length* parameters.

    They hold when the cap meets every decision's inverse-feasible set. Gaps computed with parameters that are
    not normalised are not comparable with them.

    Parameters
    ----------
    angle : float
        Angle of the cap, radians in [0, pi].
    eta : float
        Largest distance between two unit vectors that make the same decision optimal.
    sigma : float
        Distance between the mean of the perceived parameters, unit vectors, and the true ones. Where the cap's centre
        depends on the context: the largest such distance over contexts, the mean taken given the context.
    mu : float
        Mean of `|basis(x)|_2` over observed decisions.
    mu_robust : float
        The same over robust prescriptions.
    mu_star : float
        The same over decisions optimal for the true parameters.

    Returns
    -------
    OptimalityGapBounds
        `(aog, pog)`.

    Raises
    ------
    InvalidInputError
        If an argument is negative or not finite, or the angle exceeds pi.

    Examples
    --------
    >>> import numpy as np
    >>> from conformio.bounds import optimality_gap_bounds
    >>> aog, pog = optimality_gap_bounds(np.pi / 6, eta=0.5, sigma=0.25, mu=2.0, mu_robust=4.0, mu_star=2.0)
    >>> round(aog, 9), round(pog, 9)
    (6.5, 5.0)
    """
    where = "bounds.optimality_gap_bounds"
    angle = as_angle(angle, "angle", where)
    named = {"eta": eta, "sigma": sigma, "mu": mu, "mu_robust": mu_robust, "mu_star": mu_star}
    eta, sigma, mu, mu_robust, mu_star = (as_scalar(value, name, where, 0.0) for name, value in named.items())
    chord = 2.0 * float(np.sin(min(angle, np.pi / 2.0)))
    aog = (chord + eta + sigma) * mu_star + (eta + sigma) * mu_robust
    return OptimalityGapBounds(aog=aog, pog=(eta + chord) * mu + eta * mu_robust)
