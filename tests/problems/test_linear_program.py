"""Linear programs against scipy, cones against re-solving, and uniform draws against known laws."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse, stats
from scipy.optimize import linprog

from conformio.errors import InfeasibleProblemError, InvalidInputError, SolverError, UnboundedProblemError
from conformio.problems import IntegerProgram, LinearProgram, _polytope
from conformio.problems._per_thread import PerThread

INF = np.inf


def random_program(rng, sense="min", n=5, n_eq=1, n_ub=3):
    """A program with an interior point for every context, some bounds infinite or equal."""
    A_eq, A_ub = rng.normal(size=(n_eq, n)), rng.normal(size=(n_ub, n))
    lower, upper = np.full(n, -1.0), np.full(n, 2.0)
    lower[0], upper[0] = 0.5, 0.5
    program = LinearProgram(A_eq, sparse.csr_array(A_ub), lower, upper, sense=sense)
    points = rng.uniform(-0.5, 1.0, (8, n))
    points[:, 0] = 0.5
    slack = rng.uniform(0.0, 0.5, (8, n_ub))
    contexts = np.hstack([points @ A_eq.T, points @ A_ub.T + slack])
    return program, contexts, (A_eq, A_ub, lower, upper)


def scipy_value(theta, context, data, sense):
    A_eq, A_ub, lower, upper = data
    sign = 1.0 if sense == "min" else -1.0
    b_eq, b_ub = context[: len(A_eq)], context[len(A_eq) :]
    found = linprog(sign * theta, A_ub, b_ub, A_eq, b_eq, np.column_stack([lower, upper]))
    return sign * found.fun


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("scale", [1e-7, 1.0, 1e7])
def test_optimum_equals_scipy_whatever_the_length_of_theta(sense, scale):
    rng = np.random.default_rng(0)
    program, contexts, data = random_program(rng, sense)
    thetas = rng.normal(size=(8, 5))
    found = program.solve(scale * thetas, contexts)
    assert program.is_feasible(found, contexts).all()
    assert program.is_optimal(scale * thetas, found, contexts).all()
    for theta, x, context in zip(thetas, found, contexts, strict=True):
        assert theta @ x == pytest.approx(scipy_value(theta, context, data, sense), abs=1e-8)


def test_one_theta_for_all_rows_equals_one_per_row():
    rng = np.random.default_rng(1)
    program, contexts, _ = random_program(rng)
    theta = rng.normal(size=5)
    shared, each = program.solve(theta, contexts), program.solve(np.tile(theta, (8, 1)), contexts)
    np.testing.assert_allclose(shared @ theta, each @ theta, atol=1e-9)


def test_the_model_is_built_once(monkeypatch):
    program, contexts, _ = random_program(np.random.default_rng(2))
    built = []
    build = type(program._constraints).model
    monkeypatch.setattr(type(program._constraints), "model", lambda *args: built.append(1) or build(*args))
    for seed in range(3):
        program.solve(np.random.default_rng(seed).normal(size=5), contexts)
        program.sample_optimal(np.ones(5), contexts, random_state=seed)
    assert len(built) == 1


def test_tied_answers_do_not_depend_on_earlier_calls():
    program, contexts = LinearProgram(A_ub=[[-1.0, -1.0]]), np.full((3, 1), -1.0)
    first = program.solve([1.0, 1.0], contexts), program.sample_optimal([1.0, 1.0], contexts, random_state=0)
    for past in ([3.0, 1.0], [1.0, 3.0]):
        program.solve(past, contexts)
        np.testing.assert_array_equal(program.solve([1.0, 1.0], contexts), first[0])
        program.solve(past, contexts)
        np.testing.assert_array_equal(program.sample_optimal([1.0, 1.0], contexts, random_state=0), first[1])


def member(rng, cone):
    return cone.lines @ rng.normal(size=cone.lines.shape[1]) + cone.rays @ rng.exponential(size=cone.rays.shape[1])


@pytest.mark.parametrize("sense", ["min", "max"])
def test_cones_hold_exactly_the_parameters_that_make_a_decision_optimal(sense):
    rng = np.random.default_rng(3)
    program, contexts, data = random_program(rng, sense)
    decisions = program.solve(rng.normal(size=(8, 5)), contexts)
    cones = program.cones(contexts, decisions)
    assert len(cones) == 8
    assert not cones.nonnegative
    outside = 0
    for k, cone in enumerate(cones.rows):
        for _ in range(5):
            theta = member(rng, cone)
            assert program.is_optimal(theta, decisions[[k]], contexts[[k]], tol=1e-8).all()
        for theta in rng.normal(size=(20, 5)):
            inside = _in_cone(theta, cone)
            best = scipy_value(theta, contexts[k], data, sense)
            assert inside == (abs(theta @ decisions[k] - best) <= 1e-7)
            outside += not inside
    assert outside > 50


def _in_cone(theta, cone):
    columns = np.hstack([cone.lines, cone.rays])
    bounds = [(None, None)] * cone.lines.shape[1] + [(0, None)] * cone.rays.shape[1]
    return linprog(np.zeros(columns.shape[1]), A_eq=columns, b_eq=theta, bounds=bounds).status == 0


def test_cones_at_a_degenerate_vertex_with_duplicated_equalities_and_fixed_variables():
    # (0, 0) satisfies three inequalities and two bounds with equality; the equality x3 = 1 is stated twice.
    A_ub = [[1.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
    A_eq = [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    program = LinearProgram(A_eq, A_ub, lower=[0.0, 0.0, 1.0], upper=[INF, INF, 1.0])
    context = np.array([[1.0, 1.0, 0.0, 0.0, 5.0]])
    decision = program.solve([1.0, 1.0, 0.0], context)
    np.testing.assert_allclose(decision, [[0.0, 0.0, 1.0]], atol=1e-9)
    (cone,) = program.cones(context, decision).rows
    assert cone.lines.shape == (3, 3)
    assert sorted(map(tuple, cone.rays.T)) == [
        (-1.0, -1.0, 0.0),
        (-0.5, -1.0, 0.0),
        (0.0, 1.0, 0.0),
        (1.0, 0.0, 0.0),
    ]
    for theta in np.random.default_rng(0).normal(size=(20, 3)):
        assert program.is_optimal(theta, decision, context).all()


def test_free_variables_give_no_ray_and_domain_is_passed_on():
    program = LinearProgram(A_ub=[[1.0, 1.0]], lower=-INF, domain="nonnegative", sense="max")
    cones = program.cones(np.array([[2.0], [3.0]]), np.array([[1.0, 1.0], [1.0, 1.0]]))
    assert cones.nonnegative
    assert cones.rows[0].rays.tolist() == [[1.0], [1.0]]
    assert cones.rows[1].rays.shape == (2, 0)
    assert [cone.rays.shape[1] for cone in cones.rows[0:2]] == [1, 0]


def test_nearly_equal_bounds_give_both_rays():
    program = LinearProgram(lower=[1.0], upper=[1.0 + 1e-9])
    (cone,) = program.cones(np.empty((1, 0)), np.array([[1.0]])).rows
    assert sorted(cone.rays.ravel()) == [-1.0, 1.0]
    assert cone.lines.shape == (1, 0)


def test_feasibility_tolerance_is_relative_to_each_side():
    program = LinearProgram(A_eq=[[1.0, 0.0]], A_ub=[[0.0, 1.0]], lower=-INF)
    contexts = np.array([[1000.0, 1000.0]])
    for off, fits in ((9e-5, True), (2e-4, False)):
        assert program.is_feasible([[1000.0 + off, 0.0]], contexts).all() == fits
        assert program.is_feasible([[1000.0, 1000.0 + off]], contexts).all() == fits
        assert program.is_feasible(sparse.csr_array([[1000.0 - off, 0.0]]), contexts).all() == fits
    box = LinearProgram(lower=[0.0], upper=[1.0])
    assert box.is_feasible([[-1e-8], [1 + 1e-8], [-1e-6], [1 + 1e-6]], np.empty((4, 0))).tolist() == [
        True,
        True,
        False,
        False,
    ]


def test_a_program_without_rows_is_a_box():
    box = LinearProgram(lower=[-1.0, -2.0], upper=[1.0, 2.0], sense="max")
    assert box.context_width == 0
    np.testing.assert_allclose(box.solve([1.0, -1.0], np.empty((3, 0))), [[1.0, -2.0]] * 3)


def test_polyhedron_and_sides_describe_the_feasible_set():
    program, contexts, (A_eq, A_ub, lower, upper) = random_program(np.random.default_rng(4))
    polyhedron, sides = program.polyhedron(), program.sides(contexts[2])
    stacked, rows = np.vstack([A_eq, A_ub]), np.vstack([polyhedron.A_eq.toarray(), polyhedron.A_ub.toarray()])
    sizes = np.abs(rows).max(axis=1)
    assert (sizes >= 1.0).all()
    assert (sizes < 2.0).all()
    scale = np.exp2(np.round(np.log2(sizes / np.abs(stacked).max(axis=1))))
    np.testing.assert_array_equal(rows, stacked * scale[:, None])
    assert not polyhedron.integrality.any()
    np.testing.assert_array_equal(np.concatenate([sides.b_eq, sides.b_ub]), contexts[2] * scale)
    np.testing.assert_array_equal(sides.lower, lower)
    np.testing.assert_array_equal(sides.upper, upper)


# ---------------------------------------------------------------------- uniform draws


def ks_uniform(values, low, high):
    return stats.kstest(values, stats.uniform(low, high - low).cdf).pvalue


@pytest.mark.parametrize("u", [2.0, 10.0, 50.0, 100.0])
def test_the_papers_example_draws_uniformly_from_the_facet(u):
    # min x1 + u x2 over x1 + u x2 >= u, 0 <= x1 <= u, 0 <= x2 <= 2: the facet from (0, 1) to (u, 0)
    program = LinearProgram(A_ub=[[-1.0, -u]], upper=[u, 2.0])
    theta, contexts = np.array([1.0, u]), np.full((2000, 1), -u)
    drawn = program.sample_optimal(theta, contexts, random_state=5)
    assert program.is_optimal(theta, drawn, contexts).all()
    assert ks_uniform(drawn[:, 0], 0.0, u) > 0.01
    np.testing.assert_array_equal(drawn, program.sample_optimal(theta, contexts, random_state=5))
    # Another length of theta, and one theta per row, leave the law alone.
    again = program.sample_optimal(np.tile(1e-6 * theta, (2000, 1)), contexts, random_state=6)
    assert ks_uniform(again[:, 0], 0.0, u) > 0.01


def test_a_unique_optimum_is_returned_as_it_is():
    program = LinearProgram(A_ub=[[-1.0, -2.0]], upper=[2.0, 2.0])
    drawn = program.sample_optimal([1.0, 3.0], np.full((5, 1), -3.0), random_state=0)
    np.testing.assert_allclose(drawn, np.tile([2.0, 0.5], (5, 1)), atol=1e-9)


def test_a_vertex_that_bounds_alone_decide_is_returned():
    box = LinearProgram(lower=[-1.0, -2.0], upper=[1.0, 2.0])
    drawn = box.sample_optimal([1.0, -1.0], np.empty((3, 0)), random_state=0)
    np.testing.assert_array_equal(drawn, np.tile([-1.0, 2.0], (3, 1)))


def test_zero_objective_draws_from_the_whole_polygon():
    # The triangle x, y >= 0, x + y <= 1: each coordinate has the law Beta(1, 2).
    program = LinearProgram(A_ub=[[1.0, 1.0]])
    drawn = program.sample_optimal([0.0, 0.0], np.ones((3000, 1)), random_state=1)
    assert program.is_feasible(drawn, np.ones((3000, 1))).all()
    for j in range(2):
        assert stats.kstest(drawn[:, j], stats.beta(1, 2).cdf).pvalue > 0.01
    assert stats.kstest(drawn.sum(axis=1), stats.beta(2, 1).cdf).pvalue > 0.01


@pytest.mark.parametrize("dimension", [2, 3, 4])
def test_faces_of_boxes_and_simplices_in_more_dimensions(dimension):
    n = dimension + 1
    box = LinearProgram(lower=np.full(n, -1.0), upper=np.full(n, 3.0))
    theta = np.zeros(n)
    theta[0] = 1.0
    drawn = box.sample_optimal(theta, np.empty((1500, 0)), random_state=2)
    np.testing.assert_array_equal(drawn[:, 0], -1.0)
    for j in range(1, n):
        assert ks_uniform(drawn[:, j], -1.0, 3.0) > 0.01
    simplex = LinearProgram(A_eq=np.ones((1, n)))
    drawn = simplex.sample_optimal(np.ones(n), np.ones((1500, 1)), random_state=3)
    for j in range(n):
        assert stats.kstest(drawn[:, j], stats.beta(1, dimension).cdf).pvalue > 0.01


def test_equalities_hidden_in_inequalities_lower_the_dimension():
    # x1 + x2 <= 1 and x1 + x2 >= 1 leave a segment; a third copy, scaled, changes nothing.
    program = LinearProgram(A_ub=[[1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [100.0, 100.0, 0.0]], upper=[1, 1, 0])
    contexts = np.tile([1.0, -1.0, 100.0], (1500, 1))
    drawn = program.sample_optimal(np.zeros(3), contexts, random_state=4)
    assert program.is_feasible(drawn, contexts).all()
    assert ks_uniform(drawn[:, 0], 0.0, 1.0) > 0.01


def test_hidden_equalities_that_leave_one_point():
    program = LinearProgram(A_ub=[[1.0, 1.0], [1.0, -1.0]])
    drawn = program.sample_optimal(np.zeros(2), [[0.0, 0.0]] * 3, random_state=4)
    np.testing.assert_allclose(drawn, np.zeros((3, 2)), atol=1e-9)


def test_draws_from_a_face_are_exact_on_random_polytopes():
    """Share of draws below the middle of an edge-to-edge cut equals the volume share by rejection."""
    rng = np.random.default_rng(6)
    A_ub = rng.normal(size=(4, 3))
    program = LinearProgram(A_ub=A_ub, lower=-1.0, upper=1.0)
    contexts = np.full((4000, 4), 0.6)
    drawn = program.sample_optimal(np.zeros(3), contexts, random_state=7)
    box = rng.uniform(-1, 1, (40000, 3))
    expected = box[(box @ A_ub.T <= 0.6).all(axis=1)]
    for direction in rng.normal(size=(4, 3)):
        assert stats.ks_2samp(drawn @ direction, expected @ direction).pvalue > 0.005


def test_ties_only_count_within_tolerance():
    program = LinearProgram(A_ub=[[-1.0, -1.0]])
    contexts = np.full((50, 1), -1.0)
    tied = program.sample_optimal([1.0, 1.0 + 1e-12], contexts, random_state=0)
    unique = program.sample_optimal([1.0, 1.0 + 1e-6], contexts, random_state=0)
    assert np.ptp(tied[:, 0]) > 0.5
    np.testing.assert_allclose(unique, np.tile([1.0, 0.0], (50, 1)), atol=1e-9)


def test_rows_with_different_optimal_sets_are_drawn_together():
    program = LinearProgram(A_ub=[[-1.0, -1.0]])
    thetas = np.array([[1.0, 2.0], [1.0, 1.0], [2.0, 1.0], [1.0, 1.0]])
    contexts = np.array([[-1.0], [-2.0], [-3.0], [-4.0]])
    drawn = program.sample_optimal(thetas, contexts, random_state=0)
    assert program.is_optimal(thetas, drawn, contexts).all()
    np.testing.assert_allclose(drawn.sum(axis=1), [1.0, 2.0, 3.0, 4.0])
    assert program.sample_optimal(np.ones(2), np.empty((0, 1)), random_state=0).shape == (0, 2)


def test_unbounded_optimal_faces():
    ray = LinearProgram(A_ub=[[-1.0, 0.0]])
    with pytest.raises(UnboundedProblemError, match=r"row 1 of LinearProgram.sample_optimal: .* unbounded set"):
        ray.sample_optimal([[1.0, 1.0], [1.0, 0.0]], [[-1.0], [-1.0]])
    with pytest.raises(UnboundedProblemError, match="unbounded set"):
        LinearProgram(lower=[-INF, -INF]).sample_optimal([0.0, 0.0], np.empty((1, 0)))


def test_too_large_a_face_is_refused():
    box = LinearProgram(lower=np.zeros(8), upper=1.0)
    with pytest.raises(InvalidInputError, match=r"`theta` row 0 of .*dimension at most 6 .*; got dimension 8. Perturb"):
        box.sample_optimal(np.zeros(8), np.empty((1, 0)))


def test_triangulations_that_fail_are_solver_errors(monkeypatch):
    G = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    h = np.array([1.0, 1.0, 0.0, 0.0])
    flat = np.array([1.0, 1.0, -1.0, 0.0])
    with pytest.raises(SolverError, match="row 3 of Box: the set of optimal solutions is too thin"):
        _polytope._star(G, flat, "Box", 3)
    monkeypatch.setattr(_polytope, "_VOLUME_TOLERANCE", -1.0)
    with pytest.raises(SolverError, match=r"row 3 of Box: .* could not be triangulated"):
        _polytope.triangulate(G, h, "Box", 3)


# ---------------------------------------------------------------------- failures, copies, threads


def test_infeasible_and_unbounded_contexts_name_their_row():
    program = LinearProgram(A_eq=[[1.0, 1.0]], upper=[1.0, 1.0])
    contexts = [[1.0], [1.0], [3.0]]
    for call in (program.solve, program.sample_optimal):
        with pytest.raises(InfeasibleProblemError, match=r"row 2 of LinearProgram.\w+: no decision"):
            call([1.0, 2.0], contexts)
    with pytest.raises(UnboundedProblemError, match=r"row 1 of LinearProgram.solve: the objective is unbounded"):
        LinearProgram(A_ub=[[1.0, -1.0]]).solve([[1.0, 1.0], [-1.0, -1.0]], [[1.0], [1.0]])


BAD = {
    r"`A_eq` of LinearProgram: one argument must tell": {},
    r"`A_eq` of LinearProgram: all arguments must agree .*A_eq with 2, A_ub with 3": {
        "A_eq": [[1, 2]],
        "A_ub": [[1, 2, 3]],
    },
    r"`A_ub` of LinearProgram: all arguments .*A_ub with 3, lower with 2": {
        "A_ub": [[1, 2, 3]],
        "lower": [0, 0],
    },
    r"`lower` of LinearProgram: all arguments .*>= 1": {"lower": []},
    r"`A_ub` of LinearProgram: must be a matrix .*shape \(2,\)": {"A_ub": [1.0, 2.0]},
    r"`A_ub` of LinearProgram: must be a matrix .*got list": {"A_ub": [[1.0], [1.0, 2.0]]},
    r"`A_eq` of LinearProgram: must be a matrix": {"A_eq": "many"},
    r"`A_eq` of LinearProgram: must be a matrix .*complex": {"A_eq": [[1j]]},
    r"`A_eq` row 1 of LinearProgram: .*got NaN or infinity": {"A_eq": [[1.0], [np.nan]]},
    r"`upper` of LinearProgram: must be a number .*got NaN": {"A_ub": [[1.0]], "upper": np.nan},
    r"`upper` of LinearProgram: must be a number .*got None": {"A_ub": [[1.0]], "upper": None},
    r"`lower` of LinearProgram: must be a number .*got \[\[0.0\]\]": {"A_ub": [[1.0]], "lower": [[0.0]]},
    r"`lower` of LinearProgram: must be a number .*got list": {"A_ub": [[1.0]], "lower": [[0.0], [0.0, 1.0]]},
    r"`upper` of LinearProgram: of variable 1 .*got lower 0.0 and upper -1.0": {"upper": [1.0, -1.0]},
    r"`upper` of LinearProgram: of variable 0 .*got lower inf": {"lower": [INF]},
    r"`sense` of LinearProgram: must be one of 'min', 'max'": {"A_ub": [[1.0]], "sense": "least"},
    r"`domain` of LinearProgram: must be one of 'free', 'nonnegative'": {
        "A_ub": [[1.0]],
        "domain": "positive",
    },
}


@pytest.mark.parametrize("message", BAD)
def test_wrong_arguments(message):
    with pytest.raises(InvalidInputError, match=message):
        LinearProgram(**BAD[message])


def test_the_callers_arrays_are_neither_kept_nor_writable():
    A, lower = sparse.csr_array([[1.0, 1.0]]), np.zeros(2)
    program = LinearProgram(A_ub=A, lower=lower, sense="max")
    A.data[:] = 5.0
    lower[:] = 7.0
    np.testing.assert_allclose(program.solve([1.0, 0.0], [[2.0]]), [[2.0, 0.0]])
    with pytest.raises(ValueError, match="read-only"):
        program.sides(np.ones(1)).lower[0] = 3.0


def test_pickling_drops_the_model_and_keeps_the_problem():
    program, contexts, _ = random_program(np.random.default_rng(8))
    theta = np.ones(5)
    found = program.solve(theta, contexts)
    other = pickle.loads(pickle.dumps(program))
    np.testing.assert_allclose(other.solve(theta, contexts) @ theta, found @ theta, atol=1e-9)
    assert other.context_width == program.context_width
    rebuilt = LinearProgram.from_state(program.to_state())
    np.testing.assert_allclose(rebuilt.solve(theta, contexts) @ theta, found @ theta, atol=1e-9)


def test_threads_use_models_of_their_own():
    program, contexts, _ = random_program(np.random.default_rng(9))
    thetas = np.random.default_rng(10).normal(size=(40, 5))
    expected = [program.solve(theta, contexts) @ theta for theta in thetas]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda theta: program.solve(theta, contexts) @ theta, thetas))
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_per_thread_slots():
    slot = PerThread()
    assert slot.get(lambda: 1) == slot.get(lambda: 2) == 1
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(slot.get, lambda: 3).result() == 3
    assert pickle.loads(pickle.dumps(slot)).get(lambda: 4) == 4


def test_draws_on_a_two_variable_segment_between_vertices_found_by_hand():
    """Every optimal face of random polygons with an objective along an edge is that edge, end to end."""
    rng = np.random.default_rng(11)
    for _ in range(5):
        normals = rng.normal(size=(5, 2))
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        program = LinearProgram(A_ub=normals, lower=-3.0, upper=3.0, sense="max")
        context = np.ones((400, 5))
        corners = np.array(list(_corners(normals, np.ones(5))))
        tight = corners[np.abs(corners @ normals[0] - 1.0) < 1e-9]
        if len(tight) < 2:
            continue
        drawn = program.sample_optimal(normals[0], context, random_state=1)
        along = np.array([-normals[0][1], normals[0][0]])
        low, high = np.sort(tight @ along)[[0, -1]]
        assert ks_uniform(drawn @ along, low, high) > 0.01


def _corners(normals, sides):
    normals = np.vstack([normals, np.eye(2), -np.eye(2)])
    sides = np.concatenate([sides, np.full(4, 3.0)])
    for rows in combinations(range(len(sides)), 2):
        square = normals[list(rows)]
        if abs(np.linalg.det(square)) > 1e-9:
            point = np.linalg.solve(square, sides[list(rows)])
            if (normals @ point <= sides + 1e-9).all():
                yield point


# ---------------------------------------------------------------------- numbers far from 1


@pytest.mark.parametrize("size", [1e-90, 1e-12, 1e-3, 1e6, 1e90])
def test_the_length_of_a_row_changes_nothing(size):
    program, contexts, (A_eq, A_ub, lower, upper) = random_program(np.random.default_rng(8))
    scaled = LinearProgram(size * A_eq, size * A_ub, lower, upper)
    thetas = np.random.default_rng(9).normal(size=(8, 5))
    found = scaled.solve(thetas, size * contexts)
    np.testing.assert_allclose(found, program.solve(thetas, contexts), atol=1e-8)
    assert scaled.is_feasible(found, size * contexts).all()
    assert not scaled.is_feasible(found + 1e-3, size * contexts).any()
    assert scaled.is_optimal(thetas, found, size * contexts).all()
    for one, other in zip(scaled.cones(size * contexts, found).rows, program.cones(contexts, found).rows, strict=True):
        assert one.rays.shape == other.rays.shape
    np.testing.assert_array_equal(scaled.to_state()["A_ub"].toarray(), size * A_ub)
    np.testing.assert_array_equal(scaled.to_state()["A_eq"].toarray(), size * A_eq)


def test_small_rows_bound():
    program = LinearProgram(A_ub=[[1e-12, 1e-12]])
    np.testing.assert_allclose(program.solve([-1.0, -2.0], [[1e-12], [3e-12]]), [[0.0, 1.0], [0.0, 3.0]])


@pytest.mark.parametrize("exponent", [3, 9, 12, 14.9])
def test_large_sides_against_the_same_program_in_other_units(exponent):
    unit = 10.0**exponent / 8
    rng = np.random.default_rng(2)
    for _ in range(20):
        A_eq, A_ub = rng.normal(size=(1, 4)), rng.normal(size=(3, 4))
        point = rng.uniform(0.1, 0.9, 4)
        context = np.concatenate([A_eq @ point, A_ub @ point + rng.uniform(0, 1, 3)])[None, :]
        theta = rng.normal(size=4)
        near = LinearProgram(A_eq, A_ub, upper=1.0).solve(theta, context)
        far = LinearProgram(A_eq, A_ub, upper=unit).solve(theta, unit * context)
        np.testing.assert_allclose(far / unit, near, atol=1e-9)


@pytest.mark.parametrize("kind", [LinearProgram, IntegerProgram])
def test_numbers_out_of_range_are_refused(kind):
    name = kind.__name__
    with pytest.raises(InvalidInputError, match=f"`contexts` row 1 of {name}.solve: column 0 must be smaller in size"):
        kind(A_ub=[[1, 1]]).solve([-1, -2], [[1.0], [1e20]])
    with pytest.raises(InvalidInputError, match=f"`contexts` row 0 of {name}.is_feasible: column 1 must be smaller"):
        kind([[1.0]], [[1e-5]]).is_feasible([[1.0]], [[1.0, -1e11]])
    with pytest.raises(InvalidInputError, match="column 0 must be smaller in size"):
        kind(A_ub=[[1e-99]]).solve([1.0], [[1e300]])
    with pytest.raises(InvalidInputError, match=f"`A_ub` row 1 of {name}: .* more than a factor of 1e"):
        kind(A_ub=[[1.0, 1.0], [1e-10, 1.0]])
    with pytest.raises(InvalidInputError, match=f"`A_eq` row 0 of {name}: .* between 1e-100 and 1e"):
        kind(A_eq=[[1e-101, 1e-101]])
    with pytest.raises(InvalidInputError, match=f"`upper` of {name}: of variable 1 .* Write np.inf"):
        kind(upper=[1.0, 1e20])
    with pytest.raises(InvalidInputError, match=f"`lower` of {name}: of variable 0 must be smaller than 1e"):
        kind(lower=[-1e15])


def test_zeros_do_not_count_as_small_entries():
    program = LinearProgram(A_ub=sparse.csr_array(([0.0, 1.0], [0, 1], [0, 2]), shape=(1, 2)), upper=[1.0, 5.0])
    np.testing.assert_allclose(program.solve([-1.0, -1.0], [[3.0]]), [[1.0, 3.0]])


def test_short_descriptions():
    program = LinearProgram([[1.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]], sense="max")
    assert repr(program) == "LinearProgram(n_vars=2, n_eq=1, n_ub=2, sense='max', domain='free')"
    whole = IntegerProgram(A_ub=[[1.0, 1.0]], integrality=[True, False])
    assert repr(whole) == "IntegerProgram(n_vars=2, n_whole=1, n_eq=0, n_ub=1, sense='min', domain='free')"


def test_ties_do_not_hang_on_the_rows_before():
    program = LinearProgram(A_ub=[[1.0, 1.0]], sense="max")
    found = program.solve([[1.0, 1.0], [1.0, 2.0], [1.0, 1.0]], [[1.0]] * 3)
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(found[1], [0.0, 1.0])
