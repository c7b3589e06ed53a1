"""Forward problems that come from elsewhere: CVXPY programs, and models with `setObj` and `solve`."""

import itertools
from contextlib import nullcontext
from threading import Lock

import numpy as np
import pytest

import conformio as cio


class PickTwo:
    """A model in PyEPO's manner: costs in by `setObj`, solution and value out of `solve`; it keeps its objective."""

    num_cost = 4

    def setObj(self, costs):
        self.costs = [float(cost) for cost in costs]

    def solve(self):
        pairs = itertools.combinations(range(4), 2)
        best = min(pairs, key=lambda pair: sum(self.costs[k] for k in pair))
        return [float(k in best) for k in range(4)], sum(self.costs[k] for k in best)


def oracle_of(model, lock=None):
    def solve(costs, features):
        with lock or nullcontext():
            model.setObj(costs)
            solution, _ = model.solve()
        return solution

    return cio.OracleProblem(solve, model.num_cost, sense="min", feasible_set="binary", context_width=2)


@pytest.fixture(scope="module")
def shop():
    rng = np.random.default_rng(0)
    features = rng.uniform(0, 1, (90, 2))
    costs = 1 + features @ [[1.0, 0.0, 2.0, 1.0], [0.0, 2.0, 1.0, 1.0]]
    problem = oracle_of(PickTwo())
    return problem, features, costs, problem.solve(costs * rng.uniform(0.8, 1.2, costs.shape), features)


def test_set_objective_models_agree_with_the_same_problem_written_out(shop):
    problem, features, costs, decisions = shop
    program = cio.IntegerProgram(A_eq=[[1.0] * 4], upper=1.0, integrality=[True] * 4)
    sides = np.full((len(features), 1), 2.0)
    assert (
        program.objective(costs, program.solve(costs, sides))
        == problem.objective(costs, problem.solve(costs, features))
    ).all()
    angles = cio.conformity_angles(problem, costs, features, decisions)
    assert angles == pytest.approx(
        cio.conformity_angles(program, costs, sides, decisions, method="reference"), abs=1e-6
    )
    cap = cio.SphericalCap(costs[:10], 0.2)
    found, wanted = (cio.solve_robust(p, cap, u) for p, u in ((problem, features[:10]), (program, sides[:10])))
    assert found.values == pytest.approx(wanted.values, abs=1e-6)
    assert found.is_certified().all()


def test_pipelines_of_such_models(shop):
    problem, features, costs, decisions = shop
    exact = lambda u: 1 + u @ [[1.0, 0.0, 2.0, 1.0], [0.0, 2.0, 1.0, 1.0]]
    model = cio.ConformalIO(problem, cio.FixedParameters(exact), 0.8).conformalize(features[:50], decisions[:50])
    low, _ = cio.metrics.coverage_interval(50, 0.8, 40)
    assert model.covers(features[50:], decisions[50:]).mean() >= low
    assert model.prescribe(features[50:]).is_certified().all()
    assert (model.predict_nominal(features) == problem.solve(costs, features)).all()


def test_a_locked_model_works_in_threads(shop):
    problem, features, costs, decisions = shop
    locked = oracle_of(PickTwo(), Lock())
    alone = cio.conformity_angles(problem, costs, features, decisions)
    assert (cio.conformity_angles(locked, costs, features, decisions, n_jobs=4) == alone).all()


def test_a_cvxpy_model_is_the_linear_program_it_says(tmp_path):
    cp = pytest.importorskip("cvxpy")

    def build(u):
        x = cp.Variable(3, nonneg=True)
        return x, [x[0], x[1], x[2]], [cp.sum(x) == u[0], x <= 2.0]

    convex = cio.ConvexProgram(build, n_params=3)
    linear = cio.LinearProgram(A_eq=[[1.0, 1.0, 1.0]], upper=2.0)
    rng = np.random.default_rng(0)
    sides = rng.uniform(1, 5, (20, 1))
    costs = rng.uniform(1, 2, (20, 3))
    decisions = linear.solve(costs, sides)
    assert convex.objective(costs, convex.solve(costs, sides)) == pytest.approx(
        linear.objective(costs, decisions), rel=1e-6
    )
    center = [1.5, 1.4, 1.3]
    angles = cio.conformity_angles(linear, center, sides, decisions)
    assert cio.conformity_angles(convex, center, sides, decisions) == pytest.approx(angles, abs=1e-6)
    model = cio.ConformalIO(convex, cio.FixedParameters(center), 0.8).conformalize(sides, decisions)
    plain = cio.ConformalIO(linear, cio.FixedParameters(center), 0.8).conformalize(sides, decisions)
    assert model.prescribe(sides).values == pytest.approx(plain.prescribe(sides).values, rel=1e-5)
    model.save(tmp_path / "model.conformio")
    with pytest.raises(cio.ModelFileError, match=r"build=\.\.\."):
        cio.load(tmp_path / "model.conformio")
    again = cio.load(tmp_path / "model.conformio", build=build)
    assert again.predict(sides) == pytest.approx(model.predict(sides))
