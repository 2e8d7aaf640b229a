"""
Which pods KAI places together, in which queue and with which priority: by the object that makes them, or as attached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from dra_alloc.api import Pod
from dra_alloc.errors import first_few
from dra_alloc.manifest import Workload
from dra_alloc.pods.expanding import ExpandedPod
from dra_alloc.pods.gangs.topology import TopologyConstraint
from dra_alloc.pods.gangs.trees import GroupTree, SubGroup, tree_of
from dra_alloc.pods.workloads.grove import is_set
from dra_alloc.pods.workloads.pod_gangs import CLIQUE, PodGang, pod_gangs, set_faults
from dra_alloc.pods.workloads.reading import items, number_in, text, value_at
from dra_alloc.queues.kai.cycle import FIRM
from dra_alloc.queues.kai.objects import KaiObjects
from dra_alloc.queues.reading import whole_number
from dra_alloc.queues.standing import NOT_MODELLED, TRIED, KeptOut
from dra_alloc.queues.topologies import constrained

SCHEDULER: Final = "kai-scheduler"
QUEUE: Final = "kai.scheduler/queue"
#: What attaches a pod to a group, as an annotation, and to one within it, as a label.
ATTACHED: Final = "pod-group-name"
_SUB_GROUP: Final = "kai.scheduler/subgroup-name"
_SKIP: Final = "kai.scheduler/skip-podgrouper"
#: KAI reads no number beyond 64 bits.
_DIGITS: Final = 18
_LEAST: Final = "kai.scheduler/batch-min-member"
_SEGMENTS: Final = "kai.scheduler/segment-"
#: Which topology, and which levels of it: required, preferred.
TOPOLOGY: Final = "kai.scheduler/topology"
LEVELS: Final = (f"{TOPOLOGY}-required-placement", f"{TOPOLOGY}-preferred-placement")
_CLASS: Final = "priorityClassName"
_PREEMPTIBLE: Final = "kai.scheduler/preemptibility"
#: All labels and annotations by which KAI is told how pods are placed together.
MARKS: Final = (ATTACHED, QUEUE, _SUB_GROUP, _SKIP, _LEAST, TOPOLOGY, *LEVELS, _PREEMPTIBLE)
_DEFAULT_QUEUE: Final = "default-queue"
#: The classes that KAI is installed with.
_CLASSES: Final = {"train": 50, "build-preemptible": 75, "build": 100, "inference": 125}
_JOBSET: Final = "jobset.sigs.k8s.io"
_LWS: Final = "leaderworkerset.sigs.k8s.io"

_Numbers = Sequence[int]
Pods = Sequence[ExpandedPod]


@dataclass(frozen=True, slots=True)
class KaiPods:
    """
    Pods, by number, that KAI places together; `against` is why it never tries them, by code and in words.

    `gang` is Grove's that they are, if they are one.
    """

    name: str
    kind: str
    group: GroupTree
    queue: str
    priority: int
    preemptible: bool
    created: str
    against: KeptOut = TRIED
    gang: PodGang | None = None

    @property
    def after(self) -> str:
        """The name of those that have to be scheduled before these are tried."""
        return f"{self.name.rpartition('/')[0]}/{self.gang.after}" if self.gang is not None and self.gang.after else ""


def is_of_kai(pod: Pod) -> bool:
    """Return whether KAI is to schedule a pod: only the name of the scheduler says it."""
    return pod.spec.scheduler_name == SCHEDULER


def is_loose(pod: ExpandedPod) -> bool:
    """Return whether annotations of a pod's owner name levels of no topology: nothing comes of them."""
    said = pod.owner.metadata.annotations
    return not said.get(TOPOLOGY) and any(said.get(each) for each in LEVELS)


def _in_segments(pod: ExpandedPod) -> bool:
    """Return whether annotations cut a pod's owner into segments, each with a domain of its own."""
    return any(each.startswith(_SEGMENTS) for meta in (pod.owner, pod.pod) for each in meta.metadata.annotations)


