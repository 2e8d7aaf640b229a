"""
Gangs of Kubernetes itself: pod groups of another release, those of a gate that is off, and claims that pods share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from dra_alloc.api import PodResourceClaim
from dra_alloc.errors import in_brief
from dra_alloc.linting.looking import Linting
from dra_alloc.linting.rules import Hit, LintRule
from dra_alloc.linting.written import WrittenObject, at, members
from dra_alloc.manifest.kinds import GANGS, SCHEDULING_GROUP, is_read
from dra_alloc.manifest.read.paths import Path
from dra_alloc.pods.groups import has_groups, is_of_group, knows_groups
from dra_alloc.pods.naming import in_namespace
from dra_alloc.releases import Span

_EARLY: Final = Span("1.35", "1.36")
_OF_LATER: Final = {"podGroupTemplateRef": "workloadRef, with workloadName and templateName"}
_TEMPLATES: Final = {"podGroups": "podGroupTemplates, each with a name and a schedulingPolicy"}
#: (kind, version) -> fields of its spec that other versions have -> what there is in this one.
_FOREIGN: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("PodGroup", "v1alpha2"): {
        "workloadRef": "podGroupTemplateRef.workload, with workloadName and podGroupTemplateName",
        "parentCompositePodGroupName": "",
        "preemptionPolicy": "",
    },
    ("PodGroup", "v1alpha3"): _OF_LATER,
    ("PodGroup", "v1beta1"): _OF_LATER,
    ("Workload", "v1alpha1"): {"podGroupTemplates": "podGroups, each with a name and a policy"},
    ("Workload", "v1alpha2"): {**_TEMPLATES, "compositePodGroupTemplates": ""},
    ("Workload", "v1alpha3"): _TEMPLATES,
    ("Workload", "v1beta1"): _TEMPLATES,
}
#: How a pod names its gang, and the releases in which it does.
_OF_PODS: Final = {
    "workloadRef": (_EARLY, "workloadRef, with name and podGroup"),
    "schedulingGroup": (Span("1.36"), "schedulingGroup.podGroupName"),
}
#: What gates of their own guard in a pod group, or a template of one, and what comes of its loss.
_GUARDED: Final = (
    ("resourceClaims", "DRAWorkloadResourceClaims", "each pod gets a claim of its own"),
    ("schedulingConstraints", "TopologyAwareWorkloadScheduling", "its pods may be spread"),
    ("parentCompositePodGroupName", "CompositePodGroup", "the group stands alone"),
)
#: Kinds whose pods are made in several groups, and what these are called.
_IN_GROUPS: Final = {"JobSet": "Job", "LeaderWorkerSet": "group", "DisaggregatedSet": "role"}


def _gangs(linting: Linting) -> Iterator[WrittenObject]:
    return (each for each in linting.written if each.group == SCHEDULING_GROUP and each.kind in GANGS)


def _unserved(linting: Linting) -> Iterator[Hit]:
    """Yield gangs in versions that the release does not have."""
    release = linting.settings.profile().release
    for each in _gangs(linting):
        versions = GANGS[each.kind]
        if is_read(each.kind) and each.version not in versions:
            continue  # no release has it, which R701 says
        if not versions.get(each.version, Span("", "1.0")).holds(release):
            there = [version for version, span in versions.items() if span.holds(release)]
            said = f"Kubernetes {linting.settings.release} has no {each.kind} in {in_brief(each.api_version)}"
            yield Hit(each, ("apiVersion",), said, _instead(each, there[0]) if there else _since(each.kind))


def _instead(written: WrittenObject, version: str) -> str:
    """Return the version that is there, with what its fields are called."""
    foreign = _FOREIGN.get((written.kind, version), {})
    changed = [f"{name} is {to}" for name, to in foreign.items() if to and name in members(written.value.get("spec"))]
    return "; ".join((f"{SCHEDULING_GROUP}/{version} is there", *changed))


def _since(kind: str) -> str:
    return f"{kind} is there since {min(span.start for span in GANGS[kind].values())}"


def _foreign(linting: Linting) -> Iterator[Hit]:
    """Yield fields of gangs that are those of another version, or of another release's pods."""
    for each in _gangs(linting):
        spec, version = members(each.value.get("spec")), each.version
        for name, to in _FOREIGN.get((each.kind, version), {}).items():
            if name in spec:
                yield Hit(each, ("spec", name), f"a {each.kind} in {version} has no spec.{name}", to)
        mode = spec.get("disruptionMode")
        if mode is not None and version in GANGS[each.kind] and isinstance(mode, str) != (version == "v1alpha2"):
            hint = "Pod or PodGroup" if version == "v1alpha2" else "{single: {}} or {all: {}}"
            yield Hit(each, ("spec", "disruptionMode"), f"disruptionMode is of another shape in {version}", hint)
    release = linting.settings.profile().release
    there = next((to for span, to in _OF_PODS.values() if span.holds(release)), "")
    for pod in linting.pod_specs:
        for name, (span, _) in _OF_PODS.items():
            if name in pod.spec and not span.holds(release):
                said = f"pods of Kubernetes {linting.settings.release} have no {name}: each goes by itself"
                yield Hit(pod.written, (*pod.path, name), said, there)


