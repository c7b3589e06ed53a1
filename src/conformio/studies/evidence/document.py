"""All evidence as one Markdown document, for readers who skip the paper."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from conformio.studies.evidence.sections import Evidence, Section, Table
from conformio.studies.findings.verdicts import Finding

__all__ = ["document"]

_INTRODUCTION = """# Evidence

What the paper claims, tested on its own simulated examples, and where the claims hold. None of the paper's code is
public; everything here was computed with this library. This page is written by `{command}`, from the same results as
its tables and figures; no number and no verdict is written by hand. {setting}

In short: people decide under their own perception of costs or values. The *classic* pipeline estimates one parameter
vector from their decisions and prescribes what is optimal for it. The *conformal* pipeline calibrates a set around the
estimate and prescribes what is best for the worst parameters in the set. *AOG* is the mean excess cost of a
prescription under the true parameters, *POG* under each person's own; smaller is better. The *level* is the probability
with which the set promises to meet the parameters that explain the next decision. Labels like E7 are
[corrections to the paper](corrections.md).

A claim of the paper is *reproduced*, *reproduced under stated conditions*, *not reproduced*, or *corrected* where the
results agree with our corrections instead. What the paper does not claim, but we expected or asked, is *confirmed* or
*refuted*.
"""


def document(evidence: Evidence, figures: str = "evidence") -> str:
    """The document as text.

    Parameters
    ----------
    evidence : Evidence
    figures : str
        Folder of the SVG files, as seen from the document.
    """
    introduction = _INTRODUCTION.format(command=evidence.command, setting=evidence.setting)
    parts = [introduction, *_overview(evidence), *(_section(section, figures) for section in evidence.sections)]
    return "\n".join(parts).rstrip("\n") + "\n"


def _overview(evidence: Evidence) -> list[str]:
    counts = Counter(str(finding.verdict) for finding in evidence.findings)
    shown = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    rows = tuple((f.study, f.claim, f"**{f.verdict}**") for f in evidence.findings)
    return [
        f"## Verdicts\n\nOf {len(evidence.findings)} claims: {shown}.\n",
        _table(("study", "claim", "verdict"), rows),
    ]


def _section(section: Section, figures: str) -> str:
    parts = [f"## {section.title}\n", f"{section.words}\n"]
    for figure in section.figures:
        caption = _cell(figure.caption)
        parts.append(f"![{caption}]({figures}/{figure.name}.svg)\n\n*{caption}*\n")
    parts += [_finding(finding) for finding in section.findings]
    parts += [_titled(table) for table in section.tables]
    return "\n".join(parts)


def _finding(finding: Finding) -> str:
    lines = [
        f"### {_cell(finding.claim)}\n",
        f"**{finding.verdict[0].upper()}{finding.verdict[1:]}.** {_cell(finding.conditions)}".rstrip() + "\n",
        f"- Paper: {_cell(finding.paper)}",
        f"- Measured: {_cell(finding.measured)}",
        f"- Rule: {_cell(finding.rule)}\n",
    ]
    return "\n".join(lines)


def _titled(table: Table) -> str:
    return f"**{_cell(table.title)}**\n\n{_table(table.columns, table.rows)}"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = f"| {' | '.join(map(_cell, columns))} |\n|{' --- |' * len(columns)}\n"
    return head + "".join(f"| {' | '.join(map(_words, row))} |\n" for row in rows)


def _words(text: str) -> str:
    """A cell that may be bold."""
    bold = re.fullmatch(r"\*\*(.*)\*\*", text)
    return f"**{_cell(bold[1])}**" if bold else _cell(text)


def _cell(text: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"([|*_<>\[\]`])", r"\\\1", text)
