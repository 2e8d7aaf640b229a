"""
Which pods and claims quotas let controllers and users make, in the order in which they are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dra_alloc.api import DeviceClass, ObjectMeta, OwnerReference, Pod, ResourceClaim, ResourceQuota
from dra_alloc.errors import in_brief
from dra_alloc.manifest import Documents
from dra_alloc.pods.expanding import ExpandedPod
from dra_alloc.pods.quota.book import QuotaBook, Refusal
from dra_alloc.pods.workloads.states import PodState


class Unmade(NamedTuple):
    """
    Objects that are not made, or would not be if those before them were, and the book at their turn.

    It is charged with those refused before them, too.
    """

    book: QuotaBook
    items: tuple[Pod | ResourceClaim, ...]


@dataclass(frozen=True, slots=True)
class CreatedPod:
    """
    A pod that was asked for: `refused` if it is not made, `unclaimed` if it is and a claim of its own is not.

    The latter stays pending, and its other claims from there on are not made either. `unmade` is what quotas would
    have to let be made, once what is refused before it is, too; None where something else that is not made stands
    before it.
    """

    pod: ExpandedPod
    refused: Refusal | None = None
    unclaimed: Refusal | None = None
    unmade: Unmade | None = None


@dataclass(frozen=True, slots=True)
class Creation:
    """
    Pods in the order asked, objects of the input that are refused, and the book with all that is made.

    `unmade` are the claims among what is refused, or would be, by name in the order in which they are made.
    """

    book: QuotaBook
    pods: tuple[CreatedPod, ...] = ()
    refused: tuple[tuple[Any, Refusal], ...] = ()
    unmade: Mapping[str, Unmade] = field(default_factory=dict)

    def notes(self) -> Iterator[str]:
        """Yield what quotas refuse: of every workload how many pods, and the answer to the first."""
        counts: dict[int, tuple[Any, list[Refusal], list[Refusal], int]] = {}
        for each in self.pods:
            if each.pod.is_asked:
                owner = each.pod.owner
                _, refused, unclaimed, asked = counts.get(id(owner), (owner, [], [], 0))
                refused += [each.refused] if each.refused is not None else []
                unclaimed += [each.unclaimed] if each.unclaimed is not None else []
                counts[id(owner)] = (owner, refused, unclaimed, asked + 1)
        for owner, refused, unclaimed, asked in counts.values():
            name = f"{owner.kind} {in_brief(owner.metadata.full_name)}"
            for found, fate in ((refused, "not made"), (unclaimed, "waiting for a claim that is not made")):
                if found:
                    yield f"{len(found)} of {asked} pods of {name} {fate}: {found[0].text}"


def quota_book(
    manifests: Documents, dump: Documents, classes: Iterable[DeviceClass], *, extended: bool = True
) -> QuotaBook:
    """
    Return the book of a dump's quotas with those of the manifests applied; what is in the dump is there already.

    Spec: QUOTA-11.
    """
    quotas: dict[str, ResourceQuota] = {each.metadata.full_name: each for each in dump.quotas}
    for each in manifests.quotas:
        before = quotas.get(each.metadata.full_name)
        status = before.status if before is not None else ResourceQuota.made().status
        quotas[each.metadata.full_name] = each.replaced(status=status)
    return QuotaBook.of(quotas.values(), dump, classes, extended=extended)


def created(
    book: QuotaBook,
    manifests: Documents,
    dump: Documents,
    pods: Iterable[tuple[ExpandedPod, Sequence[ResourceClaim]]],
    of_groups: Iterable[ResourceClaim] = (),
) -> Creation:
    """
    Return what becomes of the manifests' objects, and of the pods that they make with the claims made for each.

    Claims `of_groups` are made as soon as their PodGroup is there, in its order.

    Spec: QUOTA-20 to QUOTA-24, QUOTA-26.
    """
    if not book.accounts:
        return Creation(book, tuple([CreatedPod(each) for each, _ in pods]))
    making = _Making(book, book, frozenset(_names(dump)))
    shared: dict[str, list[ResourceClaim]] = {}
    for claim in of_groups:
        shared.setdefault(_group_of(claim), []).append(claim)
    for group in dump.pod_groups:
        making.claims_of_group(shared.pop(group.metadata.full_name, ()), None)
    for item in (*manifests.quotas, *manifests.templates):
        making.apply(item)
    for group in manifests.pod_groups:
        making.claims_of_group(shared.get(group.metadata.full_name, ()), making.apply(group))
    for claim in manifests.claims:
        making.apply(claim)
    made = tuple([making.pod(each, claims) for each, claims in pods])
    return Creation(making.book, made, tuple(making.refused.values()), making.unmade)


def _group_of(claim: ResourceClaim) -> str:
    owner = next(each.name for each in claim.metadata.owner_references if each.kind == "PodGroup")
    return f"{claim.metadata.namespace or ''}/{owner}"


def _names(there: Documents) -> Iterator[tuple[str, str]]:
    """Yield kind and full name of what is there and can be made."""
    members = (there.quotas, there.templates, there.pod_groups, there.claims, there.pods, there.workloads)
    for item in (each for member in members for each in member):
        yield item.kind, item.metadata.full_name


@dataclass(slots=True)
class _Making:
    """Objects made one after the other; `full` is charged with those that are refused, too."""

    book: QuotaBook
    full: QuotaBook
    there: frozenset[tuple[str, str]]
    refused: dict[tuple[str, str], tuple[Any, Refusal]] = field(default_factory=dict)
    done: set[tuple[str, str]] = field(default_factory=set)
    #: Workloads of which a pod was refused that later ones wait for.
    stopped: dict[tuple[str, str], Refusal] = field(default_factory=dict)
    unmade: dict[str, Unmade] = field(default_factory=dict)
    #: Whether anything was refused, so that `full` has more than is made.
    behind: bool = False

    def apply(self, item: Any) -> Refusal | None:
        """Make an object that is not there, once; return why it may not be made."""
        name = (item.kind, item.metadata.full_name)
        if name in self.done or name in self.there:
            return self.refused[name][1] if name in self.refused else None
        self.done.add(name)
        before = self.full
        refusal = self._charge(item)
        if refusal is not None:
            self.refused[name] = (item, refusal)
        if isinstance(item, ResourceClaim) and (refusal or self._would_be_refused(before, item)):
            self.unmade[item.metadata.full_name] = Unmade(before, (item,))
        return refusal

    def _charge(self, item: Any) -> Refusal | None:
        self.book, refusal = self.book.charge(item)
        self.full = self.full.charged_anyway(item)
        self.behind = self.behind or refusal is not None
        return refusal

    def _would_be_refused(self, before: QuotaBook, claim: ResourceClaim) -> bool:
        """Return whether a claim is made only since others before it are not."""
        return self.behind and before.charge(claim)[1] is not None

    def claims_of_group(self, claims: Iterable[ResourceClaim], refusal: Refusal | None) -> None:
        """Make the claims of a group until one is refused; of a group that is refused, none."""
        for claim in claims:
            refusal = refusal or self.apply(claim)
            if refusal is not None:
                self.refused[claim.kind, claim.metadata.full_name] = claim, refusal

    def pod(self, asked: ExpandedPod, claims: Sequence[ResourceClaim]) -> CreatedPod:
        """Make a pod, after what makes it, and then its claims until one is refused."""
        refusal = self._refusal_before(asked)
        if refusal is not None:
            return CreatedPod(asked, refused=refusal)
        before = self.full
        refusal = self._refusal(asked)
        if refusal is not None:
            self._charge_anyway(claims)
            return CreatedPod(asked, refused=refusal, unmade=Unmade(before, (asked.pod, *claims)))
        unmade: Unmade | None = None
        for number, claim in enumerate(claims):
            before = self.full
            refusal = self._charge(claim)
            if unmade is None and (refusal is not None or self._would_be_refused(before, claim)):
                unmade = Unmade(before, tuple(claims[number:]))
            if refusal is not None:
                self._charge_anyway(claims[number + 1 :])
                return CreatedPod(asked, unclaimed=refusal, unmade=unmade)
        return CreatedPod(asked, unmade=unmade)

    def _charge_anyway(self, claims: Iterable[ResourceClaim]) -> None:
        """Note what claims would use of quotas had those before them been made."""
        for claim in claims:
            self.full = self.full.charged_anyway(claim)

    def _refusal_before(self, asked: ExpandedPod) -> Refusal | None:
        """Return why what makes the pod is not made, or the pod before it."""
        if asked.state is not PodState.NEW:
            return None
        owner = (asked.owner.kind, asked.owner.metadata.full_name)
        if owner in self.stopped:
            return self.stopped[owner]
        return self.apply(asked.owner) or self._between(asked)

    def _refusal(self, asked: ExpandedPod) -> Refusal | None:
        if asked.state is not PodState.NEW:
            return self.apply(asked.pod) if isinstance(asked.owner, Pod) else None
        refusal = self._charge(asked.pod)
        if refusal is not None and asked.in_order:
            self.stopped[asked.owner.kind, asked.owner.metadata.full_name] = refusal
        return refusal

    def _between(self, asked: ExpandedPod) -> Refusal | None:
        """Make the object between a workload and its pod, such as a ReplicaSet, if there is another."""
        owners = asked.pod.metadata.owner_references
        owner = next((each for each in owners if each.controller), None)
        if owner is None or (owner.kind, owner.name) == (asked.owner.kind, asked.owner.metadata.name):
            return None
        return self.apply(_Controller.of(owner, asked.pod))


@dataclass(frozen=True, slots=True)
class _Controller:
    """What is known of an object that stands between a workload and its pods."""

    api_version: str
    kind: str
    metadata: ObjectMeta

    @classmethod
    def of(cls, owner: OwnerReference, pod: Pod) -> _Controller:
        """Return the controller of a pod."""
        return cls(owner.api_version, owner.kind, ObjectMeta.made(name=owner.name, namespace=pod.metadata.namespace))
