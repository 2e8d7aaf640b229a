"""
Compatibility groups: devices of one counter set are allocated together only if they have a group in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from dra_alloc.problem.devices import DeviceRow, PoolKey, SliceRow
from dra_alloc.problem.pools import Pool
from dra_alloc.problem.requests import Ask
from dra_alloc.problem.usage import Usage
from dra_alloc.rules.base import Context, Pick, Reason, Rule
from dra_alloc.rules.facts import Agree, Fact

#: Groups of a device on one counter set, or what several of them have in common; a device without groups has the
#: group None, so that only its like goes with it.
_Groups: TypeAlias = frozenset[str | None]
_NO_GROUPS: Final[_Groups] = frozenset((None,))


def held_groups(pool: Pool, usage: Usage) -> dict[str, _Groups]:
    """
    Return by counter set what the allocated devices of a pool have in common; nothing goes with an empty set.

    Devices with groups and such without cannot be allocated together: where they
    are, the first in order counts.

    Spec: GROUP-3.
    """
    held: dict[str, _Groups] = {}
    for device in (*pool.devices, *pool.elsewhere):
        if not device.wire.consumes_counters or not usage.touches(device.key):
            continue
        for use in device.wire.consumes_counters:
            groups = _groups(use.compatibility_groups)
            before = held.get(use.counter_set, groups)
            if (before == _NO_GROUPS) == (groups == _NO_GROUPS):
                before &= groups
            held[use.counter_set] = before
    return held


def _groups(names: Sequence[str]) -> _Groups:
    return frozenset(names) if names else _NO_GROUPS


def _own_groups(device: DeviceRow) -> dict[str, _Groups]:
    """Return the device's groups by counter set; one that it names twice has what both have in common."""
    own: dict[str, _Groups] = {}
    for use in device.wire.consumes_counters:
        groups = _groups(use.compatibility_groups)
        own[use.counter_set] = own.get(use.counter_set, groups) & groups
    return own


class CompatibilityGroups(Rule):
    """
    All devices allocated and picked from one counter set have a group in common, or none has groups.

    Further shares of a device that is already shared are not looked at.

    Spec: GROUP-1, GROUP-2, GROUP-3, GROUP-4.
    """

    code = "groups-incompatible"
    spec = ("GROUP-1", "GROUP-2", "GROUP-3", "GROUP-4")
    __slots__ = ("_common", "_context", "_held", "_own", "_pools", "_sharing", "_trail")

    def __init__(self, context: Context) -> None:
        profile = context.profile
        self._context = context
        self._sharing = profile.shares
        self._pools: Mapping[PoolKey, Pool] = {pool.key: pool for pool in context.pools}
        self._held: dict[PoolKey, dict[str, _Groups]] = {}
        self._own: dict[DeviceRow, dict[str, _Groups]] = {}
        self._common: dict[tuple[PoolKey, str], _Groups] = {}
        self._trail: list[dict[tuple[PoolKey, str], _Groups | None]] = []

    def _held_in(self, pool: PoolKey) -> Mapping[str, _Groups]:
        known = self._held.get(pool)
        if known is None:
            known = self._held[pool] = held_groups(self._pools[pool], self._context.usage)
        return known

    def _groups_of(self, device: DeviceRow) -> Mapping[str, _Groups]:
        known = self._own.get(device)
        if known is None:
            known = self._own[device] = _own_groups(device)
        return known

    def _is_further_share(self, device: DeviceRow) -> bool:
        if not (device.shareable and self._sharing):
            return False
        return self._context.usage.shares(device.key) or device.key in self._context.in_flight

    def _together(self, device: DeviceRow) -> dict[tuple[PoolKey, str], _Groups]:
        """Return by counter set what would be in common with the device."""
        pool = device.pool
        held = self._held_in(pool)
        made: dict[tuple[PoolKey, str], _Groups] = {}
        for counter_set, groups in self._groups_of(device).items():
            before = self._common.get((pool, counter_set), held.get(counter_set, groups))
            made[pool, counter_set] = before & groups
        return made

    def add(self, ask: Ask, device: DeviceRow) -> bool:
        if not device.wire.consumes_counters or self._is_further_share(device):
            self._trail.append({})
            return True
        together = self._together(device)
        if not all(together.values()):
            return False
        self._trail.append({key: self._common.get(key) for key in together})
        self._common.update(together)
        return True

    def remove(self, ask: Ask, device: DeviceRow) -> None:
        for key, before in self._trail.pop().items():
            if before is None:
                del self._common[key]
            else:
                self._common[key] = before

    def allows(self, ask: Ask, device: DeviceRow) -> bool:
        if not device.wire.consumes_counters or self._is_further_share(device):
            return True
        return all(self._together(device).values())

    def passes(self, ask: Ask, row: SliceRow) -> bool:
        return not row.outline.consumes

    def encode(self, asks: Sequence[Ask], devices: Sequence[DeviceRow]) -> Iterable[Fact]:
        concerned: dict[tuple[PoolKey, str], dict[DeviceRow, _Groups]] = {}
        for device in devices:
            if device.wire.consumes_counters and not self._is_further_share(device):
                for key, groups in self._together(device).items():
                    concerned.setdefault(key, {})[device] = groups
        everyone = frozenset(ask.id for ask in asks)
        for (pool, counter_set), own in concerned.items():
            usable = {groups for groups in own.values() if groups}
            if len(usable) < 2:
                continue
            # What does not draw on the set goes with everything.
            others = frozenset[str | None]().union(*usable)
            values = {device: groups for device in devices if (groups := own.get(device, others))}
            yield Agree(f"compatibility groups of {counter_set} in pool {pool}", everyone, values, of_claim=False)

    def why(self, ask: Ask, device: DeviceRow) -> Reason:
        for (_, counter_set), common in self._together(device).items():
            if not common:
                own = ", ".join(sorted(each for each in self._groups_of(device)[counter_set] if each is not None))
                return Reason(
                    self.code,
                    f"its compatibility groups on counter set {counter_set} ({own or 'none'}) are not those of the "
                    "devices allocated or picked",
                )
        return super().why(ask, device)

    def violations(self, picks: Sequence[Pick]) -> Iterable[str]:
        common: dict[tuple[PoolKey, str], _Groups] = {}
        usage = self._context.usage
        for _, device in picks:
            if device.shareable and self._sharing and usage.shares(device.key):
                continue
            pool = device.pool
            held = held_groups(self._pools[pool], usage) if device.wire.consumes_counters else {}
            for counter_set, groups in _own_groups(device).items():
                key = pool, counter_set
                common[key] = common.get(key, held.get(counter_set, groups)) & groups
                if not common[key]:
                    yield f"{device.key} has no compatibility group of counter set {counter_set} in common"
