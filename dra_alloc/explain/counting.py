"""
Smaller numbers of devices that a request could ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from dra_alloc.explain.facts import Fact, called
from dra_alloc.explain.world import World, edit_requests


def countable(world: World) -> Iterator[Counting]:
    """Yield the requests that could ask for fewer devices."""
    for index, name, ask in world.asks():
        if ask.allocation_mode != "All" and (ask.count or 1) > 1:
            yield Counting(index, name, called(world, index, name), ask.count or 1)


def fewer_devices(world: World) -> Iterator[list[tuple[str, Callable[[World], World]]]]:
    """Yield, per request, what asking for fewer devices is and the change, the largest number first."""
    for each in countable(world):
        yield [(each.steps(count)[0], each.asking_for(count)) for count in range(each.wanted - 1, 0, -1)]


@dataclass(frozen=True, slots=True)
class Counting:
    """The number of devices that a request asks for, what the request is called, and what is changed besides."""

    claim: int
    name: str
    which: str
    wanted: int
    others: tuple[Fact, ...] = ()

    def steps(self, count: int) -> tuple[str, ...]:
        """Return how asking for fewer devices is said; an extended resource is counted by its own name."""
        amount = f"devices in {self.which}" if self.which.startswith("request ") else self.which
        fewer = f"asking for {count} instead of {self.wanted} {amount}"
        return (fewer, *(each.fix for each in self.others))

    def asking_for(self, count: int) -> Callable[[World], World]:
        """Return the change to another number."""

        def edit(index: int, full_name: str, ask: Any) -> Any:
            return ask.model_copy(update={"count": count}) if (index, full_name) == (self.claim, self.name) else ask

        def change(world: World) -> World:
            fewer = world.edited((self.claim, self.name, count), partial(edit_requests, edit=edit))
            for each in self.others:
                fewer = fewer.edited(each, each.without)
            return fewer

        return change
