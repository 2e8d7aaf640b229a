"""
Two changes together: which, what they cost, and what one of them alone leaves in the way.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from dra_alloc.explain.facts import Fact
from dra_alloc.explain.fix import after_alone

#: Facts that say which devices are asked for.
CHOOSING: Final = frozenset({"class", "selector"})
#: How it begins what is told of pools of which slices are missing.
SEEN_SO_FAR: Final = "of the devices seen so far"


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
