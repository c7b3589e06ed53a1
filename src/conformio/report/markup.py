"""HTML as values: text is escaped where it enters, and nothing else can enter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TypeAlias

__all__ = ["Child", "Markup", "element", "fragment", "table"]


class Markup(str):
    """Text that is HTML already; made by the functions of this module alone."""

    __slots__ = ()


Child: TypeAlias = str | Markup | None


def element(name: str, *children: Child, **attributes: str | bool | None) -> Markup:
    """An element; a trailing underscore in attribute names is dropped, others become hyphens.

    Examples
    --------
    >>> element("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    shown = "".join(_attribute(key, value) for key, value in attributes.items())
    return Markup(f"<{name}{shown}>{fragment(children)}</{name}>")


def fragment(children: Iterable[Child]) -> Markup:
    """Several of them, one after the other."""
    return Markup("".join(_shown(child) for child in children))


def table(head: Sequence[str], rows: Iterable[Sequence[Child]], caption: str) -> Markup:
    """A table whose rows begin with their headings, in a box that scrolls sideways."""
    heading = element("tr", *(element("th", name, scope="col") for name in head))
    body = (
        element("tr", element("th", first, scope="row"), *(element("td", cell) for cell in rest))
        for first, *rest in rows
    )
    parts = (element("caption", caption), element("thead", heading), element("tbody", *body))
    inner = element("table", *parts)
    return element("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption)


def _shown(child: Child) -> str:
    if child is None:
        return ""
    return child if isinstance(child, Markup) else escape(child)


def _attribute(key: str, value: str | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(value)}"'
