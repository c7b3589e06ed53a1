"""The sensitivity study: the comparison of `robustness` under every choice that the paper leaves open (E7, E11)."""

from __future__ import annotations

from itertools import product

from conformio.studies.conditions import BUDGETS, ESTIMATORS, LAWS, Condition
from conformio.studies.engine import Cell
from conformio.studies.robustness import cells_of

__all__ = ["all_conditions", "cells"]


def cells(
    n_seeds: int, n_people: int = 1000, laws: tuple[str, ...] = tuple(LAWS), flow_laws: tuple[str, ...] = tuple(LAWS)
) -> list[Cell]:
    """One cell for each condition and seed; those of `robustness` are among them and are computed once.

    `flow_laws` are the laws for shortest paths with free signs, which are flow programs and by far the slowest.
    """
    scanned = [c for c in all_conditions(laws) if not _is_flow(c) or c.law in flow_laws]
    return cells_of(scanned, n_seeds, n_people)


def _is_flow(condition: Condition) -> bool:
    return (condition.problem, condition.domain) == ("shortest path", "free")


def all_conditions(laws: tuple[str, ...] = tuple(LAWS)) -> list[Condition]:
    """Every combination of law, sign domain, estimator and (for knapsacks) budgets."""
    found = []
    for law, domain, estimator in product(laws, ("nonnegative", "free"), ESTIMATORS):
        found.append(Condition("shortest path", estimator, domain, law))  # type: ignore[arg-type]
        found += [Condition("knapsack", estimator, domain, law, budgets) for budgets in BUDGETS]  # type: ignore[arg-type]
    return found
