"""The page of results: made from a record, and the committed page from the committed record."""

import pytest
from bench_records import ALL

from conformio.studies.benchmarks import Settings, benchmark_page, new_results, run_comparisons


@pytest.fixture
def page():
    results = new_results("conformio bench --out r.json", Settings(quick=True))
    results["versions"]["gurobipy"] = None
    return benchmark_page(run_comparisons(ALL, Settings(quick=True), results), "## Notes\n\nSlow disk.")


def test_lines_stand_beside_their_targets(page):
    assert "| work | slow | ≥ 100×, aim 200× | 150× (66.7 to 400×) | met |" in page
    assert "| memory | - | ≤ 4 GiB | 1,234 GiB | not met |" in page
    assert "| free | - | - | 0.5× (0.25 to 1×) |  |" in page


def test_growth_answers_and_what_was_left_out(page):
    assert "**growth**, by rows: exponent 0.50" in page
    assert "(fitted from 1,000 on)" in page
    assert "| seconds | 0.1 | 1 |" in page
    assert "| peak, MiB | - | 3 |" in page
    assert "| `differs` | values | 1 | 0.1 |" in page
    assert "- `skips` (skipped): peer is not installed; pip install peer" in page
    assert "- `fails` (failed): ZeroDivisionError: seven by nothing" in page


def test_provenance_and_notes(page):
    assert "`conformio bench --out r.json`" in page
    assert "Quick run" in page
    assert "numpy" in page
    assert "gurobipy" not in page
    assert page.rstrip().endswith("Slow disk.")


def test_a_record_without_growth_or_gaps():
    results = new_results("conformio bench", Settings())
    text = benchmark_page(results)
    assert "Growth" not in text
    assert "Left out" not in text
    assert "Quick" not in text
