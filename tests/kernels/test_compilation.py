"""Rules for all compiled loops: cached, without the interpreter's lock, and with plain arithmetic."""

import ast
from pathlib import Path

import numpy as np
import pytest

import conformio as cio
from conformio import _kernels
from conformio.networks import Network
from conformio.studies import knapsack_example

FILES = sorted(Path(_kernels.__file__).parent.glob("*.py"))


def compiled(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if "njit" in ast.unparse(decorator):
                    yield node.name, ast.unparse(decorator)


def test_every_loop_is_cached_and_releases_the_lock():
    found = {f"{path.name}:{name}": text for path in FILES for name, text in compiled(path)}
    assert len(found) > 80
    # no fastmath, no parallel: results must not depend on the machine's number of threads
    assert {name for name, text in found.items() if text != "njit(cache=True, nogil=True)"} == set()


@pytest.mark.parametrize("kind", ["paths", "baskets", "programs"])
def test_threads_change_no_bit(kind):
    rng = np.random.default_rng(3)
    if kind == "paths":
        network = Network.grid(9, 9)
        problem, center = cio.ShortestPath(network), rng.uniform(1.0, 2.0, network.n_edges)
        contexts = np.array([rng.choice(81, 2, replace=False) for _ in range(300)], dtype=float)
        decisions = problem.solve(center * rng.uniform(0.5, 1.5, (300, len(center))), contexts)
    elif kind == "baskets":
        data = knapsack_example(400, random_state=3)
        problem, contexts, decisions = data.problem, data.contexts, data.decisions
        center = data.theta_true
    else:
        problem = cio.LinearProgram(A_ub=-rng.uniform(0.0, 1.0, (4, 6)), upper=1.0)
        contexts, center = -rng.uniform(0.2, 0.8, (400, 4)), rng.uniform(1.0, 2.0, 6)
        decisions = problem.solve(center * rng.uniform(0.5, 1.5, (400, 6)), contexts)
    angles = [cio.conformity_angles(problem, center, contexts, decisions, n_jobs=n) for n in (None, 2, 3, -1)]
    assert (angles[0] > 0.0).any()
    for other in angles[1:]:
        np.testing.assert_array_equal(other, angles[0])
    one = [cio.quantile_angle(problem, center, contexts, decisions, 0.8, n_jobs=n) for n in (None, 2)]
    assert one[0] == one[1]
    assert one[0].angle == cio.calibrated_angle(angles[0], 0.8)
