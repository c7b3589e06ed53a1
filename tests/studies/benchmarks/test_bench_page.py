"""The page of results: made from a record, and the committed page from the committed record."""

import re
from pathlib import Path

import pytest
from bench_records import ALL

import conformio as cio
from conformio.studies.benchmarks import Settings, benchmark_page, new_results, run_comparisons, store_results
from conformio.studies.benchmarks.publish import committed_results, publish, published_page, with_figures

ROOT = Path(__file__).parents[3]
in_a_clone = pytest.mark.skipif(not (ROOT / "docs").exists(), reason="an installed package has no pages")


@pytest.fixture
def page():
    results = new_results("conformio bench --out r.json", Settings(quick=True))
    results["versions"]["gurobipy"] = None
    return benchmark_page(run_comparisons(ALL, Settings(quick=True), results), "## Notes\n\nSlow disk.")


def test_lines_stand_beside_their_targets(page):
    assert "| work | slow | ≥ 100×, aim 200× | 150× (66.7 to 400×) | met |" in page
    assert "| memory | - | ≤ 4 GiB | 1,234 GiB | not met |" in page
    assert "| free | - | 0.5× (0.25 to 1×) |" in page


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


@in_a_clone
def test_the_committed_page_is_made_from_the_committed_records():
    assert (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8") == published_page(ROOT)


@in_a_clone
def test_the_readme_shows_the_figures_of_the_records():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert with_figures(readme, committed_results(ROOT)) == readme


@in_a_clone
def test_the_records_name_no_folder_of_a_machine():
    for path in (ROOT / "docs" / "benchmarks").glob("*.json"):
        assert not re.search(r"(?<![\w./])/(home|root|work|Users|tmp)/", path.read_text(encoding="utf-8")), path


def test_a_clone_is_published(tmp_path):
    (tmp_path / "docs" / "benchmarks").mkdir(parents=True)
    results = new_results("conformio bench", Settings())
    run_comparisons(ALL[:1], Settings(), results)
    results["comparisons"]["path-angles"] = results["comparisons"].pop("works")
    store_results(results, tmp_path / "docs" / "benchmarks" / "results.json")
    readme = tmp_path / "README.md"
    readme.write_text(
        "Before\n<!-- figures: made by conformio.studies.benchmarks.publish -->\nold\n<!-- end of figures -->\nAfter\n"
    )
    publish(tmp_path)
    assert (
        "| work | slow | 150× (66.7 to 400×) |\n| memory | - | 1,234 GiB |\n\n<!-- end of figures -->\nAfter"
        in readme.read_text(encoding="utf-8")
    )
    assert "old" not in readme.read_text(encoding="utf-8")
    assert "| work | slow |" in (tmp_path / "docs" / "benchmarks.md").read_text(encoding="utf-8")


def test_a_readme_without_marks_is_refused():
    with pytest.raises(cio.InvalidInputError, match="must hold the marks of the figures"):
        with_figures("No marks", {"comparisons": {}})
