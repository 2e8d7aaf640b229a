"""
Who KAI-Scheduler lets in of the manifests' workloads, and what it places together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from dra_alloc.errors import first_few
from dra_alloc.pods.gangs.packing import DomainsFound
from dra_alloc.pods.gangs.trees import next_pods
from dra_alloc.pods.workloads.pod_gangs import PodGang
from dra_alloc.queues.kai.amounts import FRACTION, GPU_MEMORY, asks_beyond, of_nodes, of_pod
from dra_alloc.queues.kai.cycle import KaiCycle, KaiJob, KaiStanding
from dra_alloc.queues.kai.evicting import eviction
from dra_alloc.queues.kai.grouping import (
    QUEUE,
    SCHEDULER,
    TOPOLOGY,
    KaiPods,
    is_loose,
    is_of_kai,
    kai_pods,
)
from dra_alloc.queues.kai.objects import POOL, KaiObjects
from dra_alloc.queues.kai.reclaim import Amounts, Holder
from dra_alloc.queues.standing import NOT_MODELLED, Standing
from dra_alloc.queues.systems import QueueDefect
from dra_alloc.scenario.admit.answers import Admit, QueueTold, WorkloadAnswer
from dra_alloc.scenario.admit.asking import AdmitQuestion, prepared_for
from dra_alloc.scenario.admit.gathering import Gathered, ListedPods
from dra_alloc.scenario.admit.kai_beside import KaiBeside, sets_without_pods
from dra_alloc.scenario.admit.kai_marks import mark_notes
from dra_alloc.scenario.admit.kai_order import KaiOrder
from dra_alloc.scenario.admit.kai_told import kai_told
from dra_alloc.scenario.admit.packed import try_packed
from dra_alloc.scenario.answers import SubjectAnswer
from dra_alloc.scenario.prepare.pipeline import Prepared

#: What every answer leaves out; the rest is noted where the objects have it.
LIMITS: Final = (
    "not modelled: consolidation, past use of queues, minimal run times, preemption delays, node pools, parts of "
    "devices; which node KAI prefers: places are found as kube-scheduler finds them, and all nodes count as ready"
)
_BEYOND: Final = (
    "KAI's own allocator of devices decides, which knows no counters, capacity or alternatives and is not modelled: "
    "kube-scheduler would find places"
)
_POOLED: Final = f"pools of nodes (label {POOL}), each with a scheduler of its own, are not modelled"
_PARTS: Final = "it asks for a part of a device, and which devices pods share is not modelled"


def admit_kai(asked: AdmitQuestion) -> Admit:
    """Return what becomes of workloads by KAI. Raises: ManifestError with everything that is wrong."""
    options = asked.options
    objects = KaiObjects.of((*asked.dump.queueing, *asked.manifests.queueing), options.namespace)
    prepared = prepared_for(asked, asked.manifests, objects.wrong, lambda made: sets_without_pods(made, objects))
    found = _Kai(asked, prepared, objects)
    answers = found.answers()
    notes = tuple(found.notes()), LIMITS
    return found.gathered.admit(found.listed, answers, notes, found.queues())


class _Kai:
    """One question under way."""

    def __init__(self, question: AdmitQuestion, prepared: Prepared, objects: KaiObjects) -> None:
        self._question, self._objects = question, objects
        self.gathered = Gathered(question, prepared, is_of_kai)
        self._beside = KaiBeside(self.gathered.pods[: self.gathered.mine], objects)
        self._gangs: dict[int, PodGang | None] = {}
        self.jobs = self._jobs()
        self.cycle = KaiCycle(objects, [job for job, _ in self.jobs], self._whole())
        self._holders: Mapping[str, Holder] = {}
        self._domains: dict[int, DomainsFound] = {}
        self._order = KaiOrder(self.gathered, self._counted, question.system)
        self.listed = self.gathered.listed((each.name, each.kind, job.number, job.asked) for job, each in self.jobs)

    def _jobs(self) -> list[tuple[KaiJob, KaiPods]]:
        gathered, numbers = self.gathered, self.gathered.numbers
        self._counted = amounts = self._amounts(numbers)
        groups = list(kai_pods([gathered.pods[each] for each in numbers], self._objects, gathered.classes()))
        found: list[tuple[KaiJob, KaiPods]] = []
        by_name = {each.name: place for place, each in enumerate(groups) if each.gang is not None}
        for each, tree, turn in gathered.gangs(groups):
            self._gangs[turn] = each.gang
            members = list(tree.members())
            job = KaiJob(
                each.name,
                each.queue,
                tree,
                {number: amounts[number] for number in members},
                gathered.running(members),
                each.priority,
                each.preemptible,
                turn,
                each.against,
                by_name.get(each.after),
            )
            found.append((job, each))
        return found

    def _amounts(self, numbers: Sequence[int]) -> Mapping[int, Amounts]:
        """Return what each pod counts: a claim that pods share for each of them, or, without that defect, once."""
        per_pod = self._question.system.shows(QueueDefect.CLAIM_PER_POD)
        counted: set[str] = set()
        found: dict[int, Amounts] = {}
        for number in numbers:
            claims = []
            for name, claim in self.gathered.claims_of(number):
                if per_pod or not name or name not in counted:
                    claims.append(claim)
                    counted.add(name)
            found[number] = of_pod(self.gathered.pods[number].pod, claims)
        return found

    def _whole(self) -> Amounts:
        """Return what there is for KAI to divide: all that nodes offer, less what pods of other schedulers have."""
        prepared = self.gathered.prepared
        whole = dict(of_nodes(prepared.cluster.nodes, prepared.merged.slices, self._question.system))
        for pod, claims in self.gathered.others():
            for name, amount in of_pod(pod, claims).items():
                whole[name] -= amount
        # Less than nothing would be read as no end of it.
        return {name: max(0, amount) for name, amount in whole.items()}

    def answers(self) -> list[WorkloadAnswer]:
        """Return what becomes of each: pods of no queue are placed first, then KAI's jobs in turn."""
        alone = self.gathered.placed_alone(self._beside.refused)
        standings = {each.job.number: each for each in self.cycle.run(self._place)}
        self._holders = {name: self.cycle.holder(name) for name in self._objects.queues}
        return [
            self.gathered.answer(each, self._admission(standings[each.job]), alone)
            if each.job is not None
            else self._without_queue(each, alone)
            for each in self.listed
        ]

    def _without_queue(self, listed: ListedPods, alone: Mapping[int, SubjectAnswer]) -> WorkloadAnswer:
        """Return what becomes of a pod that KAI does not see."""
        (number,) = listed.numbers
        refusal = self._beside.refusal(number)
        if refusal is not None:
            return self.gathered.answer(listed, (refusal, QueueTold(), False), alone)
        return self._beside.judged(number, self.gathered.answer(listed, None, alone))

    def _place(self, job: KaiJob, numbers: Sequence[int]) -> bool | None:
        trying = self.gathered.trying
        if not job.group.goes_together:
            return trying.together(job.number, numbers)
        found = try_packed(trying, job.number, job.group, numbers, self._order.fullest_first)
        # What the first of its pods were told counts, also where later ones find no place.
        self._domains.setdefault(job.number, found)
        return found.placed

    def _admission(self, standing: KaiStanding) -> tuple[KaiStanding, QueueTold, bool]:
        found, let_in = None, standing.standing is Standing.ADMITTED
        if let_in and not standing.has_enough:
            pods = next_pods(standing.job.group, standing.placed)
            found = eviction(self.cycle, self._holders, standing.job, pods, [each for each, _ in self.jobs])
        enough = let_in and standing.has_enough and self.gathered.has_mine(standing.placed)
        unknown = self._unknown(standing) if enough else ""
        if unknown:
            enough = False
            standing = replace(standing, standing=Standing.UNDECIDED, code=NOT_MODELLED, reasons=(unknown,))
        return (
            standing,
            kai_told(standing, found, self._domains.get(standing.job.number), self._gangs.get(standing.job.number)),
            enough,
        )

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
                    for resource, holding in self._holders[name].holdings.items()
                },
            }
            for name, queue in self._objects.queues.items()
        }

    def _unknown(self, standing: KaiStanding) -> str:
        """Return why it is not known whether KAI finds the places that were found. Spec: KAI-24, KAI-27."""
        pods = [self.gathered.pods[each] for each in standing.placed if each < self.gathered.mine]
        labels = [labels for each in pods for labels in (each.pod.metadata.labels, each.owner.metadata.labels)]
        named = {standing.job.name, standing.job.queue}
        if self._nodes_pooled or named & self._objects.pooled or any(POOL in each for each in labels):
            return _POOLED
        if any({FRACTION, GPU_MEMORY} & each.pod.metadata.annotations.keys() for each in pods):
            return _PARTS
        return _BEYOND if any(self._is_beyond(each) for each in standing.placed if each < self.gathered.mine) else ""

    @cached_property
    def _nodes_pooled(self) -> bool:
        return any(POOL in each.metadata.labels for each in self.gathered.prepared.cluster.nodes)

    def _is_beyond(self, number: int) -> bool:
        """Return whether a pod asks for, or got here, what KAI's allocator of devices does not know."""
        if any(asks_beyond(claim) for _, claim in self.gathered.claims_of(number)):
            return True
        found = self.gathered.trying.answers.get(number) if self._with_counters else None
        claims = found.allocated.claims if found is not None and found.allocated is not None else ()
        allocations = (each.status.allocation for each in claims if each.status.allocation is not None)
        results = (each for allocation in allocations for each in allocation.devices.results)
        return any((each.driver, each.pool, each.device) in self._with_counters for each in results)

    @cached_property
    def _with_counters(self) -> frozenset[tuple[str, str, str]]:
        slices = (each.spec for each in self.gathered.prepared.merged.slices)
        return frozenset(
            (spec.driver, spec.pool.name, device.name)
            for spec in slices
            for device in spec.devices
            if device.consumes_counters
        )

    def notes(self) -> Iterator[str]:
        """Yield what could make another answer of it."""
        yield from self.gathered.notes(job for job, _ in self.jobs)
        yield from self._beside.notes()
        mine = self.gathered.pods[: self.gathered.mine]
        yield from mark_notes(mine)
        labelled = [each.name for each in mine if not is_of_kai(each.pod) and each.pod.metadata.labels.get(QUEUE)]
        if labelled:
            said = f"have label {QUEUE} and not schedulerName {SCHEDULER}: KAI does not see them"
            yield f"{first_few(labelled)} {said}"
        loose = dict.fromkeys(each.owner.metadata.full_name for each in mine if is_of_kai(each.pod) and is_loose(each))
        if loose:
            yield f"{first_few(list(loose))}: annotations name levels and no {TOPOLOGY}: KAI looks at neither"
        parts = [each.name for each in mine if {FRACTION, GPU_MEMORY} & each.pod.metadata.annotations.keys()]
        if parts:
            yield f"{first_few(parts)}: parts of devices are counted, as far as they say how much, and not placed"
