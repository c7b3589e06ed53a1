"""A network as a map: values of edges as colours, routes on top, and where routes part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conformio.checks import BoolArray, FloatArray, IntArray, as_decisions, as_flag, as_vector, described
from conformio.errors import invalid
from conformio.networks import Network
from conformio.plots.canvas import GREY, LINES, as_axes, check_axes
from conformio.plots.layout import places_of

__all__ = ["network", "partings"]

_MANY_EDGES = 2_000
_NESTED_WIDTHS = (9.0, 5.5, 2.0)
_SHIFT = 0.06


def network(
    network: Any,
    values: ArrayLike | None = None,
    routes: Mapping[str, Any] | None = None,
    ax: Any = None,
    label: str = "value",
    zoom: bool = False,
) -> Any:
    """Draw a network, with a value of each edge as its colour and with routes.

    Nodes lie at the network's coordinates. Without these they are placed so that distances follow the numbers of
    edges between them, which the axes then say. Routes that share a street are drawn inside one another. Circles
    mark the nodes where routes part, squares those where they meet again.

    Parameters
    ----------
    network : Network
    values : array-like, shape (n_edges,), optional
        For instance ``model.theta_`` or an attribute. The two directions of a street lie side by side, each on
        the right of its own.
    routes : mapping of str to decision, optional
        Names of routes, each with one 0/1 row of edges, (n_edges,) or (1, n_edges), dense or sparse: a row of
        what `predict` and `decisions_from_paths` return. At most six; the first is drawn widest.
    ax : matplotlib axes, optional
        None: those of a new figure.
    label : str
        What the values are, for the colour bar.
    zoom : bool
        Show the surroundings of the routes only.

    Returns
    -------
    ax : matplotlib axes

    Raises
    ------
    InvalidInputError
        For wrong arguments, and where matplotlib is missing.

    Examples
    --------
    >>> import conformio as cio
    >>> grid = cio.Network.grid(2, 2)
    >>> route = grid.decisions_from_paths([[0, 1, 3]], kind="nodes")
    >>> cio.plots.network(grid, routes={"observed": route}).get_legend_handles_labels()[1]
    ['observed', 'origin', 'destination']
    """
    where = "plots.network"
    check_axes(ax, where)
    if not isinstance(network, Network):
        remedy = "Write problem.network" if hasattr(network, "network") else ""
        raise invalid("network", where, "must be a Network", described(network), remedy=remedy)
    shades = None if values is None else as_vector(values, "values", where, network.n_edges)
    walks = _walks(network, routes, where)
    if as_flag(zoom, "zoom", where) and not walks:
        raise invalid("zoom", where, "must be False without routes", zoom)
    ax, places = as_axes(ax), places_of(network)
    shown = _near(network, places, walks) if zoom else np.ones(network.n_edges, dtype=np.bool_)
    _draw_streets(ax, network, places, shades, shown, label)
    _draw_routes(ax, network, places, walks)
    _dress(ax, network)
    return ax


def _walks(network: Network, routes: Any, where: str) -> dict[str, IntArray]:
    """Edges of each route in walking order."""
    if routes is None:
        return {}
    if not isinstance(routes, Mapping):
        remedy = 'Write for instance {"observed": decisions[[0]], "robust": advice[[0]]}'
        raise invalid("routes", where, "must be a mapping of names to decisions", described(routes), remedy=remedy)
    if len(routes) > len(LINES):
        raise invalid("routes", where, f"must hold at most {len(LINES)} routes", f"{len(routes)}")
    return {str(name): _walk(network, str(name), route, where) for name, route in routes.items()}


def _walk(network: Network, name: str, route: Any, where: str) -> IntArray:
    row = route if np.ndim(route) != 1 else np.asarray(route)[None]
    row = as_decisions(row, network.n_edges, where, f"routes[{name!r}]")
    if row.shape[0] != 1:
        raise invalid(f"routes[{name!r}]", where, "must be one decision", f"{row.shape[0]} rows")
    (walk,) = network.paths_from_decisions(row)
    return walk


def _draw_streets(
    ax: Any, network: Network, places: FloatArray, shades: FloatArray | None, shown: BoolArray, label: str
) -> None:
    from matplotlib.collections import LineCollection

    segments: Any = _segments(network, places, apart=shades is not None)[shown]
    width = 2.2 if network.n_edges <= _MANY_EDGES else 0.7
    many = network.n_edges > _MANY_EDGES  # as a picture inside vector files: thousands of lines are slow to show
    if shades is None:
        lines = LineCollection(segments, colors=GREY, linewidths=width / 2, alpha=0.6, rasterized=many, zorder=1)
        ax.add_collection(lines)
        return
    lines = LineCollection(segments, cmap="cividis", linewidths=width, rasterized=many, zorder=1)
    lines.set_array(shades[shown])
    lines.set_clim(shades.min(), shades.max())
    ax.add_collection(lines)
    ax.figure.colorbar(lines, ax=ax, label=label, shrink=0.8)


def _segments(network: Network, places: FloatArray, apart: bool) -> FloatArray:
    """Both ends of every edge, (n_edges, 2, 2); `apart` puts edges between the same nodes side by side."""
    ends = np.stack([places[network.tails], places[network.heads]], axis=1)
    if not apart:
        return ends
    along = ends[:, 1] - ends[:, 0]
    length = np.linalg.norm(along, axis=1)
    right = np.column_stack([along[:, 1], -along[:, 0]]) / np.where(length > 0, length, 1.0)[:, None]
    typical = float(np.median(length[length > 0])) if (length > 0).any() else 1.0
    return np.asarray(ends + (_SHIFT * typical * _lane(network))[:, None, None] * right[:, None, :])


def _lane(network: Network) -> FloatArray:
    """Places beside the straight line: 0 for an edge alone, else 1/2, 3/2, ... on the right of its direction."""
    n = network.n_nodes
    code, back = network.tails * n + network.heads, network.heads * n + network.tails
    order = np.argsort(code, kind="stable")
    first = np.concatenate([[True], np.diff(code[order]) != 0])
    starts = np.flatnonzero(first)
    rank = np.empty(len(code))
    rank[order] = np.arange(len(code)) - starts[np.cumsum(first) - 1]
    return np.asarray(np.where(np.isin(code, back), rank + 0.5, rank))


def _draw_routes(ax: Any, network: Network, places: FloatArray, walks: dict[str, IntArray]) -> None:
    for k, (name, walk) in enumerate(walks.items()):
        color, style = LINES[k]
        width = _NESTED_WIDTHS[min(k, len(_NESTED_WIDTHS) - 1)] if len(walks) > 1 else 4.0
        way = places[_nodes(network, walk)]
        ax.plot(*way.T, color=color, linestyle=style, linewidth=width, label=name, zorder=2 + k,
                solid_capstyle="round", solid_joinstyle="round")  # fmt: skip
    ends = {(_nodes(network, walk)[0], _nodes(network, walk)[-1]) for walk in walks.values() if len(walk)}
    for label, marker, k in (("origin", "o", 0), ("destination", "*", 1)):
        nodes = sorted({pair[k] for pair in ends})
        if nodes:
            ax.scatter(*places[nodes].T, s=60 + 60 * k, marker=marker, color="black", edgecolors="white",
                       linewidths=1.0, zorder=12, label=label)  # fmt: skip
    for label, marker, nodes in zip(("routes part", "routes meet"), "os", partings(network, walks), strict=True):
        if len(nodes):
            ax.scatter(*places[nodes].T, s=90, marker=marker, facecolors="white", edgecolors="black", linewidths=1.5,
                       zorder=11, label=label)  # fmt: skip


def partings(network: Network, walks: Mapping[str, IntArray]) -> tuple[list[int], list[int]]:
    """Nodes where routes that come through go on differently, and where they come from different edges."""
    onward: dict[int, set[int]] = {}
    inward: dict[int, set[int]] = {}
    for walk in walks.values():
        edges = walk.tolist()
        if not edges:
            continue
        for node, before, after in zip(_nodes(network, walk).tolist(), [-1, *edges], [*edges, -1], strict=True):
            inward.setdefault(node, set()).add(before)
            onward.setdefault(node, set()).add(after)
    return sorted(v for v in onward if len(onward[v]) > 1), sorted(v for v in inward if len(inward[v]) > 1)


def _nodes(network: Network, walk: IntArray) -> IntArray:
    return np.concatenate([network.tails[walk[:1]], network.heads[walk]])


def _near(network: Network, places: FloatArray, walks: dict[str, IntArray]) -> BoolArray:
    """Edges with an end in the box around all routes, half as large again on every side."""
    passed = places[np.concatenate([_nodes(network, walk) for walk in walks.values()])]
    if not len(passed):
        return np.ones(network.n_edges, dtype=np.bool_)
    low, high = passed.min(axis=0), passed.max(axis=0)
    margin = 0.5 * (high - low).max()
    inside = ((places >= low - margin) & (places <= high + margin)).all(axis=1)
    return np.asarray(inside[network.tails] | inside[network.heads])


def _dress(ax: Any, network: Network) -> None:
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(xticks=[], yticks=[])
    ax.margins(0.05)
    ax.autoscale_view()
    for side in ax.spines.values():
        side.set_visible(False)
    if network.coordinates is None:
        ax.set_xlabel("no coordinates: placed by the number of edges between nodes", fontsize="small")
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=3, frameon=False)
