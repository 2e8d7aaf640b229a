"""
Pods of gangs placed together on one cluster: all of those that are tried at once, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from dra_alloc.cluster.attempts.queue import Queued
from dra_alloc.cluster.attempts.scheduled import PodOutcome, Scheduled, Unsettled
from dra_alloc.cluster.outcomes import NodeRefusal
from dra_alloc.pods.gangs.packing import DomainsFound
from dra_alloc.pods.gangs.trees import GroupTree
from dra_alloc.problem.requests import claim_name
from dra_alloc.scenario.admit.answers import LayerSays
from dra_alloc.scenario.admit.jointly import WORKLOADS, jointly
from dra_alloc.scenario.answers import SubjectAnswer
from dra_alloc.scenario.checking import Checking
from dra_alloc.scenario.gang.shortfall import supposed
from dra_alloc.scenario.prepare.subjects import Subject

#: Whether a pod may be tried, and what is told that it has a place.
_Turn = tuple[Callable[[int], bool], Callable[[int], None]]


class _Refused(NamedTuple):
    """So many pods of a shape were one too many, with so many gangs placed; and what was said of the last."""

    tried: int
    placed: int
    answer: SubjectAnswer | None


class RefusedGang(NamedTuple):
    """Which pod of a gang with domains was refused, by its place among those tried, and what was said of both."""

    place: int
    answer: SubjectAnswer | None
    found: DomainsFound


def held_by(outcome: PodOutcome) -> frozenset[str]:
    """Return the names of the claims that a pod that has a place holds."""
    return frozenset(map(claim_name, outcome.allocated.claims)) if isinstance(outcome, Scheduled) else frozenset()


def of_the_gang(answer: SubjectAnswer, own: frozenset[str], chosen: frozenset[str] = frozenset()) -> SubjectAnswer:
    """
    Return an answer in which claims of the pod's own gang are none that could be freed.

    `own` are all of these, `chosen` those that are allocated only if the whole gang finds places.

    Spec: GANGTREE-7.
    """
    return replace(answer, refusals=tuple([_beside(each, own, chosen) for each in answer.refusals])) if own else answer


def _beside(refusal: NodeRefusal, own: frozenset[str], chosen: frozenset[str]) -> NodeRefusal:
    freeing = {f"freeing claim {each}" for each in own}
    reasons, told = refusal.reasons, refusal.explanation
    if reasons is not None:
        fixes = tuple([each for each in reasons.fixes if not freeing.intersection(each.steps)])
        no_help = sorted(freeing.intersection(step for each in reasons.fixes for step in each.steps))
        not_enough = (*reasons.not_enough, *(f"{each}, which is of its own gang" for each in no_help))
        reasons = replace(reasons, fixes=fixes, not_enough=not_enough)
    return replace(refusal, reasons=reasons, explanation=replace(told, cause=supposed(told.cause, chosen)))


@dataclass(slots=True)
class Trying:
    """
    Attempts under way: pods by number, those that are asked about with their subject.

    `answers` are what became of pods that were tried, by number; `joint` what a
    choice of all devices at once could do, by the number of what was not placed;
    `blockers` are the pods of the cluster that found no place, by the number of what was tried with them, `places` the
    places of nodes that pods have, `held` the names of the claims that each gang has by now.
    """

    checking: Checking
    pods: Mapping[int, Queued]
    subjects: Mapping[int, Subject]
    answers: dict[int, SubjectAnswer] = field(default_factory=dict)
    joint: dict[int, LayerSays] = field(default_factory=dict)
    blockers: dict[int, str] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)
    held: dict[int, frozenset[str]] = field(default_factory=dict)
    _refused: dict[int, _Refused] = field(default_factory=dict)
    _gangs: dict[Hashable, tuple[int, RefusedGang]] = field(default_factory=dict)
    _shapes: dict[str, int | None] = field(default_factory=dict)
    _numbers: dict[Hashable, int] = field(default_factory=dict)
    _placed: int = 0
    _plain: bool = True

    def __post_init__(self) -> None:
        there = self.checking.scheduling.cluster.population.pods
        self._plain = not any(
            each.spec.affinity is not None for each in (*there, *(one.pod for one in self.pods.values()))
        )

    def together(self, job: int, numbers: Sequence[int]) -> bool | None:
        """
        Try pods one after the other, each with what was placed before it; the first without a place ends it.

        Return whether all have one, None where that could not be decided. If
        not, nothing stays of it, and the pod that found none says why. What
        was refused before is, as long as nothing was placed since.
        """
        shape, known = self._known(numbers)
        if known is not None:
            self._same_as(job, known.answer, numbers[known.tried - 1])
            return False
        scheduling = self.checking.scheduling
        before = scheduling.saved()
        made: dict[int, SubjectAnswer] = {}
        places: dict[int, int] = {}
        held = had = self.held.get(job, frozenset())
        for tried, number in enumerate(numbers, 1):
            outcome = scheduling.attempt(self.pods[number])
            subject = self.subjects.get(number)
            if subject is not None:
                made[number] = of_the_gang(self.checking.answer(subject, outcome, before.cluster), held, held - had)
            held |= held_by(outcome)
            if not isinstance(outcome, Scheduled):
                scheduling.go_back(before)
                if subject is not None:
                    self.answers[number] = made[number]
                else:
                    self.blocked(job, number)
                if isinstance(outcome, Unsettled):
                    return None
                if shape is not None:
                    self._refused[shape] = _Refused(tried, self._placed, made.get(number))
                self._look(job, numbers, not (places or had))
                return False
            places[number] = scheduling.tenancy.places[outcome.node]
        self.keep(job, made, places, held)
        return True

    def _known(self, numbers: Sequence[int]) -> tuple[int | None, _Refused | None]:
        """Return the shape that all pods have, and what was refused of it since anything was placed, if it was."""
        shapes = set(map(self._shape, numbers))
        shape = shapes.pop() if len(shapes) == 1 else None
        known = self._refused.get(shape) if shape is not None else None
        valid = known is not None and known.placed == self._placed and known.tried <= len(numbers)
        return shape, known if valid else None

    def refused_before(self, gang: GroupTree, pods: Sequence[int]) -> RefusedGang | None:
        """Return how a gang of the same pods with the same domains was refused since anything was placed, if it was."""
        placed, known = self._gangs.get(self._like(gang, pods), (-1, None))
        return known if placed == self._placed else None

    def remember(self, gang: GroupTree, pods: Sequence[int], refused: RefusedGang) -> None:
        """Remember that a gang was refused of which no pod has a place."""
        like = self._like(gang, pods)
        if like is not None:
            self._gangs[like] = self._placed, refused

    def _like(self, gang: GroupTree, pods: Sequence[int]) -> Hashable:
        """Return what gangs have in common that are refused alike; None for one with pods that care for others."""
        shapes = {pod: self._shape(pod) for pod in pods}
        if None in shapes.values() or any(pod in self.places for pod in gang.members()):
            return None

        def like(tree: GroupTree) -> Hashable:
            own = tuple([shapes.get(pod) for pod in tree.pods])
            return tree.least, tree.least_groups, tree.topology, own, tuple(map(like, tree.groups))

        return like(gang), tuple([shapes[pod] for pod in pods])

    def same_as_before(self, job: int, known: RefusedGang, pods: Sequence[int]) -> None:
        """Note of a gang that it is refused as another one was."""
        self._same_as(job, known.answer, pods[known.place])

    def keep(
        self, job: int, made: Mapping[int, SubjectAnswer], places: Mapping[int, int], held: frozenset[str]
    ) -> None:
        """Keep what became of pods that have places, and what their gang holds."""
        self.answers.update(made)
        self.places.update(places)
        self.held[job] = held
        self._placed += 1

    def blocked(self, job: int, number: int) -> None:
        """Note of a pod of the cluster that it holds a job up; the first of a job's counts."""
        self.blockers.setdefault(job, self.pods[number].pod.metadata.full_name)

    def _same_as(self, job: int, known: SubjectAnswer | None, number: int) -> None:
        """Note of a pod that it is refused as another one was."""
        subject = self.subjects.get(number)
        if subject is None:
            self.blocked(job, number)
        if subject is not None and known is not None:
            first, where = known.same_as or known.name, self.checking.read_at(subject)
            self.answers[number] = replace(known, kind=subject.kind, name=subject.name, same_as=first, where=where)

    def _shape(self, number: int) -> int | None:
        """Return the number of what pods have in common that are refused alike; none where pods care for another."""
        queued = self.pods[number]
        key = queued.template or str(number)
        if key not in self._shapes:
            spec = queued.pod.spec
            alone = spec.affinity is None and not spec.topology_spread_constraints
            claims = tuple([each if isinstance(each, str) else each.spec for each in queued.claims])
            shape = (queued.pod.metadata.namespace, spec, claims)
            new = len(self._numbers)
            self._shapes[key] = self._numbers.setdefault(shape, new) if alone and self._plain else None
        return self._shapes[key]

    def as_far(
        self, job: int, numbers: Sequence[int], enough: Callable[[set[int]], bool], turn: _Turn
    ) -> frozenset[int] | None:
        """
        Try pods one after the other; who finds no place is passed over.

        A pod in `turn` is tried if it is allowed to be, and told of if it has a place.

        Return those that have places, none of them if they are not enough, and None where that could not be decided.
        Where each of them is needed, what was refused before is, as long as nothing was placed since.
        """
        shape, known = self._known(numbers)
        if known is not None and not any(enough({*numbers} - {each}) for each in numbers):
            self._same_as(job, known.answer, numbers[known.tried - 1])
            return frozenset()
        scheduling = self.checking.scheduling
        before = scheduling.saved()
        made: dict[int, SubjectAnswer] = {}
        places, unknown = dict[int, int](), False
        held = had = self.held.get(job, frozenset())
        for number in numbers:
            if not turn[0](number):
                continue
            outcome = scheduling.attempt(self.pods[number])
            unknown = unknown or isinstance(outcome, Unsettled)
            held |= held_by(outcome)
            if isinstance(outcome, Scheduled):
                places[number] = scheduling.tenancy.places[outcome.node]
                turn[1](number)
            if number in self.subjects:
                answer = self.checking.answer(self.subjects[number], outcome, before.cluster)
                made[number] = of_the_gang(answer, held, held - had)
            elif not isinstance(outcome, Scheduled):
                self.blocked(job, number)
            if not isinstance(outcome, Scheduled) and not enough({*places, *numbers[numbers.index(number) + 1 :]}):
                break
        if enough(set(places)):
            self.keep(job, made, places, held)
            return frozenset(places)
        scheduling.go_back(before)
        self.answers |= {number: each for number, each in made.items() if number not in places}
        if unknown:
            return None
        first = next((each for each in numbers if each not in places), None)
        if shape is not None and first in made and numbers.index(first) == len(places):
            self._refused[shape] = _Refused(len(places) + 1, self._placed, made[first])
        self._look(job, numbers, not (places or had))
        return frozenset()

    def _look(self, job: int, numbers: Sequence[int], first: bool) -> None:
        """
        Find out whether a gang that was refused could be placed if its devices were chosen together.

        With `first` the pod that was refused is the first of its gang.
        """
        subjects = [self.subjects[each] for each in numbers if each in self.subjects]
        if job not in self.joint and len(self.joint) < WORKLOADS and len(subjects) == len(numbers):
            told = [self.answers[each] for each in numbers if each in self.answers]
            self.joint[job] = jointly(self.checking.scheduling.cluster, subjects, told, first)
