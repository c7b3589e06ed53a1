"""Findings of fitted pipelines: exact bands, ties, roles of the rows, and how they are told."""

import dataclasses
import itertools
import json
import math

import numpy as np
import pytest
from scipy import stats

import conformio as cio
from conformio.diagnosis import Diagnosis, Evidence, Finding
from conformio.diagnosis.calibration_set import size_finding, split_finding, ties_finding, unexplained_finding
from conformio.diagnosis.other_decisions import coverage_finding, exchangeability_finding
from conformio.studies import road_grid_example

NAMES = "infeasible coverage exchangeability calibration-size split ties unexplained identifiability"


@pytest.fixture(scope="module")
def drivers():
    return road_grid_example(300, rows=4, cols=4, random_state=0)


@pytest.fixture(scope="module")
def model(drivers):
    model = cio.ConformalIO(drivers.problem, cio.PerturbedFenchelYoung(epochs=3), 0.8, random_state=3)
    return model.fit(drivers.contexts[:200], drivers.decisions[:200])


@pytest.fixture(scope="module")
def evidence(model, drivers):
    contexts, decisions = drivers.problem.check_rows(drivers.contexts[200:], drivers.decisions[200:], "test")
    return Evidence.of(model, contexts, decisions, model.angles(contexts, decisions))


def with_scores(evidence, scores, level):
    scores = np.asarray(scores, dtype=float)
    rank = math.ceil(round(level * (len(scores) + 1), 9))
    angle = 0.0 if rank == 0 else np.pi if rank > len(scores) else np.sort(scores)[rank - 1]
    return dataclasses.replace(
        evidence,
        scores=scores,
        level=level,
        angle=float(angle),
        n_calibration=len(scores),
        n_unexplained=int((scores == np.pi).sum()),
        tie_mass=float((scores == angle).mean()),
    )


def test_new_decisions_are_asked_everything(model, drivers):
    diagnosis = model.diagnose(drivers.contexts[200:], drivers.decisions[200:])
    assert [finding.name.replace(" ", "-") for finding in diagnosis.findings] == NAMES.split()
    assert json.loads(json.dumps(diagnosis.to_dict(), allow_nan=False))["verdict"] == diagnosis.verdict
    numbers = diagnosis["coverage"].numbers
    covered = model.covers(drivers.contexts[200:], drivers.decisions[200:])
    assert numbers["coverage"] == covered.mean()
    assert (numbers["band_low"], numbers["band_high"]) == cio.metrics.coverage_interval(50, 0.8, 100)
    assert diagnosis["infeasible"].verdict == diagnosis["unexplained"].verdict == "good"


def test_rows_of_the_fit_are_known_again(model, drivers):
    fitted = model.diagnose(drivers.contexts[:200], drivers.decisions[:200].toarray())
    assert "fitted on" in fitted["coverage"].words
    assert fitted["coverage"].numbers["coverage"] is None
    assert fitted["identifiability"].numbers["n_decisions"] == 150  # those that trained
    held_out = model.calibration_indices_
    calibrated = model.diagnose(drivers.contexts[held_out], drivers.decisions[held_out])
    assert "calibrated on" in calibrated["exchangeability"].words
    assert calibrated["identifiability"].numbers["n_decisions"] == 50


def test_rows_of_the_fit_after_calibrating_on_others(drivers):
    model = cio.ConformalIO(drivers.problem, cio.PerturbedFenchelYoung(epochs=1), random_state=0)
    model.fit(drivers.contexts[:100], drivers.decisions[:100])
    model.conformalize(drivers.contexts[100:180], drivers.decisions[100:180])
    again = model.diagnose(drivers.contexts[:100], drivers.decisions[:100])
    assert "fitted on" in again["coverage"].words
    assert again["identifiability"].numbers["n_decisions"] == 100  # which of them trained is no longer known


def test_infeasible_decisions_are_counted_not_refused(drivers):
    model = cio.ConformalIO(drivers.problem, infeasible="unexplained", random_state=0)
    model.fit(drivers.contexts[:200], drivers.decisions[:200])
    decisions = drivers.decisions[200:].toarray()
    decisions[[3, 7]] = 0.0
    finding = model.diagnose(drivers.contexts[200:], decisions)["infeasible"]
    assert finding.verdict == "warning"
    assert finding.numbers == {"n": 100, "n_infeasible": 2, "first_rows": [3, 7]}
    assert "row 3: it uses no edge" in finding.words


