"""
What manifests ask for: pods with their claims, and claims and templates no pod uses.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dra_alloc.api import FrozenMap, ObjectMeta, Pod, ResourceClaim, ResourceClaimTemplate
from dra_alloc.errors import NAME_SHOWN, Problem, Where, in_brief
from dra_alloc.manifest import Documents, Workload, pod_spec_path
from dra_alloc.manifest.lost import Lost
from dra_alloc.pods.expanding import AskedPod, full_name
from dra_alloc.pods.extended_resources import asks_for_extended
from dra_alloc.problem.requests import claim_name

__all__ = ["Subject", "subjects_of"]

_POD_CLAIM_NAME: Final = "resource.kubernetes.io/pod-claim-name"


@dataclass(frozen=True, slots=True)
class Subject:
    """
    One thing to place: a pod with all its claims, or a claim of its own.

    `claims` holds claim names that exist already or are shared, and claims
    that are made for this subject only. Subjects of one `template`, the name
    of a workload, differ in name only.
    """

    kind: str
    name: str
    claims: tuple[str | ResourceClaim, ...]
    pod: Pod | None = None
    template: str | None = None

    @property
    def needs_devices(self) -> bool:
        """Return whether there is anything to place for DRA."""
        return bool(self.claims) or self.pod is None or asks_for_extended(self.pod)


def subjects_of(
    pods: Sequence[AskedPod], manifests: Documents, merged: Documents, lost: Lost
) -> tuple[tuple[Subject, ...], list[tuple[Any, Problem]]]:
    """
    Return the pods with their claims, then the manifests' claims and templates that no pod uses; and what is missing.

    `merged` has all claims and templates; what may be among the `lost` is not called missing.
    """
    reading = _Reading(
        manifests,
        {claim_name(each) for each in merged.claims},
        {full_name(each.metadata): each for each in merged.templates},
        lost,
    )
    subjects = [*map(reading.pod, pods), *reading.free_claims(), *reading.free_templates()]
    return tuple(subjects), list(reading.wrong.values())


@dataclass(slots=True)
class _Reading:
    """One pass over the pods; names are full ones."""

    manifests: Documents
    claims: Collection[str]
    templates: Mapping[str, ResourceClaimTemplate]
    lost: Lost
    used: set[str] = field(default_factory=set)
    wrong: dict[tuple[int, str], tuple[Any, Problem]] = field(default_factory=dict)

    def pod(self, asked: AskedPod) -> Subject:
        """Return the pod with its claims."""
        owner, pod = asked.owner, asked.pod
        namespace = pod.metadata.namespace or ""
        made = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
        claims: list[str | ResourceClaim] = []
        for number, entry in enumerate(pod.spec.resource_claims):
            path = f"{pod_spec_path(owner)}.resourceClaims[{number}]"
            if entry.resource_claim_name:
                full = f"{namespace}/{entry.resource_claim_name}"
                self.used.add(full)
                if full in claims:
                    continue  # entries of one pod share the claim
                if full in self.claims:
                    claims.append(full)
                else:
                    self._missing(owner, f"{path}.resourceClaimName", "ResourceClaim", full)
            elif entry.resource_claim_template_name:
                existing = f"{namespace}/{made.get(entry.name) or ''}"
                full = f"{namespace}/{entry.resource_claim_template_name}"
                self.used.add(f"template {full}")
                if existing in self.claims:
                    claims += [] if existing in claims else [existing]
                elif full in self.templates:
                    claims.append(_from_template(self.templates[full], pod, entry.name))
                else:
                    self._missing(owner, f"{path}.resourceClaimTemplateName", "ResourceClaimTemplate", full)
        return Subject(owner.kind, asked.name, tuple(claims), pod, asked.template)

    def _missing(self, owner: Pod | Workload, path: str, kind: str, full: str) -> None:
        namespace, _, name = full.partition("/")
        if self.lost.may_hold(kind, name, namespace):
            return
        text = f"there is no {kind} {_shown(full)}"
        problem = Problem(text, Where(path=path), "it is neither in the manifests nor in the cluster")
        self.wrong[id(owner), path] = owner, problem  # the same for all pods of a workload

    def free_claims(self) -> Iterator[Subject]:
        """Return the manifests' claims that none of their pods use."""
        for claim in self.manifests.claims:
            name = claim_name(claim)
            if name not in self.used:
                yield Subject("ResourceClaim", name, (name,))

    def free_templates(self) -> Iterator[Subject]:
        """Return one claim for every template that none of the manifests' pods use."""
        for template in self.manifests.templates:
            name = full_name(template.metadata)
            if f"template {name}" not in self.used:
                claim = ResourceClaim(
                    metadata=ObjectMeta(name=template.metadata.name, namespace=template.metadata.namespace),
                    spec=template.spec.spec,
                )
                yield Subject("ResourceClaimTemplate", name, (claim,))


def _shown(full: str) -> str:
    return "/".join(in_brief(part, NAME_SHOWN) for part in full.split("/", 1))


def _from_template(template: ResourceClaimTemplate, pod: Pod, entry: str) -> ResourceClaim:
    made = template.spec.metadata
    meta = ObjectMeta(
        name=f"{pod.metadata.name or pod.metadata.generate_name or ''}-{entry}",
        namespace=pod.metadata.namespace,
        labels=made.labels,
        annotations=FrozenMap({**made.annotations, _POD_CLAIM_NAME: entry}),
    )
    return ResourceClaim(metadata=meta, spec=template.spec.spec)
