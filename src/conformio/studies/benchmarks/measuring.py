"""Seconds and memory of pieces of work in this process, side by side.

Runs of the sides alternate, so that a machine that slows down slows all of them. The first run of each compiles,
fills caches and shows the peak of memory; it is not counted.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from conformio.studies.benchmarks.results import Timing

__all__ = ["Side", "peak_memory", "race"]

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class Side:
    """A piece of work, the rows or steps that one run handles, and how often it runs (None: as the others do).

    `warm=False` counts the first run as well: for work of minutes.
    """

    work: Callable[[], Any]
    items: int = 1
    repeats: int | None = None
    warm: bool = True


def race(sides: Mapping[str, Side], repeats: int) -> dict[str, Timing]:
    """Time all sides, their runs taking turns."""
    peaks: dict[str, float | None] = {}
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for name, side in sides.items():
        if side.warm:
            peaks[name] = peak_memory(side.work)
    counts = {name: repeats if side.repeats is None else side.repeats for name, side in sides.items()}
    for turn in range(max(counts.values())):
        for name, side in sides.items():
            if turn < counts[name]:
                start = perf_counter()
                if side.warm or turn:
                    side.work()
                else:
                    peaks[name] = peak_memory(side.work)
                seconds[name].append(perf_counter() - start)
    return {name: Timing(name, tuple(seconds[name]), side.items, peaks[name]) for name, side in sides.items()}


def peak_memory(work: Callable[[], Any]) -> float | None:
    """Run the work; MiB that the process held at most meanwhile, all it held before included.

    Where the system cannot forget an earlier peak: the largest so far.
    """
    gc.collect()
    if not _RESET.exists():
        work()
        return _largest_so_far()
    _RESET.write_text("5", encoding="ascii")
    work()
    for line in _STATUS.read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 2**10
    return None


def _largest_so_far() -> float | None:
    try:
        import resource
    except ImportError:  # not a Unix
        return None
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
