"""Verdicts follow from results: each one is reached, and flips when the results do."""

import pytest
from results import (
    CONDITION,
    FENCHEL,
    KNAPSACK,
    ablation_rows,
    paper_like,
    robustness_rows,
    split_rows,
    table1_rows,
    timing_rows,
    validity_rows,
)

from conformio.metrics import coverage_interval
from conformio.studies.findings import (
    ablations,
    robustness,
    sensitivity,
    split,
    table1,
    timing,
    validity,
)
from conformio.studies.findings.bands import exact_mean, exact_sd, printed_half_width, proved_half_width
from conformio.studies.findings.selection import column, distinct, number, only, pick
from conformio.studies.findings.summaries import as_csv, from_csv, summarized
from conformio.studies.findings.verdicts import Finding, Verdict, by_conditions, corrected_or
from conformio.studies.findings.wording import by_condition, listed

REPRODUCED, CONDITIONAL = Verdict.REPRODUCED, Verdict.CONDITIONAL
FAILED, CORRECTED = Verdict.NOT_REPRODUCED, Verdict.CORRECTED
CONFIRMED, CONFIRMED_PARTLY, REFUTED = Verdict.CONFIRMED, Verdict.CONFIRMED_CONDITIONAL, Verdict.REFUTED


def verdict(findings, words):
    starts = [finding for finding in findings if finding.claim.startswith(words)]
    (found,) = starts or [finding for finding in findings if words in finding.claim]
    return found.verdict


class TestRules:
    def test_conditions_decide(self):
        assert by_conditions({"a": True, "b": True}) == (REPRODUCED, "")
        assert by_conditions({"a": True, "b": False}) == (CONDITIONAL, "Holds for a. Fails for b.")
        assert by_conditions({"a": False}) == (FAILED, "Fails for a.")

    def test_of_many_conditions_the_fewer_are_listed(self):
        many = {str(k): k > 0 for k in range(9)}
        few = {name: not fine for name, fine in many.items()}
        assert by_conditions(many)[1] == "Holds for 8 conditions. Fails for 0."
        assert by_conditions(few)[1] == "Holds for 0. Fails for 8 conditions."
        assert by_conditions(dict.fromkeys(many, False))[1] == "Fails for 9 conditions."

    def test_printed_numbers_come_first(self):
        assert corrected_or(True, False) is REPRODUCED
        assert corrected_or(False, True) is CORRECTED
        assert corrected_or(False, False) is FAILED

    def test_expectations_of_ours_are_confirmed_or_refuted(self):
        changed = {REPRODUCED: CONFIRMED, CONDITIONAL: CONFIRMED_PARTLY, FAILED: REFUTED, CORRECTED: CORRECTED}
        for before, after in changed.items():
            finding = Finding("study", "claim", "paper", "measured", "rule", before, "where")
            assert finding.of_ours() == Finding("study", "claim", "paper", "measured", "rule", after, "where")


class TestSelection:
    ROWS = ({"a": 1, "b": "x"}, {"a": 2, "b": "x"}, {"a": 2, "b": None})

    def test_rows_by_value(self):
        assert pick(self.ROWS, a=2, b="x") == [self.ROWS[1]]
        assert only(self.ROWS, b=None) == self.ROWS[2]
        assert distinct(self.ROWS, "a") == [(1,), (2,)]
        assert column(self.ROWS, "a") == [1.0, 2.0, 2.0]

    def test_not_exactly_one_row_is_an_error(self):
        with pytest.raises(LookupError, match="2 rows with"):
            only(self.ROWS, a=2)
        with pytest.raises(LookupError, match="0 rows with"):
            only(self.ROWS, a=3)

    def test_text_is_no_number(self):
        with pytest.raises(LookupError, match="a number was expected"):
            number(self.ROWS[0], "b")


class TestSummaries:
    ROWS = (
        {"name": "a", "seed": 0, "x": 1.0, "y": None, "text": "t"},
        {"name": "b", "seed": 0, "x": 5.0, "y": 1.0, "text": "t"},
        {"name": "a", "seed": 1, "x": 2.0, "y": 3.0, "text": "t"},
    )

    def test_seeds_become_mean_range_and_spread(self):
        first, second = summarized(self.ROWS, ("name",))
        assert (first["name"], first["n"], first["x"], first["x_low"], first["x_high"]) == ("a", 2, 1.5, 1.0, 2.0)
        assert first["x_sd"] == pytest.approx(0.5**0.5, rel=1e-5)
        assert first["y"] is None
        assert (second["x"], second["x_sd"], second["y"]) == (5.0, 0.0, 1.0)
        assert not {"seed", "text"} & set(first)

    def test_files_hold_exactly_what_was_judged(self):
        rows = summarized([{"name": "a", "seed": 0, "x": 1 / 3, "big": 1.23456789e-9, "whole": 7}], ("name",))
        assert from_csv(as_csv(rows)) == rows
        assert rows[0]["x"] == 0.333333

    def test_means_alone(self):
        first, _ = summarized(self.ROWS, ("name",), spread=False)
        assert first == {"name": "a", "n": 2, "x": 1.5, "y": None}

    def test_nothing_gives_nothing(self):
        assert summarized([], ("name",)) == []
        assert from_csv(as_csv([])) == []


