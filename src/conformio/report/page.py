"""A page from its parts: one file, no network, and nothing runs in it but the scripts it was made with.

The content security policy names the scripts and styles by their hashes and forbids everything else: no address can
be reached, and text that slips in as markup stays without effect.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template

from conformio.data import write_whole
from conformio.errors import invalid
from conformio.observations import Observations, ObservationTable
from conformio.problems import ShortestPath
from conformio.report import sections
from conformio.report.encoding import safe_json
from conformio.report.markup import Markup, element
from conformio.report.measures import Measures
from conformio.report.payload import payload

__all__ = ["page_of", "write_report"]

_SCRIPTS = (
    "data",
    "elements",
    "state",
    "theme",
    "axes",
    "coverage_chart",
    "angle_chart",
    "level_chart",
    "level_control",
    "picker",
    "routes",
    "map_canvas",
    "map_moves",
    "map_panel",
    "comparison",
    "start",
)


def page_of(measures: Measures, table: ObservationTable, observed: Observations, model_name: str, data: str) -> str:
    """The whole page as text; equal input gives equal text.

    Parameters
    ----------
    measures : Measures
    table : ObservationTable
        Names what is shown.
    observed : Observations
        The rows that were measured.
    model_name, data : str
        What the model and the data are called, e.g. their files.
    """
    style, script = _asset("page.css"), _script()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    network = isinstance(measures.model.problem, ShortestPath)
    return Template(_asset("page.html")).substitute(
        policy=policy,
        style=style,
        script=script,
        title=element("title", f"{model_name}: report"),
        heading=element("h1", f"{model_name}, measured on {data}"),
        lead=element("p", sections.lead(measures), class_="lead"),
        warning=sections.role_warning(measures),
        certificate=sections.certificate(measures),
        learned=sections.learned(measures, table, data),
        level_table=sections.level_table(measures),
        angles=sections.angle_words(measures),
        findings=sections.findings(measures),
        single=element("h2", "Routes on the map" if network else "Decision by decision", id="single-title"),
        sampling=sections.sampling_words(measures),
        versions=_versions(),
        data=safe_json(payload(measures, table, observed)),
    )


def write_report(path: Path, page: str) -> None:
    """Write the page to a file, whole or not at all."""
    try:
        write_whole(path, page.encode("utf-8"))
    except OSError as error:
        got = f"{path} ({error.strerror or error})"
        raise invalid("out", "report", "must be a file that can be written", got) from error


def _versions() -> Markup:
    libraries = ("conformio", "numpy", "scipy", "highspy", "clarabel")
    return element("p", "Made with ", ", ".join(f"{name} {version(name)}" for name in libraries), ".")


def _asset(name: str) -> str:
    return (files("conformio.report") / "assets" / name).read_text(encoding="utf-8")


def _script() -> str:
    """All scripts in one scope of their own."""
    parts = "\n".join(_asset(f"{name}.js") for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}\n}})();\n'


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
