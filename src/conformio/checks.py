"""Arguments in, clean arrays out: every public function passes its arrays through here once.

Nothing is clipped, reordered or dropped; what does not fit ends in `InvalidInputError` with the first offending row.
"""

from __future__ import annotations

import os
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from conformio.errors import invalid

__all__ = [
    "LARGEST_PARAMETER",
    "BoolArray",
    "Decisions",
    "Domain",
    "FloatArray",
    "IntArray",
    "RandomState",
    "Sense",
    "as_contexts",
    "as_decisions",
    "as_flag",
    "as_generator",
    "as_index",
    "as_parameters",
    "as_scalar",
    "as_vector",
    "as_workers",
    "check_choice",
    "check_same_rows",
    "dense",
    "first_row",
    "unit_rows",
]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
Decisions: TypeAlias = Any  # (N, n) float64 array or csr_array of float64, or of int8 ones; scipy ships no types
Sense: TypeAlias = Literal["min", "max"]
Domain: TypeAlias = Literal["free", "nonnegative"]
LARGEST_PARAMETER = 1e150

RandomState: TypeAlias = int | np.integer[Any] | np.random.Generator | None


def first_row(mask: BoolArray) -> int:
    """Index of the first True of a nonempty mask (over rows when the mask is 2-D)."""
    flat = mask if mask.ndim == 1 else mask.any(axis=tuple(range(1, mask.ndim)))
    return int(np.flatnonzero(flat)[0])


def as_generator(random_state: RandomState, where: str) -> np.random.Generator:
    """Turn `random_state` into a generator; None draws fresh entropy."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool) and random_state >= 0:
        return np.random.default_rng(int(random_state))
    rule = "must be a nonnegative int, a numpy.random.Generator or None"
    raise invalid("random_state", where, rule, repr(random_state))


def _numeric(array: ArrayLike, argument: str, where: str) -> FloatArray:
    if sparse.issparse(array):
        raise invalid(argument, where, "must be a dense array", type(array).__name__, remedy="Call .toarray() first")
    try:
        raw = np.asarray(array)
        if raw.dtype.kind in "OSUMmVc":
            raise TypeError
        return np.asarray(raw, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        got = f"{type(array).__name__} of dtype {getattr(array, 'dtype', 'object')}"
        raise invalid(argument, where, "must be a rectangular array of real numbers", got) from error


def _check_finite(values: FloatArray, argument: str, where: str, has_rows: bool = True) -> None:
    wrong = ~np.isfinite(values)
    if wrong.any():
        row = first_row(wrong) if has_rows else None
        raise invalid(argument, where, "must be finite", values[wrong][0], row=row)


def as_vector(array: ArrayLike, argument: str, where: str, size: int | None = None) -> FloatArray:
    """A finite 1-D float array, of the given size if one is named; a copy is never the caller's own memory to write."""
    values = _numeric(array, argument, where)
    if values.ndim != 1:
        raise invalid(argument, where, "must have one dimension", f"shape {values.shape}")
    if size is not None and values.shape[0] != size:
        raise invalid(argument, where, f"must have length {size}", f"length {values.shape[0]}")
    _check_finite(values, argument, where)
    return values


def as_contexts(contexts: ArrayLike, width: int, where: str) -> FloatArray:
    """Contexts as a finite (N, width) float array; (N,) is read as (N, 1)."""
    values = _numeric(contexts, "contexts", where)
    if values.ndim == 1 and width == 1:
        values = values[:, None]
    if values.ndim != 2:
        rule = f"must have one row per observation, shape (N, {width})"
        remedy = "For a single observation write [context]" if values.ndim < 2 else ""
        raise invalid("contexts", where, rule, f"shape {values.shape}", remedy=remedy)
    if values.shape[1] != width:
        raise invalid("contexts", where, f"must have {width} columns", f"shape {values.shape}")
    _check_finite(values, "contexts", where)
    return values


def as_decisions(decisions: Any, n_vars: int, where: str, argument: str = "decisions") -> Decisions:
    """Decisions as a finite float (N, n_vars) array, or CSR with sorted, summed, nonzero entries.

    CSR rows of ones in a type of one byte stay that small, as int8, and share the caller's memory: a million trips
    need 5 bytes a step. Arithmetic among them alone could overflow; `dense`, and products with floats, give floats.
    """
    if sparse.issparse(decisions):
        values: Decisions = _byte_ones(decisions)
        if values is None:
            values = sparse.csr_array(decisions, dtype=np.float64, copy=False)
            if not (values.has_sorted_indices and values.has_canonical_format and values.data.all()):
                values = values.copy()
                values.sum_duplicates()
                values.eliminate_zeros()
        entries = values.data
    else:
        values = entries = _numeric(decisions, argument, where)
    if values.ndim != 2 or values.shape[1] != n_vars:
        rule = f"must have one row per observation and {n_vars} columns"
        raise invalid(argument, where, rule, f"shape {values.shape}")
    if not np.isfinite(entries).all():
        rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr)) if values is not entries else None
        wrong = ~np.isfinite(entries)
        row = int(rows[wrong][0]) if rows is not None else first_row(wrong)
        raise invalid(argument, where, "must be finite", entries[wrong][0], row=row)
    return values


