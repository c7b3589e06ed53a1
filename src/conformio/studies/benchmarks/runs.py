"""A run of comparisons: one process, results stored as each finishes, a failed one reported and left behind."""

from __future__ import annotations

import json
import os
import re
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from conformio.errors import invalid
from conformio.studies.benchmarks.machine import describe_machine, describe_threads, versions
from conformio.studies.benchmarks.results import Check, Line, Outcome
from conformio.studies.benchmarks.settings import Comparison, Settings, SkippedError

__all__ = ["load_results", "new_results", "run_comparisons", "store_results"]

_FORMAT = 1
_PARTS = {"command": str, "quick": bool, "machine": dict, "versions": dict, "comparisons": dict}


def new_results(command: str, settings: Settings) -> dict[str, Any]:
    """An empty record: where, when, with what and by which command."""
    with threadpool_limits(limits=1):
        threads = describe_threads()
    return {
        "format": _FORMAT,
        "command": command,
        "quick": settings.quick,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": describe_machine(),
        "versions": versions(),
        "threads": threads,
        "comparisons": {},
    }


def run_comparisons(
    chosen: Sequence[Comparison],
    settings: Settings,
    results: dict[str, Any],
    path: Path | None = None,
    report: Callable[[str, float], None] = lambda name, share: None,
) -> dict[str, Any]:
    """Make the comparisons that `results` does not hold finished, and store the record after each.

    Parameters
    ----------
    chosen : sequence of Comparison
    settings : Settings
    results : dict
        From `new_results` or `load_results`; changed in place and returned.
    path : Path, optional
        Where the record is kept.
    report : callable
        Told the name of each comparison that begins and the share of the time that is behind.
    """
    wanted = [one for one in chosen if not _is_finished(results, one.name)]
    whole, behind = sum(one.minutes for one in wanted) or 1.0, 0.0
    for one in wanted:
        report(one.name, behind / whole)
        # a process that dies in a comparison leaves this entry behind
        results["comparisons"][one.name] = {"title": one.title, "status": "failed", "reason": "the process ended in it"}
        _store(results, path)
        results["comparisons"][one.name] = _made(one, settings)
        _store(results, path)
        behind += one.minutes
    return results


def _is_finished(results: dict[str, Any], name: str) -> bool:
    return bool(results["comparisons"].get(name, {}).get("status") == "done")


def _made(one: Comparison, settings: Settings) -> dict[str, Any]:
    start = perf_counter()
    try:
        with threadpool_limits(limits=1):
            entry = _as_entry(one.run(settings))
    except SkippedError as reason:
        entry = {"status": "skipped", "reason": str(reason)}
    except Exception as error:  # one broken comparison must not lose the others
        entry = {"status": "failed", "reason": f"{type(error).__name__}: {error}", "traceback": _trace()}
    return {"title": one.title, **entry, "wall_seconds": round(perf_counter() - start, 3)}


def _trace() -> str:
    """The traceback with the last two parts of each file's path: records travel, folders of a machine do not."""
    return re.sub(r'File ".*/([^/"]+/[^/"]+)"', r'File "\1"', traceback.format_exc())


def _as_entry(outcome: Outcome) -> dict[str, Any]:
    agree = all(check.holds for check in outcome.checks)
    lines = []
    for line in outcome.lines:
        met = None if line.target is None else agree and line.target.met(line.value)
        lines.append({**asdict(line), "met": met})
    timings = [{**asdict(one), "median": one.median, "low": one.low, "high": one.high} for one in outcome.timings]
    return {
        "status": "done",
        "agree": agree,
        "lines": lines,
        "checks": [{**asdict(check), "holds": check.holds} for check in outcome.checks],
        "timings": timings,
        "curves": [asdict(curve) for curve in outcome.curves],
        "facts": dict(outcome.facts),
    }


def _store(results: dict[str, Any], path: Path | None) -> None:
    if path is not None:
        store_results(results, path)


def store_results(results: dict[str, Any], path: Path) -> None:
    """Write the record whole or not at all."""
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    partial.write_text(json.dumps(_plain(results), indent=1, allow_nan=False) + "\n", encoding="utf-8")
    partial.replace(path)


def _plain(value: Any) -> Any:
    """The same with plain numbers, and None for what is no finite number."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    number = float(value)
    return number if np.isfinite(number) else None


def load_results(paths: Iterable[Path]) -> dict[str, Any]:
    """A record, or several made on one machine with the same versions as one; later files win where they overlap."""
    joined: dict[str, Any] | None = None
    for path in paths:
        found = _read(path)
        if joined is None:
            joined = found
            continue
        for key in ("versions", "quick"):
            if joined[key] != found[key]:
                rule = f"must hold records of the same {key}"
                raise invalid("out", "conformio bench", rule, str(path), remedy="Measure again into one new file")
        joined["comparisons"].update(found["comparisons"])
        if found["command"] not in joined["command"].split("\n"):
            joined["command"] += "\n" + found["command"]
    if joined is None:
        raise invalid("out", "conformio bench", "must name at least one file", "none")
    return joined


def _read(path: Path) -> dict[str, Any]:
    rule, remedy = "must be a record that conformio bench wrote", "Name another file"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise invalid("out", "conformio bench", rule, f"{path} ({error})", remedy=remedy) from error
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise invalid("out", "conformio bench", rule, str(path), remedy=remedy)
    wrong = [name for name, kind in _PARTS.items() if not isinstance(found.get(name), kind)]
    wrong = wrong or [name for name, entry in found["comparisons"].items() if not _is_entry(entry)]
    if wrong:
        raise invalid("out", "conformio bench", rule, f"{path}, whose `{wrong[0]}` is damaged", remedy=remedy)
    return found


def _is_entry(entry: Any) -> bool:
    """Whether it is what `_made` returns, as far as tables and later runs look at it."""
    if not isinstance(entry, dict) or entry.get("status") not in ("done", "skipped", "failed"):
        return False
    if entry["status"] != "done":
        return isinstance(entry.get("reason"), str)
    parts = {"lines": Line, "checks": Check}
    return isinstance(entry.get("agree"), bool) and all(_are(entry.get(name), kind) for name, kind in parts.items())


def _are(rows: Any, kind: type) -> bool:
    needed = {field.name for field in fields(kind)}
    return isinstance(rows, list) and all(isinstance(row, dict) and needed <= row.keys() for row in rows)
