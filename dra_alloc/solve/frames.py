"""
What rules look at in the devices of a slice besides attributes, and which slices have that in common.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter, is_, itemgetter
from typing import Any, Final

from dra_alloc.api import Device, DeviceCapacity, Quantity
from dra_alloc.manifest.make.records import WireRecord
from dra_alloc.problem.devices import SliceRow
from dra_alloc.problem.tainting import taints_for
from dra_alloc.remembered import Numbers

#: Frames that have a number.
_NUMBERED: Final = 1 << 14
#: Frames a slice is compared with before its own is worked out.
_COMPARED: Final = 16


class Frames:
    """
    Frames by number; safe to use from several threads.

    Most slices of a cluster have one of few frames: comparing records costs a
    tenth of working out what makes them different.
    """

    __slots__ = ("_numbers", "_seen")

    def __init__(self) -> None:
        self._numbers = Numbers(_NUMBERED)
        self._seen: dict[int, list[tuple[list[Any], list[Any], tuple[str, int]]]] = {}

    def token(self, row: SliceRow) -> Hashable:
        """Return what slices with equal frames have in common; just the length for simple devices."""
        devices: Sequence[Any] = row.wire.spec.devices
        if row.plain:
            return len(devices)
        if row.taint_rules or not isinstance(devices[0], WireRecord):
            return self._number(row)
        seen = list(map(_FRAMED, devices))
        spelled = _spelled(seen)
        others = self._seen.setdefault(len(devices), [])
        for other, spelled_so, number in others:
            if other == seen and len(spelled) == len(spelled_so) and all(map(is_, spelled, spelled_so)):
                return number
        number = self._number(row)
        if len(others) < _COMPARED:
            others.append((seen, spelled, number))
        return number

    def _number(self, row: SliceRow) -> tuple[str, int]:
        frame = tuple([_frame(device, row) for device in row.wire.spec.devices])
        return "frame", self._numbers.of(frame)


def _spelled(seen: Iterable[Any]) -> list[Any]:
    """
    Return what equal frames must have the very same of to be alike: quantities, which are equal if spelled otherwise.

    A text is read once, so that quantities which are not the same object mostly are spelled otherwise.
    """
    capacities = list(chain.from_iterable(map(dict.values, map(_LAST, seen))))
    return [*map(_VALUE, capacities), *map(_POLICY, capacities)]


def _frame(device: Device, row: SliceRow) -> Hashable:
    return (
        device.allow_multiple_allocations is True,
        _taints(device, row),
        device.consumes_counters,
        bool(device.binding_conditions),
        amounts(device.capacity),
    )


def _taints(device: Device, row: SliceRow) -> Hashable:
    taints = (*device.taints, *taints_for(row.taint_rules, device.name))
    return tuple([(taint.key, taint.value, taint.effect) for taint in taints])


def amounts(capacities: Mapping[str, DeviceCapacity]) -> Hashable:
    """Return the amounts with their request policies."""
    return tuple([(name, exact(each.value), sharing_policy(each)) for name, each in capacities.items()])


def exact(quantity: Quantity | None) -> Hashable:
    """Return the spelling, too: selectors and policies can tell equal amounts apart by it."""
    return None if quantity is None else quantity.__reduce__()[1]


def sharing_policy(capacity: DeviceCapacity) -> Hashable:
    """Return the request policy of a capacity, exactly."""
    policy = capacity.request_policy
    if policy is None:
        return None
    span = policy.valid_range
    bounds = None if span is None else tuple(map(exact, (span.min, span.max, span.step)))
    return exact(policy.default), tuple(map(exact, policy.valid_values)), bounds


_FRAMED: Final = attrgetter(
    "allow_multiple_allocations", "taints", "consumes_counters", "binding_conditions", "capacity"
)
_LAST: Final = itemgetter(4)
_VALUE: Final = attrgetter("value")
_POLICY: Final = attrgetter("request_policy")
