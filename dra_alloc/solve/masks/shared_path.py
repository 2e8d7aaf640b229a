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

    __slots__ = ("_consumed", "_holds_share", "_profile")

    def __init__(self, usage: Usage, profile: Profile) -> None:
        self._consumed: Mapping[DeviceKey, Mapping[str, int]] = usage.consumed
        self._holds_share = usage.shares
        self._profile = profile

    def left(self, device: DeviceRow) -> Mapping[str, int]:
        """
        Return what is left of a device's capacities, by its names for them, in 1e-9 units.

        Raises: Special for a device that several cannot have, and of which somebody has a share.
        """
        if not device.shareable and self._holds_share(device.key):
            raise Special
        consumed = self._consumed.get(device.key, _NOTHING)
        profile, before, left = device.left
        if before is not consumed or profile is not self._profile:
            held = capacity_held(self._consumed, device, self._profile)
            left = {name: each.value.nano - held.get(name, 0) for name, each in device.capacity.items()}
            device.left = self._profile, consumed, left
        return left


class SharedPath(Path):
    """
    What was picked so far, and what that leaves of devices.

    `choosing` judges devices, but for their capacity.
    """

    __slots__ = ("_choosing", "_left", "_next", "_shared", "_shares")

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
        # By place what picks left of a device.
        self._left: dict[int, Mapping[str, int]] = {}
        # What the device that comes next has left, and a pick takes; None if it is taken as a whole.
        self._next: tuple[Mapping[str, int], Share] | None = None

    def _free(self, need: Need, judge: Judge) -> Iterator[tuple[int, DeviceRow]]:
        offset = 0
        choosing, share_of, left_of, drawn = (
            self._choosing[need.criteria],
            self._shares.share,
            self._shared.left,
            self._left,
        )
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
                if share is None or not wanted:
                    continue
                left = drawn.get(offset + index) or left_of(device)
                for name, amount in share.takes:
                    if amount > left[name]:
                        break
                else:
                    self._next = (left, share) if device.shareable else None
                    yield offset + index, device
            offset += len(row.devices)

    def _take(self, place: int) -> None:
        if self._next is None:
            super()._take(place)
            return
        left, share = self._next
        self._left[place] = left = dict(left)
        for name, amount in share.takes:
            left[name] -= amount
