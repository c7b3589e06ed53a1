"""Linear programs and relaxations: conic route, least norm, cutting plane, and the corrections E5, E9, E12, E13."""

from itertools import combinations

import numpy as np
import pytest
from scipy import optimize, sparse

from conformio.errors import InfeasibleProblemError, SolverError, UnboundedProblemError
from conformio.networks import Network
from conformio.prescription import cutting_plane, solve_robust
from conformio.prescription.cap_program import members
from conformio.prescription.regions import LinearPrograms, Region
from conformio.prescription.task import RobustTask
from conformio.problems import IntegerProgram, Knapsack, LinearProgram, ShortestPath
from conformio.sets import SphericalCap

ANGLES = [0.0, 1e-9, 1e-7, 1e-5, 1e-3, 0.05, 0.4, 1.0, 1.5, 1.8, 2.5, np.pi]


def random_program(rng, sense, domain):
    n, m = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    A = rng.integers(-2, 4, (m, n)).astype(float)
    lower = np.where(rng.random(n) < 0.6, 0.0, -rng.integers(0, 3, n))
    upper = lower + rng.integers(0, 5, n)
    with_equality = rng.random() < 0.5
    program = LinearProgram(
        A_eq=A[:1] if with_equality else None,
        A_ub=A[1:] if with_equality else A,
        lower=lower,
        upper=upper,
        sense=sense,
        domain=domain,
    )
    inside = lower + rng.random((3, n)) * (upper - lower)
    room = rng.random((3, m)) * 0.5
    if with_equality:
        room[:, 0] = 0.0
    center = rng.normal(size=n) if rng.random() < 0.5 else rng.integers(-2, 3, n).astype(float)
    center = np.abs(center) if domain == "nonnegative" else center
    return program, inside @ A.T + room, center if center.any() else np.ones(n)


@pytest.mark.parametrize("domain", ["free", "nonnegative"])
@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("angle", ANGLES)
def test_the_conic_route_equals_the_cutting_plane(angle, sense, domain):
    rng = np.random.default_rng(0)
    for _ in range(4):
        program, contexts, center = random_program(rng, sense, domain)
        cap = SphericalCap(center, angle, domain)
        fast = solve_robust(program, cap, contexts)
        slow = solve_robust(program, cap, contexts, method="reference")
        scale = np.maximum(1.0, np.abs(slow.values))
        assert (np.abs(fast.values - slow.values) <= 2e-8 * scale).all()
        assert fast.is_certified(1e-7).all()
        assert slow.is_certified(1e-7).all()
        assert program.is_feasible(fast.decisions, contexts).all()
        assert program.is_feasible(slow.decisions, contexts).all()
        assert set(slow.method) == {"cutting-plane"}


def test_no_feasible_point_beats_a_robust_decision():
    rng = np.random.default_rng(1)
    for trial in range(12):
        sense, domain = ("min", "max")[trial % 2], ("free", "nonnegative")[trial // 2 % 2]
        program, contexts, center = random_program(rng, sense, domain)
        cap = SphericalCap(center, rng.uniform(0.01, 2.0), domain)
        best = solve_robust(program, cap, contexts[:1]).values[0]
        corners = program.solve(
            rng.normal(size=(40, program.n_vars)) if domain == "free" else rng.random((40, program.n_vars)),
            np.repeat(contexts[:1], 40, axis=0),
        )
        points = np.vstack([corners, rng.dirichlet(np.ones(40), 200) @ corners])
        losses = cap.support(points) if sense == "min" else cap.support(-points)
        assert losses.min() >= (best if sense == "min" else -best) - 1e-7


def test_centres_of_rows_and_bounds_patterns_share_models():
    rng = np.random.default_rng(2)
    program, contexts, _ = random_program(rng, "min", "free")
    centers = rng.normal(size=(3, program.n_vars))
    centers[0, 0] = 0.0
    many = solve_robust(program, SphericalCap(centers, 0.4), contexts)
    for k in range(3):
        one = solve_robust(program, SphericalCap(centers[k], 0.4), contexts[k : k + 1])
        assert many.values[k] == pytest.approx(one.values[0], abs=1e-9)


# ---------------------------------------------------------------- E12 and E5: the example in the plane


def example(u):
    return LinearProgram(A_ub=[[-1.0, -u]], upper=[u, 2.0])


@pytest.mark.parametrize("u", [2.0, 10.0, 50.0, 100.0])
@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.8, 1.5])
def test_the_papers_example_is_answered_by_the_point_nearest_the_origin(u, angle):
    """E12: not the vertex (0, 1); E5: also at the angle 0 that calibration returns there."""
    found = solve_robust(example(u), SphericalCap([1.0, u], angle), [[-u]])
    assert np.allclose(found.decisions[0], np.array([u, u**2]) / (1 + u**2), rtol=0, atol=1e-9)
    assert found.values[0] == pytest.approx(u / np.sqrt(1 + u**2), abs=1e-12)
    assert found.is_certified(1e-9).all()


