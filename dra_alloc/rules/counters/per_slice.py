"""
Shared counters as they were at first: in the slice of the devices that draw on them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from dra_alloc.problem.devices import DeviceRow
from dra_alloc.rules.base import Context
from dra_alloc.rules.counters.counters import Counters

_Counter = tuple[str, str]


class CountersPerSlice(Counters):
    """
    After a pick, every counter of the device's slice must cover what is picked from the slice.

    Counters that devices draw on and the slice does not have are not limited.

    Spec: OLD-3, OLD-5, COUNTER-1, COUNTER-4.
    """

    spec = ("OLD-3", "OLD-5", "COUNTER-1", "COUNTER-4")
    __slots__ = ("_kept",)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._kept: dict[str, Mapping[_Counter, int]] = {}

    def _budget(self, device: DeviceRow) -> Hashable:
        return device.slice.name

    def _home(self, device: DeviceRow) -> Hashable:
        return device.slice.name

    def _left(self, device: DeviceRow) -> Mapping[_Counter, int]:
        name = device.slice.name
        if name not in self._kept:
            self._kept[name] = self._available(device)
        return self._kept[name]

    def _available(self, device: DeviceRow) -> Mapping[_Counter, int]:
        left = {
            (counter_set.name, name): counter.value.nano
            for counter_set in device.slice.wire.spec.shared_counters
            for name, counter in counter_set.counters.items()
        }
        for each in device.slice.devices:
            if each.key in self._context.usage.exclusive:
                for counter_set_name, name, amount in each.consumes:
                    if (counter_set_name, name) in left:
                        left[counter_set_name, name] -= amount
        return left
