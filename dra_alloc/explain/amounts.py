"""
Smaller amounts of a capacity that a request could ask for: those at which a device's answer can change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple

from dra_alloc.api import DeviceCapacity, Format, FrozenMap, Quantity
from dra_alloc.api.amounts.text import NANO
from dra_alloc.explain.world import Ask, World, edit_requests
from dra_alloc.problem.pools import GatherError, gather
from dra_alloc.problem.usage import Usage
from dra_alloc.profiles import Feature
from dra_alloc.rules.capacity.spelling import spelling, totals

__all__ = ["Lesser", "lesser_amounts"]

#: Shares of one device that one request is thought to want at most.
_MOST_SHARES: Final = 4
#: The units in which people ask for amounts, the largest first.
_UNITS: Final = {
    Format.BINARY_SI: tuple(1024**power for power in (4, 3, 2, 1, 0)),
    Format.DECIMAL_SI: tuple(1000**power for power in (4, 3, 2, 1, 0)),
}


class Lesser(NamedTuple):
    """A capacity that a request asks for, and smaller amounts that could be had, the smallest first."""

    claim: int
    request: str
    capacity: str
    wanted: Quantity
    amounts: tuple[Quantity, ...]

    def asking_for(self, number: int) -> Callable[[World], World]:
        """Return the change to the amount of that number, counted from 1."""
        return partial(edit_requests, edit=partial(self._edited, self.amounts[number - 1]))

    def _edited(self, amount: Quantity, index: int, full_name: str, ask: Any) -> Any:
        if (index, full_name) != (self.claim, self.request):
            return ask
        requests = FrozenMap({**ask.capacity.requests, self.capacity: amount})
        return ask.model_copy(update={"capacity": ask.capacity.model_copy(update={"requests": requests})})


def lesser_amounts(world: World) -> Iterator[Lesser]:
    """Yield the capacities that requests ask for, as far as some device could give less of them."""
    asks = [(index, name, ask) for index, name, ask in world.asks() if ask.capacity is not None]
    if not asks:
        return
    try:
        pools = gather(world.inventory(), world.node, world.profile)
    except GatherError:
        return
    usage = Usage.of(world.allocations.values(), sharing=world.profile.on(Feature.CONSUMABLE_CAPACITY))
    devices = [device for pool in pools for device in pool.devices if device.capacity]
    for index, full_name, ask in asks:
        for name, wanted in ask.capacity.requests.items() if ask.capacity is not None else ():
            others = sum(_asked(other, name) for _, _, other in asks if other is not ask)
            found: set[int] = set()
            for device in devices:
                own = spelling(name, device, world.profile)
                if own is not None:
                    consumed = totals(usage.consumed.get(device.key, {}), device, world.profile).get(own, 0)
                    left = device.capacity[own].value.nano - consumed
                    found.update(_amounts(device.capacity[own], left, others, _grain(wanted)))
            smaller = sorted(nano for nano in found if 0 < nano < wanted.nano)
            if smaller:
                yield Lesser(index, full_name, name, wanted, tuple(_quantity(nano, wanted) for nano in smaller))


def _asked(ask: Ask, name: str) -> int:
    amount = ask.capacity.requests.get(name) if ask.capacity is not None else None
    return 0 if amount is None else amount.nano * (ask.count or 1)


def _amounts(capacity: DeviceCapacity, left: int, others: int, grain: int) -> Iterator[int]:
    """Yield what of a capacity could be had, alone, beside the other requests, and several times over."""
    policy = capacity.request_policy
    span = policy.valid_range if policy is not None else None
    for whole in {left, left - others}:
        for shares in range(1, _MOST_SHARES + 1):
            most = whole // shares
            if span is not None and span.step is not None and span.min is not None and span.step.nano > 0:
                most -= (most - span.min.nano) % span.step.nano
            yield most - most % grain if most > grain else most
    if policy is not None:
        yield from (value.nano for value in policy.valid_values)


def _grain(wanted: Quantity) -> int:
    """Return the unit in which an amount is asked for, in units of 1e-9."""
    units = [unit * 10**9 for unit in _UNITS.get(wanted.format, ()) if not wanted.nano % (unit * 10**9)]
    return units[0] if units else 1


def _quantity(nano: int, like: Quantity) -> Quantity:
    """Return the amount as a manifest would have it: upstream keeps one that was computed otherwise."""
    return Quantity.parse(str(Quantity.of(nano, like.format, NANO)))
