"""
Consumable capacity where looking at a device adds to what is asked for.

Upstream's defect: an amount that is held by reference and that the policy takes
as it is has the capacity in use added to it by every check.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dra_alloc.api import DeviceCapacity, Quantity
from dra_alloc.problem.devices import DeviceKey, DeviceRow
from dra_alloc.problem.requests import Ask, ClaimRow
from dra_alloc.profiles import Trait
from dra_alloc.rules.base import Context, Pick, Reason
from dra_alloc.rules.capacity.consumed import ConsumedCapacity
from dra_alloc.rules.capacity.policy import Arithmetic, consumed_amount, violates_policy
from dra_alloc.rules.facts import Fact, Unmodelled

#: What a pick takes of each capacity; None is what the request asks for, whatever that is by now.
_Taken = Mapping[str, Quantity | None]


def can_grow(context: Context, claims: Iterable[ClaimRow]) -> bool:
    """Return whether an amount that the claims ask for can grow while devices are looked at."""
    if not context.profile.shows(Trait.AMOUNTS_GROW):
        return False
    wide = {
        name
        for claim in claims
        for request in claim.requests
        for ask in request.asks
        for name, amount in ask.capacity
        if amount.wide
    }
    return bool(wide) and any(
        device.capacity[name].request_policy is not None
        for pool in context.pools
        for device in pool.devices
        if device.shareable
        for name in wide & device.capacity.keys()
    )


class GrowingCapacity(ConsumedCapacity):
    """
    Consumed capacity for requests whose amounts can grow.

    What is in flight is remembered with its scale, as the amounts that grow by
    it need that. Picks are given back newest first.

    Spec: GROW-2, GROW-3, GROW-4, CAP-4, CAP-5, CAP-6.
    """

    spec = ("GROW-2", "GROW-3", "GROW-4", "CAP-5")
    __slots__ = ("_arithmetic", "_asked", "_flying", "_picked")

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._arithmetic = Arithmetic.of(context.profile)
        self._asked: dict[int, dict[str, Quantity]] = {}
        self._flying: dict[DeviceKey, dict[str, Quantity]] = {}
        self._picked: list[tuple[_Taken, bool]] = []

    def _now(self, ask: Ask) -> dict[str, Quantity]:
        """Return what the request asks for by now."""
        return self._asked.setdefault(ask.id, dict(ask.capacity))

    def _amount(self, asked: Mapping[str, Quantity], name: str, capacity: DeviceCapacity) -> tuple[Quantity, bool]:
        """Return what would be consumed, and whether that is the very amount that was asked for."""
        requested = asked.get(name)
        amount = consumed_amount(capacity, requested, self._arithmetic)
        return amount, amount is requested and amount.wide and capacity.request_policy is not None

    def _fits(self, ask: Ask, device: DeviceRow) -> bool:
        asked = self._now(ask)
        if not asked.keys() <= device.capacity.keys():
            return False
        consumed = self._consumed.get(device.key, {})
        flying = self._flying.get(device.key, {})
        for name, capacity in device.capacity.items():
            amount, own = self._amount(asked, name, capacity)
            policy = capacity.request_policy
            if policy is not None and violates_policy(policy, amount, self._arithmetic):
                return False
            total = amount.nano + consumed.get(name, 0)
            if name in flying:
                total += flying[name].nano
                if own and name not in consumed:
                    asked[name] = amount.grown(flying[name])
            if total > capacity.value.nano:
                return False
        return True

    def _draw(self, ask: Ask, device: DeviceRow) -> None:
        asked = self._now(ask)
        taken: dict[str, Quantity | None] = {}
        already = device.key in self._flying
        flying = self._flying.setdefault(device.key, {})
        for name, capacity in device.capacity.items():
            amount, own = self._amount(asked, name, capacity)
            taken[name] = None if own else amount
            flying[name] = flying[name] + amount if name in flying else amount
        self._in_flight.setdefault(device.key, {})
        self._picked.append((taken, already))

    def _give_back(self, ask: Ask, device: DeviceRow) -> None:
        taken, already = self._picked.pop()
        asked = self._now(ask)
        flying = self._flying.get(device.key)
        if flying is None or (self._leaks and not taken):
            return
        for name, amount in taken.items():
            if name in flying:
                flying[name] = flying[name] - (asked[name] if amount is None else amount)
        if any(amount.nano for amount in flying.values()):
            return
        if already and not self._leaks:
            self._flying[device.key] = {}
        else:
            del self._flying[device.key]
            self._in_flight.pop(device.key, None)

    def settled(self, picks: Sequence[Pick]) -> Sequence[Pick]:
        taken = iter(self._picked)
        return [self._settle(pick, next(taken)[0]) if pick.device.shareable else pick for pick in picks]

    def _settle(self, pick: Pick, taken: _Taken) -> Pick:
        asked = self._now(pick.ask)
        amounts = {name: asked[name] if amount is None else amount for name, amount in taken.items()}
        return Pick(pick.ask.consuming(amounts), pick.device)

    @property
    def sound(self) -> bool:
        return False

    def encode(self, asks: Sequence[Ask], devices: Sequence[DeviceRow]) -> Iterable[Fact]:
        yield Unmodelled("amounts of capacity grow while devices are looked at")

    def why(self, ask: Ask, device: DeviceRow) -> Reason:
        asked = self._now(ask)
        consumed = self._consumed.get(device.key, {})
        flying = self._flying.get(device.key, {})
        for name in asked.keys() & device.capacity.keys():
            capacity = device.capacity[name]
            amount, own = self._amount(asked, name, capacity)
            total = amount.nano + consumed.get(name, 0) + (flying[name].nano if name in flying else 0)
            if own and amount is not dict(ask.capacity)[name] and total > capacity.value.nano:
                return Reason(self.code, f"capacity {name} has too little left for what was asked, grown to {amount}")
        return super().why(ask, device)
