"""
Consumable capacity where an amount can be negative, which kube-scheduler forgets about on the way back.

Upstream's defect: before 1.37.0 negative amounts are computed with, and a device
whose amounts even out when a pick is given back starts from nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from dra_alloc.api import DeviceCapacity, Quantity
from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask, ClaimRow
from dra_alloc.profiles import Trait
from dra_alloc.rules.base import Context
from dra_alloc.rules.capacity.consumed import ConsumedCapacity
from dra_alloc.rules.facts import Draw, Fact, Looser

#: From here on rounding can wrap around at 64 bits.
_NEARLY_WRAPPED: Final = 2**61 * 10**9


def can_be_negative(context: Context, claims: Iterable[ClaimRow]) -> bool:
    """Return whether a pick may consume less than nothing and be forgotten; also true for some amounts near 64 bits."""
    if not context.profile.shows(Trait.CAPACITY_FORGOTTEN):
        return False
    asks = (ask for claim in claims for request in claim.requests for ask in request.asks)
    if any(_is_odd(amount) for ask in asks for _, amount in ask.capacity):
        return True
    return any(
        _is_odd(amount)
        for pool in context.pools
        # A device that can be shared is nothing simple.
        if not all(row.outline.simple for row in pool.slices)
        for device in pool.devices
        if device.shareable
        for capacity in device.capacity.values()
        for amount in _unasked(capacity)
    )


def _is_odd(amount: Quantity) -> bool:
    return not 0 <= amount.nano < _NEARLY_WRAPPED


def _unasked(capacity: DeviceCapacity) -> tuple[Quantity, ...]:
    policy = capacity.request_policy
    return (capacity.value,) if policy is None or policy.default is None else (capacity.value, policy.default)


class NegativeCapacity(ConsumedCapacity):
    """
    Consumed capacity that forgets what a device has in flight once that is nothing.

    Spec: CAP-11.
    """

    spec = ("CAP-5", "CAP-6", "CAP-7", "CAP-11")
    __slots__ = ("_refilled",)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._refilled: set[DeviceRow] = set()

    def _give_back(self, ask: Ask, device: DeviceRow) -> None:
        super()._give_back(ask, device)
        flying = self._in_flight.get(device.key)
        if flying and not any(flying.values()):
            flying.clear()

    @property
    def sound(self) -> bool:
        return False

    def allows(self, ask: Ask, device: DeviceRow) -> bool:
        if super().allows(ask, device):
            return True
        # A pick that takes less than nothing can come first.
        return device in self._refilled and self._takes(ask, device) is not None

    def encode(self, asks: Sequence[Ask], devices: Sequence[DeviceRow]) -> Iterable[Fact]:
        """Return what holds in any order of the search."""
        self._refilled = {
            device
            for device in devices
            if device.shareable
            for ask in asks
            if any(amount < 0 for amount in (self._takes_if_any(ask, device) or {}).values())
        }
        for fact in super().encode(asks, devices):
            if not (isinstance(fact, Draw) and any(device in self._refilled for _, device in fact.by_request)):
                yield fact
        counts = {ask.id: ask.count for ask in asks}
        for device in (device for device in devices if device in self._refilled):
            takes = [(ask, takes) for ask in asks if (takes := self._takes_if_any(ask, device)) is not None]
            consumed = self._consumed.get(device.key, {})
            short = any(
                consumed.get(name, 0) + sum(max(amounts[name], 0) * counts[ask.id] for ask, amounts in takes)
                > capacity.value.nano
                for name, capacity in device.capacity.items()
            )
            if short or device.draws:
                yield Looser(f"what {device.key} has in flight depends on the order of the search")
