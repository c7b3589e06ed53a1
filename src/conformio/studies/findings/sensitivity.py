"""Where the claims on robustness hold, over everything the paper leaves open, and what was expected before looking."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from conformio.studies.cell_store import Row
from conformio.studies.conditions import BASE_LAW
from conformio.studies.findings.printed import GAINS
from conformio.studies.findings.robustness import LABELS, improvements, meets, range_of, shown_ranges
from conformio.studies.findings.selection import distinct, number, only, pick
from conformio.studies.findings.verdicts import Finding, by_conditions
from conformio.studies.findings.wording import by_condition, listed, percent
from conformio.studies.pipelines import TIE_RULES

__all__ = ["LABELS", "bands_met", "findings"]

_GAPS = ("aog", "pog")
_EXPECTED = "expected before the study"
_MANY_ZEROS = (0.75, 0.95)
_UP_TO = 0.7
_NOTHING = 0.005
_BETTER = 0.8
_SOME_CYCLES = 0.05


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Regions of the paper's bands, and each early expectation."""
    regions = [_region(rows, problem) for problem in ("shortest path", "knapsack")]
    ties = [_ties(rows, problem) for problem in ("shortest path", "knapsack")]
    expected = [_knapsack(rows), _zeros(rows), _nothing_changes(rows), _estimators(rows), _cycles(rows)]
    return [*regions, *ties, *(finding.of_ours() for finding in [*expected, _helps_most(rows), _relaxed(rows)])]


def bands_met(rows: Sequence[Row]) -> dict[str, bool]:
    """Whether the paper's band of each gap is met, for the rows of one condition."""
    problem = str(rows[0]["problem"])
    return {gap: meets(rows, gap, GAINS[problem, gap]) for gap in _GAPS}


def _region(rows: Sequence[Row], problem: str) -> Finding:
    groups = by_condition(pick(rows, problem=problem))
    met = {name: bands_met(group) for name, group in groups.items()}
    verdict, _ = by_conditions({name: all(found.values()) for name, found in met.items()})
    both = [name.removeprefix(f"{problem}, ") for name, found in met.items() if all(found.values())]
    counts = ", ".join(f"{gap.upper()} {sum(found[gap] for found in met.values())}" for gap in _GAPS)
    return Finding(
        study="sensitivity",
        claim=f"The paper's bands for the {problem} problem, whatever is left open in it",
        paper="; ".join(f"{gap.upper()} {percent(*GAINS[problem, gap])}" for gap in _GAPS),
        measured=f"of {len(met)} conditions the band is met in: {counts}, both {len(both)}",
        rule="A condition counts where the improvement, of mean gaps or as mean over seeds, is positive at every level "
        "from 0.1 to 0.95 and its range meets the paper's; reproduced where both bands count.",
        verdict=verdict,
        conditions=f"Both bands hold for: {'; '.join(both)}." if both else "",
    )


def _ties(rows: Sequence[Row], problem: str) -> Finding:
    alike = pick(rows, problem=problem, estimator="sub-optimality")
    spans: dict[str, list[tuple[float, float]]] = {rule: [] for rule in TIE_RULES}
    holds = {}
    for rule in TIE_RULES:
        for law in [str(name) for (name,) in distinct(alike, "law")]:
            groups = by_condition(pick(alike, law=law)).values()
            found = [range_of(improvements(group, gap, rule)) for group in groups for gap in _GAPS]
            spans[rule] += found
            holds[f"{rule}, {law}"] = min(low for low, _ in found) > 0.0
    verdict, where = by_conditions(holds)
    ends = {rule: tuple(zip(*found, strict=True)) for rule, found in spans.items()}
    return Finding(
        study="sensitivity",
        claim=f"Conformal decisions improve the {problem} problem however the classic pipeline breaks ties "
        "(sub-optimality loss, whose estimates leave many)",
        paper="classic ties uniform at random, by definition; other rules are not mentioned",
        measured="improvement of AOG and POG, all conditions: "
        + "; ".join(f"{rule}: {percent(min(lows), max(highs))}" for rule, (lows, highs) in ends.items()),
        rule="A tie rule counts under a law where both improvements are positive at every level from 0.1 to 0.95 in "
        "every condition of that law.",
        verdict=verdict,
        conditions=where,
    )


def _knapsack(rows: Sequence[Row]) -> Finding:
    groups = by_condition(pick(rows, problem="knapsack", law=BASE_LAW, budgets="1/5 to 4/5"))
    verdict, where = by_conditions({name: all(bands_met(group).values()) for name, group in groups.items()})
    shown = (f"{name}: {' and '.join(shown_ranges(group, gap) for gap in _GAPS)}" for name, group in groups.items())
    return Finding(
        study="sensitivity",
        claim="The knapsack bands hold with values from [1, 10] and budgets from [1/5, 4/5]",
        paper=_EXPECTED,
        measured=f"AOG and POG: {'; '.join(shown)}",
        rule="Holds where both bands are met.",
        verdict=verdict,
        conditions=where,
    )


def _zeros(rows: Sequence[Row]) -> Finding:
    shares = {str(law): number(_at(_sub_optimality_paths(rows, str(law)), 0.0), "zero_share") for law in _laws(rows)}
    low, high = _MANY_ZEROS
    verdict, where = by_conditions({law: low <= share <= high for law, share in shares.items()})
    return Finding(
        study="sensitivity",
        claim="With nonnegative costs and the sub-optimality loss about 85% of the test paths have angle 0",
        paper=_EXPECTED,
        measured=listed(shares, ".1%"),
        rule=f"Holds where the share is between {low:.0%} and {high:.0%}.",
        verdict=verdict,
        conditions=where,
    )


