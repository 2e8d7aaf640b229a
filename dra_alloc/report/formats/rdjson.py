"""
Reviewdog's diagnostics, which it turns into comments on a change.
"""

from __future__ import annotations

from typing import Any, Final

from dra_alloc.report.formats.annotations import Annotation, annotated
from dra_alloc.report.layout import json_text
from dra_alloc.report.records import Report

_SEVERITY: Final = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def render(report: Report, verbose: bool) -> str:
    """Return one DiagnosticResult as JSON; its diagnostics are an empty list where all is well."""
    told = {
        "source": {"name": "dra-alloc"},
        "diagnostics": [_diagnostic(each) for each in annotated(report, verbose)],
    }
    return json_text(told)


def _diagnostic(told: Annotation) -> dict[str, Any]:
    column = {} if told.column is None else {"column": told.column}
    place = {"path": told.file or told.subject, "range": {"start": {"line": told.line, **column}}}
    return {
        "message": told.text,
        "location": place,
        "severity": _SEVERITY[told.level],
        "code": {"value": told.code},
    }
