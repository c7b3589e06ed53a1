"""Pages of Markdown as blocks of code, and running them in the order of the page.

A `text` block right after a `python` or `sh` block is that block's output. The `python` blocks of a page share their
names, and all blocks of a page one folder: what one of them writes, the next can read. Shell blocks that only install
are checked for form.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
LANGUAGES = {"python", "text", "sh", "toml", "bibtex"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
INSTALLING = ("make", "pip", "git", "python", "cd")


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int

    @property
    def commands(self) -> list[list[str]]:
        """The words of each line, comments left out."""
        lines = [line.split("#")[0].split() for line in self.text.splitlines()]
        return [words for words in lines if words]

    @property
    def installs(self) -> bool:
        """Whether it changes the environment or the clone, and not only files of the page's folder."""
        return all(words[0] in INSTALLING and words[:2] != ["python", "-m"] for words in self.commands)


def pages() -> list[Path]:
    """README, CONTRIBUTING and all pages of the site."""
    written = [page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts]
    return sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *written])


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(m[2], re.sub(f"^{m[1]}", "", m[3], flags=re.MULTILINE), text[: m.start()].count("\n") + 1)
        for m in FENCE.finditer(text)
    ]


def run_page(page: Path, folder: Path) -> None:
    """Run all blocks in `folder`, which is the current one, and compare what they print."""
    blocks, names = blocks_of(page), {"__name__": "__page__"}
    for block, follows in zip_longest(blocks, blocks[1:]):
        if block.language == "python":
            printed = run_python(block, page, names)
        elif block.language == "sh" and block.installs:
            check_form(block)
            continue
        elif block.language == "sh":
            printed = run_shell(block, page, folder)
        else:
            continue
        if follows is not None and follows.language == "text":
            assert plain(printed) == plain(follows.text), f"{page.name}:{follows.line}"


def plain(text: str) -> str:
    """Blanks at line ends, which no page shows, left out."""
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def run_python(block: Block, page: Path, names: dict[str, object]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * block.line + block.text, str(page), "exec"), names)
    return printed.getvalue()


def run_shell(block: Block, page: Path, folder: Path) -> str:
    """What the block prints, run with this environment's commands first and warnings as errors."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    surroundings = {**os.environ, "PATH": path, "PYTHONWARNINGS": "error", "COLUMNS": "120"}
    command = ["bash", "-e", "-u", "-o", "pipefail", "-c", block.text]
    done = subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{page.name}:{block.line}\n{done.stdout}{done.stderr}"
    return done.stdout


def check_form(block: Block) -> None:
    """Targets of make and extras of pip exist."""
    for program, *arguments in block.commands:
        if program == "make" and shutil.which("make") is not None:
            done = subprocess.run(["make", "-n", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        if program == "pip":
            assert arguments[0] == "install"
            wanted = re.findall(r"\[([\w,]+)\]", " ".join(arguments))
            assert {extra for group in wanted for extra in group.split(",")} <= set(PROJECT["optional-dependencies"])
