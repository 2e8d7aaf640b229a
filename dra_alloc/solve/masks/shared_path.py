"""
The first path of the search where devices can be shared: what is left of their capacity is part of the state.

A device that has too little left is passed over before anything is taken, so that a path without going back is the same
for every allocator, whatever it forgets on the way back.

Spec: DIRECT-2, DIRECT-3, CAP-4, CAP-5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from dra_alloc.problem.devices import DeviceKey, DeviceRow, SliceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.problem.usage import Usage
from dra_alloc.profiles import Profile, Trait
from dra_alloc.rules import capacity_held
from dra_alloc.solve.masks.board import Constraint, Judge, Special
from dra_alloc.solve.masks.first_path import Path
from dra_alloc.solve.masks.shape import Need
from dra_alloc.solve.masks.shares import Share, Shares

__all__ = ["Shared", "SharedPath", "can_share"]

#: Allocators that look at other devices than the one at hand, try them in another order, or forget what was refused.
_ODD: Final = (Trait.PERMUTATIONS, Trait.CAPACITY_OF_ANOTHER, Trait.REFUSAL_LEAKS, Trait.POOLS_AS_SEEN)
_NOTHING: Final[Mapping[str, int]] = {}


def can_share(asks: Sequence[Ask], profile: Profile) -> bool:
    """Return whether such a path is that of the allocator in use for these requests."""
    if not profile.shares or any(profile.shows(trait) for trait in _ODD) or any(ask.all_devices for ask in asks):
        return False
    growing = profile.shows(Trait.AMOUNTS_GROW)
    return not (growing and any(amount.wide for ask in asks for _, amount in ask.capacity))


class Shared:
    """What shares of devices leave of them, in one state of allocation."""

    __slots__ = ("consumed", "holds_share", "profile")

    def __init__(self, usage: Usage, profile: Profile) -> None:
        self.consumed: Mapping[DeviceKey, Mapping[str, int]] = usage.consumed
        self.holds_share = usage.shares
        self.profile = profile

    def left(self, device: DeviceRow) -> Mapping[str, int]:
        """Return what is left of a device's capacities, by its names for them, in 1e-9 units."""
        consumed = self.consumed.get(device.key, _NOTHING)
        profile, before, left = device.left
        if before is not consumed or profile is not self.profile:
            held = capacity_held(self.consumed, device, self.profile)
            left = {name: each.value.nano - held.get(name, 0) for name, each in device.capacity.items()}
            device.left = self.profile, consumed, left
        return left


class SharedPath(Path):
    """
    What was picked so far, and what that leaves of devices.

    `choosing` judges devices, but for their capacity; `_drawn` has what is taken by place and capacity.
    """

    __slots__ = ("_choosing", "_drawn", "_share", "_shared", "_shares")

    def __init__(
        self,
        path: tuple[Sequence[Constraint], Sequence[SliceRow], int],
        choosing: Sequence[Judge],
        shares: Shares,
        shared: Shared,
    ) -> None:
        super().__init__(*path)
        self._choosing = choosing
        self._shares = shares
        self._shared = shared
        self._drawn: dict[tuple[int, str], int] = {}
        # Of the device that comes next; None if it is taken as a whole.
        self._share: Share | None = None

    def _free(self, need: Need, judge: Judge) -> Iterator[tuple[int, DeviceRow]]:
        offset = 0
        choosing, share_of = self._choosing[need.criteria], self._shares.share
        for row in self._rows:
            busy = self.busy >> offset
            local, chosen = self._shares.chosen(choosing, row)
            for index, device in enumerate(row.devices):
                if busy >> index & 1:
                    continue
                wanted = chosen[index]
                if wanted is None:
                    wanted = chosen[index] = local.allows(device)
                share = share_of(judge, device)
                if wanted and share is not None and self._fits(offset + index, device, share):
                    self._share = share if device.shareable else None
                    yield offset + index, device
            offset += len(row.devices)

    def _fits(self, place: int, device: DeviceRow, share: Share) -> bool:
        if not device.shareable and self._shared.holds_share(device.key):
            raise Special
        left, drawn = self._shared.left(device), self._drawn
        for name, amount in share.takes:
            if amount > left[name] or (drawn and amount + drawn.get((place, name), 0) > left[name]):
                return False
        return True

    def _take(self, place: int) -> None:
        share = self._share
        if share is None:
            super()._take(place)
            return
        for name, amount in share.takes:
            self._drawn[place, name] = self._drawn.get((place, name), 0) + amount
