"""Arguments in, clean arrays out: every public function passes its arrays through here once.

Nothing is clipped, reordered or dropped; what does not fit ends in `InvalidInputError` with the first offending row.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from conformio.errors import InvalidInputError, invalid

__all__ = [
    "LARGEST_PARAMETER",
    "BoolArray",
    "Decisions",
    "Domain",
    "FloatArray",
    "IntArray",
    "Names",
    "RandomState",
    "Sense",
    "as_angle",
    "as_angles",
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
    "check_some_rows",
    "column_names",
    "dense",
    "described",
    "first_cell",
    "first_row",
    "missing_column",
    "n_columns",
    "same_names",
    "separator_hint",
    "unit_rows",
]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
Names: TypeAlias = NDArray[np.str_]
Decisions: TypeAlias = Any  # (N, n) float64 array or csr_array of float64, or of int8 ones; scipy ships no types
Sense: TypeAlias = Literal["min", "max"]
Domain: TypeAlias = Literal["free", "nonnegative"]
LARGEST_PARAMETER = 1e150
_COLUMNS_SHOWN = 20

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
    if np.ma.is_masked(array):
        row = first_row(np.atleast_1d(np.ma.getmaskarray(np.ma.asarray(array))))
        remedy = "Leave such rows out, or fill them in"
        raise invalid(argument, where, "must not have masked entries", "one", row=row, remedy=remedy)
    try:
        raw = np.asarray(array)
        if raw.dtype.kind in "OSU" and raw.ndim:
            return _numbers_of(raw.astype(object), argument, where)
        if raw.dtype.kind in "OSUMmVc":
            raise TypeError
        return np.asarray(raw, dtype=np.float64, order="C")
    except InvalidInputError:  # one of ours, a ValueError too
        raise
    except (TypeError, ValueError) as error:
        ragged = isinstance(array, (list, tuple)) and len({n_columns([part]) for part in array}) > 1
        got = "rows of different lengths" if ragged else f"{type(array).__name__} of dtype {_dtype(array)}"
        raise invalid(argument, where, "must be a rectangular array of real numbers", got) from error


def _dtype(array: Any) -> Any:
    return getattr(array, "dtype", "object")


def _numbers_of(cells: NDArray[Any], argument: str, where: str) -> FloatArray:
    """Objects that are numbers without rounding, as data frames of several types hold them; text never is one."""
    if all(issubclass(kind, (Real, np.bool_)) for kind in set(map(type, cells.ravel().tolist()))):
        values = np.array([_nearest(cell) for cell in cells.ravel().tolist()]).reshape(cells.shape)
        if not (np.abs(values) >= 2.0**53).any():
            return values
    for place in np.ndindex(cells.shape):
        cell = cells[place]
        rule = _broken_rule(cell)
        if rule:
            column = "" if len(place) < 2 else f" in column {', '.join(map(str, place[1:]))}"
            raise invalid(argument, where, rule, f"{cell!r}{column}", row=place[0], remedy="Convert or remove it")
    return values


def _broken_rule(cell: Any) -> str:
    if isinstance(cell, (int, np.integer)):
        return "must hold numbers that a float keeps exactly" if abs(int(cell)) > 2**53 else ""
    return "" if isinstance(cell, (Real, np.bool_)) else "must hold real numbers in all cells"


def _nearest(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf")


def n_columns(array: Any) -> int | None:
    """Columns of a matrix, 1 for a vector; None for anything else."""
    try:
        shape = array.shape if hasattr(array, "shape") else np.shape(array)
    except (TypeError, ValueError):
        return None
    return {1: 1, 2: shape[-1]}.get(len(shape)) if shape else None


def first_cell(values: FloatArray, wrong: BoolArray) -> str:
    """The first wrong entry and, among several in its row, its place there."""
    place = tuple(int(index) for index in np.argwhere(wrong)[0])
    number = f"{values[place]:.15g}"
    return f"{number} at position {place[-1]}" if values.shape[-1] > 1 and place else number


def _check_finite(values: FloatArray, argument: str, where: str, has_rows: bool = True) -> None:
    wrong = ~np.isfinite(values)
    if wrong.any():
        row = first_row(wrong) if has_rows else None
        raise invalid(argument, where, "must be finite", first_cell(values, wrong), row=row)


def as_vector(array: ArrayLike, argument: str, where: str, size: int | None = None) -> FloatArray:
    """A finite 1-D float array, of the given size if one is named; a copy is never the caller's own memory to write."""
    values = _numeric(array, argument, where)
    if values.ndim != 1:
        raise invalid(argument, where, "must have one dimension", f"shape {values.shape}")
    if size is not None and values.shape[0] != size:
        raise invalid(argument, where, f"must have length {size}", f"length {values.shape[0]}")
    _check_finite(values, argument, where)
    return values


def as_contexts(contexts: ArrayLike, width: int, where: str, remedy: str = "") -> FloatArray:
    """Contexts as a finite (N, width) float array; (N,) is read as (N, 1). `remedy` helps with another width."""
    values = _numeric(contexts, "contexts", where)
    if values.ndim == 1 and width == 1:
        values = values[:, None]
    if values.ndim != 2:
        rule = f"must have one row per observation, shape (N, {width})"
        single = "For a single observation write [context]" if values.ndim < 2 and values.size else ""
        raise invalid("contexts", where, rule, f"shape {values.shape}", remedy=single)
    if values.shape[1] != width:
        plural = "" if width == 1 else "s"
        raise invalid("contexts", where, f"must have {width} column{plural}", f"shape {values.shape}", remedy=remedy)
    _check_finite(values, "contexts", where)
    return values


