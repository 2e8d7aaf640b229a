"""
The format for other programs.
"""

from __future__ import annotations

from dra_alloc.report.layout import json_text
from dra_alloc.report.records import SCHEMA_VERSION, Report

__all__ = ["render"]


def render(report: Report, verbose: bool) -> str:
    """Return one JSON object, always complete."""
    return json_text({"schemaVersion": SCHEMA_VERSION, **report.whole.members()})
