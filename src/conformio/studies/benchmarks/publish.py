"""Writes the page of results and the figures of the README from the committed records.

    python -m conformio.studies.benchmarks.publish

run in a clone, after `conformio bench --out docs/benchmarks/results.json`. Long comparisons may stand in further files
of that folder.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from conformio.errors import invalid
from conformio.studies.benchmarks.notes import NOTES
from conformio.studies.benchmarks.page import benchmark_page, line_cells
from conformio.studies.benchmarks.runs import load_results

__all__ = ["committed_results", "publish", "published_page", "with_figures"]

_BEGIN, _END = "<!-- figures: made by conformio.studies.benchmarks.publish -->", "<!-- end of figures -->"
_SHOWN = (
    "path-angles", "regional-angles", "robust-paths", "robust-nominal-region", "training", "perturbed",
    "knapsack-angles", "robust-knapsack", "robust-programs", "paper-experiment",
)  # fmt: skip


def committed_results(root: Path) -> dict[str, Any]:
    """All records in `docs/benchmarks` of a clone as one; `results.json` first."""
    paths = sorted((root / "docs" / "benchmarks").glob("*.json"), key=lambda path: (path.name != "results.json", path))
    return load_results(paths)


def published_page(root: Path) -> str:
    """What `docs/benchmarks.md` has to be."""
    return benchmark_page(committed_results(root), NOTES)


def with_figures(readme: str, results: dict[str, Any]) -> str:
    """The README with the table between its marks made anew: the first two targets of some comparisons."""
    before, begin, rest = readme.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise invalid(
            "readme", "publish", "must hold the marks of the figures", "none", remedy=f"Write {_BEGIN} {_END}"
        )
    rows = ["| work | against | result |", "| --- | --- | --- |"]
    for name in _SHOWN:
        lines = results["comparisons"].get(name, {}).get("lines", [])
        for line in [one for one in lines if one["target"] is not None][:2]:
            work, against, _, result, _ = line_cells(line)
            rows.append(f"| {work} | {against} | {result} |")
    return "\n".join([before + begin, "", *rows, "", end + after])


def publish(root: Path) -> None:
    """Write the page and the figures."""
    (root / "docs" / "benchmarks.md").write_text(published_page(root), encoding="utf-8")
    readme = root / "README.md"
    text = with_figures(readme.read_text(encoding="utf-8"), committed_results(root))
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    publish(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
