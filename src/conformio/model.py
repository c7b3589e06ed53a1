"""The pipeline: split, estimate, calibrate, prescribe (paper, section "Conformal Inverse Optimization").

What the calibrated set certifies: with probability at least the confidence level it *meets* the set of parameters
that make the next decision optimal. It does not promise to contain the next decision maker's own parameters.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone

from conformio.calibration import calibrated_angle, conformity_angles, quantile_angle
from conformio.calibration.split import check_fraction, split_rows
from conformio.calibration.summary import summary_of_level, summary_of_scores
from conformio.cards import CardAndDiagram
from conformio.checks import (
    BoolArray,
    Decisions,
    FloatArray,
    IntArray,
    Names,
    RandomState,
    as_generator,
    as_workers,
    check_choice,
    check_some_rows,
    column_names,
    same_names,
    unit_rows,
)
from conformio.data import data_fingerprint
from conformio.diagnosis import Diagnosis, Evidence, findings_of, model_card
from conformio.errors import NotFittedError, invalid, told_of
from conformio.estimators import Estimator, PerturbedFenchelYoung
from conformio.estimators.base import check_estimator, check_problem, usable_rows
from conformio.metrics import adherence
from conformio.model_files import load_model, rebuilt, save_model
from conformio.prescription import RobustSolution, solve_robust
from conformio.problems import Problem
from conformio.ranks import ConfidenceLevel, exact_level
from conformio.sets import SphericalCap

__all__ = ["ConformalIO", "load"]

_KEEP_INFEASIBLE = 'build the model with ConformalIO(..., infeasible="unexplained"), which counts them as angle pi'


class ConformalIO(CardAndDiagram, BaseEstimator):  # type: ignore[misc]
    """Conformal inverse optimization as one scikit-learn style estimator.

    It works in `GridSearchCV` and, with dense decisions (`decisions.toarray()`), in `cross_val_score`.

    Parameters
    ----------
    problem : Problem
        The forward problem the decision makers solve.
    estimator : Estimator, optional
        Point estimate of the parameters; None is `PerturbedFenchelYoung()`, the better of the paper's two in its
        own experiments (see the decision note).
    confidence_level : float, default=0.9
        Probability with which the set meets the next decision's inverse-feasible set, in [0, 1].
    calibration_fraction : float, default=0.25
        Share of the rows given to `fit` that calibrates instead of training, in (0, 1).
    infeasible : {"error", "unexplained"}, default="error"
        Decisions outside `X(u)`: refuse them; or keep those that calibrate at angle pi, which keeps the coverage
        valid, and leave the others out of training, with a warning.
    random_state : int, numpy.random.Generator or None
        Decides the split, and the estimator's randomness where it has no `random_state` of its own.
    n_jobs : int, optional
        Threads for calibration; results do not depend on it.
    scores : {"all", "level"}, default="all"
        What calibration works out: all angles, so that every level can be asked for later; or what the angle of
        `confidence_level` depends on, the same number in less time on large networks (see `quantile_angle`).

    Attributes
    ----------
    theta_ : array (n_params,) or None
        Unit-length point estimate; None when the estimator predicts one per context (see `centers`).
    scores_ : array (n_calibration_,)
        Calibration angles in radians; only with `scores="all"`.
    angle_ : float
        Calibrated angle at `confidence_level`.
    calibrated_level_ : float
        The level calibrated; only with `scores="level"`.
    n_calibration_, n_unexplained_ : int
        Rows that calibrated, and how many of them no parameters within 90 degrees explain (angle pi).
    n_excluded_ : int
        Infeasible decisions that `fit` left out of training (only with `infeasible="unexplained"`).
    tie_mass_ : float
        Share of the calibration angles exactly equal to `angle_`; where it is large, coverage stays above the level.
    calibration_indices_ : array
        Which rows given to `fit` (or `conformalize`) calibrated.
    estimator_ : Estimator
        The fitted point estimator.
    data_fingerprint_, calibration_fingerprint_ : str
        SHA-256 of the rows given to `fit`, and of those that calibrated.
    n_features_in_ : int
        Number of columns of `contexts`.
    feature_names_in_ : array of str
        Their names, only where they came in a data frame; other names, or these in another order, are then refused.

    Examples
    --------
    >>> import numpy as np
    >>> import conformio as cio
    >>> problem = cio.ShortestPath(cio.Network.grid(3, 3))
    >>> rng = np.random.default_rng(0)
    >>> trips = np.array([rng.choice(9, 2, replace=False) for _ in range(60)])
    >>> routes = problem.solve(rng.uniform(1, 2, (60, problem.n_params)), trips)
    >>> model = cio.ConformalIO(problem, cio.SuboptimalityLoss(), random_state=0).fit(trips, routes)
    >>> model.predict([[0, 8]]).sum()  # a route of four streets
    np.float64(4.0)
    """

    theta_: FloatArray | None
    scores_: FloatArray

    def __init__(
        self,
        problem: Problem,
        estimator: Estimator | None = None,
        confidence_level: ConfidenceLevel = 0.9,
        calibration_fraction: float = 0.25,
        infeasible: str = "error",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        scores: str = "all",
    ):
        self.problem = problem
        self.estimator = estimator
        self.confidence_level = confidence_level
        self.calibration_fraction = calibration_fraction
        self.infeasible = infeasible
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.scores = scores

    def fit(self, contexts: ArrayLike, decisions: Any) -> Self:
        """Split the rows at random, fit the point estimate on one part, calibrate on the other."""
        where = "ConformalIO.fit"
        self._check_settings(where)
        names = column_names(contexts)
        contexts, decisions = self.problem.check_rows(contexts, decisions, where)
        rng = as_generator(self.random_state, where)
        training, calibration = split_rows(len(contexts), self.calibration_fraction, rng, where)
        self._require_feasible(contexts, decisions, where)
        usable = usable_rows(self.problem, training, contexts, decisions, where)
        estimator = self._seeded_estimator(rng)
        with told_of(where, usable):
            estimator.fit(self.problem, contexts[usable], decisions[usable])
        found = self._calibrated(estimator, contexts[calibration], decisions[calibration], calibration, where)
        n_excluded, whole = len(training) - len(usable), data_fingerprint(contexts, decisions)
        return self._keep({**found, "feature_names_in_": names, "n_excluded_": n_excluded, "data_fingerprint_": whole})

    def conformalize(self, contexts: ArrayLike, decisions: Any) -> Self:
        """Calibrate on these rows and keep the point estimate; enough alone when the estimator needs no data.

        The rows must have had no part in the estimate, nor in the choice of the level or of other settings: rows that
        trained look better explained than new ones, and the set would be too small.
        """
        where = "ConformalIO.conformalize"
        self._check_settings(where)
        names = self._same_columns(contexts, where)
        contexts, decisions = self.problem.check_rows(contexts, decisions, where)
        check_some_rows(contexts, where, "Calibrate on some decisions")
        self._require_feasible(contexts, decisions, where)
        if hasattr(self, "estimator_"):
            estimator = self.estimator_
        elif self.estimator is None or self.estimator.needs_data:
            raise NotFittedError(f"{where}: there is no point estimate yet. Call fit first, or use FixedParameters")
        else:
            with told_of(where):
                estimator = clone(self.estimator).fit(self.problem, contexts, decisions)
        found = self._calibrated(estimator, contexts, decisions, np.arange(len(contexts)), where)
        return self._keep({**found, "feature_names_in_": names})

    def predict(self, contexts: ArrayLike, confidence_level: ConfidenceLevel | None = None) -> Decisions:
        """Robust decisions, one per context; another level costs no refit."""
        return self._prescribed(contexts, confidence_level, "ConformalIO.predict").decisions

    def prescribe(self, contexts: ArrayLike, confidence_level: ConfidenceLevel | None = None) -> RobustSolution:
        """Robust decisions with their worst-case values, gaps and routes."""
        return self._prescribed(contexts, confidence_level, "ConformalIO.prescribe")

    def predict_nominal(self, contexts: ArrayLike) -> Decisions:
        """The classic pipeline: decisions optimal for the point estimate alone."""
        where = "ConformalIO.predict_nominal"
        contexts = self._checked(contexts, where)
        with told_of(where):
            return self.problem.solve(self._centers(contexts), contexts)

    def angle(self, confidence_level: ConfidenceLevel | None = None) -> float:
        """Calibrated angle in radians at a level (None: the model's own)."""
        return self._angle(confidence_level, "ConformalIO.angle")

    def centers(self, contexts: ArrayLike) -> FloatArray:
        """Unit-length point estimate: (n_params,) when it is one vector, else (N, n_params)."""
        self._same_columns(contexts, "ConformalIO.centers")
        return self._fitted()._centers(contexts)

    def uncertainty_set(
        self, confidence_level: ConfidenceLevel | None = None, contexts: ArrayLike | None = None
    ) -> SphericalCap:
        """The calibrated cap; `contexts` are needed when the centre depends on them."""
        where = "ConformalIO.uncertainty_set"
        if self._fitted().theta_ is None and contexts is None:
            raise invalid("contexts", where, "must be given: this model predicts one centre per context", None)
        if contexts is not None:
            contexts = self._checked(contexts, where)
        return self._cap(contexts, confidence_level, where)

    def covers(self, contexts: ArrayLike, decisions: Any, confidence_level: ConfidenceLevel | None = None) -> BoolArray:
        """Whether the calibrated set meets each decision's inverse-feasible set, shape (N,)."""
        where = "ConformalIO.covers"
        return np.asarray(self._angles(contexts, decisions, where) <= self._angle(confidence_level, where))

    def angles(self, contexts: ArrayLike, decisions: Any) -> FloatArray:
        """Conformity angles of other decisions around this model's centre, radians."""
        return self._angles(contexts, decisions, "ConformalIO.angles")

    def score(self, contexts: ArrayLike, decisions: Any) -> float:
        """Mean adherence: the share of decisions that the prescription reproduces exactly."""
        where = "ConformalIO.score"
        contexts, decisions = self._checked_rows(contexts, decisions, where)
        check_some_rows(contexts, where)
        return float(adherence(self._prescribed(contexts, None, where).decisions, decisions).mean())

    def diagnose(self, contexts: ArrayLike, decisions: Any) -> Diagnosis:
        """Findings with remedies: new decisions tell of coverage, those given to `fit` of identifiability."""
        where = "ConformalIO.diagnose"
        contexts, decisions = self._checked_rows(contexts, decisions, where)
        check_some_rows(contexts, where)
        angles = self._measured(self.estimator_, contexts, decisions, where)
        with told_of(where):
            return findings_of(Evidence.of(self, contexts, decisions, angles))

    def save(self, path: str | Path) -> None:
        """Write the fitted model to one file without pickles; `load` reads it."""
        save_model(self._fitted(), path)

    def _card(self) -> str:
        return model_card(self)

    def _check_settings(self, where: str) -> None:
        check_problem(self.problem, where)
        check_estimator(self.estimator, where)
        exact_level(self.confidence_level, where)
        check_fraction(self.calibration_fraction, where)
        as_workers(self.n_jobs, where)
        check_choice(self.infeasible, ("error", "unexplained"), "infeasible", where)
        check_choice(self.scores, ("all", "level"), "scores", where)

    def _angle(self, confidence_level: ConfidenceLevel | None, where: str) -> float:
        level = self.confidence_level if confidence_level is None else confidence_level
        exact = exact_level(level, where)
        if not hasattr(self._fitted(), "scores_"):
            return self._only_angle(exact, level, where)
        known: dict[Fraction, float] = self._known("angles", self.scores_)
        if exact not in known:
            angle = calibrated_angle(self.scores_, level)
            if angle == np.pi:  # not kept: whoever asks again is warned again
                return angle
            known[exact] = angle
        return known[exact]

    def _only_angle(self, exact: Fraction, level: ConfidenceLevel, where: str) -> float:
        if exact != exact_level(self.calibrated_level_, where):
            rule = f'must be {self.calibrated_level_}, the one level calibrated with scores="level"'
            remedy = 'Set scores="all" and call conformalize to have every level'
            raise invalid("confidence_level", where, rule, level, remedy=remedy)
        return float(self.angle_)

    def _cap(self, contexts: FloatArray | None, level: ConfidenceLevel | None, where: str) -> SphericalCap:
        angle, domain = self._angle(level, where), self.problem.domain
        if self.theta_ is None:
            return SphericalCap(self._centers(contexts), angle, domain)
        known: dict[float, SphericalCap] = self._known("caps", self.theta_)
        if angle not in known:
            known[angle] = SphericalCap(self.theta_, angle, domain)
        return known[angle]

    def _known(self, kind: str, source: FloatArray) -> dict[Any, Any]:
        """What was worked out from a fitted array; forgotten when another array takes its place."""
        kept: dict[str, tuple[FloatArray, dict[Any, Any]]] = self.__dict__.setdefault("_kept", {})
        if kind not in kept or kept[kind][0] is not source:
            kept[kind] = source, {}
        return kept[kind][1]

    def _same_columns(self, contexts: Any, where: str) -> Names | None:
        """Names of the columns of a data frame, refused where they are not those the model was fitted on."""
        return same_names(column_names(contexts), getattr(self, "feature_names_in_", None), where)

    def _checked(self, contexts: ArrayLike, where: str) -> FloatArray:
        self._fitted()._same_columns(contexts, where)
        return self.problem.check_contexts(contexts, where)

    def _checked_rows(self, contexts: ArrayLike, decisions: Any, where: str) -> tuple[FloatArray, Decisions]:
        self._fitted()._same_columns(contexts, where)
        return self.problem.check_rows(contexts, decisions, where)

    def _prescribed(self, contexts: ArrayLike, level: ConfidenceLevel | None, where: str) -> RobustSolution:
        contexts = self._checked(contexts, where)
        cap = self._cap(contexts, level, where)
        with told_of(where):
            return solve_robust(self.problem, cap, contexts)

    def _angles(self, contexts: ArrayLike, decisions: Any, where: str) -> FloatArray:
        contexts, decisions = self._checked_rows(contexts, decisions, where)
        self._require_feasible(contexts, decisions, where)
        return self._measured(self.estimator_, contexts, decisions, where)

    def _measured(
        self, estimator: Estimator, contexts: FloatArray, decisions: Decisions, where: str, rows: IntArray | None = None
    ) -> FloatArray:
        """Angles around the estimate; infeasible decisions were refused before, if at all; `rows` are the caller's."""
        with told_of(where, rows):
            centers = _unit_centers(estimator, contexts, where)
            return conformity_angles(
                self.problem, centers, contexts, decisions, infeasible="unexplained", n_jobs=self.n_jobs
            )

    def _calibration(
        self, estimator: Estimator, contexts: FloatArray, decisions: Decisions, where: str, rows: IntArray
    ) -> dict[str, Any]:
        if self.scores == "all":
            scores = self._measured(estimator, contexts, decisions, where, rows)
            return summary_of_scores(scores, self.confidence_level)
        with told_of(where, rows):
            centers, level = _unit_centers(estimator, contexts, where), self.confidence_level
            found = quantile_angle(
                self.problem, centers, contexts, decisions, level, infeasible="unexplained", n_jobs=self.n_jobs
            )
        return summary_of_level(found, level)

    def _require_feasible(self, contexts: FloatArray, decisions: Decisions, where: str) -> None:
        if self.infeasible == "error":
            self.problem.require_feasible(decisions, contexts, where, _KEEP_INFEASIBLE)

    def _seeded_estimator(self, rng: np.random.Generator) -> Estimator:
        estimator = PerturbedFenchelYoung() if self.estimator is None else clone(self.estimator)
        if estimator.get_params().get("random_state", 0) is None:
            estimator.set_params(random_state=int(rng.integers(2**32)))
        return estimator

    def _calibrated(
        self, estimator: Estimator, contexts: FloatArray, decisions: Decisions, rows: IntArray, where: str
    ) -> dict[str, Any]:
        """Fitted attributes by name, worked out in full before any of them is set."""
        return {
            "estimator_": estimator,
            "theta_": None if estimator.theta_ is None else _unit_centers(estimator, contexts[:0], where),
            "calibration_indices_": rows,
            "n_features_in_": self.problem.context_width,
            "calibration_fingerprint_": data_fingerprint(contexts, decisions),
            **self._calibration(estimator, contexts, decisions, where, rows),
        }

    def _keep(self, fitted: dict[str, Any]) -> Self:
        self.__dict__.update(fitted)
        for name in ("feature_names_in_", "scores_", "calibrated_level_"):
            if fitted[name] is None:
                del self.__dict__[name]
        return self

    def _centers(self, contexts: Any) -> FloatArray:
        return _unit_centers(self.estimator_, contexts, "ConformalIO.centers") if self.theta_ is None else self.theta_

    def _fitted(self) -> Self:
        if not hasattr(self, "angle_"):
            raise NotFittedError("this ConformalIO has no calibrated angle yet. Call fit, or conformalize, first")
        return self


def _unit_centers(estimator: Estimator, contexts: Any, where: str) -> FloatArray:
    theta = estimator.theta_
    return unit_rows(estimator.parameters(contexts) if theta is None else theta, "theta", where)


def load(path: str | Path, problem: Problem | None = None, **functions: Any) -> ConformalIO:
    """Read a model that `ConformalIO.save` wrote.

    Parameters
    ----------
    path : str or Path
    problem : Problem, optional
        For problems that hold code of yours, which no file can.
    **functions
        Instead of `problem`: only the functions of an `OracleProblem` (``solve=...``) or a `ConvexProgram`
        (``build=...``), by the names of the constructor's arguments; the file holds the rest.

    Raises
    ------
    ModelFileError
        If the file is missing, damaged, of an unknown version, or needs `problem`.
    """
    stored = load_model(path, problem, functions)
    with rebuilt(path):
        model = ConformalIO(**stored.settings)
        model._check_settings("load")
    model.__dict__.update(stored.fitted)
    return model
