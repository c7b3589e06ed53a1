"""A tree of Python values as JSON plus arrays: what JSON cannot say becomes an object with one `$` key.

    ndarray          {"$array": "arrays/0003.npy"}     kept outside the JSON, under that name
    CSR array        {"$csr": {"data": ..., "indices": ..., "indptr": ..., "shape": [m, n]}}
    tuple            {"$tuple": [...]}
    nan, inf, -inf   {"$number": "nan"}
    float32          {"$float32": "0.8"}               its own shortest decimal; as a float64 it would be another number
    Decimal          {"$decimal": "0.9"}
    Fraction         {"$fraction": "9/10"}
    numpy Generator  {"$generator": {"kind": "PCG64", "state": ...}}

`pack` refuses everything else by the path of the value; `unpack` refuses whatever `pack` does not write.
"""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from conformio.errors import InvalidInputError

__all__ = ["Arrays", "pack", "unpack"]

Arrays = dict[str, NDArray[Any]]

_EXACT = {"$float32": np.float32, "$decimal": Decimal, "$fraction": Fraction}
_BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


def pack(value: Any, place: str, arrays: Arrays) -> Any:
    """The JSON form of a value; arrays met on the way are added to `arrays`.

    Parameters
    ----------
    value : None, bool, int, float, Decimal, Fraction, str, tuple, list, dict with str keys, ndarray, CSR or Generator
    place : str
        Names the value in errors, e.g. ``"estimator.params.initial"``.
    arrays : dict
        Filled with member name -> array.
    """
    for kind, exact in _EXACT.items():
        if type(value) is exact:
            return {kind: str(value)}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$number": str(value)}
    if isinstance(value, tuple):
        return {"$tuple": [pack(item, f"{place}[{k}]", arrays) for k, item in enumerate(value)]}
    if isinstance(value, list):
        return [pack(item, f"{place}[{k}]", arrays) for k, item in enumerate(value)]
    if isinstance(value, dict):
        return {_key(key, place): pack(item, f"{place}.{key}", arrays) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return {"$array": _keep(value, place, arrays)}
    if sparse.issparse(value):
        return {"$csr": _csr_parts(sparse.csr_array(value), place, arrays)}
    if isinstance(value, np.random.Generator):
        return {"$generator": _generator_parts(value, place, arrays)}
    raise _unstorable(place, type(value).__name__)


def unpack(value: Any, arrays: Arrays) -> Any:
    """The value that `pack` was given; raises `ValueError` for anything it does not write."""
    if isinstance(value, list):
        return [unpack(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if not any(key.startswith("$") for key in value):
        return {key: unpack(item, arrays) for key, item in value.items()}
    if len(value) != 1:
        raise ValueError(f"an object with the keys {sorted(value)}")
    ((kind, inner),) = value.items()
    readers = {"$array": _array, "$csr": _csr, "$tuple": _tuple, "$number": _number, "$generator": _generator}
    if kind in _EXACT:
        return _exact(kind, inner)
    if kind not in readers:
        raise ValueError(f"a value of the unknown kind {kind!r}")
    return readers[kind](inner, arrays)


def _unstorable(place: str, got: str) -> InvalidInputError:
    rule = "must be made of numbers, strings, lists, dictionaries and arrays to be stored without pickles"
    return InvalidInputError(f"`{place}` of save: {rule}; got {got}")


def _key(key: Any, place: str) -> str:
    if not isinstance(key, str) or key.startswith("$"):
        raise _unstorable(place, f"the key {key!r}")
    return key


def _keep(array: NDArray[Any], place: str, arrays: Arrays) -> str:
    if array.dtype.hasobject:
        raise _unstorable(place, f"an array of dtype {array.dtype}")
    name = f"arrays/{len(arrays):04d}.npy"
    arrays[name] = array
    return name


def _csr_parts(matrix: Any, place: str, arrays: Arrays) -> dict[str, Any]:
    parts = {name: {"$array": _keep(getattr(matrix, name), place, arrays)} for name in ("data", "indices", "indptr")}
    return {**parts, "shape": list(matrix.shape)}


def _generator_parts(generator: np.random.Generator, place: str, arrays: Arrays) -> dict[str, Any]:
    kind = type(generator.bit_generator).__name__
    if kind not in _BIT_GENERATORS:
        raise _unstorable(place, f"a generator of kind {kind}")
    return {"kind": kind, "state": pack(generator.bit_generator.state, place, arrays)}


def _array(inner: Any, arrays: Arrays) -> NDArray[Any]:
    if not isinstance(inner, str) or inner not in arrays:
        raise ValueError(f"a reference to the missing array {inner!r}")
    return arrays[inner]


def _csr(inner: Any, arrays: Arrays) -> Any:
    try:
        data, indices, indptr = (unpack(inner[name], arrays) for name in ("data", "indices", "indptr"))
        matrix = sparse.csr_array((data, indices, indptr), shape=tuple(inner["shape"]))
        matrix.check_format(full_check=True)
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError("a sparse matrix whose parts do not fit") from error
    return matrix


def _tuple(inner: Any, arrays: Arrays) -> tuple[Any, ...]:
    if not isinstance(inner, list):
        raise ValueError("a tuple that is no list")
    return tuple(unpack(item, arrays) for item in inner)


def _number(inner: Any, arrays: Arrays) -> float:
    if inner not in ("nan", "inf", "-inf"):
        raise ValueError(f"the number {inner!r}")
    return float(inner)


def _exact(kind: str, inner: Any) -> Any:
    try:
        return _EXACT[kind](str(inner))
    except (ValueError, ZeroDivisionError, InvalidOperation) as error:
        raise ValueError(f"the number {inner!r}") from error


def _generator(inner: Any, arrays: Arrays) -> np.random.Generator:
    try:
        kind, state = inner["kind"], unpack(inner["state"], arrays)
        if kind not in _BIT_GENERATORS:
            raise ValueError(f"a generator of the unknown kind {kind!r}")
        bits = getattr(np.random, kind)()
        bits.state = state
    except (KeyError, TypeError) as error:
        raise ValueError("a generator without a usable state") from error
    return np.random.Generator(bits)
