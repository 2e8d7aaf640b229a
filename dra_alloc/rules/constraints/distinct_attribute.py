"""
distinctAttribute: the devices of a claim differ in one attribute.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import ClassVar, Final

from dra_alloc.api import DeviceAttribute
from dra_alloc.api.constraints import DeviceConstraint
from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask, ClaimRow
from dra_alloc.profiles import Trait
from dra_alloc.rules.base import Context, Pick, Rule
from dra_alloc.rules.constraints.attribute_constraint import AttributeConstraint, ConstraintRule
from dra_alloc.rules.constraints.attribute_values import Scalar, as_scalar, describe
from dra_alloc.rules.facts import Differ, Fact, Looser, Unmodelled

#: Kind of value -> the member that holds one.
_MEMBERS: Final[Mapping[str, str]] = {"string": "string", "int": "int_", "bool": "bool_", "version": "version"}


def _make(claim: ClaimRow, constraint: DeviceConstraint, context: Context) -> Rule:
    """Return the rule for one constraint of a claim, remembering all devices or one per request."""
    shows = context.profile.shows
    if shows(Trait.DISTINCT_BY_IDENTITY):
        return DistinctByIdentity(claim, constraint, context)
    return (DistinctPerRequest if shows(Trait.DISTINCT_FORGETS) else Distinct)(claim, constraint, context)


class Distinct(AttributeConstraint):
    """
    No two devices share a value; values of different kinds are distinct.

    Spec: DISTINCT-1, DISTINCT-2, DISTINCT-3.
    """

    code = "attribute-not-distinct"
    spec: ClassVar[tuple[str, ...]] = ("DISTINCT-1", "DISTINCT-2", "DISTINCT-3")
    __slots__ = ("_lists", "_taken")

    def __init__(self, claim: ClaimRow, constraint: DeviceConstraint, context: Context) -> None:
        super().__init__(claim, constraint, context)
        self._lists = context.profile.lists and not context.profile.shows(Trait.CLASSIC_LISTS)
        self._taken: list[DeviceAttribute] = []

    def add(self, ask: Ask, device: DeviceRow) -> bool:
        attribute = self._source.read(ask, device)
        if attribute is None or not self._differs(attribute, self._taken):
            return False
        self._taken.append(attribute)
        return True

    def remove(self, ask: Ask, device: DeviceRow) -> None:
        self._taken.pop()

    def _differs(self, attribute: DeviceAttribute, others: Collection[DeviceAttribute]) -> bool:
        if not self._lists:
            value = as_scalar(attribute)
            if value is None:
                return not others
            member = _MEMBERS[value[0]]
            return all(getattr(other, member) != value[1] for other in others)
        values = self._source.values(attribute)
        if values is None:
            return False
        for other in others:
            theirs = self._source.values(other)
            if theirs is not None and theirs[0] == values[0] and theirs[1] & values[1]:
                return False
        return True

    def allows(self, ask: Ask, device: DeviceRow) -> bool:
        attribute = self._source.read(ask, device)
        return attribute is not None and self._differs(attribute, ())

    def encode(self, asks: Sequence[Ask], devices: Sequence[DeviceRow]) -> Iterable[Fact]:
        alike, by_request = self._source.seen([ask for ask in asks if self.concerns(ask)], devices)
        every = (*alike.values(), *by_request.values())
        if not self._lists and any(len(_scalars(each)) > 1 for each in every):
            yield Unmodelled(f"{self._attribute} has several values at once")
            return
        if self._lists and any(found is not None and not found[1] for found in map(self._source.values, every)):
            yield Unmodelled(f"{self._attribute} is a list of nothing, which differs from all")
            return
        yield Differ(
            self._said,
            self._concerned(asks),
            {device: self._values(each) for device, each in alike.items()},
            {key: self._values(each) for key, each in by_request.items()},
        )

    def _concerned(self, asks: Sequence[Ask]) -> frozenset[int]:
        return frozenset(ask.id for ask in asks if self.concerns(ask))

    def _values(self, attribute: DeviceAttribute) -> frozenset[Scalar]:
        if not self._lists:
            return frozenset(_scalars(attribute))
        values = self._source.values(attribute)
        return frozenset() if values is None else frozenset((values[0], value) for value in values[1])

    def piecewise(self, asks: Sequence[Ask]) -> bool:
        return True

    def _objection(self, attribute: DeviceAttribute) -> str:
        return f"{self._attribute} is {describe(attribute)}, as that of a device chosen before"

    def _not_different(
        self, attribute: DeviceAttribute, device: DeviceRow, other: tuple[DeviceAttribute, DeviceRow] | None
    ) -> str:
        """Return how a device's value does not differ, from that of another if there is one."""
        told = f"{self._attribute} of {device.key} does not differ"
        if other is None:
            return told
        value = describe(attribute)
        if describe(other[0]) == value:
            return f"{other[1].key} and {device.key} both have {self._attribute} {value}"
        return f"{told} from that of {other[1].key}"

    def violations(self, picks: Sequence[Pick]) -> Iterable[str]:
        seen: list[tuple[DeviceAttribute, DeviceRow]] = []
        for ask, device in picks:
            if self.concerns(ask):
                attribute = self._source.read(ask, device)
                if attribute is None:
                    yield f"{device.key} has no {self._attribute}"
                    return
                if not self._differs(attribute, [other for other, _ in seen]):
                    alike = [(value, other) for value, other in seen if not self._differs(attribute, [value])]
                    yield self._not_different(attribute, device, alike[0] if alike else None)
                    return
                seen.append((attribute, device))


