"""
Devices that several slices of a pool have by one name: to an allocation they are one device.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dra_alloc.problem.devices import PoolKey, SliceRow

#: A slice, and the place of a device in it.
_Seat = tuple[SliceRow, int]


class Namesakes:
    """
    Says where else a device is; what is found out of a pool is kept.

    So it is where a pool's new generation is on another node while the old slice is still there.
    """

    def __init__(self, by_pool: Mapping[PoolKey, Sequence[SliceRow]]) -> None:
        self._by_pool = by_pool
        self._known: dict[PoolKey, dict[str, list[_Seat]]] = {}

    def of(self, row: SliceRow, place: int) -> Sequence[_Seat]:
        """Return all places of the device in the slices of its pool, this one included."""
        known = self._known.get(row.pool)
        if known is None:
            known = self._known[row.pool] = _repeated(self._by_pool.get(row.pool, ()))
        return (known.get(row.wire.spec.devices[place].name) if known else None) or ((row, place),)


def _repeated(rows: Iterable[SliceRow]) -> dict[str, list[_Seat]]:
    """Return the places of devices that have more than one."""
    seats: dict[str, list[_Seat]] = {}
    for row in rows:
        for place, device in enumerate(row.wire.spec.devices):
            seats.setdefault(device.name, []).append((row, place))
    return {name: each for name, each in seats.items() if len(each) > 1}
