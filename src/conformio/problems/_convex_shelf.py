"""The compiled models of a convex program: a single one with the context as parameter, or one per context.

One model is enough when `build` accepts a CVXPY parameter and CVXPY's rules for parameters (DPP) allow it.
Since `build` is the user's code and may read its argument in ways CVXPY cannot see, that model is compared
with a build from numbers on the first context; if they differ, contexts get models of their own, of which the
latest are kept.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import cvxpy as cp
import numpy as np

from conformio.checks import BoolArray, Domain, FloatArray, Sense
from conformio.errors import InvalidInputError, RowError, invalid
from conformio.problems._convex_model import Build, ConvexModel, Structure, read_structure

__all__ = ["MAX_MODELS", "ModelShelf"]

MAX_MODELS = 128
"""Most models, one per context, that are kept when the context cannot be a parameter."""
_AGREE = 1e-6


class ModelShelf:
    """Models of a convex program, found by context.

    Parameters
    ----------
    build, n_params, sense, domain, where
        Of the convex program.
    example : array, shape (context_width,)
        A context from which `build` can be called with numbers.
    """

    def __init__(self, build: Build, n_params: int, sense: Sense, domain: Domain, example: FloatArray, where: str):
        self._build, self._n_params, self._sense, self._where = build, n_params, sense, where
        self._example, self._domain = example, domain
        self._models: OrderedDict[bytes, ConvexModel] = OrderedDict()
        self.parametric = self._try_parametric()
        self._proven = False
        self.first = self.parametric or self._numeric(example)
        self._probe = 0.5 + np.arange(self.first.structure.variable.size) % 7 / 16.0
        self._signature = self._basis_signature(self.first)

    @property
    def nonnegative(self) -> BoolArray:
        """Which parameters may not be negative."""
        return self._nonnegative(self.first.structure)

    def at(self, u: FloatArray) -> ConvexModel:
        """The model with `u` as its context."""
        if self.parametric is not None and not self._proven:
            if not self._agrees_with_numbers(self.parametric, u):
                self.parametric = None
            self._proven = True
        if self.parametric is not None:
            self.parametric.enter(u)
            return self.parametric
        key = u.tobytes()
        if key not in self._models:
            self._models[key] = self._numeric(u)
            if len(self._models) > MAX_MODELS:
                self._models.popitem(last=False)
        self._models.move_to_end(key)
        self._check_signature(self._models[key], u)
        return self._models[key]

    def _try_parametric(self) -> ConvexModel | None:
        if not len(self._example):
            return None
        u = cp.Parameter(len(self._example), name="u")
        try:
            structure = read_structure(self._build, u, self._n_params, self._sense, self._where)
        except Exception:  # whatever the user's code does with a symbol it was not written for
            return None
        model = ConvexModel(structure, u, self._sense, self._nonnegative(structure), self._where)
        return model if model.is_parametric() else None

    def _numeric(self, u: FloatArray) -> ConvexModel:
        try:
            structure = read_structure(self._build, u.copy(), self._n_params, self._sense, self._where)
        except InvalidInputError:
            raise
        except Exception as error:
            rule, got = f"must accept the context {u.tolist()}", f"{type(error).__name__}: {error}"
            remedy = (
                "Pass context_width= if contexts have another number of entries, or example_context= if only this "
                "example is out of range"
            )
            raise invalid("build", self._where, rule, got, remedy=remedy) from error
        return ConvexModel(structure, None, self._sense, self._nonnegative(structure), self._where)

    def _nonnegative(self, structure: Structure) -> BoolArray:
        return ~structure.affine | (self._domain == "nonnegative")

    def _agrees_with_numbers(self, model: ConvexModel, u: FloatArray) -> bool:
        numeric = self._numeric(u)
        model.enter(u)
        theta = 1.0 + np.arange(self._n_params) % 5 / 8.0
        ours, theirs = _outcome(model, theta), _outcome(numeric, theta)
        if isinstance(ours, type) or isinstance(theirs, type):
            alike = ours is theirs
        else:
            alike = abs(ours - theirs) <= _AGREE * max(1.0, abs(theirs))
        return alike and np.allclose(self._violation(model), self._violation(numeric), rtol=_AGREE, equal_nan=True)

    def _violation(self, model: ConvexModel) -> float:
        model.place(self._probe)
        return model.violation()

    def _basis_signature(self, model: ConvexModel) -> FloatArray:
        model.place(self._probe)
        return model.basis_values()

    def _check_signature(self, model: ConvexModel, u: FloatArray) -> None:
        found = self._basis_signature(model)
        if not np.allclose(found, self._signature, rtol=1e-12, equal_nan=True):
            rule = "must return the same basis functions for every context"
            raise invalid("build", self._where, rule, f"other values in the context {u.tolist()}")


def _outcome(model: ConvexModel, theta: FloatArray) -> float | type[Any]:
    """The optimal value, or the kind of failure."""
    try:
        return model.solve(theta, 0)[1]
    except RowError as error:
        return type(error)
