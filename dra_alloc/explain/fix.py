"""
What a person could do about a refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dra_alloc.explain.facts import Whose
from dra_alloc.explain.world import World


@dataclass(frozen=True, slots=True)
class Fix:
    """
    A change that is enough, tried: one step, or several together.

    `whose` affair it is and its `cost` order fixes, cheapest first; of two
    steps it is the furthest's, and `parties` has that of each. `change` makes
    it in a world. `leaves` says, of two changes of what is in the way, what
    one of them leaves in it. `asides` say more of steps: who uses what is
    freed, who else a class serves, what is chosen then.
    """

    steps: tuple[str, ...]
    cost: int
    change: Callable[[World], World] = field(repr=False, compare=False)
    leaves: str = ""
    whose: Whose = Whose.MANIFEST
    parties: tuple[Whose, ...] = ()
    asides: tuple[str, ...] = ()

    def __str__(self) -> str:
        return joined(self.steps)

    @property
    def each_whose(self) -> tuple[Whose, ...]:
        """Return whose affair each step is."""
        return self.parties or (self.whose,) * len(self.steps)

    @property
    def each_aside(self) -> tuple[str, ...]:
        """Return what there is to say of each step besides."""
        return self.asides or ("",) * len(self.steps)

    def and_then(self, other: Fix, leaves: str) -> Fix:
        """Return both as one fix of two steps; `leaves` is what this one alone leaves in the way."""

        def change(world: World) -> World:
            return other.change(self.change(world))

        parties = (*self.each_whose, *other.each_whose)
        steps = (*self.steps, *other.steps)
        asides = (*self.each_aside, *other.each_aside)
        return Fix(steps, self.cost + other.cost, change, leaves, max(parties), parties, asides if any(asides) else ())

    @property
    def order(self) -> tuple[Whose, int]:
        """Return what orders fixes, cheapest first."""
        return self.whose, self.cost


def joined(steps: Sequence[str]) -> str:
    """Return changes that are made together."""
    if len(steps) < 3:
        return f"{'both ' if len(steps) > 1 else ''}{' and '.join(steps)}"
    return f"all of {', '.join(steps[:-1])} and {steps[-1]}"


def after_alone(step: str, left: str) -> str:
    """Return what is left in the way by a change alone."""
    return f"after {step} alone, {left}"


def is_said(left: str, before: str) -> bool:
    """Return whether what is left in the way was told before, of a device perhaps together with something else."""
    device, _, why = left.partition(": ")
    return left in before or (" " not in device and device in before and bool(why) and why in before)