def kai_pods(pods: Pods, objects: KaiObjects, classes: Mapping[str, int]) -> Iterator[KaiPods]:
    """
    Yield what is placed together, in the order of the first pods; `classes` are the values of priority classes.

    Spec: KAI-18 to KAI-20.
    """
    together: dict[tuple[str, ...], list[int]] = {}
    gangs: dict[int, Mapping[str, PodGang]] = {}
    refusals: dict[int, str] = {}
    for number, each in enumerate(pods):
        owner = each.owner
        if is_set(owner) and id(owner) not in gangs:
            gangs[id(owner)] = {clique: gang for gang in gangs_of(owner, objects) for clique in gang.cliques}
            refusals[id(owner)] = set_refusal(owner, objects) or queue_of_set(owner)[1]
        gang = gangs.get(id(owner), {}).get(each.pod.metadata.labels.get(CLIQUE, ""))
        together.setdefault(_key(each, objects, gang.name if gang is not None else ""), []).append(number)
    for (kind, name, *_), numbers in together.items():
        first = pods[numbers[0]]
        if kind == "PodGroup":
            found = _attached(name, first, (pods, numbers), objects, classes)
        else:
            found = _of_owner(kind, name, (pods, numbers), objects, classes)
        if id(first.owner) in gangs and kind != "PodGroup":
            gang = gangs[id(first.owner)].get(first.pod.metadata.labels.get(CLIQUE, ""))
            found = _of_gang(gang, found, (pods, numbers), refusals[id(first.owner)])
        yield _with_all(found, numbers)


def _with_all(found: KaiPods, numbers: _Numbers) -> KaiPods:
    """Return pods placed together with none lost: where some are of no group of the tree, they are not tried."""
    if len(set(found.group.members())) == len(numbers):
        return found
    against = found.against if found.against[0] else (NOT_MODELLED, "some of its pods are of no group in it")
    return replace(found, group=GroupTree(found.name, 1, tuple(numbers)), against=against)


def gangs_of(owner: Workload, objects: KaiObjects) -> tuple[PodGang, ...]:
    """Return the PodGangs of a PodCliqueSet, with what the bindings say of its topology. Raises: Misfit."""
    return pod_gangs(owner, partial(_of_grove, objects))


def set_faults_of(owner: Workload, objects: KaiObjects) -> list[tuple[str, str]]:
    """Return why Grove refuses a PodCliqueSet, path and words, whoever schedules its pods. Spec: GANGTREE-10."""
    return list(set_faults(owner, {name: one.aliases for name, one in objects.bindings.items()}))


def set_refusal(owner: Workload, objects: KaiObjects) -> str:
    """Return the same in a line, each fault once with the first of its paths; nothing if there are none."""
    paths: dict[str, list[str]] = {}
    for path, said in set_faults_of(owner, objects):
        paths.setdefault(said, []).append(path)
    told = [f"{at[0]}{f' and {len(at) - 1} more' if len(at) > 1 else ''}: {said}" for said, at in paths.items()]
    return f"Grove refuses the set: {first_few(told)}" if told else ""


def queue_of_set(owner: Workload) -> tuple[str, str]:
    """Return the queue that a PodCliqueSet or its cliques name, or why Grove refuses it for that. Spec: KAI-29."""
    parts = [value_at(owner.body, "metadata"), *items(owner.body, "spec.template.cliques")]
    marks = [(value_at(each, "labels") or {}, value_at(each, "annotations") or {}) for each in parts]
    named = [labels.get(QUEUE) or annotations.get(QUEUE) for labels, annotations in marks]
    queues = list(dict.fromkeys(str(each) for each in named if each))
    if len(queues) == 1:
        return queues[0], ""
    said = f"it and its cliques name several queues of KAI: {first_few(queues)}" if queues else f"no {QUEUE} is on it"
    return "", f"Grove refuses the set: {said}"


