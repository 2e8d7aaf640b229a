"""
What a device costs by a counter or a capacity, and sums of such amounts.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_alloc.api import CapacityRequestPolicy, Device, ExactDeviceRequest, Quantity
from dra_alloc.api.amounts.text import MAX_INT64
from dra_alloc.queues.kueue.devices import Seen


def total(before: Quantity | None, amount: Quantity, times: int = 1) -> Quantity:
    """Return whole amounts added up within 64 bits, one of them several times; less than nothing is nothing."""
    whole = min(MAX_INT64, max(0, amount.value()) * times)
    if before is None:
        return Quantity.of(whole, amount.format)
    return Quantity.of(min(MAX_INT64, before.value() + whole), before.format)


def counter_drawn(device: Device, name: str) -> Iterator[Quantity]:
    """Yield what a device takes of the counter of that name, of each counter set. Spec: KUEUE-16."""
    for each in device.consumes_counters:
        if name in each.counters:
            yield each.counters[name].value


def capacity_drawn(device: Seen, name: str, request: ExactDeviceRequest) -> Iterator[Quantity]:
    """Yield what the request takes of a device's capacity, if its policy has such an amount. Spec: KUEUE-17."""
    names = (name, f"{device.driver}/{name}", name.removeprefix(f"{device.driver}/"))
    capacity = next((device.wire.capacity[each] for each in names if each in device.wire.capacity), None)
    if capacity is None:
        return
    asked = request.capacity.requests if request.capacity is not None else {}
    base = next((asked[each] for each in names if each in asked), None)
    policy = capacity.request_policy
    if base is None:
        base = policy.default if policy is not None and policy.default is not None else capacity.value
    found = base if policy is None else _allowed(base, policy)
    if found is not None:
        yield found


def _allowed(base: Quantity, policy: CapacityRequestPolicy) -> Quantity | None:
    """Return the least amount of a policy that is enough; none if it has none."""
    if policy.valid_values:
        return min((each for each in policy.valid_values if each >= base), default=None)
    span = policy.valid_range
    if span is None or span.min is None:
        return base
    found = max(base, span.min)
    if span.step is not None and span.step.nano > 0:
        steps = -((span.min.nano - found.nano) // span.step.nano)
        found = Quantity.of(span.min.nano + steps * span.step.nano, base.format, exponent=-9)
    return None if span.max is not None and found > span.max else found
