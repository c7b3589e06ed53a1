"""How much of what people did a prescription keeps: exact matches and overlaps of 0/1 decisions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from conformio.checks import (
    Decisions,
    FloatArray,
    as_decisions,
    as_vector,
    check_choice,
    check_same_rows,
    dense,
    first_row,
)
from conformio.errors import invalid

__all__ = ["adherence"]

_SAME = 1e-9
_KINDS = ("exact", "jaccard", "weighted")


def adherence(decisions: Any, observed: Any, kind: str = "exact", weights: ArrayLike | None = None) -> FloatArray:
    """How closely each prescribed decision follows the observed one, in [0, 1].

    Parameters
    ----------
    decisions, observed : array-like or CSR, shape (N, n_vars)
        Prescribed and observed decisions.
    kind : {"exact", "jaccard", "weighted"}
        ``"exact"``: 1 where all entries agree within 1e-9, else 0. ``"jaccard"``: shared ones over all ones
        of two 0/1 decisions. ``"weighted"``: the same with `weights`, e.g. edge lengths. Where neither
        decision has a one (or a one that weighs anything) both overlaps are 1.
    weights : array-like, shape (n_vars,), optional
        Nonnegative; required by ``"weighted"``, refused by the others.

    Returns
    -------
    (N,) array

    Raises
    ------
    InvalidInputError
        If shapes differ, an overlap is asked of decisions that are not 0/1, or `weights` do not fit `kind`.

    Examples
    --------
    >>> from conformio.metrics import adherence
    >>> adherence([[1, 1, 0]], [[1, 0, 1]], kind="jaccard").round(3).tolist()
    [0.333]
    >>> adherence([[1, 1, 0]], [[1, 0, 1]], kind="weighted", weights=[2.0, 1.0, 1.0]).tolist()
    [0.5]
    """
    where = "metrics.adherence"
    check_choice(kind, _KINDS, "kind", where)
    n_vars = _width(decisions, where)
    ours, theirs = as_decisions(decisions, n_vars, where), as_decisions(observed, n_vars, where, "observed")
    check_same_rows(theirs.shape[0], ours.shape[0], "observed", where)
    worth = _checked_weights(weights, kind, n_vars, where)
    if not (sparse.issparse(ours) and sparse.issparse(theirs)):
        ours, theirs = dense(ours), dense(theirs)
    if kind == "exact":
        return _exact(ours, theirs)
    return _overlap(_binary(ours, "decisions", where), _binary(theirs, "observed", where), worth)


def _width(decisions: Any, where: str) -> int:
    shape = np.shape(decisions)
    if len(shape) != 2:
        rule = "must have one row per observation and one column per variable"
        raise invalid("decisions", where, rule, f"shape {shape}")
    return int(shape[1])


def _checked_weights(weights: ArrayLike | None, kind: str, n_vars: int, where: str) -> FloatArray:
    if kind != "weighted":
        if weights is not None:
            raise invalid("weights", where, f'must be None with kind="{kind}"', "weights", remedy='Use kind="weighted"')
        return np.ones(n_vars)
    if weights is None:
        raise invalid("weights", where, f'must be {n_vars} numbers with kind="weighted"', None)
    worth = as_vector(weights, "weights", where, n_vars)
    if (worth < 0).any():
        raise invalid("weights", where, "must be >= 0", worth.min(), first_row(worth < 0))
    return worth


def _exact(ours: Decisions, theirs: Decisions) -> FloatArray:
    apart = abs(ours - theirs) > _SAME
    matches: FloatArray = (np.asarray(apart.sum(axis=1)).ravel() == 0).astype(np.float64)
    return matches


def _binary(values: Decisions, argument: str, where: str) -> Decisions:
    entries = values.data if sparse.issparse(values) else values
    wrong = (np.abs(entries) > _SAME) & (np.abs(entries - 1.0) > _SAME)
    if wrong.any():
        row = (
            np.searchsorted(values.indptr, first_row(wrong), "right") - 1 if entries is not values else first_row(wrong)
        )
        rule = 'must be 0 or 1 for an overlap; kind="exact" compares any decisions'
        raise invalid(argument, where, rule, entries[wrong][0], int(row))
    return (values > 0.5).astype(np.float64)


def _overlap(ours: Decisions, theirs: Decisions, worth: FloatArray) -> FloatArray:
    product = ours.multiply(theirs) if sparse.issparse(ours) else ours * theirs
    shared = np.asarray(product @ worth)
    union = np.asarray(ours @ worth) + np.asarray(theirs @ worth) - shared
    return np.where(union > 0.0, shared / np.where(union > 0.0, union, 1.0), 1.0)
