"""The demonstration's numbers are the library's numbers, and the same seed gives the same ones."""

import dataclasses
import itertools

import numpy as np
import pytest

import conformio as cio
from conformio.studies import road_grid_example
from conformio.studies.demo import TABLE_LEVELS, certificate, run_demo
from conformio.studies.demo_report import COLUMNS, above_the_band, table_cells


@pytest.fixture(scope="module")
def steps():
    return []


@pytest.fixture(scope="module")
def result(steps):
    return run_demo(150, random_state=5, progress=lambda name, share: steps.append((name, share)))


def timeless(row):
    return dataclasses.replace(row, seconds=0.0)


def test_sizes_follow_the_paper_split(result):
    assert (result.n_train, result.n_calibration, result.n_test) == (90, 30, 30)


def test_rows_are_one_classic_and_one_for_each_level(result):
    assert [row.level for row in result.rows] == [None, *TABLE_LEVELS]
    assert [row.method for row in result.rows] == ["classic"] + ["conformal"] * len(TABLE_LEVELS)


def test_numbers_equal_a_direct_computation(result):
    data = road_grid_example(150, random_state=5)
    known, test = slice(0, 120), slice(120, 150)
    model = cio.ConformalIO(data.problem, cio.PerturbedFenchelYoung(), random_state=5)
    model.fit(data.contexts[known], data.decisions[known])
    plan = model.predict(data.contexts[test], 0.9)
    row = result.rows[3]
    own = data.problem.objective(data.thetas[test], plan) - data.problem.objective(
        data.thetas[test], data.decisions[test]
    )
    best = data.problem.solve(data.theta_true, data.contexts[test])
    true = data.problem.objective(data.theta_true, plan) - data.problem.objective(data.theta_true, best)
    assert row.pog == pytest.approx(own.mean(), abs=1e-9)
    assert row.aog == pytest.approx(true.mean(), abs=1e-9)
    assert row.angle_degrees == pytest.approx(np.degrees(model.angle(0.9)))
    assert row.coverage == model.covers(data.contexts[test], data.decisions[test], 0.9).mean()
    same = (plan != data.decisions[test]).sum(axis=1) == 0
    assert row.adherence == pytest.approx(np.mean(same))


def test_classic_row_trains_on_both_parts(result):
    data = road_grid_example(150, random_state=5)
    theta = cio.PerturbedFenchelYoung(random_state=5).fit(data.problem, data.contexts[:120], data.decisions[:120])
    plan = data.problem.solve(theta.theta_, data.contexts[120:])
    best = data.problem.optimal_values(data.theta_true, data.contexts[120:], "test")
    assert result.rows[0].aog == pytest.approx((data.problem.objective(data.theta_true, plan) - best).mean())


def test_the_same_seed_gives_the_same_numbers(result):
    again = run_demo(150, random_state=5)
    assert [timeless(row) for row in again.rows] == [timeless(row) for row in result.rows]
    assert again.coverage_curve == result.coverage_curve


def test_bands_and_coverage_are_shares_that_grow_with_the_level(result):
    curve = result.coverage_curve
    assert all(0.0 <= point.low <= point.high <= 1.0 for point in curve)
    assert all(a.coverage <= b.coverage for a, b in itertools.pairwise(curve))


def test_the_report_says_where_the_coverage_lies_above_the_band(result):
    above = [point.level for point in result.coverage_curve if point.coverage > point.high]
    assert len(above) > 1
    assert above_the_band(result) == f"It lies above the band at {len(above)} levels from 0.05 to {above[-1]:g}."
    assert (
        above_the_band(dataclasses.replace(result, coverage_curve=()))
        == "It lies above the band at none of the levels shown."
    )
    one = tuple(point for point in result.coverage_curve if point.level in (above[0], 0.95))
    assert above_the_band(dataclasses.replace(result, coverage_curve=one)) == "It lies above the band at 0.05."


def test_progress_never_goes_back(result, steps):
    shares = [share for _, share in steps]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)


def test_cells_line_up_with_columns(result):
    assert all(len(table_cells(row)) == len(COLUMNS) for row in result.rows)
    assert table_cells(result.rows[0])[:4] == ["classic", "-", "-", "-"]


def test_the_certificate_is_two_sentences(result):
    text = certificate(result)
    assert text.count(". ") == 1
    assert text.startswith("With probability at least 90%, over the draw of the 30 calibration decisions")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_decision_makers": 99}, "`n_decision_makers` of demo: must be at least 100"),
        ({"n_decision_makers": 1.5}, "`n_decision_makers` of demo: must be a whole number"),
        ({"random_state": -1}, "`random_state` of demo: must be a whole number >= 0"),
    ],
)
def test_wrong_settings(options, message):
    with pytest.raises(cio.InvalidInputError, match=message):
        run_demo(**options)
