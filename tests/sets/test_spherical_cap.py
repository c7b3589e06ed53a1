"""The spherical cap: closed forms against sampling, duality and exact arcs; membership, sampling, errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, sparse, special, stats

from conformio.errors import InvalidInputError
from conformio.sets import SphericalCap, UncertaintySet
from conformio.sets._orthant import _on_face, angle_between

ANGLES = [0.0, 1e-12, 1e-9, 1e-5, 0.05, 0.7, 1.5, np.pi / 2, 1.7, 2.6, 3.1, np.pi]


def random_case(rng, d, domain):
    center = rng.normal(size=d) if rng.random() < 0.7 else rng.integers(-2, 3, d).astype(float)
    x = rng.normal(size=d) if rng.random() < 0.5 else rng.integers(-3, 2, d).astype(float)
    if rng.random() < 0.3:
        x = -np.abs(x)
    if domain == "nonnegative":
        center = np.abs(center) * (rng.random(d) < 0.8)
    if not center.any():
        center[rng.integers(d)] = 1.0
    return center / np.linalg.norm(center), x


def members_in(cap, rng, size):
    """Many members, faces of the orthant and the cap's boundary included."""
    d = cap.n_params
    raw = rng.normal(size=(size, d))
    if cap.domain == "nonnegative":
        raw = np.abs(raw) * (np.argsort(rng.random((size, d)), axis=1) < rng.integers(1, d + 1, size)[:, None])
    raw /= np.linalg.norm(raw, axis=1)[:, None]
    across = raw - (raw @ cap.center)[:, None] * cap.center
    lengths = np.linalg.norm(across, axis=1)
    good = lengths > 1e-6
    rim = np.cos(cap.angle) * cap.center + np.sin(cap.angle) * across[good] / lengths[good, None]
    inside = np.vstack([raw, rim])
    return inside[cap.contains(inside)]


@pytest.mark.parametrize("domain", ["free", "nonnegative"])
@pytest.mark.parametrize("angle", ANGLES)
def test_support_is_attained_by_a_member_and_beats_all_others(domain, angle):
    rng = np.random.default_rng(0)
    for _ in range(25):
        center, x = random_case(rng, rng.integers(1, 5), domain)
        cap = SphericalCap(center, angle, domain)
        value, worst = cap.support(x), cap.worst_case(x)
        assert cap.contains(worst)
        assert abs(np.linalg.norm(worst) - 1.0) < 1e-12
        assert worst @ x == pytest.approx(value, abs=1e-12)
        others = members_in(cap, rng, 400)
        assert (others @ x <= value + 1e-9 * (1.0 + np.linalg.norm(x))).all()


def test_large_samples_come_close_to_the_support():
    rng = np.random.default_rng(1)
    for domain in ("free", "nonnegative"):
        for _ in range(40):
            center, x = random_case(rng, rng.integers(2, 4), domain)
            cap = SphericalCap(center, rng.uniform(0.05, np.pi), domain)
            others = members_in(cap, rng, 20_000)
            best = (others @ x).max()
            assert best <= cap.support(x) + 1e-10  # members may be 1e-12 rad outside
            assert best >= cap.support(x) - 0.05 * np.linalg.norm(x)


def dual_value(x, center, angle):
    """min over lam >= 0 of max over nonnegative unit t of t.(x + lam c) - lam cos(a), by golden search."""

    def height(lam):
        w = x + lam * center
        positive = np.maximum(w, 0.0)
        return (np.linalg.norm(positive) if positive.any() else w.max()) - lam * np.cos(angle)

    high = 1.0
    while height(2 * high) < height(high):
        high *= 2
    found = optimize.minimize_scalar(height, bounds=(0.0, 2 * high), method="bounded", options={"xatol": 1e-13})
    return min(found.fun, height(0.0))


