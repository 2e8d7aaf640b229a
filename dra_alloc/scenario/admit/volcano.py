"""
Who Volcano lets in of the manifests' workloads, and what it places together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from dra_alloc.errors import first_few
from dra_alloc.pods.amounts import PODS, pod_requests
from dra_alloc.pods.gangs.trees import fewest, has_enough
from dra_alloc.queues.standing import Standing
from dra_alloc.queues.volcano.cycle import VolcanoCycle, VolcanoJob, VolcanoStanding
from dra_alloc.queues.volcano.enqueue import DeviceMinimum
from dra_alloc.queues.volcano.grouping import SCHEDULER, VolcanoPods, is_of_volcano, volcano_pods
from dra_alloc.queues.volcano.objects import DEFAULT, VolcanoObjects
from dra_alloc.scenario.admit.answers import Admit, QueueTold, WorkloadAnswer
from dra_alloc.scenario.admit.asking import AdmitQuestion, prepared_for
from dra_alloc.scenario.admit.gathering import Gathered
from dra_alloc.scenario.prepare.pipeline import Prepared

#: What every answer leaves out; the rest is noted where the objects have it.
LIMITS: Final = (
    "not modelled: the plugin proportion, reclaim and preemption, network topologies, tasks that wait for others, the "
    "order of queues: gangs go by priority and age; places are found as kube-scheduler finds them"
)


def admit_volcano(asked: AdmitQuestion) -> Admit:
    """Return what becomes of workloads by Volcano. Raises: ManifestError with everything that is wrong."""
    options = asked.options
    objects = VolcanoObjects.of((*asked.dump.queueing, *asked.manifests.queueing), options.namespace)
    asked = replace(asked, system=asked.system.with_gates(objects.gates))
    prepared = prepared_for(asked, asked.manifests, objects.wrong)
    found = _Volcano(asked, prepared, objects)
    answers = found.answers()
    return found.gathered.admit(found.listed, answers, ((*objects.notes, *found.notes()), LIMITS))


class _Volcano:
    """One question under way."""

    def __init__(self, question: AdmitQuestion, prepared: Prepared, objects: VolcanoObjects) -> None:
        self._objects = objects
        self.gathered = Gathered(question, prepared, is_of_volcano)
        self.jobs = self._jobs()
        self._cycle = VolcanoCycle(objects, [job for job, _ in self.jobs], self._whole(), question.system)
        self.listed = self.gathered.listed((each.name, each.kind, job.number, job.asked) for job, each in self.jobs)

    def _jobs(self) -> list[tuple[VolcanoJob, VolcanoPods]]:
        gathered, numbers = self.gathered, self.gathered.numbers
        groups = list(volcano_pods([gathered.pods[each] for each in numbers], self._objects, gathered.classes()))
        found: list[tuple[VolcanoJob, VolcanoPods]] = []
        for each, tree, turn in gathered.gangs(groups):
            members = list(tree.members())
            minimum = None if each.minimum is None else {name: amount.nano for name, amount in each.minimum.items()}
            job = VolcanoJob(
                each.name,
                each.queue,
                tree,
                {number: {**pod_requests(gathered.pods[number].pod), PODS: 10**9} for number in members},
                {number: [claim for _, claim in gathered.claims_of(number)] for number in members},
                gathered.running(members),
                each.priority,
                turn,
                each.against,
                minimum,
            )
            found.append((job, each))
        return found

    def _whole(self) -> Mapping[str, int]:
        """Return what all nodes together offer; a resource that none of them names is not limited by it."""
        found: dict[str, int] = {}
        for node in self.gathered.prepared.cluster.nodes:
            for name, amount in node.status.allocatable.items():
                found[name] = found.get(name, 0) + amount.nano
        return found

    def answers(self) -> list[WorkloadAnswer]:
        """Return what becomes of each: pods of no queue are placed first, then Volcano's gangs in turn."""
        alone = self.gathered.placed_alone()
        standings = {each.job.number: each for each in self._cycle.run(self._place)}
        return [
            self.gathered.answer(each, self._admission(standings[each.job]) if each.job is not None else None, alone)
            for each in self.listed
        ]

    def _place(
        self, job: VolcanoJob, allowed: Callable[[int], bool], took: Callable[[int], None]
    ) -> frozenset[int] | None:
        waiting = [each for each in job.group.members() if each not in job.placed]
        return self.gathered.trying.as_far(
            job.number, waiting, lambda placed: has_enough(job.group, job.placed | placed), (allowed, took)
        )

    def _admission(self, standing: VolcanoStanding) -> tuple[VolcanoStanding, QueueTold, bool]:
        job, let_in = standing.job, standing.standing is Standing.ADMITTED
        enough = let_in and standing.has_enough and self.gathered.has_mine(standing.placed)
        needs = fewest(job.group)
        lines = (
            [f"its gang needs places for {needs} pods at once"]
            if let_in and not standing.has_enough and needs > 1
            else []
        )
        if standing.has_enough:
            lines += [f"no more of its pods: {each}" for each in standing.reasons]
        devices = {name: _told(each) for name, each in standing.minimum.items()}
        if let_in and devices:
            said = ", ".join(f"{each['count']} of class {name}" for name, each in devices.items())
            lines.append(f"counts in queue {job.queue}: {said}")
        members: dict[str, Any] = {"queue": job.queue or None, "priority": job.priority, "needs": needs}
        members["minimum"] = devices
        return standing, QueueTold(tuple(lines), members), enough

    def notes(self) -> Iterator[str]:
        """Yield what could make another answer of it."""
        yield from self.gathered.notes(job for job, _ in self.jobs)
        if self._objects.assumes_default and any(job.queue == DEFAULT for job, _ in self.jobs):
            said = (
                "is not among the files: it is taken as Volcano makes it, below the root and without limits of its own"
            )
            yield f"queue {DEFAULT} {said}"
        mine = self.gathered.pods[: self.gathered.mine]
        marked = [
            each.name
            for each in mine
            if not is_of_volcano(each.pod) and any("volcano.sh/" in key for key in each.pod.metadata.annotations)
        ]
        if marked:
            said = f"have annotations of Volcano and not schedulerName {SCHEDULER}: it does not see them"
            yield f"{first_few(marked)} {said}"


def _told(minimum: DeviceMinimum) -> dict[str, Any]:
    capacity = {name: str(amount) for name, amount in minimum.capacity.items()}
    return {"count": minimum.count, **({"capacity": capacity} if capacity else {})}
