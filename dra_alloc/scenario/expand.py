"""
What pods and claims objects make: the question behind `dra-alloc expand`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from dra_alloc.api import Pod, PodResourceClaimStatus, ResourceClaim
from dra_alloc.api._base import freeze_json
from dra_alloc.cluster.settings import DEFAULT_SETTINGS, Settings
from dra_alloc.errors import NAME_SHOWN, ManifestError, Problem, Where, in_brief
from dra_alloc.manifest import Documents
from dra_alloc.manifest.given import documents_of
from dra_alloc.manifest.make.inspection import plain
from dra_alloc.pods.claims import ClaimsThere
from dra_alloc.pods.expanding import ExpandedPod, expanded
from dra_alloc.pods.naming import in_namespace, named
from dra_alloc.pods.workloads.shapes import taught_by
from dra_alloc.pods.workloads.states import PodState
from dra_alloc.scenario.prepare.grouping import groups_stored


@dataclass(frozen=True, slots=True)
class Expansion:
    """
    The pods that objects have or make, the claims that are made for them, what is wrong, and what to know.

    Which claim stands behind an entry of a pod is in the pod's status.
    """

    pods: tuple[ExpandedPod, ...]
    claims: tuple[ResourceClaim, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]

    def required(self) -> Expansion:
        """Return the same, if nothing is wrong with it. Raises: ManifestError, with every problem."""
        if self.problems:
            raise ManifestError(list(self.problems))
        return self


def expand(
    objects: Documents | Iterable[Any],
    cluster: Documents | Iterable[Any] = (),
    *,
    namespace: str = "default",
    pod_templates: Sequence[str] = (),
    settings: Settings = DEFAULT_SETTINGS,
) -> Expansion:
    """
    Return the pods and claims that objects make, each once, as their controllers would make them.

    Objects are models of `dra_alloc.api`, plain dictionaries, or those of the
    official client; `cluster` has what is there already: nodes, for
    DaemonSets, and pods that controllers count. `pod_templates` teach kinds
    that are not known, each as ``KIND=PATH[:COUNT]``. What cannot be expanded
    is among the problems of the result. `settings` say whether there are pod
    groups, whose claims are made, too.

    Spec: EXPAND-1 to EXPAND-52. Raises: InputError, ManifestError for objects that cannot be read.
    """
    taught = [taught_by(each) for each in pod_templates]
    dump = in_namespace(documents_of(cluster), namespace)
    manifests = named(in_namespace(documents_of(objects), namespace), dump)
    nodes = tuple({each.metadata.name: each for each in (*dump.nodes, *manifests.nodes)}.values())
    found = expanded(manifests, dump, nodes, taught)
    groups = (*dump.pod_groups, *groups_stored(manifests, settings)[0].pod_groups)
    there = ClaimsThere.of(
        (*dump.claims, *manifests.claims, *found.claims), (*dump.templates, *manifests.templates), groups
    )
    made: list[ResourceClaim] = [*found.claims, *there.made_for_groups()]
    wrong: dict[tuple[int, str], tuple[Any, Problem]] = {}
    pods = [_with_claims(each, there, made, wrong) for each in _as_written(found.pods, manifests)]
    problems = manifests.placed([*found.problems, *wrong.values()])
    return Expansion(tuple(pods), tuple(made), tuple(problems), found.notes)


def _as_written(pods: Sequence[ExpandedPod], manifests: Documents) -> Iterator[ExpandedPod]:
    """Yield the pods, those that stand in the input with all of their spec."""
    specs = {id(item): value.get("spec") for item, value in manifests.written(each.pod for each in pods)}
    for each in pods:
        spec = specs.get(id(each.pod))
        wire = freeze_json(plain(spec)) if isinstance(spec, Mapping) else each.wire
        yield replace(each, wire=wire) if wire is not each.wire else each


_CLAIMED: Final = (PodState.NEW, PodState.WAITING, PodState.GATED)


def _with_claims(
    found: ExpandedPod, there: ClaimsThere, made: list[ResourceClaim], wrong: dict[tuple[int, str], tuple[Any, Problem]]
) -> ExpandedPod:
    """Return a pod whose status says which claims it has, and note those that are made and what is missing."""
    if found.state not in _CLAIMED or not found.pod.spec.resource_claims:
        return found
    statuses: list[PodResourceClaimStatus] = []
    for use in there.of_pod(found.pod):
        entry = found.pod.spec.resource_claims[use.position]
        if use.missing is not None:
            kind, name = use.missing
            field = "resourceClaimName" if kind == "ResourceClaim" else "resourceClaimTemplateName"
            path = f"{found.path}.resourceClaims[{use.position}].{field}"
            shown = "/".join(in_brief(part, NAME_SHOWN) for part in name.split("/", 1))
            problem = Problem(f"there is no {kind} {shown}", Where(path=path), "it is not among the objects")
            wrong[id(found.owner), path] = found.owner, problem
        elif entry.resource_claim_template_name:
            claim = use.claim
            if isinstance(claim, ResourceClaim):
                made.append(claim)
                claim = claim.metadata.full_name
            called = claim.rpartition("/")[2] if claim else None
            statuses.append(PodResourceClaimStatus.made(name=entry.name, resource_claim_name=called))
    status = found.pod.status.replaced(resource_claim_statuses=tuple(statuses))
    return replace(found, pod=found.pod.replaced(status=status))


def objects_of(found: Expansion) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """
    Yield pods and claims as kubectl takes them, each with a word on where it comes from.

    Left out are pods that are over or about to go, and owners without a UID, which the API server refuses.
    """
    gone = (PodState.FINISHED, PodState.TERMINATING, PodState.LEAVING)
    for each in found.pods:
        if each.state not in gone:
            owner = each.owner
            source = f"{owner.kind} {owner.metadata.full_name}: " if not isinstance(owner, Pod) else ""
            yield f"{source}{each.state}", _written(each)
    for claim in found.claims:
        yield _maker(claim), _without_lone_owners(claim.to_wire())


def _maker(claim: ResourceClaim) -> str:
    owner = next(iter(claim.metadata.owner_references), None)
    return f"{owner.kind} {owner.name}: new" if owner is not None else str(PodState.NEW)


def _written(found: ExpandedPod) -> Mapping[str, Any]:
    wire = found.pod.to_wire()
    if found.wire:
        wire["spec"] = found.wire
    return _without_lone_owners(wire)


def _without_lone_owners(wire: dict[str, Any]) -> Mapping[str, Any]:
    metadata = dict(wire["metadata"])
    owners = [each for each in metadata.pop("ownerReferences", ()) if each.get("uid")]
    if owners:
        metadata["ownerReferences"] = owners
    return {**wire, "metadata": metadata}
