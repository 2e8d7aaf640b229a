"""
The question behind `dra-alloc admit`: who is admitted, and which of these find a place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from dra_alloc import cel
from dra_alloc.api import Pod
from dra_alloc.cluster.settings import DEFAULT_SETTINGS, Settings
from dra_alloc.errors import InputError, ManifestError, Problem, Where, by_place, first_few
from dra_alloc.manifest import Documents
from dra_alloc.pods.workloads.shapes import Taught
from dra_alloc.queues.kueue.asking import gates_lacking
from dra_alloc.queues.kueue.charge import Charging
from dra_alloc.queues.kueue.cycle import QueueStanding, Standing, admissions
from dra_alloc.queues.kueue.devices import SlicesSeen
from dra_alloc.queues.kueue.labels import QUEUE, labels_path
from dra_alloc.queues.kueue.mappings import MAPPINGS
from dra_alloc.queues.kueue.objects import KueueObjects, reserved
from dra_alloc.queues.systems import QueueSystem, queue_system
from dra_alloc.scenario.admit.queued import (
    QueuedPods,
    in_turn,
    not_modelled,
    queued_pods,
    resumed,
    with_quota,
    without_queue,
)
from dra_alloc.scenario.check import CheckOptions, SubjectAnswer, placed
from dra_alloc.scenario.prepare.pipeline import Prepared, prepare
from dra_alloc.scenario.prepare.subjects import Subject
from dra_alloc.work import ran_out

__all__ = ["Admit", "AdmitOptions", "AdmitVerdict", "WorkloadAnswer", "admit"]

_GROUPS = ("kueue.x-k8s.io/", "config.kueue.x-k8s.io/")
#: What every answer leaves out; the rest is noted where the objects have it.
LIMITS = (
    "not modelled: preemption and fair sharing, topologies, admission checks, partial admission, pods ready in time"
)


@dataclass(frozen=True, slots=True)
class AdmitOptions:
    """Which kube-scheduler places what is admitted, where manifests go, and the queue system, if not by the objects."""

    settings: Settings = DEFAULT_SETTINGS
    namespace: str = "default"
    taught: tuple[Taught, ...] = ()
    system: str = ""


class AdmitVerdict(StrEnum):
    """What becomes of a workload; the first that says no decides."""

    PLACED = "placed"
    NOT_ALLOCATABLE = "admitted-not-allocatable"
    UNDECIDED = "undecided"
    WAITING = "waiting"
    NEVER = "never"
    INADMISSIBLE = "inadmissible"
    NOT_PLACED = "not-placed"


@dataclass(frozen=True, slots=True)
class WorkloadAnswer:
    """
    What becomes of pods that are admitted as one, or, without `admission`, that have no queue.

    `placements` are those of its pods, if it was not kept back.
    """

    name: str
    kind: str
    count: int
    admission: QueueStanding | None
    placements: tuple[SubjectAnswer, ...] = ()
    where: Where = field(default_factory=Where)

    @property
    def refused(self) -> tuple[SubjectAnswer, ...]:
        """The pods that find no place."""
        return tuple(each for each in self.placements if each.verdict == "unsatisfiable")

    @property
    def verdict(self) -> AdmitVerdict:
        """What becomes of it."""
        if self.admission is not None and self.admission.standing is not Standing.ADMITTED:
            return AdmitVerdict(self.admission.standing)
        if self.refused:
            return AdmitVerdict.NOT_PLACED if self.admission is None else AdmitVerdict.NOT_ALLOCATABLE
        return (
            AdmitVerdict.UNDECIDED
            if any(each.verdict == "undecided" for each in self.placements)
            else AdmitVerdict.PLACED
        )


@dataclass(frozen=True, slots=True)
class Admit:
    """All workloads in order, by which system and which kube-scheduler, and what to know."""

    workloads: tuple[WorkloadAnswer, ...]
    system: QueueSystem
    objects: KueueObjects
    settings: Settings
    channel: str
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> Mapping[AdmitVerdict, int]:
        """How many workloads have which verdict."""
        found = [each.verdict for each in self.workloads]
        return {each: found.count(each) for each in AdmitVerdict if each in found}


def admit(manifests: Documents, dump: Documents, options: AdmitOptions = AdmitOptions()) -> Admit:
    """
    Return who of the manifests' workloads is admitted as the dump's queues are, and where the admitted are placed.

    Raises: ManifestError with everything that is wrong; InputError for settings, or without queues.
    """
    named = queue_system(options.system) if options.system else None
    if named is not None and named.name != "kueue":
        raise InputError(f"admit does not ask {named.name} yet", hint="it asks kueue")
    if not (manifests.queueing or dump.queueing):
        kinds = "ClusterQueues, LocalQueues, ResourceFlavors, AdmissionChecks and Configuration"
        hint = f"its {kinds} have to be among the files"
        raise InputError("there are no objects of Kueue", hint=hint)
    objects = KueueObjects.of((*dump.queueing, *manifests.queueing), options.namespace)
    system = (named or queue_system("kueue")).under(options.settings.semantics).with_gates(objects.gates)
    given = Prepared(
        _left_alone(resumed(manifests)), _left_alone(dump), options.settings, options.namespace, taught=options.taught
    )
    prepared = prepare(given)
    charging = _charging(prepared, objects, system)
    _check_all(prepared, objects, charging, (manifests, dump))
    asked = [each for each in prepared.pods if each.is_asked]
    queued, others = in_turn(dump, queued_pods(asked, prepared.subjects, dump, objects.priorities))
    workloads = [*others, *(each.workload for each in queued if each.workload is not None)]
    found = admissions(workloads, objects, charging, _namespace_labels(prepared), reserved(with_quota(dump)))
    by_number = {each.workload.number: each for each in found}
    answered = [(each, None if each.workload is None else by_number[each.workload.number]) for each in queued]
    subjects = list(_subjects(answered, prepared.subjects, objects))
    checked = placed(
        replace(prepared, subjects=tuple(subjects)), CheckOptions(options.settings, None, options.namespace)
    )
    by_name = {each.name: each for each in checked.placements}
    read_at = prepared.manifests.placed([(each.origin, Problem("")) for each in queued])
    answers = tuple(
        replace(_answer(each, admission, prepared, by_name), where=at.where)
        for (each, admission), at in zip(answered, read_at, strict=True)
    )
    let_in = sum(by_number[each.number].standing is Standing.ADMITTED for each in others)
    notes = [*_notes(objects, queued, prepared.subjects[len(asked) :], prepared.manifests), *checked.notes, *ran_out()]
    if others:
        said = f"{let_in} of them would be admitted, and their pods are not placed"
        notes.insert(1, f"Workloads that wait in the dump go by the queues, too: {len(others)}; {said}")
    return Admit(answers, system, objects, options.settings, checked.channel, tuple(notes))


def _left_alone(documents: Documents) -> Documents:
    """Return the documents without those of Kueue among what nobody reads."""
    unknown = {name: count for name, count in documents.unknown.items() if not name.startswith(_GROUPS)}
    return replace(documents, unknown=unknown)


def _check_all(prepared: Prepared, objects: KueueObjects, charging: Charging, given: Sequence[Documents]) -> None:
    """Raise ManifestError with what is wrong with any of the objects."""
    problems = [*prepared.problems]
    said = "has sources that need {}, which is off: no claim can be charged by them"
    hint = "set it under featureGates of the Configuration, if it is on in the cluster"
    off = [Problem(said.format(gate), Where(path=MAPPINGS), hint) for gate in gates_lacking(charging)]
    # The last of the Configurations counts, and those of the manifests come after the dump's.
    settled = [each for documents in given[::-1] for each in documents.queueing if each.kind == "Configuration"][-1:]
    wrong = [*objects.wrong, *((each, problem) for each in settled for problem in off)]
    problems += prepared.manifests.placed(not_modelled([each for each in prepared.pods if each.is_asked]))
    for documents in given:
        own = set(map(id, documents.queueing))
        problems += documents.placed([each for each in wrong if id(each[0]) in own])
    if problems:
        raise ManifestError(by_place(problems))


def _charging(prepared: Prepared, objects: KueueObjects, system: QueueSystem) -> Charging:
    merged, profile = prepared.merged, prepared.settings.profile()
    environment = cel.environment(profile.release, "stored", profile.cel_lists)
    templates = {each.metadata.full_name: each for each in merged.templates}
    seen = SlicesSeen(merged.slices, {each.metadata.name or "": each for each in merged.classes}, environment)
    return Charging(objects.mappings, templates, seen, system)


def _namespace_labels(prepared: Prepared) -> Mapping[str, Mapping[str, str]]:
    found: dict[str, Mapping[str, str]] = {
        each.metadata.namespace or "": {"kubernetes.io/metadata.name": each.metadata.namespace or ""}
        for pod in prepared.pods
        for each in (pod.pod,)
    }
    for each in prepared.merged.namespaces:
        name = each.metadata.name or ""
        found[name] = {"kubernetes.io/metadata.name": name, **each.metadata.labels}
    return found


def _subjects(
    answered: Sequence[tuple[QueuedPods, QueueStanding | None]], subjects: Sequence[Subject], objects: KueueObjects
) -> Iterator[Subject]:
    """Yield the pods that nobody keeps back, those admitted first before others, as their flavors make them."""
    let_in = [each for each in answered if each[1] is None or each[1].standing is Standing.ADMITTED]
    for pods, admission in sorted(let_in, key=lambda each: each[1].order if each[1] is not None else 0):
        for number, name in zip(pods.subjects, pods.sets, strict=True):
            subject = subjects[number]
            flavors = {} if admission is None else admission.assignment.flavors.get(name, {})
            yield _flavored(subject, list(dict.fromkeys(flavors.values())), objects)


def _flavored(subject: Subject, names: Sequence[str], objects: KueueObjects) -> Subject:
    """Return a pod with the node selector and the tolerations of its flavors. Spec: KUEUE-33."""
    flavors = [objects.flavors[name] for name in names if name in objects.flavors]
    pod = subject.pod
    if pod is None or not any(each.labels or each.tolerations for each in flavors):
        return subject
    selector: dict[str, str] = {**pod.spec.node_selector}
    for each in flavors:
        selector.update(each.labels)
    tolerations = (*pod.spec.tolerations, *(one for each in flavors for one in each.tolerations))
    changed: Pod = pod.replaced(spec=pod.spec.replaced(node_selector=selector, tolerations=tolerations))
    template = f"{subject.template} in {','.join(names)}" if subject.template else None
    return replace(subject, pod=changed, template=template)


def _answer(
    pods: QueuedPods, admission: QueueStanding | None, prepared: Prepared, by_name: Mapping[str, SubjectAnswer]
) -> WorkloadAnswer:
    names = [prepared.subjects[each].name for each in pods.subjects]
    found = tuple(by_name[name] for name in names if name in by_name)
    return WorkloadAnswer(pods.name, pods.kind, len(names), admission, found)


def _notes(
    objects: KueueObjects, queued: Sequence[QueuedPods], idle: Sequence[Subject], manifests: Documents
) -> Iterator[str]:
    """Yield what could make another answer of it."""
    yield LIMITS
    yield from objects.notes
    if idle:
        names = first_few([f"{each.kind} {each.name}" for each in idle])
        yield f"queues admit pods; no pod uses these, which are not asked about: {names}"
    if not objects.mappings and any(_has_claims(each) for each in queued):
        yield "there is no Kueue Configuration with deviceClassMappings, so that no claim can be charged"
    unseen = [each.metadata.full_name for each in without_queue(manifests)]
    if unseen:
        said = f"Kueue sees {QUEUE} of a CronJob's Jobs, which have what is in {labels_path('CronJob')}"
        yield f"{said}; these have it only on themselves: {first_few(unseen)}"
    there = {each.name: [name for name in each.checks if name in objects.checks] for each in objects.queues.values()}
    checks = sorted(f"{name} ({', '.join(found)})" for name, found in there.items() if found)
    if checks:
        yield f"admission checks come besides: {', '.join(checks)}"


def _has_claims(pods: QueuedPods) -> bool:
    return pods.workload is not None and any(each.pod.spec.resource_claims for each in pods.workload.sets)
