"""A pipeline at a glance: what it is, what calibrated it, how wide its set is, and what that certifies."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformio.cards import Facts, card, shortened

__all__ = ["model_card"]


def model_card(model: Any) -> str:
    """The card of a `ConformalIO`, fitted or not, as HTML."""
    level = model.confidence_level
    estimator = "PerturbedFenchelYoung() (the default)" if model.estimator is None else shortened(model.estimator)
    facts: Facts = [("problem", shortened(model.problem)), ("estimator", estimator), ("confidence level", level)]
    if not hasattr(model, "angle_"):
        return card("ConformalIO, not fitted", facts, "Call fit(contexts, decisions) to estimate and calibrate.")
    return card("ConformalIO, fitted", facts + _fitted_facts(model), _certificate(model))


def _fitted_facts(model: Any) -> Facts:
    center = "one per context" if model.theta_ is None else f"one direction of {len(model.theta_)} parameters"
    width = "everything (180 degrees)" if model.angle_ == np.pi else f"{np.degrees(model.angle_):.3g} degrees around it"
    facts: Facts = [
        ("point estimate", center),
        ("calibrated set", width),
        ("calibrated on", f"{model.n_calibration_} decisions, {model.n_unexplained_} of them unexplained"),
        ("tied at the angle", f"{model.tie_mass_:.1%}"),
    ]
    excluded = getattr(model, "n_excluded_", 0)
    return facts + ([("left out of training", f"{excluded} infeasible decisions")] if excluded else [])


def _certificate(model: Any) -> str:
    if model.angle_ == np.pi:
        return "Nothing is certified beyond feasibility: the calibrated set holds all parameters."
    level = getattr(model, "calibrated_level_", model.confidence_level)
    return (
        f"With probability at least {level}, the set meets the parameters that make the next decision optimal. "
        "It need not hold those the decision maker has in mind."
    )