def _gated(linting: Linting) -> Iterator[Hit]:
    """Yield gangs, and what they say, of which the gate is off."""
    release, gates = linting.settings.release, linting.settings.effective_gates()
    if not knows_groups(release):
        return
    if has_groups(release, gates):
        yield from _without(linting, gates)
        return
    off = f"gate GenericWorkload is off in Kubernetes {release}"
    on = "switch GenericWorkload on, and the API that it is in, or use a scheduler with gangs of its own"
    for each in _gangs(linting):
        yield Hit(each, ("kind",), f"no {each.kind} can be made: {off}", on)
    for pod in linting.pod_specs:
        if "schedulingGroup" in pod.spec:
            said = f"schedulingGroup is dropped, and each pod goes by itself: {off}"
            yield Hit(pod.written, (*pod.path, "schedulingGroup"), said, on)


def _without(linting: Linting, gates: Mapping[str, bool]) -> Iterator[Hit]:
    """Yield what pod groups and their templates lose where there are pod groups."""
    release = linting.settings.release
    for written in _gangs(linting):
        templates = at(written.value, ("spec", "podGroupTemplates"))
        count = len(templates) if isinstance(templates, list) else 0
        for place in (("spec",), *(("spec", "podGroupTemplates", number) for number in range(count))):
            said = members(at(written.value, place))
            for name, gate, loss in _GUARDED:
                if said.get(name) and not gates.get(gate, False):
                    text = f"{name} is dropped, and {loss}: gate {gate} is off in Kubernetes {release}"
                    yield Hit(written, (*place, name), text, f"switch {gate} on in the cluster")
            if at(said, ("schedulingPolicy", "gang")) is not None and not gates.get("GangScheduling", True):
                text = f"pods of the gang go one by one: gate GangScheduling is off in Kubernetes {release}"
                path = (*place, "schedulingPolicy", "gang")
                yield Hit(written, path, text, "switch GangScheduling on in the cluster")


class _Entry(NamedTuple):
    """The three fields of a claim of a pod, or of a group, as they are written."""

    name: Any
    resourceClaimName: Any  # noqa: N815 - the names of the fields
    resourceClaimTemplateName: Any  # noqa: N815


#: The same fields of `PodResourceClaim`.
_OF_ENTRY: Final = ("name", "resource_claim_name", "resource_claim_template_name")


def _nearly(linting: Linting) -> Iterator[Hit]:
    """Yield claims of pods that are those of their group but for one field."""
    both = (in_namespace(each, linting.namespace) for each in (linting.cluster, linting.documents) if each is not None)
    groups: dict[str, list[PodResourceClaim]] = {}
    for each in (group for some in both for group in some.pod_groups):
        groups.setdefault(each.metadata.full_name, []).extend(each.spec.resource_claims)
    for pod in linting.pod_specs:
        called = at(pod.spec, ("schedulingGroup", "podGroupName"))
        claims = groups.get(f"{linting.namespace_of(pod.written)}/{called}", ())
        for path, entry in pod.claims():
            mine = _Entry(*(entry.get(name) for name in _Entry._fields))
            for entry_of_group in claims if not _is_of(mine, claims) else ():
                theirs = _Entry(*(getattr(entry_of_group, name) for name in _OF_ENTRY))
                other = [field for field in _Entry._fields if (getattr(mine, field) or None) != getattr(theirs, field)]
                if len(other) == 1 or mine.name == theirs.name:
                    said = f"no claim of pod group {in_brief(called)}, but one of the pod: {_both(other)}"
                    wanted = ", ".join(f"{field}: {getattr(theirs, field) or 'none'}" for field in other)
                    yield Hit(pod.written, path, said, f"the group's has {wanted}")


def _both(fields: list[str]) -> str:
    return f"{' and '.join(fields)} {'differs' if len(fields) == 1 else 'differ'}"


def _is_of(entry: _Entry, claims: Sequence[PodResourceClaim]) -> bool:
    return is_of_group(PodResourceClaim.made(**dict(zip(_OF_ENTRY, entry, strict=True))), claims)


def _across(linting: Linting) -> Iterator[Hit]:
    """Yield claims that the pods of all groups of an object share, as their templates name them."""
    uses: dict[tuple[WrittenObject, str], list[tuple[Path, int]]] = {}
    for pod in linting.pod_specs:
        if pod.written.kind in _IN_GROUPS:
            for path, entry in pod.claims():
                name = entry.get("resourceClaimName")
                if isinstance(name, str) and name:
                    count = linting.pod_counts.get((pod.written, pod.path), 1)
                    uses.setdefault((pod.written, name), []).append(((*path, "resourceClaimName"), count))
    counts = Counter({key: sum(count for _, count in found) for key, found in uses.items()})
    for (written, name), found in uses.items():
        if counts[written, name] > 1:
            one = _IN_GROUPS[written.kind]
            said = f"all {counts[written, name]:,} pods share claim {in_brief(name)}, not those of each {one}"
            hint = f"resourceClaimTemplateName makes one a pod; a PodGroup's resourceClaims one for each {one}"
            yield from (Hit(written, path, said, hint) for path, _ in found)


RULES: Final = (
    LintRule("R705", "error", "the release has gangs in another version", finds=_unserved),
    LintRule("R706", "error", "the field is one of another version's gangs", finds=_foreign),
    LintRule("R707", "warning", "the gate of a gang is off", finds=_gated),
    LintRule("W809", "warning", "a claim of a pod is nearly one of its group", finds=_nearly),
    LintRule("W810", "warning", "groups of pods share one claim by its name", finds=_across),
)