def test_the_best_vertex_of_the_example_is_worse():
    u, cap = 10.0, SphericalCap([1.0, 10.0], 0.3)
    best = solve_robust(example(u), cap, [[-u]]).values[0]
    assert cap.support([0.0, 1.0]) > best + 1e-4
    assert cap.support([u, 0.0]) > best + 1e-4


# ---------------------------------------------------------------- ties


@pytest.mark.parametrize("sense", ["min", "max"])
def test_ties_of_linear_programs_go_to_the_shortest_optimum_and_do_not_jump(sense):
    rng, faces = np.random.default_rng(3), 0
    for _ in range(40):
        n = int(rng.integers(2, 6))
        A = rng.integers(-1, 3, (2, n)).astype(float)
        program = LinearProgram(A_ub=A, lower=-1.0, upper=np.full(n, 2.0), sense=sense)
        center = rng.choice([A[0], A[0] + A[1], rng.integers(-1, 2, n).astype(float)])
        if not center.any():
            continue
        context = A @ rng.uniform(-1, 2, (1, n)).T + 0.1
        found = [solve_robust(program, SphericalCap(center, angle), context.T) for angle in (0.0, 1e-11, 5e-10, 1e-9)]
        for other in found[1:]:
            assert np.array_equal(other.decisions, found[0].decisions)
            assert other.is_certified(1e-8).all()
        sign = -1.0 if sense == "max" else 1.0
        box = [(-1, 2)] * n
        value = optimize.linprog(sign * center, A_ub=A, b_ub=context.ravel(), bounds=box).fun
        shortest = _least_norm(A, context.ravel(), sign * center, value, n)
        x = found[0].decisions[0]
        assert sign * center @ x == pytest.approx(value, abs=1e-9)
        assert np.linalg.norm(x) == pytest.approx(shortest, abs=2e-6)
        faces += np.linalg.norm(program.solve(center, context.T)[0] - x) > 1e-6
    assert faces > 5


def _least_norm(A, b, costs, value, n):
    """Length of the shortest point of the optimal face, by an unrelated solver."""
    rules = [
        {"type": "ineq", "fun": lambda x: b - A @ x},
        {"type": "ineq", "fun": lambda x: value - costs @ x},
    ]
    start = optimize.linprog(costs, A_ub=A, b_ub=b, bounds=[(-1, 2)] * n).x
    found = optimize.minimize(
        lambda x: x @ x,
        start,
        jac=lambda x: 2 * x,
        bounds=[(-1, 2)] * n,
        constraints=rules,
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 300},
    )
    return np.linalg.norm(found.x)


