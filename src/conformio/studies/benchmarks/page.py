"""The page of results, made from the record that a run left: nothing on it is written by hand but its notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["benchmark_page", "line_cells", "verdict"]

_HEAD = """# Benchmarks

Every number on this page is made from [the record](benchmarks/results.json) that `conformio bench` left on one machine.
Ratios compare medians; in brackets stand the extremes that the slowest run of one side and the fastest of the other
give. Decisions and drivers are **simulated** throughout. The network named ChicagoRegional is the public one of the
TransportationNetworks collection (TNTP format); it is read from a folder of yours and is not part of this project. One
core is used unless a line says otherwise. Both sides of a comparison must give the same answers, to the tolerances
under *Answers*; a line whose answers differ counts as missed, whatever its time.
"""


def benchmark_page(results: dict[str, Any], notes: str = "") -> str:
    """Markdown of the whole page.

    Parameters
    ----------
    results : dict
        A record of `conformio bench`.
    notes : str
        Markdown that closes the page: what limits the numbers.
    """
    parts = [_HEAD, *_provenance(results), *_table(results), *_growth(results), *_answers(results)]
    parts += [*_left_out(results), *([notes.strip(), ""] if notes else [])]
    return "\n".join(parts)


def _provenance(results: dict[str, Any]) -> Iterator[str]:
    machine, versions = results["machine"], results["versions"]
    yield "## Machine and command\n"
    yield f"- {machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB, {machine['system']}"
    known = ", ".join(f"{name} {number}" for name, number in versions.items() if number is not None)
    yield f"- Python {machine['python']}, {known}"
    yield "- Threads: " + ", ".join(f"{name} {number}" for name, number in results["threads"].items())
    yield f"- {'Quick run (its numbers mean little), started' if results['quick'] else 'Started'} {results['started']}"
    for command in results["command"].split("\n"):
        yield f"- `{command}`"
    yield ""


def _finished(results: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((name, one) for name, one in results["comparisons"].items() if one["status"] == "done")


def _table(results: dict[str, Any]) -> Iterator[str]:
    lines = [line for _, one in _finished(results) for line in one["lines"]]
    yield "## Results\n"
    yield "| work | against | target | result | |"
    yield "| --- | --- | --- | --- | --- |"
    for line in lines:
        if line["target"] is not None:
            yield "| " + " | ".join(line_cells(line)) + " |"
    others = [line for line in lines if line["target"] is None]
    if others:
        yield "\n## Without a target\n"
        yield "| work | against | result |"
        yield "| --- | --- | --- |"
    for line in others:
        work, against, _, result, _ = line_cells(line)
        yield f"| {work} | {against} | {result} |"
    yield ""


def line_cells(line: dict[str, Any]) -> tuple[str, str, str, str, str]:
    """Work, baseline, target, result and verdict of one line."""
    spread = f" ({_amount(line['low'], '')} to {_amount(line['high'], line['unit'])})"
    result = _amount(line["value"], line["unit"]) + ("" if line["low"] == line["high"] else spread)
    return line["work"], line["baseline"], _target(line), result, verdict(line)


def verdict(line: dict[str, Any]) -> str:
    """`met`, `not met`, or nothing where there is no target."""
    return {None: "", True: "met", False: "not met"}[line["met"]]


def _target(line: dict[str, Any]) -> str:
    target = line["target"]
    if target is None:
        return "-"
    sign = "≥" if target["kind"] == "at least" else "≤"
    aim = "" if target["aim"] is None else f", aim {_amount(target['aim'], line['unit'])}"
    return f"{sign} {_amount(target['value'], line['unit'])}{aim}"


def _amount(value: float, unit: str) -> str:
    """Three digits that count, thousands apart; times get the sign ×."""
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return text + {"x": "×", "": ""}.get(unit, f" {unit}")


def _growth(results: dict[str, Any]) -> Iterator[str]:
    curves = [curve for _, one in _finished(results) for curve in one["curves"]]
    if not curves:
        return
    yield "## Growth\n"
    yield "Median seconds of one run; the exponent `b` is fitted to `seconds = a size^b`.\n"
    for curve in curves:
        yield f"**{curve['label']}**, by {curve['size']}: exponent {curve['exponent']:.2f}\n"
        start = curve["fitted_from"]
        if start:
            yield f"(fitted from {curve['sizes'][start]:,} on)\n"
        yield "| | " + " | ".join(f"{size:,}" for size in curve["sizes"]) + " |"
        yield "| --- |" + " --- |" * len(curve["sizes"])
        yield "| seconds | " + " | ".join(f"{value:.3g}" for value in curve["seconds"]) + " |"
        if any(curve["peak_mib"]):
            yield "| peak, MiB | " + " | ".join("-" if p is None else f"{p:,.0f}" for p in curve["peak_mib"]) + " |"
        yield ""


def _answers(results: dict[str, Any]) -> Iterator[str]:
    yield "## Answers\n"
    yield "| comparison | largest difference of | found | allowed |"
    yield "| --- | --- | --- | --- |"
    for name, one in _finished(results):
        for check in one["checks"]:
            found = "none" if check["value"] is None else f"{check['value']:.2g}"
            yield f"| `{name}` | {check['what']} | {found} | {check['limit']:.2g} |"
    yield ""


def _left_out(results: dict[str, Any]) -> Iterator[str]:
    others = {name: one for name, one in results["comparisons"].items() if one["status"] != "done"}
    if not others:
        return
    yield "## Left out\n"
    for name, one in others.items():
        yield f"- `{name}` ({one['status']}): {one['reason']}"
    yield ""
