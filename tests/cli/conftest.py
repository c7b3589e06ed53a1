"""Commands run in this process, so that coverage sees them."""

import sys

import pytest

from conformio import cli


@pytest.fixture
def command_line(monkeypatch, capfd):
    """`conformio ARGUMENTS`: its exit code, stdout and stderr."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["conformio", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        out, err = capfd.readouterr()
        code = stop.value.code
        if isinstance(code, str):  # sys.exit(text) prints the text and exits with 1, once the interpreter sees it
            return 1, out, err + code
        return code or 0, out, err

    return call
