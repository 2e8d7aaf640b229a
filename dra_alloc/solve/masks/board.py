"""
The devices of a node as one shape of claims sees them: bit masks.

A part covers one slice. Slices that look alike to the shape share it, and
nodes with the same parts share their board, with the answers found on it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from dra_alloc.limits import ALLOCATION_RESULTS_MAX
from dra_alloc.problem.devices import DeviceRow, SliceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.rules import About, Rule, SearchStopped
from dra_alloc.rules.facts import Agree, Differ, Fact
from dra_alloc.solve.masks.shape import Shape
from dra_alloc.solve.outcome import Work

#: The facts that a constraint states about devices.
Constraint: TypeAlias = Callable[[Sequence[DeviceRow]], Iterable[Fact]]
#: What judges the devices of a slice, and which it chose, as far as it was asked.
Chosen: TypeAlias = tuple[Callable[[DeviceRow], bool], list[bool | None]]


class Valued(NamedTuple):
    """
    What a constraint says of devices: that those picked agree, or differ; and who has which value.

    Devices that stand alone have an entry without a value: see :class:`Agree`.
    """

    agree: bool
    holders: tuple[tuple[Hashable, int], ...]


class Part(NamedTuple):
    """
    One slice: `masks` per criteria, and what each constraint says of its devices.

    `barred` are the criteria of requests for all that want a device which cannot be had.
    """

    width: int
    masks: tuple[int, ...]
    values: tuple[Valued, ...]
    barred: frozenset[int]


class Seat(NamedTuple):
    """One request, or one alternative of it, on a board: the devices it could have, and its constraints."""

    ask: int
    wanted: int
    mask: int
    agree: tuple[int, ...]
    differ: tuple[int, ...]


class BoardAnswer(NamedTuple):
    """
    What a search came to: nothing found (None if the budget ran out), or a solution.

    `picks` are (ask, index of the device) in order of picking, `served` is the
    alternative chosen for each slot, `taken` masks the devices picked.
    """

    found: bool | None
    steps: int
    picks: tuple[tuple[int, int], ...] = ()
    served: tuple[int, ...] = ()
    taken: int = 0


#: No solution, as can be seen without a search.
NOTHING: Final = BoardAnswer(found=False, steps=0)


def solution(steps: int, picks: Sequence[tuple[int, int]], served: Sequence[int]) -> BoardAnswer:
    """Return picks that a search came to as its answer."""
    taken = 0
    for _, index in picks:
        taken |= 1 << index
    return BoardAnswer(True, steps, tuple(picks), tuple(served), taken)


class Board:
    """
    All parts of a node side by side.

    `agree` says by constraint whether devices have to agree or to differ,
    `holders` gives for a constraint and a device's bit the devices with the
    same value; zero for one that stands alone. `relevant` masks the devices
    that matter at all. `answers` remembers, per mask of busy devices, what the
    search found; it is part of the engine.
    """

    __slots__ = ("agree", "answers", "holders", "relevant", "slots")

    def __init__(
        self, slots: tuple[tuple[Seat, ...], ...], agree: Sequence[bool], holders: Sequence[Mapping[int, int]]
    ) -> None:
        self.slots = slots
        self.agree = tuple(agree)
        self.holders = tuple(holders)
        self.relevant = 0
        for slot in slots:
            for seat in slot:
                self.relevant |= seat.mask
        self.answers: dict[int, tuple[BoardAnswer, Work]] = {}


class Judge:
    """
    Says which devices could be had for one of the criteria, by the rules themselves.

    `ask` stands for every request with these criteria; devices that `is_special` knows have side effects when used.
    `by_driver`: its selectors read nothing but the driver, which says it of all devices of a slice.
    """

    __slots__ = ("_on_plain", "ask", "by_driver", "candidate", "is_special", "take")

    def __init__(
        self,
        ask: Ask,
        candidate: Sequence[Rule],
        take: Sequence[Rule],
        is_special: Callable[[DeviceRow], bool],
        *,
        by_driver: bool = False,
    ) -> None:
        self.ask = ask
        self.candidate = tuple(candidate)
        self.take = tuple(take)
        self.is_special = is_special
        self.by_driver = by_driver
        self._on_plain: dict[tuple[str, bool] | None, Judge | None] = {}

    def on(self, row: SliceRow) -> Judge | None:
        """Return the same for one slice, without the rules that have no say in its devices; None if it chooses none."""
        if not row.plain or not row.is_local:
            return self._without_idle(row)
        # Nothing but attributes tells these from each other; and the driver, as far as its devices can be read.
        key = (row.driver, bool(row.outline.versions)) if self.by_driver else None
        if key not in self._on_plain:
            self._on_plain[key] = self._without_idle(row)
        return self._on_plain[key]

    def choosing(self, row: SliceRow) -> Chosen:
        """Return what says of devices of one slice whether they are allowed, and which are, as far as that is known."""
        local = self.on(row)
        if local is None:
            return _never, [False] * len(row.devices)
        return local.asking(), [None] * len(row.devices)

    def asking(self) -> Callable[[DeviceRow], bool]:
        """Return what says whether a device could be the only pick: the rule itself where it is the only one."""
        if len(self.candidate) == 1 and not self.take and self.is_special is _never:
            return partial(self.candidate[0].allows, self.ask)
        return self.allows

    def _without_idle(self, row: SliceRow) -> Judge | None:
        ask = self.ask
        if self.by_driver and any(rule.bars(ask, row) for rule in self.candidate):
            return None
        candidate = [rule for rule in self.candidate if not rule.passes(ask, row)]
        take = [rule for rule in self.take if rule not in candidate and not rule.passes(ask, row)]
        return Judge(ask, candidate, take, _never if row.plain else self.is_special)

    def wants(self, device: DeviceRow) -> bool:
        """
        Return whether a request for all wants the device.

        Raises: Special if it does, and that is special; SearchStopped from a selector.
        """
        ask = self.ask
        for rule in self.candidate:
            if not rule.gathers:
                continue
            # A selector is asked once a device, so that nothing need be remembered.
            if not rule.allows(ask, device) if rule.about is About.SELECTORS else rule.leaves_out(ask, device):
                return False
        if self.is_special(device):
            raise Special
        return True

    def allows(self, device: DeviceRow) -> bool:
        """
        Return whether the device could be the only pick.

        Raises: Special if it could, and is special; SearchStopped from a selector.
        """
        ask = self.ask
        for rule in self.candidate:
            if not rule.allows(ask, device):
                return False
        if self.is_special(device):
            raise Special
        return self.takes(device)

    def takes(self, device: DeviceRow) -> bool:
        """Return whether a device that is wanted could be the only pick."""
        return all(rule.allows(self.ask, device) for rule in self.take)


def _never(device: DeviceRow) -> bool:
    return False


class Special(Exception):
    """A device that only the search itself can deal with."""


def make_part(row: SliceRow, judges: Sequence[Judge], constraints: Sequence[Constraint]) -> Part | None:
    """Return the part for one slice; None if only the search itself can deal with one of its devices."""
    devices = row.devices
    masks: list[int] = []
    barred: set[int] = set()
    try:
        for number, judge in enumerate([each.on(row) for each in judges]):
            if judge is None:
                masks.append(0)
                continue
            every = judge.ask.all_devices
            chosen = judge.wants if every else judge.asking()
            mask = 0
            for index, device in enumerate(devices):
                if chosen(device):
                    mask |= 1 << index
                    if every and not judge.takes(device):
                        barred.add(number)
            masks.append(mask)
        eligible = _union(masks)
        usable = {device: 1 << index for index, device in enumerate(devices) if eligible >> index & 1}
        seen = tuple(usable)
        # Of several claims that state the same it is asked once.
        said = {constraint: valued(constraint(seen), usable) for constraint in dict.fromkeys(constraints)}
        values = tuple([said[constraint] for constraint in constraints])
    except (Special, SearchStopped):
        return None
    return Part(len(devices), tuple(masks), values, frozenset(barred))


def valued(facts: Iterable[Fact], bits: Mapping[DeviceRow, int]) -> Valued:
    """
    Return what the facts of a constraint say of devices.

    Raises: Special where they say anything else than that devices agree or
    differ, or a device has several values, or may only come first.
    """
    match tuple(facts):
        case (Agree() | Differ() as fact,) if not fact.by_request:
            agree = isinstance(fact, Agree)
        case _:
            raise Special
    found: dict[Hashable, int] = {}
    for device, values in fact.values.items():
        if len(values) > 1 or not (values or agree):
            raise Special
        value = next(iter(values), None)
        found[value] = found.get(value, 0) | bits[device]
    return Valued(agree, tuple(found.items()))


def put_together(parts: Sequence[Part], shape: Shape) -> Board | None:
    """
    Return the board of slices in the order in which their devices are tried.

    None if they are of several forms, or a request for all comes to more results than a claim may have.
    """
    masks = [0] * len(shape.criteria)
    forms = {tuple([valued.agree for valued in part.values]) for part in parts} or {(True,) * len(shape.constraints)}
    if len(forms) > 1:
        return None
    (agree,) = forms
    offset = 0
    for part in parts:
        for number, mask in enumerate(part.masks):
            masks[number] |= mask << offset
        offset += part.width
    values = _side_by_side(parts, len(shape.constraints))
    holders, present = [each for each, _ in values], [each for _, each in values]
    barred = frozenset().union(*(part.barred for part in parts))
    wanted = [(mask, number in barred) for number, mask in enumerate(masks)]
    slots = _seats(shape, wanted, agree, present)
    if any(need.every for slot in shape.slots for need in slot):
        most = sum(max(seat.wanted for seat in slot) for slot in slots)
        if most > ALLOCATION_RESULTS_MAX:
            return None
    return Board(slots, agree, holders)


def _side_by_side(parts: Sequence[Part], constraints: int) -> list[tuple[dict[int, int], int]]:
    """Return for each constraint the devices with the value of a bit, and all that have one or stand alone."""
    known: dict[tuple[int, ...], tuple[dict[int, int], int]] = {}
    found = []
    for number in range(constraints):
        said = [part.values[number] for part in parts]
        # Of several claims that state the same it is worked out once.
        key = tuple(map(id, said))
        if key not in known:
            values: dict[Hashable, int] = {}
            offset = 0
            for part, valued in zip(parts, said, strict=True):
                for value, mask in valued.holders:
                    values[value] = values.get(value, 0) | mask << offset
                offset += part.width
            known[key] = _holders(values), _union(values.values())
        found.append(known[key])
    return found


def _union(masks: Iterable[int]) -> int:
    total = 0
    for mask in masks:
        total |= mask
    return total


def _holders(values: Mapping[Hashable, int]) -> dict[int, int]:
    """Return for each device's bit the devices with its value."""
    holders: dict[int, int] = {}
    for value, mask in values.items():
        rest = mask
        while rest:
            bit = rest & -rest
            rest ^= bit
            holders[bit] = mask if value is not None else 0
    return holders


def _seats(
    shape: Shape, masks: Sequence[tuple[int, bool]], agree: Sequence[bool], present: Sequence[int]
) -> tuple[tuple[Seat, ...], ...]:
    slots: list[tuple[Seat, ...]] = []
    ask = 0
    for needs in shape.slots:
        seats: list[Seat] = []
        for need in needs:
            mask, barred = masks[need.criteria]
            wanted = need.count
            if need.every:
                # All of none is as little to be had as all with one that cannot be.
                wanted = max(mask.bit_count(), 1) + barred
            for number in need.constraints:
                mask &= present[number]
            agreeing = tuple(number for number in need.constraints if agree[number])
            differing = tuple(number for number in need.constraints if not agree[number])
            seats.append(Seat(ask, wanted, mask, agreeing, differing))
            ask += 1
        slots.append(tuple(seats))
    return tuple(slots)
