"""The table that belongs to a problem, as a model file describes it or in its plainest form."""

from __future__ import annotations

from typing import Any

from conformio.errors import ModelFileError
from conformio.observations.basket_table import BasketTable
from conformio.observations.plan_table import PlanTable
from conformio.observations.table import ObservationTable
from conformio.observations.trip_table import TripTable
from conformio.problems import Knapsack, Problem, ShortestPath

__all__ = ["table_for"]

_KINDS: dict[str, type[ObservationTable]] = {table.kind: table for table in (TripTable, BasketTable, PlanTable)}


def table_for(problem: Problem, state: dict[str, Any] | None = None) -> ObservationTable:
    """How tables of a problem's decisions are read and written.

    Parameters
    ----------
    problem : Problem
    state : dict, optional
        What `ObservationTable.to_state` gave, e.g. `model.table_` of a model that `conformio fit` made. Without
        it columns have their default names; variables are called x0, x1, ... and contexts u0, u1, ...

    Raises
    ------
    ModelFileError
        If `state` does not describe a table of this problem.
    """
    if state is not None:
        try:
            parts = dict(state)
            return _KINDS[parts.pop("kind")].of_problem(problem, parts)
        except (KeyError, TypeError, ValueError, AttributeError, AssertionError) as error:
            reason = f"its description of tables does not fit its problem ({error})"
            raise ModelFileError(f"the model's file was altered: {reason}. Fit and save the model again") from error
    if isinstance(problem, ShortestPath):
        return TripTable(problem.network)
    if isinstance(problem, Knapsack):
        return BasketTable(problem)
    variables = [f"x{k}" for k in range(problem.n_vars)]
    return PlanTable(problem, variables, [f"u{k}" for k in range(problem.context_width)])
