"""
What existing allocations already take.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dra_alloc.api import AllocationResult
from dra_alloc.problem.devices import DeviceKey

#: What the constructor of a named tuple does, without its call in Python.
_MAKE: Final[Any] = tuple.__new__


@dataclass(frozen=True, slots=True)
class Usage:
    """
    Devices held exclusively, devices with shares, and capacity consumed by the shares.

    `consumed` holds capacity name -> total in 1e-9 units. Results with admin
    access take nothing.
    """

    exclusive: Collection[DeviceKey] = frozenset()
    shared: Collection[DeviceKey] = frozenset()
    consumed: Mapping[DeviceKey, Mapping[str, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, allocations: Iterable[AllocationResult], *, sharing: bool) -> Usage:
        """
        Return what the allocations take; without `sharing` a share counts as exclusive.

        Spec: USAGE-1.
        """
        return cls().after(allocations, sharing=sharing)

    def after(self, allocations: Iterable[AllocationResult], *, sharing: bool) -> Usage:
        """Return the usage with these allocations added."""
        exclusive, shared = set(self.exclusive), set(self.shared)
        consumed = {key: dict(amounts) for key, amounts in self.consumed.items()}
        for allocation in allocations:
            for result in allocation.devices.results:
                if result.admin_access:
                    continue
                key = _MAKE(DeviceKey, (result.driver, result.pool, result.device))
                if not (sharing and result.share_id):
                    exclusive.add(key)
                    continue
                shared.add(key)
                amounts = result.consumed_capacity
                if not amounts:
                    continue
                totals = consumed.get(key)
                if totals is None:
                    consumed[key] = {name: amount.nano for name, amount in amounts.items()}
                    continue
                for name, amount in amounts.items():
                    totals[name] = totals.get(name, 0) + amount.nano
        return Usage(frozenset(exclusive), frozenset(shared), consumed)

    def touches(self, key: DeviceKey) -> bool:
        """Return whether any allocation holds or shares the device."""
        return key in self.exclusive or key in self.shared or key in self.consumed

    def shares(self, key: DeviceKey) -> bool:
        """Return whether any allocation has a share of the device."""
        return key in self.shared or key in self.consumed


class LateUsage(Usage):
    """A usage that is found out when somebody asks, shares by themselves; most questions are answered without it."""

    _make: Callable[[], Usage]
    _make_shares: Callable[[], Usage]

    def __init__(self, make: Callable[[], Usage], make_shares: Callable[[], Usage]) -> None:
        object.__setattr__(self, "_make", make)
        object.__setattr__(self, "_make_shares", make_shares)

    @property
    def exclusive(self) -> Collection[DeviceKey]:
        return self._make().exclusive

    @property
    def shared(self) -> Collection[DeviceKey]:
        return self._make_shares().shared

    @property
    def consumed(self) -> Mapping[DeviceKey, Mapping[str, int]]:
        return self._make_shares().consumed