class TestBands:
    @pytest.mark.parametrize(("n", "level"), [(50, 0.3), (200, 0.9)])
    def test_moments_are_those_of_the_exact_band(self, n, level):
        low, high = coverage_interval(n, level, 1000, mass=0.99)
        mean, sd = exact_mean(n, level), exact_sd(n, level, 1000)
        assert low < mean < high
        assert (high - low) / (2 * 2.576) == pytest.approx(sd, rel=0.1)

    def test_the_sum_of_roots_is_wider(self):
        assert proved_half_width(200) > printed_half_width(200) == pytest.approx(0.52, abs=0.005)


class TestWording:
    def test_only_what_differs_is_named(self):
        rows = [CONDITION, {**CONDITION, "domain": "free"}, KNAPSACK, {**KNAPSACK, "budgets": "1/5 to 5"}]
        assert list(by_condition(rows)) == [
            "shortest path, sub-optimality, nonnegative",
            "shortest path, sub-optimality, free signs",
            "knapsack, sub-optimality, budgets 1/5 to 4/5",
            "knapsack, sub-optimality, budgets 1/5 to 5",
        ]

    def test_of_many_numbers_the_ends_are_listed(self):
        assert listed({"a": 1.0, "b": 0.5}, ".1f") == "a: 1.0; b: 0.5"
        assert listed({str(k): float(k) for k in range(7)}) == "0.00 (0) to 6.00 (6), 7 conditions"


class TestTable1:
    def test_corrected_forms(self):
        found = table1.findings(table1_rows())
        assert verdict(found, "AOG of classic") is REPRODUCED
        for words in ("POG of classic", "AOG of conformal", "POG of conformal", "Bound on the AOG", "inside (0, pi/2)"):
            assert verdict(found, words) is CORRECTED, words
        assert verdict(found, "follow the performance") is FAILED
        assert verdict(found, "grow without bound") is REPRODUCED

    def test_what_the_paper_derives_would_be_reproduced(self):
        found = table1.findings(table1_rows(which=0, angle=0.5))
        for words in ("AOG of classic", "POG of classic", "AOG of conformal", "POG of conformal", "inside (0, pi/2)"):
            assert verdict(found, words) is REPRODUCED, words

    def test_other_gaps_agree_with_nothing(self):
        found = table1.findings(table1_rows(classic=1.3, robust_optimum=500.0))
        for words in ("AOG of classic", "POG of classic", "POG of conformal", "Bound on the AOG", "Bound on the POG"):
            assert verdict(found, words) is FAILED, words
        assert verdict(found, "follow the performance") is REPRODUCED

    def test_gaps_that_do_not_grow(self):
        rows = [row | {"aog": 1.0} if row["policy"] == "classic" else row for row in table1_rows()]
        assert verdict(table1.findings(rows), "grow without bound") is FAILED


class TestValidity:
    GOOD = staticmethod(lambda level: level + 0.01)

    def judged(self, *groups):
        return validity.findings([row for group in groups for row in group])

    def test_exact_and_valid(self):
        found = self.judged(validity_rows(CONDITION, self.GOOD), validity_rows(KNAPSACK, self.GOOD))
        for words in ("at least the level", "always achieved", "gets closer"):
            assert verdict(found, words) is REPRODUCED, words
        for words in ("exactly beta", "own parameters"):
            assert verdict(found, words) is CONFIRMED, words
        assert verdict(found, "Half-width") is CORRECTED

    def test_one_condition_that_covers_too_little(self):
        short = validity_rows(KNAPSACK, lambda level: level - 0.2, below_band=1.0, deviation_high=0.2)
        found = self.judged(validity_rows(CONDITION, self.GOOD), short)
        for words in ("at least the level", "always achieved"):
            assert verdict(found, words) is CONDITIONAL, words
        assert verdict(found, "exactly beta") is CONFIRMED_PARTLY

    def test_nothing_holds(self):
        rows = validity_rows(
            CONDITION, lambda level: level - 0.2, deviation=lambda n: 0.9, below_band=1.0, theta_inside=1.0
        )
        found = self.judged(rows)
        for words in ("at least the level", "always achieved", "gets closer", "Half-width"):
            assert verdict(found, words) is FAILED, words
        for words in ("exactly beta", "own parameters"):
            assert verdict(found, words) is REFUTED, words

    def test_levels_with_angle_zero_are_named_and_not_judged(self):
        tied = validity_rows(CONDITION, lambda level: max(level, 0.85), angle=lambda level: float(level > 0.5))
        tied = [
            row | {"above_band": 1.0, "deviation_high": 0.99, "deviation": 0.5} if row["level"] < 0.6 else row
            for row in tied
        ]
        found = self.judged(tied)
        assert verdict(found, "exactly beta") is CONFIRMED
        assert verdict(found, "gets closer") is CONDITIONAL
        (closer,) = [f for f in found if "gets closer" in f.claim]
        assert "up to 0.5" in closer.measured
        (band,) = [f for f in found if "Half-width" in f.claim]
        assert band.verdict is CORRECTED
        assert "leaves even the wider band" in band.conditions


