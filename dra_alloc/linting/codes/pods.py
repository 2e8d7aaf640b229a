"""
Pods, what makes them and what governs them: how they name claims, share them, and are counted and grouped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from dra_alloc.api.core.nodes import HOSTNAME
from dra_alloc.errors import first_few, in_brief
from dra_alloc.limits import RESERVED_FOR_MAX_SIZE
from dra_alloc.linting.looking import Linting, WrittenPodSpec
from dra_alloc.linting.mending import changed_at, renamed
from dra_alloc.linting.rules import Hit, LintRule
from dra_alloc.linting.written import at, members
from dra_alloc.manifest.kinds import RESOURCE_GROUP
from dra_alloc.manifest.read.paths import Path
from dra_alloc.manifest.validate.violations import FieldFault

_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
#: (group, kind) that nobody has -> what there is.
_NOBODYS: Final = {
    ("scheduling.kai.io", "Queue"): "KAI's queues are scheduling.run.ai/v2, with spec.resources.gpu.{quota,limit,"
    "overQuotaWeight}",
    ("scheduling.kai.io", "PodGroup"): "KAI's pod groups are scheduling.run.ai/v2alpha2",
    ("scheduling.run.ai", "Topology"): "KAI's topologies are kai.scheduler/v1alpha1, with spec.levels[].nodeLabel",
    ("grove.io", "PodGang"): "PodGangs are scheduler.grove.io/v1alpha1, and Grove makes them of a PodCliqueSet",
}
#: (group, kind) -> fields of its spec that it does not have -> what there is.
_INVENTED: Final = {
    ("grove.io", "PodCliqueSet"): {
        "startupOrder": "spec.template.cliqueStartupType, with startsAfter in the cliques",
        "scaling": "spec.replicas, and autoScalingConfig of a clique",
        "podCliques": "spec.template.cliques[], each with a spec",
        "cliques": "spec.template.cliques[], each with a spec",
        "podCliqueScalingGroups": "spec.template.podCliqueScalingGroups[]",
        "topologyConstraint": "spec.template.topologyConstraint, with topologyName and pack",
    },
}
_KAI_LABELS: Final = ("pod-group.scheduling.run.ai/name", "pod-group.scheduling.run.ai/group-id")
_OF_CLASS: Final = re.compile(
    r"(?!count/|requests\.|limits\.)(?P<name>[a-z0-9][-a-z0-9.]*?)(?:\.deviceclass)?\.resource\.k8s\.io/(?P<what>\w+)"
)
_USE: Final = re.compile(r"\.claims\[\d+\]$")
_USED: Final = re.compile(r"\.claims\[\d+\]\.request$")
_COUNTED: Final = ("resourceclaims", "resourceclaimtemplates", "deviceclasses", "resourceslices")


def _nobodys(linting: Linting) -> Iterator[Hit]:
    for each in linting.written:
        hint = _NOBODYS.get((each.group, each.kind))
        if hint:
            yield Hit(each, ("apiVersion",), f"nobody has a kind {each.kind} in {in_brief(each.api_version)}", hint)


def _invented(linting: Linting) -> Iterator[Hit]:
    for each in linting.written:
        for name, hint in _INVENTED.get((each.group, each.kind), {}).items():
            if name in members(each.value.get("spec")):
                yield Hit(each, ("spec", name), f"a {each.kind} has no spec.{name}", hint)


def _uncounted(linting: Linting) -> Iterator[Hit]:
    """Yield names of quotas that nothing is counted under."""
    for each in linting.written:
        if (each.group, each.kind) == ("", "ResourceQuota"):
            for name in members(at(each.value, ("spec", "hard"))):
                meant = _counted_as(str(name))
                if meant:
                    path = ("spec", "hard", name)
                    yield Hit(each, path, f"nothing is counted as {in_brief(str(name))}", f'did you mean "{meant}"?')


def _counted_as(name: str) -> str:
    """Return the name that is counted, where another one is given."""
    count = name.removeprefix("count/").removesuffix(f".{RESOURCE_GROUP}")
    if count in _COUNTED:
        meant = f"count/{count}.{RESOURCE_GROUP}"
        return "" if name == meant else meant
    found = _OF_CLASS.fullmatch(name)
    if found is None or found["name"] in _COUNTED:
        return ""
    meant = f"{found['name']}.deviceclass.{RESOURCE_GROUP}/devices"
    return "" if name == meant else meant


def _ungrouped(linting: Linting) -> Iterator[Hit]:
    for each in linting.pod_specs:
        labels, annotations = members(each.metadata.get("labels")), members(each.metadata.get("annotations"))
        name = next((label for label in _KAI_LABELS if label in labels), "")
        if name and "pod-group-name" not in annotations:
            at_label = (*each.path[:-1], "metadata", "labels", name)
            said = f"label {name} attaches no pod to a pod group: KAI makes one group a pod"
            hint = "annotation pod-group-name on the pod, and kai.scheduler/skip-podgrouper on what makes it"
            yield Hit(each.written, at_label, said, hint)


def _subrequests(linting: Linting) -> Iterator[Hit]:
    """Yield uses of alternatives, and of requests by a name that joins claim and request."""
    for each in linting.pod_specs:
        known = [entry.get("name") for _, entry in each.claims()]
        for path, use in _uses(each):
            request, name = use.get("request"), use.get("name")
            if isinstance(request, str) and "/" in request:
                said = "containers name requests of a claim, and get whichever alternative is taken"
                yield Hit(each.written, (*path, "request"), said, f"request: {request.partition('/')[0]}")
            elif isinstance(name, str) and (parts := name.split("/"))[0] in known and len(parts) > 1:
                said = "containers name a claim, and one of its requests beside it"
                yield Hit(each.written, path, said, f"{{name: {parts[0]}, request: {parts[1]}}}")


def _whole_request(value: Any, path: Path, _hint: str) -> Any:
    """Leave the alternative out of a request, and make claim and request of a name that joins them."""
    if path[-1] == "request":
        return changed_at(value, path, lambda text: text.partition("/")[0] if isinstance(text, str) else None)

    def change(use: Any) -> Any:
        name, *rest = str(use.get("name")).split("/") if isinstance(use, dict) else [""]
        return {**use, "name": name, "request": rest[0]} if rest and rest[0] and "request" not in use else None

    return changed_at(value, path, change)


def _names_alternative(fault: FieldFault, value: Any) -> bool:
    """Say whether validation refuses what `_subrequests` finds."""
    if _USED.search(fault.where.path):
        return isinstance(value, str) and "/" in value
    name = members(value).get("name")
    return bool(_USE.search(fault.where.path)) and isinstance(name, str) and "/" in name


def _uses(pod: WrittenPodSpec) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield what containers say of the claims that they use."""
    for kind in _CONTAINERS:
        containers = pod.spec.get(kind)
        for number, container in enumerate(containers if isinstance(containers, list) else ()):
            path = (*pod.path, kind, number, "resources", "claims")
            claims = at(container, ("resources", "claims"))
            for index, use in enumerate(claims if isinstance(claims, list) else ()):
                yield (*path, index), members(use)


