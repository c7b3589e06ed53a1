"""Directed networks, and the shortest paths and flows on them."""

from conformio.networks.network import Network

__all__ = ["Network"]
