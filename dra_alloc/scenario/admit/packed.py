"""
Pods of gangs that go together into domains of a topology, and what is told of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dra_alloc.cluster.attempts.scheduled import Scheduled, Unsettled
from dra_alloc.cluster.attempts.scheduling import Saved
from dra_alloc.errors import first_few
from dra_alloc.pods.gangs.packing import DomainsFound, pack
from dra_alloc.pods.gangs.topology import Domain, Labels, TopologyConstraint
from dra_alloc.pods.gangs.trees import GroupTree
from dra_alloc.scenario.admit.trying import RefusedGang, Trying, held_by, of_the_gang
from dra_alloc.scenario.answers import SubjectAnswer

#: In which order a system tries domains of one level for pods, with the places that others of their gang have by now.
Ordering = Callable[[TopologyConstraint, Sequence[Domain], Sequence[int], Mapping[int, int]], Sequence[Domain]]


def try_packed(trying: Trying, job: int, group: GroupTree, pods: Sequence[int], ordering: Ordering) -> DomainsFound:
    """
    Try pods of a gang in the domains that it says, as `Trying.together` does without any.

    Of those refused the one is answered that came furthest: in the domain with
    the most room.

    Spec: TOPOLOGY-5.
    """
    known = trying.refused_before(group, pods)
    if known is not None:
        trying.same_as_before(job, known, pods)
        return known.found
    scheduling = trying.checking.scheduling
    own = trying.held.get(job, frozenset())
    land = _Land(trying, [each.metadata.labels for each in scheduling.tenancy.nodes], ordering, had=own, held=own)
    before = land.saved()
    held = {each: trying.places[each] for each in group.members() if each in trying.places and each not in pods}
    found = pack(group, pods, land, held)
    if found.placed:
        told, cluster = trying.checking.answer, before[0].cluster
        made = {pod: told(trying.subjects[pod], each, cluster) for pod, each in land.made.items()}
        trying.keep(job, made, land.places, land.held)
        return found
    refused = land.told_of_furthest()
    land.go_back(before)
    if refused is not None:
        number, answer = refused
        if answer is not None:
            trying.answers[number] = answer
        else:
            trying.blocked(job, number)
        if found.placed is False and not held:
            trying.remember(group, pods, RefusedGang(pods.index(number), answer, found))
    return found


@dataclass(frozen=True, slots=True)
class _Furthest:
    """The pod that was refused after most others, among which nodes, the state in which it was, and what was held."""

    pod: int
    places: Sequence[int] | None
    state: Saved
    held: frozenset[str]


@dataclass(slots=True)
class _Land:
    """The cluster's nodes as pods are tried on them; `furthest` is the pod that was refused after most others."""

    trying: Trying
    labels: Labels
    ordering: Ordering
    made: dict[int, Scheduled] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)
    had: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    furthest: _Furthest | None = None
    _most: int = -1

    def ordered(self, constraint: TopologyConstraint, level: Sequence[Domain], pods: Sequence[int]) -> Sequence[Domain]:
        return self.ordering(constraint, level, pods, self.places)

    def saved(self) -> tuple[Saved, dict[int, Scheduled], dict[int, int], frozenset[str]]:
        return self.trying.checking.scheduling.saved(), dict(self.made), dict(self.places), self.held

    def go_back(self, saved: tuple[Saved, dict[int, Scheduled], dict[int, int], frozenset[str]]) -> None:
        state, made, places, self.held = saved
        self.trying.checking.scheduling.go_back(state.again())
        self.made, self.places = dict(made), dict(places)

    def attempt(self, pod: int, places: Sequence[int] | None) -> bool | None:
        scheduling = self.trying.checking.scheduling
        with scheduling.among(places):
            outcome = scheduling.attempt(self.trying.pods[pod])
        if isinstance(outcome, Scheduled):
            if pod in self.trying.subjects:
                self.made[pod] = outcome
            self.held |= held_by(outcome)
            self.places[pod] = scheduling.tenancy.places[outcome.node]
            return True
        if self._most < len(self.places):
            self._most = len(self.places)
            self.furthest = _Furthest(pod, places, scheduling.saved(), self.held)
        return None if isinstance(outcome, Unsettled) else False

    def told_of_furthest(self) -> tuple[int, SubjectAnswer | None] | None:
        """Return the pod that was refused after most others with what is said of it, as things were then."""
        furthest, checking = self.furthest, self.trying.checking
        if furthest is None:
            return None
        subject = self.trying.subjects.get(furthest.pod)
        if subject is None:
            return furthest.pod, None
        scheduling = checking.scheduling
        scheduling.go_back(furthest.state)
        with scheduling.among(furthest.places):
            outcome = scheduling.attempt(self.trying.pods[furthest.pod])
            answer = checking.answer(subject, outcome, scheduling.cluster)
        answer = of_the_gang(answer, furthest.held, furthest.held - self.had)
        asked = answer.nodes_asked if furthest.places is None else len(furthest.places)
        return furthest.pod, replace(answer, nodes_asked=asked)


def domain_lines(found: DomainsFound, gang: GroupTree) -> Iterator[str]:
    """Yield where pods of a gang go together, or why no domain does."""
    if found.against:
        yield f"no domain can be: {found.against}"
        return
    for name, domain in found.domains.items():
        whose = "its pods" if name == gang.name else f"group {name}"
        yield f"{whose}: together in {_called(domain)}"
    if found.placed:
        return
    widest = [each for each in found.rooms if each.domain.level == found.rooms[-1].domain.level]
    if not widest:
        levels = dict.fromkeys(level for each in gang.constraints() for level in each.levels)
        yield f"no node has all the labels of its topology: {first_few(list(levels))}"
        return
    rooms = sorted(widest, key=lambda each: -each.placed)
    said = [f"{each.domain.name} has room for {each.placed} of {each.of}" for each in rooms]
    level = rooms[0].domain.level
    yield f"not together in {f'one {level}' if level else 'its topology'}: {first_few(said)}"


def _called(domain: Domain) -> str:
    return f"{domain.level} {domain.name}" if domain.level else domain.name


def domain_members(found: DomainsFound | None) -> Mapping[str, Any] | None:
    """Return the same as members of JSON."""
    if found is None:
        return None
    return {
        "domains": [{"group": name, **_domain(each)} for name, each in found.domains.items()],
        "rooms": [{**_domain(each.domain), "placed": each.placed, "of": each.of} for each in found.rooms],
        "against": found.against or None,
    }


def _domain(domain: Domain) -> Mapping[str, Any]:
    return {"level": domain.level or None, "values": list(domain.path), "nodes": len(domain.places)}
