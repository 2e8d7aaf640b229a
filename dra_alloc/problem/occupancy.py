"""
Which devices of a slice are held, as bit masks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from dra_alloc.manifest.make.holdings import Holdings
from dra_alloc.manifest.make.layouts import DeviceNames
from dra_alloc.problem.devices import DeviceKey, PoolKey, SliceRow
from dra_alloc.problem.overlay import Findings, Overlay
from dra_alloc.problem.pools import Pool
from dra_alloc.problem.usage import Usage

Names = Mapping[tuple[str, str], frozenset[str]]
_NOTHING: Final[Mapping[SliceRow, int]] = {}


class Held(NamedTuple):
    """The names of devices held exclusively, and of those with shares, by driver and pool."""

    whole: Names
    consumed: Names

    @classmethod
    def by(cls, usage: Usage) -> Held:
        """Return what is used."""
        return cls(_by_pool(usage.exclusive), _by_pool((*usage.shared, *usage.consumed)))

    @classmethod
    def noted(cls, holdings: Holdings, special: Usage) -> Held:
        """Return what was noted of claims, and what special allocations take."""
        beyond = cls.by(special)
        both = {pool: devices.union(holdings.devices.get(pool, ())) for pool, devices in beyond.whole.items()}
        return cls({**holdings.devices, **both} if both else holdings.devices, beyond.consumed)


class _Masks:
    """What is held slice by slice, for as long as it is."""

    __slots__ = ()
    masks: Mapping[SliceRow, int]
    #: What engines found out of what is left of slices; forgotten of those of which that changes.
    left: Findings[SliceRow, Any]
    _tangled: Mapping[SliceRow, int]
    _large: MutableMapping[Pool, int]

    def busy(self, pools: Sequence[Pool]) -> int | None:
        """Return the devices held in pools side by side; None where consumed capacity matters as well."""
        return _busy(pools, self.masks, self._tangled, self._large)

    def whole(self, pools: Sequence[Pool]) -> int:
        """Return the devices held as a whole in pools side by side, whatever is consumed of others."""
        return _busy(pools, self.masks, _NOTHING, self._large) or 0

    def whole_alone(self, row: SliceRow) -> int:
        """Return the devices of one slice that are held as a whole, whatever is consumed of others."""
        return self.masks.get(row, 0)

    def busy_alone(self, row: SliceRow) -> int | None:
        """Return the devices held in one slice; None where consumed capacity matters as well."""
        return None if self._tangled and row in self._tangled else self.masks.get(row, 0)

    def busy_in_one(self) -> Callable[[SliceRow, int], int | None]:
        """Return the same, as far as what is held now goes, for many slices: to be called with 0 besides the slice."""
        return self.masks.get if not self._tangled else lambda row, _: self.busy_alone(row)


class Occupancy(_Masks):
    """
    For every slice the devices held exclusively, and whether any of its devices has shares.

    `masks` has the slices with held devices. Of a device that several
    generations of a pool have, all are held.
    """

    __slots__ = ("_held", "_large", "_tangled", "left", "masks")

    def __init__(self, held: Held, by_pool: Overlay[PoolKey, tuple[SliceRow, ...]]) -> None:
        self._held = held
        # A pool's key is equal to the plain tuple.
        masks, tangled = [
            _masks(zip(by_pool.many(list(names), ()), names.values(), strict=True))  # type: ignore[arg-type]
            for names in held
        ]
        self.masks: Overlay[SliceRow, int] = Overlay(masks)
        self._tangled: Overlay[SliceRow, int] = Overlay(tangled)
        self.left = Findings()
        self._large: WeakKeyDictionary[Pool, int] = WeakKeyDictionary()

    @classmethod
    def of(cls, usage: Usage, by_pool: Overlay[PoolKey, tuple[SliceRow, ...]]) -> Occupancy:
        """Return the occupancy of what is used."""
        return cls(Held.by(usage), by_pool)

    def changed(self, old: Iterable[SliceRow], new: Iterable[SliceRow], usage: Usage | None) -> Occupancy:
        """
        Return the occupancy with some slices looked at anew; the old ones that are not new are gone.

        `usage` is what is used by then; None if that did not change since the first occupancy was made.
        """
        gone, rows = tuple(old), tuple(new)
        held = self._held if usage is None else _held_of(rows, usage)
        by_pool: dict[PoolKey, list[SliceRow]] = {}
        for row in rows:
            by_pool.setdefault(row.pool, []).append(row)
        made = Occupancy(Held({}, {}), Overlay())
        made._held = held  # its own class
        masks, tangled = [
            _masks((each, names.get(key, frozenset())) for key, each in by_pool.items()) for names in held
        ]
        made.masks = self.masks.changed(masks, gone)
        made._tangled = self._tangled.changed(tangled, gone)  # its own class
        made.left = self.left.without((*gone, *rows))
        return made

    def opened(self) -> OpenOccupancy:
        """Return a copy in which devices can be taken."""
        return OpenOccupancy(dict(self.masks), self._tangled, self.left.without(()))


class OpenOccupancy(_Masks):
    """An occupancy that changes while pods are placed; for one thread."""

    __slots__ = ("_large", "_tangled", "left", "masks")
    masks: dict[SliceRow, int]
    _tangled: dict[SliceRow, int]

    def __init__(
        self, masks: dict[SliceRow, int], tangled: Overlay[SliceRow, int], left: Findings[SliceRow, Any]
    ) -> None:
        self.masks = masks
        self.left = left
        self._tangled = dict(tangled)
        self._large: dict[Pool, int] = {}

    def take(self, row: SliceRow, devices: int) -> None:
        """Hold the devices of a mask."""
        self.masks[row] = self.masks.get(row, 0) | devices
        if self._large:
            self._large.clear()

    def tangle(self, row: SliceRow) -> None:
        """Note that capacity of one of the slice's devices is consumed."""
        self._tangled[row] = 1
        self.left = self.left.without((row,))


