"""Every block of the pages runs and prints what the page says; every link and named file exists."""

import re
import shutil
from pathlib import Path

import pytest
from page_blocks import LANGUAGES, ROOT, Block, blocks_of, check_form, pages, run_page

PAGES = pages()
NEEDS = {"docs/howto/torch.md": "torch"}  # libraries that no extra brings

pytestmark = pytest.mark.skipif(not PAGES[0].exists(), reason="an installed package has no pages")


def ids(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_blocks_run_and_print_what_is_shown(page, tmp_path, monkeypatch):
    if shutil.which("bash") is None and any(block.language == "sh" for block in blocks_of(page)):
        pytest.skip("bash is not installed")
    if ids(page) in NEEDS:
        pytest.importorskip(NEEDS[ids(page)], reason="the page is about a library that is not installed")
    monkeypatch.chdir(tmp_path)
    run_page(page, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_languages_and_fences_are_known(page):
    assert page.read_text(encoding="utf-8").count("```") == 2 * len(blocks_of(page))
    assert {block.language for block in blocks_of(page)} <= LANGUAGES


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_links_and_named_files_exist(page):
    text = page.read_text(encoding="utf-8")
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    missing = [link for link in links if link and not (page.parent / link).exists()]
    named = re.findall(r"`((?:src|tests|docs|benchmarks)/[\w./-]+)`", text)
    assert not missing + [name for name in named if not (ROOT / name).exists()]


def test_the_pages_hold_no_machine_paths():
    for page in PAGES:
        assert not re.search(r"(?<![\w./])/(home|root|work|Users|tmp)/", page.read_text(encoding="utf-8")), page


def written(folder: Path, text: str) -> Path:
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    return page


@pytest.mark.parametrize("block", ["```python\nprint(1)\n```", "```sh\necho 1\n```"])
def test_a_wrong_output_would_be_seen(block, tmp_path):
    with pytest.raises(AssertionError, match=r"page\.md:5"):
        run_page(written(tmp_path, f"{block}\n\n```text\n2\n```\n"), tmp_path)


def test_a_failing_command_would_be_seen(tmp_path):
    with pytest.raises(AssertionError, match="No such option"):
        run_page(written(tmp_path, "```sh\nconformio demo --nonsense 2>&1\n```\n"), tmp_path)


def test_blocks_of_a_page_share_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = ["sh\necho one > it", "python\nimport pathlib\nprint(pathlib.Path('it').read_text())", "text\none"]
    run_page(written(tmp_path, "".join(f"```{block}\n```\n\n" for block in blocks)), tmp_path)


@pytest.mark.parametrize("line", ["make nonsense", 'pip install ".[nonsense]"'])
def test_wrong_installation_would_be_seen(line):
    block = Block("sh", line, 1)
    assert block.installs
    with pytest.raises(AssertionError):
        check_form(block)