def test_orthant_value_equals_the_dual_unless_the_maximiser_jumps_between_axes():
    rng, closed, jumped = np.random.default_rng(2), 0, 0
    for _ in range(1500):
        center, x = random_case(rng, rng.integers(2, 6), "nonnegative")
        angle = rng.uniform(0.02, 1.5)
        value, bound = SphericalCap(center, angle, "nonnegative").support(x), dual_value(x, center, angle)
        assert value <= bound + 1e-7
        if value >= bound - 1e-6:
            closed += 1
        else:
            jumped += 1
            assert (x <= 0).all()
    assert closed > 1000
    assert jumped > 10


def test_orthant_maximum_over_an_arc_in_two_dimensions():
    rng = np.random.default_rng(3)
    for _ in range(300):
        center, x = random_case(rng, 2, "nonnegative")
        angle = rng.uniform(0.0, np.pi)
        middle = np.arctan2(center[1], center[0])
        turns = np.linspace(max(0.0, middle - angle), min(np.pi / 2, middle + angle), 20_001)
        best = (np.cos(turns) * x[0] + np.sin(turns) * x[1]).max()
        assert SphericalCap(center, angle, "nonnegative").support(x) == pytest.approx(best, abs=1e-7)


def test_orthant_maximum_by_local_search_in_four_dimensions():
    rng = np.random.default_rng(4)
    for _ in range(25):
        center, x = random_case(rng, 4, "nonnegative")
        x = -np.abs(x)
        angle = rng.uniform(0.1, 1.3)
        cap = SphericalCap(center, angle, "nonnegative")
        starts = members_in(cap, rng, 400)
        rules = [
            {"type": "eq", "fun": lambda t: t @ t - 1.0},
            {"type": "ineq", "fun": lambda t, cap=cap: t @ cap.center - np.cos(cap.angle)},
        ]
        best = (starts @ x).max()
        for start in starts[np.argsort(starts @ x)[-4:]]:
            found = optimize.minimize(
                lambda t, x=x: -t @ x, start, bounds=[(0, 1)] * 4, constraints=rules, method="SLSQP"
            )
            if found.success:
                best = max(best, found.x @ x)
        assert best <= cap.support(x) + 1e-6
        assert cap.support(x) <= best + 0.05


def test_worst_case_on_a_face_where_many_axes_tie():
    center = np.array([2.0, 1.0, 1.0]) / np.sqrt(6.0)
    for angle in (0.1, 0.3, 0.6, 0.8):
        cap = SphericalCap(center, angle, "nonnegative")
        worst = cap.worst_case(-center)
        assert cap.contains(worst)
        assert worst @ center == pytest.approx(np.cos(angle), abs=1e-12)


def test_tiny_angles_keep_their_digits():
    center, x = np.array([3.0, 4.0]) / 5.0, np.array([-0.8, 0.6])
    for angle in (1e-12, 1e-9, 1e-6):
        assert SphericalCap(center, angle).support(x) == pytest.approx(angle, rel=1e-10)
        worst = SphericalCap(center, angle).worst_case(x)
        assert angle_between(worst, center) == pytest.approx(angle, rel=1e-3)
    near = center + 1e-9 * x
    assert SphericalCap(center, 2e-9).support(near) == pytest.approx(np.linalg.norm(near), rel=1e-15)


def test_parallel_opposite_and_zero_vectors():
    center = np.array([1.0, 2.0, -2.0]) / 3.0
    cap = SphericalCap(center, 0.5)
    assert cap.support(2.0 * center) == pytest.approx(2.0)
    assert cap.support(-2.0 * center) == pytest.approx(-2.0 * np.cos(0.5), abs=1e-14)
    worst = cap.worst_case(-2.0 * center)
    assert cap.contains(worst)
    assert np.array_equal(worst, cap.worst_case(-2.0 * center))
    assert cap.support(np.zeros(3)) == 0.0
    assert np.allclose(cap.worst_case(np.zeros(3)), center)


