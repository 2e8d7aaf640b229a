"""
Which devices of a slice are held, as bit masks.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, MutableMapping, Sequence
from weakref import WeakKeyDictionary

from dra_alloc.problem.devices import DeviceKey, PoolKey, SliceRow
from dra_alloc.problem.overlay import Overlay
from dra_alloc.problem.pools import Pool
from dra_alloc.problem.usage import Usage

__all__ = ["Occupancy", "OpenOccupancy"]


class Occupancy:
    """
    For every slice the devices held exclusively, and whether capacity of any of its devices is consumed.

    `masks` has the slices with held devices. Of a device that several
    generations of a pool have, all are held.
    """

    __slots__ = ("_large", "_tangled", "masks")

    def __init__(self, usage: Usage, by_pool: Mapping[PoolKey, Sequence[SliceRow]]) -> None:
        self.masks: Overlay[SliceRow, int] = Overlay(_masks(usage.exclusive, by_pool))
        self._tangled: Overlay[SliceRow, int] = Overlay(_masks(usage.consumed, by_pool))
        self._large: WeakKeyDictionary[Pool, int] = WeakKeyDictionary()

    def changed(self, old: Iterable[SliceRow], new: Iterable[SliceRow], usage: Usage) -> Occupancy:
        """Return the occupancy with some slices looked at anew; the old ones that are not new are gone."""
        rows = tuple(new)
        made = Occupancy(Usage(), {})
        made.masks = self.masks.changed(_looked_up(rows, usage.exclusive), old)
        made._tangled = self._tangled.changed(_looked_up(rows, usage.consumed), old)  # its own class
        return made

    def opened(self) -> OpenOccupancy:
        """Return a copy in which devices can be taken."""
        return OpenOccupancy(dict(self.masks), self._tangled)

    def busy(self, pools: Sequence[Pool]) -> int | None:
        """Return the devices held in pools side by side; None where consumed capacity matters as well."""
        return _busy(pools, self.masks, self._tangled, self._large)


class OpenOccupancy:
    """An occupancy that changes while pods are placed; for one thread."""

    __slots__ = ("_large", "_tangled", "masks")

    def __init__(self, masks: dict[SliceRow, int], tangled: Overlay[SliceRow, int]) -> None:
        self.masks = masks
        self._tangled = dict(tangled)
        self._large: WeakKeyDictionary[Pool, int] = WeakKeyDictionary()

    def busy(self, pools: Sequence[Pool]) -> int | None:
        """Return the devices held in pools side by side; None where consumed capacity matters as well."""
        return _busy(pools, self.masks, self._tangled, self._large)

    def take(self, row: SliceRow, index: int) -> None:
        """Hold a device."""
        self.masks[row] = self.masks.get(row, 0) | 1 << index
        self._large.clear()

    def tangle(self, row: SliceRow) -> None:
        """Note that capacity of one of the slice's devices is consumed."""
        self._tangled[row] = 1


def _busy(
    pools: Sequence[Pool],
    masks: Mapping[SliceRow, int],
    tangled: Mapping[SliceRow, int],
    large: MutableMapping[Pool, int],
) -> int | None:
    if len(pools) == 1 and len(pools[0].slices) == 1 and not tangled:
        return masks.get(pools[0].slices[0], 0)
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


def _looked_up(rows: Iterable[SliceRow], held: Container[DeviceKey]) -> dict[SliceRow, int]:
    masks: dict[SliceRow, int] = {}
    for row in rows:
        mask = 0
        for index, device in enumerate(row.wire.spec.devices):
            if DeviceKey(row.driver, row.pool.pool, device.name) in held:
                mask |= 1 << index
        if mask:
            masks[row] = mask
    return masks


def _masks(keys: Iterable[DeviceKey], by_pool: Mapping[PoolKey, Sequence[SliceRow]]) -> dict[SliceRow, int]:
    names: dict[tuple[str, str], set[str]] = {}
    for driver, pool, device in keys:
        pair = driver, pool
        known = names.get(pair)
        if known is None:
            names[pair] = {device}
        else:
            known.add(device)
    masks: dict[SliceRow, int] = {}
    for pair, devices in names.items():
        # A pool's key is equal to the plain tuple.
        for row in by_pool.get(pair, ()):  # type: ignore[call-overload]
            mask = 0
            for index, device in enumerate(row.wire.spec.devices):
                if device.name in devices:
                    mask |= 1 << index
            if mask:
                masks[row] = mask
    return masks
