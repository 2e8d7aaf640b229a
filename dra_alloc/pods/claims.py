"""
The claims of a pod: those that it names, and those that are made for it from templates.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from dra_alloc.api import (
    FrozenMap,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodGroup,
    PodResourceClaim,
    ResourceClaim,
    ResourceClaimTemplate,
)
from dra_alloc.pods.groups import group_name, is_of_group
from dra_alloc.pods.objections import Objection
from dra_alloc.pods.workloads.names import claim_base, unique

#: Which entry of the pod a claim was made for.
POD_CLAIM_NAME: Final = "resource.kubernetes.io/pod-claim-name"


@dataclass(frozen=True, slots=True)
class ClaimUse:
    """
    What stands behind an entry of a pod's claims.

    `claim` is the full name of one that is there, or one that is made for the
    pod; without it nothing is needed, `missing` (kind and full name) is not
    there, or `objection` says why the claim that is there does not serve the pod.
    """

    position: int
    claim: str | ResourceClaim | None = None
    missing: tuple[str, str] | None = None
    objection: Objection | None = None


@dataclass(slots=True)
class ClaimsThere:
    """The claims and claim templates that are there, by full name; grows by the names of claims that are made."""

    claims: dict[str, ResourceClaim] = field(default_factory=dict)
    templates: dict[str, ResourceClaimTemplate] = field(default_factory=dict)
    taken: dict[str, set[str]] = field(default_factory=dict)
    made_for: dict[tuple[str, str, str], str] = field(default_factory=dict)
    groups: dict[str, PodGroup] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        claims: Iterable[ResourceClaim],
        templates: Iterable[ResourceClaimTemplate],
        groups: Iterable[PodGroup] = (),
    ) -> ClaimsThere:
        """Return those of the input, and the pod groups whose claims pods can have."""
        there = cls(templates={_full(each.metadata): each for each in templates})
        there.groups = {_full(each.metadata): each for each in groups}
        for claim in claims:
            there.add(claim)
        return there

    def add(self, claim: ResourceClaim) -> None:
        """Note a claim."""
        meta = claim.metadata
        namespace, name = meta.namespace or "", meta.name or ""
        full = f"{namespace}/{name}"
        self.claims[full] = claim
        taken = self.taken.get(namespace)
        if taken is None:
            taken = self.taken[namespace] = set()
        taken.add(name)
        entry = meta.annotations.get(POD_CLAIM_NAME) if meta.annotations else None
        owner = _owner(meta) if entry else None
        if entry and owner is not None:
            self.made_for[namespace, owner.uid or owner.name, entry] = full
            if owner.kind == "PodGroup":
                self.made_for[namespace, f"PodGroup {owner.name}", entry] = full

    def of_pod(self, pod: Pod) -> Iterator[ClaimUse]:
        """
        Yield what stands behind each entry of a pod, in order.

        What the pod's status says comes first: a claim without a name is not
        needed, one that is there has to be the pod's. Then a claim that was
        made for the entry, and last one that is made now. One that is being
        deleted serves nobody.

        Spec: EXPAND-40 to EXPAND-45.
        """
        namespace = pod.metadata.namespace or ""
        said = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
        for position, entry in enumerate(pod.spec.resource_claims):
            if entry.resource_claim_name:
                full = f"{namespace}/{entry.resource_claim_name}"
                claim = self.claims.get(full)
                if claim is None:
                    yield ClaimUse(position, missing=("ResourceClaim", full))
                else:
                    yield ClaimUse(position, full, objection=going(claim))
            elif entry.resource_claim_template_name:
                group = self.groups.get(group_name(pod))
                if group is not None and is_of_group(entry, group.spec.resource_claims):
                    yield self.of_group(group, position, entry)
                elif entry.name in said and said[entry.name] is None:
                    yield ClaimUse(position)
                else:
                    yield self._from_template(pod, position, said.get(entry.name))

    def of_group(self, group: PodGroup, position: int, entry: PodResourceClaim) -> ClaimUse:
        """
        Return the claim that all pods of a group share: what its status says, what was made for it, or a new one.

        Spec: PODGROUP-3, PODGROUP-9.
        """
        meta = group.metadata
        namespace = meta.namespace or ""
        said = {each.name: each.resource_claim_name for each in group.status.resource_claim_statuses}
        made = self.made_for.get((namespace, f"PodGroup {meta.name}", entry.name))
        for full in (f"{namespace}/{said.get(entry.name)}", made):
            if full in self.claims:
                return ClaimUse(position, full, objection=going(self.claims[full]))
        return self._new(group, position, entry)

    def made_for_groups(self) -> Iterator[ResourceClaim]:
        """Yield the claims that are still to be made for groups, whether pods use them or not, and note them."""
        for group in self.groups.values():
            for position, entry in enumerate(group.spec.resource_claims):
                use = self.of_group(group, position, entry) if entry.resource_claim_template_name else None
                if use is not None and isinstance(use.claim, ResourceClaim):
                    self.add(use.claim)
                    yield use.claim

    def _from_template(self, pod: Pod, position: int, said: str | None) -> ClaimUse:
        meta, entry = pod.metadata, pod.spec.resource_claims[position]
        namespace = meta.namespace or ""
        full = f"{namespace}/{said}" if said else ""
        claim = self.claims.get(full)
        if claim is not None:
            return ClaimUse(position, full, objection=going(claim) or not_made_for(pod, claim))
        made = self.made_for.get((namespace, meta.uid or meta.name or "", entry.name))
        if made is not None and not not_made_for(pod, self.claims[made]):
            return ClaimUse(position, made, objection=going(self.claims[made]))
        use = self._new(pod, position, entry)
        if isinstance(use.claim, ResourceClaim):
            self.taken.setdefault(namespace, set()).add(use.claim.metadata.name or "")
        return use

    def _new(self, owner: Pod | PodGroup, position: int, entry: PodResourceClaim) -> ClaimUse:
        namespace = owner.metadata.namespace or ""
        name = f"{namespace}/{entry.resource_claim_template_name}"
        template = self.templates.get(name)
        if template is None:
            return ClaimUse(position, missing=("ResourceClaimTemplate", name))
        return ClaimUse(position, claim_from_template(template, owner, entry.name, self.taken.get(namespace, ())))


def claim_from_template(
    template: ResourceClaimTemplate, pod: Pod | PodGroup, entry: str, taken: Collection[str] = ()
) -> ResourceClaim:
    """Return the claim that is made for an entry of the claims of a pod, or of a group. Spec: EXPAND-2, EXPAND-42."""
    of_template, owner = template.spec.metadata, pod.metadata.name or pod.metadata.generate_name or ""
    base = claim_base(owner, entry)
    meta = ObjectMeta.made(
        name=next(unique(base, taken)),
        generate_name=base,
        namespace=pod.metadata.namespace,
        labels=of_template.labels,
        annotations=FrozenMap({**of_template.annotations, POD_CLAIM_NAME: entry}),
        owner_references=(
            OwnerReference.made(
                api_version=pod.api_version,
                kind=pod.kind,
                name=owner,
                uid=pod.metadata.uid or "",
                controller=True,
                block_owner_deletion=True,
            ),
        ),
    )
    return ResourceClaim.made(metadata=meta, spec=template.spec.spec)


def _owner(meta: ObjectMeta) -> OwnerReference | None:
    pods = (each for each in meta.owner_references if each.kind in ("Pod", "PodGroup"))
    return next((each for each in pods if each.controller is not False), None)


def going(claim: ResourceClaim) -> Objection | None:
    """Return what the scheduler has against a claim that is being deleted. Spec: EXPAND-45."""
    if claim.metadata.deletion_timestamp is None:
        return None
    return Objection("claim-deleted", (f'resourceclaim "{claim.metadata.name}" is being deleted',))


def not_made_for(pod: Pod, claim: ResourceClaim) -> Objection | None:
    """Return what the scheduler has against a claim that was not made for the pod. Spec: EXPAND-43."""
    owner, meta = _owner(claim.metadata), pod.metadata
    same = owner is not None and (owner.uid == meta.uid if owner.uid and meta.uid else owner.name == meta.name)
    if same and claim.metadata.namespace == meta.namespace:
        return None
    text = f"ResourceClaim {_full(claim.metadata)} was not created for Pod {_full(meta)} (Pod is not owner)"
    return Objection("claim-not-owned", (text,))


def _full(meta: ObjectMeta) -> str:
    return f"{meta.namespace or ''}/{meta.name or ''}"
