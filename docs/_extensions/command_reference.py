"""`command-reference`: every command, argument and option of `conformio`, read from the program itself."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from enum import Enum
from types import NoneType
from typing import Any, get_args, get_type_hints

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_PLAIN = "Options"


class CommandReference(SphinxDirective):
    """Writes a section for each command."""

    def run(self) -> list[nodes.Node]:
        """Sections of Markdown, parsed where the directive stands."""
        self.env.note_reread()
        return self.parse_text_to_nodes("\n".join(reference()), allow_section_headings=True)


def reference() -> Iterator[str]:
    """Lines of Markdown for all commands."""
    from typer.main import get_command

    from conformio.cli.app import app

    for name, command in sorted(get_command(app).commands.items()):  # type: ignore[attr-defined]
        yield from _command(name, command)


def _command(name: str, command: Any) -> Iterator[str]:
    text, _, example = inspect.cleandoc(command.help or "").partition("\nExample:")
    yield from (f"## conformio {name}", "", text.strip(), "")
    if example:
        yield from ("~~~sh", " ".join(example.split()), "~~~", "")
    hints = get_type_hints(inspect.unwrap(command.callback))
    panels: dict[str, list[Any]] = {}
    for param in command.params:
        is_option = param.opts[0].startswith("-")
        panel = getattr(param, "rich_help_panel", None) or (_PLAIN if is_option else "Arguments")
        panels.setdefault(panel, []).append(param)
    for panel, params in panels.items():
        yield from (f"**{panel}**", "", "| | | |", "| --- | --- | --- |")
        yield from (_row(param, hints.get(param.name)) for param in params)
        yield ""


def _row(param: Any, hint: Any) -> str:
    names = ", ".join(f"`{name}`" for name in [*param.opts, *param.secondary_opts])
    return f"| {names} | {_kind(hint)} | {_cell(param.help or '')}{_default(param)} |"


def _kind(hint: Any) -> str:
    """What a value looks like: a word, or the choices."""
    options = [one for one in get_args(hint) if one is not NoneType] or [hint]
    kind = next((one for one in options if isinstance(one, type)), str)
    if issubclass(kind, Enum):
        return " or ".join(f"`{one.value}`" for one in kind)
    words = {"Path": "path", "str": "text", "int": "whole number", "float": "number", "bool": ""}
    return words.get(kind.__name__, kind.__name__)


def _default(param: Any) -> str:
    if param.required:
        return " Required."
    value = param.default.value if isinstance(param.default, Enum) else param.default
    return "" if value is None or isinstance(value, bool) else f" Default: `{value}`."


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("*", r"\*")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("command-reference", CommandReference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
