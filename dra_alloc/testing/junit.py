"""
A conformance run as a JUnit file, which build servers show.
"""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

from dra_alloc.report.formats.junit import document, held
from dra_alloc.testing.conformance import ConformanceRun, Mismatch


def junit(result: ConformanceRun, suite: str) -> str:
    """Return the file's text: a test case for each question, with a failure or an error where it is wrong."""
    failing = [each for each in result.findings if not each.failure]
    erring = [each for each in result.findings if each.failure]
    counts = {"tests": len(result.names), "failures": len(failing), "errors": len(erring)}
    root = ET.Element("testsuite", {"name": held(suite)} | {key: str(count) for key, count in counts.items()})
    found = {each.name: each for each in result.findings}
    for name, rule in result.names:
        case = ET.SubElement(root, "testcase", {"classname": held(rule), "name": held(name)})
        if name in found:
            _wrong(case, found[name])
    if result.stopped:
        ET.SubElement(root, "system-err").text = held(result.stopped)
    return document(root)


def _wrong(case: ET.Element, finding: Mismatch) -> None:
    kind = "error" if finding.failure else "failure"
    message = finding.failure or f"another answer than expected: {', '.join(finding.rules)}"
    inner = ET.SubElement(case, kind, {"message": held(message)})
    shown = {"request": finding.request, "expected": finding.expected, "answer": finding.answer}
    inner.text = held(json.dumps({key: each for key, each in shown.items() if each is not None}, indent=1))