def _nothing_changes(rows: Sequence[Row]) -> Finding:
    changes = {}
    for law in _laws(rows):
        group = _sub_optimality_paths(rows, law)
        base = _at(group, 0.0)
        below = [row for row in pick(group, policy="conformal") if number(row, "level") <= _UP_TO]
        changes[law] = max(abs(number(row, gap) / number(base, gap) - 1.0) for row in below for gap in _GAPS)
    verdict, where = by_conditions({law: change <= _NOTHING for law, change in changes.items()})
    return Finding(
        study="sensitivity",
        claim="There, levels below that share change nothing",
        paper=_EXPECTED,
        measured=f"largest change of AOG or POG from level 0 to {_UP_TO:g}: {listed(changes, '.1%')}",
        rule=f"Holds where levels up to {_UP_TO:g} change neither by more than {_NOTHING:.1%}.",
        verdict=verdict,
        conditions=where,
    )


def _estimators(rows: Sequence[Row]) -> Finding:
    quotients = {}
    for law, domain in distinct(pick(rows, problem="shortest path"), "law", "domain"):
        classic = pick(rows, problem="shortest path", law=law, domain=domain, policy="classic", ties="uniform")
        fenchel, loss = (number(only(classic, estimator=name), "aog") for name in ("Fenchel-Young", "sub-optimality"))
        quotients[f"{law}, {domain}"] = fenchel / loss
    verdict, where = by_conditions({name: value <= _BETTER for name, value in quotients.items()})
    return Finding(
        study="sensitivity",
        claim="The Fenchel-Young estimate is by far the better one on the grid",
        paper=_EXPECTED,
        measured="classic AOG, Fenchel-Young over sub-optimality: " + listed(quotients),
        rule=f"Holds where the quotient is at most {_BETTER:g}.",
        verdict=verdict,
        conditions=where,
    )


def _cycles(rows: Sequence[Row]) -> Finding:
    free = by_condition(pick(rows, problem="shortest path", domain="free", policy="classic", ties="uniform"))
    shares = {name: number(group[0], "cycle_share") for name, group in free.items()}
    verdict, where = by_conditions({name: share >= _SOME_CYCLES for name, share in shares.items()})
    return Finding(
        study="sensitivity",
        claim="With free signs classic decisions contain cycles",
        paper=_EXPECTED,
        measured=f"share of classic decisions with a cycle: {listed(shares, '.1%')}",
        rule=f"Holds where the share is at least {_SOME_CYCLES:.0%}.",
        verdict=verdict,
        conditions=where,
    )


def _helps_most(rows: Sequence[Row]) -> Finding:
    means: dict[str, tuple[float, float]] = {}
    for law, estimator in distinct(pick(rows, problem="shortest path"), "law", "estimator"):
        alike = pick(rows, problem="shortest path", law=law, estimator=estimator)
        if len(distinct(alike, "domain")) < 2:
            continue
        free, bound = (_mean_gain(pick(alike, domain=domain)) for domain in ("free", "nonnegative"))
        means[f"{law}, {estimator}"] = free, bound
    verdict, where = by_conditions({name: free > bound for name, (free, bound) in means.items()})
    return Finding(
        study="sensitivity",
        claim="Robustness helps most with free signs",
        paper=_EXPECTED,
        measured="mean improvement with free signs minus that with nonnegative ones: "
        + listed({name: free - bound for name, (free, bound) in means.items()}, "+.1%"),
        rule="Holds where the mean of AOG and POG improvement over the levels is larger with free signs.",
        verdict=verdict,
        conditions=where,
    )


def _relaxed(rows: Sequence[Row]) -> Finding:
    quotients = {name: _relaxed_quotient(group) for name, group in by_condition(_paths(rows)).items()}
    verdict, where = by_conditions({name: value > 1.0 for name, value in quotients.items()})
    return Finding(
        study="sensitivity",
        claim="The relaxed robust path is worse than the integral one",
        paper=f"binary constraints can be relaxed; {_EXPECTED} to be worse",
        measured="relaxed over integral, mean of AOG and POG over levels: " + listed(quotients),
        rule="Holds where the quotient is above 1.",
        verdict=verdict,
        conditions=where,
    )


def _relaxed_quotient(group: Sequence[Row]) -> float:
    relaxed = pick(group, policy="conformal, relaxed")
    return fmean(number(row, gap) / number(_at(group, row["level"]), gap) for row in relaxed for gap in _GAPS)


def _mean_gain(group: Sequence[Row]) -> float:
    return fmean(gain for gap in _GAPS for gain in improvements(group, gap).values())


def _paths(rows: Sequence[Row]) -> list[Row]:
    return pick(rows, problem="shortest path")


def _laws(rows: Sequence[Row]) -> list[str]:
    return [str(law) for (law,) in distinct(_paths(rows), "law")]


def _sub_optimality_paths(rows: Sequence[Row], law: str) -> list[Row]:
    return pick(_paths(rows), estimator="sub-optimality", domain="nonnegative", law=law)


def _at(group: Sequence[Row], level: object) -> Row:
    return only(group, policy="conformal", level=level)  # type: ignore[arg-type]
