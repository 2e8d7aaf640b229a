"""
How good an answer is by each objective, and whether better is ruled out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dra_alloc.solve.best.optimise import Score


def score_lines(scores: Sequence[Score]) -> Iterator[str]:
    """Yield one line per objective."""
    for score in scores:
        if score.proven:
            yield f"{score.objective}: {score.value:,}, and less is not possible"
        else:
            why = f": {score.why}" if score.why else ""
            yield f"{score.objective}: {score.value:,}, and {score.bound:,} is not ruled out{why}"


def score_objects(scores: Sequence[Score]) -> list[dict[str, Any]]:
    """Return the scores for JSON; `bound` is the least value that is not ruled out."""
    names = ("objective", "value", "bound", "proven", "why")
    return [{name: getattr(score, name) for name in names} for score in scores]
