"""Table 1: closed forms against simulation, bounds against what they bound."""

from math import atan, hypot, pi

import numpy as np
import pytest
from scipy.integrate import quad

import conformio as cio
from conformio.studies.table1 import SIZES, cells, closed_forms, example_bounds, example_one, printed_bounds

U = 3


@pytest.fixture(scope="module")
def rows():
    return {row["policy"]: row for row in example_one(u=U, seed=0, n_people=4000)}


def example(u):
    return cio.LinearProgram(A_ub=[[-1.0, -u]], lower=0.0, upper=[u, 2.0])


def mean_gaps(u, x):
    """AOG, and POG by numerical integration over the angle of the perception."""
    best = [np.array([0.0, 1.0]), np.array([u, 0.0])]

    def excess(turn):
        theta = np.array([np.cos(turn), np.sin(turn)])
        return (theta @ x - min(theta @ b for b in best)) * 2.0 / pi

    pog = sum(quad(excess, *ends)[0] for ends in ((0.0, atan(u)), (atan(u), pi / 2)))
    truth = np.full(2, np.sqrt(0.5))
    return truth @ x - min(truth @ b for b in best), pog


@pytest.mark.parametrize("u", SIZES)
def test_closed_forms_equal_integrals(u):
    points = {
        "robust optimum": np.array([u, u * u]) / (1 + u * u),
        "best vertex": np.array([0.0, 1.0]),
        "classic": np.array([u, 1.0]) / 2,
    }
    forms = closed_forms(u)
    for policy, point in points.items():
        aog, pog = mean_gaps(u, point)  # the classic policy is uniform on the facet: its mean point, as gaps are affine
        assert forms[policy]["aog"][1] == pytest.approx(aog, abs=1e-9)
        assert forms[policy]["pog"][1] == pytest.approx(pog, abs=1e-7)


def test_simulation_agrees_with_the_corrected_forms(rows):
    forms = closed_forms(U)
    for policy, exact in (
        ("classic", "classic"),
        ("robust optimum, 45 degrees", "robust optimum"),
        ("robust optimum, calibrated angle", "robust optimum"),
        ("best vertex", "best vertex"),
    ):
        for gap in ("aog", "pog"):
            assert rows[policy][gap] == pytest.approx(forms[exact][gap][1], rel=0.06, abs=1e-6)


def test_the_estimate_is_the_papers_and_the_angle_is_zero(rows):
    assert all(row["estimate_error"] < 1e-6 for row in rows.values())
    assert all(row["calibrated_angle"] == 0.0 for row in rows.values())


def test_the_printed_derivation_is_what_the_table_prints():
    assert [round(closed_forms(u)["classic"]["aog"][0], 2) for u in SIZES] == [0.35, 3.18, 17.32, 35.0]
    assert [round(closed_forms(u)["classic"]["pog"][0], 2) for u in SIZES] == [0.74, 4.55, 24.51, 49.5]
    assert [round(closed_forms(u)["robust optimum"]["pog"][0], 2) for u in SIZES] == [0.7, 0.16, 0.03, 0.02]


@pytest.mark.parametrize("u", SIZES)
def test_bounds_bound(u):
    for angle in (0.0, pi / 4):
        bounds, forms = example_bounds(u, angle), closed_forms(u)["robust optimum"]
        assert forms["aog"][1] <= bounds.aog
        assert forms["pog"][1] <= bounds.pog


def test_constants_of_the_bound_are_those_of_the_data(rows):
    rng = np.random.default_rng(0)
    turn = rng.uniform(0, pi / 2, 40_000)
    thetas = np.column_stack([np.cos(turn), np.sin(turn)])
    sizes = np.linalg.norm(example(float(U)).solve(thetas, np.full((len(turn), 1), -float(U))), axis=1)
    truth = np.full(2, np.sqrt(0.5))
    sigma = np.linalg.norm(thetas.mean(axis=0) - truth)
    eta = max(
        np.linalg.norm(a - b)
        for ends in ((0.0, atan(U)), (atan(U), pi))
        for a, b in [[np.array([np.cos(t), np.sin(t)]) for t in ends]]
    )
    robust = U / hypot(1, U)
    mine = cio.bounds.optimality_gap_bounds(0.4, eta, sigma, sizes.mean(), robust, 1.0)
    assert example_bounds(U, 0.4) == pytest.approx(mine, rel=0.01)


def test_the_theorem_as_printed_does_not_give_the_printed_bounds():
    full, least = printed_bounds(2, pi / 4)
    assert least.aog == pytest.approx(2.0)  # the table prints 0.70
    assert full.aog > least.aog
    assert full.pog > least.pog > 1.58


def test_one_cell_for_each_size_and_seed():
    assert [(cell.settings["u"], cell.settings["seed"]) for cell in cells(2)] == [
        (u, seed) for u in SIZES for seed in (0, 1)
    ]
