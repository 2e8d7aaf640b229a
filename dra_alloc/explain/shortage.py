"""
Requests for which there are not the devices, whatever else is picked: told without a search.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from operator import and_
from typing import Final

from msgspec import Struct

from dra_alloc.api import DeviceConstraint, DeviceRequest, Node, ResourceClaim
from dra_alloc.limits import ALLOCATION_RESULTS_MAX
from dra_alloc.problem.devices import DeviceRow, SliceRow
from dra_alloc.problem.pools import GatherError, Pool
from dra_alloc.problem.requests import Ask
from dra_alloc.profiles import Profile, Trait
from dra_alloc.rules import About, AmountError, Rule, SearchStopped, constraint_rule, consumption, is_comparable
from dra_alloc.solve.admit import Admission, request_row
from dra_alloc.solve.allocator import Allocator

#: Behaviours by which alternatives that ask for all devices get what others of them ask for.
_CONFUSING: Final = frozenset({Trait.ALL_SLIPS, Trait.ALL_MEMO_SHARED})


class Kinds:
    """What is found out of slices whatever is allocated, for all variations of a question."""

    def __init__(self) -> None:
        # What is asked about is kept, so that no other object gets its id.
        self._asks: dict[tuple[int, ...], tuple[object, tuple[Ask, ...]]] = {}
        self._ids = itertools.count()
        self._chosen: dict[tuple[int, ...], tuple[object, int | None]] = {}
        self._counted: dict[tuple[int, ...], tuple[object, bool]] = {}
        self._compared: dict[int, tuple[object, bool]] = {}

    def asks(self, allocator: Allocator, request: DeviceRequest) -> tuple[Ask, ...]:
        """Return a request, or its alternatives, with classes looked up; none of one that is not admitted."""
        profile, classes = allocator.profile, allocator.survey.classes
        key = id(request), id(classes), id(profile)
        known = self._asks.get(key)
        if known is None:
            admission = Admission(profile, (), allocator.survey.find_class, tuple)
            asks: tuple[Ask, ...] = ()
            with contextlib.suppress(SearchStopped):
                asks = request_row(0, "", request, admission, self._ids).asks
            known = self._asks[key] = (request, classes, profile), asks
        return known[1]

    def chosen(self, allocator: Allocator, ask: Ask, row: SliceRow) -> int | None:
        """Return the devices of a slice that are of the class and selected, as bits; None if that is an error."""
        wire, given, selectors, profile = row.wire, ask.device_class, ask.wire.selectors, allocator.profile
        key = id(wire), id(given), id(selectors), id(profile)
        known = self._chosen.get(key)
        if known is None:
            found = _bits(allocator, ask, row)
            known = self._chosen[key] = (wire, given, selectors, profile), found
        return known[1]

    def counts(self, profile: Profile, ask: Ask, row: SliceRow) -> bool:
        """Return whether what shares of the devices would consume can be told."""
        if not profile.shares or not (ask.capacity or any(device.capacity for device in row.devices)):
            return True
        wire, capacity = row.wire, ask.wire.capacity
        key = id(wire), id(capacity), id(profile)
        known = self._counted.get(key)
        if known is None:
            known = self._counted[key] = (wire, capacity, profile), _is_counted(profile, ask, row)
        return known[1]

    def compares(self, row: SliceRow) -> bool:
        """Return whether constraints can compare whatever attributes the devices have."""
        known = self._compared.get(id(row.wire))
        if known is None:
            values = (each for device in row.devices for each in device.attributes.values())
            found = all(is_comparable(each, lists=False) for each in values)
            known = self._compared[id(row.wire)] = row.wire, found
        return known[1]


def _bits(allocator: Allocator, ask: Ask, row: SliceRow) -> int | None:
    selects, found = allocator.survey.selection.selects, 0
    try:
        for place, device in enumerate(row.devices):
            found |= selects(ask, device) << place
    except SearchStopped:
        return None
    return found


def _is_counted(profile: Profile, ask: Ask, row: SliceRow) -> bool:
    try:
        for device in row.devices:
            consumption(device, ask, profile)
    except AmountError:
        return False
    return True


class _Supply(Struct, frozen=True):
    """
    What is known of a request: the most devices that it takes, and whether there are not as many for it alone.

    `steady` says that it ends no question with an error, `compared` that it does not with constraints either.
    """

    most: int = 0
    lacking: bool = False
    steady: bool = False
    compared: bool = False


_UNKNOWN: Final = _Supply()


class Shortages:
    """What an allocator has on one node for each request, whatever is asked for beside it."""

    def __init__(self, allocator: Allocator, node: Node, kinds: Kinds) -> None:
        self._allocator = allocator
        self._profile = allocator.profile
        self._kinds = kinds
        # Requests and constraints are kept, so that no others get their ids.
        self._supplies: dict[int, tuple[DeviceRequest, _Supply]] = {}
        self._constraints: dict[int, tuple[Sequence[DeviceConstraint], bool]] = {}
        # Devices that are free, by whether access is an administrator's: slice by slice as bits.
        self._free: dict[bool, list[int]] = {}
        pools = _pools(allocator, node)
        self._steady = pools is not None and not any(pool.invalid for pool in pools)
        self._whole = self._steady and all(pool.whole for pool in pools or ())
        self._rows = [row for pool in pools or () if pool.usable for row in pool.slices]
        self._rules = allocator.rules_on(node, pools or ())
        self._about_taints = [rule for rule in self._rules.take if rule.about is About.TAINTS]
        # Slices with taints, by number, with the devices that have some as bits; what is tolerated of one.
        self._tainted = [(number, bits) for number, row in enumerate(self._rows) if (bits := _tainted(row))]
        self._tolerating: dict[tuple[int, int], tuple[object, int]] = {}

    def lacks(self, claims: Sequence[ResourceClaim]) -> bool:
        """Return whether there are not the devices for one of the requests: the claims do not fit."""
        supply = self._supply
        return any(supply(request).lacking for claim in claims for request in claim.spec.devices.requests)

    def refuses(self, claims: Sequence[ResourceClaim]) -> bool:
        """Return whether the claims are refused for want of devices for a request, and not for an error, for sure."""
        most, lacking = 0, False
        for claim in claims if self._steady else ():
            devices = claim.spec.devices
            constraints = devices.constraints
            if constraints and not self._can_compare(constraints):
                return False
            for request in devices.requests:
                supply = self._supply(request)
                if not supply.steady or (constraints and not supply.compared):
                    return False
                most += supply.most
                lacking = lacking or supply.lacking
        return lacking and most <= ALLOCATION_RESULTS_MAX

    def _can_compare(self, constraints: Sequence[DeviceConstraint]) -> bool:
        """Return whether no constraint can end the question with an error, but for derived attributes."""
        known = self._constraints.get(id(constraints))
        if known is None:
            kept = all(constraint_rule(each, self._profile) is not None for each in constraints)
            found = kept and all(map(self._kinds.compares, self._rows))
            known = self._constraints[id(constraints)] = constraints, found
        return known[1]

    def _supply(self, request: DeviceRequest) -> _Supply:
        known = self._supplies.get(id(request))
        if known is None:
            known = self._supplies[id(request)] = request, self._found(request)
        return known[1]

    def _found(self, request: DeviceRequest) -> _Supply:
        asks = self._kinds.asks(self._allocator, request)
        try:
            found = [self._of(ask) for ask in asks]
        except SearchStopped:
            return _UNKNOWN
        if len(found) == 1:
            return found[0]
        confused = any(ask.all_devices for ask in asks) and not self._profile.traits.isdisjoint(_CONFUSING)
        return _Supply(
            max([each.most for each in found], default=0),
            bool(found) and not confused and all(each.lacking for each in found),
            bool(found) and not confused and all(each.steady for each in found),
            all(each.compared for each in found),
        )

    def _of(self, ask: Ask) -> _Supply:
        """Return what there is for a request, or an alternative. Raises: SearchStopped."""
        chosen = [self._kinds.chosen(self._allocator, ask, row) for row in self._rows]
        bits = [each for each in chosen if each is not None]
        if len(bits) < len(chosen) or (ask.all_devices and not self._whole):
            return _UNKNOWN
        shows, left, count = self._profile.shows, self._left(ask, bits), ask.count
        if ask.all_devices:
            wanted = self._recorded(ask, bits)
            lacking, count = not wanted or not set(_devices(self._rows, left)).issuperset(wanted), len(wanted)
        elif shows(Trait.PERMUTATIONS) and any(device.shareable for device in _devices(self._rows, left)):
            # Who asks anew for every device can get one that is shared more than once.
            lacking = False
        else:
            lacking = sum(map(int.bit_count, left)) < count
        panics = shows(Trait.CAPACITY_OF_ANOTHER) and any(len(row.devices) < count for row in self._rows)
        steady = not panics and all(self._kinds.counts(self._profile, ask, row) for row in self._rows)
        stops = ask.all_devices and shows(Trait.ALL_MISFIT_FATAL)
        return _Supply(count, lacking, steady, not stops and not ask.wire.derived_attributes)

    def _recorded(self, ask: Ask, chosen: Sequence[int]) -> list[DeviceRow]:
        """Return the devices that a request for all has to take."""
        rules = [rule for rule in self._rules.candidate if rule.gathers and rule.about is not About.SELECTORS]
        devices = _devices(self._rows, chosen)
        return [device for device in devices if not any(rule.leaves_out(ask, device) for rule in rules)]

    def _left(self, ask: Ask, chosen: Sequence[int]) -> list[int]:
        """Return the devices that a request can have if nothing else is picked, as far as that lasts, as bits."""
        free = self._free.get(ask.admin)
        if free is None:
            fixed = (rule for rule in self._rules.candidate if rule.fixed or rule.about is About.USE)
            rules = [rule for rule in fixed if rule.about is not About.SELECTORS]
            free = self._free[ask.admin] = self._allowed(ask, rules, self._rows)
        left = list(map(and_, chosen, free))
        for number, bits in self._tainted if any(left) else ():
            if left[number] & bits:
                left[number] &= ~bits | self._tolerated(ask, number)
        return left

    def _tolerated(self, ask: Ask, number: int) -> int:
        """Return the devices of a slice of which the request tolerates the taints, as bits."""
        key = number, id(ask.wire.tolerations)
        known = self._tolerating.get(key)
        if known is None:
            found = self._allowed(ask, self._about_taints, self._rows[number : number + 1])[0]
            # The tolerations are kept, so that no others get their id.
            known = self._tolerating[key] = ask.wire.tolerations, found
        return known[1]

    def _allowed(self, ask: Ask, rules: Sequence[Rule], rows: Sequence[SliceRow]) -> list[int]:
        """Return the devices, slice by slice as bits, that all of the rules allow. Raises: SearchStopped."""
        devices = (enumerate(row.devices) for row in rows)
        return [
            sum(all(rule.allows(ask, device) for rule in rules) << place for place, device in row) for row in devices
        ]


def _tainted(row: SliceRow) -> int:
    """Return the devices of a slice that have taints, as bits."""
    return sum([bool(device.taints) << place for place, device in enumerate(row.devices)])


def _devices(rows: Sequence[SliceRow], bits: Sequence[int]) -> Iterator[DeviceRow]:
    for row, chosen in zip(rows, bits, strict=True):
        if chosen:
            yield from (device for place, device in enumerate(row.devices) if chosen >> place & 1)


def _pools(allocator: Allocator, node: Node) -> tuple[Pool, ...] | None:
    try:
        return allocator.survey.pools(node)
    except GatherError:
        return None