def test_tied_integer_programs_choose_the_shortest_by_cuts():
    """General integers have no hull: the shortest nominal optimum comes from the cutting plane."""
    program = IntegerProgram(A_ub=[[-1.0, -1.0, -1.0]], upper=[4.0, 4.0, 4.0])
    for angle in (0.0, 5e-10, 1e-9):
        found = solve_robust(program, SphericalCap([1.0, 1.0, 1.0], angle), [[-4.0]])
        assert sorted(found.decisions[0]) == [1.0, 1.0, 2.0]
        assert set(found.method) == {"cutting-plane"}
        assert found.is_certified(1e-8).all()


def test_general_integers_equal_enumeration():
    rng = np.random.default_rng(4)
    grid = np.stack(np.meshgrid(*[np.arange(-1.0, 4.0)] * 3), axis=-1).reshape(-1, 3)
    for sense in ("min", "max"):
        program = IntegerProgram(A_ub=[[1.0, 2.0, -1.0]], lower=-1.0, upper=np.full(3, 3.0), sense=sense)
        for angle in (0.0, 0.2, 1.2, 2.0):
            cap = SphericalCap(rng.normal(size=3), angle)
            points = grid[grid @ [1.0, 2.0, -1.0] <= 2.0]
            best = cap.support(points).min() if sense == "min" else (-cap.support(-points)).max()
            found = solve_robust(program, cap, [[2.0]])
            assert found.values[0] == pytest.approx(best, abs=1e-8)
            assert program.is_feasible(found.decisions, [[2.0]]).all()


# ---------------------------------------------------------------- E13: relaxing whole numbers


def test_relaxed_paths_are_fractional_flows_with_a_better_worst_case():
    rng, fractional = np.random.default_rng(5), 0
    network = Network.grid(3, 3)
    problem = ShortestPath(network)
    for _ in range(4):
        cap = SphericalCap(rng.random(network.n_edges) + 0.2, 0.3)
        whole = solve_robust(problem, cap, [[0, 8], [2, 6]])
        flows = solve_robust(problem, cap, [[0, 8], [2, 6]], relaxed=True)
        slow = solve_robust(problem, cap, [[0, 8], [2, 6]], method="reference", relaxed=True)
        assert (flows.values <= whole.values + 1e-9).all()
        assert np.allclose(flows.values, slow.values, rtol=0, atol=1e-7)
        balance = network.incidence @ flows.decisions.T
        assert np.allclose(balance[[0, 8], 0], [-1.0, 1.0])
        assert set(flows.method) == {"projection"}
        conic = solve_robust(problem, cap, [[0, 8], [2, 6]], method="conic", relaxed=True)
        assert np.allclose(flows.values, conic.values, rtol=0, atol=1e-9)
        fractional += (np.abs(flows.decisions - np.rint(flows.decisions)) > 1e-3).any(axis=1).sum()
        nominal = solve_robust(problem, SphericalCap(cap.center, 0.0), [[0, 8], [2, 6]], relaxed=True)
        assert np.allclose(nominal.decisions, np.rint(nominal.decisions), atol=1e-7)
    assert fractional >= 6


def test_relaxed_knapsacks_are_no_worse():
    rng = np.random.default_rng(6)
    knapsack = Knapsack(rng.random(6) + 0.2)
    for domain in ("free", "nonnegative"):
        cap = SphericalCap(rng.random(6) + 0.1, 0.4, domain)
        whole, relaxed = (solve_robust(knapsack, cap, [1.2, 2.0], relaxed=r) for r in (False, True))
        assert (relaxed.values >= whole.values - 1e-8).all()
        assert relaxed.is_certified(1e-7).all()


# ---------------------------------------------------------------- E9: the master


