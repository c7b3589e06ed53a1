"""Verdicts on the validity of the calibrated set: the theorem's two inequalities and what the figure says."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import fmean

from conformio.studies.cell_store import Row
from conformio.studies.conditions import LABELS as CONDITION
from conformio.studies.findings.bands import exact_sd, printed_half_width, proved_half_width
from conformio.studies.findings.selection import column, distinct, number, pick
from conformio.studies.findings.verdicts import Finding, Verdict, by_conditions, corrected_or
from conformio.studies.findings.wording import by_condition

__all__ = ["LABELS", "findings"]

LABELS = (*CONDITION, "n_calibration", "n_test", "level")

_ERRORS = 4.0
_OUTSIDE = 0.05
_CLOSER = 0.75


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The claims of the theorem, of its figure, and what coverage does not say."""
    return [_on_average(rows), _always(rows), _closer(rows), _exact_band(rows), _printed_band(rows), _inside(rows)]


def _on_average(rows: Sequence[Row]) -> Finding:
    shortfalls = {name: max(_errors_short(row) for row in group) for name, group in by_condition(rows).items()}
    verdict, where = by_conditions({name: worst <= _ERRORS for name, worst in shortfalls.items()})
    least = min(number(row, "coverage") - number(row, "level") for row in rows)
    return Finding(
        study="validity",
        claim="The set meets the next decision's inverse-feasible set with probability at least the level",
        paper="coverage >= level, for every level up to N/(N+1)",
        measured=f"mean coverage minus level is at least {least:.3f} over {len(rows)} combinations; the worst is "
        f"{max(shortfalls.values()):.1f} standard errors short",
        rule="Holds if no mean over seeds is more than 4 exact standard errors below its level.",
        verdict=verdict,
        conditions=where,
    )


def _errors_short(row: Row) -> float:
    sizes = int(number(row, "n_calibration")), number(row, "level"), int(number(row, "n_test"))
    error = exact_sd(*sizes) / sqrt(number(row, "n"))
    return (number(row, "level") - number(row, "coverage")) / error


def _always(rows: Sequence[Row]) -> Finding:
    smallest = min(column(rows, "n_calibration"))
    groups = by_condition(pick(rows, n_calibration=int(smallest)))
    short = {name: sum(_ever_short(row) for row in group) / len(group) for name, group in groups.items()}
    verdict, where = by_conditions({name: share == 0.0 for name, share in short.items()})
    shown = "; ".join(f"{name}: {share:.0%}" for name, share in short.items())
    return Finding(
        study="validity",
        claim=f"With a small calibration set (N = {smallest:.0f}) the specified level is always achieved",
        paper="always achieved, tends to over-cover (figure on coverage, sub-optimality loss)",
        measured=f"levels at which the lowest of the seeds is below the level: {shown}",
        rule="Holds if no seed is below the level at any level. The theorem promises the mean over calibration sets "
        "only: without ties about half of the seeds must be below.",
        verdict=verdict,
        conditions=where,
    )


def _ever_short(row: Row) -> bool:
    return number(row, "coverage_low") < number(row, "level")


def _closer(rows: Sequence[Row]) -> Finding:
    sizes = _sizes(rows)
    distances = {name: _distances(group, sizes) for name, group in by_condition(_untied(rows, sizes)).items()}
    verdict, where = by_conditions({name: mean[-1] <= _CLOSER * mean[0] for name, mean in distances.items()})
    tied = _tied_levels(rows, sizes)
    if tied and verdict is Verdict.REPRODUCED:
        verdict, where = Verdict.CONDITIONAL, "Holds for levels whose angle is above 0."
    shown = "; ".join(f"{name}: {', '.join(f'{value:.3f}' for value in mean)}" for name, mean in distances.items())
    return Finding(
        study="validity",
        claim="Coverage gets closer to the level with larger calibration sets (asymptotic exactness)",
        paper=f"closer for N = {', '.join(map(str, sizes[1:]))} than for {sizes[0]}",
        measured=f"mean distance between coverage and level for N = {', '.join(map(str, sizes))}, at levels whose "
        f"angle is above 0 in every seed: {shown}. Levels with angle 0, whose coverage is the share of such angles "
        f"however low the level (E6): {tied}",
        rule=f"Holds if the distance at N = {sizes[-1]} is at most 0.75 of that at N = {sizes[0]}, over levels whose "
        "angle is above 0 for every N and seed. Reproduced without conditions only if there are no other levels.",
        verdict=verdict,
        conditions=where,
    )


def _distances(group: Sequence[Row], sizes: Sequence[int]) -> list[float]:
    return [fmean(column(pick(group, n_calibration=size), "deviation")) for size in sizes]


