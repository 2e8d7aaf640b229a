"""
The format for a person: at most 80 columns wide.
"""

from __future__ import annotations

from dra_alloc.report.layout import inert, wrapped
from dra_alloc.report.records import Report


def render(report: Report, verbose: bool) -> str:
    """Return the lines; without `verbose` long lists are cut, and say by how much."""
    return inert("\n".join(map(wrapped, report.whole.lines(verbose)))) + "\n"
