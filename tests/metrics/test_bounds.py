"""The chord of a cap (E2), the bounds built on it, and that they hold where they are claimed to (E10)."""

import numpy as np
import pytest

from conformio.bounds import optimality_gap_bounds
from conformio.errors import InvalidInputError
from conformio.problems import Knapsack


def test_formulas():
    angle, eta, sigma, mu, robust, star = 0.4, 0.3, 0.2, 5.0, 6.0, 4.0
    bounds = optimality_gap_bounds(angle, eta, sigma, mu, robust, star)
    assert bounds == (bounds.aog, bounds.pog)
    assert bounds.pog == pytest.approx((eta + 2 * np.sin(angle)) * mu + eta * robust)
    assert bounds.aog == pytest.approx((2 * np.sin(angle) + eta + sigma) * star + (eta + sigma) * robust)


def test_above_a_right_angle_the_chord_is_two():
    for angle in (np.pi / 2, 2.0, np.pi):
        assert optimality_gap_bounds(angle, 0, 0, 1.0, 0, 3.0) == pytest.approx((6.0, 2.0))


@pytest.mark.parametrize("degrees", [1, 10, 29, 31, 60, 90, 120, 180])
def test_chord_of_a_cap(degrees):
    angle = np.radians(degrees)
    chord = optimality_gap_bounds(angle, 0, 0, 1.0, 0, 0).pog
    rng = np.random.default_rng(degrees)
    center = np.array([1.0, 0.0, 0.0])
    sides = rng.normal(size=(2, 4000, 2))
    sides /= np.linalg.norm(sides, axis=2, keepdims=True)
    sides[1, :400] = -sides[0, :400]
    spread = angle * rng.uniform(size=(2, 4000, 1)) ** 0.2
    spread[:, :400] = min(angle, np.pi / 2)
    members = np.cos(spread) * center + np.sin(spread) * np.pad(sides, ((0, 0), (0, 0), (1, 0)))
    distances = np.linalg.norm(members[0] - members[1], axis=1)
    assert distances.max() <= chord + 1e-12
    assert distances.max() == pytest.approx(chord, rel=1e-9)
    papers = 2 * (1 - np.cos(2 * angle))
    assert papers == pytest.approx(4 * np.sin(angle) ** 2)  # the square of the chord below a right angle
    assert (papers < distances.max() - 1e-9) == (degrees < 30 or degrees > 150)


def test_bounds_hold_for_unit_vectors_and_fail_for_others():
    # two items, room for one: K(x, u) is a half-plane, and the cap covers every decision
    rng = np.random.default_rng(1)
    problem = Knapsack([1.0, 1.0])
    thetas = np.abs(rng.normal(size=(200, 2)))
    unit = thetas / np.linalg.norm(thetas, axis=1, keepdims=True)
    contexts, star = np.ones((200, 1)), np.array([0.8, 0.6])
    observed, prescribed = problem.solve(thetas, contexts), np.tile([1.0, 0.0], (200, 1))
    eta, sigma = 2.0, float(np.linalg.norm(unit.mean(axis=0) - star))
    bounds = optimality_gap_bounds(np.pi / 4, eta, sigma, 1.0, 1.0, 1.0)

    def pog(given):
        return (problem.objective(given, observed) - problem.objective(given, prescribed)).mean()

    assert 0.0 < pog(unit) <= bounds.pog
    assert pog(1000.0 * thetas) > bounds.pog
    optimal = problem.objective(star, problem.solve(star, contexts))
    assert (optimal - problem.objective(star, prescribed)).mean() <= bounds.aog


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"angle": 4.0}, r"`angle` of bounds\.optimality_gap_bounds: must be a number in \[0\.0, 3\.14"),
        ({"angle": -0.1}, r"`angle` .* must be a number"),
        ({"eta": -1.0}, r"`eta` .* must be a number in \[0\.0, inf\]; got -1\.0"),
        ({"sigma": np.nan}, r"`sigma` .* must be a number"),
        ({"mu": None}, r"`mu` .* must be a number"),
        ({"mu_robust": np.inf}, r"`mu_robust` .* must be a number"),
        ({"mu_star": "1"}, r"`mu_star` .* must be a number"),
    ],
)
def test_wrong_arguments(changed, message):
    fine = {"angle": 0.1, "eta": 0.1, "sigma": 0.1, "mu": 1.0, "mu_robust": 1.0, "mu_star": 1.0}
    with pytest.raises(InvalidInputError, match=message):
        optimality_gap_bounds(**{**fine, **changed})


def test_centres_that_depend_on_the_context_need_the_mean_given_the_context():
    """Decisions `R (star - theta)` from a ball, perceptions 0.3 to either side of `star` as the context says."""
    star, turn = np.array([0.0, 1.0]), 0.3
    perceived = np.array([[np.sin(turn), np.cos(turn)], [-np.sin(turn), np.cos(turn)]])
    ball = 5.0 * (star - perceived)  # optimal for each; the centres are the perceptions, the angle is 0
    gap = float((ball @ star).mean())  # the best decision for `star` is 0
    constants = {"eta": 0.0, "mu": 0.0, "mu_robust": float(np.linalg.norm(ball, axis=1).mean()), "mu_star": 0.0}
    over_all = float(np.linalg.norm(perceived.mean(axis=0) - star))
    given_context = float(np.linalg.norm(perceived - star, axis=1).max())
    assert gap > 1.5 * optimality_gap_bounds(0.0, sigma=over_all, **constants).aog
    assert gap <= optimality_gap_bounds(0.0, sigma=given_context, **constants).aog
