"""
Claims reduced to what a search depends on.

Claims of equal shape get the same answer on devices that look the same to
them, so each answer is searched for once. Only questions without side effects
have a shape: upstream's defects, shared devices and admin access stay with
the search itself.

Spec: DIRECT-1.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dra_alloc.api.constraints import Stated
from dra_alloc.cel import CompileError, Program
from dra_alloc.cel.reads import Read
from dra_alloc.limits import ALLOCATION_RESULTS_MAX
from dra_alloc.problem.requests import Ask, ClaimRow
from dra_alloc.profiles import Feature, Profile, Trait
from dra_alloc.rules import Rule
from dra_alloc.solve.columns import AMOUNTS

#: More picks than this are left to the search, which needs no recursion.
_MOST_PICKS: Final = 96


@dataclass(frozen=True, slots=True)
class Need:
    """
    One request, or one alternative of it: how many devices, of which criteria, under which constraints.

    `every`: all devices of these criteria, whatever the count says.
    """

    criteria: int
    count: int
    constraints: tuple[int, ...]
    every: bool = False


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
    constraints: tuple[Stated, ...]
    reads: tuple[Read | str, ...]

    @property
    def alike(self) -> tuple[Hashable, ...]:
        """Return for each constraint what it states, and of which needs: where that is the same, so is what it says."""
        return tuple([(stated, tuple(self._under(number))) for number, stated in enumerate(self.constraints)])

    def _under(self, number: int) -> Iterator[tuple[tuple[int, int, bool], ...]]:
        """Yield what each request under a constraint needs."""
        for slot in self.slots:
            needs = tuple([(need.criteria, need.count, need.every) for need in slot if number in need.constraints])
            if needs:
                yield needs


def shape_of(
    rows: Sequence[ClaimRow], constraints: Sequence[Rule], profile: Profile, compiled: Callable[[str], Program]
) -> Shape | None:
    """
    Return the shape of admitted claims, or None if they have none, as with allocators of another build.

    `constraints` are the rules of their constraints, in order.
    """
    if profile.shows(Trait.POOLS_AS_SEEN):
        return None
    asks = [ask for row in rows for request in row.requests for ask in request.asks]
    if not asks or any(ask.admin or (ask.count < 1 and not ask.all_devices) for ask in asks) or _may_overflow(rows):
        return None
    if any(ask.all_devices for row in rows for request in row.requests if request.prioritized for ask in request.asks):
        return None
    if profile.shows(Trait.ALL_MISFIT_FATAL) and any(
        ask.all_devices and rule.concerns(ask) for ask in asks for rule in constraints
    ):
        return None
    if profile.on(Feature.DERIVED_ATTRIBUTES) and any(ask.wire.derived_attributes for ask in asks):
        return None
    if any(rule.judges_all or not rule.piecewise(asks) for rule in constraints):
        return None
    stated = tuple(each.stated for row in rows for each in row.wire.spec.devices.constraints if each.stated is not None)
    try:
        compared = {Read.of_attribute(each.attribute) for each in stated}
        reads = tuple(sorted({*_reads(asks, compiled), *compared}, key=str))
    except (CompileError, ValueError):
        return None
    concerned = [frozenset(ask.id for ask in asks if rule.concerns(ask)) for rule in constraints]
    numbers: dict[Hashable, int] = {}
    slots = tuple(
        tuple(_need(ask, numbers, concerned) for ask in request.asks) for row in rows for request in row.requests
    )
    return Shape(slots, tuple(numbers), stated, reads)


def _may_overflow(rows: Sequence[ClaimRow]) -> bool:
    """Return whether a claim could come to its limit of results, or all of them to ours."""
    most = [sum(max(ask.count for ask in request.asks) for request in row.requests) for row in rows]
    return max(most) > ALLOCATION_RESULTS_MAX or sum(most) > _MOST_PICKS


def _reads(asks: Sequence[Ask], compiled: Callable[[str], Program]) -> Iterator[Read | str]:
    for ask in asks:
        for selector in (*ask.device_class.spec.selectors, *ask.wire.selectors):
            if selector.cel is None:
                raise ValueError("a selector that is no CEL expression")
            yield from compiled(selector.cel.expression).reads
        if ask.capacity:
            yield AMOUNTS


def _need(ask: Ask, numbers: dict[Hashable, int], concerned: Sequence[frozenset[int]]) -> Need:
    number = numbers.setdefault(_criteria(ask), len(numbers))
    constraints = tuple(index for index, ids in enumerate(concerned) if ask.id in ids)
    return Need(number, ask.count, constraints, ask.all_devices)


def chosen_by(ask: Ask) -> Hashable:
    """Return what decides, whatever amounts are asked for, whether the request could have a device at all."""
    selectors = tuple(each.cel.expression for each in ask.wire.selectors if each.cel is not None)
    tolerations = tuple((each.key, each.operator, each.value, each.effect) for each in ask.tolerations)
    return ask.class_name, selectors, tolerations, ask.all_devices


def _criteria(ask: Ask) -> Hashable:
    """Return what decides it all, as a comparable value."""
    return chosen_by(ask), tuple((name, amount.__reduce__()[1]) for name, amount in ask.capacity)
