"""The sensitivity study: the comparison of `robustness` under every choice that the paper leaves open (E7, E11).

Outside the base law there are fewer seeds and only the paper's rule for ties; shortest paths with free signs, which
are flow programs and by far the slowest, are scanned under three laws.
"""

from __future__ import annotations

from itertools import product

from conformio.studies.conditions import BASE_LAW, BUDGETS, ESTIMATORS, LAWS, Condition
from conformio.studies.engine import Cell
from conformio.studies.robustness import cells_of

__all__ = ["FLOW_LAWS", "all_conditions", "cells"]

FLOW_LAWS = (BASE_LAW, "uniform [0, 1]", "log-normal")


def cells(
    n_seeds: int, n_people: int = 1000, laws: tuple[str, ...] = tuple(LAWS), flow_laws: tuple[str, ...] = FLOW_LAWS
) -> list[Cell]:
    """One cell for each condition and seed; those of `robustness` are among them and are computed once.

    `flow_laws` are the laws for shortest paths with free signs. Laws but the base one get four seeds of ten.
    """
    scanned = [c for c in all_conditions(laws) if not _is_flow(c) or c.law in flow_laws]
    base = [condition for condition in scanned if condition.law == BASE_LAW]
    other = [condition for condition in scanned if condition.law != BASE_LAW]
    few = min(n_seeds, max(2, 2 * n_seeds // 5))
    return cells_of(base, n_seeds, n_people) + cells_of(other, few, n_people, ties=("uniform",))


def _is_flow(condition: Condition) -> bool:
    return (condition.problem, condition.domain) == ("shortest path", "free")


def all_conditions(laws: tuple[str, ...] = tuple(LAWS)) -> list[Condition]:
    """Every combination of law, sign domain, estimator and (for knapsacks) budgets."""
    found = []
    for law, domain, estimator in product(laws, ("nonnegative", "free"), ESTIMATORS):
        found.append(Condition("shortest path", estimator, domain, law))  # type: ignore[arg-type]
        found += [Condition("knapsack", estimator, domain, law, budgets) for budgets in BUDGETS]  # type: ignore[arg-type]
    return found
