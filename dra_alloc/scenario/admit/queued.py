"""
The workloads that Kueue would make of manifests: which pods it admits as one, in which queue, with which priority.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from dra_alloc.api import FrozenMap, Pod
from dra_alloc.errors import Problem, Where
from dra_alloc.manifest import Documents, Workload
from dra_alloc.manifest.read.paths import key_path
from dra_alloc.pods.expanding import ExpandedPod
from dra_alloc.pods.workloads.reading import flag, text, value_at
from dra_alloc.queues.kueue.asking import QueuedSet, QueuedWorkload
from dra_alloc.queues.kueue.labels import QUEUE, kueue_label, labels_path
from dra_alloc.queues.kueue.objects import KueueObjects
from dra_alloc.queues.kueue.pod_groups import no_workload_of, of_group
from dra_alloc.queues.kueue.unnamed import is_seen, queue_of
from dra_alloc.queues.reading import whole_number
from dra_alloc.queues.standing import TRIED, KeptOut
from dra_alloc.scenario.admit.held import SUSPEND
from dra_alloc.scenario.admit.kueue_made import (
    WorkloadsThere,
    given,
    in_sync,
    kueue_workloads,
    put_off,
    waiting,
    waits,
)
from dra_alloc.scenario.prepare.subjects import Subject

_PRIORITY: Final = "kueue.x-k8s.io/priority-class"
_PREBUILT: Final = "kueue.x-k8s.io/prebuilt-workload-name"
_LEAST: Final = "kueue.x-k8s.io/job-min-parallelism"
_DIGITS: Final = 9
_LWS_GROUP: Final = "leaderworkerset.sigs.k8s.io/group-index"
#: Kinds whose pods Kueue admits one by one.
_BY_POD: Final = frozenset({"Pod", "Deployment", "ReplicaSet", "ReplicationController", "DaemonSet"})
#: Kinds that Kueue holds back as a whole, and resumes.
_WHOLE: Final = frozenset(
    {("batch", "Job"), ("batch", "CronJob"), ("jobset.x-k8s.io", "JobSet"), ("apps", "StatefulSet")}
    | {("leaderworkerset.x-k8s.io", "LeaderWorkerSet"), ("trainer.kubeflow.org", "TrainJob")}
    | {("ray.io", each) for each in ("RayCluster", "RayJob", "RayService")}
    | {("kubeflow.org", f"{each}Job") for each in ("PyTorch", "TF", "XGBoost", "Paddle", "JAX", "MPI")}
)
#: Where a CronJob says it of its runs: its own word stops it, and is not Kueue's.
_SUSPEND_RUNS: Final = ("spec.jobTemplate.spec.suspend",)
_OUTERMOST: Final = re.compile(r"[^\[]*\[\d+\]")
#: What ends the step of a path that says whose template it is: headGroupSpec, leaderTemplate.
_STEP_END: Final = re.compile(r"(Group|Pod)?(Spec|Template)$")


@dataclass(frozen=True, slots=True)
class QueuedPods:
    """
    Pods that are admitted as one, or, without `workload`, pods that no queue holds back.

    `subjects` are their places among those that are prepared, `sets` the name of each one's pod set, `group` the
    number of a LeaderWorkerSet's group. `made` is Kueue's Workload of them, if it is there.
    """

    name: str
    kind: str
    subjects: tuple[int, ...]
    sets: tuple[str, ...]
    origin: Pod | Workload
    workload: QueuedWorkload | None = None
    group: str = ""
    made: Workload | None = None


def resumed(documents: Documents, by: Queueing, namespace: str) -> Documents:
    """
    Return the documents with nothing held back that has a queue, or is given one: that is for the queue to say.

    `namespace` is that of what says none.

    Spec: KUEUE-30, KUEUE-37.
    """

    def as_asked(item: Workload) -> Workload:
        paths = [each for each in (_SUSPEND_RUNS if item.kind == "CronJob" else SUSPEND) if flag(item.body, each)]
        if not paths or not by.queue_in(item.namespace or namespace, item):
            return item
        body = item.body
        for path in paths:
            body = _without(body, path.split("."))
        return replace(item, body=body)

    return documents.mapped(as_asked, "workloads")


def _without(body: Mapping[str, Any], path: Sequence[str]) -> FrozenMap[str, Any]:
    if len(path) == 1:
        return FrozenMap({key: each for key, each in body.items() if key != path[0]})
    return FrozenMap({**body, path[0]: _without(body[path[0]], path[1:])})


@dataclass(frozen=True, slots=True)
class Queueing:
    """By what queues and priorities are found: Kueue's objects, and each namespace's labels."""

    objects: KueueObjects
    namespaces: Mapping[str, Mapping[str, str]]

    def queue_of(self, owner: Pod | Workload, pod: Pod) -> str:
        """Return the local queue of pods of an owner, of which this is one; empty where no queue holds them back."""
        return self.queue_in(pod.metadata.namespace or "", owner, pod.metadata.labels)

    def queue_in(self, namespace: str, owner: Pod | Workload, labels: Mapping[str, str] = FrozenMap()) -> str:
        """Return the same of an owner in a namespace, with the labels of its pods."""
        kind = (owner.group, owner.kind) if isinstance(owner, Workload) else ("", owner.kind)
        return queue_of(_label(QUEUE, owner, labels), kind, self.namespaces[namespace], self.objects)


def queued_pods(
    pods: Sequence[ExpandedPod], subjects: Sequence[Subject], dump: Documents, by: Queueing, made: WorkloadsThere
) -> tuple[QueuedPods, ...]:
    """
    Return what is admitted as one, in the order in which it was made; `pods` are those behind the first subjects.

    Spec: KUEUE-30 to KUEUE-32, KUEUE-37, KUEUE-38.
    """
    together: dict[tuple[str, ...], list[int]] = {}
    for number, (each, subject) in enumerate(zip(pods, subjects, strict=False)):
        together.setdefault(_key(each, subject), []).append(number)
    there: dict[str, list[Pod]] = {}
    for pod in dump.pods:
        there.setdefault(of_group(pod), []).append(pod)
    found = [
        _without_workload(_of(numbers, pods, subjects, made, by), [pods[each] for each in numbers], there, by)
        for numbers in together.values()
    ]
    return tuple(sorted(found, key=_created))


def not_modelled(pods: Sequence[ExpandedPod]) -> Iterator[tuple[Workload, Problem]]:
    """
    Yield what has a queue and is of a kind of which Kueue's way is not known, with where its label stands.

    Spec: KUEUE-35.
    """
    said = f"has {QUEUE}, and which of its pods Kueue admits as one is not modelled"
    hint = "without that label, on it and its pods, it is asked as if no queue held it back"
    told: set[int] = set()
    for each in pods:
        owner = each.owner
        if not isinstance(owner, Workload) or id(owner) in told:
            continue
        if owner.kind in _BY_POD or (owner.group, owner.kind) in _WHOLE:
            continue
        if _label(QUEUE, owner, each.pod.metadata.labels):
            told.add(id(owner))
            labels = labels_path(owner.kind), f"{each.path.removesuffix('.spec')}.metadata.labels"
            places = (key_path(path, QUEUE) for path in labels)
            yield owner, Problem(said, Where(path=next(filter(partial(value_at, owner.body), places), each.path)), hint)


def _created(pods: QueuedPods) -> str:
    """Return when something was made; what is not there yet comes last."""
    return pods.origin.metadata.creation_timestamp or "~"


def _key(each: ExpandedPod, subject: Subject) -> tuple[str, ...]:
    """Return what pods have in common that are admitted as one."""
    labels, owner = each.pod.metadata.labels, each.owner
    if of_group(each.pod) and owner.kind in _BY_POD:
        return "pod group", of_group(each.pod)
    if owner.kind in _BY_POD:
        return "pod", subject.name
    return owner.kind, owner.metadata.full_name, labels.get(_LWS_GROUP, "")


def _of(
    numbers: Sequence[int],
    pods: Sequence[ExpandedPod],
    subjects: Sequence[Subject],
    made: WorkloadsThere,
    by: Queueing,
) -> QueuedPods:
    first = pods[numbers[0]]
    owner = first.owner
    alike = _alike([pods[each] for each in numbers])
    names = _set_names(owner, list(dict.fromkeys(alike)))
    sets = tuple(names[each] for each in alike)
    name, kind = owner.metadata.full_name, owner.kind
    labels = first.pod.metadata.labels
    part = "" if owner.kind in _BY_POD else labels.get(_LWS_GROUP, "")
    if owner.kind in _BY_POD:
        group = of_group(first.pod)
        name, kind = (group, "pod group") if group else (subjects[numbers[0]].name, "Pod")
    elif part:
        name = f"{name}-{part}"
    those = [pods[each] for each in numbers] if kind == "pod group" else [first]
    queue = next((found for each in those if (found := by.queue_of(each.owner, each.pod))), "")
    prebuilt = _label(_PREBUILT, owner, labels if isinstance(owner, Pod) else {}) if queue else ""
    own, unmade = made.of_owner((owner.kind, owner.metadata.full_name, part), prebuilt)
    result = QueuedPods(name, kind, tuple(numbers), sets, owner, None, part, own)
    if not queue:
        return result
    of_set = {of: pods[each].pod for each, of in zip(reversed(numbers), reversed(sets), strict=True)}
    queued: Sequence[QueuedSet] = [QueuedSet(each, count, of_set[each]) for each, count in Counter(sets).items()]
    if prebuilt and own is not None:
        there, out_of_sync = in_sync(own, queued)
        called = {each.name: one.name for each, one in zip(queued, there, strict=True)}
        queued, unmade = there, unmade if unmade[0] else out_of_sync
        result = replace(result, sets=tuple(called[each] for each in sets))
    workload = replace(_workload(first, len(numbers), by), name=name, local_queue=queue, sets=tuple(queued))
    unmade = next((each for each in (put_off(own), unmade) if each[0]), workload.unmade)
    return replace(result, workload=replace(workload, given=given(own), unmade=unmade))


def _workload(first: ExpandedPod, count: int, by: Queueing) -> QueuedWorkload:
    """Return what the labels and annotations of pods, of which this is the first, say of their Workload."""
    owner = first.owner
    named = _label(_PRIORITY, owner, first.pod.metadata.labels)
    priority = by.objects.priorities.get(named, first.pod.spec.priority or 0)
    lacks = named if named not in by.objects.priorities else ""
    least, wrong = _least(owner, count) if owner.kind == "Job" else (0, TRIED)
    return QueuedWorkload("", "", (), priority, lacks_priority=lacks, unmade=wrong, least=least)


def _least(owner: Pod | Workload, count: int) -> tuple[int, KeptOut]:
    """Return how few pods a Job may be admitted with, or why Kueue refuses it. Spec: KUEUE-51."""
    said = owner.metadata.annotations.get(_LEAST)
    if said is None:
        return 0, TRIED
    least = whole_number(said, _DIGITS) or 0
    if 0 < least < count:
        return least, TRIED
    bounds = f"has to be from 1 to {count - 1}, below the number of its pods" if count > 1 else "is for several pods"
    wrong = f"annotation {_LEAST} {bounds}"
    return 0, ("minimum-malformed", wrong)


def _without_workload(
    made: QueuedPods, pods: Sequence[ExpandedPod], there: Mapping[str, Sequence[Pod]], by: Queueing
) -> QueuedPods:
    """Return pods of a group of which Kueue makes no Workload with the reason, all else as it is."""
    if made.kind != "pod group" or made.workload is None:
        return made
    owners = {each.pod.metadata.full_name: each.owner for each in pods}
    unmade = no_workload_of(
        [each.pod for each in pods],
        there.get(made.name, ()),
        len(made.workload.sets),
        lambda pod: by.queue_of(owners[pod.metadata.full_name], pod),
    )
    return replace(made, workload=replace(made.workload, unmade=unmade)) if unmade[0] else made


def _alike(pods: Sequence[ExpandedPod]) -> list[str]:
    """Return for each pod where its set's template stands; pods that Kueue admits as such by their specs."""
    specs: dict[object, int] = {}
    return [
        each.path
        if each.owner.kind not in _BY_POD
        else f"{each.path}.set-{specs.setdefault(each.pod.spec, len(specs))}"
        for each in pods
    ]


