"""The enumeration route: robust knapsacks of few items, by the worst case of every subset.

The loss of a subset does not depend on the budget. One pass over the subsets by rising weight therefore finds the
best of all that weigh at most as much, and each budget is a binary search in it. The route needs no property of the
cap: it is exact where the nonnegative domain clips worst cases as well.
"""

from __future__ import annotations

import numpy as np

from conformio.checks import BoolArray, FloatArray, IntArray
from conformio.errors import told_of
from conformio.prescription.solution import Answers
from conformio.prescription.task import TIE_ANGLE, RobustTask
from conformio.problems import Knapsack

__all__ = ["can_enumerate", "pays_to_enumerate", "solve_by_enumeration"]

_SUBSETS_PER_ROW = 500
_SAME = 1e-13


def can_enumerate(task: RobustTask) -> bool:
    """Whether the route applies: few items, one centre, an angle at which worst cases decide."""
    small = isinstance(task.problem, Knapsack) and task.problem.few_items and not task.relaxed
    return small and task.shared_center and task.cap.angle > TIE_ANGLE


def pays_to_enumerate(task: RobustTask) -> bool:
    """Whether it is also the quickest: as many rows as make up for the list of subsets.

    Where worst cases are clipped, the other route is one integer program after another for each row.
    """
    return can_enumerate(task) and (task.orthant_matters or 2**task.problem.n_vars <= _SUBSETS_PER_ROW * len(task))


def solve_by_enumeration(task: RobustTask) -> Answers:
    """The best subset within each budget; of equally good ones the fewest items, then the first in the list."""
    problem = task.problem
    assert isinstance(problem, Knapsack), "can_enumerate has been asked"
    subsets = problem.subsets()
    points = ((subsets.masks[:, None] >> np.arange(problem.n_vars)) & 1).astype(np.float64)
    losses = task.cap.support(task.signed_basis(points))
    least = np.minimum.accumulate(losses)
    chosen = _first_of_the_best(losses, least, subsets.preference[subsets.masks])
    with told_of(task.where, task.numbers):
        problem.check_budgets(task.contexts)
    last = np.searchsorted(subsets.loads, problem.capacities(task.contexts), side="right") - 1
    calls = np.ones(len(task), dtype=np.int64)
    found = chosen[last]
    return Answers(points[found], least[last], calls, np.full(len(task), "enumeration"), losses[found])


def _first_of_the_best(losses: FloatArray, least: FloatArray, preference: IntArray) -> IntArray:
    """For every prefix of the list the place of its best subset; ties by `preference`."""
    room = _SAME * np.maximum(1.0, np.abs(least))
    contenders: BoolArray = losses <= least + room
    chosen = np.zeros(len(losses), dtype=np.int64)
    best = 0
    for place in range(len(losses)):
        if contenders[place]:
            beaten = losses[best] > least[place] + room[place]
            if beaten or preference[place] < preference[best]:
                best = place
        chosen[place] = best
    return chosen
