"""
The format for other programs.
"""

from __future__ import annotations

import json

from dra_alloc.report.layout import inert
from dra_alloc.report.records import SCHEMA_VERSION, Report

__all__ = ["render"]


def render(report: Report, verbose: bool) -> str:
    """Return one JSON object, always complete."""
    return inert(json.dumps({"schemaVersion": SCHEMA_VERSION, **report.whole.members()}, indent=2), r"\u00") + "\n"
