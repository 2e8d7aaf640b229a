"""
Consumable capacity: shares of one device draw on its capacity, rounded by its request policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dra_alloc.api import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity, Quantity
from dra_alloc.api.quantity import Format
from dra_alloc.problem.devices import DeviceKey, DeviceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.profiles import Trait
from dra_alloc.rules.base import Context, Pick, Reason, Rule
from dra_alloc.rules.facts import Draw, Fact

__all__ = ["ConsumedCapacity", "consumed_amount", "consumption", "violates_policy"]


def consumed_amount(capacity: DeviceCapacity, requested: Quantity | None) -> Quantity:
    """
    Return what a request takes of one capacity after rounding by the policy.

    Spec: CAP-1, CAP-2.
    """
    policy = capacity.request_policy
    if requested is None:
        return policy.default if policy is not None and policy.default is not None else capacity.value
    if policy is None:
        return requested
    span = policy.valid_range
    if span is not None and span.min is not None:
        return _round_into(requested, span.min, span)
    fitting = (value for value in policy.valid_values if value >= requested)
    return next(fitting, requested)


def _round_into(requested: Quantity, low: Quantity, span: CapacityRequestPolicyRange) -> Quantity:
    if requested < low:
        return low
    step = span.step.value() if span.step is not None else 0
    if step == 0:
        return requested
    base = low.value()
    rounded = _int64(base + -(-(requested.value() - base) // step) * step)
    return Quantity.of(rounded, Format.BINARY_SI)


def _int64(value: int) -> int:
    """Return the value as upstream's 64-bit arithmetic leaves it: it wraps around."""
    return (value + 2**63) % 2**64 - 2**63


def violates_policy(policy: CapacityRequestPolicy, amount: Quantity) -> bool:
    """
    Return whether a rounded amount is one the policy does not allow.

    The default always is allowed, if it is spelt the same way.

    Spec: CAP-3.
    """
    if policy.default is not None and amount.same_representation(policy.default):
        return False
    span = policy.valid_range
    if span is not None:
        if span.max is not None and amount > span.max:
            return True
        step = span.step.value() if span.step is not None else 0
        return bool(step and span.min is not None and (amount.value() - span.min.value()) % step)
    return bool(policy.valid_values) and amount not in policy.valid_values


def consumption(device: DeviceRow, ask: Ask) -> Mapping[str, Quantity] | None:
    """
    Return what a share of the device would consume, for every capacity it has.

    None if the request names a capacity the device lacks, or an amount its
    policy does not allow.

    Spec: CAP-4.
    """
    requested = dict(ask.capacity)
    if not requested.keys() <= device.capacity.keys():
        return None
    amounts: dict[str, Quantity] = {}
    for name, capacity in device.capacity.items():
        amount = consumed_amount(capacity, requested.get(name))
        if capacity.request_policy is not None and violates_policy(capacity.request_policy, amount):
            return None
        amounts[name] = amount
    return amounts