def _shared(linting: Linting) -> Iterator[tuple[WrittenPodSpec, Path, str, int]]:
    """Yield the claims that several pods of an object name, each with the number of these."""
    for each in linting.pod_specs:
        for path, entry in each.claims():
            name = entry.get("resourceClaimName")
            if isinstance(name, str) and name:
                count = linting.pod_counts.get((each.written, each.path), 1)
                if count > 1:
                    yield each, (*path, "resourceClaimName"), name, count


def _overused(linting: Linting) -> Iterator[Hit]:
    for pod, path, name, copies in _shared(linting):
        if copies > RESERVED_FOR_MAX_SIZE:
            said = f"{copies:,} pods name claim {in_brief(name)}, and {RESERVED_FOR_MAX_SIZE} pods can use one"
            yield Hit(pod.written, path, said, "resourceClaimTemplateName gives each pod a claim of its own")


def _apart(linting: Linting) -> Iterator[Hit]:
    """Yield claims that pods share which may not run on one node."""
    for pod, path, name, copies in _shared(linting):
        if _keeps_apart(pod):
            said = f"{copies:,} pods share claim {in_brief(name)}, and no two of them may run on one node"
            hint = "devices of a node are used there alone: resourceClaimTemplateName gives each pod a claim of its own"
            yield Hit(pod.written, path, f"{said}: only one of them gets to its devices", hint)


def _keeps_apart(pod: WrittenPodSpec) -> bool:
    terms = at(pod.spec, ("affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"))
    labels = members(pod.metadata.get("labels"))
    for term in terms if isinstance(terms, list) else ():
        selector = members(members(term).get("labelSelector"))
        wanted = members(selector.get("matchLabels"))
        alone = wanted and not selector.get("matchExpressions")
        alone = alone and all(labels.get(name) == value for name, value in wanted.items())
        if alone and members(term).get("topologyKey") == HOSTNAME:
            return True
    return False


def _idle(linting: Linting) -> Iterator[Hit]:
    for each in linting.pod_specs:
        used = {name.partition("/")[0] for _, use in _uses(each) if isinstance(name := use.get("name"), str)}
        for path, entry in each.claims():
            name = entry.get("name")
            if isinstance(name, str) and name not in used:
                known = first_few(sorted(used)) or "none"
                said = f"no container uses claim {in_brief(name)}: it is allocated, and its devices reach none"
                yield Hit(each.written, path, said, f"name it in resources.claims of a container; used are: {known}")


RULES: Final = (
    LintRule("W801", "error", "nobody has the kind", finds=_nobodys),
    LintRule("W802", "error", "the kind has no such field", finds=_invented),
    LintRule(
        "W803",
        "warning",
        "nothing is counted under the name in a quota",
        finds=_uncounted,
        fix="unsafe",
        mend=(renamed,),
    ),
    LintRule("W804", "warning", "the pods are not attached to their group", finds=_ungrouped),
    LintRule(
        "W805",
        "error",
        "containers name requests, not alternatives",
        finds=_subrequests,
        takes=_names_alternative,
        instead="name the claim, and beside it the request by its first name: {name: CLAIM, request: REQUEST}",
        fix="safe",
        mend=(_whole_request,),
    ),
    LintRule("W806", "error", "more pods name a claim than can use one", finds=_overused),
    LintRule("W807", "warning", "pods that may not share a node share a claim", finds=_apart),
    LintRule("W808", "info", "no container uses a claim of its pod", finds=_idle),
)