def test_one_dimension_has_two_directions_only():
    for angle, value in [(0.0, -2.0), (1.0, -2.0), (3.0, -2.0), (np.pi, 2.0)]:
        cap = SphericalCap([5.0], angle)
        assert cap.support([-2.0]) == value
        assert cap.worst_case([-2.0]) @ [-2.0] == value
        assert cap.support(sparse.csr_array([[-2.0]])) == value
        assert cap.support([2.0]) == 2.0
    assert SphericalCap([2.0], np.pi, "nonnegative").support([-1.0]) == -1.0
    assert (SphericalCap([2.0], 1.0).sample(5, 0) == 1.0).all()
    assert set(SphericalCap([2.0], np.pi).sample(50, 0).ravel()) == {-1.0, 1.0}


@pytest.mark.parametrize("domain", ["free", "nonnegative"])
@pytest.mark.parametrize("per_row", [False, True])
def test_sparse_dense_and_single_rows_agree(domain, per_row):
    rng = np.random.default_rng(5)
    x = rng.integers(-2, 3, (30, 12)) * (rng.random((30, 12)) < 0.4) * 1.0
    center = rng.random((30, 12)) + 0.01 if per_row else rng.random(12) + 0.01
    x[3] = 0.0
    x[4] = center[4] if per_row else center
    for angle in (0.0, 1e-7, 0.4, 2.0):
        cap = SphericalCap(center, angle, domain)
        values = cap.support(x)
        assert np.allclose(cap.support(sparse.csr_array(x)), values, rtol=0, atol=1e-13)
        assert np.allclose(cap.worst_case(sparse.csr_array(x)), cap.worst_case(x), rtol=0, atol=1e-13)
        alone = [cap.row(k).support(x[k]) for k in range(30)]
        assert np.allclose(alone, values, rtol=0, atol=1e-14)


def test_many_rows_are_worked_in_blocks(monkeypatch):
    rng = np.random.default_rng(6)
    x, cap = rng.normal(size=(50, 4)), SphericalCap(rng.random((50, 4)), 0.3)
    whole = cap.support(x), cap.worst_case(x)
    monkeypatch.setattr("conformio.sets.spherical_cap._BLOCK_ENTRIES", 12)
    assert np.array_equal(cap.support(x), whole[0])
    assert np.array_equal(cap.worst_case(x), whole[1])


vectors = st.lists(st.floats(-5, 5, width=32), min_size=3, max_size=3).map(np.array)
angles = st.floats(0.0, np.pi)
domains = st.sampled_from(["free", "nonnegative"])


@settings(max_examples=150, deadline=None, derandomize=True)
@given(vectors, vectors, angles, angles, domains, st.floats(1e-3, 1e3))
def test_support_is_sublinear_and_grows_with_the_angle(center, x, angle, other, domain, scale):
    center = np.abs(center) if domain == "nonnegative" else center
    if np.abs(center).max() < 1e-3:
        center = np.ones(3)
    narrow, wide = sorted([angle, other])
    small, large = SphericalCap(center, narrow, domain), SphericalCap(center * scale, wide, domain)
    size = 1.0 + np.linalg.norm(x)
    assert small.support(x) <= large.support(x) + 1e-12 * size
    assert small.support(scale * x) == pytest.approx(scale * small.support(x), abs=1e-11 * scale * size)
    assert small.support(x) >= small.center @ x - 1e-12 * size
    assert small.support(x) <= np.linalg.norm(x) + 1e-12 * size
    y = x[::-1].copy()
    assert small.support(x + y) <= small.support(x) + small.support(y) + 1e-11 * size


def test_contains_states_its_tolerance():
    cap = SphericalCap([1.0, 0.0], 0.5)

    def at(angle):
        return np.array([np.cos(angle), np.sin(angle)])

    assert cap.contains(7.0 * at(0.5))
    assert cap.contains(at(0.5 + 5e-13))
    assert not cap.contains(at(0.5 + 1e-11))
    assert cap.contains(np.array([at(-0.2), at(0.6)])).tolist() == [True, False]
    assert SphericalCap([1.0, 0.0], 0.5, "nonnegative").contains([at(-0.2), at(0.2)]).tolist() == [
        False,
        True,
    ]


