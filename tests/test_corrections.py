"""One test for each correction to the paper; `docs/corrections.md` shows the same with numbers."""

import numpy as np
import pytest
from scipy import stats

import conformio as cio
from conformio.studies import knapsack_example, road_grid_example

TRUTH = np.full(2, np.sqrt(0.5))
DRAWS = 40_000


def example(u):
    return cio.LinearProgram(A_ub=[[-1.0, -u]], lower=0.0, upper=[u, 2.0])


def people(n, seed=0):
    delta = np.random.default_rng(seed).uniform(0, np.pi / 2, n)
    return np.column_stack([np.cos(delta), np.sin(delta)])


def test_e1_the_grid_with_120_edges_has_36_nodes():
    assert cio.Network.grid(5, 5).n_edges == 80
    assert cio.Network.grid(6, 6).n_edges == 120
    assert road_grid_example(5, random_state=0).problem.n_params == 120


@pytest.mark.parametrize("degrees", [1, 10, 29])
def test_e2_the_printed_chord_bound_fails_below_thirty_degrees(degrees):
    a = np.radians(degrees)
    cap = cio.SphericalCap([1.0, 0.0], a)
    ends = np.array([[np.cos(a), np.sin(a)], [np.cos(a), -np.sin(a)]])
    assert cap.contains(ends).all()
    chord = np.linalg.norm(ends[0] - ends[1])
    assert chord > 2 * (1 - np.cos(2 * a))
    assert chord == pytest.approx(2 * np.sin(a))
    _, pog = cio.bounds.optimality_gap_bounds(a, 0.0, 0.0, 1.0, 0.0, 0.0)
    assert pog >= chord - 1e-12


@pytest.mark.parametrize(("u", "printed"), [(2.0, 0.74), (10.0, 4.55), (50.0, 24.51), (100.0, 49.50)])
def test_e3_classic_pog(u, printed):
    problem, contexts = example(u), np.full((DRAWS, 1), -u)
    classic = problem.sample_optimal([1.0, u], contexts, random_state=1)
    pog = cio.metrics.perceived_optimality_gap(problem, people(DRAWS), contexts, classic)
    corrected = 2 / np.pi * (np.sqrt(1 + u**2) - (u + 1) / 2)
    assert pog == pytest.approx(corrected, rel=0.03)
    assert abs(pog - printed) > 0.3 * printed
    aog = cio.metrics.actual_optimality_gap(problem, TRUTH, contexts, classic)
    assert aog == pytest.approx(np.sqrt(2) * (u - 1) / 4, rel=0.03)


def test_e4_an_empty_projection_is_pi_not_half_pi():
    problem = cio.Knapsack([1.0, 1.0])
    angle = cio.conformity_angles(problem, [1.0, 2.0], [5.0], [[0.0, 0.0]])[0]
    assert angle == np.pi
    cap = cio.SphericalCap([1.0, 2.0], np.pi / 2)
    members = cap.sample(5_000, random_state=0)
    explains = problem.is_optimal(members, np.zeros((5_000, 2)), np.full(5_000, 5.0))
    assert not explains.any()


@pytest.mark.parametrize("u", [2.0, 10.0, 50.0, 100.0])
def test_e5_and_e12_the_example_end_to_end(u):
    problem, contexts = example(u), np.full((200, 1), -u)
    decisions = problem.solve(people(200), contexts)
    estimator = cio.SuboptimalityLoss(center=TRUTH, radius=1.0, tol=1e-9)
    model = cio.ConformalIO(problem, estimator, random_state=0).fit(contexts, decisions)
    np.testing.assert_allclose(model.theta_, np.array([1.0, u]) / np.hypot(1.0, u), atol=1e-9)
    assert model.angle_ == 0.0
    best = np.array([u, u**2]) / (1 + u**2)
    prescription = model.predict([[-u]])
    np.testing.assert_allclose(prescription[0], best, atol=1e-7)
    aog = cio.metrics.actual_optimality_gap(problem, TRUTH, [[-u]], prescription)
    assert aog == pytest.approx((u - 1) / (np.sqrt(2) * (1 + u**2)), abs=1e-6)
    everyone = np.tile(prescription, (DRAWS, 1))
    pog = cio.metrics.perceived_optimality_gap(problem, people(DRAWS), np.full((DRAWS, 1), -u), everyone)
    exact = 2 / np.pi * ((u + u**2) / (1 + u**2) - 1 - u + np.sqrt(1 + u**2))
    assert pog == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize("angle", [1e-9, 1e-3, 0.3, 1.2, np.pi / 2, 2.5])
def test_e12_the_robust_optimum_is_no_vertex(angle):
    u = 2.0
    solution = cio.solve_robust(example(u), cio.SphericalCap([1.0, u], angle), [[-u]])
    np.testing.assert_allclose(solution.decisions[0], [0.4, 0.8], atol=1e-6)
    vertex = float(cio.SphericalCap([1.0, u], angle).support(np.array([0.0, 1.0])))
    assert solution.values[0] <= vertex
    if angle > 1e-6:
        assert solution.values[0] < vertex - 1e-5


@pytest.mark.parametrize("advantage", [0.0, 1e-12])
def test_e5_prescriptions_do_not_jump_at_zero(advantage):
    """The detour of two streets is cheaper by no more than rounding: the single street wins at every angle."""
    problem = cio.ShortestPath(cio.Network([0, 0, 1, 2], [1, 3, 3, 3], n_nodes=4))
    theta = np.array([1.0, 2.0, 1.0 - advantage, 1.0])
    for method in ("auto", "parametric", "reference"):
        for angle in (0.0, 1e-9, 0.1):
            route = cio.solve_robust(problem, cio.SphericalCap(theta, angle), [[0, 3]], method=method).decisions
            np.testing.assert_array_equal(route.toarray() if hasattr(route, "toarray") else route, [[0, 1, 0, 0]])


