"""A fitted pipeline as one file: settings, problem, point estimate and calibration angles, without pickles.

Problems and estimators are stored by class name and constructor arguments, fitted values by name. Code cannot
be stored: a problem that holds some (`OracleProblem`, `ConvexProgram`, classes of your own) is given again on
reading and must agree with what the file remembers of it.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from conformio import estimators, problems
from conformio.data import Header, fingerprint, read_archive, write_archive
from conformio.errors import ConformioError, InvalidInputError, ModelFileError, invalid
from conformio.estimators import Estimator
from conformio.problems import Problem

__all__ = ["StoredModel", "load_model", "save_model"]

HEADER = Header("conformio-model", 1)

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
        "provenance": _provenance(),
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


def load_model(path: str | Path, problem: Problem | None = None) -> StoredModel:
    """Read what `save_model` wrote.

    Parameters
    ----------
    path : str or Path
    problem : Problem, optional
        Needed for problems that hold code; for others it must be equal to the stored one.

    Raises
    ------
    ModelFileError
        If the file is missing, damaged or of an unknown version, or `problem` is missing or disagrees.
    """
    if problem is not None and not isinstance(problem, Problem):
        raise invalid("problem", "load", "must be a conformio problem", type(problem).__name__)
    content = read_archive(path, HEADER)
    try:
        settings, fitted = dict(content["settings"]), dict(content["fitted"])
        settings["problem"] = _problem_from(content["problem"], problem, path)
        stored = content["estimator"]
        settings["estimator"] = None if stored is None else _estimator_from(stored)
        _check_fitted_names(fitted)
        fitted["estimator_"] = _fitted_estimator_from(content["fitted_estimator"])
    except ModelFileError:
        raise
    except (ConformioError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelFileError(
            f"{path}: the file is whole but describes no model that this release can rebuild ({error}). "
            "Fit and save the model again"
        ) from error
    return StoredModel(settings, fitted)


def _provenance() -> dict[str, str]:
    libraries = ("conformio", "numpy", "numba", "scipy", "scikit-learn", "highspy", "clarabel")
    return {"python": platform.python_version(), **{name: version(name) for name in libraries}}


def _problem_state(problem: Problem) -> dict[str, Any]:
    name = type(problem).__name__
    shipped = name in problems.__all__ and type(problem) is getattr(problems, name)
    return {
        "class": name,
        "summary": _summary(problem),
        "arguments": problem.to_state() if shipped else None,
    }


def _summary(problem: Problem) -> dict[str, Any]:
    return {name: getattr(problem, name) for name in _SUMMARY}


def _problem_from(stored: dict[str, Any], given: Problem | None, path: str | Path) -> Problem:
    name, arguments = stored["class"], stored["arguments"]
    if given is not None:
        return _agreeing(stored, given, path)
    if arguments is None:
        raise ModelFileError(
            f"{path}: the model's {name} holds code, which no file can. "
            "Build the same problem and call load(path, problem=...)"
        )
    built: Problem = _exported(problems, name, Problem).from_state(arguments)
    return built


def _agreeing(stored: dict[str, Any], given: Problem, path: str | Path) -> Problem:
    wanted = {"class": stored["class"], **stored["summary"]}
    got = {"class": type(given).__name__, **_summary(given)}
    for name, value in wanted.items():
        if value != got[name]:
            reason = f"its {name} must be {value!r}; got {got[name]!r}"
            raise ModelFileError(f"{path}: `problem` is not the one that was saved: {reason}")
    arguments = stored["arguments"]
    if arguments is not None and fingerprint(arguments) != fingerprint(given.to_state() or {}):
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
