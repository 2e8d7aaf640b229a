"""
Who holds which device, kept up to date claim by claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final, NamedTuple, TypeVar

from dra_alloc.api import AllocationResult
from dra_alloc.manifest.make.holdings import Holding
from dra_alloc.problem.devices import DeviceKey
from dra_alloc.problem.overlay import Overlay
from dra_alloc.problem.usage import Usage

V = TypeVar("V")
#: What the constructor of a named tuple does, without its call in Python.
_MAKE: Final[Any] = tuple.__new__
Allocations = Iterable[tuple[str, AllocationResult]]


class Hold(NamedTuple):
    """One claim's hold on a device: the whole of it, or a share that consumes `amounts`, in 1e-9 units."""

    claim: str
    shared: bool
    amounts: tuple[tuple[str, int], ...] = ()


class Ledger:
    """
    An immutable record of holds, and the usage they add up to.

    Changed ledgers share what did not change. `sharing` says whether shares
    are known to the allocator; without it a share holds the whole device.
    """

    __slots__ = ("_sharing", "consumed", "holds", "shared", "whole")

    def __init__(self, allocations: Allocations, *, sharing: bool, noted: Iterable[Holding] = ()) -> None:
        """Record what allocations hold, and what was noted of other claims."""
        holds: dict[DeviceKey, tuple[Hold, ...]] = {}
        whole: dict[DeviceKey, bool] = {}
        several: dict[DeviceKey, tuple[Hold, ...]] = {}
        for key, hold in chain(_noted(noted), _holds(allocations, sharing)):
            if key in holds or hold.shared:
                several[key] = holds[key] = (*holds.get(key, ()), hold)
            else:
                holds[key] = (hold,)
                whole[key] = True
        also_whole, shared, consumed = _taken(several)
        whole |= also_whole
        self._sharing = sharing
        self.holds: Overlay[DeviceKey, tuple[Hold, ...]] = Overlay(holds)
        self.whole: Overlay[DeviceKey, bool] = Overlay(whole)
        self.shared: Overlay[DeviceKey, bool] = Overlay(shared)
        self.consumed: Overlay[DeviceKey, Mapping[str, int]] = Overlay(consumed)

    def changed(self, gone: Allocations, new: Allocations) -> tuple[Ledger, frozenset[DeviceKey]]:
        """Return the ledger without some claims' holds and with others, and the devices concerned."""
        touched: dict[DeviceKey, tuple[Hold, ...]] = {}
        for key, hold in _holds(gone, self._sharing):
            left = [each for each in touched.get(key, self.holds.get(key, ())) if each.claim != hold.claim]
            touched[key] = tuple(left)
        for key, hold in _holds(new, self._sharing):
            touched[key] = (*touched.get(key, self.holds.get(key, ())), hold)
        whole, shared, consumed = _taken(touched)
        made = Ledger((), sharing=self._sharing)
        made.holds = self.holds.changed(
            {key: each for key, each in touched.items() if each}, [key for key, each in touched.items() if not each]
        )
        made.whole = _changed(self.whole, whole, touched)
        made.shared = _changed(self.shared, shared, touched)
        made.consumed = _changed(self.consumed, consumed, touched)
        return made, frozenset(touched)

    @property
    def usage(self) -> Usage:
        """Return what the holds add up to."""
        return Usage(self.whole, self.shared, self.consumed)

    def holders(self, key: DeviceKey) -> tuple[str, ...]:
        """Return the claims that hold the device or a share of it."""
        return tuple([hold.claim for hold in self.holds.get(key, ())])


def _noted(holdings: Iterable[Holding]) -> Iterator[tuple[DeviceKey, Hold]]:
    for holding in holdings:
        whole: Hold = _MAKE(Hold, (holding.name, False, ()))
        for (driver, pool), device in holding.devices:
            yield _MAKE(DeviceKey, (driver, pool, device)), whole


def _holds(allocations: Allocations, sharing: bool) -> Iterator[tuple[DeviceKey, Hold]]:
    for claim, allocation in allocations:
        whole = Hold(claim, shared=False)
        for result in allocation.devices.results:
            if result.admin_access:
                continue
            key: DeviceKey = _MAKE(DeviceKey, (result.driver, result.pool, result.device))
            if sharing and result.share_id:
                amounts = tuple([(name, amount.nano) for name, amount in result.consumed_capacity.items()])
                yield key, _MAKE(Hold, (claim, True, amounts))
            else:
                yield key, whole


_Taken = tuple[dict[DeviceKey, bool], dict[DeviceKey, bool], dict[DeviceKey, Mapping[str, int]]]


def _taken(holds: Mapping[DeviceKey, tuple[Hold, ...]]) -> _Taken:
    """Return what the holds take: whole devices, shared ones, and capacity."""
    whole: dict[DeviceKey, bool] = {}
    shared: dict[DeviceKey, bool] = {}
    consumed: dict[DeviceKey, Mapping[str, int]] = {}
    for key, each in holds.items():
        totals: dict[str, int] = {}
        for hold in each:
            if not hold.shared:
                whole[key] = True
                continue
            shared[key] = True
            for name, amount in hold.amounts:
                totals[name] = totals.get(name, 0) + amount
        if totals:
            consumed[key] = totals
    return whole, shared, consumed


def _changed(
    taken: Overlay[DeviceKey, V], now: Mapping[DeviceKey, V], touched: Iterable[DeviceKey]
) -> Overlay[DeviceKey, V]:
    return taken.changed(now, [key for key in touched if key not in now])
