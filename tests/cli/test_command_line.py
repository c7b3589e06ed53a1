"""The command: exit codes, what goes to stdout and stderr, and the demonstration from end to end."""

import io
import json
import os
import subprocess
import sys

import pytest

import conformio
import conformio.cli.app as application
from conformio import cli
from conformio.cli.app import app
from conformio.studies import demo_report


def run(*arguments, folder=None, prelude=""):
    script = f"{prelude}\nfrom conformio.cli import main\nimport sys\nsys.argv[0] = 'conformio'\nmain()"
    command = [sys.executable, "-W", "error", "-c", script, *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    return run("demo", "--out", folder / "deep" / "out", "--seed", 3, "--decision-makers", 100), folder


class TestDemo:
    def test_it_succeeds_and_prints_a_table(self, done):
        result, _ = done
        assert result.returncode == 0, result.stderr
        for word in ("classic", "conformal", "coverage", "AOG", "POG", "adherence", "seconds", "0.95"):
            assert word in result.stdout

    def test_it_says_what_is_certified(self, done):
        text = " ".join(done[0].stdout.split())
        assert "the calibrated set meets the set of parameters that make the next decision optimal" in text
        assert "It does not promise to contain the next decision maker's own parameters" in text

    def test_the_report_is_one_file_that_needs_nothing_else(self, done):
        result, folder = done
        page = (folder / "deep" / "out" / "report.html").read_text(encoding="utf-8")
        assert "report.html" in result.stdout
        assert page.count("data:image/svg+xml;base64,") == 2
        assert "http" not in page.replace("http-equiv", "")
        assert "does not promise" in page

    def test_json_is_for_machines(self, command_line, tmp_path):
        code, out, err = command_line("demo", "--out", tmp_path, "--json", "--quiet", "--decision-makers", 100)
        assert code == 0
        assert not err
        result = json.loads(out)
        assert [row["level"] for row in result["rows"]] == [None, 0.5, 0.8, 0.9, 0.95]
        assert (result["n_train"], result["n_calibration"], result["n_test"]) == (60, 20, 20)
        assert (tmp_path / "report.html").exists()

    def test_the_table_in_this_process(self, command_line, tmp_path):
        code, out, _ = command_line("demo", "--out", tmp_path, "--decision-makers", 100)
        assert code == 0
        assert "Report:" in out

    def test_a_folder_that_cannot_be_made(self, command_line, tmp_path):
        (tmp_path / "file").write_text("x")
        code, out, err = command_line("demo", "--out", tmp_path / "file" / "in")
        assert code == 1
        assert not out
        assert "--out: must be a folder" in err

    def test_a_report_that_cannot_be_written(self, command_line, tmp_path):
        (tmp_path / "report.html").mkdir()
        code, _, err = command_line("demo", "--out", tmp_path, "--decision-makers", 100)
        assert code == 1
        assert "must be a folder that can be written" in err

    def test_matplotlib_missing(self, monkeypatch, command_line, tmp_path):
        monkeypatch.setattr(demo_report, "find_spec", lambda name: None)
        code, _, err = command_line("demo", "--out", tmp_path / "never")
        assert code == 1
        assert 'pip install "conformio[plots]"' in err
        assert not (tmp_path / "never").exists()


class TestUsage:
    def test_version(self, command_line):
        code, out, _ = command_line("--version")
        assert (code, out.strip()) == (0, conformio.__version__)

    def test_python_m(self):
        done = subprocess.run(
            [sys.executable, "-m", "conformio", "--version"], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == conformio.__version__

    def test_help_shows_an_example(self, command_line):
        code, out, _ = command_line("demo", "--help")
        assert code == 0
        assert "conformio demo --out results --seed 7" in " ".join(out.split())
        for option in ("--out", "--seed", "--decision-makers", "--json", "--quiet"):
            assert option in out

    @pytest.mark.parametrize(
        "arguments",
        [
            ["demo", "--seed", "-1"],
            ["demo", "--decision-makers", "99"],
            ["demo", "--nonsense"],
            ["nonsense"],
            [],
        ],
    )
    def test_wrong_usage_exits_with_2(self, command_line, arguments):
        assert command_line(*arguments)[0] == 2

    def test_help_leaves_breaking_lines_to_the_terminal(self):
        texts = [app.registered_callback.help, *(command.help for command in app.registered_commands)]
        assert all("\n" not in paragraph for text in texts for paragraph in text.split("\n\n"))
        assert "Exit codes: 0 fine, 1 failed, 2 wrong usage, 130 interrupted." in texts[0]

    def test_help_lists_every_command(self, command_line):
        _, out, _ = command_line("--help")
        for command in app.registered_commands:
            assert command.callback.__name__ in out

    def test_help_for_a_reader_who_left(self, monkeypatch, command_line):
        class Gone(io.StringIO):
            def write(self, text):
                raise BrokenPipeError

            def fileno(self):
                return os.open(os.devnull, os.O_WRONLY)

        monkeypatch.setattr(sys, "stdout", Gone())
        assert command_line("--help")[0] == 0

    def test_help_for_a_full_disk(self, monkeypatch, command_line):
        class Full(io.StringIO):
            def write(self, text):
                raise OSError(28, "No space left on device")

        monkeypatch.setattr(sys, "stdout", Full())
        code, _, err = command_line("--version")
        assert (code, err) == (1, "conformio: the output: No space left on device\n")

    def test_without_standard_output(self, monkeypatch, command_line, tmp_path):
        monkeypatch.setattr(sys, "stdout", None)
        assert command_line("bench", "--list")[0] == 0

    def test_interrupted_while_libraries_load(self, monkeypatch, command_line):
        def stopped():
            raise KeyboardInterrupt

        monkeypatch.setattr(application, "app", stopped)
        code, _, err = command_line("--version")
        assert (code, err) == (130, "conformio: interrupted\n")

    def test_without_the_extra_the_remedy_is_named(self, monkeypatch, command_line):
        monkeypatch.setattr(cli, "find_spec", lambda name: None)
        code, out, err = command_line("demo")
        assert code == 1
        assert not out
        assert 'needs typer and rich. Run: pip install "conformio[cli]"' in err

    def test_without_the_extra_in_a_bare_interpreter(self, tmp_path):
        prelude = "import importlib.util as u; old = u.find_spec\n"
        prelude += "u.find_spec = lambda n, *a: None if n == 'typer' else old(n, *a)"
        done = run("demo", folder=tmp_path, prelude=prelude)
        assert done.returncode == 1
        assert done.stderr.strip().endswith('needs typer. Run: pip install "conformio[cli]"')
