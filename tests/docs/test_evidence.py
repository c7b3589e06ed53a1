"""The evidence page is what the generator makes of the results beside it: no number in it is written by hand."""

import pytest
from page_blocks import ROOT

from conformio.studies.evidence.document import document
from conformio.studies.reproduction import stored_evidence
from conformio.studies.reproduction_studies import STUDIES, Settings

PAGE, RESULTS = ROOT / "docs" / "evidence.md", ROOT / "docs" / "evidence"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="an installed package has no pages")


@pytest.fixture(scope="module")
def evidence():
    return stored_evidence(RESULTS, Settings(10))


def test_the_page_is_made_from_the_results_beside_it(evidence):
    assert document(evidence) == PAGE.read_text(encoding="utf-8")


def test_other_results_would_make_another_page(tmp_path):
    text = (RESULTS / "table1.csv").read_text(encoding="utf-8")
    (tmp_path / "table1.csv").write_text(text.replace("0.3", "0.9"), encoding="utf-8")
    changed = stored_evidence(tmp_path, Settings(10)).sections[0]
    held = stored_evidence(RESULTS, Settings(10)).sections[0]
    assert changed.findings != held.findings


def test_all_studies_with_ten_seeds_are_on_the_page(evidence):
    assert [section.name for section in evidence.sections] == list(STUDIES)
    text = PAGE.read_text(encoding="utf-8")
    assert "`conformio reproduce all --seeds 10 --out DIR`" in text
    for section in evidence.sections:
        assert all(finding.verdict in text for finding in section.findings)
