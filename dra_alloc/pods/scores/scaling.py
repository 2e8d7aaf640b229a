"""
Raw scores brought to 0 to 100, in the scheduler's whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MOST: Final = 100


def scaled(raw: Sequence[int], *, reverse: bool = False) -> list[int] | None:
    """Return the scores as shares of the highest; None if all are the same."""
    highest, lowest = max(raw, default=0), min(raw, default=0)
    if highest == lowest:
        return None
    if reverse:
        return [MOST - MOST * each // highest for each in raw]
    return [MOST * each // highest for each in raw]
