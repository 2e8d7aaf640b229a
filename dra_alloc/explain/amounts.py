"""
Smaller amounts of a capacity that a request could ask for.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple

from dra_alloc.api import Format, FrozenMap, Quantity
from dra_alloc.api.amounts.text import NANO
from dra_alloc.explain.world import World, edit_requests
from dra_alloc.problem.pools import GatherError, gather
from dra_alloc.problem.usage import Usage
from dra_alloc.profiles import Feature
from dra_alloc.rules import amounts_of

#: Amounts that are tried as they are, besides the smallest.
_MOST: Final = 10
#: How often the distance to the largest amount is halved.
_MOST_HALVES: Final = 6
#: Picks of one request among which a device is thought to be shared.
_MOST_PARTS: Final = 4
#: The units in which people ask for amounts, the largest first.
_UNITS: Final = {
    Format.BINARY_SI: tuple(1024**power for power in (4, 3, 2, 1, 0)),
    Format.DECIMAL_SI: tuple(1000**power for power in (4, 3, 2, 1, 0)),
}


class Lesser(NamedTuple):
    """
    A capacity that a request asks for.

    `amounts` are smaller ones that devices have left or that their policies
    name, of All the differences of these, too, the smallest first, `unit` is the one in which people would ask for
    others; all of them in units of 1e-9.
    """

    claim: int
    request: str
    capacity: str
    wanted: Quantity
    unit: int
    amounts: tuple[int, ...]

    def said(self, amount: int) -> str:
        """Return how asking for an amount instead is said, but for the request."""
        return f"asking for {self._quantity(amount)} instead of {self.wanted} {self.capacity}"

    def asking_for(self, amount: int) -> Callable[[World], World]:
        """Return the change to another amount."""

        def edit(index: int, full_name: str, ask: Any) -> Any:
            if (index, full_name) != (self.claim, self.request):
                return ask
            requests = FrozenMap({**ask.capacity.requests, self.capacity: self._quantity(amount)})
            return ask.model_copy(update={"capacity": ask.capacity.model_copy(update={"requests": requests})})

        return partial(edit_requests, edit=edit)

    def _quantity(self, amount: int) -> Quantity:
        # Read from a text, as a manifest's: upstream keeps amounts that were computed otherwise.
        return Quantity.parse(str(Quantity.of(amount, self.wanted.format, NANO)))

    def largest(self, fits: Callable[[int], bool]) -> int:
        """
        Return an amount with which it fits, close to the largest; 0 if none was found.

        What devices have left is tried first, from above. What several requests
        can have of one device lies between: from there on whole units are tried,
        up to a 64th of the distance to the next amount, or a unit if that is more.
        """
        found = next((each for each in reversed(self.amounts) if fits(each)), 0)
        above = next((each for each in (*self.amounts, self.wanted.nano) if each > found), self.wanted.nano)
        for _ in range(_MOST_HALVES if found else 0):
            middle = (found + above) // 2
            middle -= middle % self.unit
            if middle <= found:
                break
            if fits(middle):
                found = middle
            else:
                above = middle
        return found


def lesser_amounts(world: World) -> Iterator[Lesser]:
    """Yield the capacities that requests ask for more than one unit of."""
    try:
        devices = [device for pool in gather(world.inventory(), world.node, world.profile) for device in pool.devices]
    except GatherError:
        return
    usage = Usage.of(world.allocations.values(), sharing=world.profile.on(Feature.CONSUMABLE_CAPACITY))
    for index, full_name, ask in world.asks():
        for name, wanted in ask.capacity.requests.items() if ask.capacity is not None else ():
            unit = _unit(wanted)
            found = {unit}
            for device in devices:
                found.update(amounts_of(device, name, usage.consumed.get(device.key, {}), world.profile))
            if world.takes_all:
                # All takes other devices with each amount: what other requests leave of one is not found by halves.
                found |= {more - less for more, less in itertools.permutations(found, 2)}
            # Several picks can share a device.
            parts = range(2, min(ask.count or 1, _MOST_PARTS) + 1) if world.shares else ()
            found |= {each // part - each // part % unit for each in found for part in parts}
            smaller = sorted(nano for nano in found if 0 < nano < wanted.nano)
            if smaller:
                yield Lesser(index, full_name, name, wanted, unit, (*smaller[:1], *smaller[1:][-_MOST:]))


def _unit(wanted: Quantity) -> int:
    """Return the unit in which an amount is asked for, in units of 1e-9."""
    units = [unit * 10**9 for unit in _UNITS.get(wanted.format, ()) if not wanted.nano % (unit * 10**9)]
    return units[0] if units else 1
