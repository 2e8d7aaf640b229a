"""
Claims reduced to what a search depends on.

Claims of equal shape get the same answer on devices that look the same to
them, so each answer is searched for once. Only questions without side effects
have a shape: upstream's defects, shared devices, admin access and
allocationMode All stay with the search itself.

Spec: DIRECT-1.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dra_alloc.api import DeviceConstraint
from dra_alloc.cel import CompileError, Selector
from dra_alloc.cel.reads import Read
from dra_alloc.limits import ALLOCATION_RESULTS_MAX
from dra_alloc.problem.requests import Ask, ClaimRow
from dra_alloc.profiles import Feature, Profile, Trait
from dra_alloc.rules import constraint_kind
from dra_alloc.solve.columns import AMOUNTS

__all__ = ["Alike", "Need", "Shape", "shape_of"]

#: More picks than this are left to the search, which needs no recursion.
_MOST_PICKS: Final = 96


@dataclass(frozen=True, slots=True)
class Need:
    """One request, or one alternative of it: how many devices, of which criteria, under which constraints."""

    criteria: int
    count: int
    constraints: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Alike:
    """An attribute constraint: all devices have the same value, or no two of them have."""

    attribute: str
    agree: bool


@dataclass(frozen=True, slots=True)
class Shape:
    """
    What claims ask for, without names.

    `slots` holds the alternatives of each request in order, all claims
    together. `criteria` are what devices are judged by, as comparable values;
    `reads` is all that they and the constraints can see of a device.
    """

    slots: tuple[tuple[Need, ...], ...]
    criteria: tuple[Hashable, ...]
    constraints: tuple[Alike, ...]
    reads: tuple[Read | str, ...]


def shape_of(rows: Sequence[ClaimRow], profile: Profile, compiled: Callable[[str], Selector]) -> Shape | None:
    """Return the shape of admitted claims, or None if they have none, as with allocators of another build."""
    if profile.shows(Trait.POOLS_AS_SEEN):
        return None
    asks = [ask for row in rows for request in row.requests for ask in request.asks]
    if not asks or any(ask.all_devices or ask.admin or ask.count < 1 for ask in asks) or _may_overflow(rows):
        return None
    if profile.on(Feature.DERIVED_ATTRIBUTES) and any(ask.wire.derived_attributes for ask in asks):
        return None
    stated = [(row, constraint) for row in rows for constraint in row.wire.spec.devices.constraints]
    constraints = [_alike(constraint, profile) for _, constraint in stated]
    concerned = [frozenset(ask.id for ask in asks if _concerns(row, each, ask)) for row, each in stated]
    if profile.shows(Trait.DISTINCT_FORGETS):
        for alike, ids in zip(constraints, concerned, strict=True):
            if not alike.agree and not _remembers_all(rows, [ask for ask in asks if ask.id in ids]):
                return None
    try:
        reads = tuple(sorted({*_reads(asks, compiled), *map(_read_of, constraints)}, key=str))
    except (CompileError, ValueError):
        return None
    numbers: dict[Hashable, int] = {}
    slots = tuple(
        tuple(_need(ask, numbers, concerned) for ask in request.asks) for row in rows for request in row.requests
    )
    return Shape(slots, tuple(numbers), tuple(constraints), reads)


def _may_overflow(rows: Sequence[ClaimRow]) -> bool:
    """Return whether a claim could come to its limit of results, or all of them to ours."""
    most = [sum(max(ask.count for ask in request.asks) for request in row.requests) for row in rows]
    return max(most) > ALLOCATION_RESULTS_MAX or sum(most) > _MOST_PICKS


def _alike(constraint: DeviceConstraint, profile: Profile) -> Alike:
    if constraint_kind(constraint, profile) == "matchAttribute":
        return Alike(constraint.match_attribute or "", agree=True)
    return Alike(constraint.distinct_attribute or "", agree=False)


def _concerns(row: ClaimRow, constraint: DeviceConstraint, ask: Ask) -> bool:
    return ask.claim == row.index and ask.named_by(constraint.requests)


def _remembers_all(rows: Sequence[ClaimRow], asks: Sequence[Ask]) -> bool:
    """Return whether remembering one value per request name loses none."""
    unique = all(len({request.name for request in row.requests}) == len(row.requests) for row in rows)
    return unique and all(ask.count == 1 for ask in asks)


def _reads(asks: Sequence[Ask], compiled: Callable[[str], Selector]) -> Iterator[Read | str]:
    for ask in asks:
        for selector in (*ask.device_class.spec.selectors, *ask.wire.selectors):
            if selector.cel is None:
                raise ValueError("a selector that is no CEL expression")
            yield from compiled(selector.cel.expression).reads
        if ask.capacity:
            yield AMOUNTS


def _read_of(constraint: Alike) -> Read:
    domain, slash, name = constraint.attribute.partition("/")
    if not slash:
        raise ValueError("an attribute without a domain")
    return Read("attribute", domain, name)


def _need(ask: Ask, numbers: dict[Hashable, int], concerned: Sequence[frozenset[int]]) -> Need:
    number = numbers.setdefault(_criteria(ask), len(numbers))
    return Need(number, ask.count, tuple(index for index, ids in enumerate(concerned) if ask.id in ids))


def _criteria(ask: Ask) -> Hashable:
    """Return what decides whether the request could have a device at all, as a comparable value."""
    selectors = tuple(each.cel.expression for each in ask.wire.selectors if each.cel is not None)
    tolerations = tuple((each.key, each.operator, each.value, each.effect) for each in ask.tolerations)
    capacity = tuple((name, amount.__reduce__()[1]) for name, amount in ask.capacity)
    return ask.class_name, selectors, tolerations, capacity
