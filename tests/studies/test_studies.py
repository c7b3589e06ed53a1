"""Each study on a few people: rows that hold what they are called, the same for the same seed."""

import numpy as np
import pytest

from conformio.metrics import coverage_interval
from conformio.studies import ablations, robustness, sensitivity, split, timing, validity
from conformio.studies.ablations import ANGLES_DEGREES, CROSS_VALIDATED, STEPS, cross_validated_angle
from conformio.studies.conditions import BASE_LAW, ESTIMATORS, LAWS, Condition
from conformio.studies.findings.selection import distinct, only, pick
from conformio.studies.pipelines import TIE_RULES, Split, Trial
from conformio.studies.reproduction_studies import STUDIES

PATHS = Condition("shortest path", "Fenchel-Young", "nonnegative").as_settings()
ITEMS = Condition("knapsack", "Fenchel-Young", "free").as_settings()
PEOPLE = 60


def labelled(rows, study):
    """Labels tell the rows of one seed apart."""
    labels = STUDIES[study].judged.LABELS
    return len(distinct(rows, *labels)) == len(rows)


@pytest.fixture(scope="module")
def coverages():
    return validity.coverage_of(seed=1, n_train=40, n_test=50, sizes=[9, 19], **PATHS)


class TestValidity:
    def test_only_levels_that_so_few_can_certify(self, coverages):
        assert max(row["level"] for row in pick(coverages, n_calibration=9)) == 0.9
        assert max(row["level"] for row in pick(coverages, n_calibration=19)) == 0.95
        assert labelled(coverages, "validity")

    def test_columns_are_what_they_are_called(self, coverages):
        trial = Trial(Condition(**PATHS), Split(40, 19, 50), seed=1)
        row = only(coverages, n_calibration=19, level=0.6)
        angle = np.sort(trial.scores)[11]  # rank ceil(0.6 * 20)
        assert row["angle_degrees"] == pytest.approx(np.degrees(angle))
        assert row["coverage"] == (trial.test_angles <= angle).mean()
        assert (row["band_low"], row["band_high"]) == coverage_interval(19, 0.6, 50)
        assert row["tie_mass"] == (trial.scores == angle).mean()
        assert row["zero_share"] == (trial.scores == 0.0).mean()

    def test_deviation_and_band(self, coverages):
        for row in coverages:
            assert row["deviation"] == abs(row["coverage"] - row["level"])
            assert row["below_band"] == (row["coverage"] < row["band_low"])
            assert row["above_band"] == (row["coverage"] > row["band_high"])
            assert 0.0 <= row["theta_inside"] <= 1.0

    def test_coverage_grows_with_the_level(self, coverages):
        for size in (9, 19):
            coverage = [row["coverage"] for row in pick(coverages, n_calibration=size)]
            assert coverage == sorted(coverage)


@pytest.fixture(scope="module")
def gaps():
    settings = {"levels": [0.0, 0.5, 0.99], "ties": list(TIE_RULES), "relaxed": [0.5, 0.99]}
    return {
        name: robustness.gaps_of(seed=2, n_people=PEOPLE, **settings, **condition)
        for name, condition in (("paths", PATHS), ("items", ITEMS))
    }


class TestRobustness:
    def test_one_row_for_each_policy(self, gaps):
        assert all(labelled(found, "robustness") for found in gaps.values())
        assert [row["ties"] for row in pick(gaps["paths"], policy="classic")] == list(TIE_RULES)
        assert [row["level"] for row in pick(gaps["paths"], policy="conformal")] == [0.0, 0.5]
        assert [row["level"] for row in pick(gaps["paths"], policy="conformal, relaxed")] == [0.5]
        assert not pick(gaps["items"], policy="conformal, relaxed")

    def test_gains_are_over_the_classic_pipeline(self, gaps):
        for found in gaps.values():
            classic = only(found, policy="classic", ties="uniform")
            for row in found:
                if classic["aog"] > 0.0:
                    assert row["aog_gain"] == pytest.approx(1.0 - row["aog"] / classic["aog"])
                assert row["pog_gain"] == pytest.approx(1.0 - row["pog"] / classic["pog"])

    def test_level_zero_is_the_limit_rule_around_the_conformal_estimate(self, gaps):
        trial = Trial(Condition(**PATHS), Split.paper(PEOPLE), seed=2)
        row = only(gaps["paths"], policy="conformal", level=0.0)
        assert row["angle_degrees"] == 0.0
        assert row["aog"] == trial.gaps(trial.nominal(trial.conformal_theta, "alpha -> 0+", 1))["aog"]

    def test_shares(self, gaps):
        classic = only(gaps["paths"], policy="classic", ties="uniform")
        assert (classic["cycle_share"], classic["uncounted_ties"]) == (0.0, 0.0)
        assert gaps["items"][0]["cycle_share"] is None
        assert gaps["paths"][0]["negative_params"] == 0

    def test_the_papers_experiment_alone(self):
        cells = robustness.paper_cells(2)
        assert {cell.settings["problem"] for cell in cells} == {"shortest path", "knapsack"}
        assert all(cell.settings["ties"] == ["uniform"] for cell in cells)
        assert len(cells) == 2 * 4


