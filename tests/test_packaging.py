"""The package ships what it must, and its lists of commands and extras hold together."""

import os
import re
import shutil
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import conformio

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
COMMANDS = {"help", "demo", "test", "check", "bench", "docs", "clean"}


def test_types_are_shipped():
    assert (Path(conformio.__file__).parent / "py.typed").exists()
    assert "py.typed" in PROJECT["tool"]["setuptools"]["package-data"]["conformio"]


def test_version_has_one_source():
    assert conformio.__version__ == metadata.version("conformio") == PROJECT["project"]["version"]
    assert f"## [{conformio.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_extras_exist_and_all_names_them():
    extras = PROJECT["project"]["optional-dependencies"]
    assert set(extras) == {"cvx", "networks", "data", "plots", "cli", "all", "peers", "docs", "dev"}
    ((named,),) = [re.findall(r"\[([\w,]+)\]", line) for line in extras["all"]]
    assert set(named.split(",")) == set(extras) - {"all", "peers", "docs", "dev"}


@pytest.mark.parametrize("page", ["README.md", "docs/install.md"])
def test_pages_list_all_extras(page):
    listed = re.findall(r"^\| `(\w+)` \|", (ROOT / page).read_text(), re.MULTILINE)
    assert listed == list(PROJECT["project"]["optional-dependencies"])


def test_optional_libraries_are_not_core():
    core = " ".join(PROJECT["project"]["dependencies"])
    assert not re.search(r"cvxpy|networkx|pandas|pyarrow|matplotlib|typer|rich", core)


def test_the_command_is_installed():
    (script,) = [e for e in metadata.entry_points(group="console_scripts") if e.name == "conformio"]
    assert callable(script.load())


def test_changelog_lists_every_section_kind_of_keep_a_changelog():
    kinds = re.findall(r"^### (\w+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert kinds


def run_make(target, surroundings, *options):
    """Run a target as from a shell, whatever `surroundings` an outer make left behind."""
    own = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEFILES"}
    clean = {name: value for name, value in {**os.environ, **surroundings}.items() if name not in own}
    command = ["make", "--no-print-directory", *options, target]
    return subprocess.run(command, cwd=ROOT, env=clean, capture_output=True, text=True, check=False)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_help_lists_every_command():
    # under `make test` these two make a second make announce itself on stdout
    outer = {"MAKEFLAGS": "w", "MAKELEVEL": "1"}
    done = run_make("help", outer)
    assert done.returncode == 0, done.stderr
    assert {line.split()[0] for line in done.stdout.splitlines()} == COMMANDS


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize("target", sorted(COMMANDS))
def test_every_command_expands(target):
    done = run_make(target, {}, "-n")
    assert done.returncode == 0, done.stderr


def test_every_folder_of_modules_is_a_package():
    # setuptools ships folders with an __init__.py only; an editable install would hide a missing one
    folders = {path.parent for path in Path(conformio.__file__).parent.rglob("*.py")}
    assert not [folder for folder in folders if not (folder / "__init__.py").exists()]
