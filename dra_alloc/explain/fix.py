"""
What a person could do about a refusal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dra_alloc.explain.facts import Whose
from dra_alloc.explain.world import World

__all__ = ["Fix"]


@dataclass(frozen=True, slots=True)
class Fix:
    """
    A change that is enough, tried: one step, or several together.

    `whose` affair it is and its `cost` order fixes, cheapest first; of two
    steps that are the affair of different people it is the furthest's, and
    `affairs` has both. `change` makes it in a world. `leaves` says, of two
    changes of what is in the way, what one of them leaves in it.
    """

    steps: tuple[str, ...]
    cost: int
    change: Callable[[World], World] = field(repr=False, compare=False)
    leaves: str = ""
    whose: Whose = Whose.MANIFEST
    parties: frozenset[Whose] = frozenset()

    def __str__(self) -> str:
        return f"{'both ' if len(self.steps) > 1 else ''}{' and '.join(self.steps)}"

    @property
    def affairs(self) -> tuple[Whose, ...]:
        """Return whose affair its steps are, the nearest first."""
        return tuple(sorted(self.parties)) or (self.whose,)

    @property
    def order(self) -> tuple[Whose, int]:
        """Return what orders fixes, cheapest first."""
        return self.whose, self.cost
