"""Every Python block of the pages runs and prints what the page says; every command in them exists.

A `text` block right after a `python` block is that block's output. The blocks of one page share their names.
"""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

pytestmark = pytest.mark.skipif(not PAGES[0].exists(), reason="an installed package has no pages")


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(m[1], m[2], text[: m.start()].count("\n") + 1) for m in FENCE.finditer(text)]


def ids(page: Path) -> str:
    return str(page.relative_to(ROOT))


def commands() -> list[tuple[Path, str]]:
    shells = [(page, block) for page in PAGES for block in blocks_of(page) if block.language in ("sh", "console")]
    return [
        (page, line.strip())
        for page, block in shells
        for line in block.text.splitlines()
        if line.strip() and not line.startswith("#")
    ]


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_python_blocks_run_and_print_what_is_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks, names = blocks_of(page), {"__name__": "__page__"}
    for k, block in enumerate(blocks):
        if block.language != "python":
            continue
        printed = io.StringIO()
        code = compile("\n" * block.line + block.text, str(page), "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        follows = blocks[k + 1] if k + 1 < len(blocks) else None
        if follows is not None and follows.language == "text":
            assert printed.getvalue().rstrip() == follows.text.rstrip(), f"{page.name}:{follows.line}"


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_languages_and_fences_are_known(page):
    assert page.read_text(encoding="utf-8").count("```") == 2 * len(blocks_of(page))
    assert {block.language for block in blocks_of(page)} <= {"python", "text", "sh", "bibtex"}


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_links_and_named_files_exist(page):
    text = page.read_text(encoding="utf-8")
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    missing = [link for link in links if link and not (page.parent / link).exists()]
    named = re.findall(r"`((?:src|tests|docs|benchmarks)/[\w./-]+)`", text)
    assert not missing + [name for name in named if not (ROOT / name).exists()]


@pytest.mark.parametrize(
    ("page", "command"), commands(), ids=lambda value: value.name if isinstance(value, Path) else value
)
def test_commands_exist(page, command, tmp_path):
    program, *arguments = command.split("#")[0].split()
    checks = {"make": check_make, "pip": check_pip, "conformio": check_conformio}
    checks[program](arguments, tmp_path)


def check_make(arguments: list[str], folder: Path) -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    done = subprocess.run(["make", "-n", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def check_pip(arguments: list[str], folder: Path) -> None:
    assert arguments[0] == "install"
    wanted = re.findall(r"\[([\w,]+)\]", " ".join(arguments))
    assert {extra for group in wanted for extra in group.split(",")} <= set(PROJECT["optional-dependencies"])


def check_conformio(arguments: list[str], folder: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "conformio", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_pages_hold_no_machine_paths():
    for page in PAGES:
        assert not re.search(r"(?<![\w./])/(home|root|work|Users|tmp)/", page.read_text(encoding="utf-8")), page


def test_a_wrong_output_would_be_seen(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n\n```text\n2\n```\n")
    here = os.getcwd()
    with pytest.raises(AssertionError, match=r"page\.md"):
        test_python_blocks_run_and_print_what_is_shown(page, tmp_path, pytest.MonkeyPatch())
    os.chdir(here)
