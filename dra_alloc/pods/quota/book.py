"""
The quotas of namespaces as a book: every object that is made is charged to all of them, or refused by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dra_alloc.api import (
    DeviceClass,
    FrozenMap,
    Pod,
    Quantity,
    ResourceClaim,
    ResourceQuota,
    ScopedResourceSelectorRequirement,
)
from dra_alloc.api.amounts.quantity import ZERO
from dra_alloc.manifest import Documents
from dra_alloc.pods.extended_resources import class_by_resource
from dra_alloc.pods.quota.charges import Amounts, Charge, counted
from dra_alloc.pods.quota.claims import ExtendedNames, claim_charge, paid_by
from dra_alloc.pods.quota.pods import pod_charge


@dataclass(frozen=True, slots=True)
class Refusal:
    """
    A quota does not let an object be made.

    `reason` is why, `text` what the API server answers, `detail` what that means for what is left.
    """

    quota: str
    reason: str
    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Account:
    """One quota: its limits, what is used of them, and the scopes in which an object has to be to count."""

    name: str
    hard: Amounts
    used: Amounts
    scopes: tuple[ScopedResourceSelectorRequirement, ...] = ()

    @classmethod
    def of(cls, quota: ResourceQuota) -> Account:
        """Return a quota with what its status says is used."""
        spec = quota.spec
        scopes = [ScopedResourceSelectorRequirement.made(scope_name=each, operator="Exists") for each in spec.scopes]
        if spec.scope_selector is not None:
            scopes += spec.scope_selector.match_expressions
        return cls(quota.metadata.name or "", spec.hard, quota.status.used, tuple(scopes))

    def counts(self, charge: Charge) -> bool:
        """Say whether the quota is one for an object at all. Spec: QUOTA-5, QUOTA-7, QUOTA-9."""
        return any(map(charge.concerns, self.hard)) and all(map(charge.is_in, self.scopes))

    def objection(self, charge: Charge) -> str:
        """Return why an object that counts may not be made even if nothing was used; empty if it may."""
        missing = charge.unspecified(key for key in self.hard if charge.concerns(key))
        return f"failed quota: {self.name}: {missing}" if missing else ""

    def charged(self, charge: Charge) -> Account:
        """Return the quota with an object more."""
        return replace(self, used=FrozenMap({**self.used, **dict(self._sums(charge))}))

    def raised(self, charge: Charge) -> Account:
        """Return the quota with limits that let an object more be made."""
        more = {key: total for key, total in self._sums(charge) if total > self.hard[key]}
        return replace(self, hard=FrozenMap({**self.hard, **more})) if more else self

    def relieved(self, charge: Charge) -> Account:
        """Return the quota with an object less, of what is said to be used."""
        left = {key: max(self.used[key] - amount, ZERO) for key, amount in charge.usage.items() if key in self.used}
        return replace(self, used=FrozenMap({**self.used, **left}))

    def lacking(self, charge: Charge) -> str:
        """Return what an object needs of what the quota has too little of; empty if it fits."""
        left = {key: self.hard[key] - self.used.get(key, ZERO) for key in self._beyond(charge)}
        told = []
        for key, each in left.items():
            counted = charge.counted_as(key)
            needed = f"{charge.usage[key]} {key} needed{f' ({counted})' if counted else ''}"
            told.append(f"{needed}, {max(each, ZERO)} of {self.hard[key]} left")
        return f"quota {self.name}: {'; '.join(told)}" if told else ""

    def _beyond(self, charge: Charge) -> list[str]:
        return sorted(key for key, total in self._sums(charge) if total > self.hard[key])

    def excess(self, charge: Charge) -> str:
        """Return by what an object that counts exceeds the quota, in upstream's words; empty if it fits."""
        beyond = self._beyond(charge)
        if not beyond:
            return ""
        parts = {
            "requested": charge.usage,
            "used": self.used,
            "limited": self.hard,
        }
        said = [f"{word}: {_printed(amounts, beyond)}" for word, amounts in parts.items()]
        return f"exceeded quota: {self.name}, {', '.join(said)}"

    def _sums(self, charge: Charge) -> Iterator[tuple[str, Quantity]]:
        """Yield what would be used of each limit that the object touches; of nothing asked nothing is too much."""
        for key, amount in charge.usage.items():
            if key in self.hard and amount.nano:
                yield key, self.used[key] + amount if key in self.used else amount


def _printed(amounts: Amounts, keys: Iterable[str]) -> str:
    return ",".join(f"{key}={amounts[key]}" for key in keys if key in amounts)


