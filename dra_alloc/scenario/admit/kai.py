"""
Who KAI-Scheduler lets in of the manifests' workloads, and what it places together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from dra_alloc.api import ResourceClaim
from dra_alloc.cluster.attempts.queue import Queued
from dra_alloc.cluster.attempts.schedule import queued_of
from dra_alloc.errors import first_few
from dra_alloc.pods.expanding import ExpandedPod
from dra_alloc.pods.gangs import next_pods
from dra_alloc.pods.workloads.states import PodState, state_of
from dra_alloc.queues.kai.amounts import FRACTION, GPU_MEMORY, of_nodes, of_pod
from dra_alloc.queues.kai.cycle import KaiCycle, KaiJob, KaiStanding
from dra_alloc.queues.kai.evicting import eviction
from dra_alloc.queues.kai.grouping import QUEUE, SCHEDULER, KaiPods, is_of_kai, kai_pods
from dra_alloc.queues.kai.objects import KaiObjects
from dra_alloc.queues.kai.reclaim import Amounts
from dra_alloc.queues.standing import Standing
from dra_alloc.queues.systems import QueueDefect
from dra_alloc.scenario.admit.answers import Admit, QueueTold, WorkloadAnswer
from dra_alloc.scenario.admit.asking import AdmitQuestion, no_pods_of, prepared_for, read_at, unmade
from dra_alloc.scenario.admit.jointly import JointQuestions
from dra_alloc.scenario.admit.kai_told import kai_told
from dra_alloc.scenario.admit.trying import Trying
from dra_alloc.scenario.answers import CheckOptions, SubjectAnswer
from dra_alloc.scenario.checking import Checking, queued_subject
from dra_alloc.scenario.looking import Looking
from dra_alloc.scenario.prepare.pipeline import Prepared
from dra_alloc.work import ran_out

__all__ = ["admit_kai"]

#: What every answer leaves out; the rest is noted where the objects have it.
LIMITS: Final = (
    "not modelled: consolidation, past use of queues, minimal run times, preemption delays, node pools, parts of "
    "devices; which node KAI prefers: places are found as kube-scheduler finds them, and all nodes count as ready"
)


def admit_kai(asked: AdmitQuestion) -> Admit:
    """Return what becomes of workloads by KAI. Raises: ManifestError with everything that is wrong."""
    options = asked.options
    objects = KaiObjects.of((*asked.dump.queueing, *asked.manifests.queueing), options.namespace)
    prepared = prepared_for(asked, asked.manifests, objects.wrong)
    found = _Kai(asked, prepared, objects)
    answers = found.answers()
    where = read_at(prepared, [each.origin for each in found.listed])
    placed = tuple(replace(each, where=place) for each, place in zip(answers, where, strict=True))
    checking = found.checking
    notes = (LIMITS, *objects.notes, *found.notes(), *prepared.notes, *checking.notes(), *ran_out())
    channel = str(options.settings.profile().channel)
    return Admit(placed, asked.system, options.settings, channel, notes, found.queues())


@dataclass(frozen=True, slots=True)
class _Listed:
    """What an answer is about: pods that KAI places together, or, without a job, pods of others; `origin` has them."""

    name: str
    kind: str
    numbers: tuple[int, ...]
    origin: Any
    job: KaiJob | None = None


class _Kai:
    """One question under way. Pods are numbered: those of the manifests that are asked, then those of the cluster."""

    def __init__(self, asked: AdmitQuestion, prepared: Prepared, objects: KaiObjects) -> None:
        self._asked, self._prepared, self._objects = asked, prepared, objects
        self._options = CheckOptions(asked.options.settings, None, asked.options.namespace)
        mine = [each for each in prepared.pods if each.is_asked]
        names = {each.name for each in mine}
        there = [each for each in prepared.cluster.population.pods if is_of_kai(each)]
        there += [
            each
            for each in prepared.dump.pods
            if is_of_kai(each) and state_of(each) in (PodState.WAITING, PodState.GATED)
        ]
        self._owned = {each.name: each for each in prepared.pods}
        others = [self._owned.get(each.metadata.full_name) or _of_cluster(each) for each in there]
        self.pods: list[ExpandedPod] = [*mine, *(each for each in others if each.name not in names)]
        self._mine = len(mine)
        self._claims: dict[str, ResourceClaim] = dict(prepared.cluster.claims)
        self.checking = Checking(_without(prepared, self.pods), self._options, Looking())
        self._trying = Trying(self.checking, self._queued(), dict(enumerate(prepared.subjects[: self._mine])))
        self.jobs = self._jobs()
        self.cycle = KaiCycle(objects, [job for job, _ in self.jobs], self._whole())
        self.listed = self._listed()

    def _queued(self) -> Mapping[int, Queued]:
        """Return the pods as a scheduler has them: those of the cluster that wait go by the queues, too."""
        found = {number: queued_subject(self._prepared.subjects[number]) for number in range(self._mine)}
        for number in range(self._mine, len(self.pods)):
            pod = self.pods[number].pod
            if not pod.spec.node_name:
                found[number] = queued_of(pod, self._prepared.cluster)
        return found

    def _jobs(self) -> list[tuple[KaiJob, KaiPods]]:
        classes = {
            each.metadata.name or "": each.value
            for documents in (self._prepared.dump, self._prepared.manifests)
            for each in documents.priority_classes
        }
        numbers = [number for number, each in enumerate(self.pods) if is_of_kai(each.pod)]
        of_kai = [self.pods[number] for number in numbers]
        amounts = self._amounts(numbers)
        found: list[tuple[KaiJob, KaiPods]] = []
        groups = list(kai_pods(of_kai, self._objects, classes))
        turns = sorted(range(len(groups)), key=lambda place: groups[place].created)
        turn = {place: number for number, place in enumerate(turns)}
        for place, each in enumerate(groups):
            group = _renumbered(each, numbers)
            members = list(group.group.members())
            running = frozenset(number for number in members if self.pods[number].pod.spec.node_name)
            job = KaiJob(
                group.name,
                group.queue,
                group.group,
                {number: amounts[number] for number in members},
                running,
                group.priority,
                group.preemptible,
                turn[place],
                group.against,
            )
            found.append((job, group))
        return found

    def _amounts(self, numbers: Sequence[int]) -> Mapping[int, Amounts]:
        """Return what each pod counts: a claim that pods share for each of them, or, without that defect, once."""
        per_pod = self._asked.system.shows(QueueDefect.CLAIM_PER_POD)
        counted: set[str] = set()
        found: dict[int, Amounts] = {}
        for number in numbers:
            claims = []
            for each in self._claims_of(number):
                name = each if isinstance(each, str) else ""
                claim = self._claims.get(name) if isinstance(each, str) else each
                if claim is not None and (per_pod or not name or name not in counted):
                    claims.append(claim)
                    counted.add(name)
            found[number] = of_pod(self.pods[number].pod, claims)
        return found

    def _claims_of(self, number: int) -> Sequence[str | ResourceClaim]:
        if number < self._mine:
            return self._prepared.subjects[number].claims
        return queued_of(self.pods[number].pod, self._prepared.cluster).claims

    def _whole(self) -> Amounts:
        """Return what there is for KAI to divide: all that nodes offer, less what pods of other schedulers have."""
        cluster = self._prepared.cluster
        whole = dict(of_nodes(cluster.nodes, self._prepared.merged.slices, self._asked.system))
        for pod in cluster.population.pods:
            if not is_of_kai(pod) and pod.spec.node_name:
                claims = [self._claims[each] for each in queued_of(pod, cluster).claims if isinstance(each, str)]
                for name, amount in of_pod(pod, claims).items():
                    whole[name] -= amount
        return whole

    def _listed(self) -> list[_Listed]:
        """Return what answers are about, in the order of the first pods: no jobs of the cluster alone."""
        found: list[tuple[int, _Listed]] = []
        for job, group in self.jobs:
            numbers = tuple(sorted(each for each in job.asked if each < self._mine))
            if numbers:
                origin = self.pods[numbers[0]].owner
                found.append((numbers[0], _Listed(group.name, group.kind, numbers, origin, job)))
        for number in range(self._mine):
            each = self.pods[number]
            if not is_of_kai(each.pod):
                found.append((number, _Listed(each.name, each.owner.kind, (number,), each.owner)))
        return [each for _, each in sorted(found, key=lambda pair: pair[0])]

    def answers(self) -> list[WorkloadAnswer]:
        """Return what becomes of each: pods of no queue are placed first, then KAI's jobs in turn."""
        alone = [number for number in range(self._mine) if not is_of_kai(self.pods[number].pod)]
        subjects = [self._prepared.subjects[number] for number in alone]
        placed = dict(zip(alone, self.checking.asked(subjects, ()), strict=True))
        standings = {each.job.name: each for each in self.cycle.run(self._place)}
        joint = JointQuestions(self.checking.scheduling.cluster)
        return [self._answer(each, standings, placed, joint) for each in self.listed]

    def _place(self, job: KaiJob, numbers: Sequence[int]) -> bool | None:
        return self._trying.together(job.name, numbers)

    def _answer(
        self,
        listed: _Listed,
        standings: Mapping[str, KaiStanding],
        placed: Mapping[int, SubjectAnswer],
        joint: JointQuestions,
    ) -> WorkloadAnswer:
        subjects = [self._prepared.subjects[number] for number in listed.numbers]
        answer = WorkloadAnswer(listed.name, listed.kind, len(subjects), None, unmade=unmade(subjects))
        if listed.job is None:
            found = tuple(placed[number] for number in listed.numbers)
            answer = replace(answer, placements=found)
            return replace(answer, jointly=joint.of(subjects, len(subjects), found)) if answer.refused else answer
        standing = standings[listed.job.name]
        tried = self._trying.answers
        found = tuple(tried[number] for number in listed.numbers if number in tried)
        told = self._told(standing)
        enough = standing.standing is Standing.ADMITTED and standing.has_enough
        jointly = self._trying.joint.get(listed.job.name, answer.jointly)
        return replace(answer, admission=standing, placements=found, told=told, enough=enough, jointly=jointly)

    def _told(self, standing: KaiStanding) -> QueueTold:
        found = None
        if standing.standing is Standing.ADMITTED and not standing.has_enough:
            pods = next_pods(standing.job.group, standing.placed)
            found = eviction(self.cycle, standing.job, pods, [each for each, _ in self.jobs])
        return kai_told(standing, found)

    def queues(self) -> Mapping[str, Any]:
        """Return what each queue is due, may have, and has in the end."""
        return {
            name: {
                "parent": queue.account.parent or None,
                "priority": queue.priority,
                "resources": {
                    resource: {
                        "quota": holding.quota,
                        "limit": holding.limit,
                        "fairShare": holding.fair_share,
                        "allocated": holding.allocated,
                    }
                    for resource, holding in self.cycle.holder(name).holdings.items()
                },
            }
            for name, queue in self._objects.queues.items()
        }

    def notes(self) -> Iterator[str]:
        """Yield what could make another answer of it."""
        yield from no_pods_of(self._prepared.subjects[self._mine :])
        waiting = {job.name for job, _ in self.jobs if not job.placed and min(job.asked, default=0) >= self._mine}
        if waiting:
            yield f"jobs that wait in the cluster go by the queues, too: {len(waiting)}"
        mine = self.pods[: self._mine]
        labelled = [each.name for each in mine if not is_of_kai(each.pod) and each.pod.metadata.labels.get(QUEUE)]
        if labelled:
            said = f"have label {QUEUE} and not schedulerName {SCHEDULER}: KAI does not see them"
            yield f"{first_few(labelled)} {said}"
        parts = [each.name for each in mine if {FRACTION, GPU_MEMORY} & each.pod.metadata.annotations.keys()]
        if parts:
            yield f"{first_few(parts)}: parts of devices are counted, as far as they say how much, and not placed"


def _renumbered(group: KaiPods, numbers: Sequence[int]) -> KaiPods:
    """Return a group whose pods are numbered among all pods."""

    def mapped(tree: Any) -> Any:
        pods, groups = tuple(numbers[each] for each in tree.pods), tuple(map(mapped, tree.groups))
        return replace(tree, pods=pods, groups=groups)

    return replace(group, group=mapped(group.group))


def _of_cluster(pod: Any) -> ExpandedPod:
    return ExpandedPod(pod, pod, state_of(pod))


def _without(prepared: Prepared, pods: Sequence[ExpandedPod]) -> Prepared:
    """Return it without what waits in the dump for KAI: that is in its queues, and not in kube-scheduler's."""
    names = {each.name for each in pods}
    dump = replace(
        prepared.dump, pods=tuple(each for each in prepared.dump.pods if each.metadata.full_name not in names)
    )
    return replace(prepared, dump=dump)