@pytest.mark.parametrize(("d", "angle"), [(2, 0.6), (3, 1.2), (3, 2.5), (6, 2.0), (8, np.pi), (400, 0.02)])
def test_samples_have_the_polar_law_of_the_uniform_distribution(d, angle):
    center = np.arange(1.0, d + 1)
    drawn = SphericalCap(center, angle).sample(4000, 7)
    assert np.allclose(np.linalg.norm(drawn, axis=1), 1.0)
    polar = angle_between(drawn, center / np.linalg.norm(center))
    assert polar.max() <= angle + 1e-12
    grid = np.linspace(0.0, angle, 20_001)
    with np.errstate(divide="ignore"):
        logs = (d - 2) * np.log(np.sin(grid)) if d > 2 else np.zeros_like(grid)
    mass = integrate.cumulative_trapezoid(np.exp(logs - logs.max()), grid, initial=0.0)
    ranks = np.interp(polar, grid, mass / mass[-1])
    assert stats.kstest(ranks, "uniform").pvalue > 1e-4


def test_the_two_samplers_of_small_caps_agree_and_the_underflowing_one_is_used():
    d, angle = 400, 0.02
    assert special.betainc((d - 1) / 2, 0.5, np.sin(angle) ** 2) == 0.0
    from conformio.sets.spherical_cap import _sample_polar_angle, _sample_small_polar_angle

    rng = np.random.default_rng(8)
    a = _sample_polar_angle(5, 0.9, 4000, rng)
    b = _sample_small_polar_angle(5, 0.9, 4000, rng)
    assert stats.ks_2samp(a, b).pvalue > 1e-4


def test_sampling_directions_orthant_and_rows():
    cap = SphericalCap([1.0, 1.0, 1.0], 0.9, "nonnegative")
    drawn = cap.sample(2000, 9)
    assert drawn.shape == (2000, 3)
    assert cap.contains(drawn).all()
    assert np.allclose(drawn.mean(axis=0), drawn.mean(), atol=0.03)
    free = SphericalCap([0.0, 0.0, 1.0], 0.9).sample(4000, 10)
    turns = np.arctan2(free[:, 1], free[:, 0])
    assert stats.kstest(turns / (2 * np.pi) + 0.5, "uniform").pvalue > 1e-4
    rows = SphericalCap(np.eye(3), 0.2).sample(4, 11)
    assert rows.shape == (3, 4, 3)
    assert all(SphericalCap(np.eye(3)[k], 0.2).contains(rows[k]).all() for k in range(3))
    assert np.array_equal(cap.sample(3, 5), cap.sample(3, 5))
    assert cap.sample(random_state=np.random.default_rng(0)).shape == (1, 3)


