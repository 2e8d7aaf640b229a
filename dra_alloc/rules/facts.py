"""
What rules say about picks as plain facts, for engines that do not search step by step.

A rule's `allows` says which devices can be picked at all; its `encode` says
how picks depend on each other, in the few forms below. Bounds, the pruned
search and CP-SAT read nothing else.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from dra_alloc.problem.devices import DeviceRow

Values: TypeAlias = Mapping[DeviceRow, frozenset[Hashable]]
#: Values of devices that requests, known by id, see differently.
ValuesByRequest: TypeAlias = Mapping[tuple[int, DeviceRow], frozenset[Hashable]]


@dataclass(frozen=True, slots=True, eq=False)
class Dedicated:
    """
    Each device serves one pick.

    A pick with admin access may follow a pick of an earlier claim; nothing
    may follow a pick with admin access but another one for a later claim.
    """

    devices: frozenset[DeviceRow]


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """
    Picks draw on one limited amount.

    `by_pick` is charged for every pick of the device, `by_request` for every
    pick of it for that request, and `by_device` once for all its picks.
    Amounts and limit are not negative.
    """

    label: str
    limit: int
    by_pick: Mapping[DeviceRow, int] = field(default_factory=dict)
    by_request: Mapping[tuple[int, DeviceRow], int] = field(default_factory=dict)
    by_device: Mapping[DeviceRow, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Agree:
    """
    The devices picked for these requests have a value in common.

    A device without a value stands alone: nothing else is picked with it. A
    device that requests see differently is in `by_request` instead of `values`.
    `of_claim` says that a constraint of a claim is behind it, which can end the
    search where an All request cannot keep to it.
    """

    label: str
    asks: frozenset[int]
    values: Values
    of_claim: bool = True
    by_request: ValuesByRequest = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Differ:
    """
    No two devices picked for these requests have a value in common.

    A device without a value can only be picked before all others. A device
    that requests see differently is in `by_request` instead of `values`.
    """

    label: str
    asks: frozenset[int]
    values: Values
    by_request: ValuesByRequest = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """A pick that all rules allow ends the search with an error if its request has got so many devices before."""

    after: Mapping[DeviceRow, int]


@dataclass(frozen=True, slots=True)
class Looser:
    """
    The other facts allow more than the rule does: they refute, but do not find upstream's answer.

    `leaks` says that a device it refuses keeps values of constraints.
    """

    why: str
    leaks: bool = False


@dataclass(frozen=True, slots=True)
class Unmodelled:
    """The rule's effect here cannot be said in facts at all."""

    why: str


Fact: TypeAlias = Dedicated | Draw | Agree | Differ | Ends | Looser | Unmodelled
