"""
Pod groups of the input where their gates are off: what becomes of them, and of their pods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from dra_alloc.api import PodGroup, PodGroupConstraints, PriorityClass
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import Problem, Where, first_few
from dra_alloc.manifest import Documents
from dra_alloc.manifest.kinds import GANGS, no_match
from dra_alloc.pods.admission import BUILT_IN
from dra_alloc.pods.expanding import ExpandedPod
from dra_alloc.pods.groups import group_name, has_groups, is_grouping, knows_groups, least_of
from dra_alloc.releases import parse_release


@dataclass(frozen=True, slots=True)
class _Gated:
    """A field of a group's spec that is dropped where a gate is off: what it gives, and what becomes of the group."""

    gate: str
    field: str
    empty: Any
    given: Callable[[PodGroup], Any]
    said: str


_COMPOSITE: Final = "CompositePodGroup"
_GATED: Final = (
    _Gated(
        "DRAWorkloadResourceClaims",
        "resource_claims",
        (),
        lambda group: group.spec.resource_claims,
        "its resourceClaims are dropped: each of its pods gets claims of its own",
    ),
    _Gated(
        "TopologyAwareWorkloadScheduling",
        "scheduling_constraints",
        PodGroupConstraints.model_construct(),
        lambda group: group.spec.scheduling_constraints.topology,
        "its schedulingConstraints are dropped: its pods may be spread",
    ),
    _Gated(
        _COMPOSITE,
        "parent_composite_pod_group_name",
        None,
        lambda group: group.spec.parent_composite_pod_group_name,
        "its parentCompositePodGroupName is dropped: it is scheduled by itself",
    ),
)
#: What a group may have at most.
_CLAIMS: Final = 4
_PRIORITY: Final = 1_000_000_000


def groups_stored(manifests: Documents, settings: Settings) -> tuple[Documents, tuple[str, ...]]:
    """
    Return the manifests with pod groups as they are stored, and a note on each that is not, or not whole.

    Spec: PODGROUP-8, PODGROUP-9, PODGROUP-11.
    """
    if not manifests.pod_groups:
        return manifests, ()
    gates = settings.effective_gates()
    single: tuple[str, ...] = ()
    if not is_grouping(settings.release, gates):
        single = tuple([_singly(each, settings) for each in manifests.pod_groups])
    if not has_groups(settings.release, gates):
        return replace(manifests, pod_groups=()), single
    dropped = [each for each in _GATED if not gates.get(each.gate, False)]
    notes = [
        f"PodGroup {group.metadata.full_name}: {each.gate} is off, {each.said}"
        for each in dropped
        for group in manifests.pod_groups
        if each.given(group)
    ]

    def without(group: PodGroup) -> PodGroup:
        fields = {each.field: each.empty for each in dropped if each.given(group)}
        return group.replaced(spec=group.spec.replaced(**fields)) if fields else group

    return manifests.mapped(without, "pod_groups"), (*single, *notes)


def _singly(group: PodGroup, settings: Settings) -> str:
    gates = settings.effective_gates()
    if not knows_groups(settings.release):
        why = f"{settings.release} has no PodGroup"
    elif gates["GenericWorkload"]:
        why = "GangScheduling is off"
    else:
        why = f"GenericWorkload is off in {settings.release}, so that there is no PodGroup"
    least = least_of(group)
    gang = f", not as a gang of at least {least}" if group.spec.scheduling_policy.gang is not None else ""
    return f"PodGroup {group.metadata.full_name}: {why}: its pods are scheduled one by one{gang} ({_needed(settings)})"


def _needed(settings: Settings) -> str:
    gates = settings.effective_gates()
    if not knows_groups(settings.release):
        return "there are groups since 1.36"
    off = [each for each in ("GenericWorkload", "GangScheduling") if not gates.get(each, each == "GangScheduling")]
    return " ".join(f"--gate {each}=true" for each in off)