@dataclass(frozen=True, slots=True)
class QuotaBook:
    """
    The quotas of every namespace; an object is charged to all of its namespace, or to none.

    `charge` returns another book: this one stays as it is.
    """

    accounts: Mapping[str, tuple[Account, ...]] = field(default_factory=FrozenMap)
    names: ExtendedNames = field(default_factory=ExtendedNames)

    @classmethod
    def of(
        cls, quotas: Iterable[ResourceQuota], there: Documents, classes: Iterable[DeviceClass], *, extended: bool
    ) -> QuotaBook:
        """
        Return the book of quotas in a namespace full of objects that are there.

        What a quota's status does not say is counted. `extended` is the gate
        DRAExtendedResource.

        Spec: QUOTA-11.
        """
        known = tuple(classes)
        explicit = {each.metadata.name or "": each.spec.extended_resource_name or "" for each in known}
        of_class = {name: resource for name, resource in explicit.items() if resource}
        names = ExtendedNames(extended, of_class, class_by_resource(known)) if extended else ExtendedNames()
        grouped: dict[str, list[Account]] = {}
        for quota in quotas:
            grouped.setdefault(quota.metadata.namespace or "", []).append(Account.of(quota))
        book = cls(FrozenMap(), names)
        made = {namespace: book._counted(namespace, accounts, there) for namespace, accounts in grouped.items()}
        return replace(book, accounts=FrozenMap(made))

    def charge(self, item: Any, made_for: Pod | None = None) -> tuple[QuotaBook, Refusal | None]:
        """
        Return the book with an object more, or this one and why it may not be made.

        Pods and claims are charged what they ask for, any other object that
        it is there. `made_for` is the pod for whose extended resources the
        scheduler makes a claim.

        Spec: QUOTA-12, QUOTA-13.
        """
        namespace = item.metadata.namespace or ""
        accounts = self.accounts.get(namespace, ())
        if not accounts:
            return self, None
        charge = self._charge(item, made_for)
        counting = [each for each in accounts if each.counts(charge)]
        for look in (Account.objection, Account.excess):
            for each in counting:
                reason = look(each, charge)
                if reason:
                    text = f'{charge.resource} "{item.metadata.name or ""}" is forbidden: {reason}'
                    return self, Refusal(each.name, reason, text, each.lacking(charge))
        return self._charged(namespace, charge), None

    def _charged(self, namespace: str, charge: Charge) -> QuotaBook:
        accounts = self.accounts.get(namespace, ())
        after = tuple([each.charged(charge) if each.counts(charge) else each for each in accounts])
        return replace(self, accounts=FrozenMap({**self.accounts, namespace: after}))

    def charged_anyway(self, item: Any) -> QuotaBook:
        """Return the book with an object more, whether or not it may be made."""
        namespace = item.metadata.namespace or ""
        return self._charged(namespace, self._charge(item, None)) if namespace in self.accounts else self

    def charge_all(self, items: Iterable[Any]) -> tuple[QuotaBook, Refusal | None]:
        """Return the book with objects more, up to one that may not be made, and why that is so."""
        book, refusal = self, None
        for each in items:
            book, refusal = book.charge(each)
            if refusal is not None:
                break
        return book, refusal

    def raised_for(self, items: Iterable[Any]) -> dict[tuple[str, str], tuple[Quantity, Quantity]] | None:
        """Return the limits to raise, by quota and key, from and to; None if objects could not be made all the same."""
        steps: dict[tuple[str, str], tuple[Quantity, Quantity]] = {}
        book = self
        for item in items:
            namespace, charge = item.metadata.namespace or "", self._charge(item, None)
            accounts = []
            for each in book.accounts.get(namespace, ()):
                if not each.counts(charge):
                    accounts.append(each)
                    continue
                if each.objection(charge):
                    return None
                after = each.raised(charge)
                for key in (key for key in after.hard if after.hard[key] != each.hard[key]):
                    first, _ = steps.get((each.name, key), (each.hard[key], None))
                    steps[each.name, key] = first, after.hard[key]
                accounts.append(after.charged(charge))
            book = replace(book, accounts=FrozenMap({**book.accounts, namespace: tuple(accounts)}))
        return steps

    def relieved(self, items: Iterable[Any], pods: Iterable[Pod]) -> QuotaBook:
        """Return the book without objects that are gone; `pods` are those that may have paid for claims."""
        payers = {each.metadata.full_name: each for each in pods}
        accounts = dict(self.accounts)
        for item in items:
            namespace = item.metadata.namespace or ""
            charge = self._charge(item, paid_by(item, payers) if isinstance(item, ResourceClaim) else None)
            found = accounts.get(namespace, ())
            accounts[namespace] = tuple([each.relieved(charge) if each.counts(charge) else each for each in found])
        return replace(self, accounts=FrozenMap(accounts))

    def _charge(self, item: Any, made_for: Pod | None) -> Charge:
        if isinstance(item, Pod):
            return pod_charge(item)
        if isinstance(item, ResourceClaim):
            return claim_charge(item, self.names, pod_charge(made_for).usage if made_for is not None else None)
        return counted(item.api_version, item.kind)

    def _counted(self, namespace: str, accounts: list[Account], there: Documents) -> tuple[Account, ...]:
        """Return quotas, by name, with what is used of them; what objects use is added up where it is not said."""
        accounts.sort(key=lambda each: each.name)
        if all(each.hard.keys() <= each.used.keys() for each in accounts):
            return tuple(accounts)
        pods = {each.metadata.full_name: each for each in there.pods}
        counted_up = [replace(each, used=dict.fromkeys(each.hard, Quantity.of(0))) for each in accounts]
        for item in chargeable(there):
            if (item.metadata.namespace or "") == namespace:
                payer = paid_by(item, pods) if isinstance(item, ResourceClaim) else None
                charge = self._charge(item, payer)
                counted_up = [each.charged(charge) if each.counts(charge) else each for each in counted_up]
        pairs = zip(accounts, counted_up, strict=True)
        return tuple([replace(said, used=FrozenMap({**own.used, **said.used})) for said, own in pairs])


NO_QUOTAS: Final = QuotaBook()


def chargeable(there: Documents) -> Iterator[Any]:
    """Yield everything that quotas can count."""
    yield from (*there.pods, *there.claims, *there.templates, *there.pod_groups, *there.quotas, *there.workloads)
