"""Prescriptions for many rows: each distinct context once, in blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from conformio.checks import BoolArray, Decisions, FloatArray
from conformio.errors import told_of

__all__ = ["Prescribed", "apart", "prescribed"]

_BLOCK = 2048
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Prescribed:
    """One decision per row, and its certified gap where the method has one."""

    decisions: Decisions
    gaps: FloatArray | None = None


def prescribed(contexts: FloatArray, solve: Callable[[FloatArray], Any]) -> Prescribed:
    """Ask `solve` for the decisions of all rows, or for solutions that hold them.

    Parameters
    ----------
    contexts : array, shape (N, context_width)
    solve : callable
        Decisions, or a `RobustSolution`, of a block of different contexts.
    """
    situations, first, back = np.unique(contexts, axis=0, return_index=True, return_inverse=True)
    parts = []
    for start in range(0, len(situations), _BLOCK):
        block = slice(start, start + _BLOCK)
        with told_of("report", first[block]):
            parts.append(solve(situations[block]))
    robust = hasattr(parts[0], "gap")
    decisions = _stacked([part.decisions if robust else part for part in parts])
    gaps = np.concatenate([part.gap for part in parts]) if robust else None
    back = back.ravel()
    return Prescribed(decisions[back], None if gaps is None else gaps[back])


def apart(one: Decisions, other: Decisions) -> BoolArray:
    """Rows in which two sets of decisions differ."""
    gaps = abs(sparse.csr_array(one) - sparse.csr_array(other)) > _SAME
    return np.asarray(gaps.sum(axis=1)).ravel() > 0


def _stacked(parts: list[Decisions]) -> Decisions:
    if any(sparse.issparse(part) for part in parts):
        return sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")
    return np.concatenate(parts)
