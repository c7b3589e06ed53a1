"""Purchases within a budget: a table of items with weights, a table of baskets with a budget and a list of items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from conformio.checks import BoolArray, Decisions, Domain, FloatArray, IntArray
from conformio.errors import invalid
from conformio.observations._arrow import arrow
from conformio.observations.cells import NUMBER_KINDS, infeasible_rows, number_table
from conformio.observations.faults import BatchFaults, FaultLog, Kinds
from conformio.observations.growing import GrowingArray, RowsOfOnes, rows_of_ones
from conformio.observations.identities import IDENTITY_KINDS, RowIds, column_of
from conformio.observations.names import MISSING, UNKNOWN, Names
from conformio.observations.observed import Observations, read_rows
from conformio.observations.sources import batches
from conformio.observations.steps import ListColumn, free_separator
from conformio.observations.table import ObservationTable
from conformio.problems import Knapsack, Problem

__all__ = ["BasketTable"]

_BASKET_KINDS: Kinds = {
    **NUMBER_KINDS,
    "negative budget": ("budgets must be >= 0", "Correct it"),
    "missing list": ("every basket must have its list of items", "Write [] where nothing was chosen"),
    "missing item": ("a list must have no gaps", "Fill in the item"),
    "unknown item": ("every item must be in the table of items", ""),
    "repeated item": ("an item is taken once or not at all", "Name it once"),
    "over budget": (
        "the items of a basket must fit its budget",
        'Correct either, or keep such baskets as unexplained (infeasible="unexplained", --infeasible unexplained)',
    ),
}


@dataclass(frozen=True)
class BasketTable(ObservationTable):
    """How a table of baskets is read.

    Parameters
    ----------
    problem : Knapsack
    item_names : sequence, length n_items, optional
        None: items are called by number.
    budget, chosen : str
        Columns of budgets, and of lists of items (or text in which one separator parts them).
    separator : str, optional
        None: found out from the first rows.
    row_id : str, optional
        The column that names the baskets; None: they are called by row number.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from conformio.observations import BasketTable
    >>> items = pa.table({"item": ["tent", "stove", "map"], "weight": [4.0, 3.0, 1.0]})
    >>> table = BasketTable.from_items(items)
    >>> baskets = table.read(pa.table({"budget": [5, 4], "items": ["tent;map", "stove"]}))
    >>> baskets.decisions.toarray()
    array([[1, 0, 1],
           [0, 1, 0]], dtype=int8)
    """

    problem: Knapsack
    item_names: Sequence[Any] | None = None
    budget: str = "budget"
    chosen: str = "items"
    separator: str | None = None
    row_id: str | None = None

    kind = "baskets"
    _columns = ("item_names", "budget", "chosen", "separator")

    def __post_init__(self) -> None:
        if not isinstance(self.problem, Knapsack):
            raise invalid("problem", "BasketTable", "must be a Knapsack", type(self.problem).__name__)
        if self.item_names is not None and len(self.item_names) != self.problem.n_vars:
            rule = f"must name all {self.problem.n_vars} items"
            raise invalid("item_names", "BasketTable", rule, f"{len(self.item_names)} names")

    @classmethod
    def from_items(
        cls, source: Any, *, item: str = "item", weight: str = "weight", domain: Domain = "free", **columns: Any
    ) -> Self:
        """Make the problem from a table of items.

        Parameters
        ----------
        source : path of a .csv or .parquet file, or a pandas, polars or pyarrow table
        item, weight : str
            Columns of names, which are unique, and of weights (or prices).
        domain : {"free", "nonnegative"}
            Where the items' values live.
        **columns
            The other parameters of this class.
        """
        where = "BasketTable.from_items"
        ids, weights = RowIds(item, where, "item"), GrowingArray("float64")
        kinds = {**IDENTITY_KINDS, **NUMBER_KINDS, "negative weight": ("weights must be >= 0", "")}
        with FaultLog(kinds, "stop", None, where) as log:
            for batch in batches(source, where):
                faults = log.open(batch)
                names = ids.look(faults)
                values = number_table([weight], faults, where, "weight")[:, 0]
                negative = np.flatnonzero(values < 0)
                faults.note("negative weight", negative, lambda k, v=values, r=negative: f"{v[r[k]]:g}")  # type: ignore[misc]
                good = log.close(faults)
                ids.keep(names, good)
                weights.extend(values[good])
        log.report()
        return cls(Knapsack(weights.finish(), domain), ids.result().to_pylist(), **columns)

    @classmethod
    def of_problem(cls, problem: Problem, state: dict[str, Any]) -> Self:
        """The table of a knapsack problem's baskets."""
        assert isinstance(problem, Knapsack)
        return cls(problem, **state)

    def read(
        self, source: Any, *, on_bad: str = "stop", skipped: str | Path | None = None, keep_infeasible: bool = False
    ) -> Observations:
        """Budgets and 0/1 rows of items; see `ObservationTable.read`. Infeasible are baskets over their budget."""
        where = "BasketTable.read"
        reader = _BasketReader(self, True, keep_infeasible, where)
        return read_rows(source, reader, self.row_id, on_bad, skipped, where)

    def read_contexts(self, source: Any, *, on_bad: str = "stop", skipped: str | Path | None = None) -> Observations:
        """Budgets alone."""
        where = "BasketTable.read_contexts"
        reader = _BasketReader(self, False, True, where)
        return read_rows(source, reader, self.row_id, on_bad, skipped, where)

    def context_columns(self, contexts: FloatArray) -> dict[str, Any]:
        """The budgets."""
        return {self.budget: arrow("BasketTable").array(contexts[:, 0])}

    def decision_columns(self, decisions: Decisions, prefix: str = "") -> dict[str, Any]:
        """Lists of items by name."""
        pa = arrow("BasketTable")
        rows = sparse.csr_array(decisions)
        rows.eliminate_zeros()
        rows.sort_indices()
        names = self.names.column.take(pa.array(rows.indices.astype(np.int64)))
        return {f"{prefix}{self.chosen}": pa.LargeListArray.from_arrays(pa.array(rows.indptr.astype(np.int64)), names)}

    def list_separator(self) -> str:
        """What can part names of items in text."""
        return free_separator(self.names)

    def _problem(self) -> Problem:
        return self.problem

    @cached_property
    def names(self) -> Names:
        """Names of the items."""
        labels = None if self.item_names is None else list(self.item_names)
        return Names(labels, self.problem.n_vars, "items", "BasketTable")