def _of_grove(objects: KaiObjects, topology: str, required: str, preferred: str) -> TopologyConstraint:
    """Return what domains of a binding ask of pods: levels of the topology that Grove makes of it. Spec: KAI-23."""
    binding = objects.bindings.get(topology)
    named = binding.aliases if binding is not None else {}
    return constrained(objects.topologies, topology, named.get(required, required), named.get(preferred, preferred))


def _key(each: ExpandedPod, objects: KaiObjects, gang: str) -> tuple[str, ...]:
    """Return what pods have in common that are placed together; `gang` is what Grove calls it."""
    pod, owner = each.pod, each.owner
    namespace = pod.metadata.namespace or ""
    named = pod.metadata.annotations.get(ATTACHED, "")
    full = f"{namespace}/{named}"
    # Pods without an owner, and those that say so, keep the group that they name; others are given one.
    alone = isinstance(owner, Pod) and not owner.metadata.owner_references
    if named and (full in objects.groups or alone or _skips(each)):
        return "PodGroup", full
    if owner.kind in ("Pod", "Deployment") or _skips(each):
        return "Pod", pod.metadata.full_name
    part = gang
    if owner.kind == "LeaderWorkerSet":
        part = pod.metadata.labels.get(f"{_LWS}/group-index", "")
    return owner.kind, owner.metadata.full_name, part, owner.group if isinstance(owner, Workload) else ""


def _skips(each: ExpandedPod) -> bool:
    return any(meta.annotations.get(_SKIP) == "true" for meta in (each.pod.metadata, each.owner.metadata))


def _attached(
    name: str, first: ExpandedPod, of: tuple[Pods, _Numbers], objects: KaiObjects, classes: Mapping[str, int]
) -> KaiPods:
    pods, numbers = of
    group = objects.groups.get(name)
    if group is None:
        against = "no-pod-group", f"pods are attached to PodGroup {name}, which is not there"
        return KaiPods(name, "PodGroup", GroupTree(name, 1, tuple(numbers)), "", 0, True, "~", against)
    by_name: dict[str, list[int]] = {}
    for number in numbers:
        by_name.setdefault(pods[number].pod.metadata.labels.get(_SUB_GROUP, ""), []).append(number)
    leaves = {each.name for each in group.below if not any(one.parent == each.name for one in group.below)} or {""}
    against = TRIED
    stray = sorted(by_name.keys() - leaves)
    if stray:
        called = f"group {stray[0]} of {name}" if stray[0] else f"no group of {name}"
        said = (
            f"pods are of {called}, which has no such pods: label {_SUB_GROUP} names one of {', '.join(sorted(leaves))}"
        )
        against = "no-sub-group", said
    tree = tree_of(group.root, group.below, by_name)
    priority = _value(group.priority_class, classes)
    preemptible = group.preemptible if group.preemptible is not None else priority < FIRM
    return KaiPods(name, "PodGroup", tree, group.queue, priority, preemptible, group.created or "~", against)


def _value(name: str, classes: Mapping[str, int]) -> int:
    return classes.get(name, _CLASSES.get(name, _CLASSES["train"]))


