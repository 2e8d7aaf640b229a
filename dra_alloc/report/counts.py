"""
Totals of a check.
"""

from __future__ import annotations

from dra_alloc.scenario.check import Check

__all__ = ["summary_counts"]


def summary_counts(check: Check) -> dict[str, int]:
    """Return how many subjects are allocated, unsatisfiable and undecided."""
    verdicts = [placement.verdict for placement in check.placements]
    return {verdict: verdicts.count(verdict) for verdict in ("allocated", "unsatisfiable", "undecided")}
