"""What is shown of a study, whatever it is shown in: words, findings, tables, figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from conformio.studies.findings.verdicts import Finding

__all__ = ["Evidence", "Figure", "Section", "Table"]


@dataclass(frozen=True)
class Table:
    """A table of text; numbers are written as they are to be read."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Figure:
    """A drawing that is made when it is asked for.

    Attributes
    ----------
    name : str
        Stem of its files.
    caption : str
    shape : (int, int)
        Rows and columns of panels.
    draw : callable
        Takes the panels, an array of matplotlib axes of that shape.
    panel : (float, float)
        Width and height of a panel in inches.
    """

    name: str
    caption: str
    shape: tuple[int, int]
    draw: Callable[[Any], None]
    panel: tuple[float, float] = (3.4, 2.7)


@dataclass(frozen=True)
class Section:
    """One study: what was asked, what was found."""

    name: str
    title: str
    words: str
    findings: tuple[Finding, ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Evidence:
    """All studies of one run.

    Attributes
    ----------
    command : str
        That makes the same again.
    setting : str
        With how many seeds and people.
    sections : sequence of Section
    """

    command: str
    setting: str
    sections: Sequence[Section]

    @property
    def findings(self) -> list[Finding]:
        """Of all sections."""
        return [finding for section in self.sections for finding in section.findings]
