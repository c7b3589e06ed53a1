"""The arguments of a `Network`, checked one by one; what comes out is the network's own, read-only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conformio.checks import BoolArray, FloatArray, IntArray, as_index, as_vector, first_row
from conformio.errors import invalid

__all__ = ["as_attributes", "as_coordinates", "as_labels", "as_nodes", "as_zones", "count_nodes", "frozen"]

_WHERE = "Network"
_Array = TypeVar("_Array", bound=NDArray[Any])


def frozen(values: _Array) -> _Array:
    """The array itself, from now on read-only."""
    values.setflags(write=False)
    return values


def as_nodes(array: ArrayLike, argument: str, size: int | None = None) -> IntArray:
    """Node numbers: whole, >= 0."""
    numbers = as_vector(array, argument, _WHERE, size)
    wrong = (numbers != np.round(numbers)) | (numbers < 0)
    if wrong.any():
        row = first_row(wrong)
        remedy = "Network.from_table numbers nodes with other names"
        raise invalid(argument, _WHERE, "must be whole numbers >= 0", numbers[row], row=row, remedy=remedy)
    return numbers.astype(np.int64)


def count_nodes(n_nodes: int | None, tails: IntArray, heads: IntArray) -> int:
    """The number of nodes; refuses edges outside it and self-loops."""
    n = int(max(tails.max(), heads.max())) + 1 if n_nodes is None else as_index(n_nodes, "n_nodes", _WHERE, low=1)
    for argument, nodes in (("tails", tails), ("heads", heads)):
        if (nodes >= n).any():
            row = first_row(nodes >= n)
            raise invalid(argument, _WHERE, f"must be in 0..{n - 1}", nodes[row], row=row)
    if (tails == heads).any():
        row = first_row(tails == heads)
        rule = "must not hold self-loops, which cancel out of every flow balance and lie on no path"
        got = f"an edge from node {tails[row]} to itself"
        raise invalid("heads", _WHERE, rule, got, row=row, remedy="Leave the edge out")
    return n


def as_attributes(attributes: Mapping[str, ArrayLike] | None, n_edges: int) -> dict[str, NDArray[Any]]:
    """Edge attributes by name: numbers, one per edge, none missing."""
    if attributes is not None and not isinstance(attributes, Mapping):
        raise invalid("attributes", _WHERE, "must map names to arrays", type(attributes).__name__)
    return {name: _as_attribute(name, values, n_edges) for name, values in (attributes or {}).items()}


def _as_attribute(name: str, values: ArrayLike, n_edges: int) -> NDArray[Any]:
    if not isinstance(name, str):
        raise invalid("attributes", _WHERE, "must have names that are strings", repr(name))
    argument = f"attributes[{name!r}]"
    array = np.array(values)
    if array.dtype.kind not in "biuf":
        raise invalid(argument, _WHERE, "must hold numbers", f"dtype {array.dtype}")
    if array.shape != (n_edges,):
        raise invalid(argument, _WHERE, f"must have shape ({n_edges},), one per edge", f"shape {array.shape}")
    if np.isnan(array).any():
        raise invalid(argument, _WHERE, "must not be missing", "nan", row=first_row(np.isnan(array)))
    return frozen(array)


def as_zones(zones: ArrayLike | None, n_nodes: int) -> BoolArray:
    """One bool per node; None means no zones."""
    if zones is None:
        return np.zeros(n_nodes, dtype=np.bool_)
    array = np.array(zones)
    if array.dtype != np.bool_ or array.shape != (n_nodes,):
        got = f"dtype {array.dtype}, shape {array.shape}"
        raise invalid("zones", _WHERE, f"must be one bool per node, shape ({n_nodes},)", got)
    return array


def as_labels(node_ids: Sequence[Any] | NDArray[Any] | None, n_nodes: int) -> NDArray[Any] | None:
    """Names as an integer or string array where all are of that kind, else as objects, tuples whole."""
    if node_ids is None:
        return None
    names = node_ids.tolist() if isinstance(node_ids, np.ndarray) else list(node_ids)
    if len(names) != n_nodes:
        raise invalid("node_ids", _WHERE, f"must name all {n_nodes} nodes", f"{len(names)} names")
    seen: set[Any] = set()
    for row, name in enumerate(names):
        if name in seen:
            raise invalid("node_ids", _WHERE, "must be unique", repr(name), row=row)
        seen.add(name)
    kinds = {type(name) for name in names}
    if kinds in ({int}, {str}):
        return frozen(np.array(names))
    labels = np.empty(n_nodes, dtype=object)
    for row, name in enumerate(names):
        labels[row] = name
    return frozen(labels)


def as_coordinates(coordinates: ArrayLike | None, n_nodes: int) -> FloatArray | None:
    """One (x, y) per node."""
    if coordinates is None:
        return None
    flat = as_vector(np.ravel(coordinates), "coordinates", _WHERE)
    if np.shape(coordinates) != (n_nodes, 2):
        rule = f"must have one (x, y) per node, shape ({n_nodes}, 2)"
        raise invalid("coordinates", _WHERE, rule, f"shape {np.shape(coordinates)}")
    return frozen(flat.reshape(n_nodes, 2).copy())
