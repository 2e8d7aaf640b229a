"""
SARIF 2.1.0, which code scanning reads: a result for each finding that is not as it should be.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from dra_alloc._version import __version__
from dra_alloc.report.formats.annotations import Annotation, annotated
from dra_alloc.report.layout import json_text, printable
from dra_alloc.report.records import Report

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def render(report: Report, verbose: bool) -> str:
    """Return one SARIF log with one run; without findings its results are an empty list."""
    found = list(annotated(report, verbose))
    rules = sorted({each.code for each in found})
    driver = {"name": "dra-alloc", "version": __version__, "rules": [{"id": each} for each in rules]}
    results = [_result(each, rules.index(each.code)) for each in found]
    notes = [{"level": "note", "message": {"text": printable(each)}} for each in report.notes]
    invocation = {"executionSuccessful": True, "toolExecutionNotifications": notes}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": results,
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json_text(log)


def _result(told: Annotation, rule: int) -> dict[str, Any]:
    location: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": told.subject}]}
    if told.file:
        uri = quote(told.file.encode("utf-8", "surrogateescape"), safe="/")
        column = {} if told.column is None else {"startColumn": told.column}
        region = {"startLine": told.line, **column}
        location["physicalLocation"] = {"artifactLocation": {"uri": uri}, "region": region}
    return {
        "ruleId": told.code,
        "ruleIndex": rule,
        "level": told.level,
        "message": {"text": told.text},
        "locations": [location],
        "partialFingerprints": {"draAlloc/v1": told.fingerprint},
    }
