"""
Answers for people and machines: records, and a table of formats that take any of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dra_alloc.report.records import Report

#: Format name -> the module whose `render(report, verbose)` makes the whole output; loaded when it is asked for.
FORMATS: Final[Mapping[str, str]] = {
    "text": "dra_alloc.report.formats.text",
    "json": "dra_alloc.report.formats.json_report",
    "sarif": "dra_alloc.report.formats.sarif",
    "junit": "dra_alloc.report.formats.junit",
    "github": "dra_alloc.report.formats.github",
    "gitlab": "dra_alloc.report.formats.gitlab",
    "rdjson": "dra_alloc.report.formats.rdjson",
    "markdown": "dra_alloc.report.formats.markdown",
}
#: Those of commands that ask about the devices of nodes.
PICTURED: Final[Mapping[str, str]] = {**FORMATS, "html": "dra_alloc.report.page"}
#: Those of commands that ask nothing about files, such as a conformance run.
PLAIN: Final[Mapping[str, str]] = {name: FORMATS[name] for name in ("text", "json")}


def rendered(report: Report, module: str, verbose: bool) -> str:
    """Return a report in the format of a module of the table; `verbose` cuts no lists."""
    text: str = import_module(module).render(report, verbose)
    return text
