"""All evidence as one HTML page that needs nothing else: figures are part of it, nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from string import Template

from conformio.studies.evidence.drawings import image
from conformio.studies.evidence.sections import Evidence, Figure, Section, Table
from conformio.studies.findings.verdicts import Finding, Verdict

__all__ = ["page"]

_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Conformal inverse optimization: the evidence</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; margin: .5rem 0 1.5rem; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .25rem .6rem; text-align: left; vertical-align: top; border-bottom: 1px solid #ddd; }
.wide { overflow-x: auto; }
figure { margin: 1rem 0; }
img { max-width: 100%; height: auto; }
figcaption, .rule { color: #555; font-size: .9rem; }
.verdict { white-space: nowrap; font-weight: 600; }
.good { color: #1b6e2e; }
.partly { color: #8a5a00; }
.bad { color: #a11d1d; }
.corrected { color: #1f4e79; }
</style>
</head>
<body>
<h1>Conformal inverse optimization: the evidence</h1>
<p>$setting The same page is made by <code>$command</code>. Every verdict below is computed from the results by the
rule that stands beside it.</p>
$contents
$sections
</body>
</html>
""")

_CLASSES = {
    Verdict.REPRODUCED: "good",
    Verdict.CONFIRMED: "good",
    Verdict.CONDITIONAL: "partly",
    Verdict.CONFIRMED_CONDITIONAL: "partly",
    Verdict.NOT_REPRODUCED: "bad",
    Verdict.REFUTED: "bad",
    Verdict.CORRECTED: "corrected",
}


def page(evidence: Evidence) -> str:
    """The page as text."""
    return _PAGE.substitute(
        setting=escape(evidence.setting),
        command=escape(evidence.command),
        contents=_contents(evidence.sections),
        sections="\n".join(_section(section) for section in evidence.sections),
    )


def _contents(sections: Sequence[Section]) -> str:
    lines = []
    for section in sections:
        for finding in section.findings:
            claim = f'<a href="#{escape(section.name)}">{escape(finding.claim)}</a>'
            lines.append(f"<tr><td>{escape(section.name)}</td><td>{claim}</td>{_verdict(finding)}</tr>")
    head = "<tr><th>study</th><th>claim</th><th>verdict</th></tr>"
    return f'<div class="wide"><table><caption>Verdicts</caption>{head}\n{chr(10).join(lines)}\n</table></div>'


def _section(section: Section) -> str:
    findings = "\n".join(_finding(finding) for finding in section.findings)
    head = "<tr><th>claim</th><th>paper</th><th>measured</th><th>verdict</th></tr>"
    return "\n".join(
        [
            f'<h2 id="{escape(section.name)}">{escape(section.title)}</h2>',
            f"<p>{escape(section.words)}</p>",
            f'<div class="wide"><table><caption>Findings</caption>{head}\n{findings}\n</table></div>',
            *(_figure(figure) for figure in section.figures),
            *(_table(table) for table in section.tables),
        ]
    )


def _finding(finding: Finding) -> str:
    where = f'<br><span class="rule">{escape(finding.conditions)}</span>' if finding.conditions else ""
    claim = f'{escape(finding.claim)}<br><span class="rule">{escape(finding.rule)}</span>'
    measured = f"{escape(finding.measured)}{where}"
    return f"<tr><td>{claim}</td><td>{escape(finding.paper)}</td><td>{measured}</td>{_verdict(finding)}</tr>"


def _verdict(finding: Finding) -> str:
    return f'<td class="verdict {_CLASSES[finding.verdict]}">{escape(finding.verdict)}</td>'


def _figure(figure: Figure) -> str:
    source = f"data:image/svg+xml;base64,{base64.b64encode(image(figure, 'svg')).decode()}"
    caption = escape(figure.caption)
    return f'<figure><img alt="{caption}" src="{source}"><figcaption>{caption}</figcaption></figure>'


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    body = "\n".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.rows)
    caption = f"<caption>{escape(table.title)}</caption>"
    return f'<div class="wide"><table>{caption}<tr>{head}</tr>\n{body}\n</table></div>'