def test_attributes_and_scaling():
    cap = SphericalCap([1e-200, 1e-200], 0.5)
    assert isinstance(cap, UncertaintySet)
    assert np.allclose(cap.center, np.sqrt(0.5))
    assert cap.n_params == 2
    assert cap.row(3) is cap
    rows = SphericalCap([[1e140, 0.0], [0.0, 2.0]], 0.5)
    assert np.array_equal(rows.row(1).center, [0.0, 1.0])
    with pytest.raises(ValueError, match="read-only"):
        cap.center[0] = 2.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0, 0.0], 0.5), r"`center` of SphericalCap: must not be zero"),
        (([[1.0, 0.0], [0.0, 0.0]], 0.5), r"`center` row 1 of SphericalCap: must not be zero"),
        (([1.0, np.nan], 0.5), "must be finite"),
        (([1.0, -1.0], 0.5, "nonnegative"), r"must be >= 0 \(domain nonnegative\)"),
        ((1.0, 0.5), r"must have shape \(d,\) or \(N, d\)"),
        (([], 0.5), r"must have shape \(d,\) or \(N, d\)"),
        ((["a"], 0.5), "real numbers"),
        (([1.0, 0.0], -0.1), r"`angle` of SphericalCap: must be a number in \[0.0, 3.14"),
        (([1.0, 0.0], 3.2), "`angle` of SphericalCap"),
        (([1.0, 0.0], np.nan), "`angle` of SphericalCap"),
        (([1.0, 0.0], "wide"), "`angle` of SphericalCap"),
        (([1.0, 0.0], 0.5, "positive"), "`domain` of SphericalCap: must be one of"),
    ],
)
def test_wrong_caps(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        SphericalCap(*arguments)


def test_wrong_vectors():
    cap, rows = SphericalCap([1.0, 0.0], 0.5), SphericalCap([[1.0, 0.0], [0.0, 1.0]], 0.5)
    with pytest.raises(InvalidInputError, match=r"`x` of SphericalCap.support: .* 2 columns"):
        cap.support([1.0, 2.0, 3.0])
    with pytest.raises(InvalidInputError, match=r"`x` row 1 of SphericalCap.worst_case: must be finite"):
        cap.worst_case([[1.0, 2.0], [np.inf, 0.0]])
    with pytest.raises(InvalidInputError, match="must have 2 rows"):
        rows.support([[1.0, 2.0]])
    with pytest.raises(InvalidInputError, match=r"one per centre; got one vector.*cap\.row"):
        rows.support([1.0, 2.0])
    with pytest.raises(InvalidInputError, match=r"`theta` row 1 of SphericalCap.contains: must not be zero"):
        cap.contains([[1.0, 0.0], [0.0, 0.0]])
    with pytest.raises(InvalidInputError, match=r"`theta` of SphericalCap.contains: must not be zero"):
        cap.contains([0.0, 0.0])
    with pytest.raises(InvalidInputError, match=r"`size` of SphericalCap.sample"):
        cap.sample(0)
    with pytest.raises(InvalidInputError, match="must leave one in 1000"):
        SphericalCap(np.eye(40)[0], 0.5, "nonnegative").sample(1, 0)


def test_an_active_set_that_does_not_certify_itself_is_refused():
    """Wrong positive entries end in None (the caller then lists candidates), never in a vector outside the cap."""
    center = np.array([0.6, 0.8, 0.0])
    assert _on_face(np.array([1.0, -9.0, 0.5]), center, 0.2, np.array([True, False, True])) is None
    assert _on_face(np.array([1.0, -2.0, -5.0]), center, 1.2, np.array([True, True, True])) is None
    assert _on_face(np.array([-0.6, -0.8, 0.0]), center, 0.2, np.array([True, True, False])) is None


def test_entries_parallel_to_the_centre_turn_positive_together():
    """Found by random search: two multipliers apart by one rounding error led to an axis outside the cap."""
    center = np.array([0.18632949817885436, 0.1555359708265785, 0.9700978712931237])
    x = np.array([-0.2541675877474594, -0.5795293220246163, -1.323287178012163])
    cap = SphericalCap(center, 0.5, "nonnegative")
    assert cap.contains(cap.worst_case(x))
    assert cap.support(x) == pytest.approx(-1.1970892691977677, abs=1e-9)
    assert cap.support(x) >= (cap.sample(10_000, random_state=0) @ x).max()
    rng = np.random.default_rng(2)
    for _ in range(300):
        d = int(rng.integers(2, 6))
        center = rng.uniform(0.0, 1.0, d) + 1e-3
        along = np.where(rng.random(d) < 0.6, -center, -rng.uniform(0.0, 3.0, d)) * rng.uniform(0.1, 3.0)
        cap = SphericalCap(center, rng.uniform(0.05, 1.5), "nonnegative")
        worst = cap.worst_case(along)
        assert cap.contains(worst)
        assert worst @ along >= (cap.sample(300, random_state=rng) @ along).max() - 1e-9