class _BasketReader:
    def __init__(self, table: BasketTable, chosen: bool, keep_infeasible: bool, where: str):
        remedy = f"Names of items are like {table.names.example()}"
        self.kinds: Kinds = {**_BASKET_KINDS, "unknown item": (_BASKET_KINDS["unknown item"][0], remedy)}
        self._table, self._where = table, where
        self._chosen, self._keep_infeasible = chosen, keep_infeasible
        self._lists = ListColumn(table.names, table.separator, where)
        self._budgets, self._items = GrowingArray("float64"), RowsOfOnes()
        self._last: tuple[FloatArray, IntArray, IntArray] | None = None

    def look(self, faults: BatchFaults) -> None:
        budgets = number_table([self._table.budget], faults, self._where, "budget")
        negative = np.flatnonzero(budgets[:, 0] < 0)
        faults.note("negative budget", negative, lambda k: f"{budgets[negative[k], 0]:g}")
        lengths = items = np.zeros(0, dtype=np.int64)
        if self._chosen:
            lengths, items = self._choices(faults)
            if not self._keep_infeasible:
                self._check_budgets(budgets, lengths, items, faults)
        self._last = budgets[:, 0], lengths, items

    def keep(self, good: BoolArray) -> None:
        assert self._last is not None
        budgets, lengths, items = self._last
        self._budgets.extend(budgets[good])
        if self._chosen:
            self._items.extend(lengths[good], items[np.repeat(good, lengths)])

    def result(self) -> tuple[FloatArray, Decisions | None]:
        contexts = self._budgets.finish()[:, None]
        return contexts, self._items.finish(self._table.problem.n_vars) if self._chosen else None

    def _choices(self, faults: BatchFaults) -> tuple[IntArray, IntArray]:
        """Length of each list, and all items, sorted within their rows; meaningless in rows with faults."""
        lists = self._lists.read(column_of(faults.batch.columns, self._table.chosen, self._where, "chosen"))
        faults.note("missing list", np.flatnonzero(lists.absent), lambda k: "an empty cell")
        for kind, code in (("missing item", MISSING), ("unknown item", UNKNOWN)):
            rows, places = lists.first(lists.numbers == code)
            faults.note(kind, rows, lambda k, places=places: lists.at(places[k]))  # type: ignore[misc]
        known = lists.only(faults.good())  # another name: the details above still speak of all lists
        n = self._table.problem.n_vars
        ranked = np.sort(known.rows * n + known.numbers)
        twice = ranked[1:][ranked[1:] == ranked[:-1]]
        rows, first = np.unique(twice // n, return_index=True)
        faults.note("repeated item", rows, lambda k: f"{self._table.names.label(int(twice[first[k]] % n))!r} again")
        return known.lengths, ranked - np.repeat(np.arange(len(known.lengths)) * n, known.lengths)

    def _check_budgets(self, budgets: FloatArray, lengths: IntArray, items: IntArray, faults: BatchFaults) -> None:
        problem = self._table.problem
        decisions = rows_of_ones(lengths, items, problem.n_vars)
        over = infeasible_rows(problem, budgets, decisions, np.flatnonzero(faults.good()))
        weights = decisions @ problem.weights
        faults.note("over budget", over, lambda k: f"weight {weights[over[k]]:g}, budget {budgets[over[k], 0]:g}")
