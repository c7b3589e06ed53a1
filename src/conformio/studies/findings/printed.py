"""The numbers that the paper prints."""

from __future__ import annotations

__all__ = ["GAINS", "SECONDS", "TABLE_1", "ratio_printed"]

TABLE_1 = {
    ("classic", "aog"): ("0.35", "3.18", "17.32", "35"),
    ("classic", "pog"): ("0.74", "4.55", "24.51", "49.50"),
    ("conformal", "aog"): ("0.00", "0.00", "0.00", "0.00"),
    ("conformal", "pog"): ("0.70", "0.16", "0.03", "0.02"),
    ("bound", "aog"): ("0.70", "0.05", "0.002", "0.001"),
    ("bound", "pog"): ("1.58", "0.67", "0.15", "0.08"),
}
"""Table 1 by row and gap, for u = 2, 10, 50, 100."""

GAINS = {
    ("shortest path", "aog"): (0.201, 0.304),
    ("shortest path", "pog"): (0.150, 0.232),
    ("knapsack", "aog"): (0.403, 0.570),
    ("knapsack", "pog"): (0.135, 0.201),
}
"""By how much conformal decisions are better than classic ones when the level varies."""

SECONDS = {
    "shortest path": {"train_classic": 0.18, "train_conformal": 0.27, "nominal": 0.01, "robust": 0.63},
    "knapsack": {"train_classic": 2.47, "train_conformal": 1.95, "nominal": 0.01, "robust": 0.44},
}
"""Table of computation times, on the paper's machine."""


def ratio_printed(problem: str, over: str, under: str) -> float:
    """Quotient of two of the paper's times."""
    return SECONDS[problem][over] / SECONDS[problem][under]