def test_no_rows_and_no_fit_are_refused(model, drivers):
    with pytest.raises(cio.InvalidInputError, match="at least one row"):
        model.diagnose(np.zeros((0, 2)), np.zeros((0, drivers.problem.n_vars)))
    with pytest.raises(cio.NotFittedError):
        cio.ConformalIO(drivers.problem).diagnose(drivers.contexts, drivers.decisions)


@pytest.mark.parametrize(("level", "least"), [(0.9, 9), (0.5, 1), (0.55, 2), (0.99, 99), (0.0, 0)])
def test_least_size_is_the_smallest_whose_rank_fits(evidence, level, least):
    fits = [n for n in range(200) if math.ceil(round(level * (n + 1), 9)) <= n]
    assert (fits[0] if level else 0) == least
    finding = size_finding(with_scores(evidence, np.linspace(0.1, 1.0, 150), level))
    assert finding.numbers["least_size"] == least
    assert finding.verdict in ("good", "notice")
    if least > 1:
        assert size_finding(with_scores(evidence, np.linspace(0.1, 1.0, least - 1), level)).verdict == "warning"


def test_level_one_needs_another_level(evidence):
    finding = size_finding(with_scores(evidence, [0.1, 0.2], 1.0))
    assert finding.verdict == "warning"
    assert finding.numbers["least_size"] is None
    assert "No finite number" in finding.words


def test_band_of_the_coverage_is_the_beta_law(evidence):
    numbers = size_finding(with_scores(evidence, np.linspace(0.1, 1.0, 40), 0.8)).numbers
    law = stats.beta(33, 8)  # rank ceil(0.8 * 41)
    assert numbers["band_low"] == pytest.approx(law.ppf(0.005))
    assert numbers["band_high"] == pytest.approx(law.ppf(0.995))
    wide, wanted = numbers["band_high"] - numbers["band_low"], numbers["size_for_narrow_band"]
    at_wanted = size_finding(with_scores(evidence, np.linspace(0.1, 1.0, wanted), 0.8))
    assert wide > 0.15
    assert at_wanted.verdict == "good"


@pytest.mark.parametrize(("n", "level"), [(6, 0.5), (7, 0.75), (5, 0.8)])
def test_split_range_holds_the_other_half_of_every_pool(evidence, n, level):
    """All ways to deal 2n angles to two calibration sets: the stated mass is kept, with and without ties."""
    for pool in (np.arange(1, 2 * n + 1) / 10.0, np.repeat(np.arange(1, n + 1), 2) / 10.0):
        held = []
        for ours in itertools.combinations(range(2 * n), n):
            theirs = np.sort(np.delete(pool, ours))
            numbers = split_finding(with_scores(evidence, pool[list(ours)], level)).numbers
            other = theirs[math.ceil(level * (n + 1)) - 1]
            held.append(numbers["low"] <= other <= numbers["high"])
        assert np.mean(held) >= 0.99


def test_split_range_is_no_wider_than_needed(evidence):
    rng = np.random.default_rng(0)
    found = split_finding(with_scores(evidence, rng.uniform(0.1, 0.2, 2000), 0.5))
    assert found.verdict == "good"
    assert found.numbers["high"] - found.numbers["low"] == pytest.approx(
        2 * 2.576 * 0.1 * 0.5 * (2 / 2000) ** 0.5, rel=0.2
    )


@pytest.mark.parametrize(("level", "angle"), [(0.0, 0.0), (0.99, np.pi)])
def test_split_where_the_size_decides(evidence, level, angle):
    found = split_finding(with_scores(evidence, [0.1, 0.2, 0.3], level))
    assert found.numbers["low"] == found.numbers["high"] == angle


def test_levels_among_ties_share_their_set(evidence):
    scores = np.array([0.0] * 30 + [0.2] * 40 + list(np.linspace(0.3, 0.5, 29)))
    found = ties_finding(with_scores(evidence, scores, 0.5))
    assert found.verdict == "notice"
    low, high = found.numbers["level_low"], found.numbers["level_high"]
    assert (low, high) == (0.3, 0.7)
    assert {cio.calibrated_angle(scores, level) for level in (0.305, 0.5, 0.7)} == {0.2}
    assert cio.calibrated_angle(scores, 0.3) == 0.0
    assert cio.calibrated_angle(scores, 0.705) > 0.2
    assert ties_finding(with_scores(evidence, scores, 0.9)).verdict == "good"
    assert "everything" in ties_finding(with_scores(evidence, scores, 1.0)).words


