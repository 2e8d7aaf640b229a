"""
A question as numbers: devices are bits, rules are masks and limits.

The bounds, the pruned search and CP-SAT work on this table instead of on the
rules. It is built from the facts that rules state, after the ordinary search
has shown that the question is not easy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Flag, auto

from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask

#: Index of a draw, and an amount.
Charge = tuple[int, int]


class Knows(Flag):
    """
    What only some engines know of.

    STOPS are devices that end the search, BY_REQUEST values of a device that
    depend on the request.
    """

    STOPS = auto()
    BY_REQUEST = auto()
    NOTHING = 0
    ALL = STOPS | BY_REQUEST


class NotModelled(Exception):
    """The question cannot be put into a table; only the search itself can answer it."""


@dataclass(frozen=True, slots=True, eq=False)
class AskRow:
    """
    One request, or one alternative of it.

    Requests of equal `kind` are interchangeable. `usable` are the devices it
    could take were they the only picks, `reserving` those that get as far as
    having their counters reserved; `recorded` those that All has to take,
    else None; `possible` is False if All cannot take one of them. Coming to
    one of the devices `stopping` for it can end the search with an error: by
    looking at it, or where it is recorded because it does not go with earlier
    picks. All holds the devices `constrained` against its constraints, which
    refuse those that are `unfit` whatever was picked. A pick of a device that
    `ends` has ends the search if the request has got that many before. Those
    of the `stopping` that are `reading` do so as the first constraint reads a
    derived attribute of theirs, after all that comes before has let them pass.
    """

    ask: Ask
    kind: int
    count: int
    usable: int
    reserving: int
    recorded: tuple[int, ...] | None
    possible: bool
    agree: tuple[int, ...]
    differ: tuple[int, ...]
    stopping: int = 0
    constrained: int = 0
    unfit: int = 0
    ends: Mapping[int, int] = field(default_factory=dict)
    reading: int = 0

    @property
    def id(self) -> int:
        """Return the id of the request or alternative."""
        return self.ask.id

    @property
    def admin(self) -> bool:
        """Return whether it asks for admin access."""
        return self.ask.admin


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """One request of one claim, to be served by exactly one of its alternatives."""

    claim: int
    request: int
    asks: tuple[AskRow, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ValueRow:
    """
    An attribute constraint.

    `values` holds a mask of value ids per device, `holders` a mask of devices
    per value id, `alone` the devices without a value. `of_claim` is False for
    what holds without any constraint of a claim. A device that requests see
    differently has its values `by_request`, by request id and device.
    """

    label: str
    asks: frozenset[int]
    values: tuple[int, ...]
    holders: tuple[int, ...]
    alone: int
    of_claim: bool = True
    by_request: Mapping[tuple[int, int], int] = field(default_factory=dict)

    def of(self, ask: int, device: int) -> int:
        """Return the values of the device as the request sees it."""
        return self.by_request.get((ask, device), self.values[device]) if self.by_request else self.values[device]

    def is_alone(self, ask: int, device: int) -> bool:
        """Return whether the request sees the device without a value."""
        return bool(self.alone >> device & 1) or self.by_request.get((ask, device)) == 0

    @property
    def any_alone(self) -> bool:
        """Return whether any device is without a value."""
        return bool(self.alone) or 0 in self.by_request.values()


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """
    The whole question.

    `dedicated` masks the devices that serve one pick. `limits` belong to the
    draws; `pick_charges` and `device_charges` hold what a device draws with
    every pick and once, `request_charges` what (request id, device) draws.
    `reuses` lets one request pick a shareable device again. `looser` says why
    the table allows more than upstream: then it refutes, but its first answer
    need not be upstream's; `leaks` that a refused device may keep values of
    constraints.
    """

    slots: tuple[Slot, ...]
    devices: tuple[DeviceRow, ...]
    dedicated: int
    limits: tuple[int, ...]
    labels: tuple[str, ...]
    pick_charges: tuple[tuple[Charge, ...], ...]
    device_charges: tuple[tuple[Charge, ...], ...]
    request_charges: Mapping[tuple[int, int], tuple[Charge, ...]]
    agree: tuple[ValueRow, ...]
    differ: tuple[ValueRow, ...]
    reuses: bool
    looser: tuple[str, ...]
    leaks: bool = False

    @property
    def exact(self) -> bool:
        """Return whether the first answer of the table is the answer of the search."""
        return not self.looser

    @property
    def stops(self) -> bool:
        """Return whether the search could come to an error; then its first answer may be that error."""
        return any(ask.stopping or ask.ends for ask in self.asks)

    @property
    def plain(self) -> bool:
        """Return whether any engine knows all that is in it."""
        return not (self.stops or any(row.by_request for row in (*self.agree, *self.differ)))

    @property
    def asks(self) -> Iterable[AskRow]:
        """Return all requests and alternatives, in order."""
        return (ask for slot in self.slots for ask in slot.asks)


def bits(mask: int) -> Iterable[int]:
    """Yield the positions of the bits set, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
