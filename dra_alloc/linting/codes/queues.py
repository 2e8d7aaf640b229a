"""
Queue systems: queues that let nobody in or limit nothing, and claims that a queue refuses or does not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dra_alloc.api import Quantity
from dra_alloc.errors import in_brief
from dra_alloc.linting.looking import ClaimAsked, Linting, WrittenPodSpec
from dra_alloc.linting.rules import Hit, LintRule
from dra_alloc.linting.written import at, members
from dra_alloc.manifest.read.paths import Path, tokens, with_positions
from dra_alloc.pods.workloads.pod_gangs import old_fields, set_faults
from dra_alloc.pods.workloads.reading import items
from dra_alloc.queues.kueue.labels import QUEUE, kueue_label
from dra_alloc.queues.kueue.mappings import MAPPINGS, mappings_of
from dra_alloc.queues.reading import ObjectReading
from dra_alloc.queues.topologies import bound_topology

_KAI: Final = "kai.scheduler/queue"
_OF_KAI: Final = ("cpu", "memory", "gpu")


def _closed(linting: Linting) -> Iterator[Hit]:
    """Yield limits of KAI's queues that let nothing in."""
    for each in linting.written:
        if (each.group, each.kind) == ("scheduling.run.ai", "Queue"):
            for name in _OF_KAI:
                path = ("spec", "resources", name, "limit")
                limit = at(each.value, path)
                if type(limit) in (int, float) and limit == 0:
                    said = f"a limit of 0 lets no pod in that asks for {name}"
                    yield Hit(each, path, said, "-1 is no limit")


def _unlimited(linting: Linting) -> Iterator[Hit]:
    """Yield device classes of which a queue of Volcano is to have none, and has as many as there are."""
    for each in linting.written:
        if (each.group, each.kind) == ("scheduling.volcano.sh", "Queue"):
            for key, amount in members(at(each.value, ("spec", "capability"))).items():
                if str(key).startswith("deviceclass/") and _is_zero(amount):
                    said = f"0 of {in_brief(key)} limits nothing: Volcano takes it for no limit"
                    yield Hit(each, ("spec", "capability", key), said, "1 is the least that limits")


def _is_zero(amount: Any) -> bool:
    try:
        return amount is not None and Quantity.from_wire(amount).nano == 0
    except ValueError:
        return False


def _used(linting: Linting, pods: Iterator[WrittenPodSpec]) -> Iterator[tuple[WrittenPodSpec, ClaimAsked, Path]]:
    """Yield the templates of the documents that pods use, once each, and the path of the first use."""
    templates: dict[tuple[str, str], ClaimAsked] = {}
    for each in linting.claims:
        if each.written.kind == "ResourceClaimTemplate":
            metadata = members(each.written.value.get("metadata"))
            templates.setdefault((linting.namespace_of(each.written), str(metadata.get("name"))), each)
    seen: set[int] = set()
    for pod in pods:
        namespace = linting.namespace_of(pod.written)
        for path, entry in pod.claims():
            found = templates.get((namespace, str(entry.get("resourceClaimTemplateName"))))
            if found is not None and id(found) not in seen:
                seen.add(id(found))
                yield pod, found, path


def _of_kueue(linting: Linting) -> Iterator[WrittenPodSpec]:
    for each in linting.pod_specs:
        if kueue_label(QUEUE, each.written.kind, each.written.value, members(each.metadata.get("labels"))):
            yield each


def _refused(linting: Linting) -> Iterator[Hit]:
    """Yield claims that Kueue admits no workload with."""
    for pod in _of_kueue(linting):
        for path, entry in pod.claims():
            if entry.get("resourceClaimName"):
                said = "Kueue admits no workload that names a claim"
                yield Hit(pod.written, (*path, "resourceClaimName"), said, "resourceClaimTemplateName")
    for pod, claim, _ in _used(linting, _of_kueue(linting)):
        for number, request in enumerate(claim.devices.requests):
            such = f"such as {in_brief(pod.written.called)}"
            if request.exactly is None:
                said = f"Kueue 0.19 admits no workload with a claim of alternatives, {such}"
                yield Hit(claim.written, claim.where("requests", number, "firstAvailable"), said, "exactly one of them")
            elif request.exactly.allocation_mode == "All" and not request.exactly.admin_access:
                path = claim.where("requests", number, "exactly", "allocationMode")
                said = f"Kueue admits no workload with a claim for all devices, {such}"
                yield Hit(claim.written, path, said, "ExactCount, and a count")


