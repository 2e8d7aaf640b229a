"""
Grove's PodCliqueSet, and its PodClique where that is given alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeGuard

from pydantic import ValidationError

from dra_alloc.api import OwnerReference, Pod, ResourceClaim, ResourceClaimTemplateSpec
from dra_alloc.manifest import Workload
from dra_alloc.manifest.make.defaults import set_defaults
from dra_alloc.pods.workloads.names import cut
from dra_alloc.pods.workloads.plans import Around, Controller, Misfit, PodPlan, PodSet, PodSlot
from dra_alloc.pods.workloads.pod_gangs import CLIQUE, replicas_of_set
from dra_alloc.pods.workloads.reading import (
    controller_of,
    copies,
    items,
    labelled,
    marks_in,
    template_in,
    text,
    thawed,
    together,
    using,
    value_at,
)

_API: Final = "grove.io/v1alpha1"
_ALL: Final = "AllReplicas"
_AT: Final = "spec.template"
_GROUPS: Final = "podCliqueScalingGroups"


@dataclass(frozen=True, slots=True)
class _Shared:
    """A claim that pods share: from which template, for whom it is made, and for each replica of that or for all."""

    template: str
    owner: str
    index: int | None
    cliques: frozenset[str]

    @property
    def name(self) -> str:
        """The name of the claim."""
        return f"{self.owner}-{'all' if self.index is None else self.index}-{self.template}"


def is_set(owner: object) -> TypeGuard[Workload]:
    """Return whether it is a set of cliques."""
    return isinstance(owner, Workload) and (owner.group, owner.kind) == ("grove.io", "PodCliqueSet")


def pod_clique(workload: Workload, around: Around) -> PodPlan:
    """Return its replicas. Spec: EXPAND-25."""
    spec = value_at(workload.body, "spec") or {}
    template = _template(workload.metadata.labels, spec, "spec")
    count, maker = copies(spec, "replicas", 1, "spec"), controller_of(workload)
    there = around.pods(workload)
    return PodPlan((PodSet(template, "spec.podSpec", maker, count, cut(f"{workload.name}-"), there=there),))


def pod_clique_set(workload: Workload, around: Around) -> PodPlan:
    """
    Return the pods of all its cliques, those that stand alone first, and the claims that they share.

    Spec: EXPAND-25, EXPAND-26. Raises: Misfit.
    """
    template = value_at(workload.body, _AT) or {}
    making = _Making(workload, around)
    if not items(template, "cliques"):
        raise Misfit(f"{_AT}.cliques", "a set has at least one clique")
    for number, clique in enumerate(items(template, "cliques")):
        making.cliques[text(clique, "name")] = clique, f"{_AT}.cliques[{number}]"
    groups = [(each, f"{_AT}.podCliqueScalingGroups[{n}]") for n, each in enumerate(items(template, _GROUPS))]
    grouped = {name for group, _ in groups for name in _texts(group, "cliqueNames")}
    sets: list[PodSet] = []
    for index in range(replicas_of_set(workload)):
        base = f"{workload.name}-{index}"
        shared = _sharing(items(template, "resourceSharing"), workload.name, index)
        sets += [making.clique(base, name, shared) for name in making.cliques if name not in grouped]
        for group, where in groups:
            called = f"{base}-{text(group, 'name')}"
            for number in range(copies(group, "replicas", 1, where)):
                near = [*shared, *_sharing(items(group, "resourceSharing"), called, number)]
                for name in _texts(group, "cliqueNames"):
                    if name not in making.cliques:
                        raise Misfit(f"{where}.cliqueNames", f"there is no clique {name}")
                    sets.append(making.clique(f"{called}-{number}", name, near))
    return PodPlan(together(sets), tuple(making.claims()))


@dataclass(slots=True)
class _Making:
    """The cliques of a set under way, and the templates of the claims that their pods share."""

    workload: Workload
    around: Around
    cliques: dict[str, tuple[Mapping[str, Any], str]] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)

    def clique(self, base: str, name: str, shared: Sequence[_Shared]) -> PodSet:
        """Return the pods of one clique of one replica, and note which claims they share."""
        clique, at = self.cliques[name]
        full, spec = f"{base}-{name}", value_at(clique, "spec") or {}
        count = copies(spec, "replicas", 1, f"{at}.spec")
        labels = {**marks_in(clique, "labels", at), CLIQUE: full}
        marks_in(clique, "annotations", at)  # no pod is made with these, and queue systems read them
        sharing = items(clique, "resourceSharing") or items(spec, "resourceSharing")
        among = [each for each in shared if not each.cliques or name in each.cliques]
        among += [each for each in _sharing(sharing, full, 0) if each.index is None]
        self.shared |= {each.name: each.template for each in among}
        found = PodSet(
            using(_template(labels, spec, f"{at}.spec"), [each.name for each in among]),
            f"{at}.spec.podSpec",
            Controller(_API, "PodClique", full),
            count,
            base=cut(f"{full}-"),
            there=tuple(pod for pod in self.around.pods(self.workload) if _belongs(pod, full)),
        )
        own = [[each for each in _sharing(sharing, full, k) if each.index is not None] for k in range(count)]
        if not any(own):
            return found
        self.shared |= {each.name: each.template for claims in own for each in claims}
        slots = [PodSlot(str(k), claims=tuple(each.name for each in claims)) for k, claims in enumerate(own)]
        return replace(found, slots=slots, key_of=_index)

    def claims(self) -> Iterator[ResourceClaim]:
        """Yield the claims that pods share. Raises: Misfit, for a template that is not there."""
        workload = self.workload
        inside = {
            text(each, "name"): _template_spec(value_at(each, "templateSpec"))
            for each in items(workload.body, f"{_AT}.resourceClaimTemplates")
        }
        owner = OwnerReference(
            api_version=_API, kind=workload.kind, name=workload.name, uid=workload.metadata.uid or ""
        )
        for name, template in self.shared.items():
            spec = inside.get(template)
            if spec is None:
                found = self.around.claim_template(workload.namespace, template)
                if found is None:
                    said = f"there is no ResourceClaimTemplate {workload.namespace}/{template} to share claims of"
                    raise Misfit(f"{_AT}.resourceSharing", said)
                spec = found.spec
            meta = spec.metadata.model_copy(
                update={"name": name, "namespace": workload.metadata.namespace, "owner_references": (owner,)}
            )
            yield ResourceClaim(metadata=meta, spec=spec.spec)


def _template_spec(given: Any) -> ResourceClaimTemplateSpec:
    """Return the spec of a claim template that stands in a set, with the defaults of the API server."""
    spec = set_defaults({"spec": thawed(given or {})}, "ResourceClaimTemplate", "v1")["spec"]
    try:
        return ResourceClaimTemplateSpec.from_wire(spec)
    except ValidationError as error:
        raise Misfit(f"{_AT}.resourceClaimTemplates", f"the claim template does not fit: {error.title}") from None


def _index(pod: Pod) -> str:
    """Return which of its clique a pod is, as its label says."""
    return pod.metadata.labels.get("grove.io/podclique-pod-index", "")


def _belongs(pod: Pod, clique: str) -> bool:
    owners = pod.metadata.owner_references
    return pod.metadata.labels.get(CLIQUE) == clique or any(each.name == clique for each in owners)


def _template(labels: Mapping[str, str], spec: Mapping[str, Any], at: str) -> Mapping[str, Any]:
    found = template_in({"template": {"spec": value_at(spec, "podSpec")}}, "template", at)
    if not found["spec"]:
        raise Misfit(f"{at}.podSpec", "there is no pod spec")
    return labelled(found, labels)


def _texts(value: Any, path: str) -> tuple[str, ...]:
    found = value_at(value, path)
    return tuple(each for each in found if isinstance(each, str)) if isinstance(found, list | tuple) else ()


def _sharing(given: Sequence[Mapping[str, Any]], owner: str, index: int) -> list[_Shared]:
    return [
        _Shared(
            text(each, "name"),
            owner,
            None if text(each, "scope", _ALL) == _ALL else index,
            frozenset(_texts(each, "filter.childCliqueNames")),
        )
        for each in given
    ]
