"""A network at a glance: its size, and what is known of its nodes and edges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformio.cards import Facts, card, shortened

__all__ = ["network_card"]

_SHOWN = 8


def network_card(network: Any) -> str:
    """The card of a `Network` as HTML."""
    names = "numbers" if network.node_ids is None else f"{_some(network.node_ids.tolist()[: _SHOWN + 1])}"
    facts: Facts = [
        ("nodes", f"{network.n_nodes}, called {names}"),
        ("edges", f"{network.n_edges}, {'numbered' if network.edge_ids is None else 'with names'}"),
        ("edge attributes", _some(network.attributes) or "none"),
        ("coordinates", "none" if network.coordinates is None else "for every node"),
    ]
    if network.zones.any():
        facts.append(("zones", f"{int(network.zones.sum())} nodes that no trip crosses"))
    return card("Network", facts)


def _some(names: Iterable[Any]) -> str:
    """The first few names, quoted where they are text."""
    found = list(names)
    return ", ".join([shortened(name) for name in found[:_SHOWN]] + (["..."] if len(found) > _SHOWN else []))