def test_unexplained_decisions(evidence):
    scores = [0.1] * 90 + [np.pi] * 10
    assert unexplained_finding(with_scores(evidence, scores, 0.8)).verdict == "notice"
    found = unexplained_finding(with_scores(evidence, scores, 0.95))
    assert found.verdict == "warning"
    assert found.numbers == {"n_unexplained": 10, "share": 0.1, "n_excluded": 0}
    excluded = dataclasses.replace(with_scores(evidence, [0.1] * 9, 0.5), n_excluded=4)
    assert "4 infeasible" in unexplained_finding(excluded).words


def test_other_decisions_that_differ_are_told(evidence):
    rng = np.random.default_rng(1)
    base = with_scores(evidence, rng.uniform(0.1, 0.2, 500), 0.8)
    alike = dataclasses.replace(base, angles=rng.uniform(0.1, 0.2, 400))
    assert coverage_finding(alike).verdict == exchangeability_finding(alike).verdict == "good"
    farther = dataclasses.replace(base, angles=rng.uniform(0.15, 0.3, 400))
    assert coverage_finding(farther).verdict == exchangeability_finding(farther).verdict == "warning"
    assert "larger" in exchangeability_finding(farther).words
    nearer = dataclasses.replace(base, angles=rng.uniform(0.0, 0.15, 400))
    assert coverage_finding(nearer).verdict == "notice"
    assert "easier" in coverage_finding(nearer).words
    tied = with_scores(evidence, [0.0] * 90 + [0.1] * 10, 0.5)
    assert "equal angles" in coverage_finding(dataclasses.replace(tied, angles=np.zeros(400))).words
    p_value = exchangeability_finding(farther).numbers["p_value"]
    assert p_value == pytest.approx(stats.kstest(base.scores, farther.angles, method="asymp").pvalue)


def test_false_alarms_are_as_rare_as_stated(evidence):
    """At most 1 in 100 of each kind: 400 draws give more than 12 with probability below 1e-3."""
    rng = np.random.default_rng(2)
    alarms = {"coverage": 0, "exchangeability": 0}
    for _ in range(400):
        draw = dataclasses.replace(with_scores(evidence, rng.random(40), 0.8), angles=rng.random(60))
        for finding in (coverage_finding(draw), exchangeability_finding(draw)):
            alarms[finding.name] += finding.verdict == "warning"
    assert max(alarms.values()) <= 12


def test_one_level_alone_says_what_it_does_not_know(drivers):
    model = cio.ConformalIO(
        drivers.problem, cio.FixedParameters(np.ones(drivers.problem.n_params)), 0.8, scores="level"
    )
    model.conformalize(drivers.contexts[:200], drivers.decisions[:200])
    diagnosis = model.diagnose(drivers.contexts[200:], drivers.decisions[200:])
    assert diagnosis["split"].words.startswith("Not known")
    assert diagnosis["exchangeability"].numbers["p_value"] is None
    assert diagnosis["ties"].numbers["tie_mass"] == model.tie_mass_
    assert diagnosis["coverage"].numbers["coverage"] is not None


def test_stored_models_know_their_rows(model, drivers, tmp_path):
    model.save(tmp_path / "model.zip")
    stored = cio.load(tmp_path / "model.zip")
    for rows in (slice(200), slice(200, 300)):
        ours, theirs = (m.diagnose(drivers.contexts[rows], drivers.decisions[rows]) for m in (model, stored))
        assert ours.to_dict() == theirs.to_dict()


def test_told_in_a_terminal_and_in_a_notebook():
    words = "<script>alert(1)</script> & more " * 6
    diagnosis = Diagnosis((Finding("<b>", "warning", words, "Do <this>."), Finding("fine", "good", "Yes.")))
    assert diagnosis.verdict == "warning"
    lines = str(diagnosis).splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[0].startswith("warning  <b>")
    assert any("-> Do <this>." in line for line in lines)
    html = diagnosis._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "Do &lt;this&gt;." in html
    assert Diagnosis(()).verdict == "good"
    with pytest.raises(cio.InvalidInputError, match="must be one of <b>, fine; got 'ties'"):
        diagnosis["ties"]
