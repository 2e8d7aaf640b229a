"""
How much of counter sets is used by devices that somebody holds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from dra_alloc.problem.devices import DeviceKey, DeviceRow, PoolKey, SliceRow

#: Amounts of counters in units of 1e-9, by pool, set and name.
_Amounts = dict[tuple[PoolKey, str, str], int]


@dataclass(frozen=True, slots=True)
class Meter:
    """How full a counter set is, in percent of the counter of which most is used."""

    name: str
    used: int


class CounterSets:
    """What of counters is used by devices that are held."""

    def __init__(self, rows: Sequence[SliceRow], held: Collection[DeviceKey]) -> None:
        self._there: _Amounts = {}
        self._nodes: dict[tuple[PoolKey, str], str] = {}
        self._used: Counter[tuple[PoolKey, str, str]] = Counter()
        for row in rows:
            for each in row.wire.spec.shared_counters:
                self._nodes[row.pool, each.name] = row.node_name
                for name, counter in each.counters.items():
                    self._there[row.pool, each.name, name] = counter.value.nano
        for row in rows:
            for device in row.devices if self._there else ():
                if device.key in held:
                    self._used.update(_takes(device))

    def lack(self, device: DeviceRow) -> bool:
        """Say whether less is left of a counter than a device takes."""
        return any(self._left(key) < amount for key, amount in _takes(device).items())

    def used_up(self, device: DeviceRow) -> bool:
        """Say whether nothing is left of a counter of which a device takes some."""
        return any(self._left(key) <= 0 < amount for key, amount in _takes(device).items())

    def _left(self, key: tuple[PoolKey, str, str]) -> int:
        return self._there.get(key, 0) - self._used[key]

    def by_node(self) -> Mapping[str, list[Meter]]:
        """Return how full the counter sets of each node are."""
        parts: dict[tuple[PoolKey, str], int] = dict.fromkeys(self._nodes, 0)
        for (pool, counter_set, name), there in self._there.items():
            if there > 0:
                used = -(-100 * self._used[pool, counter_set, name] // there)
                parts[pool, counter_set] = max(parts[pool, counter_set], min(100, used))
        found: dict[str, list[Meter]] = defaultdict(list)
        for (pool, counter_set), part in parts.items():
            found[self._nodes[pool, counter_set]].append(Meter(counter_set, part))
        return found


def _takes(device: DeviceRow) -> _Amounts:
    return {(device.pool, counter_set, name): amount for counter_set, name, amount in device.consumes}
