"""
Who Kueue admits of the manifests' workloads, and where the admitted are placed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dra_alloc import cel
from dra_alloc.api import Pod
from dra_alloc.api.labels import NAMESPACE_NAME
from dra_alloc.errors import Problem, Where, first_few
from dra_alloc.manifest import Documents, Workload
from dra_alloc.pods.amounts import PODS
from dra_alloc.pods.expanding import ExpandedPod
from dra_alloc.pods.tenancy import Tenancy
from dra_alloc.pods.views import is_finished
from dra_alloc.pods.workloads.reading import items
from dra_alloc.queues.kueue.asking import gates_lacking
from dra_alloc.queues.kueue.charge import Charging
from dra_alloc.queues.kueue.cycle import AroundQueues, QueueStanding, admissions
from dra_alloc.queues.kueue.devices import SlicesSeen
from dra_alloc.queues.kueue.labels import QUEUE, labels_path
from dra_alloc.queues.kueue.mappings import MAPPINGS
from dra_alloc.queues.kueue.objects import KueueObjects, reserved
from dra_alloc.queues.kueue.quotas import amount_text
from dra_alloc.queues.kueue.rooms import NodeRoom, marks_unseen
from dra_alloc.queues.kueue.topology import DomainCounts
from dra_alloc.queues.standing import Standing
from dra_alloc.queues.systems import QueueSystem
from dra_alloc.scenario.admit.answers import Admit, QueueTold, WorkloadAnswer
from dra_alloc.scenario.admit.asking import (
    AdmitQuestion,
    left_open,
    no_pods_of,
    placed_elsewhere,
    prepared_for,
    read_at,
    unmade,
)
from dra_alloc.scenario.admit.held import held_back
from dra_alloc.scenario.admit.jointly import JointQuestions
from dra_alloc.scenario.admit.kueue_made import WorkloadsThere, with_quota
from dra_alloc.scenario.admit.queued import (
    QueuedPods,
    Queueing,
    in_turn,
    not_modelled,
    queued_pods,
    resumed,
    unseen_by,
    without_queue,
)
from dra_alloc.scenario.admit.trying import of_the_gang
from dra_alloc.scenario.answers import CheckOptions, SubjectAnswer
from dra_alloc.scenario.check import placed
from dra_alloc.scenario.prepare.pipeline import Prepared
from dra_alloc.scenario.prepare.subjects import Subject
from dra_alloc.work import ran_out

#: What every answer leaves out; the rest is noted where the objects have it.
LIMITS: Final = "not modelled: preemption and fair sharing, admission checks, pods ready in time"


#: What labels and annotations of Kueue begin with.
_OF_KUEUE: Final = "kueue.x-k8s.io/"
#: Where a pod in a domain says whose Workload it is of.
_WORKLOAD: Final = "kueue.x-k8s.io/workload"


def admit_kueue(asked: AdmitQuestion) -> Admit:
    """Return what becomes of workloads by Kueue. Raises: ManifestError with everything that is wrong."""
    options, dump = asked.options, asked.dump
    objects = KueueObjects.of((*dump.queueing, *asked.manifests.queueing), options.namespace)
    system = asked.system.with_gates(objects.gates)
    namespaces = _namespace_labels((dump, asked.manifests))
    by = Queueing(objects, namespaces)
    manifests = resumed(asked.manifests, by, options.namespace)
    off = [_off(each) for each in gates_lacking(objects.mappings, system)]
    # The last of the Configurations counts, and those of the manifests come after the dump's.
    given = (dump, asked.manifests)
    settled = [each for documents in given for each in documents.queueing if each.kind == "Configuration"][-1:]
    wrong = [*objects.wrong, *((each, problem) for each in settled for problem in off)]
    prepared = prepared_for(asked, manifests, wrong, lambda found: not_modelled(_asked(found)))
    charging = _charging(prepared, objects, system)
    pods = _asked(prepared)
    made = WorkloadsThere.of(dump, prepared.manifests)
    queued, others = in_turn(dump, queued_pods(pods, prepared.subjects, dump, by, made))
    workloads = [*others, *(each.workload for each in queued if each.workload is not None)]
    rooms = _rooms(prepared) if any(each.topology for each in objects.flavors.values()) else ()
    around = AroundQueues(namespaces, reserved(with_quota(dump)), rooms, _assigned(dump))
    found = admissions(workloads, objects, charging, around)
    by_number = {each.workload.number: each for each in found}
    answered = [(each, None if each.workload is None else by_number[each.workload.number]) for each in queued]
    subjects = list(_subjects(answered, prepared.subjects, objects))
    checked = placed(
        replace(prepared, subjects=tuple(subjects)), CheckOptions(options.settings, None, options.namespace)
    )
    by_name = {each.name: each for each in checked.placements}
    joint = JointQuestions(checked.cluster or prepared.cluster)
    where = read_at(prepared, [each.origin for each in queued])
    known = by_name, joint, objects
    made_of = [_answer(each, admission, prepared, known) for each, admission in answered]
    placed_at = [replace(each, where=place) for each, place in zip(made_of, where, strict=True)]
    answers = (*placed_at, *held_back(prepared))
    let_in = sum(by_number[each.number].standing is Standing.ADMITTED for each in others)
    notes = [*_notes(objects, queued, prepared, len(pods)), *checked.notes, *ran_out(), *left_open(answers)]
    if others:
        said = f"{let_in} of them would be admitted, and their pods are not placed"
        notes.insert(0, f"Workloads that wait in the dump go by the queues, too: {len(others)}; {said}")
    return Admit(answers, system, options.settings, checked.channel, (*notes, LIMITS))


def _asked(prepared: Prepared) -> list[ExpandedPod]:
    return [each for each in prepared.pods if each.is_asked]


def _off(gate: str) -> Problem:
    said = f"has sources that need {gate}, which is off: no claim can be charged by them"
    hint = "set it under featureGates of the Configuration, if it is on in the cluster"
    return Problem(said, Where(path=MAPPINGS), hint)


def _charging(prepared: Prepared, objects: KueueObjects, system: QueueSystem) -> Charging:
    merged, profile = prepared.merged, prepared.settings.profile()
    environment = cel.environment(profile.release, "stored", profile.cel_lists)
    templates = {each.metadata.full_name: each for each in merged.templates}
    seen = SlicesSeen(merged.slices, {each.metadata.name or "": each for each in merged.classes}, environment)
    return Charging(objects.mappings, templates, seen, system)


def _rooms(prepared: Prepared) -> Sequence[NodeRoom]:
    """Return the nodes with what pods of the cluster leave of them: without a word on it they have nothing."""
    population = prepared.cluster.population
    tenancy = Tenancy(prepared.cluster.nodes, population.namespaces, population.pods, population.siblings)
    return [
        NodeRoom(node, {name: load.left(name) - (load.pods if name == PODS else 0) for name in load.allocatable})
        for node, load in zip(tenancy.nodes, tenancy.loads, strict=True)
    ]


def _assigned(dump: Documents) -> Mapping[str, str]:
    """Return the flavors with domains that Workloads have been assigned, not all of whose pods run, and a Workload."""
    run = Counter(
        (each.metadata.namespace, each.metadata.annotations.get(_WORKLOAD))
        for each in dump.pods
        if each.spec.node_name and not is_finished(each)
    )
    found: dict[str, str] = {}
    for each in with_quota(dump):
        parts = [one for one in items(each.body, "status.admission.podSetAssignments") if one.get("topologyAssignment")]
        counts = [one.get("count") for one in parts]
        known = all(type(count) is int for count in counts)
        if known and run[each.namespace, each.name] >= sum(count for count in counts if type(count) is int):
            continue
        for one in parts:
            flavors = one.get("flavors")
            for flavor in flavors.values() if isinstance(flavors, Mapping) else ():
                found.setdefault(str(flavor), each.metadata.full_name)
    return found


class _Namespaces(dict[str, Mapping[str, str]]):
    """The labels of namespaces: one that is not among the files has its name."""

    def __missing__(self, name: str) -> Mapping[str, str]:
        return {NAMESPACE_NAME: name}


def _namespace_labels(documents: Sequence[Documents]) -> Mapping[str, Mapping[str, str]]:
    given = [each.metadata for one in documents for each in one.namespaces]
    return _Namespaces({each.name or "": {NAMESPACE_NAME: each.name or "", **each.labels} for each in given})


def _subjects(
    answered: Sequence[tuple[QueuedPods, QueueStanding | None]], subjects: Sequence[Subject], objects: KueueObjects
) -> Iterator[Subject]:
    """Yield the pods that nobody keeps back, those admitted first before others, as their flavors make them."""
    let_in = [each for each in answered if each[1] is None or each[1].standing is Standing.ADMITTED]
    for pods, admission in sorted(let_in, key=lambda each: each[1].order if each[1] is not None else 0):
        selectors = {} if admission is None else {name: _selectors(admission, name, objects) for name in set(pods.sets)}
        for number, name in _let_in(pods, admission):
            subject = subjects[number]
            flavors = {} if admission is None else admission.assignment.flavors.get(name, {})
            domain = next(selectors.get(name, iter(())), {})
            yield _flavored(subject, list(dict.fromkeys(flavors.values())), objects, domain)


def _let_in(pods: QueuedPods, admission: QueueStanding | None) -> Iterator[tuple[int, str]]:
    """Yield the places of the pods that run at once, and their sets: all, or as many as it is admitted with."""
    counts = {each.asked.name: each.asked.count for each in admission.sets} if admission is not None else {}
    let_in = Counter[str]()
    for number, name in zip(pods.subjects, pods.sets, strict=True):
        let_in[name] += 1
        if let_in[name] <= counts.get(name, let_in[name]):
            yield number, name


def _selectors(admission: QueueStanding, name: str, objects: KueueObjects) -> Iterator[Mapping[str, str]]:
    """Yield what nodes each pod of a set is kept to by the domain that it is put into. Spec: KUEUE-44."""
    counts = admission.domains.get(name)
    flavors = admission.assignment.flavors.get(name, {}).values()
    topology = next((found for each in flavors if (found := objects.flavors[each].topology)), "")
    for path, count in (counts.counts if counts is not None else {}).items():
        for _ in range(count):
            yield dict(zip(objects.topologies[topology].levels, path, strict=True))


def _flavored(subject: Subject, names: Sequence[str], objects: KueueObjects, domain: Mapping[str, str]) -> Subject:
    """Return a pod with the node selector of its flavors and its domain, and their tolerations. Spec: KUEUE-33."""
    flavors = [objects.flavors[name] for name in names if name in objects.flavors]
    pod = subject.pod
    if pod is None or not (domain or any(each.labels or each.tolerations for each in flavors)):
        return subject
    selector: dict[str, str] = {**pod.spec.node_selector}
    for each in flavors:
        selector.update(each.labels)
    selector.update(domain)
    tolerations = (*pod.spec.tolerations, *(one for each in flavors for one in each.tolerations))
    changed: Pod = pod.replaced(spec=pod.spec.replaced(node_selector=selector, tolerations=tolerations))
    where = ",".join((*names, *domain.values()))
    template = f"{subject.template} in {where}" if subject.template else None
    return replace(subject, pod=changed, template=template)


def _answer(
    pods: QueuedPods,
    admission: QueueStanding | None,
    prepared: Prepared,
    known: tuple[Mapping[str, SubjectAnswer], JointQuestions, KueueObjects],
) -> WorkloadAnswer:
    by_name, joint, objects = known
    let_in = [number for number, _ in _let_in(pods, admission)]
    subjects = [prepared.subjects[each] for each in let_in]
    placed = [by_name[each.name] for each in subjects if each.name in by_name]
    own = frozenset(
        claim.metadata.full_name for each in placed if each.allocated is not None for claim in each.allocated.claims
    )
    found = tuple([of_the_gang(each, own) for each in placed])
    told = QueueTold() if admission is None else _told(admission, objects)
    if len(let_in) < len(pods.subjects):
        said = f"admitted with {len(let_in)} of {len(pods.subjects)} pods at once"
        told = replace(told, lines=(said, *told.lines))
    answer = WorkloadAnswer(pods.name, pods.kind, len(subjects), admission, found, told=told, unmade=unmade(subjects))
    answer = replace(answer, doubt=placed_elsewhere(subjects))
    return replace(answer, jointly=joint.of(subjects, found)) if answer.refused else answer


def _told(admission: QueueStanding, objects: KueueObjects) -> QueueTold:
    """Return what Kueue charges, and whether it may preempt."""
    lines = ["it may preempt others: who would be is not looked at"] if admission.may_preempt else []
    usage = sorted(admission.assignment.usage.items()) if admission.order else []
    charged = [
        f"{amount_text(resource, amount, objects.formats)} {resource} (flavor {flavor})"
        for (flavor, resource), amount in usage
    ]
    for name, each in admission.domains.items():
        said = [f"{count} in {'/'.join(path)}" for path, count in each.counts.items()]
        lines.append(f"podset {name}: {first_few(said)}")
    sets = [
        {
            "name": each.asked.name,
            "count": each.asked.count,
            "asked": {name: amount_text(name, amount, objects.formats) for name, amount in each.amounts.items()},
            "flavors": admission.assignment.flavors.get(each.asked.name, {}),
            "domains": _domains(admission.domains.get(each.asked.name)),
        }
        for each in admission.sets
    ]
    members = {
        "localQueue": admission.workload.local_queue,
        "clusterQueue": admission.queue or None,
        "priority": admission.workload.priority,
        "mayPreempt": admission.may_preempt,
        "podSets": sets,
    }
    return QueueTold((*lines, *([f"charged: {', '.join(charged)}"] if charged else [])), members)


def _domains(counts: DomainCounts | None) -> Any:
    if counts is None:
        return None
    return [{"values": list(path), "count": count} for path, count in counts.counts.items()]


def _notes(objects: KueueObjects, queued: Sequence[QueuedPods], prepared: Prepared, pods: int) -> Iterator[str]:
    """Yield what could make another answer of it; `pods` of the subjects are pods."""
    yield from objects.notes
    yield from no_pods_of(prepared.subjects[pods:])
    if not objects.mappings and any(_has_claims(each) for each in queued):
        yield "there is no Kueue Configuration with deviceClassMappings, so that no claim can be charged"
    unseen = [each.metadata.full_name for each in without_queue(prepared.manifests)]
    if unseen:
        said = f"Kueue sees {QUEUE} of a CronJob's Jobs, which have what is in {labels_path('CronJob')}"
        yield f"{said}; these have it only on themselves: {first_few(unseen)}"
    unlisted = dict.fromkeys(each.called for each in unseen_by(objects, prepared.manifests))
    if unlisted:
        said = f"its Configuration does not list their frameworks, and their label {QUEUE} is nothing to it"
        yield f"Kueue does not manage {first_few(list(unlisted))}: {said}"
    yield from _unseen_marks(queued, prepared.subjects)
    for each, marks in _marked(queued, prepared.subjects):
        yield f"{each.name} is without a queue, as label {QUEUE} is missing, and has of Kueue: {first_few(marks)}"
    there = {each.name: [name for name in each.checks if name in objects.checks] for each in objects.queues.values()}
    checks = sorted(f"{name} ({', '.join(found)})" for name, found in there.items() if found)
    if checks:
        yield f"admission checks come besides: {', '.join(checks)}"
    silent = sorted({each for found in there.values() for each in found if objects.checks[each].active is None})
    if silent:
        yield f"whether they are active is not said, and taken for granted, of AdmissionChecks: {', '.join(silent)}"


def _unseen_marks(queued: Sequence[QueuedPods], subjects: Sequence[Subject]) -> Iterator[str]:
    """Yield which annotations of topologies count for nothing where they stand, and of what."""
    names: dict[str, list[str]] = {}
    for each in queued:
        of_set = {name: subjects[number].pod for name, number in zip(each.sets, each.subjects, strict=True)}
        owner = each.origin.metadata.annotations if isinstance(each.origin, Workload) else {}
        for pod in of_set.values() if each.workload is not None else ():
            for said in marks_unseen(owner, pod.metadata.annotations if pod is not None else {}):
                names.setdefault(said, []).append(each.name)
    for said, those in names.items():
        yield f"{first_few(list(dict.fromkeys(those)))}: {said}"


def _marked(queued: Sequence[QueuedPods], subjects: Sequence[Subject]) -> Iterator[tuple[QueuedPods, Sequence[str]]]:
    """Yield what is without a queue with the labels and annotations of Kueue that it has nevertheless."""
    for pods in queued:
        first = subjects[pods.subjects[0]].pod
        metas = [pods.origin.metadata, *([first.metadata] if first is not None else [])]
        keys = dict.fromkeys(key for each in metas for key in (*each.labels, *each.annotations))
        marks = [each for each in keys if each.startswith(_OF_KUEUE)]
        if marks and QUEUE not in pods.origin.metadata.labels and pods.workload is None:
            yield pods, marks


def _has_claims(pods: QueuedPods) -> bool:
    return pods.workload is not None and any(each.pod.spec.resource_claims for each in pods.workload.sets)
