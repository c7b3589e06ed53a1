"""The fact behind the parametric route, its bound, and the walk."""

from math import inf

import numpy as np
import pytest
from listed import family

from conformio.prescription.hull import Point, Support, Walk, lower_bound, sigma
from conformio.sets import SphericalCap


def random_pairs(rng):
    n = rng.integers(2, 8)
    members = family(rng, n, rng.integers(2, 25))
    center = rng.normal(size=n) if rng.random() < 0.5 else rng.integers(-2, 3, n).astype(float)
    if rng.random() < 0.4:
        center = rng.choice([-1.0, 1.0]) * np.abs(center)
    if not center.any():
        center[0] = 1.0
    center /= np.linalg.norm(center)
    return members, center, members.sum(axis=1), members @ center


def lower_left_hull(m, s):
    """Vertices of the lower-left hull by gift wrapping over all supporting multipliers."""
    slopes = [0.0, inf]
    for i in range(len(m)):
        for j in range(len(m)):
            if m[i] > m[j] and s[j] > s[i]:
                slopes.append((s[j] - s[i]) / (m[i] - m[j]))
    vertices = set()
    for lam in slopes:
        heights = m if lam == inf else s + lam * m
        second = s if lam == inf else m
        vertices.update(np.flatnonzero(heights <= heights.min() + 1e-12))
        ties = np.flatnonzero(heights <= heights.min() + 1e-12)
        vertices.add(ties[second[ties].argmin()])
    return sorted(vertices)


def test_sigma_is_the_support_function_of_binary_vectors():
    rng = np.random.default_rng(0)
    for _ in range(200):
        members, center, m, s = random_pairs(rng)
        angle = rng.uniform(0, np.pi)
        values = [sigma(a, b, angle) for a, b in zip(m, s, strict=True)]
        assert np.allclose(SphericalCap(center, angle).support(members), values, atol=2e-8)


@pytest.mark.parametrize(("low", "high"), [(0.0, np.pi / 2), (np.pi / 2, np.pi)])
def test_the_optimum_is_a_vertex_of_the_hull(low, high):
    rng = np.random.default_rng(1)
    branches = np.zeros(2, dtype=int)
    for _ in range(2500):
        members, center, m, s = random_pairs(rng)
        angle = rng.uniform(low, high) if rng.random() < 0.9 else high
        losses = SphericalCap(center, angle).support(members)
        assert losses[lower_left_hull(m, s)].min() == pytest.approx(losses.min(), abs=1e-12)
        k = losses.argmin()
        branches[int(s[k] >= np.sqrt(m[k]) * np.cos(angle))] += 1
    assert branches.min() > 100


def test_along_segments_of_any_angle_the_least_value_is_at_an_end():
    """The lemma itself, on real pairs: falling m, rising s, inside |s| <= sqrt(m)."""
    rng = np.random.default_rng(2)
    for _ in range(3000):
        m = np.sort(rng.uniform(0.0, 9.0, 2))[::-1]
        s = np.sort(rng.uniform(-np.sqrt(m), np.sqrt(m)))
        if (np.abs(s) > np.sqrt(m)).any():
            continue
        angle, steps = rng.uniform(0.0, np.pi), np.linspace(0.0, 1.0, 200)
        path = m[0] + steps * (m[1] - m[0]), s[0] + steps * (s[1] - s[0])
        real = np.abs(path[1]) <= np.sqrt(path[0])
        values = np.array([sigma(a, b, angle) for a, b in zip(*path, strict=True)])[real]
        assert values.min() >= min(values[0], values[-1]) - 1e-12 or not real.all()


def supports_of(rng, m, s, losses):
    """Two random supports in the order of their multipliers."""
    found = []
    for lam in sorted(rng.choice([0.0, inf, *rng.exponential(0.3, 4)], 2, replace=False)):
        heights = m if lam == inf else s + lam * m
        k = int(heights.argmin())
        found.append(Support(float(lam), Point(m[k], s[k], losses[k], k)))
    return found


def test_the_bound_is_below_every_attainable_pair_between_two_supports():
    rng = np.random.default_rng(3)
    for _ in range(4000):
        members, center, m, s = random_pairs(rng)
        angle = rng.uniform(0.0, np.pi)
        losses = SphericalCap(center, angle).support(members)
        left, right = supports_of(rng, m, s, losses)
        between = (m >= right.point.m) & (m <= left.point.m) & (s >= left.point.s - 1e-12)
        if between.any():
            assert lower_bound(left, right, angle) <= losses[between].min() + 1e-7


@pytest.mark.parametrize("prune", [True, False])
def test_the_walk_finds_the_optimum_and_its_bound(prune):
    rng = np.random.default_rng(4)
    for _ in range(1500):
        members, center, m, s = random_pairs(rng)
        angle = rng.uniform(0.0, np.pi)
        losses = SphericalCap(center, angle).support(members)

        def point(heights, m=m, s=s, losses=losses):
            k = int(heights.argmin())
            return Point(m[k], s[k], losses[k], k)

        first, last = point(s), point(m)
        walk = Walk(angle, first, prune)
        walk.start([Support(0.0, first), Support(inf, last)])
        rounds = 0
        while (multiplier := walk.next_multiplier()) is not None:
            walk.answer(multiplier, point(s + multiplier * m))
            rounds += 1
        assert walk.best.loss == pytest.approx(losses.min(), abs=1e-12)
        assert losses.min() - 1e-9 <= walk.bound() <= walk.best.loss
        assert rounds <= 2 * len(members)


def test_a_bound_is_known_before_the_walk_ends():
    walk = Walk(0.3, Point(9.0, 0.5, 1.4, 0))
    walk.start([Support(0.0, Point(9.0, 0.5, 1.4, 0)), Support(inf, Point(1.0, 0.9, 0.99, 1))])
    assert walk.best.place == 1
    assert 0.0 < walk.bound() < 0.99
    assert walk.next_multiplier() == pytest.approx(0.05)