def test_e6_ties_keep_coverage_above_the_level():
    rng = np.random.default_rng(1)
    angles, future = (np.where(rng.random(4000) < 0.85, 0.0, rng.random(4000)) for _ in range(2))
    for level in (0.2, 0.5, 0.8):
        assert cio.metrics.coverage(future, cio.calibrated_angle(angles, level)) > 0.82
    drivers = road_grid_example(200, random_state=0)
    model = cio.ConformalIO(drivers.problem, cio.SuboptimalityLoss(), 0.1, random_state=0)
    model.fit(drivers.contexts, drivers.decisions)
    assert model.angle_ == 0.0
    assert model.tie_mass_ == (model.scores_ == 0.0).mean() > 0.3


def test_e7_literal_budgets_leave_nothing_to_decide():
    literal = knapsack_example(2000, random_state=0, budget_share=(1 / 5, 5.0))
    everything = (literal.decisions.sum(axis=1) == 10).mean()
    assert everything == pytest.approx(5 / 6, abs=0.03)
    assert not (knapsack_example(500, random_state=0).decisions.sum(axis=1) == 10).any()


def test_e8_the_right_hand_side_must_be_theta():
    cp = pytest.importorskip("cvxpy")
    network = cio.Network([0, 1, 0], [1, 2, 2], n_nodes=3)
    center = np.array([1.0, 1.0, 1.0]) / np.sqrt(3)
    detour = np.array([1.0, 1.0, 0.0])
    angles, explained = {}, {}
    for name in ("printed", "corrected"):
        theta, w, v = cp.Variable(3), cp.Variable(3), cp.Variable(3, nonneg=True)
        right = 10 * center if name == "printed" else theta  # fixed numbers, of whatever unit
        rules = [
            w[2] - w[0] - cp.sum(v) == detour @ theta,
            w[network.heads] - w[network.tails] - v <= right,
            cp.norm(theta) <= 1,
        ]
        cp.Problem(cp.Maximize(center @ theta), rules).solve(solver=cp.CLARABEL)
        angles[name] = np.arccos(min(float(center @ theta.value), 1.0))
        problem = cio.ShortestPath(network, domain="free")
        explained[name] = problem.is_optimal(theta.value, [detour], [[0, 2]], tol=1e-5)[0]
    assert explained["corrected"]
    assert not explained["printed"]
    ours = cio.conformity_angles(cio.ShortestPath(network, domain="free"), center, [[0, 2]], [detour])[0]
    assert ours == pytest.approx(angles["corrected"], abs=1e-4)


def test_e9_worst_case_values_may_be_negative():
    problem = cio.IntegerProgram(A_eq=[[1.0, 1.0]], lower=0, upper=1)
    cap = cio.SphericalCap([-3.0, -1.0], 0.2)
    exact = min(float(cap.support(x)) for x in np.eye(2))
    assert exact < 0
    for method in ("auto", "reference"):
        assert cio.solve_robust(problem, cap, [[1.0]], method=method).values[0] == pytest.approx(exact, abs=1e-9)
    shop = cio.Knapsack([1.0, 1.0])
    assert cio.solve_robust(shop, cio.SphericalCap([1.0, 1.0], 0.2), [2.0], method="reference").values[0] > 0


def test_e10_gaps_scale_with_the_length_of_the_parameters():
    drivers = road_grid_example(50, random_state=0)
    fixed = drivers.problem.solve(np.ones(120), drivers.contexts)
    raw = cio.metrics.perceived_optimality_gap(drivers.problem, drivers.thetas, drivers.contexts, fixed)
    lengths = np.linalg.norm(drivers.thetas, axis=1, keepdims=True)
    unit = cio.metrics.perceived_optimality_gap(drivers.problem, drivers.thetas / lengths, drivers.contexts, fixed)
    trivial = 2 * np.sqrt(np.maximum(fixed.sum(axis=1), drivers.decisions.sum(axis=1)).mean())
    assert raw > trivial > unit


def test_e11_the_law_of_the_true_parameters_is_stated_and_an_option():
    wide = road_grid_example(5, random_state=0).theta_true
    assert wide.min() >= 1
    assert wide.max() <= 10
    narrow = road_grid_example(5, random_state=0, true_range=(2.0, 3.0)).theta_true
    assert narrow.min() >= 2
    assert narrow.max() <= 3


def test_e13_relaxed_robust_routes_are_lotteries():
    problem = cio.ShortestPath(cio.Network.grid(3, 3))
    cap = cio.SphericalCap(np.ones(problem.n_params), np.radians(10))
    single = cio.solve_robust(problem, cap, [[0, 8]])
    lottery = cio.solve_robust(problem, cap, [[0, 8]], relaxed=True)
    assert set(np.unique(single.decisions.toarray())) == {0.0, 1.0}
    flow = np.asarray(lottery.decisions.todense() if hasattr(lottery.decisions, "todense") else lottery.decisions)
    assert ((flow > 0.01) & (flow < 0.99)).any()
    assert lottery.values[0] < single.values[0] - 1e-3


def test_e14_the_printed_band_is_narrower_than_what_is_proved():
    n = 200
    printed = np.sqrt((8 * np.log(n + 1) + 2 * np.log(n)) / n)
    proved = np.sqrt(8 * np.log(n + 1) / n) + np.sqrt(2 * np.log(n) / n)
    assert printed < proved
    low, high = cio.metrics.coverage_interval(n, 0.9, n_test=100_000, mass=0.99)
    exact = stats.beta(181, 20)
    assert low == pytest.approx(exact.ppf(0.005), abs=2e-3)
    assert high == pytest.approx(exact.ppf(0.995), abs=2e-3)