def test_omega_must_be_free_for_maximisation():
    """With Omega >= 0 the master of a max problem, whose losses are negative, stops at a wrong 0."""
    program = LinearProgram(A_ub=[[1.0, 1.0]], sense="max")
    cap = SphericalCap([1.0, 2.0], 0.2)
    found = solve_robust(program, cap, [[3.0]], method="cutting-plane")
    assert found.values[0] > 2.0
    worst = cap.worst_case(-found.decisions[0])
    # The paper's master, minimising Omega >= 0 over the cuts -theta.x <= Omega: x = 0 is optimal for it.
    paper = optimize.linprog(
        [0, 0, 1], A_ub=[[1, 1, 0], [*-worst, -1]], b_ub=[3, 0], bounds=[(0, None), (0, None), (0, None)]
    )
    assert paper.fun == 0.0
    free = optimize.linprog(
        [0, 0, 1], A_ub=[[1, 1, 0], [*-worst, -1]], b_ub=[3, 0], bounds=[(0, None), (0, None), (None, None)]
    )
    assert free.fun <= -found.values[0] + 1e-8


def test_the_first_master_needs_a_cut():
    """Without any cut the paper's first master (Omega free) is unbounded; the centre's own cut bounds it."""
    empty = optimize.linprog([0, 0, 1], A_ub=[[1, 1, 0]], b_ub=[3], bounds=[(0, None), (0, None), (None, None)])
    assert empty.status == 3
    unbounded = LinearProgram(A_ub=[[1.0, -1.0]], sense="min")
    with pytest.raises(UnboundedProblemError, match=r"row 0 of solve_robust: cutting planes cannot start.*bound"):
        solve_robust(unbounded, SphericalCap([1.0, -3.0], 0.3), [[1.0]], method="reference")


def test_cuts_run_out_with_an_honest_gap(monkeypatch):
    rng = np.random.default_rng(7)
    program = LinearProgram(A_ub=-np.ones((1, 5)), upper=np.full(5, 2.0))
    cap = SphericalCap(rng.random(5), 1.0)
    best = solve_robust(program, cap, [[-3.0]]).values[0]
    monkeypatch.setattr(cutting_plane, "_MAX_CUTS", 3)
    with pytest.warns(UserWarning, match="could not be proven optimal"):
        short = solve_robust(program, cap, [[-3.0]], method="cutting-plane")
    assert 0.0 <= short.values[0] - best <= short.gap[0] + 1e-12
    assert short.gap[0] > 1e-6


# ---------------------------------------------------------------- unbounded sets, errors, certificates


def test_unbounded_sets_with_a_bounded_worst_case():
    """x >= 0 without upper bounds; the dual of the solver is mixed with the centre to stay useful."""
    program = LinearProgram(A_ub=[[-1.0, -1.0, 0.0]])
    for angle in (0.0, 1e-9, 0.2, 1.0):
        cap = SphericalCap([1.0, 1.0, 0.0], angle)
        found = solve_robust(program, cap, [[-2.0]])
        assert np.allclose(found.decisions[0], [1.0, 1.0, 0.0], atol=1e-7)
        assert found.values[0] == pytest.approx(np.sqrt(2.0), abs=1e-9)


def test_nominally_unbounded_but_robustly_bounded():
    """Only the conic route can do this: cutting planes start from the nominal problem."""
    program = LinearProgram(A_ub=[[-1.0, -1.0]])
    cap = SphericalCap([1.0, -0.1], 0.5)
    found = solve_robust(program, cap, [[-2.0]])
    grid = np.linspace(0, 6, 601)
    points = np.array([(a, b) for a in grid for b in grid if a + b >= 2.0])
    assert found.values[0] <= cap.support(points).min() + 1e-9
    assert found.is_certified(1e-6).all()


def test_unbounded_and_infeasible_programs_name_the_row():
    program = LinearProgram(A_ub=[[1.0, 1.0]], sense="max", lower=-np.inf)
    for angle in (0.0, 0.3):
        with pytest.raises(UnboundedProblemError, match="row 0 of solve_robust"):
            solve_robust(program, SphericalCap([1.0, -1.0], angle), [[1.0]])
    closed = LinearProgram(A_ub=[[1.0, 1.0]])
    for angle in (0.0, 0.3):
        for method in ("auto", "reference"):
            cap = SphericalCap([1.0, 1.0], angle)
            with pytest.raises(InfeasibleProblemError, match="row 2 of solve_robust"):
                solve_robust(closed, cap, [[1.0], [0.5], [-1.0]], method=method)


