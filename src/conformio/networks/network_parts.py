"""The arguments of a `Network`, checked one by one; what comes out is the network's own, read-only."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conformio.checks import BoolArray, FloatArray, IntArray, as_index, as_vector, first_row
from conformio.errors import InvalidInputError, invalid

__all__ = [
    "NODE_LIMIT",
    "as_attributes",
    "as_coordinates",
    "as_labels",
    "as_nodes",
    "as_zones",
    "check_grid",
    "count_nodes",
    "frozen",
    "numbers_of",
    "plain_labels",
]

NODE_LIMIT = 2**31
"""Nodes and edges are numbered below this: beyond it no machine of today holds the network."""

_WHERE = "Network"
_LIMIT = f"below 2**31 = {NODE_LIMIT}"
_Array = TypeVar("_Array", bound=NDArray[Any])


def frozen(values: _Array) -> _Array:
    """The array itself, from now on read-only."""
    values.setflags(write=False)
    return values


def as_nodes(array: ArrayLike, argument: str, size: int | None = None) -> IntArray:
    """Node numbers: whole, >= 0, below `NODE_LIMIT`."""
    numbers = as_vector(array, argument, _WHERE, size)
    remedy = "Network.from_table numbers nodes with other names"
    if np.asarray(array).dtype == np.bool_:
        raise invalid(argument, _WHERE, "must be whole numbers >= 0", "dtype bool", remedy=remedy)
    wrong = (numbers != np.round(numbers)) | (numbers < 0)
    for mask, rule in ((wrong, "must be whole numbers >= 0"), (numbers >= NODE_LIMIT, f"must be {_LIMIT}")):
        if mask.any():
            row = first_row(mask)
            raise invalid(argument, _WHERE, rule, f"{numbers[row]:.15g}", row=row, remedy=remedy)
    return numbers.astype(np.int64)


def check_grid(rows: int, cols: int, where: str) -> None:
    """Refuse grids of one node and grids with more edges than can be numbered."""
    if rows * cols < 2:
        raise invalid("cols", where, "must give at least two nodes in all", f"{rows} x {cols}")
    n_edges = 4 * rows * cols - 2 * (rows + cols)
    if n_edges >= NODE_LIMIT:
        raise invalid("cols", where, f"must give a number of edges {_LIMIT}", f"{rows} x {cols} with {n_edges} edges")


def count_nodes(n_nodes: int | None, tails: IntArray, heads: IntArray) -> int:
    """The number of nodes; refuses edges outside it and self-loops."""
    n = int(max(tails.max(), heads.max())) + 1 if n_nodes is None else as_index(n_nodes, "n_nodes", _WHERE, low=1)
    if n > NODE_LIMIT:
        raise invalid("n_nodes", _WHERE, f"must be at most 2**31 = {NODE_LIMIT}", n)
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
    """Edge attributes by name: finite numbers, one per edge."""
    if attributes is not None and not isinstance(attributes, Mapping):
        raise invalid("attributes", _WHERE, "must map names to arrays", type(attributes).__name__)
    return _Attributes({name: _as_attribute(name, values, n_edges) for name, values in (attributes or {}).items()})


class _UnknownAttributeError(InvalidInputError, KeyError):
    """A name that no attribute has; a `KeyError` too, as mappings promise."""

    __str__ = Exception.__str__


class _Attributes(dict[str, NDArray[Any]]):
    def __missing__(self, name: object) -> NDArray[Any]:
        known = ", ".join(map(repr, self)) or "none at all"
        reason = "Columns without any number, and what only some edges of a graph have, are left out on reading"
        raise _UnknownAttributeError(f"`attributes` of Network: has {known}; got {name!r}. {reason}")


def _as_attribute(name: str, values: ArrayLike, n_edges: int) -> NDArray[Any]:
    if not isinstance(name, str):
        raise invalid("attributes", _WHERE, "must have names that are strings", repr(name))
    argument = f"attributes[{name!r}]"
    array = _own_array(values, argument)
    if array.dtype.kind not in "biuf":
        raise invalid(argument, _WHERE, "must hold numbers", f"dtype {array.dtype}")
    if array.shape != (n_edges,):
        raise invalid(argument, _WHERE, f"must have shape ({n_edges},), one per edge", f"shape {array.shape}")
    if np.isnan(array).any():
        raise invalid(argument, _WHERE, "must not be missing", "nan", row=first_row(np.isnan(array)))
    if np.isinf(array).any():
        row = first_row(np.isinf(array))
        remedy = "Leave the edge out, or write a large number"
        raise invalid(argument, _WHERE, "must be finite", array[row], row=row, remedy=remedy)
    return frozen(array)


def _own_array(values: ArrayLike, argument: str) -> NDArray[Any]:
    try:
        return np.array(values)
    except (TypeError, ValueError) as error:
        raise invalid(argument, _WHERE, "must be a rectangular array", "rows of different lengths") from error


def as_zones(zones: ArrayLike | None, n_nodes: int) -> BoolArray:
    """One bool per node; None means no zones."""
    if zones is None:
        return np.zeros(n_nodes, dtype=np.bool_)
    array = _own_array(zones, "zones")
    if array.dtype != np.bool_ or array.shape != (n_nodes,):
        got = f"dtype {array.dtype}, shape {array.shape}"
        raise invalid("zones", _WHERE, f"must be one bool per node, shape ({n_nodes},)", got)
    return array


def as_labels(
    ids: Sequence[Any] | NDArray[Any] | None, size: int, argument: str = "node_ids", things: str = "node"
) -> NDArray[Any] | None:
    """Names as an integer or string array where all are of that kind, else as objects, tuples whole.

    The rows of an array of two or more columns are tuples.
    """
    if ids is None:
        return None
    if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        raise invalid(argument, _WHERE, f"must be a sequence with one name per {things}", repr(ids))
    names = np.atleast_1d(ids).tolist() if isinstance(ids, np.ndarray) else list(ids)
    if isinstance(ids, np.ndarray) and ids.ndim == 2 and ids.shape[1] > 1:
        names = [tuple(name) for name in names]
    if len(names) != size:
        raise invalid(argument, _WHERE, f"must name all {size} {things}s", f"{len(names)} names")
    seen: set[Any] = set()
    for row, name in enumerate(names):
        if not isinstance(name, Hashable):
            remedy = "Strings, whole numbers and tuples of them will do"
            raise invalid(argument, _WHERE, "must be names that never change", repr(name), row=row, remedy=remedy)
        if name in seen:
            raise invalid(argument, _WHERE, "must be unique", repr(name), row=row)
        seen.add(name)
    kinds = {type(name) for name in names}
    if kinds in ({int}, {str}):
        plain = np.array(names)
        if plain.dtype.kind in "iU":  # whole numbers beyond 64 bits would be rounded
            return frozen(plain)
    labels = np.empty(size, dtype=object)
    for row, name in enumerate(names):
        labels[row] = name
    return frozen(labels)


def numbers_of(names: Iterable[Any], known: Mapping[Any, int], argument: str, where: str) -> IntArray:
    """The numbers of nodes by their names."""
    numbers = []
    for row, name in enumerate(names):
        if not isinstance(name, Hashable) or name not in known:
            remedy = f"Its names are like {next(iter(known))!r}"
            raise invalid(argument, where, "must name nodes of the network", repr(name), row=row, remedy=remedy)
        numbers.append(known[name])
    return np.array(numbers, dtype=np.int64)


def plain_labels(labels: NDArray[Any] | None) -> NDArray[Any] | list[Any] | None:
    """Names in the smallest form that `as_labels` reads back: an array, two-dimensional for tuples, or a list."""
    if labels is None or not labels.dtype.hasobject:
        return labels
    names: list[Any] = labels.tolist()
    if {type(name) for name in names} == {tuple}:
        shapes = {(len(name), *map(type, name)) for name in names}
        if len(shapes) == 1 and set(next(iter(shapes))[1:]) == {int}:
            rows: NDArray[Any] = np.array(names)
            if rows.dtype.kind == "i":
                return rows
    return names


def as_coordinates(coordinates: ArrayLike | None, n_nodes: int) -> FloatArray | None:
    """One (x, y) per node."""
    if coordinates is None:
        return None
    array = _own_array(coordinates, "coordinates")
    if array.shape != (n_nodes, 2):
        rule = f"must have one (x, y) per node, shape ({n_nodes}, 2)"
        raise invalid("coordinates", _WHERE, rule, f"shape {array.shape}")
    x, y = (as_vector(part, "coordinates", _WHERE) for part in array.T)
    return frozen(np.column_stack([x, y]))
