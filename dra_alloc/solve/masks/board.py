"""
The devices of a node as one shape of claims sees them: bit masks.

A part covers one slice. Slices that look alike to the shape share it, and
nodes with the same parts share their board, with the answers found on it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.rules import Rule, SearchStopped
from dra_alloc.rules.facts import Agree, Differ, Fact
from dra_alloc.solve.masks.shape import Shape
from dra_alloc.solve.outcome import Work

__all__ = ["Board", "BoardAnswer", "Constraint", "Judge", "Part", "Seat", "make_part", "put_together"]

#: The facts that a constraint states about devices.
Constraint: TypeAlias = Callable[[Sequence[DeviceRow]], Iterable[Fact]]


class Valued(NamedTuple):
    """
    What a constraint says of devices: that those picked agree, or differ; and who has which value.

    Devices that stand alone have an entry without a value: see :class:`Agree`.
    """

    agree: bool
    holders: tuple[tuple[Hashable, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One slice: `masks` per criteria, and what each constraint says of its devices."""

    width: int
    masks: tuple[int, ...]
    values: tuple[Valued, ...]


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


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """
    Says which devices could be had for one of the criteria, by the rules themselves.

    `ask` stands for every request with these criteria; `is_special` marks
    devices whose use has side effects.
    """

    ask: Ask
    candidate: Sequence[Rule]
    take: Sequence[Rule]

    def allows(self, device: DeviceRow, *, special: bool) -> bool:
        """
        Return whether the device could be the only pick.

        Raises: _Special if it could, and is special; SearchStopped from a selector.
        """
        ask = self.ask
        for rule in self.candidate:
            if not rule.allows(ask, device):
                return False
        if special:
            raise _Special
        return all(rule.allows(ask, device) for rule in self.take)


class _Special(Exception):
    """A device that only the search itself can deal with."""


def make_part(
    devices: Sequence[DeviceRow], special: Sequence[bool], judges: Sequence[Judge], constraints: Sequence[Constraint]
) -> Part | None:
    """Return the part for one slice; None if only the search itself can deal with one of its devices."""
    masks: list[int] = []
    try:
        for judge in judges:
            mask = 0
            for index, device in enumerate(devices):
                if judge.allows(device, special=special[index]):
                    mask |= 1 << index
            masks.append(mask)
        eligible = _union(masks)
        usable = {device: 1 << index for index, device in enumerate(devices) if eligible >> index & 1}
        values = tuple(_valued(constraint(tuple(usable)), usable) for constraint in constraints)
    except (_Special, SearchStopped):
        return None
    return Part(len(devices), tuple(masks), values)


def _valued(facts: Iterable[Fact], bits: Mapping[DeviceRow, int]) -> Valued:
    """
    Return what the facts of a constraint say of devices.

    Raises: _Special where they say anything else than that devices agree or
    differ, or a device has several values, or may only come first.
    """
    match tuple(facts):
        case (Agree() | Differ() as fact,) if not fact.by_request:
            agree = isinstance(fact, Agree)
        case _:
            raise _Special
    found: dict[Hashable, int] = {}
    for device, values in fact.values.items():
        if len(values) > 1 or not (values or agree):
            raise _Special
        value = next(iter(values), None)
        found[value] = found.get(value, 0) | bits[device]
    return Valued(agree, tuple(found.items()))


def put_together(parts: Sequence[Part], shape: Shape) -> Board | None:
    """Return the board of slices in the order in which their devices are tried; None if they are of several forms."""
    masks = [0] * len(shape.criteria)
    values: list[dict[Hashable, int]] = [{} for _ in shape.constraints]
    forms = {tuple(valued.agree for valued in part.values) for part in parts} or {(True,) * len(values)}
    if len(forms) > 1:
        return None
    (agree,) = forms
    offset = 0
    for part in parts:
        for number, mask in enumerate(part.masks):
            masks[number] |= mask << offset
        for number, valued in enumerate(part.values):
            for value, mask in valued.holders:
                values[number][value] = values[number].get(value, 0) | mask << offset
        offset += part.width
    holders = [_holders(each) for each in values]
    present = [_union(each.values()) for each in values]
    return Board(_seats(shape, masks, agree, present), agree, holders)


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
    shape: Shape, masks: Sequence[int], agree: Sequence[bool], present: Sequence[int]
) -> tuple[tuple[Seat, ...], ...]:
    slots: list[tuple[Seat, ...]] = []
    ask = 0
    for needs in shape.slots:
        seats: list[Seat] = []
        for need in needs:
            mask = masks[need.criteria]
            for number in need.constraints:
                mask &= present[number]
            agreeing = tuple(number for number in need.constraints if agree[number])
            differing = tuple(number for number in need.constraints if not agree[number])
            seats.append(Seat(ask, need.count, mask, agreeing, differing))
            ask += 1
        slots.append(tuple(seats))
    return tuple(slots)