def _busy(
    pools: Sequence[Pool],
    masks: Mapping[SliceRow, int],
    tangled: Mapping[SliceRow, int],
    large: MutableMapping[Pool, int],
) -> int | None:
    if len(pools) == 1 and len(pools[0].slices) == 1:
        row = pools[0].slices[0]
        return None if tangled and row in tangled else masks.get(row, 0)
    if tangled and any(row in tangled for pool in pools for row in pool.slices):
        return None
    total = offset = 0
    for pool in pools:
        slices = pool.slices
        mask = masks.get(slices[0], 0) if len(slices) == 1 else large.get(pool)
        if mask is None:
            mask = large[pool] = _side_by_side(slices, masks)
        total |= mask << offset
        offset += pool.width
    return total


def _side_by_side(slices: Sequence[SliceRow], masks: Mapping[SliceRow, int]) -> int:
    total = offset = 0
    for row in slices:
        total |= masks.get(row, 0) << offset
        offset += len(row.wire.spec.devices)
    return total


def _held_of(rows: Iterable[SliceRow], usage: Usage) -> Held:
    """Return which devices of some slices are held."""
    keys = [DeviceKey(*row.pool, device.name) for row in rows for device in row.wire.spec.devices]
    return Held(
        _by_pool(key for key in keys if key in usage.exclusive), _by_pool(key for key in keys if usage.shares(key))
    )


def _by_pool(keys: Iterable[DeviceKey]) -> Names:
    names: dict[tuple[str, str], set[str]] = {}
    for driver, pool, device in keys:
        names.setdefault((driver, pool), set()).add(device)
    return _frozen(names)


def _frozen(names: Mapping[tuple[str, str], set[str]]) -> Names:
    return dict(zip(names, map(frozenset, names.values()), strict=True))


def _masks(held: Iterable[tuple[Iterable[SliceRow], frozenset[str]]]) -> dict[SliceRow, int]:
    """Return the held devices of slices, those of a pool with the names of its devices that are held."""
    masks: dict[SliceRow, int] = {}
    # Most slices of a cluster have devices of the same names.
    known: dict[tuple[DeviceNames, frozenset[str]], int] = {}
    for rows, devices in held:
        for row in rows:
            noted = None if row.layout is None else row.layout.names
            if noted is None:
                mask = _mask(row, devices)
            else:
                mask = known.get((noted, devices), -1)
                if mask < 0:
                    mask = known[noted, devices] = noted.mask(devices)
            if mask:
                masks[row] = mask
    return masks


def _mask(row: SliceRow, held: frozenset[str]) -> int:
    """Return which devices are held; several devices may have one name, and names be held that there are not."""
    mask = 0
    for index, name in enumerate(map(_NAME, row.wire.spec.devices)):
        if name in held:
            mask |= 1 << index
    return mask


_NAME: Final = attrgetter("name")