def test_members_are_members():
    rng = np.random.default_rng(8)
    for _ in range(200):
        center = rng.random(4)
        center /= np.linalg.norm(center)
        angle = rng.uniform(0.1, 1.5)
        raw = rng.normal(size=4)
        for theta in members(raw, center, angle, nonnegative=False):
            assert np.linalg.norm(theta) <= 1.0 + 1e-12
            assert theta @ center >= np.cos(angle) - 1e-12
        for theta in members(np.abs(raw) + 1.0, center, angle, nonnegative=True):
            assert theta.min() >= 0.0
    assert members(np.zeros(4), center, 0.3, nonnegative=False) == []
    assert members(np.full(4, 0.1), center, 0.3, nonnegative=True) == []


def test_faces_too_large_for_dense_algebra_keep_the_solvers_point(monkeypatch):
    monkeypatch.setattr("conformio.prescription.faces._DENSE_LIMIT", 0)
    u = 2.0
    for angle in (0.0, 0.4):
        found = solve_robust(example(u), SphericalCap([1.0, u], angle), [[-u]])
        assert np.allclose(found.decisions[0], np.array([u, u**2]) / (1 + u**2), rtol=0, atol=1e-4)
        assert found.is_certified(1e-7).all()


def test_a_bad_conic_answer_goes_to_the_cutting_plane(monkeypatch):
    """The certificate, not the solver, decides: a wrong point is replaced and the row says so."""
    program = LinearProgram(A_ub=[[-1.0, -2.0]], upper=[2.0, 2.0])
    cap = SphericalCap([1.0, 1.0], 0.5)
    good = solve_robust(program, cap, [[-2.0]], method="conic")
    monkeypatch.setattr("conformio.prescription.conic.finished", lambda *arguments: np.array([2.0, 2.0]))
    monkeypatch.setattr("conformio.prescription.conic.members", lambda *arguments: [])
    found = solve_robust(program, cap, [[-2.0]], method="conic")
    assert found.method.tolist() == ["cutting-plane"]
    assert found.values[0] == pytest.approx(good.values[0], abs=1e-8)
    assert good.method.tolist() == ["conic"]


def test_sparse_matrices_are_taken():
    A = sparse.csr_array(np.array([[-1.0, -2.0]]))
    found = solve_robust(LinearProgram(A_ub=A, upper=[2.0, 2.0]), SphericalCap([1.0, 2.0], 0.3), [[-2.0]])
    assert found.values[0] == pytest.approx(2 / np.sqrt(5))


def test_vertices_alone_would_not_do():
    """The worst case is convex in x: over a polytope the best vertex is in general not the best point."""
    rng, better = np.random.default_rng(9), 0
    for _ in range(10):
        n = 3
        program = LinearProgram(A_eq=np.ones((1, n)), upper=np.ones(n))
        cap = SphericalCap(rng.random(n), 0.5)
        found = solve_robust(program, cap, [[2.0]])
        vertices = np.array([[float(i not in pair) for i in range(n)] for pair in combinations(range(n), 1)])
        better += cap.support(vertices).min() > found.values[0] + 1e-6
    assert better > 5


@pytest.mark.parametrize("tilt", [1e-7, 1e-6, 1e-5])
@pytest.mark.parametrize("angle", [1e-7, 1e-6, 1e-5, 9e-5])
def test_tiny_angles_where_the_nominal_optimum_is_not_robust(tilt, angle):
    """On x1 + x2 = 2 the centre (1, 1 + tilt) prefers (2, 0); a comparable angle moves the decision inside."""
    program = LinearProgram(A_eq=[[1.0, 1.0]], upper=[2.0, 2.0])
    cap = SphericalCap([1.0, 1.0 + tilt], angle)
    found = solve_robust(program, cap, [[2.0]])
    first = np.linspace(0.0, 2.0, 200_001)
    losses = cap.support(np.column_stack([first, 2.0 - first]))
    assert found.values[0] <= losses.min() + 1e-13
    assert found.is_certified(1e-9).all()