def group_faults(manifests: Documents, classes: Sequence[PriorityClass]) -> Iterator[tuple[PodGroup, Problem]]:
    """
    Yield what the API server refuses of groups that are stored; without any class given, which there are is not known.

    Spec: PODGROUP-13.
    """
    known = [*BUILT_IN, *(each.metadata.name for each in classes)]
    for group in manifests.pod_groups:
        spec, policy = group.spec, group.spec.scheduling_policy
        gang, named, priority = policy.gang, spec.priority_class_name, spec.priority or 0
        for wrong, path, said in (
            ((policy.basic is None) is (gang is None), "schedulingPolicy", "has to have either basic or gang"),
            (gang is not None and gang.min_count < 1, "schedulingPolicy.gang.minCount", "has to be at least 1"),
            (len(spec.resource_claims) > _CLAIMS, "resourceClaims", f"has to have at most {_CLAIMS} items"),
            (len(spec.scheduling_constraints.topology) > 1, "schedulingConstraints.topology", "has at most one item"),
            (priority > _PRIORITY, "priority", f"has to be at most {_PRIORITY}"),
            (classes and named and named not in known, "priorityClassName", f"there is no PriorityClass {named}"),
        ):
            if wrong:
                yield group, Problem(said, Where(path=f"spec.{path}"))


def unserved_groups(manifests: Documents, settings: Settings) -> Iterator[tuple[PodGroup, Problem]]:
    """Yield a problem for each group that was read in a version that the release does not have. Spec: PODGROUP-12."""
    release = parse_release(settings.release)
    there = [version for version, span in GANGS["PodGroup"].items() if span.holds(release)]
    for group in manifests.pod_groups:
        place = manifests.places.get(id(group))
        if there and place is not None and place.version not in there:
            hint = f"Kubernetes {settings.release} has {', '.join(there)}"
            yield group, Problem(no_match(group.api_version, group.kind), Where(path="apiVersion"), hint)


def composite_problems(
    pods: tuple[ExpandedPod, ...], groups: Sequence[PodGroup], settings: Settings
) -> Iterator[tuple[Any, Problem]]:
    """Yield a problem for pods of groups that are parts of others, which are not modelled. Spec: PODGROUP-14."""
    gates = settings.effective_gates()
    if not (is_grouping(settings.release, gates) and gates.get(_COMPOSITE, False)):
        return
    parts = {each.metadata.full_name for each in groups if each.spec.parent_composite_pod_group_name}
    for each in pods:
        name = group_name(each.pod)
        if each.is_asked and name in parts:
            text = f"PodGroup {name} is part of a {_COMPOSITE}: groups of groups are not modelled"
            hint = f"with --gate {_COMPOSITE}=false it is scheduled by itself"
            yield each.owner, Problem(text, Where(path=f"{each.path}.schedulingGroup"), hint)


def group_problems(pods: tuple[ExpandedPod, ...], dump: Documents, settings: Settings) -> Iterator[tuple[Any, Problem]]:
    """Yield a problem for pods of groups that the cluster has although the gates say it cannot. Spec: PODGROUP-8."""
    if not dump.pod_groups or has_groups(settings.release, settings.effective_gates()):
        return
    there = {each.metadata.full_name for each in dump.pod_groups}
    for each in pods:
        name = group_name(each.pod)
        if each.is_asked and name in there:
            text = f"PodGroup {name} is in the cluster, so that its scheduler has GenericWorkload on"
            hint = f"ask with {_needed(settings)}"
            yield each.owner, Problem(text, Where(path=f"{each.path}.schedulingGroup"), hint)


def group_notes(pods: tuple[ExpandedPod, ...], settings: Settings, said: Sequence[str]) -> Iterator[str]:
    """Yield what is not known or not looked at of groups of pods that are asked, beside what is `said`."""
    names = dict.fromkeys(name for each in pods if each.is_asked and (name := group_name(each.pod)))
    if not names:
        return
    if not is_grouping(settings.release, settings.effective_gates()):
        unsaid = [name for name in names if not any(each.startswith(f"PodGroup {name}:") for each in said)]
        if unsaid:
            dropped = f"pods name groups ({first_few(unsaid)}), which {settings.release} drops"
            yield f"{dropped}: they are scheduled one by one ({_needed(settings)})"