class TestSplitStudy:
    def test_every_share_on_the_same_test_decisions(self):
        rows = split.gaps_by_share(seed=0, total=80, n_test=20, n_people=120, **PATHS)
        assert labelled(rows, "split")
        assert [row["share"] for row in rows[::2]] == list(split.SHARES)
        assert len({(row["classic_aog"], row["classic_pog"]) for row in rows}) == 1
        trial = Trial(Condition(**PATHS), Split(48, 32, 20), 0, 120)
        row = only(rows, share=0.4, level=0.5)
        assert row["aog"] == trial.gaps(trial.robust(trial.angle(0.5)))["aog"]
        assert row["pog_gain"] == pytest.approx(1.0 - row["pog"] / row["classic_pog"])

    def test_cells(self):
        cells = split.cells(2, (160, 320))
        assert len(cells) == len(ESTIMATORS) * 2 * 2
        assert {cell.settings["n_people"] for cell in cells} == {520}


class TestTiming:
    def test_seconds_are_positive_and_the_machine_is_named(self):
        (row,) = timing.seconds_of(seed=0, n_people=PEOPLE, **PATHS)
        names = ("train_classic", "train_conformal", "nominal_batch", "robust_batch", "nominal_single", "robust_single")
        assert all(row[name] > 0.0 for name in names)
        assert "cores" in row["machine"]
        assert row["python"].count(".") == 2

    def test_the_least_of_some_repetitions_after_one_that_does_not_count(self, monkeypatch):
        ticks = iter([0.0, 5.0, 10.0, 12.0, 20.0, 23.0])
        monkeypatch.setattr(timing, "perf_counter", lambda: next(ticks))
        calls = []
        assert timing._least(lambda: calls.append(1)) == 2.0
        assert len(calls) == 4

    def test_a_machine_without_load(self, monkeypatch):
        monkeypatch.delattr(timing.os, "getloadavg", raising=False)
        assert timing.machine()["load_average"] is None


class TestSensitivity:
    def test_every_combination_once(self):
        conditions = sensitivity.all_conditions()
        assert len(conditions) == len(set(conditions)) == len(LAWS) * 2 * len(ESTIMATORS) * 3

    def test_every_condition_gets_all_seeds_and_tie_rules(self):
        cells = sensitivity.cells(10)
        assert len(cells) == 10 * len(sensitivity.all_conditions())
        assert {cell.settings["seed"] for cell in cells} == set(range(10))
        assert all(cell.settings["ties"] == list(TIE_RULES) for cell in cells)

    def test_two_seeds_stay_two(self):
        counts = {}
        for cell in sensitivity.cells(2):
            key = tuple(cell.settings[name] for name in ("problem", "estimator", "domain", "law", "budgets"))
            counts[key] = counts.get(key, 0) + 1
        assert set(counts.values()) == {2}

    def test_cells_of_the_robustness_study_are_among_them(self):
        def identity(cell):
            return cell.name, tuple(sorted((name, str(value)) for name, value in cell.settings.items()))

        assert {identity(cell) for cell in robustness.cells(2)} <= {identity(cell) for cell in sensitivity.cells(2)}

    def test_flows_can_be_kept_to_some_laws(self):
        cells = sensitivity.cells(2, 300, (BASE_LAW, "log-normal"), (BASE_LAW,))
        settings = [cell.settings for cell in cells if cell.settings["problem"] == "shortest path"]
        assert {one["law"] for one in settings if one["domain"] == "free"} == {BASE_LAW}
        assert {one["law"] for one in settings} == {BASE_LAW, "log-normal"}


@pytest.fixture(scope="module")
def steps_found():
    return ablations.parts_of_the_gain(seed=0, n_people=PEOPLE, **PATHS)


class TestAblations:
    def test_steps_and_rivals(self, steps_found):
        assert labelled(steps_found, "ablations")
        steps = [*STEPS[:3], STEPS[3], STEPS[3], "classic estimate, alpha -> 0+", CROSS_VALIDATED]
        assert [row["step"] for row in steps_found] == steps

    def test_only_steps_with_a_level_are_certified(self, steps_found):
        for row in steps_found:
            assert (row["coverage"] is None) == (row["theta_inside"] is None) == (row["level"] is None)
        trial = Trial(Condition(**PATHS), Split.paper(PEOPLE), 0)
        row = only(steps_found, step=STEPS[3], level=0.9)
        assert row["coverage"] == (trial.test_angles <= trial.angle(0.9)).mean()

    def test_the_cross_validated_angle_has_the_best_adherence(self):
        trial = Trial(Condition(**PATHS), Split.paper(PEOPLE), 0)
        found = np.degrees(cross_validated_angle(trial))
        assert min(abs(found - angle) for angle in ANGLES_DEGREES) < 1e-9
        assert cross_validated_angle(trial) == cross_validated_angle(Trial(Condition(**PATHS), Split.paper(PEOPLE), 0))

    def test_of_equally_good_angles_the_smallest_wins(self, monkeypatch):
        trial = Trial(Condition(**PATHS), Split.paper(PEOPLE), 0)
        monkeypatch.setattr(ablations, "_adherence", lambda *arguments: 1.0)
        assert cross_validated_angle(trial) == np.radians(ANGLES_DEGREES[0])


@pytest.mark.parametrize("condition", [PATHS, ITEMS], ids=["paths", "items"])
def test_the_same_seed_gives_the_same_rows(condition):
    first, again = (ablations.parts_of_the_gain(seed=4, n_people=PEOPLE, **condition) for _ in range(2))
    assert first == again
    assert first != ablations.parts_of_the_gain(seed=5, n_people=PEOPLE, **condition)