def test_bounds_of_unbounded_programs_say_nothing():
    program = LinearProgram(A_ub=[[1.0, -1.0]])
    cap = SphericalCap([1.0, 1.0], 0.1)
    task = RobustTask(program, cap, np.array([[1.0]]), False, np.arange(1), "test")
    programs = LinearPrograms(Region(task))
    assert programs.bound(np.array([1.0, -1.1]), 0) == -np.inf
    assert programs.bound(np.array([-1.0, 2.0]), 0) == pytest.approx(-1.0)


def test_a_conic_solver_that_fails_leaves_the_row_to_the_cutting_plane(monkeypatch):
    program = LinearProgram(A_ub=[[-1.0, -2.0]], upper=[2.0, 2.0])
    cap = SphericalCap([1.0, 1.0], 0.5)
    good = solve_robust(program, cap, [[-2.0]], method="conic")

    def fail(self, *arguments, **more):
        raise SolverError("test", "stopped", 0)

    monkeypatch.setattr("conformio.solvers.ConicModel.solve", fail)
    found = solve_robust(program, cap, [[-2.0]], method="conic")
    assert found.method.tolist() == ["cutting-plane"]
    assert found.values[0] == pytest.approx(good.values[0], abs=1e-8)


def test_prescriptions_do_not_jump_where_ties_are_only_nearly_exact():
    """Costs that differ by less than the tie tolerance are ties at every angle up to TIE_ANGLE."""
    program = LinearProgram(A_eq=[[1.0, 1.0]], upper=[2.0, 2.0])
    for angle in (0.0, 1e-10, 5e-10, 1e-9):
        found = solve_robust(program, SphericalCap([1.0, 1.0 + 5e-10], angle), [[2.0]])
        assert np.allclose(found.decisions[0], [1.0, 1.0], rtol=0, atol=1e-12)
        assert found.is_certified(1e-8).all()


SMALL = IntegerProgram(A_ub=[[-2, 1, -2.0]], lower=[0, -1, 2], upper=[1, 2, 3], integrality=[1, 1, 1], sense="max")
LARGE = IntegerProgram(A_ub=[[-1, -1, 0.0]], lower=[0, 0, -50], upper=[2000, 2000, 50], integrality=[1, 1, 1])


@pytest.mark.parametrize(
    ("problem", "center", "context"), [(SMALL, [-2.0, 0.0, 1.0], 0.0), (LARGE, [1.0, 2.0, 0.0], -2000.0)]
)
def test_whole_decisions_do_not_jump_just_above_zero(problem, center, context):
    at_zero = solve_robust(problem, SphericalCap(center, 0.0), [[context]]).decisions
    for angle in (1e-9, 1.0001e-9, 2e-9, 1e-8):
        found = solve_robust(problem, SphericalCap(center, angle), [[context]])
        np.testing.assert_array_equal(found.decisions, at_zero)
        assert found.is_certified().all()


@pytest.mark.parametrize("method", ["auto", "conic", "cutting-plane"])
@pytest.mark.parametrize("sense", ["min", "max"])
def test_beyond_a_right_angle_no_loss_is_negative(method, sense):
    """The centre's nominal problem is unbounded, the robust one is not: its hull holds the origin, so 0 is a bound."""
    problem = LinearProgram(A_ub=[[-2.0, 2.0, -1.0, -1.0]], lower=[-2, -1, -np.inf, -2], upper=np.inf, sense=sense)
    robust = solve_robust(problem, SphericalCap([1.0, 1.0, 2.0, -2.0], 2.6), [[9.0]], method=method)
    np.testing.assert_allclose(robust.decisions, 0.0, atol=1e-8)
    assert robust.values[0] == pytest.approx(0.0, abs=1e-8)
    assert robust.is_certified().all()