def _of_owner(
    kind: str, name: str, of: tuple[Pods, _Numbers], objects: KaiObjects, classes: Mapping[str, int]
) -> KaiPods:
    pods, numbers = of
    first = pods[numbers[0]]
    owner, own = first.owner, first.pod.metadata
    labels = {**own.labels, **owner.metadata.labels}
    named = labels.get(_CLASS) or first.pod.spec.priority_class_name or ""
    known = named in classes or named in _CLASSES
    priority = _value(named if known else "inference" if owner.kind == "Deployment" else "train", classes)
    preemptible = {"preemptible": True, "non-preemptible": False}.get(labels.get(_PREEMPTIBLE, ""), priority < FIRM)
    queue = labels.get(QUEUE) or labels.get("project") or _DEFAULT_QUEUE
    created = owner.metadata.creation_timestamp or "~"
    against = TRIED
    if _skips(first):
        against = "not-grouped", f"{_SKIP} is set, and no annotation {ATTACHED} attaches the pods to a PodGroup"
    if _in_segments(first):
        against = NOT_MODELLED, "it is cut into segments with domains of their own, which is not modelled"
    if kind == "JobSet" and any(value_at(each, "dependsOn") for each in items(_body(of), "spec.replicatedJobs")):
        against = NOT_MODELLED, "its Jobs wait for others (dependsOn) while its gang needs all of them: not modelled"
    if kind == "Pod":
        group = GroupTree(name, 1, tuple(numbers))
    elif isinstance(owner, Workload) and kind == "JobSet":
        group = _job_set(of, objects)
    elif isinstance(owner, Workload) and kind in _GROUPS:
        group = _GROUPS[kind](name, of)
    else:
        least = whole_number(owner.metadata.annotations.get(_LEAST, "1"), _DIGITS) if kind == "Job" else 1
        if least is None:
            against = "minimum-malformed", f"annotation {_LEAST} has to be a whole number"
        group = GroupTree(name, least or 1, tuple(numbers))
    if kind == "LeaderWorkerSet":
        name = f"{name}-{own.labels.get(f'{_LWS}/group-index', '0')}"
    group = replace(group, topology=_asked(owner.metadata.annotations, objects))
    return KaiPods(name, kind, group, queue, priority, preemptible, created, against)


def _asked(annotations: Mapping[str, Any], objects: KaiObjects) -> TopologyConstraint:
    """Return what annotations ask of a topology."""
    name, required, preferred = (str(annotations.get(each) or "") for each in (TOPOLOGY, *LEVELS))
    return constrained(objects.topologies, name, required, preferred)


def _of_gang(gang: PodGang | None, pods: KaiPods, of: tuple[Pods, _Numbers], refusal: str) -> KaiPods:
    """
    Return pods of a PodCliqueSet as the PodGang that they are: a group for each clique with its minAvailable.

    What the set's annotations say of a topology counts where the gang says nothing itself; `refusal` is why Grove
    refuses the set, if it does.
    """
    each, numbers = of
    owner = each[numbers[0]].owner
    assert isinstance(owner, Workload)
    against = ("set-refused", refusal) if refusal else pods.against
    pods = replace(pods, queue=queue_of_set(owner)[0])
    if gang is None:
        return replace(pods, against=against)
    by_name: dict[str, list[int]] = {}
    for number in numbers:
        by_name.setdefault(each[number].pod.metadata.labels.get(CLIQUE, ""), []).append(number)
    name = f"{owner.namespace}/{gang.name}"
    tree = tree_of(gang.root, gang.below, by_name)
    group = replace(tree, name=name, topology=tree.topology or pods.group.topology)
    # Of gangs made at once those come last that wait for others.
    created = f"{pods.created}~" if gang.after else pods.created
    return replace(pods, name=name, group=group, created=created, against=against, gang=gang)


def _body(of: tuple[Pods, _Numbers]) -> Mapping[str, Any]:
    owner = of[0][of[1][0]].owner
    assert isinstance(owner, Workload)
    return owner.body


def _all(name: str, of: tuple[Pods, _Numbers]) -> GroupTree:
    """Return a group that needs all its pods, or as many as its scheduling policy says."""
    body = _body(of)
    said = value_at(body, "spec.runPolicy.schedulingPolicy.minAvailable")
    elastic = value_at(body, "spec.elasticPolicy.minReplicas")
    least = next((each for each in (said, elastic) if type(each) is int), len(of[1]))
    by_path: dict[str, list[int]] = {}
    for number in of[1]:
        by_path.setdefault("master" if ".Master." in of[0][number].path else "worker", []).append(number)
    master = by_path.get("master", [])
    below = [SubGroup("master", least=len(master)), SubGroup("worker", least=max(0, least - len(master)))]
    return tree_of(SubGroup(""), [each for each in below if each.name in by_path], by_path)


