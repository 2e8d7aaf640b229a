"""
What waits in Kueue's queues: workloads of pod sets, each with what one of its pods asks for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dra_alloc.api import Pod, Quantity
from dra_alloc.pods.amounts import PODS, in_units, pod_requests
from dra_alloc.pods.extended_resources import class_by_resource
from dra_alloc.problem.requests import IMPLICIT
from dra_alloc.queues.kueue.charge import ChargeRefused, Charging
from dra_alloc.queues.kueue.mappings import DeviceClassMapping
from dra_alloc.queues.kueue.objects import KueueObjects
from dra_alloc.queues.kueue.quotas import amount_units
from dra_alloc.queues.standing import NOT_MODELLED, TRIED, KeptOut
from dra_alloc.queues.systems import QueueSystem

_INTEGRATION: Final = "KueueDRAIntegration"
_EXTENDED: Final = "KueueDRAIntegrationExtendedResource"
_OF_SOURCES: Final = {
    "counter": "KueueDRAIntegrationPartitionableDevices",
    "capacity": "KueueDRAIntegrationConsumableCapacity",
}


@dataclass(frozen=True, slots=True)
class QueuedSet:
    """Pods of one template, `count` of them; `pod` is any."""

    name: str
    count: int
    pod: Pod


@dataclass(frozen=True, slots=True)
class QueuedWorkload:
    """
    What Kueue admits as one: pod sets in a local queue, ``namespace/name``.

    `number` says who was first. One that has its quota already has `given`: flavors by pod set and resource.
    `lacks_priority` names its WorkloadPriorityClass where that is not there; `unmade` says why Kueue makes no Workload
    of it. `least` is how few pods it may be admitted with, 0 where it has to be all.
    """

    name: str
    local_queue: str
    sets: tuple[QueuedSet, ...]
    priority: int = 0
    number: int = 0
    given: Mapping[str, Mapping[str, str]] | None = None
    lacks_priority: str = ""
    unmade: KeptOut = TRIED
    least: int = 0


@dataclass(frozen=True, slots=True)
class ChargedSet:
    """A pod set with what all its pods together ask for, by resource; in thousandths of a cpu and whole numbers."""

    asked: QueuedSet
    amounts: Mapping[str, int]

    def of(self, count: int) -> ChargedSet:
        """Return as many pods of the set."""
        amounts = {name: amount // self.asked.count * count for name, amount in self.amounts.items()}
        return ChargedSet(replace(self.asked, count=count), amounts)


def charged(workload: QueuedWorkload, charging: Charging, objects: KueueObjects) -> tuple[ChargedSet, ...]:
    """
    Return what a workload asks for.

    Spec: KUEUE-21, KUEUE-22, KUEUE-32. Raises: ChargeRefused.
    """
    if workload.lacks_priority:
        said = f"there is no WorkloadPriorityClass {workload.lacks_priority}"
        raise ChargeRefused("no-priority-class", said, retryable=True)
    return tuple(ChargedSet(each, dict(_amounts(each, charging, objects))) for each in workload.sets)


def _amounts(asked: QueuedSet, charging: Charging, objects: KueueObjects) -> Iterator[tuple[str, int]]:
    total: Counter[str] = Counter()
    for resource, whole in _plain(asked.pod, charging, objects):
        total[resource] += whole
    for resource, amount in _of_claims(asked, charging).items():
        total[resource] += amount_units(resource, amount)
    for resource, whole in total.items():
        if whole > 0 and not resource.startswith(objects.excluded):
            yield resource, whole * asked.count
    yield PODS, asked.count


def _plain(pod: Pod, charging: Charging, objects: KueueObjects) -> Iterator[tuple[str, int]]:
    """Yield what the containers ask for; an extended resource of a mapped class by the name of the mapping."""
    enabled = charging.system.on(_EXTENDED)
    classes = class_by_resource(charging.seen.classes.values()) if enabled else {}
    for resource, amount in in_units(pod_requests(pod)).items():
        if resource in objects.transformed:
            said = f"{resource} is transformed by the Configuration, which is not modelled"
            raise ChargeRefused(NOT_MODELLED, said)
        name = "" if resource.startswith(IMPLICIT) else classes.get(resource, "")
        mapping = next((each for each in charging.mappings if name in each.classes), None) if name else None
        if mapping is not None and mapping.sources:
            said = f"{resource} stands for DeviceClass {name}, which is charged by {mapping.sources[0].kind}"
            raise ChargeRefused("extended-by-source", f"{said}: extended resources are not")
        yield (resource if mapping is None else mapping.name), amount


def _of_claims(asked: QueuedSet, charging: Charging) -> Mapping[str, Quantity]:
    entries = asked.pod.spec.resource_claims
    if not entries:
        return {}
    if not charging.system.on(_INTEGRATION):
        raise ChargeRefused("gate", f"pods have claims, and {_INTEGRATION} is off")
    named = next((each.resource_claim_name for each in entries if each.resource_claim_name), None)
    if named is not None:
        said = f"podset {asked.name}: ResourceClaim {named}: Kueue does not support use of resource claims"
        raise ChargeRefused("named-claim", f"{said}, only of templates")
    namespace = asked.pod.metadata.namespace
    names = [f"{namespace}/{each.resource_claim_template_name}" for each in entries]
    found = charging.of_pod(names, asked.name)
    if found.refused is not None:
        raise found.refused
    return found.amounts


def gates_lacking(mappings: Iterable[DeviceClassMapping], system: QueueSystem) -> Sequence[str]:
    """Return the gates that are off and that sources of mappings need."""
    kinds = dict.fromkeys(source.kind for mapping in mappings for source in mapping.sources)
    return [_OF_SOURCES[kind] for kind in kinds if not system.on(_OF_SOURCES[kind])]
