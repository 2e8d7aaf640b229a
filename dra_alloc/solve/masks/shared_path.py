"""
The first path of the search where devices can be shared: what is left of their capacity is part of the state.

A device that has too little left is passed over before anything is taken, so that a path without going back is the same
for every allocator, whatever it forgets on the way back.

What is left of a slice's devices is worked out when one is first looked at, and remembered with the last answer that
came of it for as long as nobody takes of them or gives back: the occupancy forgets slices of which that changes.

Spec: DIRECT-2, DIRECT-3, CAP-4, CAP-5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from dra_alloc.problem.devices import DeviceKey, DeviceRow, SliceRow
from dra_alloc.problem.overlay import Findings
from dra_alloc.problem.requests import Ask
from dra_alloc.problem.usage import Usage
from dra_alloc.profiles import Profile, Trait
from dra_alloc.rules import SearchStopped, capacity_held
from dra_alloc.solve.masks.board import NOTHING, BoardAnswer, Constraint, Judge, Special, solution
from dra_alloc.solve.masks.first_path import Path
from dra_alloc.solve.masks.shape import Need
from dra_alloc.solve.masks.shares import Share, Shares

#: Allocators that look at other devices than the one at hand, try them in another order, or forget what was refused.
_ODD: Final = (Trait.PERMUTATIONS, Trait.CAPACITY_OF_ANOTHER, Trait.REFUSAL_LEAKS, Trait.POOLS_AS_SEEN)


def can_share(asks: Sequence[Ask], profile: Profile) -> bool:
    """Return whether such a path is that of the allocator in use for these requests."""
    if not profile.shares or any(profile.shows(trait) for trait in _ODD) or any(ask.all_devices for ask in asks):
        return False
    growing = profile.shows(Trait.AMOUNTS_GROW)
    return not (growing and any(amount.wide for ask in asks for _, amount in ask.capacity))


class Remainder:
    """
    What is left of the devices of a slice: by place and by their names for it, in 1e-9 units; None if nobody looked.

    `last` is the last answer for a node to which the slice is all there is: for which plan, and which devices held.
    """

    __slots__ = ("amounts", "last", "profile")

    def __init__(self, profile: Profile, width: int) -> None:
        self.profile = profile
        self.amounts: list[Mapping[str, int] | None] = [None] * width
        self.last: tuple[object, int, BoardAnswer] | None = None


class Shared:
    """What shares of devices leave of them, in one state of allocation; `known` is what states have in common."""

    __slots__ = ("_consumed", "_holds_share", "_known", "_profile")

    def __init__(self, usage: Usage, profile: Profile, known: Findings[SliceRow, Remainder]) -> None:
        self._consumed: Mapping[DeviceKey, Mapping[str, int]] = usage.consumed
        self._holds_share = usage.shares
        self._known = known
        self._profile = profile

    def of(self, row: SliceRow) -> Remainder:
        """Return what is known to be left of a slice's devices, to be added to."""
        found = self._known.get(row)
        if found is None or found.profile is not self._profile:
            found = self._known.put(row, Remainder(self._profile, len(row.devices)))
        return found

    def look(self, left: Remainder, index: int, device: DeviceRow) -> Mapping[str, int]:
        """
        Return what is left of a device that nobody looked at, and note it.

        Raises: Special for a device that several cannot have, and of which somebody has a share.
        """
        if not device.shareable and self._holds_share(device.key):
            raise Special
        held = capacity_held(self._consumed, device, self._profile)
        found = {name: each.value.nano - held.get(name, 0) for name, each in device.capacity.items()}
        left.amounts[index] = found
        return found


class Sharing(NamedTuple):
    """Who judges devices by criteria, and who does so but for their capacity; and what is known of shares."""

    judges: Sequence[Judge]
    choosing: Sequence[Judge]
    shares: Shares


class SharedPath(Path):
    """What was picked so far, and what that leaves of devices."""

    __slots__ = ("_choosing", "_left", "_next", "_shared", "_shares")

    def __init__(
        self,
        path: tuple[Sequence[Constraint], Sequence[SliceRow], int],
        sharing: Sharing,
        shared: Shared,
    ) -> None:
        super().__init__(*path)
        self._choosing = sharing.choosing
        self._shares = sharing.shares
        self._shared = shared
        # By place what picks left of a device.
        self._left: dict[int, Mapping[str, int]] = {}
        # What the device that comes next has left, and a pick takes; None if it is taken as a whole.
        self._next: tuple[Mapping[str, int], Share] | None = None

    def _free(self, need: Need, judge: Judge) -> Iterator[tuple[int, DeviceRow]]:
        offset = 0
        choosing, share_of, drawn = self._choosing[need.criteria], self._shares.share, self._left
        for row in self._rows:
            busy = self.busy >> offset
            allows, chosen = self._shares.chosen(choosing, row)
            known = self._shared.of(row)
            for index, device in enumerate(row.devices):
                if busy >> index & 1:
                    continue
                wanted = chosen[index]
                if wanted is None:
                    wanted = chosen[index] = allows(device)
                share = share_of(judge, device)
                if share is None or not wanted:
                    continue
                left = drawn.get(offset + index) or known.amounts[index] or self._shared.look(known, index, device)
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


def only_request(need: Need, sharing: Sharing, row: SliceRow, busy: int, shared: Shared) -> BoardAnswer | None:
    """Return what the path comes to for a request that is all there is, on a slice that is all there is."""
    (judge,), (choosing,), shares = sharing
    allows, chosen = shares.chosen(choosing, row)
    left = shared.of(row)
    amounts = left.amounts
    taken, missing = 0, need.count
    try:
        for index, device in enumerate(row.devices):
            if busy >> index & 1:
                continue
            wanted = chosen[index]
            if wanted is None:
                wanted = chosen[index] = allows(device)
            share = shares.share(judge, device)
            if share is None or not wanted:
                continue
            has = amounts[index] or shared.look(left, index, device)
            for name, amount in share.takes:
                if amount > has[name]:
                    break
            else:
                taken |= 1 << index
                missing -= 1
                if not missing:
                    return _picked(taken)
    except (Special, SearchStopped):
        return None
    return NOTHING


@lru_cache(1_024)
def _picked(taken: int) -> BoardAnswer:
    """Return the solution that takes these devices one after the other; one and the same on all nodes."""
    picks = [(0, index) for index in range(taken.bit_length()) if taken >> index & 1]
    return solution(len(picks), picks, (0,))
