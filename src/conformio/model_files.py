"""A fitted pipeline as one file: settings, problem, point estimate and calibration angles, without pickles.

Problems and estimators are stored by class name and constructor arguments, fitted values by name. Code cannot
be stored: the functions of an `OracleProblem` or a `ConvexProgram` are given again on reading, or the problem as a
whole, which must then agree with what the file remembers of it; of classes of your own only the latter.

Version 1 knew neither the functions' names nor the data's fingerprint; `_upgraded` says what it lacks.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from conformio import estimators, problems
from conformio.checks import as_angle, as_angles, as_index, as_parameters, as_vector, unit_rows
from conformio.data import Header, fingerprint, read_versioned, write_archive
from conformio.errors import ConformioError, InvalidInputError, ModelFileError, invalid
from conformio.estimators import Estimator
from conformio.problems import Problem
from conformio.ranks import exact_level

__all__ = ["StoredModel", "load_model", "rebuilt", "save_model"]

HEADER = Header("conformio-model", 2, oldest=1)

_FIT = "the stored fit"
_SUMMARY = ("n_params", "sense", "domain", "context_width", "binary")


@dataclass(frozen=True)
class StoredModel:
    """What a file holds: constructor arguments of `ConformalIO`, and its fitted attributes by name."""

    settings: dict[str, Any]
    fitted: dict[str, Any]


def save_model(model: Any, path: str | Path) -> None:
    """Write a fitted `ConformalIO` to one file, atomically.

    Parameters
    ----------
    model : ConformalIO
    path : str or Path

    Raises
    ------
    InvalidInputError
        If the estimator holds code or objects that no file without pickles can hold.
    ModelFileError
        If the file cannot be written.
    """
    settings = model.get_params(deep=False)
    problem, estimator = settings.pop("problem"), settings.pop("estimator")
    fitted = _fitted_values(model)
    fitted_estimator = fitted.pop("estimator_")
    content = {
        "about": _about(model),
        "provenance": _provenance(model),
        "settings": settings,
        "problem": _problem_state(problem),
        "estimator": None if estimator is None else _estimator_state(estimator),
        "fitted": fitted,
        "fitted_estimator": {
            **_estimator_state(fitted_estimator),
            "fitted": _fitted_values(fitted_estimator),
        },
    }
    write_archive(path, HEADER, content)


def load_model(
    path: str | Path, problem: Problem | None = None, functions: dict[str, Any] | None = None
) -> StoredModel:
    """Read what `save_model` wrote.

    Parameters
    ----------
    path : str or Path
    problem : Problem, optional
        For problems that hold code; for others it must be equal to the stored one.
    functions : dict, optional
        The functions of a problem that holds code, by the names of its constructor's arguments.

    Raises
    ------
    ModelFileError
        If the file is missing, damaged or of an unknown version, or what no file holds is missing or disagrees.
    """
    if problem is not None and not isinstance(problem, Problem):
        raise invalid("problem", "load", "must be a conformio problem", type(problem).__name__)
    if problem is not None and functions:
        raise invalid("problem", "load", "must be given without functions, as it holds its own", ", ".join(functions))
    content = _upgraded(*read_versioned(path, HEADER))
    with rebuilt(path):
        settings, fitted = dict(content["settings"]), dict(content["fitted"])
        settings["problem"] = _problem_from(content["problem"], problem, functions or {}, path)
        stored = content["estimator"]
        settings["estimator"] = None if stored is None else _estimator_from(stored)
        _check_fitted_names(fitted)
        fitted["estimator_"] = _fitted_estimator_from(content["fitted_estimator"])
        _check_fit(settings["problem"], fitted)
    return StoredModel(settings, fitted)


@contextmanager
def rebuilt(path: str | Path) -> Iterator[None]:
    """What fails inside, told as a file whose content is no model."""
    try:
        yield
    except ModelFileError:
        raise
    except (ConformioError, KeyError, TypeError, ValueError, AttributeError, MemoryError) as error:
        raise ModelFileError(
            f"{path}: the file is whole but describes no model that this release can rebuild ({error}). "
            "Fit and save the model again"
        ) from error


def _check_fit(problem: Problem, fitted: dict[str, Any]) -> None:
    """Refuse fitted values that no calibration leaves behind; what depends on the level alone may be out of date.

    Raises
    ------
    InvalidInputError
    KeyError
        If a value is missing.
    """
    n, angle = as_index(fitted["n_calibration_"], "n_calibration_", _FIT, low=1), fitted["angle_"]
    as_angle(angle, "angle_", _FIT)
    n_unexplained = as_index(fitted["n_unexplained_"], "n_unexplained_", _FIT)
    if "scores_" in fitted:
        scores = as_angles(fitted["scores_"], "scores_", _FIT)
        if len(scores) != n or int((scores == np.pi).sum()) != n_unexplained:
            raise invalid("scores_", _FIT, f"must be {n} angles, {n_unexplained} of them pi", f"{len(scores)} angles")
        if angle not in (0.0, np.pi) and not (scores == angle).any():
            raise invalid("angle_", _FIT, "must be 0, pi or one of the calibration angles", angle)
    else:
        exact_level(fitted["calibrated_level_"], _FIT)
    if not 0.0 <= fitted["tie_mass_"] <= 1.0:
        raise invalid("tie_mass_", _FIT, "must be in [0, 1]", fitted["tie_mass_"])
    _check_center(problem, fitted)


def _check_center(problem: Problem, fitted: dict[str, Any]) -> None:
    """The estimator's vector, where it has one, and the same with unit length."""
    estimated, center = fitted["estimator_"].theta_, fitted["theta_"]
    if (estimated is None) != (center is None):
        raise invalid("theta_", _FIT, "must be there exactly where the estimator has one vector", type(center).__name__)
    if center is None:
        return
    vectors = [as_vector(one, "theta_", _FIT) for one in (estimated, center)]
    for vector in vectors:
        as_parameters(vector, 1, problem.n_params, problem.domain, _FIT, "theta_")
    if not np.allclose(unit_rows(vectors[0], "theta_", _FIT), vectors[1], rtol=0.0, atol=1e-9):
        raise invalid("theta_", _FIT, "must be the estimator's, with unit length", "another vector")