def as_decisions(decisions: Any, n_vars: int, where: str, argument: str = "decisions") -> Decisions:
    """Decisions as a finite float (N, n_vars) array, or CSR with sorted, summed, nonzero entries.

    CSR rows of ones in a type of one byte stay that small, as int8, and share the caller's memory: a million trips
    need 5 bytes a step. Arithmetic among them alone could overflow; `dense`, and products with floats, give floats.
    """
    if decisions is None:
        raise invalid(argument, where, "must be given", None, remedy="Pass the observed decisions, one row per context")
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
        got = first_cell(values, values < 0)
        raise invalid(argument, where, "must be >= 0 (domain nonnegative)", got, row=row, remedy=remedy)
    return values


def as_scalar(
    value: Any,
    argument: str,
    where: str,
    low: float = -np.inf,
    high: float = np.inf,
    open_low: bool = False,
    open_high: bool = False,
    remedy: str = "",
) -> float:
    """A finite real number in [low, high], without `low` when `open_low` and without `high` when `open_high`."""
    rule = f"must be a number in {'(' if open_low else '['}{low}, {high}{')' if open_high else ']'}"
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise invalid(argument, where, rule, repr(value), remedy=remedy)
    number = float(value)
    outside = number <= low if open_low else number < low
    outside |= number >= high if open_high else number > high
    if outside or not np.isfinite(number):
        raise invalid(argument, where, rule, repr(value), remedy=remedy)
    return number


def described(value: Any) -> str:
    """What a wrong object is, for messages: its class, or the class that was given itself."""
    return f"the class {value.__name__}, not an instance" if isinstance(value, type) else type(value).__name__


def column_names(contexts: Any) -> Names | None:
    """Names of the columns of a data frame; None for anything whose columns have no names of text."""
    if not hasattr(contexts, "shape") or not hasattr(contexts, "columns"):
        return None
    names = list(contexts.columns)
    return np.array(names) if names and all(isinstance(name, str) for name in names) else None


def same_names(names: Names | None, known: Names | None, where: str) -> Names | None:
    """The known names of columns, or new ones where none are known; refuses others, and another order."""
    if names is None or known is None or np.array_equal(names, known):
        return names if known is None else known
    wanted, got = known.tolist(), names.tolist()
    remedy = f"Write contexts[{wanted}]" if set(wanted) <= set(got) else "Name them alike"
    raise invalid("contexts", where, f"must have the columns of the fitted data, {wanted}", got, remedy=remedy)


def missing_column(argument: str, name: str, columns: Sequence[str], where: str, remedy: str = "") -> InvalidInputError:
    """The error for a column that a table does not have, with the likeliest reason; `remedy` where none is seen."""
    shown = list(columns) if len(columns) <= _COLUMNS_SHOWN else [*columns[:_COLUMNS_SHOWN], "..."]
    remedy = separator_hint(columns) or _hint(name, columns) or remedy
    return invalid(argument, where, f"must be one of the columns {shown}", repr(name), remedy=remedy)


def _hint(column: str, columns: Sequence[str]) -> str:
    alike = {name.strip().lower(): name for name in columns}
    if near := get_close_matches(str(column).strip().lower(), alike, n=1):
        return f"Did you mean {alike[near[0]]!r}?"
    if columns and all(any(letter.isdigit() for letter in name) for name in columns):
        return "The table seems to have no header: write the names of its columns in the first line"
    return ""


def separator_hint(columns: Sequence[str]) -> str:
    """What to do where the names of all columns stand in one cell; empty where they do not."""
    separators = {";": "semicolons", "\t": "tabs", "|": "bars"}
    found = [name for mark, name in separators.items() if len(columns) == 1 and mark in columns[0]]
    return f"The cells seem to be separated by {found[0]}: separate them by commas" if found else ""


def as_angle(value: Any, argument: str, where: str) -> float:
    """Radians in [0, pi]."""
    large = isinstance(value, (int, float)) and value > np.pi
    remedy = f"Angles are radians: write numpy.radians({value:g}) for {value:g} degrees" if large else ""
    return as_scalar(value, argument, where, 0.0, np.pi, remedy=remedy)


def as_angles(angles: ArrayLike, argument: str, where: str) -> FloatArray:
    """A nonempty vector of radians in [0, pi]."""
    values = as_vector(angles, argument, where)
    if not len(values):
        raise invalid(argument, where, "must hold at least one angle", "none", remedy="Give those of some decisions")
    wrong = (values < 0.0) | (values > np.pi)
    if wrong.any():
        row, remedy = first_row(wrong), "numpy.radians turns degrees into radians"
        raise invalid(argument, where, "must be radians in [0, pi]", values[row], row=row, remedy=remedy)
    return values


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
        word = value.lower() if isinstance(value, str) and value else " "
        near = [choice for choice in choices if word.startswith(choice) or choice.startswith(word)]
        remedy = f"Write {near[0]!r}" if near else ""
        raise invalid(argument, where, f"must be one of {allowed}", repr(value), remedy=remedy)


def check_same_rows(n_rows: int, n_expected: int, argument: str, where: str) -> None:
    """Refuse arrays whose numbers of rows differ."""
    if n_rows != n_expected:
        raise invalid(argument, where, f"must have {n_expected} rows, one per context", f"{n_rows} rows")


def check_some_rows(contexts: FloatArray, where: str, remedy: str = "") -> None:
    """Refuse checked contexts without a row."""
    if not len(contexts):
        raise invalid("contexts", where, "must have at least one row", "none", remedy=remedy)
