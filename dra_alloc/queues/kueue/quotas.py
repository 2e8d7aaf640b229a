"""
Quotas as Kueue's objects have them: groups of resources with their flavors, and what its webhooks refuse of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dra_alloc.api import Quantity
from dra_alloc.api.amounts.text import Format
from dra_alloc.errors import in_brief
from dra_alloc.pods.amounts import CPU
from dra_alloc.pods.workloads.reading import value_at
from dra_alloc.queues.ledger import Grant, Key
from dra_alloc.queues.reading import ObjectReading

_LIMITS: Final = ("nominalQuota", "borrowingLimit", "lendingLimit")


@dataclass(frozen=True, slots=True)
class ResourceGroup:
    """Resources that are all taken from one of these flavors, tried in this order."""

    resources: tuple[str, ...]
    flavors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KueueReading(ObjectReading):
    """One object of Kueue under way; amounts are in its units, and the first of a resource says how it is written."""

    name: str
    formats: dict[str, Format]
    notes: list[str]

    def amount(self, path: str, resource: str) -> int | None:
        """Return an amount of a resource."""
        quantity = self.quantity(path)
        if quantity is None:
            return None
        self.formats.setdefault(resource, quantity.format)
        return amount_units(resource, quantity)

    def groups(
        self, parents: Sequence[str], *, lends_all: bool
    ) -> Iterator[tuple[ResourceGroup, Mapping[Key, Grant[int]]]]:
        """
        Yield groups with what they grant; `parents` are where the object says what is above it.

        Without `lends_all` no more is lent than the nominal quota.

        Spec: KUEUE-45.
        """
        alone = not any(self.text(each) for each in parents)
        known: set[tuple[str, str]] = set()
        for at in self.places("spec.resourceGroups"):
            covered = self.texts(f"{at}.coveredResources")
            for number, each in enumerate(covered):
                self._once(f"{at}.coveredResources[{number}]", "resource", each, known)
            grants: dict[Key, Grant[int]] = {}
            flavors = list(self.places(f"{at}.flavors"))
            for place in flavors:
                self._once(f"{place}.name", "flavor", self.text(f"{place}.name"), known)
                self._flavor(place, covered, grants)
            for path, limits in self._limits(flavors, grants):
                self._look_at(path, limits, alone=alone, lends_all=lends_all)
            yield ResourceGroup(covered, tuple(self.text(f"{each}.name") for each in flavors)), grants

    def _once(self, path: str, what: str, name: str, known: set[tuple[str, str]]) -> None:
        if (what, name) in known:
            self.complain(path, f"{what} {in_brief(name)} is there before")
        known.add((what, name))

    def _flavor(self, at: str, covered: Sequence[str], grants: dict[Key, Grant[int]]) -> None:
        """Read the quotas of a flavor, which has those of all resources of its group, in their order."""
        here = list(self.places(f"{at}.resources"))
        names = [self.text(f"{each}.name") for each in here]
        for place, resource in zip(here, names, strict=True):
            if resource not in covered:
                self.complain(f"{place}.name", f"{in_brief(resource) or 'a resource'} is not among coveredResources")
            if value_at(self.body, f"{place}.nominalQuota") is None:
                self.complain(f"{place}.nominalQuota", "is missing")
            nominal, most, lends = (self.amount(f"{place}.{each}", resource) for each in _LIMITS)
            grants[self.text(f"{at}.name"), resource] = Grant(nominal or 0, most, lends)
        if set(names) <= set(covered) and names != list(covered):
            told = ", ".join(map(in_brief, covered))
            self.complain(f"{at}.resources", f"have to be those of coveredResources, in their order: {told}")

    def _limits(self, flavors: Sequence[str], grants: Mapping[Key, Grant[int]]) -> Iterator[tuple[str, Grant[int]]]:
        for at in flavors:
            for place in self.places(f"{at}.resources"):
                yield place, grants[self.text(f"{at}.name"), self.text(f"{place}.name")]

    def _look_at(self, at: str, grant: Grant[int], *, alone: bool, lends_all: bool) -> None:
        for name, amount in zip(_LIMITS, (grant.quota, grant.most, grant.lends), strict=True):
            if amount is not None and amount < 0:
                self.complain(f"{at}.{name}", "has to be at least 0")
            if amount is not None and name != "nominalQuota" and alone:
                self.complain(f"{at}.{name}", "is for what has a cohort above it, and there is none")
        if grant.lends is not None and grant.lends > grant.quota and not lends_all:
            self.complain(f"{at}.lendingLimit", "is more than the nominalQuota")


def amount_units(resource: str, amount: Quantity) -> int:
    """Return an amount as Kueue counts it: thousandths of a cpu, whole numbers of all else, rounded up."""
    return amount.milli_value() if resource == CPU else amount.value()


def amount_text(resource: str, amount: int, formats: Mapping[str, Format]) -> str:
    """Return an amount in units as people write it, in the way in which quotas of the resource are written."""
    if resource == CPU:
        return str(Quantity.of(amount, exponent=-3))
    return str(Quantity.of(amount, formats.get(resource, Format.DECIMAL_SI)))
