"""
Which pods Volcano places together, in which queue and with which priority: those of its Jobs, or of a PodGroup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dra_alloc.api import Pod
from dra_alloc.errors import in_brief
from dra_alloc.manifest import Workload
from dra_alloc.pods.expanding import ExpandedPod
from dra_alloc.pods.gangs.trees import GroupTree
from dra_alloc.pods.workloads.grove import is_set
from dra_alloc.pods.workloads.plans import Misfit
from dra_alloc.pods.workloads.pod_gangs import CLIQUE, PodGang
from dra_alloc.pods.workloads.reading import items, number_in, text, value_at
from dra_alloc.queues.reading import whole_number
from dra_alloc.queues.standing import NOT_MODELLED, TRIED, KeptOut
from dra_alloc.queues.volcano.objects import DEFAULT, VolcanoObjects, in_domains
from dra_alloc.queues.volcano.sets import (
    gang_of,
    gangs_by_clique,
    needs_of,
    priority_of_set,
    queue_of_set,
    refusal_of_set,
)

SCHEDULER: Final = "volcano"
ATTACHED: Final = "scheduling.k8s.io/group-name"
_QUEUE: Final = "scheduling.volcano.sh/queue-name"
_LEAST: Final = "scheduling.volcano.sh/group-min-member"
_DIGITS: Final = 9
#: How, and up to which tier, annotations of pods ask for a domain of the network.
_PACKED: Final = ("volcano.sh/network-topology-mode", "volcano.sh/network-topology-highest-tier")
_TASK: Final = "volcano.sh/task-spec"
_JOB: Final = "batch.volcano.sh"
#: Why a gang that has to be within a tier of hypernodes is not tried.
_NETWORK: Final = NOT_MODELLED, "its networkTopology is hard, or it needs so many parts of it, which is not modelled"
#: Nor one whose tasks begin only when others are there.
_DEPENDS: Final = NOT_MODELLED, "its tasks wait for others (dependsOn), which is not modelled"

Pods = Sequence[ExpandedPod]


@dataclass(frozen=True, slots=True)
class VolcanoPods:
    """Pods, by number, that Volcano places together; `against` is why it never tries them, by code and in words."""

    name: str
    kind: str
    group: GroupTree
    queue: str
    priority: int
    created: str
    against: KeptOut = TRIED
    minimum: Mapping[str, Any] | None = None


def is_of_volcano(pod: Pod) -> bool:
    """Return whether Volcano is to schedule a pod: only the name of the scheduler says it."""
    return pod.spec.scheduler_name == SCHEDULER


def volcano_pods(pods: Pods, objects: VolcanoObjects, classes: Mapping[str, int]) -> Iterator[VolcanoPods]:
    """
    Yield what is placed together, in the order of the first pods; `classes` are the values of priority classes.

    Spec: VOLCANO-11.
    """
    together: dict[tuple[str, str, str], list[int]] = {}
    gangs: dict[int, Mapping[str, PodGang]] = {}
    for number, each in enumerate(pods):
        if is_set(each.owner) and id(each.owner) not in gangs:
            gangs[id(each.owner)] = gangs_by_clique(each.owner)
        gang = gang_of(gangs.get(id(each.owner), {}), each.pod.metadata.labels)
        together.setdefault(_key(each, gang), []).append(number)
    for (kind, name, _), numbers in together.items():
        first = pods[numbers[0]]
        if is_set(first.owner):
            gang = gang_of(gangs[id(first.owner)], first.pod.metadata.labels)
            yield _of_set(first.owner, gang, (name, numbers), pods, classes)
        elif kind == "PodGroup":
            yield _attached(name, pods, numbers, (objects, classes))
        elif isinstance(first.owner, Workload) and first.owner.group == _JOB:
            yield _of_job(first.owner, pods, numbers, classes)
        else:
            yield _alone(kind, name, pods, numbers, classes)


def _key(each: ExpandedPod, gang: PodGang | None) -> tuple[str, str, str]:
    """Return what pods have in common that are placed together; `gang` is the one of Grove that they are of."""
    pod, owner = each.pod, each.owner
    if is_set(owner):
        return owner.kind, owner.metadata.full_name if gang is None else f"{owner.namespace}/{gang.name}", "grove.io"
    if isinstance(owner, Workload) and owner.group == _JOB:
        return owner.kind, owner.metadata.full_name, _JOB
    named = pod.metadata.annotations.get(ATTACHED, "")
    if named:
        return "PodGroup", f"{pod.metadata.namespace or ''}/{named}", ""
    maker = next((ref.name for ref in pod.metadata.owner_references if ref.controller), "")
    return owner.kind, owner.metadata.full_name if isinstance(owner, Workload) else pod.metadata.full_name, maker


def _by_task(pods: Pods, numbers: Sequence[int]) -> Mapping[str, list[int]]:
    found: dict[str, list[int]] = {}
    for each in numbers:
        meta = pods[each].pod.metadata
        found.setdefault(meta.labels.get(_TASK, "") or meta.annotations.get(_TASK, ""), []).append(each)
    return found


def _tree(name: str, least: int, tasks: Mapping[str, int], by_task: Mapping[str, Sequence[int]]) -> GroupTree:
    """Return a gang with its tasks: what these need counts only if the gang needs all of that. Spec: VOLCANO-12."""
    groups = tuple(GroupTree(task, tasks.get(task, 0), tuple(those)) for task, those in by_task.items())
    missing = tuple(GroupTree(task, needs) for task, needs in tasks.items() if needs and task not in by_task)
    every = least >= sum(tasks.values())
    return GroupTree(name, least, groups=(*groups, *missing), least_groups=len(groups) + len(missing) if every else 0)


def _of_job(owner: Workload, pods: Pods, numbers: Sequence[int], classes: Mapping[str, int]) -> VolcanoPods:
    against = TRIED
    at = "spec.jobTemplate.spec" if owner.kind == "CronJob" else "spec"
    spec = value_at(owner.body, at) or {}
    try:
        least, tasks = _needed(spec, at)
    except Misfit as error:
        least, tasks, against = 1, {}, ("job-malformed", f"{error.path}: {error.message}")
    parts = (spec, *(value_at(each, "partitionPolicy") for each in items(spec, "tasks")))
    if not against[0] and any(map(in_domains, parts)):
        against = _NETWORK
    elif not against[0] and any(value_at(each, "dependsOn") for each in items(spec, "tasks")):
        against = _DEPENDS
    return VolcanoPods(
        owner.metadata.full_name,
        f"Volcano {owner.kind}",
        _tree(owner.metadata.full_name, least, tasks, _by_task(pods, numbers)),
        text(spec, "queue", DEFAULT),
        classes.get(text(spec, "priorityClassName"), 0),
        owner.metadata.creation_timestamp or "~",
        against,
    )


def _of_set(
    owner: Workload, gang: PodGang | None, of: tuple[str, Sequence[int]], pods: Pods, classes: Mapping[str, int]
) -> VolcanoPods:
    """Return pods of a PodCliqueSet as the PodGroup that Grove makes of their PodGang. Spec: VOLCANO-21."""
    name, numbers = of
    by_clique: dict[str, list[int]] = {}
    for each in numbers:
        by_clique.setdefault(pods[each].pod.metadata.labels.get(CLIQUE, ""), []).append(each)
    needs = needs_of(gang) if gang is not None else {}
    return VolcanoPods(
        name,
        owner.kind,
        _tree(name, sum(needs.values()) or 1, needs, by_clique),
        queue_of_set(owner, DEFAULT),
        priority_of_set(owner, classes),
        owner.metadata.creation_timestamp or "~",
        refusal_of_set(owner, gang),
    )


def _needed(spec: Mapping[str, Any], at: str) -> tuple[int, Mapping[str, int]]:
    """Return how many pods a Job needs, and of which tasks how many. Raises: Misfit for what Volcano refuses."""
    tasks: dict[str, int] = {}
    total = 0
    for number, each in enumerate(items(spec, "tasks")):
        path = f"{at}.tasks[{number}]"
        name, replicas = text(each, "name", f"default{number}"), number_in(each, "replicas", 1, path)
        if name in tasks:
            raise Misfit(f"{path}.name", f"there is a task {in_brief(name)} before")
        tasks[name] = _at_most(number_in(each, "minAvailable", replicas, path), replicas, path)
        total += replicas
    return _at_most(number_in(spec, "minAvailable", 0, at), total, at) or sum(tasks.values()), tasks


def _at_most(least: int, replicas: int, path: str) -> int:
    """Return a minAvailable. Raises: Misfit where it is above the replicas."""
    if least > replicas:
        raise Misfit(f"{path}.minAvailable", f"{least} is more than the replicas, which are {replicas}")
    return least


def _attached(
    name: str, pods: Pods, numbers: Sequence[int], known: tuple[VolcanoObjects, Mapping[str, int]]
) -> VolcanoPods:
    objects, classes = known
    group = objects.groups.get(name)
    if group is None:
        against = "no-pod-group", f"pods are attached to PodGroup {name}, which is not there"
        return VolcanoPods(name, "PodGroup", GroupTree(name, 1, tuple(numbers)), "", 0, "~", against)
    tree = _tree(name, group.least, group.tasks, _by_task(pods, numbers))
    priority = classes.get(group.priority_class, 0)
    created = group.created or "~"
    against = _NETWORK if group.is_packed else TRIED
    return VolcanoPods(name, "PodGroup", tree, group.queue, priority, created, against, group.minimum)


def _alone(kind: str, name: str, pods: Pods, numbers: Sequence[int], classes: Mapping[str, int]) -> VolcanoPods:
    """Return pods of others, grouped by their controllers: one of them is enough, or as many as is said."""
    first = pods[numbers[0]]
    owner, annotations = first.owner, first.pod.metadata.annotations
    said = whole_number(owner.metadata.annotations.get(_LEAST, ""), _DIGITS)
    least = 1 if said is None else said
    queue = annotations.get(_QUEUE) or owner.metadata.annotations.get(_QUEUE) or DEFAULT
    priority = first.pod.spec.priority or classes.get(first.pod.spec.priority_class_name or "", 0)
    created = owner.metadata.creation_timestamp or "~"
    against = _NETWORK if _is_packed(annotations) else TRIED
    return VolcanoPods(name, kind, GroupTree(name, least, tuple(numbers)), queue, priority, created, against)


def _is_packed(annotations: Mapping[str, str]) -> bool:
    """Return whether annotations of a pod ask for a domain of the network, as they do if they do not say softly."""
    return any(each in annotations for each in _PACKED) and annotations.get(_PACKED[0], "").lower() != "soft"
