"""
Slices as small integers: one for every distinct content of a column.

A column is what one attribute, one capacity, or everything else that rules look
at is, device by device. Slices with equal columns are alike for every question
that reads no more than these columns, whatever their devices are called.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from itertools import count, repeat
from operator import attrgetter, contains, itemgetter
from typing import Any, Final

from dra_alloc.api import CapacityRequestPolicy, Device, DeviceAttribute, DeviceCapacity, Quantity
from dra_alloc.cel import prepare_device
from dra_alloc.cel.reads import WHOLE, Read
from dra_alloc.problem.devices import SliceRow
from dra_alloc.problem.tainting import taints_for

__all__ = ["AMOUNTS", "Columns", "Lens"]

#: Reads every capacity with its request policy, as a request for capacity does.
AMOUNTS: Final = "amounts"

_FRAME: Final = "frame"
_READABLE: Final = "readable"


class Columns:
    """
    The integers of one cluster and of all clusters derived from it.

    A slice remembers its own, so they live as long as it does.
    """

    __slots__ = ("_columns", "_ids", "_lenses", "_numbers", "_readable", "_versions")

    def __init__(self) -> None:
        self._ids: dict[Hashable, int] = {}
        self._numbers = count()
        self._readable: dict[tuple[Any, bool], bool] = {}
        # Versions that can be read.
        self._versions: set[str | None] = set()
        self._columns: dict[tuple[Read | str, bool], _Column] = {}
        self._lenses: dict[tuple[tuple[Read | str, ...], bool], Lens] = {}

    def id(self, token: Hashable) -> int:
        """Return the integer of a token; equal tokens have equal integers."""
        found = self._ids.get(token)
        # Two threads may both draw a number; the dict keeps one of them.
        return self._ids.setdefault(token, next(self._numbers)) if found is None else found

    def lens(self, reads: Sequence[Read | str], *, lists: bool) -> Lens:
        """Return what looks at slices with these reads only; `lists` says whether list-typed attributes are decoded."""
        key = tuple(reads), lists
        found = self._lenses.get(key)
        if found is None:
            columns = [self._column(read, lists) for read in (_FRAME, _READABLE, *reads)]
            found = self._lenses.setdefault(key, Lens(self, columns))
        return found

    def look_at(self, row: SliceRow) -> None:
        """Note all columns of a slice that any lens looks at: once its devices are at hand, more cost little."""
        known = row.columns
        for column in tuple(self._columns.values()):
            if column not in known:
                known[column] = self.id(column.token(row))

    def signature(self, row: SliceRow, reads: Sequence[Read | str], *, lists: bool) -> int:
        """Return the signature of a slice for questions with these reads."""
        return self.lens(reads, lists=lists).signature(row)

    def _column(self, read: Read | str, lists: bool) -> _Column:
        key = read, lists if read == _READABLE else False
        return self._columns.setdefault(key, _Column(self._token_maker(read, lists)))

    def _token_maker(self, read: Read | str, lists: bool) -> Callable[[SliceRow], Hashable]:
        if isinstance(read, Read):
            return _whole if read in WHOLE else _reader(read)
        if read == _FRAME:
            return _frame
        if read == AMOUNTS:
            return _all_amounts
        return partial(self._readability, lists)

    def _readability(self, lists: bool, row: SliceRow) -> Hashable:
        # A device that no selector can be asked about must not answer for others.
        return True if self._is_readable(row, lists=lists) else object()

    def _is_readable(self, row: SliceRow, *, lists: bool) -> bool:
        # A text, number or boolean is always readable, unless it comes with a list of versions.
        versions = row.outline.versions
        if versions <= self._versions:
            return True
        if None not in versions:
            return all(self._is_version(each or "") for each in versions - self._versions)
        attributes = [each for device in row.wire.spec.devices for each in device.attributes.values()]
        unusual = [each for each in attributes if each.string is None and each.int_ is None and each.bool_ is None]
        if lists:
            unusual += [each for each in attributes if each.versions is not None]
        return all(self._is_read(each, lists) for each in unusual)

    def _is_version(self, text: str) -> bool:
        readable = self._is_read(DeviceAttribute(version=text), lists=False)
        if readable:
            self._versions.add(text)
        return readable

    def _is_read(self, attribute: DeviceAttribute, lists: bool) -> bool:
        known = self._readable.get((attribute, lists))
        if known is None:
            problem = prepare_device("", {"a": attribute}, {}, None, lists=lists).problem
            known = self._readable[attribute, lists] = not problem
        return known


class _Column:
    """One thing looked at, device by device."""

    __slots__ = ("token",)

    def __init__(self, token: Callable[[SliceRow], Hashable]) -> None:
        self.token = token


class Lens:
    """
    Looks at slices with certain reads only.

    Slices with the same signature are the same to every question with these
    reads. Names, node and pool of the slice are not in it.
    """

    __slots__ = ("_columns", "_ids")

    def __init__(self, ids: Columns, columns: Sequence[_Column]) -> None:
        self._ids = ids
        self._columns = tuple(columns)

    def signature(self, row: SliceRow) -> int:
        """Return the signature of a slice."""
        known = row.columns
        found = known.get(self)
        if found is None:
            self._ids.look_at(row)
            numbers = [known[column] for column in self._columns]
            found = known[self] = self._ids.id((row.driver, *numbers))
        return found


def _whole(row: SliceRow) -> Hashable:
    return object()


def _all_amounts(row: SliceRow) -> Hashable:
    return AMOUNTS, tuple([_amounts(device.capacity) for device in row.wire.spec.devices])


def _reader(read: Read) -> Callable[[SliceRow], Hashable]:
    """Return what makes the column of a read."""
    kind, domain, name = read
    if kind in ("driver", "multi"):
        return lambda row: None  # always in the signature
    qualified = f"{domain}/{name}"
    of_attributes = kind.startswith("attribute")
    members = _ATTRIBUTES if of_attributes else _CAPACITY
    in_full, bare = itemgetter(qualified), itemgetter(name)

    def found(row: SliceRow) -> tuple[Any, ...]:
        # No call in Python for a device that has what is looked for.
        maps = tuple(map(members, row.wire.spec.devices))
        own = domain == row.driver
        try:
            if own and not any(map(contains, maps, repeat(qualified))):
                return tuple(map(bare, maps))
            return tuple(map(in_full, maps))
        except KeyError:
            # The driver's own domain may be left out; where both are there, the full name counts.
            return tuple([each.get(qualified, each.get(name) if own else None) for each in maps])

    if kind.endswith("domain"):
        return lambda row: (
            kind,
            tuple([_knows(members(each), domain, row.driver) for each in row.wire.spec.devices]),
        )
    if of_attributes:
        return lambda row: (kind, found(row))
    return lambda row: (kind, tuple([None if each is None else _quantity(each.value) for each in found(row)]))


_ATTRIBUTES: Final = attrgetter("attributes")
_CAPACITY: Final = attrgetter("capacity")


def _knows(names: Mapping[str, DeviceAttribute | DeviceCapacity], domain: str, driver: str) -> bool:
    start = f"{domain}/"
    return any(name.startswith(start) or (domain == driver and "/" not in name) for name in names)


def _frame(row: SliceRow) -> Hashable:
    """Return what rules look at besides attributes and amounts of capacity; just the length for simple devices."""
    devices = row.wire.spec.devices
    if row.outline.simple and not row.taint_rules:
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
