"""
distinctAttribute: the devices of a claim differ in one attribute.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from dra_alloc.api import DeviceAttribute, DeviceConstraint
from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.profiles import Profile, Trait
from dra_alloc.rules.attribute_values import as_scalar, as_set, describe
from dra_alloc.rules.base import Pick, Reason, Rule

__all__ = ["Distinct", "DistinctPerRequest", "distinct_attribute"]


def distinct_attribute(claim: int, constraint: DeviceConstraint, profile: Profile) -> Rule:
    """Return the rule for one constraint of a claim, remembering all devices or one per request."""
    kind = DistinctPerRequest if profile.shows(Trait.DISTINCT_FORGETS) else Distinct
    return kind(claim, constraint, lists=profile.lists and not profile.shows(Trait.CLASSIC_LISTS))


class Distinct(Rule):
    """
    No two devices share a value; values of different kinds are distinct.

    Spec: DISTINCT-1, DISTINCT-2, DISTINCT-3.
    """

    code = "attribute-not-distinct"
    constrains = True
    spec: ClassVar[tuple[str, ...]] = ("DISTINCT-1", "DISTINCT-2", "DISTINCT-3")
    __slots__ = ("_attribute", "_claim", "_lists", "_names", "_taken")

    def __init__(self, claim: int, constraint: DeviceConstraint, *, lists: bool) -> None:
        self._claim = claim
        self._names = constraint.requests
        self._attribute = constraint.distinct_attribute or ""
        self._lists = lists
        self._taken: list[DeviceAttribute] = []

    def concerns(self, ask: Ask) -> bool:
        return ask.claim == self._claim and ask.named_by(self._names)

    def add(self, ask: Ask, device: DeviceRow) -> bool:
        attribute = device.attribute(self._attribute)
        if attribute is None or (self._taken and not self._differs(attribute, self._taken)):
            return False
        self._taken.append(attribute)
        return True

    def remove(self, ask: Ask, device: DeviceRow) -> None:
        self._taken.pop()

    def _differs(self, attribute: DeviceAttribute, others: Iterable[DeviceAttribute]) -> bool:
        if not self._lists:
            value = as_scalar(attribute)
            return all(value is not None and value != _same_kind(other, value[0]) for other in others)
        values = as_set(attribute)
        if values is None:
            return False
        for other in others:
            theirs = as_set(other)
            if theirs is not None and theirs[0] == values[0] and theirs[1] & values[1]:
                return False
        return True

    def why(self, ask: Ask, device: DeviceRow) -> Reason:
        attribute = device.attribute(self._attribute)
        if attribute is None:
            return Reason("attribute-missing", f"has no attribute {self._attribute}, which distinctAttribute needs")
        return Reason(self.code, f"{self._attribute} {describe(attribute)} is already picked")

    def violations(self, picks: Sequence[Pick]) -> Iterable[str]:
        seen: list[DeviceAttribute] = []
        for ask, device in picks:
            if self.concerns(ask):
                attribute = device.attribute(self._attribute)
                if attribute is None or (seen and not self._differs(attribute, seen)):
                    yield f"{self._attribute} is missing or not distinct on {device.key}"
                    return
                seen.append(attribute)


def _same_kind(attribute: DeviceAttribute, kind: str) -> tuple[str, str | int | bool] | None:
    values = {
        "string": attribute.string,
        "int": attribute.int_,
        "bool": attribute.bool_,
        "version": attribute.version,
    }
    value = values[kind]
    return None if value is None else (kind, value)


class DistinctPerRequest(Distinct):
    """
    The defect: one value per request is remembered, and giving a device back forgets its request's value.

    Spec: DISTINCT-4.
    """

    spec = (*Distinct.spec, "DISTINCT-4")
    __slots__ = ("_by_request", "_count")

    def __init__(self, claim: int, constraint: DeviceConstraint, *, lists: bool) -> None:
        super().__init__(claim, constraint, lists=lists)
        self._by_request: dict[str, DeviceAttribute] = {}
        self._count = 0

    @property
    def sound(self) -> bool:
        return False

    def add(self, ask: Ask, device: DeviceRow) -> bool:
        attribute = device.attribute(self._attribute)
        if attribute is None:
            return False
        if self._count and not self._differs(attribute, self._by_request.values()):
            return False
        self._by_request[ask.request_name] = attribute
        self._count += 1
        return True

    def remove(self, ask: Ask, device: DeviceRow) -> None:
        self._by_request.pop(ask.request_name, None)
        self._count -= 1