def _set_names(owner: Pod | Workload, paths: Sequence[str]) -> Mapping[str, str]:
    """Return how Kueue would call the pod sets, as far as their kind says it; no two are called alike."""
    if len(paths) == 1:
        return {paths[0]: "main"}
    names = {path: _set_name(owner, path) for path in paths}
    often = Counter(names.values())
    return {
        path: name if name and often[name] == 1 else f"set-{number}"
        for number, (path, name) in enumerate(names.items())
    }


def _set_name(owner: Pod | Workload, path: str) -> str:
    outer = _OUTERMOST.match(path)
    if outer is not None and isinstance(owner, Workload):
        part = value_at(owner.body, outer[0])
        return text(part, "name") or text(part, "groupName")
    step = next((each for each in reversed(path.split(".")) if each not in ("template", "spec")), "")
    return _STEP_END.sub("", step).lower()


def _label(key: str, owner: Pod | Workload, pods: Mapping[str, str] = FrozenMap()) -> str:
    return kueue_label(key, owner.kind, owner.body if isinstance(owner, Workload) else None, pods)


def without_queue(documents: Documents) -> Iterator[Workload]:
    """Yield CronJobs with a queue where Kueue sees none: on themselves, and not on their Jobs. Spec: KUEUE-36."""
    for each in documents.workloads:
        if each.kind == "CronJob" and each.metadata.labels.get(QUEUE) and not _label(QUEUE, each):
            yield each


