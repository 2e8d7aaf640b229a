"""
Slices as small integers: one for every distinct content of a column.

A column is what one attribute, one capacity, or everything else that rules look
at is, device by device. Slices with equal columns are alike for every question
that reads no more than these columns, whatever their devices are called.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import count
from typing import Any, Final

from dra_alloc.api import CapacityRequestPolicy, Device, DeviceAttribute, DeviceCapacity, Quantity
from dra_alloc.cel import prepare_device
from dra_alloc.cel.reads import WHOLE, Read
from dra_alloc.problem.devices import SliceRow
from dra_alloc.problem.tainting import taints_for

__all__ = ["AMOUNTS", "Columns"]

#: Reads every capacity with its request policy, as a request for capacity does.
AMOUNTS: Final = "amounts"

_FRAME: Final = "frame"
_Key = Read | str | tuple[str, bool]


class Columns:
    """
    The integers of one cluster and of all clusters derived from it.

    A slice remembers its own, so they live as long as it does.
    """

    __slots__ = ("_ids", "_numbers", "_readable")

    def __init__(self) -> None:
        self._ids: dict[Hashable, int] = {}
        self._numbers = count()
        self._readable: dict[tuple[Any, bool], bool] = {}

    def id(self, token: Hashable) -> int:
        """Return the integer of a token; equal tokens have equal integers."""
        found = self._ids.get(token)
        # Two threads may both draw a number; the dict keeps one of them.
        return self._ids.setdefault(token, next(self._numbers)) if found is None else found

    def signature(self, row: SliceRow, reads: Sequence[Read | str], *, lists: bool) -> int:
        """
        Return an integer that slices have in common if questions with these reads cannot tell them apart.

        `lists` says whether list-typed attributes are decoded. Names, node and
        pool of the slice are not in it.
        """
        known = row.columns.get(self)
        if known is None:
            known = row.columns[self] = {}
        found: list[str | int] = [row.driver]
        for key in (_FRAME, ("readable", lists), *reads):
            column = known.get(key)
            if column is None:
                column = known[key] = self.id(self._token(row, key))
            found.append(column)
        return self.id(tuple(found))

    def _token(self, row: SliceRow, key: _Key) -> Hashable:
        devices = row.wire.spec.devices
        if isinstance(key, Read):
            return object() if key in WHOLE else (key.kind, _read(key, row.driver, devices))
        if key == _FRAME:
            return _frame(row, devices)
        if key == AMOUNTS:
            return AMOUNTS, tuple([_amounts(device.capacity) for device in devices])
        # A device that no selector can be asked about must not answer for others.
        return True if all(self._is_readable(device, lists=bool(key[1])) for device in devices) else object()

    def _is_readable(self, device: Device, *, lists: bool) -> bool:
        for attribute in device.attributes.values():
            plain = attribute.string is not None or attribute.int_ is not None or attribute.bool_ is not None
            if plain and attribute.versions is None:
                continue
            known = self._readable.get((attribute, lists))
            if known is None:
                problem = prepare_device("", {"a": attribute}, {}, None, lists=lists).problem
                known = self._readable[attribute, lists] = not problem
            if not known:
                return False
        return True


def _read(read: Read, driver: str, devices: Sequence[Device]) -> Hashable:
    kind, domain, name = read
    if kind in ("driver", "multi"):
        return None  # always in the signature
    maps = [device.attributes if kind.startswith("attribute") else device.capacity for device in devices]
    if kind.endswith("domain"):
        return tuple([_knows(each, domain, driver) for each in maps])
    found = _look_up(maps, domain, name, driver)
    if kind == "attribute":
        return found
    return tuple([None if each is None else _quantity(each.value) for each in found])


def _look_up(maps: Sequence[Mapping[str, Any]], domain: str, name: str, driver: str) -> tuple[Any, ...]:
    """Return what each map holds under a qualified name; the driver's own domain may be left out."""
    qualified = f"{domain}/{name}"
    if domain != driver:
        return tuple([each.get(qualified) for each in maps])
    return tuple([each[qualified] if qualified in each else each.get(name) for each in maps])


def _knows(names: Mapping[str, DeviceAttribute | DeviceCapacity], domain: str, driver: str) -> bool:
    start = f"{domain}/"
    return any(name.startswith(start) or (domain == driver and "/" not in name) for name in names)


def _frame(row: SliceRow, devices: Sequence[Device]) -> Hashable:
    """Return what rules look at besides attributes and amounts of capacity; just the length for simple devices."""
    if not row.taint_rules and all(_is_simple(device) for device in devices):
        return len(devices)
    return tuple(
        [
            (
                device.allow_multiple_allocations is True,
                _taints(device, row),
                device.consumes_counters,
                bool(device.binding_conditions),
                _amounts(device.capacity),
            )
            for device in devices
        ]
    )


def _is_simple(device: Device) -> bool:
    if device.taints or device.consumes_counters or device.allow_multiple_allocations or device.binding_conditions:
        return False
    return all(capacity.request_policy is None for capacity in device.capacity.values())


def _taints(device: Device, row: SliceRow) -> Hashable:
    taints = (*device.taints, *taints_for(row.taint_rules, device.name))
    return tuple([(taint.key, taint.value, taint.effect) for taint in taints])


def _amounts(capacities: Mapping[str, DeviceCapacity]) -> Hashable:
    return tuple([(name, _quantity(each.value), _policy(each.request_policy)) for name, each in capacities.items()])


def _quantity(quantity: Quantity | None) -> Hashable:
    """Return the spelling, too: selectors and policies can tell equal amounts apart by it."""
    return None if quantity is None else quantity.__reduce__()[1]


def _policy(policy: CapacityRequestPolicy | None) -> Hashable:
    if policy is None:
        return None
    span = policy.valid_range
    bounds = None if span is None else tuple(map(_quantity, (span.min, span.max, span.step)))
    return _quantity(policy.default), tuple(map(_quantity, policy.valid_values)), bounds
