"""
The format for other programs.
"""

from __future__ import annotations

from dra_alloc.manifest.gc_pause import gc_paused
from dra_alloc.report.layout import json_text
from dra_alloc.report.records import SCHEMA_VERSION, Report


def render(report: Report, verbose: bool) -> str:
    """Return one JSON object, always complete."""
    with gc_paused():
        return json_text({"schemaVersion": SCHEMA_VERSION, **report.whole.members()})
