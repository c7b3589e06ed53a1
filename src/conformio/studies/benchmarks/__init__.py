"""Every comparison of the target table: baselines written well, peers as their users run them, ratios in one run."""

from conformio.studies.benchmarks.catalogue import COMPARISONS, chosen_comparisons
from conformio.studies.benchmarks.page import benchmark_page
from conformio.studies.benchmarks.results import Check, Curve, Line, Outcome, Target, Timing
from conformio.studies.benchmarks.runs import load_results, new_results, run_comparisons, store_results
from conformio.studies.benchmarks.settings import Comparison, Settings, SkippedError

__all__ = [
    "COMPARISONS",
    "Check",
    "Comparison",
    "Curve",
    "Line",
    "Outcome",
    "Settings",
    "SkippedError",
    "Target",
    "Timing",
    "benchmark_page",
    "chosen_comparisons",
    "load_results",
    "new_results",
    "run_comparisons",
    "store_results",
]