def flat(gain):
    return lambda level: gain


class TestRobustness:
    def judged(self, *groups):
        return robustness.findings([row for group in groups for row in group])

    def test_the_papers_numbers(self):
        found = self.judged(paper_like(CONDITION), paper_like(KNAPSACK))
        assert {finding.verdict for finding in found} == {REPRODUCED}

    def test_no_gain(self):
        found = self.judged(*(robustness_rows(one, flat(-0.1), flat(-0.1)) for one in (CONDITION, KNAPSACK)))
        for words in ("AOG of the shortest", "POG of the knapsack", "rises quickly", "whatever the point estimate"):
            assert verdict(found, words) is FAILED, words
        assert verdict(found, "Beyond 50%") is REPRODUCED

    def test_one_estimator_only(self):
        other = robustness_rows({**CONDITION, **FENCHEL}, lambda level: 2.0 * level - 1.0, flat(-0.1))
        found = self.judged(paper_like(CONDITION), other, paper_like(KNAPSACK))
        for words in ("AOG of the shortest", "POG of the shortest", "Beyond 50%", "whatever the point estimate"):
            assert verdict(found, words) is CONDITIONAL, words
        assert verdict(found, "AOG of the knapsack") is REPRODUCED

    def test_the_mean_of_the_seeds_own_gains_counts_as_well(self):
        rows = robustness_rows(CONDITION, flat(0.5), flat(0.5))
        rows = [row | {"aog_gain": 0.25} for row in rows]
        found = self.judged(rows, paper_like(KNAPSACK))
        assert verdict(found, "AOG of the shortest") is REPRODUCED
        assert verdict(found, "POG of the shortest") is FAILED

    def test_nothing_to_improve(self):
        rows = [row | {"aog": 0.0, "aog_gain": None} for row in paper_like(KNAPSACK)]
        found = self.judged(paper_like(CONDITION), rows)
        assert verdict(found, "AOG of the knapsack") is FAILED


class TestTiming:
    def judged(self, path, knapsack):
        return timing.findings([*timing_rows(CONDITION, **path), *timing_rows(KNAPSACK, **knapsack)])

    def test_the_papers_numbers(self):
        knapsack = {"train": (2.47, 1.95), "single": (0.01, 0.44)}
        found = self.judged({"train": (0.18, 0.27)}, knapsack)
        assert {finding.verdict for finding in found} == {REPRODUCED}

    def test_slow_training_and_slow_decisions(self):
        found = self.judged({"train": (1.0, 3.0), "single": (0.01, 5.0)}, {"train": (1.0, 3.0), "single": (0.01, 5.0)})
        for words in ("similar times", "even faster", "robust shortest path", "robust knapsack", "less than a second"):
            assert verdict(found, words) is FAILED, words

    def test_a_lower_price_is_said(self):
        found = self.judged({"single": (0.01, 0.02)}, {})
        (price,) = [finding for finding in found if "robust shortest path" in finding.claim]
        assert price.verdict is FAILED
        assert "lower everywhere" in price.conditions


class TestSplit:
    def test_the_papers_figure(self):
        rows = split_rows(CONDITION, lambda total, share: 0.0 if total == 160 else 0.1 + 0.1 * share)
        assert {finding.verdict for finding in split.findings(rows)} == {REPRODUCED}

    def test_the_opposite(self):
        rows = split_rows(CONDITION, lambda total, share: 0.3 - 0.1 * share, classic=lambda total: 100.0 / total)
        assert {finding.verdict for finding in split.findings(rows)} == {FAILED}

    def test_one_estimator_only(self):
        good = split_rows(CONDITION, lambda total, share: 0.0 if total == 160 else 0.1 + 0.1 * share)
        bad = split_rows({**CONDITION, **FENCHEL}, lambda total, share: 0.3 - 0.1 * share, lambda total: 100.0 / total)
        assert {finding.verdict for finding in split.findings(good + bad)} == {CONDITIONAL}


