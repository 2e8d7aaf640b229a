"""
Pods that KAI does not see, for which sets of Grove or groups of KAI say something all the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dra_alloc.errors import Problem, Where, first_few
from dra_alloc.manifest import Workload
from dra_alloc.pods.expanding import ExpandedPod
from dra_alloc.pods.gangs.trees import SubGroup
from dra_alloc.pods.workloads.grove import is_set
from dra_alloc.queues.kai.grouping import ATTACHED, SCHEDULER, TOPOLOGY, gangs_of, is_of_kai, set_faults_of, set_refusal
from dra_alloc.queues.kai.objects import KaiObjects
from dra_alloc.queues.standing import NOT_MODELLED, Standing
from dra_alloc.scenario.admit.answers import AdmitVerdict, SaidBeside, WorkloadAnswer
from dra_alloc.scenario.prepare.pipeline import Prepared


class KaiBeside:
    """
    The pods that KAI does not see: those of sets that Grove refuses are not made, and of others not all is asked.

    Spec: KAI-25.
    """

    def __init__(self, pods: Sequence[ExpandedPod], objects: KaiObjects) -> None:
        self._objects = objects
        self._pods = {number: each for number, each in enumerate(pods) if not is_of_kai(each.pod)}
        self._refusals: dict[int, str] = {}
        self._requiring: dict[int, str] = {}
        for each in self._pods.values():
            owner = each.owner
            if is_set(owner) and id(owner) not in self._refusals:
                self._refusals[id(owner)] = set_refusal(owner, objects)
                self._requiring[id(owner)] = self._required(owner)
        self._attached = Counter(name for each in self._pods.values() if (name := self._group_of(each)))

    def _group_of(self, each: ExpandedPod) -> str:
        """Return the PodGroup of KAI that a pod is attached to, if it is there."""
        name = f"{each.pod.metadata.namespace or ''}/{each.pod.metadata.annotations.get(ATTACHED, '')}"
        return name if name in self._objects.groups else ""

    def _required(self, owner: Workload) -> str:
        """Return why it is not known whether pods of a set may be where they are."""
        parts = [part for gang in gangs_of(owner, self._objects) for part in (gang.root, *gang.below)]
        return "its set requires domains of a topology" if any(map(_requires, parts)) else ""

    @property
    def refused(self) -> frozenset[int]:
        """The pods that are not made, by number."""
        return frozenset(number for number, each in self._pods.items() if self._refusals.get(id(each.owner)))

    def refusal(self, number: int) -> SaidBeside | None:
        """Return why a pod is not made."""
        said = self._refusals.get(id(self._pods[number].owner), "")
        return SaidBeside(Standing.INADMISSIBLE, "set-refused", (said,)) if said else None

    def judged(self, number: int, answer: WorkloadAnswer) -> WorkloadAnswer:
        """Return the answer of a pod that is placed: undecided where not all was asked that it has to satisfy."""
        said = self._unasked(self._pods[number])
        if answer.verdict is not AdmitVerdict.PLACED or not said:
            return answer
        reason = f"{said}, and without schedulerName {SCHEDULER} KAI does not see the pod: that was not asked"
        return replace(answer, admission=SaidBeside(Standing.UNDECIDED, NOT_MODELLED, (reason,)))

    def _unasked(self, each: ExpandedPod) -> str:
        """Return what a pod has to satisfy by KAI alone."""
        if self._requiring.get(id(each.owner)):
            return self._requiring[id(each.owner)]
        name = self._group_of(each)
        if name:
            group, there = self._objects.groups[name], self._attached[name]
            if any(map(_requires, (group.root, *group.below))):
                return f"PodGroup {name} requires domains of a topology"
            if group.root.least > there:
                return f"PodGroup {name} needs {group.root.least} pods, of which {there} are there"
        if each.owner.metadata.annotations.get(f"{TOPOLOGY}-required-placement"):
            return "its owner requires a domain of a topology"
        return ""

    def notes(self) -> Iterator[str]:
        """Yield of which sets and groups KAI was not asked."""
        owners = [each.owner for each in self._pods.values() if self._refusals.get(id(each.owner)) == ""]
        sets = [each.metadata.full_name for each in owners]
        if sets:
            said = f"without schedulerName {SCHEDULER} its gangs and their topology are not asked"
            yield f"PodCliqueSet {first_few(list(dict.fromkeys(sets)))}: {said}"
        if self._attached:
            said = f"pods are attached, and without schedulerName {SCHEDULER} KAI does not see them"
            yield f"PodGroup {first_few(list(self._attached))}: {said}"


def _requires(part: SubGroup) -> bool:
    return bool(part.topology.required or part.topology.against)


def sets_without_pods(prepared: Prepared, objects: KaiObjects) -> Iterator[tuple[Workload, Problem]]:
    """Yield why Grove refuses sets that make no pods, so that no answer tells it."""
    making = {id(each.owner) for each in prepared.pods}
    for each in prepared.manifests.workloads:
        if is_set(each) and id(each) not in making:
            for path, said in set_faults_of(each, objects):
                yield each, Problem(f"Grove refuses the set: {said}", Where(path=path))
