"""The machine, versions and thread settings that numbers were measured with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numba
from threadpoolctl import threadpool_info

from conformio.studies.benchmarks.results import Scalar

__all__ = ["describe_machine", "describe_threads", "versions"]

_LIBRARIES = (
    "conformio", "numpy", "scipy", "numba", "llvmlite", "scikit-learn", "highspy", "clarabel", "cvxpy",
    "pyepo", "ortools", "torch", "invopt", "gurobipy",
)  # fmt: skip


def describe_machine() -> dict[str, Scalar]:
    """Processor, cores, memory, system, Python and the load at the start."""
    return {
        "processor": _line_of("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load_average": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def versions() -> dict[str, Scalar]:
    """Versions of this library, of what it computes with and of the peers; None where not installed."""
    found: dict[str, Scalar] = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def describe_threads() -> dict[str, Scalar]:
    """Threads that libraries may use; solvers are set to one in their adapters."""
    pools = {f"{pool['user_api']} ({pool['internal_api']})": int(pool["num_threads"]) for pool in threadpool_info()}
    return {**pools, "numba": int(numba.get_num_threads()), "HiGHS": 1, "Clarabel": 1}


def _line_of(path: str, key: str) -> str | None:
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), None)


def _memory() -> float | None:
    text = _line_of("/proc/meminfo", "MemTotal")
    return None if text is None else round(int(text.split()[0]) / 2**20, 1)
