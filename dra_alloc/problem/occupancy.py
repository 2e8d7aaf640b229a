"""
Which devices of a slice are held, as bit masks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from weakref import WeakKeyDictionary

from dra_alloc.problem.devices import DeviceKey, PoolKey, SliceRow
from dra_alloc.problem.pools import Pool
from dra_alloc.problem.usage import Usage

__all__ = ["Occupancy"]


class Occupancy:
    """
    For every slice the devices held exclusively, and whether capacity of any of its devices is consumed.

    Of a device that several generations of a pool have, all are held.
    """

    __slots__ = ("_busy", "_large", "_tangled")

    def __init__(self, usage: Usage, by_pool: Mapping[PoolKey, Sequence[SliceRow]]) -> None:
        self._busy = _masks(usage.exclusive, by_pool)
        self._tangled = frozenset(_masks(usage.consumed, by_pool))
        self._large: WeakKeyDictionary[Pool, int] = WeakKeyDictionary()

    def busy(self, pools: Sequence[Pool]) -> int | None:
        """Return the devices held in pools side by side; None where consumed capacity matters as well."""
        if self._tangled and any(row in self._tangled for pool in pools for row in pool.slices):
            return None
        total = offset = 0
        for pool in pools:
            total |= self._of_pool(pool) << offset
            offset += pool.width
        return total

    def _of_pool(self, pool: Pool) -> int:
        busy, slices = self._busy, pool.slices
        if len(slices) == 1:
            return busy.get(slices[0], 0)
        known = self._large.get(pool)
        if known is None:
            known = offset = 0
            for row in slices:
                known |= busy.get(row, 0) << offset
                offset += len(row.wire.spec.devices)
            self._large[pool] = known
        return known


def _masks(keys: Iterable[DeviceKey], by_pool: Mapping[PoolKey, Sequence[SliceRow]]) -> dict[SliceRow, int]:
    names: dict[tuple[str, str], list[str]] = {}
    for driver, pool, device in keys:
        names.setdefault((driver, pool), []).append(device)
    masks: dict[SliceRow, int] = {}
    for key, devices in names.items():
        for row in by_pool.get(PoolKey(*key), ()):
            places = {device.name: 1 << index for index, device in enumerate(row.wire.spec.devices)}
            mask = 0
            for name in devices:
                mask |= places.get(name, 0)
            if mask:
                masks[row] = mask
    return masks
