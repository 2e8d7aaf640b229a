"""
What a person could do about a refusal: changes, and two of them together.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from dra_alloc.explain.facts import Fact, Whose
from dra_alloc.explain.world import World

#: Facts that say which devices are asked for.
CHOOSING: Final = frozenset({"class", "selector"})
#: How it begins what is told of pools of which slices are missing.
SEEN_SO_FAR: Final = "of the devices seen so far"


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
    named = rf"(?<![\w.-]){re.escape(device)}(?![\w.-])"
    return left in before or (" " not in device and bool(why) and why in before and bool(re.search(named, before)))


def choosing_pairs(facts: Sequence[Fact], known: Collection[frozenset[Fact]]) -> Iterator[tuple[Fact, Fact]]:
    """
    Yield the pairs that let All take other devices and are not known yet, cheapest first.

    What is in the way then is no fact of the refusal.
    """
    pairs = itertools.combinations([fact for fact in facts if fact.fix], 2)
    chosen = [pair for pair in pairs if frozenset(pair) not in known and any(each.code in CHOOSING for each in pair)]
    yield from sorted(chosen, key=cost_of_pair)


def cost_of_pair(pair: Sequence[Fact]) -> int:
    """Return what the changes of two facts cost together."""
    return sum(fact.cost for fact in pair)


def alone(fact: Fact, left: str) -> str:
    """Return what is left in the way by one change alone; what slices offer that nobody has seen yet is not known."""
    if fact.code == "pool-incomplete":
        return f"{SEEN_SO_FAR}, {left}"
    return after_alone("dropping the selector" if fact.code == "selector" else fact.fix, left)
