"""The pipeline: split, estimate, calibrate, prescribe (paper, section "Conformal Inverse Optimization").

What the calibrated set certifies: with probability at least the confidence level it *meets* the set of parameters
that make the next decision optimal. It does not promise to contain the next decision maker's own parameters.
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone

from conformio.calibration import calibrated_angle, conformity_angles
from conformio.checks import (
    BoolArray,
    Decisions,
    FloatArray,
    IntArray,
    RandomState,
    as_generator,
    as_scalar,
    as_workers,
    check_choice,
    unit_rows,
)
from conformio.data import data_fingerprint
from conformio.errors import CalibrationWarning, NotFittedError, invalid
from conformio.estimators import Estimator, PerturbedFenchelYoung
from conformio.metrics import adherence
from conformio.model_files import load_model, save_model
from conformio.prescription import RobustSolution, solve_robust
from conformio.problems import Problem
from conformio.ranks import ConfidenceLevel, exact_level
from conformio.sets import SphericalCap

__all__ = ["ConformalIO", "load"]


class ConformalIO(BaseEstimator):  # type: ignore[misc]
    """Conformal inverse optimization as one scikit-learn style estimator.

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

    Attributes
    ----------
    theta_ : array (n_params,) or None
        Unit-length point estimate; None when the estimator predicts one per context (see `centers`).
    scores_ : array (n_calibration_,)
        Calibration angles in radians.
    angle_ : float
        Calibrated angle at `confidence_level`.
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

    Notes
    -----
    It works as estimator of `cross_val_score` and `GridSearchCV`. The former takes only dense decisions: pass
    `decisions.toarray()`.

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
    ):
        self.problem = problem
        self.estimator = estimator
        self.confidence_level = confidence_level
        self.calibration_fraction = calibration_fraction
        self.infeasible = infeasible
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, contexts: ArrayLike, decisions: Any) -> Self:
        """Split the rows at random, fit the point estimate on one part, calibrate on the other."""
        where = "ConformalIO.fit"
        self._check_settings(where)
        contexts, decisions = self.problem.check_rows(contexts, decisions, where)
        self.data_fingerprint_ = data_fingerprint(contexts, decisions)
        rng = as_generator(self.random_state, where)
        training, calibration = self._split(len(contexts), rng, where)
        training = self._trainable(training, contexts, decisions, where)
        self.estimator_ = self._seeded_estimator(rng)
        self.estimator_.fit(self.problem, contexts[training], decisions[training])
        return self._calibrate(contexts[calibration], decisions[calibration], calibration)

    def conformalize(self, contexts: ArrayLike, decisions: Any) -> Self:
        """Calibrate on these rows and keep the point estimate; enough alone when the estimator needs no data."""
        where = "ConformalIO.conformalize"
        self._check_settings(where)
        contexts, decisions = self.problem.check_rows(contexts, decisions, where)
        if not hasattr(self, "estimator_"):
            if self.estimator is None or self.estimator.needs_data:
                raise NotFittedError(f"{where}: there is no point estimate yet. Call fit first, or use FixedParameters")
            self.estimator_ = clone(self.estimator).fit(self.problem, contexts, decisions)
        return self._calibrate(contexts, decisions, np.arange(len(contexts)))

    def predict(self, contexts: ArrayLike, confidence_level: ConfidenceLevel | None = None) -> Decisions:
        """Robust decisions, one per context; another level costs no refit."""
        return self.prescribe(contexts, confidence_level).decisions

    def prescribe(self, contexts: ArrayLike, confidence_level: ConfidenceLevel | None = None) -> RobustSolution:
        """Robust decisions with their worst-case values, gaps and routes."""
        contexts = self._fitted().problem.check_contexts(contexts, "ConformalIO.prescribe")
        return solve_robust(self.problem, self.uncertainty_set(confidence_level, contexts), contexts)

    def predict_nominal(self, contexts: ArrayLike) -> Decisions:
        """The classic pipeline: decisions optimal for the point estimate alone."""
        contexts = self._fitted().problem.check_contexts(contexts, "ConformalIO.predict_nominal")
        return self.problem.solve(self.centers(contexts), contexts)

    def angle(self, confidence_level: ConfidenceLevel | None = None) -> float:
        """Calibrated angle in radians at a level (None: the model's own)."""
        where = "ConformalIO.angle"
        level = self._fitted()._level(confidence_level, where)
        known: dict[Fraction, float] = self._known("angles", self.scores_)
        exact = exact_level(level, where)
        if exact not in known:
            angle = calibrated_angle(self.scores_, level)
            if angle == np.pi:  # not kept: whoever asks again is warned again
                return angle
            known[exact] = angle
        return known[exact]

    def centers(self, contexts: ArrayLike) -> FloatArray:
        """Unit-length point estimate: (n_params,) when it is one vector, else (N, n_params)."""
        return self._fitted()._centers(contexts)

    def uncertainty_set(
        self, confidence_level: ConfidenceLevel | None = None, contexts: ArrayLike | None = None
    ) -> SphericalCap:
        """The calibrated cap; `contexts` are needed when the centre depends on them."""
        if self._fitted().theta_ is None and contexts is None:
            remedy = "Pass contexts: this model predicts one centre per context"
            raise invalid("contexts", "ConformalIO.uncertainty_set", "must be given", None, remedy=remedy)
        angle, domain = self.angle(confidence_level), self.problem.domain
        if self.theta_ is None:
            return SphericalCap(self.centers(contexts if contexts is not None else []), angle, domain)
        known: dict[float, SphericalCap] = self._known("caps", self.theta_)
        if angle not in known:
            known[angle] = SphericalCap(self.theta_, angle, domain)
        return known[angle]

    def covers(self, contexts: ArrayLike, decisions: Any, confidence_level: ConfidenceLevel | None = None) -> BoolArray:
        """Whether the calibrated set meets each decision's inverse-feasible set, shape (N,)."""
        return np.asarray(self.angles(contexts, decisions) <= self.angle(confidence_level))

    def angles(self, contexts: ArrayLike, decisions: Any) -> FloatArray:
        """Conformity angles of other decisions around this model's centre, radians."""
        contexts, decisions = self._fitted().problem.check_rows(contexts, decisions, "ConformalIO.angles")
        centers = self.centers(contexts)
        return conformity_angles(
            self.problem, centers, contexts, decisions, infeasible=self.infeasible, n_jobs=self.n_jobs
        )

    def score(self, contexts: ArrayLike, decisions: Any) -> float:
        """Mean adherence: the share of decisions that the prescription reproduces exactly."""
        contexts, decisions = self._fitted().problem.check_rows(contexts, decisions, "ConformalIO.score")
        if not len(contexts):
            raise invalid("contexts", "ConformalIO.score", "must have at least one row", "none")
        return float(adherence(self.predict(contexts), decisions).mean())

    def save(self, path: str | Path) -> None:
        """Write the fitted model to one file without pickles; `load` reads it."""
        save_model(self._fitted(), path)

    def _check_settings(self, where: str) -> None:
        if not isinstance(self.problem, Problem):
            raise invalid("problem", where, "must be a conformio problem", type(self.problem).__name__)
        if self.estimator is not None and not isinstance(self.estimator, Estimator):
            raise invalid("estimator", where, "must be a conformio estimator or None", type(self.estimator).__name__)
        self._level(None, where)
        as_scalar(self.calibration_fraction, "calibration_fraction", where, low=0.0, high=1.0, open_low=True)
        as_workers(self.n_jobs, where)
        check_choice(self.infeasible, ("error", "unexplained"), "infeasible", where)

    def _level(self, confidence_level: ConfidenceLevel | None, where: str) -> ConfidenceLevel:
        level = self.confidence_level if confidence_level is None else confidence_level
        exact_level(level, where)
        return level

    def _known(self, kind: str, source: FloatArray) -> dict[Any, Any]:
        """What was worked out from a fitted array; forgotten when another array takes its place."""
        kept: dict[str, tuple[FloatArray, dict[Any, Any]]] = self.__dict__.setdefault("_kept", {})
        if kind not in kept or kept[kind][0] is not source:
            kept[kind] = source, {}
        return kept[kind][1]

    def _split(self, n_rows: int, rng: np.random.Generator, where: str) -> tuple[IntArray, IntArray]:
        n_calibration = max(1, round(self.calibration_fraction * n_rows))
        if n_rows - n_calibration < 1:
            rule = "must leave at least one row to train on and one to calibrate on"
            got = f"{n_rows} rows with calibration_fraction={self.calibration_fraction}"
            raise invalid("contexts", where, rule, got, remedy="Give more rows or a smaller calibration_fraction")
        order = rng.permutation(n_rows)
        return np.sort(order[n_calibration:]), np.sort(order[:n_calibration])

    def _trainable(self, training: IntArray, contexts: FloatArray, decisions: Decisions, where: str) -> IntArray:
        """Refuse infeasible decisions, or leave those of the training part out and say so."""
        if self.infeasible == "error":
            self.problem.require_feasible(decisions, contexts, where)
        usable = training[self.problem.feasible(decisions[training], contexts[training])]
        self.n_excluded_ = len(training) - len(usable)
        if not len(usable):
            remedy = "Correct them, or move them with `nearest_rationalizable`"
            raise invalid("decisions", where, "must hold feasible ones to train on", "none", remedy=remedy)
        if self.n_excluded_:
            message = f"{self.n_excluded_} of {len(training)} training decisions are infeasible and train nothing"
            warnings.warn(message, CalibrationWarning, stacklevel=3)
        return usable

    def _seeded_estimator(self, rng: np.random.Generator) -> Estimator:
        estimator = PerturbedFenchelYoung() if self.estimator is None else clone(self.estimator)
        if estimator.get_params().get("random_state", 0) is None:
            estimator.set_params(random_state=int(rng.integers(2**32)))
        return estimator

    def _calibrate(self, contexts: FloatArray, decisions: Decisions, indices: IntArray) -> Self:
        theta = self.estimator_.theta_
        self.calibration_fingerprint_ = data_fingerprint(contexts, decisions)
        self.theta_ = None if theta is None else unit_rows(theta, "theta", "ConformalIO.fit")
        self.scores_ = conformity_angles(
            self.problem,
            self._centers(contexts),
            contexts,
            decisions,
            infeasible=self.infeasible,
            n_jobs=self.n_jobs,
        )
        self.calibration_indices_ = indices
        self.n_calibration_ = len(self.scores_)
        self.n_unexplained_ = int((self.scores_ == np.pi).sum())
        self.angle_ = calibrated_angle(self.scores_, self.confidence_level)
        if self.angle_ == np.pi and self.n_unexplained_:
            message = (
                f"{self.n_unexplained_} of {self.n_calibration_} calibration decisions are explained by no parameters "
                "within 90 degrees of the estimate, so the calibrated set is everything; check that the problem is the "
                "one they solved, or move them with `nearest_rationalizable`"
            )
            warnings.warn(message, CalibrationWarning, stacklevel=3)
        self.tie_mass_ = float((self.scores_ == self.angle_).mean())
        return self

    def _centers(self, contexts: ArrayLike) -> FloatArray:
        if self.theta_ is not None:
            return np.asarray(self.theta_)
        return unit_rows(self.estimator_.parameters(contexts), "theta", "ConformalIO.centers")

    def _fitted(self) -> Self:
        if not hasattr(self, "scores_"):
            raise NotFittedError("this ConformalIO has no calibrated angle yet. Call fit, or conformalize, first")
        return self


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
    model = ConformalIO(**stored.settings)
    for name, value in stored.fitted.items():
        setattr(model, name, value)
    return model
