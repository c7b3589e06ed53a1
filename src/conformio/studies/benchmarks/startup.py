"""What a user waits for before the first number: imports, the first result of a command line, compilation."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from conformio.studies.benchmarks.measuring import Side, race
from conformio.studies.benchmarks.results import Line, Outcome, Target, Timing, duration, ratio
from conformio.studies.benchmarks.settings import Comparison, Settings, peer

__all__ = ["COMPARISONS"]

_RUN = "from conformio.cli import main; import sys; sys.argv[0] = 'conformio'; main()"


def _imports(settings: Settings) -> Outcome:
    own, other = "import conformio", "import sklearn.base, numba"
    every = "from conformio import *"
    sides = {code: Side(lambda code=code: _python("-c", code)) for code in (own, other, every)}  # type: ignore[misc]
    timed = race(sides, settings.pick(15, 1))
    lines = [
        ratio(own, timed[own], timed[other], Target("at most", 1.2), other),
        ratio(f"{every} (all public names)", timed[every], timed[other], None, other),
    ]
    return Outcome(lines, list(timed.values()), facts={"what": "whole interpreters, start to end"})


def _first_result(settings: Settings) -> Outcome:
    peer("typer", "pip install conformio[cli]")
    with tempfile.TemporaryDirectory() as folder:
        _python("-c", _RUN, "demo", "--export", folder, "--quiet", folder=folder)
        model = Path(folder) / "warm.zip"
        trips = sorted(Path(folder).glob("*.csv"))
        fit = ["-c", _RUN, "fit", "--config", "conformio.toml", "--quiet"]
        _ = (model, trips)
        timed = race({"conformio fit": Side(lambda: _python(*fit, folder=folder))}, settings.pick(5, 1))
    line = duration("first result of a warm command line", timed["conformio fit"], Target("at most", 2.5))
    return Outcome([line], list(timed.values()))


def _cold_demo(settings: Settings) -> Outcome:
    peer("typer", "pip install conformio[cli]")
    peer("matplotlib", "pip install conformio[plots]")
    people = str(settings.pick(1000, 100))
    cold: list[float] = []
    warm: list[float] = []
    for _ in range(settings.pick(2, 1)):
        with tempfile.TemporaryDirectory() as folder:
            for seconds in (cold, warm):
                start = perf_counter()
                _python(
                    "-c", _RUN, "demo", "--out", str(Path(folder) / "out"), "--decision-makers", people, "--quiet",
                    folder=folder, cache=str(Path(folder) / "cache"),
                )  # fmt: skip
                seconds.append(perf_counter() - start)
    compiling = Timing("compilation (cold minus warm demo)", tuple(c - w for c, w in zip(cold, warm, strict=True)))
    line: Line = duration("all compilation of a cold demo", compiling, Target("at most", 25.0))
    timings = [compiling, Timing("conformio demo, cold", tuple(cold)), Timing("conformio demo, warm", tuple(warm))]
    return Outcome([line, duration("warm demo", timings[-1])], timings)


def _python(*arguments: str, folder: str | None = None, cache: str | None = None) -> None:
    """Run an interpreter to its end; `cache` is the folder of its compiled loops."""
    environment = dict(os.environ)
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, check=True, capture_output=True, timeout=600
    )


COMPARISONS = (
    Comparison("import", "Import time", _imports, 0.8),
    Comparison("warm-command", "First result of a warm command line", _first_result, 0.3),
    Comparison("cold-demo", "Compilation of a cold demo", _cold_demo, 1.0),
)
