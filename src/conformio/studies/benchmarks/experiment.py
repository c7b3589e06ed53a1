"""The paper's whole experiment: both problems, ten seeds, eight levels, both estimators."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from conformio.studies.benchmarks.results import Check, Outcome, Target, Timing, duration
from conformio.studies.benchmarks.settings import Comparison, Settings
from conformio.studies.cell_store import CellStore
from conformio.studies.engine import run_cells
from conformio.studies.robustness import paper_cells

__all__ = ["COMPARISONS"]


def _whole(settings: Settings) -> Outcome:
    workers = min(2, os.cpu_count() or 1) if not settings.quick else 1
    cells = paper_cells(settings.pick(10, 1), settings.pick(1000, 100))[: settings.pick(None, 1)]
    with tempfile.TemporaryDirectory() as folder:
        store = CellStore(Path(folder))
        start = perf_counter()
        rows = run_cells(cells, store, workers)
        timing = Timing(f"the paper's experiment, {workers} processes", (perf_counter() - start,))
    gaps = [row["aog"] for part in rows for row in part if "aog" in row]
    undefined = sum(1 for gap in gaps if gap is None or not np.isfinite(float(gap)))
    line = duration("the paper's whole experiment, start of processes included", timing, Target("at most", 180.0))
    facts = {"cells": len(cells), "rows": len(gaps), "processes": workers}
    return Outcome([line], [timing], [Check("rows without a gap", float(undefined), 0.0)], facts=facts)


COMPARISONS = (Comparison("paper-experiment", "The paper's whole experiment", _whole, 1.5),)
