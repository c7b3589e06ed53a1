"""Docstrings as this library writes them: Markdown's code marks, and no members of scikit-learn's machinery."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

_SINGLE = re.compile(r"(?<![`:\w\\])`([^`\n]+)`(?!`)(?!__?\b)")
_MACHINERY = re.compile(r"get_metadata_routing|set_\w+_request|get_params|set_params")


def _as_literals(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Single backquotes are code, as in the pages, not the default role of reStructuredText."""
    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else _SINGLE.sub(r"``\1``", line) for line in lines]


def _is_machinery(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    return True if _MACHINERY.fullmatch(name) else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook into autodoc before napoleon reads the lines."""
    app.connect("autodoc-process-docstring", _as_literals, priority=400)
    app.connect("autodoc-skip-member", _is_machinery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