def _byte_ones(decisions: Any) -> Decisions | None:
    """CSR of int8 ones that shares memory with `decisions`; None when they are anything else."""
    if decisions.format != "csr" or decisions.ndim != 2 or decisions.dtype.kind not in "bui":
        return None
    if decisions.dtype.itemsize != 1 or not (decisions.data == 1).all():
        return None
    parts = (decisions.data.view(np.int8), decisions.indices, decisions.indptr)
    values = sparse.csr_array(parts, shape=decisions.shape, copy=False)
    if not values.has_sorted_indices:
        values = values.copy()
        values.sort_indices()
    return values if values.has_canonical_format else None


def dense(decisions: Decisions) -> FloatArray:
    """Decisions as a dense float array (no copy when they already are)."""
    return np.ascontiguousarray(decisions.toarray() if sparse.issparse(decisions) else decisions, dtype=np.float64)


def as_parameters(
    theta: ArrayLike, n_rows: int, n_params: int, domain: Domain, where: str, argument: str = "theta"
) -> FloatArray:
    """Parameters as (n_params,) for all rows or (n_rows, n_params), finite and inside the domain."""
    values = _numeric(theta, argument, where)
    if values.shape not in {(n_params,), (n_rows, n_params)}:
        rule = f"must have shape ({n_params},) or ({n_rows}, {n_params})"
        raise invalid(argument, where, rule, f"shape {values.shape}")
    _check_finite(values, argument, where, has_rows=values.ndim == 2)
    if (np.abs(values) > LARGEST_PARAMETER).any():
        rule = f"must not exceed {LARGEST_PARAMETER:g} in size, or sums of entries may overflow"
        raise invalid(argument, where, rule, np.abs(values).max(), remedy="Rescale: only the direction matters")
    if domain == "nonnegative" and (values < 0).any():
        row = first_row(values < 0) if values.ndim == 2 else None
        remedy = 'Use domain="free" if negative parameters are meant'
        raise invalid(argument, where, "must be >= 0 (domain nonnegative)", values.min(), row=row, remedy=remedy)
    return values


def as_scalar(
    value: Any, argument: str, where: str, low: float = -np.inf, high: float = np.inf, open_low: bool = False
) -> float:
    """A finite real number in [low, high], or in (low, high] when `open_low`."""
    rule = f"must be a number in {'(' if open_low else '['}{low}, {high}]"
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise invalid(argument, where, rule, repr(value))
    number = float(value)
    if not np.isfinite(number) or number < low or number > high or (open_low and number == low):
        raise invalid(argument, where, rule, repr(value))
    return number


def as_index(value: Any, argument: str, where: str, low: int = 0) -> int:
    """A whole number of at least `low`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
        raise invalid(argument, where, f"must be a whole number >= {low}", repr(value))
    return int(value)


def as_flag(value: Any, argument: str, where: str) -> bool:
    """A plain True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise invalid(argument, where, "must be True or False", repr(value))
    return bool(value)


def unit_rows(values: FloatArray, argument: str, where: str) -> FloatArray:
    """Vectors (d,) or (N, d) scaled to unit length, in two steps so that neither large nor tiny entries overflow."""
    largest = np.abs(values).max(axis=-1, keepdims=True, initial=0.0)
    if (largest == 0.0).any():
        row = int(np.flatnonzero(largest.ravel() == 0.0)[0]) if values.ndim == 2 else None
        raise invalid(argument, where, "must not be zero: it names a direction", "a zero vector", row=row)
    scaled = values / largest
    return np.asarray(scaled / np.linalg.norm(scaled, axis=-1, keepdims=True), dtype=np.float64)


def as_workers(n_jobs: int | None, where: str) -> int:
    """Number of threads: None is 1, -1 as many as there are processors."""
    if n_jobs is None:
        return 1
    rule = "must be None, -1 (all processors) or a whole number >= 1"
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or (n_jobs < 1 and n_jobs != -1):
        raise invalid("n_jobs", where, rule, repr(n_jobs))
    return int(n_jobs) if n_jobs > 0 else os.cpu_count() or 1


def check_choice(value: Any, choices: tuple[str, ...], argument: str, where: str) -> None:
    """Refuse a word that is not among the choices."""
    if not isinstance(value, str) or value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise invalid(argument, where, f"must be one of {allowed}", repr(value))


def check_same_rows(n_rows: int, n_expected: int, argument: str, where: str) -> None:
    """Refuse arrays whose numbers of rows differ."""
    if n_rows != n_expected:
        raise invalid(argument, where, f"must have {n_expected} rows, one per context", f"{n_rows} rows")
