"""
matchAttribute: the devices of a claim agree on one attribute.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from dra_alloc.api import DeviceAttribute
from dra_alloc.api.constraints import DeviceConstraint
from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask, ClaimRow
from dra_alloc.profiles import Trait
from dra_alloc.rules.base import Context, Pick, Rule
from dra_alloc.rules.constraints.attribute_constraint import AttributeConstraint, ConstraintRule
from dra_alloc.rules.constraints.attribute_values import Scalar, ValueSet, as_scalar, describe
from dra_alloc.rules.facts import Agree, Fact, Looser


def _make(claim: ClaimRow, constraint: DeviceConstraint, context: Context) -> Rule:
    """Return the rule for one constraint of a claim, comparing scalars or lists as the allocator does."""
    profile = context.profile
    kind = MatchScalars if profile.shows(Trait.CLASSIC_LISTS) or not profile.lists else MatchLists
    return kind(claim, constraint, context)


class _Match(AttributeConstraint):
    code = "attribute-mismatch"
    __slots__ = ()

    def _common(self) -> str:
        raise NotImplementedError

    def _values(self, attribute: DeviceAttribute) -> frozenset[Scalar] | None:
        """Return the values to be had in common; None if a device with the attribute is never accepted."""
        raise NotImplementedError

    def piecewise(self, asks: Sequence[Ask]) -> bool:
        return True

    def allows(self, ask: Ask, device: DeviceRow) -> bool:
        attribute = self._source.read(ask, device)
        return attribute is not None and self._values(attribute) is not None

    def encode(self, asks: Sequence[Ask], devices: Sequence[DeviceRow]) -> Iterable[Fact]:
        concerned = [ask for ask in asks if self.concerns(ask)]
        alike, by_request = self._source.seen(concerned, devices)
        yield Agree(
            self._said,
            frozenset(ask.id for ask in concerned),
            {device: found for device, each in alike.items() if (found := self._values(each)) is not None},
            by_request={key: found for key, each in by_request.items() if (found := self._values(each)) is not None},
        )

    def _objection(self, attribute: DeviceAttribute) -> str:
        return f"{self._attribute} is {describe(attribute)}, the devices chosen before have {self._common()}"


class MatchScalars(_Match):
    """
    The first device sets the value, later ones must have it.

    A list or an empty value is accepted on the first device only, and then
    nothing matches it.

    Spec: MATCH-1, MATCH-2, MATCH-3.
    """

    spec = ("MATCH-1", "MATCH-2", "MATCH-3")
    __slots__ = ("_count", "_value")

    def __init__(self, claim: ClaimRow, constraint: DeviceConstraint, context: Context) -> None:
        super().__init__(claim, constraint, context)
        self._value: Scalar | None = None
        self._count = 0

    def add(self, ask: Ask, device: DeviceRow) -> bool:
        attribute = self._source.read(ask, device)
        if attribute is None:
            return False
        value = as_scalar(attribute)
        if self._count == 0:
            self._value = value
        elif value is None or value != self._value:
            return False
        self._count += 1
        return True

    def remove(self, ask: Ask, device: DeviceRow) -> None:
        self._count -= 1

    def _values(self, attribute: DeviceAttribute) -> frozenset[Scalar] | None:
        value = as_scalar(attribute)
        return frozenset() if value is None else frozenset((value,))

    def _common(self) -> str:
        return "no scalar value" if self._value is None else str(self._value[1])

    def violations(self, picks: Sequence[Pick]) -> Iterable[str]:
        attributes = [self._source.read(ask, device) for ask, device in picks if self.concerns(ask)]
        if None in attributes:
            yield f"a device has no attribute {self._attribute}"
            return
        values = {as_scalar(each) for each in attributes if each is not None}
        if len(values) > 1 or (len(attributes) > 1 and None in values):
            yield f"{self._attribute} differs"


class MatchLists(_Match):
    """
    The devices have at least one value of one kind in common; a scalar is a list of one.

    With a defect giving a device back does not widen the common values again.

    Spec: MATCH-1, MATCH-4, MATCH-5.
    """

    spec = ("MATCH-1", "MATCH-4", "MATCH-5")
    __slots__ = ("_restores", "_trail")

    def __init__(self, claim: ClaimRow, constraint: DeviceConstraint, context: Context) -> None:
        super().__init__(claim, constraint, context)
        self._restores = not context.profile.shows(Trait.INTERSECTION_STAYS)
        self._trail: list[ValueSet] = []

    def add(self, ask: Ask, device: DeviceRow) -> bool:
        attribute = self._source.read(ask, device)
        values = None if attribute is None else self._source.values(attribute)
        if values is None:
            return False
        if self._trail:
            kind, common = self._trail[-1]
            both = common & values[1]
            if kind != values[0] or not both:
                return False
            values = kind, both
        self._trail.append(values)
        return True

    def remove(self, ask: Ask, device: DeviceRow) -> None:
        narrowest = self._trail.pop()
        if self._trail and not self._restores:
            self._trail[-1] = narrowest

    def _values(self, attribute: DeviceAttribute) -> frozenset[Scalar] | None:
        values = self._source.values(attribute)
        return None if values is None else frozenset((values[0], value) for value in values[1])

    def encode(self, asks: Sequence[Ask], devices: Sequence[DeviceRow]) -> Iterable[Fact]:
        for fact in super().encode(asks, devices):
            yield fact
            if not self._restores and isinstance(fact, Agree) and _has_lists(fact):
                yield Looser(f"backtracking does not widen the common values of {self._attribute} again")

    def _common(self) -> str:
        return ", ".join(sorted(map(str, self._trail[-1][1]))) if self._trail else "none"

    def violations(self, picks: Sequence[Pick]) -> Iterable[str]:
        common: ValueSet | None = None
        for ask, device in picks:
            if not self.concerns(ask):
                continue
            attribute = self._source.read(ask, device)
            values = None if attribute is None else self._source.values(attribute)
            if values is None:
                yield f"{device.key} has no value of {self._attribute}"
                return
            first = common is None
            common = values if common is None else (common[0], common[1] & values[1])
            if common[0] != values[0] or not (first or common[1]):
                yield f"{self._attribute} has no value in common"
                return


def _has_lists(fact: Agree) -> bool:
    return any(len(values) > 1 for values in (*fact.values.values(), *fact.by_request.values()))


MATCH_ATTRIBUTE: Final = ConstraintRule(
    _make, {"attribute-mismatch": "matchAttribute: the devices chosen before have another value"}, form=Agree
)
