"""
Which devices of a slice are held, as bit masks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dra_alloc.problem.devices import DeviceKey, PoolKey, SliceRow
from dra_alloc.problem.usage import Usage

__all__ = ["Occupancy"]


class Occupancy:
    """
    For every slice the devices held exclusively, and whether capacity of any of its devices is consumed.

    Of a device that several generations of a pool have, all are held.
    """

    __slots__ = ("_busy", "_tangled")

    def __init__(self, usage: Usage, by_pool: Mapping[PoolKey, Sequence[SliceRow]]) -> None:
        self._busy = _masks(usage.exclusive, by_pool)
        self._tangled = frozenset(_masks(usage.consumed, by_pool))

    def busy(self, slices: Sequence[SliceRow]) -> int | None:
        """Return the devices held in slices side by side; None where consumed capacity matters as well."""
        busy = self._busy
        if len(slices) == 1 and not self._tangled:
            return busy.get(slices[0], 0)
        total = offset = 0
        for row in slices:
            if row in self._tangled:
                return None
            total |= busy.get(row, 0) << offset
            offset += len(row.wire.spec.devices)
        return total


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
