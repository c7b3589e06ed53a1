"""What objects show of themselves in notebooks: one small table as HTML, everything in it escaped.

Colours and fonts are the surrounding page's, so that a card reads well on light and on dark ground.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, TypeAlias

__all__ = ["CardAndDiagram", "Facts", "card", "listing", "shortened"]

_FRAME = (
    "display:inline-block;max-width:52rem;border:1px solid rgba(128,128,128,.5);border-radius:6px;padding:.5em .8em"
)
_CELL = "text-align:left;vertical-align:top;padding:.15em 1.2em .15em 0;background:none;white-space:normal"


Facts: TypeAlias = list[tuple[str, object]]
_LONGEST = 300


class CardAndDiagram:
    """For scikit-learn estimators: a card of facts above scikit-learn's own diagram of the settings.

    Like the diagram alone, it shows only while ``sklearn.set_config(display="diagram")``, the default, is in force.
    """

    def _card(self) -> str:
        """What is to be shown above the diagram."""
        raise NotImplementedError

    @property
    def _repr_html_(self) -> Any:
        if not _shows_diagrams():
            raise AttributeError('_repr_html_ is there only while scikit-learn\'s option display is "diagram"')
        return self._card_and_diagram

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        html = {"text/html": self._card_and_diagram()} if _shows_diagrams() else {}
        return {"text/plain": repr(self), **html}

    def _card_and_diagram(self) -> str:
        from sklearn.utils import estimator_html_repr

        settings = f"<details><summary>Settings</summary>{estimator_html_repr(self)}</details>"
        return f"<div>{self._card()}{settings}</div>"


def _shows_diagrams() -> bool:
    from sklearn import get_config

    return bool(get_config()["display"] == "diagram")


def shortened(thing: object) -> str:
    """Its `repr` on one line, cut where it gets long."""
    text = " ".join(repr(thing).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def card(title: str, facts: Iterable[tuple[str, object]], note: str = "") -> str:
    """A title, one row per fact (name and value), and a closing sentence.

    Examples
    --------
    >>> "a &lt; b" in card("Signs", [("order", "a < b")])
    True
    """
    rows = "".join(_row([f"<strong>{escape(name)}</strong>", escape(str(value))]) for name, value in facts)
    return _framed(title, rows, note)


def listing(title: str, head: Sequence[str], rows: Iterable[Sequence[object]], note: str = "") -> str:
    """A title, and a table with named columns."""
    heading = _row([f"<strong>{escape(name)}</strong>" for name in head])
    return _framed(title, heading + "".join(_row([escape(str(cell)) for cell in row]) for row in rows), note)


def _row(cells: Iterable[str]) -> str:
    return "<tr style='background:none'>" + "".join(f"<td style='{_CELL}'>{cell}</td>" for cell in cells) + "</tr>"


def _framed(title: str, rows: str, note: str) -> str:
    table = f"<table style='border-collapse:collapse;margin:.3em 0'><tbody>{rows}</tbody></table>"
    closing = f"<div style='opacity:.8'>{escape(note)}</div>" if note else ""
    return f"<div style='{_FRAME}'><strong>{escape(title)}</strong>{table}{closing}</div>"
