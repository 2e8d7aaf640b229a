"""
JUnit's XML, which build servers show as tests: a case for each finding, or one that passed where there is none.
"""

from __future__ import annotations

import re
from typing import Final
from xml.etree import ElementTree as ET

from dra_alloc.report.layout import inert, printable
from dra_alloc.report.records import Finding, Report

#: What XML 1.0 cannot hold, in any spelling.
_UNHOLDABLE: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: What a finding's level is called here; others pass.
_ELEMENT: Final = {"error": "failure", "warning": "error"}


def render(report: Report, verbose: bool) -> str:
    """Return one test suite; what cannot be is a failure, what is undecided an error."""
    kinds = [_ELEMENT.get(each.level) for each in report.findings]
    counts = {"tests": len(kinds) or 1, "failures": kinds.count("failure"), "errors": kinds.count("error")}
    root = ET.Element("testsuite", {"name": "dra-alloc"} | {key: str(count) for key, count in counts.items()})
    for finding, kind in zip(report.findings, kinds, strict=True):
        _case(root, finding, kind, verbose)
    if not kinds:  # a suite without cases is taken for a run that broke
        total = "".join(list(report.whole.lines(verbose))[-1:])
        ET.SubElement(root, "testcase", {"classname": "dra-alloc", "name": held(total)})
    if report.notes:
        ET.SubElement(root, "system-out").text = held("\n".join(f"note: {each}" for each in report.notes))
    return document(root)


def _case(root: ET.Element, finding: Finding, kind: str | None, verbose: bool) -> None:
    where = finding.where
    place = {"file": held(where.file), "line": str(where.line or 1)} if where.file else {}
    case = ET.SubElement(root, "testcase", {"classname": finding.code, "name": held(finding.subject)} | place)
    if kind is not None:
        text = held("\n".join(finding.lines(verbose)))
        ET.SubElement(case, kind, {"message": held(finding.title), "type": finding.code}).text = text


def document(root: ET.Element) -> str:
    """Return the text of a file with this root."""
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + inert(ET.tostring(root, encoding="unicode"), "&#x", ";") + "\n"


def held(text: str) -> str:
    """Return a text as XML can hold it, without what could steer its reader."""
    return _UNHOLDABLE.sub("\ufffd", printable(text))
