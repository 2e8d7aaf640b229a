"""
GitLab's Code Quality report: a list of issues.
"""

from __future__ import annotations

from typing import Final

from dra_alloc.report.formats.annotations import annotated
from dra_alloc.report.layout import json_text
from dra_alloc.report.records import Report

_SEVERITY: Final = {"error": "blocker", "warning": "major", "note": "info"}


def render(report: Report, verbose: bool) -> str:
    """Return the issues as JSON; an empty list where all is well."""
    issues = [
        {
            "description": each.text,
            "check_name": each.code,
            "fingerprint": each.fingerprint,
            "severity": _SEVERITY[each.level],
            "location": {"path": each.file or each.subject, "lines": {"begin": each.line}},
        }
        for each in annotated(report, verbose)
    ]
    return json_text(issues)
