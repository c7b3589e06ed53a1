"""The engine of the studies: a study is a list of cells, and a finished cell is never computed again.

A cell is a function of its settings alone (a seed among them) that returns rows. Cells are independent, so they run
in parallel processes, and each is stored as soon as it is finished: a run that was killed goes on where it stood and
ends with the same bytes. Cells that measure time run alone, after the others; their seconds are part of the stored
rows, so that they too are the same in every later run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import active_children, connection, get_context, parent_process
from threading import Thread
from time import perf_counter
from typing import Any, TypeAlias

from threadpoolctl import threadpool_limits

from conformio.studies.cell_store import CellStore, Row

__all__ = ["Cell", "Progress", "Report", "run_cells"]


@dataclass(frozen=True)
class Cell:
    """One unit of work.

    Attributes
    ----------
    function : callable
        Module-level; takes the settings as keyword arguments and returns rows of JSON scalars.
    settings : mapping
        JSON values.
    seconds : float
        Rough expectation, for the time left.
    alone : bool
        Nothing else of the run may use the machine meanwhile.
    """

    function: Callable[..., list[Row]]
    settings: Mapping[str, Any]
    seconds: float = 1.0
    alone: bool = False

    @property
    def name(self) -> str:
        """What files and progress call it."""
        return self.function.__name__.replace("_", "-")

    def compute(self) -> list[Row]:
        """The rows, on one thread of the linear algebra libraries."""
        with threadpool_limits(limits=1):
            return self.function(**self.settings)


@dataclass(frozen=True)
class Progress:
    """Where a run stands.

    Attributes
    ----------
    done, total : int
        Cells; those found finished count as done.
    label : str
        Kind of the cell that was finished last.
    seconds_left : float or None
        None until a cell was computed.
    """

    done: int
    total: int
    label: str
    seconds_left: float | None


Report: TypeAlias = Callable[[Progress], None]


def run_cells(
    cells: Sequence[Cell], store: CellStore, workers: int = 1, report: Report = lambda progress: None
) -> list[list[Row]]:
    """Rows of every cell, in the order of `cells`; those in the store are read, the others computed and stored.

    Equal cells are computed once.

    Parameters
    ----------
    cells : sequence of Cell
    store : CellStore
    workers : int
        Processes; with 1 everything happens in this one.
    report : callable
        Told of every finished cell.
    """
    keys = [store.key(cell.name, cell.settings) for cell in cells]
    known: dict[str, list[Row]] = {}
    wanted: dict[str, Cell] = {}
    for key, cell in zip(keys, cells, strict=True):
        rows = None if key in known else store.load(cell.name, cell.settings)
        if rows is not None:
            known[key] = rows
        elif key not in known:
            wanted[key] = cell
    clock = _Clock(len(known), wanted.values(), workers, report)
    for key, rows in _computed(wanted, workers):
        store.save(wanted[key].name, wanted[key].settings, rows)
        # what was stored is what is used: a resumed run must not see other digits
        known[key] = store.load(wanted[key].name, wanted[key].settings) or []
        clock.finished(wanted[key])
    return [known[key] for key in keys]


def _computed(wanted: Mapping[str, Cell], workers: int) -> Iterator[tuple[str, list[Row]]]:
    together = {key: cell for key, cell in wanted.items() if not cell.alone}
    workers = min(workers, len(together))
    if workers > 1:
        yield from _in_parallel(together, workers)
    else:
        yield from ((key, cell.compute()) for key, cell in together.items())
    yield from ((key, cell.compute()) for key, cell in wanted.items() if cell.alone)


def _in_parallel(wanted: Mapping[str, Cell], workers: int) -> Iterator[tuple[str, list[Row]]]:
    # fresh interpreters: a fork would copy the locks of the progress display's thread
    others = set(active_children())
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_end_with_parent)
    try:
        longest_first = sorted(wanted, key=lambda key: -wanted[key].seconds)
        futures = {pool.submit(wanted[key].compute): key for key in longest_first}
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BaseException:
        # an interrupted or failed run does not wait for cells that take minutes
        for process in set(active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = parent_process()
    if parent is not None:
        Thread(target=_watch, args=(parent.sentinel,), daemon=True).start()


def _watch(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


class _Clock:
    """Estimates the time left from the expected seconds of what is done and what is not."""

    def __init__(self, found: int, wanted: Any, workers: int, report: Report):
        self._start, self._report = perf_counter(), report
        self._done, self._total = found, found + len(wanted)
        self._behind, self._ahead = 0.0, sum(cell.seconds for cell in wanted)
        report(Progress(self._done, self._total, "starting", None))

    def finished(self, cell: Cell) -> None:
        self._done += 1
        self._behind += cell.seconds
        self._ahead -= cell.seconds
        left = (perf_counter() - self._start) * max(self._ahead, 0.0) / self._behind
        self._report(Progress(self._done, self._total, cell.name, left))
