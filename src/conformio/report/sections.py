"""The parts of a page that are words and tables; charts, slider and map are drawn by its scripts."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from conformio.checks import IntArray
from conformio.diagnosis import Finding
from conformio.observations import ObservationTable
from conformio.problems import ShortestPath
from conformio.report.labels import parameter_names, problem_words, things
from conformio.report.markup import Markup, element, fragment, table
from conformio.report.measures import LevelMeasures, Measures, Shares

__all__ = ["angle_words", "certificate", "findings", "lead", "learned", "level_table", "role_warning", "sampling_words"]

_LISTED = 8
_VERDICTS = {"good": "Good", "notice": "Notice", "warning": "Warning"}
_NOT_CERTIFIED = (
    "That the cap contains the parameters θ of the person who decides. Nobody observes them.",
    "That robust prescriptions beat classic ones for every person, or are followed more often.",
    "Anything about decisions of another population, or about people who solve another problem.",
)
_ROLES = {
    "fitted": "These are the decisions the model was fitted on. Their coverage says nothing about new decisions.",
    "calibrated": "These are the decisions the model was calibrated on. Their coverage is what calibration made it.",
}


def lead(measures: Measures) -> str:
    """What this page is about, in one sentence."""
    one, _ = things(measures.model.problem)
    n, level = len(measures.evidence.angles), measures.levels[measures.own].level
    return f"{problem_words(measures.model.problem)}, {n:,} {one}s. The model's own level is {level:.4g}."


def role_warning(measures: Measures) -> Markup:
    """A warning where the rows are not new to the model."""
    words = _ROLES.get(measures.evidence.role)
    return Markup("") if words is None else element("p", element("strong", "Not a test. "), words, class_="alert")


def certificate(measures: Measures) -> Markup:
    """What is certified, what is not, and what it takes."""
    own, n = measures.levels[measures.own], measures.evidence.n_calibration
    promise = (
        f"With probability at least {own.level:.10g}, the cap of {_degrees(own.angle)} around the estimate meets the "
        "inverse-feasible set of the next decision: some parameters in the cap make that decision optimal."
    )
    if own.angle == math.pi:
        promise = f"At level {own.level:.10g} nothing: {n:,} calibration decisions leave the cap with all parameters."
    draw = f"The probability is over the draw of the {n:,} calibration decisions and of the next decision."
    needs = "It needs these to be exchangeable, and estimate and level chosen without them. The estimate may be poor."
    return fragment([_card("Certified", "yes", (promise, draw, needs)), _card("Not certified", "no", _NOT_CERTIFIED)])


def learned(measures: Measures, rows_table: ObservationTable, data: str) -> Markup:
    """Problem, estimate, data and provenance as facts; the largest and smallest parameters by name."""
    facts = element("dl", *(part for pair in _facts(measures, data) for part in pair), class_="facts")
    return fragment([facts, _parameters(measures, rows_table)])


def level_table(measures: Measures) -> Markup:
    """All that the slider shows, as a table."""
    head = ["Level", "Angle", "Coverage", "99% band", "Exact", "Overlap", "Extra cost", "Largest gap", "Differs"]
    rows = [_adherence_row("classic", measures.classic)]
    if measures.baseline is not None and measures.baseline_kept is not None:
        rows.append(_adherence_row(measures.baseline.name, measures.baseline_kept))
    return table(head, [*rows, *(_level_row(one) for one in measures.levels)], "Every level of the slider")


def _adherence_row(name: str, kept: Shares) -> list[str]:
    return [name, "", "", "", _percent(kept.exact), _percent(kept.overlap), "", "", ""]


def _level_row(one: LevelMeasures) -> list[str]:
    return [
        f"{one.level:.4g}",
        _degrees(one.angle),
        _percent(one.coverage),
        f"{_percent(one.band[0])} to {_percent(one.band[1])}",
        _percent(one.kept.exact),
        _percent(one.kept.overlap),
        _percent(one.extra, 2),
        "unknown" if one.gap is None else f"{one.gap:.1e}",
        _percent(one.differs),
    ]


def angle_words(measures: Measures) -> Markup:
    """Ties and unexplained decisions, in words."""
    angles, evidence = measures.evidence.angles, measures.evidence
    own = measures.levels[measures.own]
    zero, unexplained = int((angles == 0.0).sum()), int((angles == np.pi).sum())
    tied = round(evidence.tie_mass * evidence.n_calibration)
    n = len(angles)
    tie = (
        f"At level {own.level:.4g}, {tied:,} of {evidence.n_calibration:,} calibration angles "
        f"({_percent(evidence.tie_mass)}) equal the calibrated angle of {_degrees(own.angle)}"
    )
    tie += ": with ties, coverage can only be larger." if tied > 1 else ": no ties there."
    items = [
        f"{zero:,} of {n:,} test decisions ({_percent(zero / n)}) have the angle 0: the estimate itself explains them.",
        tie,
        f"{unexplained:,} of {n:,} test decisions ({_percent(unexplained / n)}) are explained by no parameters within "
        "90 degrees of the estimate. They count with the angle 180 degrees.",
        f"Of the calibration decisions, {evidence.n_unexplained:,} are unexplained.",
    ]
    return element("ul", *(element("li", item) for item in items), class_="plain")


def findings(measures: Measures) -> Markup:
    """The diagnosis, what needs attention first."""
    order = ("warning", "notice", "good")
    ranked = sorted(measures.diagnosis.findings, key=lambda finding: order.index(finding.verdict))
    return element("ul", *(_finding(one) for one in ranked), class_="findings")


def _finding(one: Finding) -> Markup:
    remedy = element("p", element("strong", "What to do: "), one.remedy) if one.remedy else None
    words = element("div", element("h3", one.name.capitalize()), element("p", one.words), remedy)
    return element("li", element("span", _VERDICTS[one.verdict], class_="verdict"), words, class_=one.verdict)


def sampling_words(measures: Measures) -> Markup:
    """Which decisions the prescriptions were made for, and which are shown one by one."""
    one, _ = things(measures.model.problem)
    n, sample = len(measures.evidence.angles), measures.sample
    parts = [f"Coverage and angles are measured on all {n:,} {one}s."]
    if measures.n_prescribed < n:
        parts.append(
            f"Prescriptions, and every share of them, refer to {measures.n_prescribed:,} {one}s drawn at random."
        )
    if sample.complete and measures.n_prescribed == n:
        parts.append(f"All of them are shown one by one: {_strata(measures)}.")
    else:
        parts.append(
            f"{len(sample.rows):,} {one}s are shown one by one, drawn so that the telling ones are kept: "
            f"{_strata(measures)}."
        )
    levels = ", ".join(f"{level.level:.4g}" for level in measures.levels)
    parts.append(f"Prescriptions were worked out beforehand for the levels {levels}; the slider moves over these.")
    return element("p", " ".join(parts))


def _strata(measures: Measures) -> str:
    shown = (f"{one.shown:,} of {one.size:,} where {one.name}" for one in measures.sample.strata if one.size)
    return "; ".join(shown).replace("where explained", "explained").replace("where all", "with all")


def _facts(measures: Measures, data: str) -> Iterable[tuple[Markup, Markup]]:
    model, evidence = measures.model, measures.evidence
    own = measures.levels[measures.own]
    marks = {
        "Data of the fit": getattr(model, "data_fingerprint_", None),
        "Calibration data": getattr(model, "calibration_fingerprint_", None),
    }
    facts: dict[str, str | Markup] = {
        "Problem": problem_words(model.problem),
        "Parameters": f"{model.problem.n_params:,}, {_domain(model.problem.domain)}",
        "Estimate": type(model.estimator_).__name__,
        "Calibration": f"{evidence.n_calibration:,} decisions",
        "Angle": f"{_degrees(own.angle)} at level {own.level:.4g}",
        "Test data": f"{data}: {len(evidence.angles):,} decisions",
        "Seed": _seed(model.random_state),
    }
    for name, mark in marks.items():
        if mark is not None:
            facts[name] = element("code", mark[:16], title=f"SHA-256 {mark}")
    return [(element("dt", name), element("dd", value)) for name, value in facts.items()]


def _domain(domain: str) -> str:
    return "none of them negative" if domain == "nonnegative" else "of any sign"


def _seed(seed: object) -> str:
    if seed is None:
        return "none: the split differs from run to run"
    return str(seed) if isinstance(seed, (int, np.integer)) else "a generator"


def _parameters(measures: Measures, rows_table: ObservationTable) -> Markup:
    """The ends of the list of parameters, in multiples of their mean size."""
    center = measures.center
    relative = center / (float(np.abs(center).mean()) or 1.0)
    order: IntArray = np.argsort(-relative, kind="stable")
    most, least = order[:_LISTED], order[::-1][:_LISTED]
    adjective = "costly" if measures.model.problem.sense == "min" else "valued"
    words = (f"Most {adjective}", f"Least {adjective}")
    few = len(order) <= 2 * _LISTED
    lists = [("All parameters", order)] if few else list(zip(words, (most, least), strict=True))
    top = float(np.abs(relative).max()) or 1.0
    names = {k: name for _, rows in lists for k, name in zip(rows, _names(measures, rows_table, rows), strict=True)}
    blocks = [
        element("div", element("h3", title), element("ul", *(_bar(names[k], relative[k], top) for k in rows)))
        for title, rows in lists
    ]
    kind = "streets or links" if isinstance(measures.model.problem, ShortestPath) else "parameters"
    note = f"In multiples of the mean size of all {kind}: only ratios of parameters mean anything."
    idle = _never_in_play(measures, rows_table)
    return fragment([element("div", *blocks, class_="ranking"), element("p", note, idle, class_="note")])


def _never_in_play(measures: Measures, rows_table: ObservationTable) -> str:
    """Parameters that no decision at hand says anything of, by name."""
    numbers = measures.diagnosis["identifiability"].numbers
    count = numbers.get("n_idle") or 0
    if not count:
        return ""
    names = parameter_names(measures.model.problem, rows_table, numbers["first_idle"][:_LISTED])
    shown = "; ".join(names) + (f"; and {count - len(names):,} more" if count > len(names) else "")
    return f" {count:,} of them are never in play in these decisions, which say nothing of their size: {shown}."


def _names(measures: Measures, rows_table: ObservationTable, rows: IntArray) -> list[str]:
    return parameter_names(measures.model.problem, rows_table, rows.tolist())


def _bar(name: str, value: float, top: float) -> Markup:
    meter = element("progress", max="1", value=f"{abs(value) / top:.4f}", aria_hidden="true")
    return element("li", element("span", name, class_="name"), meter, element("span", f"{value:.2f}", class_="number"))


def _card(title: str, kind: str, sentences: tuple[str, ...]) -> Markup:
    items = (element("li", sentence) for sentence in sentences)
    return element("div", element("h3", title), element("ul", *items), class_=f"card {kind}")


def _degrees(angle: float) -> str:
    return f"{math.degrees(angle):.3g}°"


def _percent(share: float | None, digits: int = 1) -> str:
    return "–" if share is None else f"{share:z.{digits}%}"
