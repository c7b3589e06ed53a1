"""A diagnosis as data: findings, each a verdict in words with a remedy and the numbers behind it."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from conformio.cards import listing
from conformio.errors import invalid

__all__ = ["Diagnosis", "Finding", "Verdict"]

Verdict: TypeAlias = Literal["good", "notice", "warning"]

_ORDER: tuple[Verdict, ...] = ("good", "notice", "warning")
_WIDTH = 100


@dataclass(frozen=True)
class Finding:
    """One question about a fitted pipeline, answered.

    Attributes
    ----------
    name : str
        What was asked, e.g. ``"coverage"``.
    verdict : {"good", "notice", "warning"}
        Nothing to do; worth knowing; something is wrong, or nothing is certified.
    words : str
        The answer, for people.
    remedy : str
        What can be done; empty where nothing needs to be.
    numbers : dict
        The figures behind the words: plain numbers, strings, lists and None (not known). Angles are radians.
    """

    name: str
    verdict: Verdict
    words: str
    remedy: str = ""
    numbers: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Diagnosis:
    """All findings about one fitted pipeline; `ConformalIO.diagnose` makes it.

    Attributes
    ----------
    findings : tuple of Finding

    Examples
    --------
    >>> found = Diagnosis((Finding("ties", "good", "No two angles are equal."),))
    >>> print(found)
    good     ties              No two angles are equal.
    >>> found["ties"].verdict, found.verdict
    ('good', 'good')
    """

    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst of all verdicts."""
        return max((finding.verdict for finding in self.findings), key=_ORDER.index, default="good")

    def __getitem__(self, name: str) -> Finding:
        """The finding of this name."""
        for finding in self.findings:
            if finding.name == name:
                return finding
        known = ", ".join(finding.name for finding in self.findings)
        raise invalid("name", "Diagnosis", f"must be one of {known}", repr(name))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values that `json.dumps` takes."""
        return {"verdict": self.verdict, "findings": [dict(vars(finding)) for finding in self.findings]}

    def __str__(self) -> str:
        return "\n".join(_lines(finding) for finding in self.findings)

    def _repr_html_(self) -> str:
        rows = [(found.verdict, found.name, f"{found.words} {found.remedy}".strip()) for found in self.findings]
        return listing(f"Diagnosis: {self.verdict}", ("verdict", "of", "finding"), rows)


def _lines(finding: Finding) -> str:
    indent = " " * 27
    first = f"{finding.verdict:<9}{finding.name:<18}"
    text = [textwrap.fill(finding.words, _WIDTH, initial_indent=first, subsequent_indent=indent)]
    if finding.remedy:
        text.append(textwrap.fill(f"-> {finding.remedy}", _WIDTH, initial_indent=indent, subsequent_indent=indent))
    return "\n".join(text)