def _job_set(of: tuple[Pods, _Numbers], objects: KaiObjects) -> GroupTree:
    """Return a group for each replicated job, and below it one for each of its Jobs, with a domain that it asks for."""
    pods, numbers = of
    body = _body(of)
    jobs = items(body, "spec.replicatedJobs")
    by_name: dict[str, list[int]] = {}
    for each in numbers:
        labels = pods[each].pod.metadata.labels
        leaf = f"{labels.get(f'{_JOBSET}/replicatedjob-name', '')}-replica-{labels.get(f'{_JOBSET}/job-index', '')}"
        by_name.setdefault(leaf, []).append(each)
    below: list[SubGroup] = []
    for job in jobs:
        called, replicas = text(job, "name"), number_in(job, "replicas", 1)
        below.append(SubGroup(called, least_groups=replicas))
        annotations = value_at(job, "template.metadata.annotations") or {}
        said = whole_number(str(annotations.get(_LEAST, "")), _DIGITS)
        least = said or number_in(job, "template.spec.parallelism", 1)
        packed = _asked(annotations, objects)
        below += [SubGroup(f"{called}-replica-{each}", called, least, topology=packed) for each in range(replicas)]
    in_order = text(body, "spec.startupPolicy.startupPolicyOrder") == "InOrder"
    said = whole_number(str((value_at(body, "metadata.annotations") or {}).get(_LEAST, "")), _DIGITS)
    least_groups = min(said, len(jobs)) if said else 1 if in_order else len(jobs)
    return tree_of(SubGroup("", least_groups=least_groups), below, by_name)


def _leader_workers(name: str, of: tuple[Pods, _Numbers]) -> GroupTree:
    """Return a group of all, or, where workers start once the leader is ready, the leader first and then the others."""
    pods, numbers = of
    body = _body(of)
    size = number_in(body, "spec.leaderWorkerTemplate.size", 1)
    if text(body, "spec.startupPolicy", "LeaderCreated") != "LeaderReady":
        return GroupTree(name, size, tuple(numbers))
    by_name: dict[str, list[int]] = {}
    for each in numbers:
        index = pods[each].pod.metadata.labels.get(f"{_LWS}/worker-index", "0")
        by_name.setdefault("leader" if index == "0" else "workers", []).append(each)
    below = (SubGroup("leader", least=1), SubGroup("workers", least=size - 1))
    return tree_of(SubGroup("", least_groups=1), below, by_name)


def _ray(name: str, of: tuple[Pods, _Numbers]) -> GroupTree:
    """Return a group of a head and one of each kind of workers, with the least of each."""
    pods, numbers = of
    by_name: dict[str, list[int]] = {}
    for each in numbers:
        path, _, rest = pods[each].path.partition(".template")
        by_name.setdefault(path if rest else pods[each].path, []).append(each)
    below = []
    for path, those in by_name.items():
        spec = value_at(_body(of), path) or {}
        hosts = number_in(spec, "numOfHosts", 1) if isinstance(spec, Mapping) else 1
        least = number_in(spec, "minReplicas", 0) if isinstance(spec, Mapping) else 0
        if "workerGroupSpecs" in path:
            below.append(SubGroup(path, least=least * hosts if least else len(those)))
        else:
            # What a RayJob starts besides its cluster is of no group: it is tried when all else has its place.
            below.append(SubGroup(path, least=1 if "headGroupSpec" in path else 0))
    return tree_of(SubGroup(""), below, by_name)


_GROUPS: Final[Mapping[str, Callable[[str, tuple[Pods, _Numbers]], GroupTree]]] = {
    "LeaderWorkerSet": _leader_workers,
    **dict.fromkeys(("RayCluster", "RayJob", "RayService"), _ray),
    **dict.fromkeys(("PyTorchJob", "TFJob", "XGBoostJob", "JAXJob", "MPIJob"), _all),
}