def _scalars(attribute: DeviceAttribute) -> list[Scalar]:
    values = (
        ("string", attribute.string),
        ("int", attribute.int_),
        ("bool", attribute.bool_),
        ("version", attribute.version),
    )
    return [(kind, value) for kind, value in values if value is not None]


class DistinctPerRequest(Distinct):
    """
    The defect: one value per request is remembered, and giving a device back forgets its request's value.

    Spec: DISTINCT-4.
    """

    spec = (*Distinct.spec, "DISTINCT-4")
    __slots__ = ("_by_request", "_count", "_named_once")

    def __init__(self, claim: ClaimRow, constraint: DeviceConstraint, context: Context) -> None:
        super().__init__(claim, constraint, context)
        self._named_once = len({request.name for request in claim.requests}) == len(claim.requests)
        self._by_request: dict[str, DeviceAttribute] = {}
        self._count = 0

    @property
    def sound(self) -> bool:
        return False

    def add(self, ask: Ask, device: DeviceRow) -> bool:
        attribute = self._source.read(ask, device)
        if attribute is None:
            return False
        if self._count and not self._differs(attribute, self._by_request.values()):
            return False
        self._by_request[ask.request_name] = attribute
        self._count += 1
        return True

    def allows(self, ask: Ask, device: DeviceRow) -> bool:
        return self._source.read(ask, device) is not None

    def encode(self, asks: Sequence[Ask], devices: Sequence[DeviceRow]) -> Iterable[Fact]:
        # Where no value comes twice, it does not matter what is forgotten.
        if self.piecewise(asks) or self._never_equal([ask for ask in asks if self.concerns(ask)], devices):
            yield from super().encode(asks, devices)
        else:
            yield Looser(f"{self._said} remembers one value per request")

    def piecewise(self, asks: Sequence[Ask]) -> bool:
        # With one device a request nothing is forgotten.
        return self._named_once and all(ask.count <= 1 for ask in asks if self.concerns(ask))

    def _never_equal(self, asks: Sequence[Ask], devices: Sequence[DeviceRow]) -> bool:
        """Return whether no two devices that the requests may take have a value in common, whoever takes them."""
        alike, by_request = self._source.seen(asks, devices)
        if by_request:
            return False
        seen: set[Scalar] = set()
        for device, attribute in alike.items():
            if not any(self._source.selects(ask, device) for ask in asks):
                continue
            values = self._values(attribute)
            if len(values) != 1 or device.shareable or not seen.isdisjoint(values):
                return False
            seen |= values
        return True

    def remove(self, ask: Ask, device: DeviceRow) -> None:
        self._by_request.pop(ask.request_name, None)
        self._count -= 1


class DistinctByIdentity(DistinctPerRequest):
    """
    A further defect: values are equal only if they are one and the same, that of one device.

    Spec: OLD-6.
    """

    spec = (*DistinctPerRequest.spec, "OLD-6")
    __slots__ = ("_shares",)

    def __init__(self, claim: ClaimRow, constraint: DeviceConstraint, context: Context) -> None:
        super().__init__(claim, constraint, context)
        self._lists = False
        self._shares = context.profile.shares

    def piecewise(self, asks: Sequence[Ask]) -> bool:
        return False

    def _differs(self, attribute: DeviceAttribute, others: Collection[DeviceAttribute]) -> bool:
        if as_scalar(attribute) is None:
            return not others
        return all(other is not attribute for other in others)

    def encode(self, asks: Sequence[Ask], devices: Sequence[DeviceRow]) -> Iterable[Fact]:
        """Return that each value is distinct; what is forgotten matters only where one can come again."""
        concerned = [ask for ask in asks if self.concerns(ask)]
        alike, by_request = self._source.seen(concerned, devices)
        again = self._shares and any(device.shareable for device in alike)
        alone = any(as_scalar(attribute) is None for attribute in alike.values())
        if by_request or (not super().piecewise(asks) and (again or alone)):
            yield Looser(f"{self._said} remembers one value per request")
            return
        values = {
            device: frozenset[Hashable]() if as_scalar(attribute) is None else frozenset((id(attribute),))
            for device, attribute in alike.items()
        }
        yield Differ(self._said, self._concerned(asks), values)


DISTINCT_ATTRIBUTE: Final = ConstraintRule(
    _make,
    {"attribute-not-distinct": "distinctAttribute: a device chosen before has the same value"},
    known=lambda profile: not profile.shows(Trait.NO_DISTINCT),
    form=Differ,
)
