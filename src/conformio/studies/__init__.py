"""The paper's simulated examples, and the demonstration built on them."""

from conformio.studies.paper_data import SimulatedDecisions, knapsack_example, road_grid_example

__all__ = ["SimulatedDecisions", "knapsack_example", "road_grid_example"]
