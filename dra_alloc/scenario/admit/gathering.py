"""
The pods that a scheduler with queues sees: those of the manifests, and those that run or wait in the cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, TypeVar

from dra_alloc.api import FrozenMap, Pod, ResourceClaim
from dra_alloc.cluster.attempts.queue import Queued
from dra_alloc.cluster.attempts.schedule import queued_of
from dra_alloc.pods.expanding import ExpandedPod
from dra_alloc.pods.gangs.trees import GroupTree
from dra_alloc.pods.workloads.states import PodState, state_of
from dra_alloc.queues.standing import QueueAdmission
from dra_alloc.scenario.admit.answers import Admit, QueueTold, WorkloadAnswer
from dra_alloc.scenario.admit.asking import AdmitQuestion, left_open, no_pods_of, placed_elsewhere, read_at, unmade
from dra_alloc.scenario.admit.held import held_back
from dra_alloc.scenario.admit.jointly import JointQuestions
from dra_alloc.scenario.admit.trying import Trying
from dra_alloc.scenario.answers import CheckOptions, SubjectAnswer
from dra_alloc.scenario.checking import Checking, queued_subject
from dra_alloc.scenario.prepare.pipeline import Prepared
from dra_alloc.scenario.refused.looking import Looking
from dra_alloc.work import ran_out

#: What a queue says of pods, beyond that, and whether their gang has enough.
_Admitted = tuple[QueueAdmission, QueueTold, bool]
_NOTHING: Final[Mapping[str, Any]] = FrozenMap()


class _Grouped(Protocol):
    """Pods that are placed together, numbered among those of the scheduler with queues."""

    @property
    def group(self) -> GroupTree: ...

    @property
    def created(self) -> str: ...


class _Job(Protocol):
    """The same with pods numbered among all; some may have a place already."""

    @property
    def number(self) -> int: ...

    @property
    def asked(self) -> Mapping[int, Any]: ...

    @property
    def placed(self) -> frozenset[int]: ...


Grouped = TypeVar("Grouped", bound=_Grouped)


@dataclass(frozen=True, slots=True)
class ListedPods:
    """What an answer is about: pods that are placed together, or, without a `job`, a pod of another scheduler."""

    name: str
    kind: str
    numbers: tuple[int, ...]
    origin: Any
    job: int | None = None


class Gathered:
    """
    The pods by number: first the `mine` of the manifests that are asked about, then those of the cluster.

    `is_of` says which of them the scheduler with queues is to place.
    """

    def __init__(self, question: AdmitQuestion, prepared: Prepared, is_of: Callable[[Pod], bool]) -> None:
        self._question, self.prepared, self.is_of = question, prepared, is_of
        asked = [each for each in prepared.pods if each.is_asked]
        names = {each.name for each in asked}
        waiting = (each for each in prepared.dump.pods if state_of(each) in (PodState.WAITING, PodState.GATED))
        there = [each for each in (*prepared.cluster.population.pods, *waiting) if is_of(each)]
        owned = {each.name: each for each in prepared.pods}
        others = [owned.get(each.metadata.full_name) or ExpandedPod(each, each, state_of(each)) for each in there]
        self.pods: list[ExpandedPod] = [*asked, *(each for each in others if each.name not in names)]
        self.mine = len(asked)
        self._claims: Mapping[str, ResourceClaim] = prepared.cluster.claims
        options = CheckOptions(question.options.settings, None, question.options.namespace)
        self.checking = Checking(_without(prepared, self.pods), options, Looking())
        self.trying = Trying(
            self.checking, self._queued(), dict(enumerate(prepared.subjects[: self.mine])), places=self._places()
        )

    @property
    def numbers(self) -> list[int]:
        """The pods that the scheduler with queues places."""
        return [number for number, each in enumerate(self.pods) if self.is_of(each.pod)]

    def gangs(self, groups: Sequence[Grouped]) -> Iterator[tuple[Grouped, GroupTree, int]]:
        """Yield what is placed together with its pods numbered among all, and whose turn it is."""
        numbers = self.numbers
        turns = sorted(range(len(groups)), key=lambda place: groups[place].created)
        turn = {place: number for number, place in enumerate(turns)}
        for place, each in enumerate(groups):
            tree = _renumbered(each.group, numbers)
            running = self.running(tree.members())
            held = (claim.metadata.full_name for number in running for _, claim in self.claims_of(number))
            self.trying.held[turn[place]] = frozenset(held)
            yield each, tree, turn[place]

    def _queued(self) -> Mapping[int, Queued]:
        """Return the pods as a scheduler has them: those of the cluster that wait go by the queues, too."""
        found = {number: queued_subject(self.prepared.subjects[number]) for number in range(self.mine)}
        for number in range(self.mine, len(self.pods)):
            pod = self.pods[number].pod
            if not pod.spec.node_name:
                found[number] = queued_of(pod, self.prepared.cluster)
        return found

    def _places(self) -> dict[int, int]:
        """Return the places of the nodes that pods of the cluster have."""
        known = self.checking.scheduling.tenancy.places
        nodes = {number: each.pod.spec.node_name for number, each in enumerate(self.pods)}
        return {number: known[node] for number, node in nodes.items() if node in known}

    def claims_of(self, number: int) -> Iterator[tuple[str, ResourceClaim]]:
        """Yield a pod's claims, those that it names by their names."""
        if number < self.mine:
            claims: Sequence[str | ResourceClaim] = self.prepared.subjects[number].claims
        else:
            claims = queued_of(self.pods[number].pod, self.prepared.cluster).claims
        for each in claims:
            if not isinstance(each, str):
                yield "", each
            elif each in self._claims:
                yield each, self._claims[each]

    def others(self) -> Iterator[tuple[Pod, list[ResourceClaim]]]:
        """Yield the pods of other schedulers that run, with their claims."""
        cluster = self.prepared.cluster
        for pod in cluster.population.pods:
            if not self.is_of(pod) and pod.spec.node_name:
                names = queued_of(pod, cluster).claims
                yield pod, [self._claims[each] for each in names if isinstance(each, str) and each in self._claims]

    def running(self, numbers: Iterable[int]) -> frozenset[int]:
        """Return those of the pods that have a node."""
        return frozenset(number for number in numbers if self.pods[number].pod.spec.node_name)

    def has_mine(self, numbers: Iterable[int]) -> bool:
        """Return whether a pod that is asked about is among these."""
        return any(number < self.mine for number in numbers)

    def classes(self) -> Mapping[str, int]:
        """Return the values of priority classes by name."""
        return {
            each.metadata.name or "": each.value
            for documents in (self.prepared.dump, self.prepared.manifests)
            for each in documents.priority_classes
        }

    def listed(self, jobs: Iterable[tuple[str, str, int, Iterable[int]]]) -> list[ListedPods]:
        """
        Return what answers are about, in the order of the first pods: no jobs of the cluster alone.

        Jobs have a name and a kind to be told by, a number of their own, and pods.
        """
        found: list[ListedPods] = []
        for name, kind, job, pods in jobs:
            numbers = tuple(sorted(each for each in pods if each < self.mine))
            if numbers:
                found.append(ListedPods(name, kind, numbers, self.pods[numbers[0]].owner, job))
        for number in self._alone:
            each = self.pods[number]
            found.append(ListedPods(each.name, each.owner.kind, (number,), each.owner))
        return sorted(found, key=lambda each: each.numbers[0])

    @property
    def _alone(self) -> list[int]:
        return [number for number in range(self.mine) if not self.is_of(self.pods[number].pod)]

    def placed_alone(self, unmade: Collection[int] = ()) -> Mapping[int, SubjectAnswer]:
        """Place the pods of other schedulers that are made, as kube-scheduler does; return what becomes of them."""
        alone = [number for number in self._alone if number not in unmade]
        subjects = [self.prepared.subjects[number] for number in alone]
        return dict(zip(alone, self.checking.asked(subjects, ()), strict=True))

    def answer(
        self,
        listed: ListedPods,
        admission: _Admitted | None,
        alone: Mapping[int, SubjectAnswer],
    ) -> WorkloadAnswer:
        """Return what becomes of pods, which have no queue without `admission`."""
        subjects = [self.prepared.subjects[number] for number in listed.numbers]
        answer = WorkloadAnswer(listed.name, listed.kind, len(subjects), None, unmade=unmade(subjects))
        if admission is None:
            found = tuple(alone[number] for number in listed.numbers)
            answer = replace(answer, placements=found, doubt=placed_elsewhere(subjects))
            joint = JointQuestions(self.checking.scheduling.cluster)
            return replace(answer, jointly=joint.of(subjects, found)) if answer.refused else answer
        said, told, enough = admission
        tried = self.trying.answers
        found = tuple(tried[number] for number in listed.numbers if number in tried)
        whole = enough and sum(each.verdict == "allocated" for each in found) == len(subjects)
        blocker = self.trying.blockers.get(listed.job) if listed.job is not None and not whole else None
        if blocker is not None:
            said_of = f"{blocker}, which waits in the cluster and is tried with it, finds no place"
            told = replace(told, lines=(*told.lines, said_of))
        jointly = answer.jointly if listed.job is None else self.trying.joint.get(listed.job, answer.jointly)
        return replace(answer, admission=said, placements=found, told=told, enough=enough, jointly=jointly)

    def notes(self, jobs: Iterable[_Job]) -> Iterator[str]:
        """Yield what could make another answer of it, whichever system it is."""
        yield from no_pods_of(self.prepared.subjects[self.mine :])
        waiting = {job.number for job in jobs if not job.placed and min(job.asked, default=0) >= self.mine}
        if waiting:
            yield f"jobs that wait in the cluster go by the queues, too: {len(waiting)}"

    def admit(
        self,
        listed: Sequence[ListedPods],
        answers: Sequence[WorkloadAnswer],
        notes: tuple[Sequence[str], str],
        queues: Mapping[str, Any] = _NOTHING,
    ) -> Admit:
        """
        Return answers with where their objects were read, and with notes of how the input was read.

        `notes` are the system's own, and last of all what every answer of it leaves out.
        """
        question, prepared = self._question, self.prepared
        where = read_at(prepared, [each.origin for each in listed])
        placed = tuple(replace(each, where=place) for each, place in zip(answers, where, strict=True))
        placed += held_back(prepared)
        said, limits = notes
        told = (*said, *left_open(placed), *prepared.notes, *self.checking.notes(), *ran_out(), limits)
        settings = question.options.settings
        return Admit(placed, question.system, settings, str(settings.profile().channel), told, queues)


def _renumbered(tree: GroupTree, numbers: Sequence[int]) -> GroupTree:
    """Return a group whose pods are numbered among all pods."""
    groups = tuple(_renumbered(each, numbers) for each in tree.groups)
    return replace(tree, pods=tuple(numbers[each] for each in tree.pods), groups=groups)


def _without(prepared: Prepared, pods: Sequence[ExpandedPod]) -> Prepared:
    """Return it without what waits in the dump for the scheduler with queues: it is not in kube-scheduler's queue."""
    names = {each.name for each in pods}
    left = tuple([each for each in prepared.dump.pods if each.metadata.full_name not in names])
    return replace(prepared, dump=replace(prepared.dump, pods=left))
