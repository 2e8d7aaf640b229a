"""
The first path of the search where devices can be shared: what is left of their capacity is part of the state.

A device that has too little left is passed over before anything is taken, so that a path without going back is the same
for every allocator, whatever it forgets on the way back.

Spec: DIRECT-2, DIRECT-3, CAP-4, CAP-5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from dra_alloc.api import FrozenMap, Quantity
from dra_alloc.problem.devices import DeviceRow, SliceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.problem.usage import Usage
from dra_alloc.profiles import Profile, Trait
from dra_alloc.rules import About, AmountError, capacity_held, consumption
from dra_alloc.solve.masks.board import Constraint, Judge, Special
from dra_alloc.solve.masks.first_path import Path
from dra_alloc.solve.masks.shape import Need

__all__ = ["Share", "SharedPath", "Verdicts", "can_share", "sharing_judges"]


class Share(NamedTuple):
    """What a pick takes of the capacities that a device has: name, amount and what there is; and as it is written."""

    takes: tuple[tuple[str, int, int], ...]
    amounts: FrozenMap[str, Quantity]


#: None for a device that cannot be had; what is taken of one that can be shared.
_Verdict: TypeAlias = Share | str | None
#: By criteria, what each device of a slice is to a request, as far as it was looked at.
Verdicts: TypeAlias = dict[int, list[_Verdict]]

_UNSEEN: Final = "unseen"
_DEDICATED: Final = "dedicated"
#: From here on amounts may wrap around at 64 bits.
_WRAPPING: Final = 2**61 * 10**9
#: Allocators that look at other devices than the one at hand, try them in another order, or forget what was refused.
_ODD: Final = (Trait.PERMUTATIONS, Trait.CAPACITY_OF_ANOTHER, Trait.REFUSAL_LEAKS, Trait.POOLS_AS_SEEN)


def can_share(asks: Sequence[Ask], profile: Profile) -> bool:
    """Return whether such a path is that of the allocator in use for these requests."""
    if not profile.shares or any(profile.shows(trait) for trait in _ODD) or any(ask.all_devices for ask in asks):
        return False
    growing = profile.shows(Trait.AMOUNTS_GROW)
    return not (growing and any(amount.wide for ask in asks for _, amount in ask.capacity))


def sharing_judges(judges: Sequence[Judge], is_special: Callable[[DeviceRow], bool]) -> list[Judge]:
    """Return what judges devices that can be shared, but for their capacity, which is looked at by itself."""
    return [
        Judge(
            judge.ask,
            [rule for rule in judge.candidate if rule.about is not About.CAPACITY],
            [rule for rule in judge.take if rule.about is not About.CAPACITY],
            is_special,
        )
        for judge in judges
    ]


class SharedPath(Path):
    """
    What was picked so far, and what that leaves of devices.

    `sharing` judges devices that can be shared; `verdicts_of` gives what is known of the devices of a slice, to which
    what is found out is added. `drawn` has what is taken by place and capacity.
    """

    __slots__ = ("_consumed", "_drawn", "_profile", "_shares", "_sharing", "_verdict", "_verdicts_of")

    def __init__(
        self,
        path: tuple[Sequence[Constraint], Sequence[SliceRow], int],
        sharing: Sequence[Judge],
        verdicts_of: Callable[[SliceRow], Verdicts],
        usage: Usage,
        profile: Profile,
    ) -> None:
        super().__init__(*path)
        self._sharing = sharing
        self._verdicts_of = verdicts_of
        self._shares = usage.shares
        self._consumed = usage.consumed
        self._profile = profile
        self._drawn: dict[tuple[int, str], int] = {}
        # Of the device that comes next.
        self._verdict: _Verdict = None

    def _free(self, need: Need, judge: Judge) -> Iterator[tuple[int, DeviceRow]]:
        offset = 0
        sharing = self._sharing[need.criteria]
        for row in self._rows:
            busy = self.busy >> offset
            verdicts = self._of(row, need.criteria)
            for index, device in enumerate(row.devices):
                if busy >> index & 1:
                    continue
                verdict = verdicts[index]
                if verdict is _UNSEEN:
                    verdict = verdicts[index] = self._judged(device, judge, sharing)
                if verdict is not None and self._fits(offset + index, device, verdict):
                    self._verdict = verdict
                    yield offset + index, device
            offset += len(row.devices)

    def _of(self, row: SliceRow, criteria: int) -> list[_Verdict]:
        known = self._verdicts_of(row)
        found = known.get(criteria)
        if found is None:
            found = known[criteria] = [_UNSEEN] * len(row.devices)
        return found

    def _judged(self, device: DeviceRow, judge: Judge, sharing: Judge) -> _Verdict:
        """
        Return what a device is to a request while nothing of it is taken.

        Raises: Special, SearchStopped.
        """
        if not device.shareable:
            return _DEDICATED if judge.allows(device) else None
        allowed = sharing.on(device.slice).allows(device)
        try:
            # Asked of a device that others refuse, too: an amount that is an error ends the search before some of them.
            amounts = consumption(device, judge.ask, self._profile)
        except AmountError:
            raise Special from None
        if amounts is None or not allowed:
            return None
        takes = tuple((name, each.nano, device.capacity[name].value.nano) for name, each in amounts.items())
        if not all(0 <= amount < _WRAPPING for _, amount, _ in takes):
            raise Special
        return Share(takes, FrozenMap(amounts))

    def _fits(self, place: int, device: DeviceRow, verdict: Share | str) -> bool:
        if isinstance(verdict, str):
            if self._shares(device.key):
                raise Special
            return True
        held = capacity_held(self._consumed, device, self._profile)
        drawn = self._drawn
        for name, amount, there in verdict.takes:
            total = held.get(name, 0) + amount
            if total + drawn.get((place, name), 0) > there:
                return False
        return True

    def _take(self, place: int) -> None:
        verdict = self._verdict
        if isinstance(verdict, str) or verdict is None:
            super()._take(place)
            return
        for name, amount, _ in verdict.takes:
            self._drawn[place, name] = self._drawn.get((place, name), 0) + amount
