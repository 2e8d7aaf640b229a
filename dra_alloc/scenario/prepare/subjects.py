"""
What manifests ask for: pods with their claims, and claims and templates no pod uses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from dra_alloc.api import FrozenMap, ObjectMeta, Pod, ResourceClaim, ResourceClaimTemplate
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.errors import NAME_SHOWN, Problem, Where, in_brief
from dra_alloc.manifest import Documents, Workload, pod_spec_path
from dra_alloc.manifest.lost import NOTHING_LOST, Lost
from dra_alloc.pods.extended_resources import asks_for_extended
from dra_alloc.pods.node_filter import node_objection
from dra_alloc.problem.requests import claim_name

__all__ = ["Subject", "subjects_of"]

_POD_CLAIM_NAME = "resource.kubernetes.io/pod-claim-name"
_MOST_COPIES = 10_000


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
    where: Where = field(default_factory=Where)
    pod: Pod | None = None
    template: str | None = None

    @property
    def needs_devices(self) -> bool:
        """Return whether there is anything to place for DRA."""
        return bool(self.claims) or self.pod is None or asks_for_extended(self.pod)


def subjects_of(
    manifests: Documents, cluster: Cluster, templates: Mapping[str, ResourceClaimTemplate], lost: Lost = NOTHING_LOST
) -> tuple[tuple[Subject, ...], tuple[Problem, ...]]:
    """
    Return what the manifests ask for, and every reference that leads nowhere.

    The cluster has all claims, `templates` all templates by `namespace/name`.
    Pods come first, in the order of the input, then the claims and templates
    that no pod uses. A DaemonSet has a pod for every node that takes it. What
    may be among the `lost` is not called missing.
    """
    reading = _Reading(manifests, cluster, templates, lost)
    subjects = [*reading.pods(), *reading.free_claims(), *reading.free_templates()]
    return tuple(subjects), tuple(manifests.placed(reading.wrong.values()))


@dataclass(slots=True)
class _Reading:
    """One pass over the manifests."""

    manifests: Documents
    cluster: Cluster
    templates: Mapping[str, ResourceClaimTemplate]
    lost: Lost
    used: set[str] = field(default_factory=set)
    wrong: dict[tuple[int, str], tuple[Pod | Workload, Problem]] = field(default_factory=dict)

    def pods(self) -> Iterator[Subject]:
        """Return one subject per pod, replicas of workloads included."""
        for pod in self.manifests.pods:
            name = _full_name(pod.metadata)
            yield self._pod(pod, name, pod, self.manifests.where(pod))
        for workload in self.manifests.workloads:
            where = self.manifests.where(workload)
            if (workload.replicas or 0) > _MOST_COPIES:
                text = f"asks for {workload.replicas:,} pods at once, more than the {_MOST_COPIES:,} that are tried"
                self.wrong[id(workload), ""] = workload, Problem(text)
                continue
            for pod in _on_every_node(workload, self.cluster) if workload.kind == "DaemonSet" else _replicas(workload):
                subject = self._pod(workload, _full_name(pod.metadata), pod, where)
                yield replace(subject, template=None if pod.spec.node_name else _full_name(workload.metadata))

    def _pod(self, owner: Pod | Workload, name: str, pod: Pod, where: Where) -> Subject:
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
                if full in self.cluster.claims:
                    claims.append(full)
                else:
                    self._missing(owner, f"{path}.resourceClaimName", "ResourceClaim", full)
            elif entry.resource_claim_template_name:
                existing = f"{namespace}/{made.get(entry.name) or ''}"
                full = f"{namespace}/{entry.resource_claim_template_name}"
                self.used.add(f"template {full}")
                if existing in self.cluster.claims:
                    claims += [] if existing in claims else [existing]
                elif full in self.templates:
                    claims.append(_from_template(self.templates[full], pod, entry.name))
                else:
                    self._missing(owner, f"{path}.resourceClaimTemplateName", "ResourceClaimTemplate", full)
        return Subject(owner.kind, name, tuple(claims), where, pod)

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
                yield Subject("ResourceClaim", name, (name,), self.manifests.where(claim))

    def free_templates(self) -> Iterator[Subject]:
        """Return one claim for every template that none of the manifests' pods use."""
        for template in self.manifests.templates:
            name = _full_name(template.metadata)
            if f"template {name}" not in self.used:
                claim = ResourceClaim(
                    metadata=ObjectMeta(name=template.metadata.name, namespace=template.metadata.namespace),
                    spec=template.spec.spec,
                )
                yield Subject("ResourceClaimTemplate", name, (claim,), self.manifests.where(template))


def _shown(full: str) -> str:
    return "/".join(in_brief(part, NAME_SHOWN) for part in full.split("/", 1))


def _full_name(meta: ObjectMeta) -> str:
    name = meta.name or f"{meta.generate_name or ''}*"
    return f"{meta.namespace}/{name}" if meta.namespace else name


def _from_template(template: ResourceClaimTemplate, pod: Pod, entry: str) -> ResourceClaim:
    made = template.spec.metadata
    meta = ObjectMeta(
        name=f"{pod.metadata.name or pod.metadata.generate_name or ''}-{entry}",
        namespace=pod.metadata.namespace,
        labels=made.labels,
        annotations=FrozenMap({**made.annotations, _POD_CLAIM_NAME: entry}),
    )
    return ResourceClaim(metadata=meta, spec=template.spec.spec)


def _replicas(workload: Workload) -> Iterator[Pod]:
    count = 1 if workload.replicas is None else workload.replicas
    for number in range(count):
        yield _copy(workload, f"{workload.name}-{number}")


def _on_every_node(workload: Workload, cluster: Cluster) -> Iterator[Pod]:
    for node in cluster.nodes:
        name = node.metadata.name or ""
        pod = _copy(workload, f"{workload.name}-{name}")
        if node_objection(pod, node) is None:
            yield pod.model_copy(update={"spec": pod.spec.model_copy(update={"node_name": name})})


def _copy(workload: Workload, name: str) -> Pod:
    meta = workload.pod.metadata.model_copy(update={"name": name, "namespace": workload.namespace})
    return workload.pod.model_copy(update={"metadata": meta})