class ConsumedCapacity(Rule):
    """
    What is consumed already, what is picked and the request itself fit into every capacity.

    A dedicated device is checked the same way but consumes nothing.

    Spec: CAP-4, CAP-5, CAP-6.
    """

    code = "capacity-exhausted"
    spec = ("CAP-4", "CAP-5", "CAP-6")
    gathers = True
    __slots__ = ("_amounts", "_consumed", "_in_flight", "_leaks", "_shares", "_skips_exhausted")

    def __init__(self, context: Context) -> None:
        self._consumed = context.usage.consumed
        self._in_flight = context.in_flight
        self._leaks = context.profile.shows(Trait.REFUSAL_LEAKS)
        self._skips_exhausted = context.profile.shows(Trait.ALL_SKIPS_EXHAUSTED)
        self._amounts: dict[tuple[int, DeviceRow], Mapping[str, int] | None] = {}
        self._shares: dict[DeviceKey, int] = {}

    def _takes(self, ask: Ask, device: DeviceRow) -> Mapping[str, int] | None:
        key = (ask.id, device)
        if key not in self._amounts:
            amounts = consumption(device, ask)
            self._amounts[key] = None if amounts is None else {name: amount.nano for name, amount in amounts.items()}
        return self._amounts[key]

    def rejects(self, ask: Ask, device: DeviceRow) -> bool:
        if not device.capacity and not ask.capacity:
            return False
        takes = self._takes(ask, device)
        return takes is None or self._short(device, takes) is not None

    def leaves_out(self, ask: Ask, device: DeviceRow) -> bool:
        if self._skips_exhausted:
            return self.rejects(ask, device)
        takes = self._takes(ask, device)
        return takes is None or any(amount > device.capacity[name].value.nano for name, amount in takes.items())

    def _short(self, device: DeviceRow, takes: Mapping[str, int]) -> str | None:
        consumed = self._consumed.get(device.key, {})
        flying = self._in_flight.get(device.key, {})
        for name, amount in takes.items():
            total = consumed.get(name, 0) + flying.get(name, 0) + amount
            if total > device.capacity[name].value.nano:
                return name
        return None

    def add(self, ask: Ask, device: DeviceRow) -> bool:
        if self.rejects(ask, device):
            return False
        if device.shareable:
            takes = self._takes(ask, device) or {}
            flying = self._in_flight.setdefault(device.key, {})
            for name, amount in takes.items():
                flying[name] = flying.get(name, 0) + amount
            self._shares[device.key] = self._shares.get(device.key, 0) + 1
        return True

    def remove(self, ask: Ask, device: DeviceRow) -> None:
        if not device.shareable:
            return
        takes = self._takes(ask, device) or {}
        flying = self._in_flight.get(device.key, {})
        for name, amount in takes.items():
            flying[name] = flying.get(name, 0) - amount
        self._shares[device.key] -= 1
        last = bool(takes) and not any(flying.values()) if self._leaks else not self._shares[device.key]
        if last:
            self._in_flight.pop(device.key, None)

    def encode(self, asks: Sequence[Ask], devices: Sequence[DeviceRow]) -> Iterable[Fact]:
        for device in devices:
            if not device.shareable or not device.capacity:
                continue
            takes = [(ask.id, takes) for ask in asks if (takes := self._takes(ask, device)) is not None]
            consumed = self._consumed.get(device.key, {})
            for name, capacity in device.capacity.items():
                left = capacity.value.nano - consumed.get(name, 0)
                amounts = {(ask, device): amounts[name] for ask, amounts in takes if amounts[name]}
                # Without anything left no request is allowed, not even one that takes nothing.
                if amounts and left >= 0:
                    yield Draw(f"capacity {name} of {device.key}", left, by_request=amounts)

    def why(self, ask: Ask, device: DeviceRow) -> Reason:
        takes = self._takes(ask, device)
        if takes is None:
            missing = [name for name, _ in ask.capacity if name not in device.capacity]
            if missing:
                return Reason("capacity-missing", f"has no capacity {', '.join(missing)}")
            return Reason("capacity-policy", "its request policy does not allow the amount asked for")
        name = self._short(device, takes)
        if name is None:
            return super().why(ask, device)
        return Reason(self.code, f"capacity {name} has too little left")

    def violations(self, picks: Sequence[Pick]) -> Iterable[str]:
        used: dict[DeviceRow, dict[str, int]] = {}
        for ask, device in picks:
            takes = consumption(device, ask)
            if takes is None:
                yield f"{device.key} does not offer the capacity that {ask.full_name} asks for"
                continue
            totals = used.setdefault(device, dict(self._consumed.get(device.key, {})))
            for name, amount in takes.items():
                if totals.get(name, 0) + amount.nano > device.capacity[name].value.nano:
                    yield f"capacity {name} of {device.key} is overdrawn"
                if device.shareable:
                    totals[name] = totals.get(name, 0) + amount.nano
