"""The public names, their leading arguments, and what importing them costs."""

import inspect
import subprocess
import sys

import pytest
from sklearn.exceptions import NotFittedError

import conformio as cio

LEADING_ARGUMENTS = {
    "Network": ["tails", "heads", "n_nodes", "attributes"],
    "Network.grid": ["rows", "cols"],
    "Network.from_tntp": ["path"],
    "Network.from_networkx": ["graph"],
    "Network.decisions_from_paths": ["paths", "kind"],
    "Network.paths_from_decisions": ["decisions"],
    "ShortestPath": ["network", "domain"],
    "Knapsack": ["weights", "domain"],
    "LinearProgram": ["A_eq", "A_ub", "lower", "upper", "sense", "domain"],
    "IntegerProgram": ["A_eq", "A_ub", "lower", "upper", "sense", "domain", "integrality"],
    "ConvexProgram": ["build", "n_params", "sense"],
    "OracleProblem": ["solve", "n_params", "sense", "basis"],
    "SuboptimalityLoss": ["center", "radius", "tol", "max_iter", "random_state"],
    "PerturbedFenchelYoung": [
        "initial",
        "sigma",
        "n_samples",
        "epochs",
        "batch_size",
        "learning_rate",
        "random_state",
    ],
    "DistributionallyRobustLoss": ["radius_wasserstein", "risk", "level"],
    "FixedParameters": ["theta"],
    "conformity_angles": ["problem", "theta", "contexts", "decisions", "method", "infeasible", "n_jobs"],
    "nearest_rationalizable": ["problem", "contexts", "decisions"],
    "calibrated_angle": ["angles", "confidence_level"],
    "SphericalCap": ["center", "angle", "domain"],
    "SphericalCap.sample": ["size", "random_state"],
    "solve_robust": ["problem", "cap", "contexts", "method", "relaxed"],
    "ConformalIO": [
        "problem",
        "estimator",
        "confidence_level",
        "calibration_fraction",
        "infeasible",
        "random_state",
        "n_jobs",
    ],
    "ConformalIO.fit": ["contexts", "decisions"],
    "ConformalIO.conformalize": ["contexts", "decisions"],
    "ConformalIO.predict": ["contexts", "confidence_level"],
    "ConformalIO.predict_nominal": ["contexts"],
    "ConformalIO.covers": ["contexts", "decisions", "confidence_level"],
    "ConformalIO.angle": ["confidence_level"],
    "ConformalIO.uncertainty_set": ["confidence_level"],
    "ConformalIO.score": ["contexts", "decisions"],
    "ConformalIO.save": ["path"],
    "load": ["path"],
    "metrics.actual_optimality_gap": ["problem", "theta_true", "contexts", "decisions", "relative"],
    "metrics.perceived_optimality_gap": ["problem", "thetas", "contexts", "decisions", "relative"],
    "metrics.coverage": ["angles", "angle"],
    "metrics.coverage_interval": ["n_calibration", "confidence_level", "n_test", "mass"],
    "metrics.adherence": ["decisions", "observed", "kind", "weights"],
    "bounds.optimality_gap_bounds": ["angle", "eta", "sigma", "mu", "mu_robust", "mu_star"],
}
DEFAULTS = {
    "ShortestPath": {"domain": "nonnegative"},
    "Knapsack": {"domain": "free"},
    "LinearProgram": {
        "A_eq": None,
        "A_ub": None,
        "lower": 0.0,
        "upper": float("inf"),
        "sense": "min",
        "domain": "free",
    },
    "SuboptimalityLoss": {
        "center": None,
        "radius": None,
        "tol": 1e-6,
        "max_iter": 1000,
        "random_state": None,
    },
    "PerturbedFenchelYoung": {
        "initial": None,
        "sigma": 1.0,
        "n_samples": 1,
        "epochs": 20,
        "batch_size": 64,
        "learning_rate": 0.1,
        "random_state": None,
    },
    "DistributionallyRobustLoss": {"risk": "mean", "level": None},
    "conformity_angles": {"method": "auto", "infeasible": "error", "n_jobs": None},
    "solve_robust": {"method": "auto", "relaxed": False},
    "ConformalIO": {
        "estimator": None,
        "confidence_level": 0.9,
        "calibration_fraction": 0.25,
        "infeasible": "error",
        "random_state": None,
        "n_jobs": None,
    },
    "metrics.coverage_interval": {"mass": 0.99},
    "metrics.adherence": {"kind": "exact", "weights": None},
}
PROBLEM_METHODS = {
    "solve": ["theta", "contexts"],
    "sample_optimal": ["theta", "contexts", "random_state"],
    "objective": ["theta", "decisions"],
    "basis": ["decisions"],
    "is_feasible": ["decisions", "contexts"],
    "is_optimal": ["theta", "decisions", "contexts", "tol"],
}
PROBLEMS = ["ShortestPath", "Knapsack", "LinearProgram", "IntegerProgram", "ConvexProgram", "OracleProblem"]
ESTIMATORS = ["SuboptimalityLoss", "PerturbedFenchelYoung", "DistributionallyRobustLoss", "FixedParameters"]