def _sizes(rows: Sequence[Row]) -> list[int]:
    return sorted({int(value) for value in column(rows, "n_calibration")})


def _untied(rows: Sequence[Row], sizes: Sequence[int]) -> list[Row]:
    """Rows of the levels at which no seed's angle is 0, for none of some calibration sizes."""
    found = []
    for group in by_condition(rows).values():
        for (level,) in distinct(group, "level"):
            alike = pick(group, level=level)
            if len(alike) == len(sizes) and min(column(alike, "angle_degrees_low")) > 0.0:
                found += alike
    return found


def _tied_levels(rows: Sequence[Row], sizes: Sequence[int]) -> str:
    """Up to which level the angle is 0 in some seed, by condition."""
    untied = _untied(rows, sizes)
    tied = {
        name: [number(row, "level") for row in group if len(pick(group, level=row["level"])) == len(sizes)]
        for name, group in by_condition([row for row in rows if row not in untied]).items()
    }
    return "; ".join(f"{name}: up to {max(levels):g}" for name, levels in tied.items() if levels)


def _exact_band(rows: Sequence[Row]) -> Finding:
    holds, shown = {}, []
    untied = [row for row in rows if number(row, "angle_degrees_low") > 0.0]
    for name, group in by_condition(untied).items():
        below, above = (fmean(column(group, side)) for side in ("below_band", "above_band"))
        holds[name] = below + above <= _OUTSIDE
        shown.append(f"{name}: {below:.1%} below, {above:.1%} above")
    tied = [row for row in rows if row not in untied]
    if tied:
        below, above = (fmean(column(tied, side)) for side in ("below_band", "above_band"))
        shown.append(f"levels with angle 0 (not judged): {below:.1%} below, {above:.1%} above")
    verdict, where = by_conditions(holds)
    return Finding(
        study="validity",
        claim="Without ties the coverage given the calibration set is exactly beta distributed",
        paper="not in the paper, which has a wide band instead (E14)",
        measured=f"outside the exact 99% band: {'; '.join(shown)}",
        rule="Holds if at most 5% of the combinations of seed, level and size whose angle is above 0 in every seed are "
        "outside (1% expected, but levels of one seed go together).",
        verdict=verdict,
        conditions=where,
    ).of_ours()


def _printed_band(rows: Sequence[Row]) -> Finding:
    sizes = _sizes(rows)
    printed, proved = [printed_half_width(n) for n in sizes], [proved_half_width(n) for n in sizes]
    untied = [row for row in rows if number(row, "angle_degrees_low") > 0.0]
    widest = [max(column(pick(untied, n_calibration=n), "deviation_high")) for n in sizes]
    tied = [max(column(pick(rows, n_calibration=n), "deviation_high")) for n in sizes]
    as_printed = all(a >= b for a, b in zip(printed, proved, strict=True))
    inside = all(a <= b for a, b in zip(widest, proved, strict=True))
    outside = any(a > b for a, b in zip(tied, proved, strict=True))
    return Finding(
        study="validity",
        claim=f"Half-width of the theorem's band, N = {', '.join(map(str, sizes))}",
        paper=_two_digits(printed),
        measured=f"sum of roots {_two_digits(proved)}; largest distance seen {_two_digits(widest)} where the angle is "
        f"above 0, {_two_digits(tied)} at all levels",
        rule="Reproduced if the printed width is at least the sum of roots that the proof gives; corrected if it is "
        "not and all coverages measured where the angle is above 0 are within the sum of roots.",
        verdict=corrected_or(as_printed, inside),
        conditions="Where angles tie at 0 coverage leaves even the wider band: the inequality needs angles without "
        "ties (E6)."
        if outside
        else "",
    )


def _inside(rows: Sequence[Row]) -> Finding:
    largest = max(column(rows, "n_calibration"))
    holds, shown = {}, []
    for name, group in by_condition(pick(rows, n_calibration=int(largest))).items():
        highest = max(group, key=lambda row: number(row, "level"))
        coverage, inside = number(highest, "coverage"), number(highest, "theta_inside")
        holds[name] = inside < number(highest, "level")
        shown.append(f"{name}: {coverage:.1%} covered, {inside:.1%} inside")
    verdict, where = by_conditions(holds)
    level = max(column(rows, "level"))
    return Finding(
        study="validity",
        claim="Coverage does not mean that the cap holds the decision makers' own parameters",
        paper="promised is only that the cap meets the inverse-feasible set",
        measured=f"at level {level:g}, N = {largest:.0f}: {'; '.join(shown)}",
        rule="Holds if the share of test decision makers whose own parameters are in the cap is below the level.",
        verdict=verdict,
        conditions=where,
    ).of_ours()


def _two_digits(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)