FREE = {**CONDITION, "domain": "free"}


class TestSensitivity:
    def as_expected(self):
        rows = robustness_rows(CONDITION, flat(0.25), flat(0.2))
        rows += robustness_rows(FREE, flat(0.5), flat(0.4), cycle_share=0.3)
        fenchel = {"uniform": 0.2}
        rows += robustness_rows({**CONDITION, **FENCHEL}, flat(0.85), flat(0.83), ties=fenchel)
        rows += robustness_rows({**FREE, **FENCHEL}, flat(0.95), flat(0.95), ties=fenchel, cycle_share=0.3)
        return rows + paper_like(KNAPSACK)

    def test_what_was_expected(self):
        found = sensitivity.findings(self.as_expected())
        for words in (
            "knapsack bands hold",
            "have angle 0",
            "change nothing",
            "far the better",
            "cycles",
            "most",
            "relaxed",
        ):
            assert verdict(found, words) is CONFIRMED, words
        assert verdict(found, "bands for the knapsack") is REPRODUCED
        assert verdict(found, "bands for the shortest path") is CONDITIONAL
        assert verdict(found, "shortest path problem however") is REPRODUCED

    def test_nothing_as_expected(self):
        def better(level):
            return -0.1 + 0.05 * level

        rows = robustness_rows(CONDITION, better, better, relaxed=0.9, zero_share=0.2)
        rows += robustness_rows(FREE, flat(-0.2), flat(-0.2), relaxed=0.9, cycle_share=0.0)
        rows += robustness_rows({**CONDITION, **FENCHEL}, better, better, relaxed=0.9)
        rows += robustness_rows({**FREE, **FENCHEL}, flat(-0.2), flat(-0.2), relaxed=0.9, cycle_share=0.0)
        found = sensitivity.findings(rows + robustness_rows(KNAPSACK, flat(-0.1), flat(-0.1)))
        assert {finding.verdict for finding in found} == {FAILED, REFUTED}

    def test_laws_without_free_signs_are_left_out_of_the_comparison(self):
        other = {**CONDITION, "law": "log-normal"}
        rows = self.as_expected() + robustness_rows(other, flat(0.25), flat(0.2))
        rows += robustness_rows({**other, **FENCHEL}, flat(0.85), flat(0.83), ties={"uniform": 0.2})
        (most,) = [finding for finding in sensitivity.findings(rows) if "helps most" in finding.claim]
        assert "log-normal" not in most.measured

    def test_one_tie_rule_takes_the_gain_away(self):
        rows = paper_like(CONDITION, ties={"fewest ones": 0.1})
        rows += paper_like({**CONDITION, **FENCHEL})
        rows += paper_like(FREE, cycle_share=0.1) + paper_like({**FREE, **FENCHEL}, cycle_share=0.1)
        found = sensitivity.findings(rows + paper_like(KNAPSACK))
        assert verdict(found, "shortest path problem however") is CONDITIONAL


class TestAblations:
    def test_the_set_gains(self):
        found = ablations.findings(ablation_rows(CONDITION) + ablation_rows(KNAPSACK))
        assert {finding.verdict for finding in found} == {CONFIRMED}

    def test_only_ties_gain(self):
        rows = ablation_rows(CONDITION, gaps=(1.0, 1.1, 0.7, 0.7), rival=1.0, inside=0.95)
        found = ablations.findings(rows)
        for words in ("AOG comes from the set", "POG comes from the set", "cross-validated", "meets inverse-feasible"):
            assert verdict(found, words) is REFUTED, words
        assert verdict(found, "limit alpha -> 0+ alone") is CONFIRMED

    def test_pipelines_without_a_gap(self):
        found = ablations.findings(ablation_rows(CONDITION, gaps=(0.0, 0.0, 0.0, 0.0), rival=0.0))
        assert verdict(found, "An angle chosen") is CONFIRMED
        assert verdict(found, "AOG comes from the set") is REFUTED
        worse = ablations.findings(ablation_rows(CONDITION, gaps=(0.0, 0.0, 0.0, 0.0), rival=0.1))
        assert verdict(worse, "An angle chosen") is REFUTED

    def test_parts_add_up_to_the_improvement(self):
        shares = ablations.parts(ablation_rows(CONDITION), "aog", 0.9)
        assert sum(shares.values()) == pytest.approx(0.3)
        assert shares["less training data"] == pytest.approx(-0.1)