def found(name):
    thing = cio
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing


def parameters(thing):
    return {name: p for name, p in inspect.signature(thing).parameters.items() if name != "self"}


@pytest.mark.parametrize("name", LEADING_ARGUMENTS)
def test_leading_arguments(name):
    wanted = LEADING_ARGUMENTS[name]
    assert list(parameters(found(name)))[: len(wanted)] == wanted


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults(name):
    got = parameters(found(name))
    assert {argument: got[argument].default for argument in DEFAULTS[name]} == DEFAULTS[name]


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("method", PROBLEM_METHODS)
def test_problems_share_one_face(problem, method):
    assert list(parameters(getattr(found(problem), method))) == PROBLEM_METHODS[method]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_share_one_face(name):
    assert list(parameters(found(name).fit)) == ["problem", "contexts", "decisions"]
    assert list(parameters(found(name).parameters)) == ["contexts"]


def test_all_is_sorted_and_complete():
    assert list(cio.__all__) == sorted(cio.__all__)
    assert {name.split(".")[0] for name in LEADING_ARGUMENTS} <= set(cio.__all__)
    assert all(hasattr(cio, name) for name in cio.__all__)


def test_errors_form_one_tree():
    for name in ("InfeasibleProblemError", "UnboundedProblemError", "SolverError", "ModelFileError"):
        assert issubclass(found(name), cio.ConformioError)
    assert issubclass(cio.InvalidInputError, (cio.ConformioError, ValueError))
    assert issubclass(cio.InvalidInputError, ValueError)
    assert issubclass(cio.NotFittedError, NotFittedError)
    assert issubclass(cio.NotFittedError, cio.ConformioError)


def test_importing_loads_no_optional_library():
    # scikit-learn itself loads pandas and pyarrow where they are installed, hence without them here
    script = """
import sys
sys.modules["pandas"] = sys.modules["pyarrow"] = None
import conformio
all(getattr(conformio, name) for name in conformio.__all__)
unwanted = {"matplotlib", "typer", "rich", "cvxpy", "networkx"} & set(sys.modules)
assert not unwanted, unwanted
"""
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)


def test_importing_adds_no_statistics_package():
    # scikit-learn loads scipy.stats; nothing of ours does, so it is already there before our own modules come
    script = """
import builtins, sys
import sklearn.base
real = builtins.__import__
def watched(name, globals=None, locals=None, fromlist=(), level=0):
    who = (globals or {}).get("__name__", "")
    full = {name, *(f"{name}.{item}" for item in fromlist or ())}
    assert not (who.startswith("conformio") and full & {"scipy.stats", "pandas"}), who
    return real(name, globals, locals, fromlist, level)
builtins.__import__ = watched
import conformio
all(getattr(conformio, name) for name in conformio.__all__)
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_importing_alone_loads_nothing_else():
    script = """
import sys
import conformio
assert not {"numpy", "scipy", "sklearn", "numba"} & set(sys.modules)
assert conformio.ShortestPath is sys.modules["conformio.problems"].ShortestPath
assert not {"highspy", "clarabel"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)


def test_names_are_found_where_they_live():
    assert dir(cio) == list(cio.__all__)
    assert set(cio._HOME_OF) | {"__version__", "bounds", "metrics", "observations", "plots"} == set(cio.__all__)
    for name in cio.__all__:
        assert getattr(cio, name) is getattr(cio, name)
    with pytest.raises(AttributeError, match="module 'conformio' has no attribute 'Netwrok'"):
        found("Netwrok")