def unseen_by(objects: KueueObjects, documents: Documents) -> Iterator[Workload]:
    """Yield what names a queue and is of a kind that Kueue is configured not to manage. Spec: KUEUE-47."""
    for each in documents.workloads:
        if _label(QUEUE, each) and not is_seen((each.group, each.kind), objects):
            yield each


def in_turn(dump: Documents, known: Sequence[QueuedPods]) -> tuple[tuple[QueuedPods, ...], tuple[QueuedWorkload, ...]]:
    """
    Return what is asked about and what waits in the dump besides, numbered by who was made first.

    Spec: KUEUE-34.
    """
    own = {id(each.made) for each in known if each.made is not None}
    there = [
        (each.metadata.creation_timestamp or "", waiting(each))
        for each in kueue_workloads(dump)
        if waits(each) and id(each) not in own
    ]
    turns = sorted([*(created for created, _ in there), *map(_created, known)])
    numbers: dict[str, int] = {}
    for turn, created in enumerate(turns):
        numbers.setdefault(created, turn)
    taken: Counter[str] = Counter()

    def number(created: str) -> int:
        taken[created] += 1
        return numbers[created] + taken[created] - 1

    others = tuple(replace(each, number=number(created)) for created, each in there)
    asked = [(each, number(_created(each))) for each in known]
    return tuple(
        each if each.workload is None else replace(each, workload=replace(each.workload, number=turn))
        for each, turn in asked
    ), others
