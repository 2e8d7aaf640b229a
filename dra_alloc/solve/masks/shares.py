"""
What requests make of devices that can be shared, found out once for all that is the same.

Which devices a request chooses does not depend on the amounts it asks for, and what it takes of one not on the device,
but for its request policies.

Spec: CAP-4, CAP-7, DIRECT-3.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from enum import Enum, auto
from typing import Final, NamedTuple, TypeAlias

from dra_alloc.api import FrozenMap, Quantity
from dra_alloc.problem.devices import DeviceRow, SliceRow
from dra_alloc.profiles import Profile
from dra_alloc.remembered import Numbers, Remembered
from dra_alloc.rules import About, AmountError, consumption
from dra_alloc.solve.frames import amounts, sharing_policy
from dra_alloc.solve.masks.board import Chosen, Judge, Special
from dra_alloc.solve.masks.shape import chosen_by

#: From here on amounts may wrap around at 64 bits.
_WRAPPING: Final = 2**61 * 10**9
#: Requests that choose, devices of which it is known whether they are chosen, offers with a number, and shares.
_MOST_JUDGES: Final = 4_000
_MOST_CHOSEN: Final = 1 << 19
_MOST_OFFERS: Final = 1 << 15
_MOST_SHARES: Final = 1 << 15


class Share(NamedTuple):
    """What a pick takes of the capacities that a device has, in 1e-9 units; and as it is written."""

    takes: tuple[tuple[str, int], ...]
    amounts: FrozenMap[str, Quantity]


class _Odd(Enum):
    """What else can be known of an amount."""

    #: It depends on how much there is of a capacity.
    BY_VALUE = auto()
    #: It is an error, or beyond what fits into 64 bits.
    ERROR = auto()
    UNSEEN = auto()


#: None where the device cannot be had.
_Found: TypeAlias = Share | _Odd | None


class Shares:
    """Remembers both for the requests of one profile; safe to use from several threads."""

    __slots__ = ("_chosen", "_is_special", "_judges", "_number", "_profile", "_shares", "_token")

    def __init__(self, profile: Profile, is_special: Callable[[DeviceRow], bool]) -> None:
        self._profile = profile
        # What devices remember of this: they may live longer.
        self._token = object()
        self._is_special = is_special
        self._judges: Remembered[Hashable, Judge] = Remembered(_MOST_JUDGES)
        self._chosen: Remembered[tuple[Judge, SliceRow], Chosen] = Remembered(_MOST_CHOSEN)
        self._number = Numbers(_MOST_OFFERS).of
        self._shares: Remembered[tuple[Judge, int], _Found] = Remembered(_MOST_SHARES)

    def judges(self, judges: Sequence[Judge]) -> list[Judge]:
        """Return what judges devices that can be shared, but for their capacity, which is looked at by itself."""
        return [self._judges.get(chosen_by(each.ask)) or self._judge(each) for each in judges]

    def _judge(self, judge: Judge) -> Judge:
        candidate = [rule for rule in judge.candidate if rule.about is not About.CAPACITY]
        take = [rule for rule in judge.take if rule.about is not About.CAPACITY]
        made = Judge(judge.ask, candidate, take, self._is_special, by_driver=judge.by_driver)
        return self._judges.put(chosen_by(judge.ask), made)

    def chosen(self, judge: Judge, row: SliceRow) -> Chosen:
        """Return what judges the devices of a slice, and which it chose; to be added to."""
        key = judge, row
        return self._chosen.get(key) or self._chosen.put(key, judge.choosing(row), len(row.devices))

    def share(self, judge: Judge, device: DeviceRow) -> Share | None:
        """
        Return what a pick of the device takes by the request of a judge; None if it cannot be had.

        Raises: Special for an amount that only the search can deal with.
        """
        owner, offer = device.offers
        if owner is not self._token:
            offer = self._offer(device)
        found = self._shares.get((judge, offer), _Odd.UNSEEN)
        if found is _Odd.UNSEEN:
            found = self._known(judge, device, offer, by_value=False)
        if found is _Odd.BY_VALUE:
            value = self._number((device.key.driver, "value", amounts(device.capacity)))
            found = self._known(judge, device, value, by_value=True)
        if isinstance(found, _Odd):
            raise Special
        return found

    def _offer(self, device: DeviceRow) -> int:
        """Return the number of how a device's capacities are shared, however much there is."""
        shared = tuple([(name, sharing_policy(each)) for name, each in device.capacity.items()])
        offer = self._number((device.key.driver, shared))
        device.offers = self._token, offer
        return offer

    def _known(self, judge: Judge, device: DeviceRow, offer: int, *, by_value: bool) -> _Found:
        key = judge, offer
        found = self._shares.get(key, _Odd.UNSEEN)
        return found if found is not _Odd.UNSEEN else self._shares.put(key, self._found(judge, device, by_value))

    def _found(self, judge: Judge, device: DeviceRow, by_value: bool) -> _Found:
        capacity = device.capacity
        try:
            # Asked of a device that others refuse, too: an amount that is an error ends the search before some of them.
            found = consumption(device, judge.ask, self._profile)
        except AmountError:
            return _Odd.ERROR if by_value else _Odd.BY_VALUE
        if not by_value and (
            any(each.request_policy is not None and each.request_policy.default is None for each in capacity.values())
            # Where a request takes all that there is, that very quantity is what it takes.
            or any(amount is capacity[name].value for name, amount in (found or {}).items())
        ):
            return _Odd.BY_VALUE
        if found is None:
            return None
        takes = tuple([(name, each.nano) for name, each in found.items()])
        return Share(takes, FrozenMap(found)) if all(0 <= each < _WRAPPING for _, each in takes) else _Odd.ERROR
