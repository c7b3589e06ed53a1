"""The sensitivity study: the comparison of `robustness` under every choice that the paper leaves open (E7, E11).

Shortest paths with free signs are flow programs and by far the slowest: outside the base law they get half the seeds.
"""

from __future__ import annotations

from itertools import product

from conformio.studies.conditions import BASE_LAW, BUDGETS, ESTIMATORS, LAWS, Condition
from conformio.studies.engine import Cell
from conformio.studies.robustness import cells_of

__all__ = ["all_conditions", "cells"]


def cells(
    n_seeds: int, n_people: int = 1000, laws: tuple[str, ...] = tuple(LAWS), flow_laws: tuple[str, ...] = tuple(LAWS)
) -> list[Cell]:
    """One cell for each condition and seed; those of `robustness` are among them and are computed once.

    `flow_laws` are the laws for shortest paths with free signs.
    """
    conditions = all_conditions(laws)
    flows = [c for c in conditions if _is_flow(c) and c.law in flow_laws]
    slow = [condition for condition in flows if condition.law != BASE_LAW]
    other = [c for c in conditions if not _is_flow(c) or (c in flows and c not in slow)]
    return cells_of(other, n_seeds, n_people) + cells_of(slow, (n_seeds + 1) // 2, n_people)


def _is_flow(condition: Condition) -> bool:
    return (condition.problem, condition.domain) == ("shortest path", "free")


def all_conditions(laws: tuple[str, ...] = tuple(LAWS)) -> list[Condition]:
    """Every combination of law, sign domain, estimator and (for knapsacks) budgets."""
    found = []
    for law, domain, estimator in product(laws, ("nonnegative", "free"), ESTIMATORS):
        found.append(Condition("shortest path", estimator, domain, law))  # type: ignore[arg-type]
        found += [Condition("knapsack", estimator, domain, law, budgets) for budgets in BUDGETS]  # type: ignore[arg-type]
    return found