def _unmapped(linting: Linting) -> Iterator[Hit]:
    """Yield classes that the Configuration given does not map."""
    cluster = linting.cluster.queueing if linting.cluster is not None else ()
    configurations = [each for each in (*cluster, *linting.documents.queueing) if each.kind == "Configuration"]
    if not configurations:
        return
    # The last one counts, as for `admit`; a class in a mapping that is wrong is in one: that is told of the mapping.
    names = [each.get("deviceClassNames") for each in items(configurations[-1].body, MAPPINGS)]
    lists = (each if isinstance(each, list | tuple) else [each] for each in names)
    mapped = {name for each in lists for name in each if isinstance(name, str)}
    for _, claim, _ in _used(linting, _of_kueue(linting)):
        for number, request in enumerate(claim.devices.requests):
            exactly = request.exactly
            if exactly is not None and not exactly.admin_access and exactly.device_class_name not in mapped:
                path = claim.where("requests", number, "exactly", "deviceClassName")
                said = (
                    f"Kueue cannot charge class {in_brief(exactly.device_class_name)}: it is in no deviceClassMapping"
                )
                yield Hit(claim.written, path, said, "a mapping of it in resources.deviceClassMappings")


def _annotated(linting: Linting) -> Iterator[Hit]:
    """Yield queues that annotations name, where Kueue reads labels. Spec: KUEUE-36."""
    for each in linting.written:
        metadata = members(each.value.get("metadata"))
        labels = members(metadata.get("labels"))
        if QUEUE in members(metadata.get("annotations")) and not kueue_label(QUEUE, each.kind, each.value, labels):
            said = f"Kueue reads {QUEUE} of labels, and an annotation puts nothing into a queue"
            yield Hit(each, ("metadata", "annotations", QUEUE), said, "the same under metadata.labels")


def _malformed(linting: Linting) -> Iterator[Hit]:
    """Yield what Kueue refuses of the mappings of a Configuration. Spec: KUEUE-10."""
    for each in linting.documents.queueing:
        written = linting.written_of(each)
        if each.kind == "Configuration" and written is not None:
            for problem in mappings_of(each.body)[1]:
                path = with_positions(tokens(problem.where.path), written.value)
                yield Hit(written, path, f"Kueue does not start: {problem.message}", problem.hint)


def _uncounted(linting: Linting) -> Iterator[Hit]:
    """Yield requests that KAI counts for no queue."""
    pods = (
        each
        for each in linting.pod_specs
        if each.labels().get(_KAI) or each.spec.get("schedulerName") == "kai-scheduler"
    )
    for _, claim, _ in _used(linting, pods):
        for number, request in enumerate(claim.devices.requests):
            if request.exactly is None:
                path = claim.where("requests", number, "firstAvailable")
                yield Hit(claim.written, path, "KAI counts no device of a request with alternatives for its queue")
            elif "gpu" not in request.exactly.device_class_name.lower():
                path = claim.where("requests", number, "exactly", "deviceClassName")
                name = in_brief(request.exactly.device_class_name)
                said = f"KAI counts no device of class {name} for its queue"
                yield Hit(claim.written, path, said, 'it counts those of classes with "gpu" in the name')


def _refused_sets(linting: Linting) -> Iterator[Hit]:
    """Yield what Grove refuses of its sets. Spec: GANGTREE-10."""
    cluster = linting.cluster.queueing if linting.cluster is not None else ()
    given = [each for each in (*cluster, *linting.documents.queueing) if each.kind == "ClusterTopologyBinding"]
    bindings = {each.name: bound_topology(ObjectReading(each.body, [])).aliases for each in given} or None
    for each in linting.documents.workloads:
        written = linting.written_of(each) if (each.group, each.kind) == ("grove.io", "PodCliqueSet") else None
        if written is None:
            continue
        for path, said in set_faults(each, bindings):
            yield Hit(written, with_positions(tokens(path), written.value), f"Grove refuses the set: {said}")
        for path in old_fields(each):
            said = "Grove takes packDomain of sets that are there already, and of no new ones"
            yield Hit(written, with_positions(tokens(path), written.value), said, "pack: {required: ...}")


RULES: Final = (
    LintRule("K101", "warning", "a queue of KAI lets nothing in", finds=_closed),
    LintRule("K102", "info", "KAI does not count the devices", finds=_uncounted),
    LintRule("K103", "error", "Kueue admits no workload with the claim", finds=_refused),
    LintRule("K104", "error", "Kueue cannot charge the class", finds=_unmapped),
    LintRule("K105", "warning", "0 is no limit for Volcano", finds=_unlimited),
    LintRule("K106", "error", "Kueue does not start with the mapping", finds=_malformed),
    LintRule("K107", "error", "Grove refuses the set", finds=_refused_sets),
    LintRule("K108", "warning", "a queue of Kueue is an annotation", finds=_annotated),
)
