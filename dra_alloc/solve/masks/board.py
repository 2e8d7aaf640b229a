"""
The devices of a node as one shape of claims sees them: bit masks.

A part covers one slice. Slices that look alike to the shape share it, and
nodes with the same parts share their board, with the answers found on it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.rules import Rule, SearchStopped
from dra_alloc.rules.constraints.attribute_values import as_scalar, as_set
from dra_alloc.solve.masks.shape import Alike, Shape
from dra_alloc.solve.outcome import Work

__all__ = ["Board", "Choice", "Judge", "Part", "Seat", "make_part", "put_together"]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """
    One slice: `masks` per criteria, and per constraint which devices have a value, by value.

    Devices that stand alone have an entry without a value: see :class:`Alike`.
    """

    width: int
    masks: tuple[int, ...]
    values: tuple[tuple[tuple[Hashable, int], ...], ...]


class Seat(NamedTuple):
    """One request, or one alternative of it, on a board: the devices it could have, and its constraints."""

    ask: int
    wanted: int
    mask: int
    agree: tuple[int, ...]
    differ: tuple[int, ...]


class Choice(NamedTuple):
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

    `holders` gives for a constraint and a device's bit the devices with the
    same value; zero for one that stands alone. `relevant` masks the devices
    that matter at all. `answers` remembers, per mask of busy devices, what the
    search found; it is part of the engine.
    """

    __slots__ = ("answers", "constraints", "holders", "relevant", "slots")

    def __init__(
        self, slots: tuple[tuple[Seat, ...], ...], constraints: tuple[Alike, ...], holders: Sequence[Mapping[int, int]]
    ) -> None:
        self.slots = slots
        self.constraints = constraints
        self.holders = tuple(holders)
        self.relevant = 0
        for slot in slots:
            for seat in slot:
                self.relevant |= seat.mask
        self.answers: dict[int, tuple[Choice, Work]] = {}


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
    devices: Sequence[DeviceRow], special: Sequence[bool], shape: Shape, judges: Sequence[Judge], *, lists: bool
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
        eligible = [any(mask >> index & 1 for mask in masks) for index in range(len(devices))]
        usable = [device if able else None for device, able in zip(devices, eligible, strict=True)]
        values = tuple(_values(each, usable, lists) for each in shape.constraints)
    except (_Special, SearchStopped):
        return None
    return Part(len(devices), tuple(masks), values)


def _values(constraint: Alike, devices: Sequence[DeviceRow | None], lists: bool) -> tuple[tuple[Hashable, int], ...]:
    """
    Return the devices by value.

    Raises: _Special where a device has several values, or may only come first.
    """
    found: dict[Hashable, int] = {}
    for index, device in enumerate(devices):
        attribute = None if device is None else device.attribute(constraint.attribute)
        if attribute is None:
            continue
        scalars = (attribute.string, attribute.int_, attribute.bool_, attribute.version)
        if sum(value is not None for value in scalars) > 1:
            raise _Special
        value: Hashable
        if lists:
            values = as_set(attribute)
            if values is None and constraint.agree:
                continue
            if values is None or len(values[1]) > 1:
                raise _Special
            value = values
        else:
            value = as_scalar(attribute)
            if value is None and not constraint.agree:
                raise _Special
        found[value] = found.get(value, 0) | 1 << index
    return tuple(found.items())


def put_together(parts: Sequence[Part], shape: Shape) -> Board:
    """Return the board of slices in the order in which their devices are tried."""
    masks = [0] * len(shape.criteria)
    values: list[dict[Hashable, int]] = [{} for _ in shape.constraints]
    offset = 0
    for part in parts:
        for number, mask in enumerate(part.masks):
            masks[number] |= mask << offset
        for number, held in enumerate(part.values):
            for value, mask in held:
                values[number][value] = values[number].get(value, 0) | mask << offset
        offset += part.width
    holders = [_holders(each) for each in values]
    present = [_union(each.values()) for each in values]
    return Board(_seats(shape, masks, present), shape.constraints, holders)


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


def _seats(shape: Shape, masks: Sequence[int], present: Sequence[int]) -> tuple[tuple[Seat, ...], ...]:
    slots: list[tuple[Seat, ...]] = []
    ask = 0
    for needs in shape.slots:
        seats: list[Seat] = []
        for need in needs:
            mask = masks[need.criteria]
            for number in need.constraints:
                mask &= present[number]
            agree = tuple(number for number in need.constraints if shape.constraints[number].agree)
            differ = tuple(number for number in need.constraints if not shape.constraints[number].agree)
            seats.append(Seat(ask, need.count, mask, agree, differ))
            ask += 1
        slots.append(tuple(seats))
    return tuple(slots)