def _upgraded(stored_version: int, content: dict[str, Any]) -> dict[str, Any]:
    """What an older release wrote, in today's form."""
    if stored_version == 1 and isinstance(content.get("problem"), dict):
        content["problem"].setdefault("functions", [])
    return content


def _about(model: Any) -> dict[str, Any]:
    """The model in words and round numbers, for people who open the file."""
    return {
        "problem": repr(model.problem),
        "estimate": type(model.estimator_).__name__,
        "confidence_level": str(model.confidence_level),
        "angle_degrees": round(math.degrees(model.angle_), 6),
        "n_calibration": model.n_calibration_,
        "n_unexplained": model.n_unexplained_,
    }


def _provenance(model: Any) -> dict[str, Any]:
    """Where the model comes from; the rows that calibrated are `calibration_indices_` among the fitted values."""
    libraries = ("conformio", "numpy", "numba", "scipy", "scikit-learn", "highspy", "clarabel")
    seed = model.random_state
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in libraries},
        "seed": int(seed) if isinstance(seed, (int, np.integer)) else None if seed is None else "a generator",
        "data_sha256": getattr(model, "data_fingerprint_", None),
        "calibration_sha256": getattr(model, "calibration_fingerprint_", None),
    }


def _problem_state(problem: Problem) -> dict[str, Any]:
    name = type(problem).__name__
    shipped = name in problems.__all__ and type(problem) is getattr(problems, name)
    return {
        "class": name,
        "summary": _summary(problem),
        "arguments": problem.to_state() if shipped else None,
        "functions": sorted(problem.functions()),
    }


def _summary(problem: Problem) -> dict[str, Any]:
    return {name: getattr(problem, name) for name in _SUMMARY}


def _problem_from(
    stored: dict[str, Any], given: Problem | None, functions: dict[str, Any], path: str | Path
) -> Problem:
    name, arguments, wanted = stored["class"], stored["arguments"], sorted(stored["functions"])
    if given is not None:
        return _agreeing(stored, given, path)
    if arguments is None:
        raise ModelFileError(
            f"{path}: the model's {name} holds code, which no file can. "
            "Build the same problem and call load(path, problem=...)"
        )
    if sorted(functions) != wanted:
        call = "".join(f", {function}=..." for function in wanted)
        needs = f"holds code, which no file can: {', '.join(wanted)}" if wanted else "needs no functions"
        got = f" (got {', '.join(sorted(functions))})" if functions else ""
        other = " or load(path, problem=...)" if wanted else ""
        raise ModelFileError(f"{path}: the model's {name} {needs}{got}. Call load(path{call}){other}")
    built: Problem = _exported(problems, name, Problem).from_state({**arguments, **functions})
    return built


def _agreeing(stored: dict[str, Any], given: Problem, path: str | Path) -> Problem:
    wanted = {"class": stored["class"], **stored["summary"]}
    got = {"class": type(given).__name__, **_summary(given)}
    for name, value in wanted.items():
        if value != got[name]:
            reason = f"its {name} must be {value!r}; got {got[name]!r}"
            raise ModelFileError(f"{path}: `problem` is not the one that was saved: {reason}")
    arguments = stored["arguments"]
    if arguments is None:
        return given
    same = type(given).from_state({**arguments, **given.functions()})  # older arguments, in today's form
    if fingerprint(same.to_state() or {}) != fingerprint(given.to_state() or {}):
        raise ModelFileError(f"{path}: `problem` is not the one that was saved: its data differ. Leave it out")
    return given


def _estimator_state(estimator: Estimator) -> dict[str, Any]:
    params = estimator.get_params(deep=False)
    for name, value in params.items():
        if callable(value) or hasattr(value, "predict"):
            raise InvalidInputError(
                f"`{name}` of {type(estimator).__name__}: functions and predictors cannot be stored without "
                "pickles. Keep yours in your code and the angles (`scores_`) in a file of your own, or save "
                "a model whose point estimate is a vector"
            )
    _exported(estimators, type(estimator).__name__, Estimator)
    return {"class": type(estimator).__name__, "arguments": params}


def _estimator_from(stored: dict[str, Any]) -> Estimator:
    built: Estimator = _exported(estimators, stored["class"], Estimator)(**stored["arguments"])
    return built


def _fitted_estimator_from(stored: dict[str, Any]) -> Estimator:
    built = _estimator_from(stored)
    _check_fitted_names(stored["fitted"])
    for name, value in stored["fitted"].items():
        setattr(built, name, value)
    return built


def _exported(package: ModuleType, name: str, kind: type) -> Any:
    found = getattr(package, name, None) if name in package.__all__ else None
    if not isinstance(found, type) or not issubclass(found, kind):
        rule = f"must be one of the library's own {package.__name__.rpartition('.')[2]} to be stored and read"
        raise InvalidInputError(f"`class`: {rule}; got {name!r}. Give a shipped one, or keep the model in memory")
    return found


def _fitted_values(estimator: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if _is_fitted_name(name)}


def _check_fitted_names(names: dict[str, Any]) -> None:
    wrong = [name for name in names if not _is_fitted_name(name)]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is no fitted attribute")


def _is_fitted_name(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")
