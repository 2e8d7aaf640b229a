"""
Volcano's enqueue: whether a queue has room for the least of devices that a PodGroup needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from dra_alloc.api import Quantity, ResourceClaim
from dra_alloc.queues.systems import QueueDefect, QueueSystem

_CLASS: Final = "deviceclass/"
_NONE: Final = Quantity.of(0)


@dataclass(slots=True)
class DeviceMinimum:
    """Devices of one class, and capacity of them by dimension."""

    count: int = 0
    capacity: dict[str, Quantity] = field(default_factory=dict)


def device_minimum(
    pods: Iterable[Sequence[ResourceClaim]], least: int, system: QueueSystem
) -> Mapping[str, DeviceMinimum]:
    """
    Return what the first `least` pods that have claims ask for, by class; `pods` by namespace and name.

    Requests for all devices and those with alternatives ask for nothing. A
    claim that several pods share is counted once for each.

    Spec: VOLCANO-1, VOLCANO-2.
    """
    found: dict[str, DeviceMinimum] = {}
    with_claims = [claims for claims in pods if claims][: max(0, least)]
    claims = [each for own in with_claims for each in own]
    if not system.shows(QueueDefect.SHARED_PER_POD):
        claims = list({id(each): each for each in claims}.values())
    for claim in claims:
        for request in claim.spec.devices.requests:
            exactly = request.exactly
            if exactly is None or exactly.allocation_mode not in ("", "ExactCount", None):
                continue
            count = exactly.count or 1
            minimum = found.setdefault(exactly.device_class_name, DeviceMinimum())
            minimum.count += count
            asked = exactly.capacity.requests if exactly.capacity is not None else {}
            for name, amount in asked.items():
                minimum.capacity[name] = minimum.capacity.get(name, _NONE) + _times(amount, count)
    return found


def may_enqueue(
    capability: Mapping[str, Quantity],
    minimum: Mapping[str, DeviceMinimum],
    allocated: Mapping[str, int],
    system: QueueSystem,
    *,
    consumable_capacity: bool,
) -> bool:
    """Return whether a queue has room for a minimum beside the devices that it has allocated, by class."""
    held = {name: DeviceMinimum(count) for name, count in allocated.items()}
    return not enqueue_refusal(capability, minimum, held, system, consumable_capacity)


def enqueue_refusal(
    capability: Mapping[str, Quantity],
    minimum: Mapping[str, DeviceMinimum],
    held: Mapping[str, DeviceMinimum],
    system: QueueSystem,
    consumable: bool,
) -> str:
    """
    Return why a queue's capability has no room for a minimum beside what it holds, by class; nothing if it has.

    A class that the capability does not name is not limited, and a count of 0
    limits nothing, either. Capacity is one sum over all devices.

    Spec: VOLCANO-3, VOLCANO-4.
    """
    zero_is_none = system.shows(QueueDefect.ZERO_UNLIMITED)
    for name, need in minimum.items():
        count, had = capability.get(f"{_CLASS}{name}"), held.get(name, DeviceMinimum())
        limited = count is not None and (count.nano > 0 or not zero_is_none)
        if limited and Quantity.of(had.count + need.count) > count:
            return f"{need.count} of class {name} asked, {had.count} used of {count}"
        if not consumable:
            continue
        limits = {key.removesuffix(f".{_CLASS}{name}"): each for key, each in capability.items() if _is_of(key, name)}
        if count is None and not limits:
            continue
        for each, amount in need.capacity.items():
            used = had.capacity.get(each, _NONE)
            if each not in limits:
                return f"{each} of class {name} asked, of which it says nothing"
            if amount + used > limits[each]:
                return f"{amount} {each} of class {name} asked, {used} used of {limits[each]}"
    return ""


def _is_of(key: str, name: str) -> bool:
    return key.endswith(f".{_CLASS}{name}")


def _times(amount: Quantity, count: int) -> Quantity:
    whole, rest = divmod(amount.nano * count, 10**9)
    return Quantity.of(amount.nano * count, amount.format, exponent=-9) if rest else Quantity.of(whole, amount.format)
