"""
Pods scheduled one after the other, as kube-scheduler's default profile does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from dra_alloc.api import Pod, ResourceClaim
from dra_alloc.cluster.availability import unavailable
from dra_alloc.cluster.choice import Choice, best, prefers, worth
from dra_alloc.cluster.defaulting import defaulted
from dra_alloc.cluster.outcomes import Allocated, NodeRefusal
from dra_alloc.cluster.placing import Placing
from dra_alloc.cluster.queue import Queued, in_order, missing_class, not_asked, reserved_up, waiting
from dra_alloc.cluster.scheduled import NotAsked, PodOutcome, Scheduled, Unschedulable, Unsettled
from dra_alloc.cluster.standings import ABORTS, FAILS, FITS, UNDECIDED, Asked
from dra_alloc.pods.attempts import Attempt, Ruling
from dra_alloc.pods.extended_resources import extended_claim
from dra_alloc.pods.filters.table import objections
from dra_alloc.pods.objections import Objection
from dra_alloc.pods.tenancy import Tenancy
from dra_alloc.pods.views import PodView
from dra_alloc.problem.requests import claim_name
from dra_alloc.solve.allocator import DEFAULT_BUDGET, Budget
from dra_alloc.solve.outcome import Work

if TYPE_CHECKING:
    from dra_alloc.cluster.cluster import Cluster

__all__ = ["Scheduling", "scheduled"]

#: Objections that go away when other pods find a node.
_PASSING: Final = frozenset({"pod-affinity", "topology-spread"})


@dataclass(slots=True)
class _Devices:
    """What devices say to some nodes: the claims asked there, and the code of each node by place."""

    claims: Sequence[ResourceClaim]
    asked: Asked | None
    places: Sequence[int]
    codes: bytes | dict[int, int]

    def having(self, code: int) -> Sequence[int]:
        """Return the nodes with a code."""
        if self.asked is None:
            return self.places if code == FITS else ()
        codes = self.codes
        return [place for place in self.places if codes[place] == code]


@dataclass(slots=True)
class _Found:
    """What an attempt found out about the nodes."""

    objections: Mapping[int, Objection]
    elsewhere: dict[int, NodeRefusal] = field(default_factory=dict)
    missed: set[str] = field(default_factory=set)
    devices: list[_Devices] = field(default_factory=list)

    def places(self, code: int) -> Sequence[int]:
        """Return the nodes with a code, in order."""
        found = [each.having(code) for each in self.devices]
        places = found[0] if len(found) == 1 else sorted(place for each in found for place in each)
        return [place for place in places if place not in self.elsewhere] if self.elsewhere else places

    def at(self, place: int) -> _Devices:
        """Return what was asked of a node."""
        if len(self.devices) == 1:
            return self.devices[0]
        return next(each for each in self.devices if place in each.places)


class Scheduling:
    """
    A cluster on which pods are scheduled one after the other; for one thread.

    With `first` the first node that fits is taken, whatever its score.
    """

    def __init__(self, cluster: Cluster, *, first: bool = False, budget: Budget = DEFAULT_BUDGET) -> None:
        self._cluster = cluster
        self._first = first
        self._budget = budget
        self._placing = Placing(cluster, budget)
        self._answers: list[Allocated] = []
        population = cluster.population
        self.tenancy = Tenancy(cluster.nodes, population.namespaces, population.pods)
        settings = cluster.settings
        self._profile = settings.profile()
        self._ruling = Ruling(self._profile.release, settings.effective_gates(), cluster.known.class_by_resource)
        self._reserved: dict[str, int] = {}

    def attempt(self, queued: Queued) -> PodOutcome:
        """Return what becomes of the pod; one that is scheduled takes its room and devices."""
        nothing = not_asked(queued)
        if nothing is not None:
            if nothing.node and nothing.node in self.tenancy.places:
                self._settle(self.tenancy.view(queued.pod), self.tenancy.places[nothing.node])
            return nothing
        waits = waiting(queued, self._cluster.claims)
        if waits is not None:
            return waits
        claims = self._cluster.claims
        named = defaulted([claims[each] if isinstance(each, str) else each for each in queued.claims])
        known = [self._placing.known(each) for each in named]
        pending = [each for each in known if each.status.allocation is None]
        notes = tuple(queued.notes())
        text = reserved_up(queued.pod, known, self._consumers)
        if text:
            return Unschedulable(queued.name, text, "claim-in-use", notes=notes)
        text = missing_class(pending, self._cluster.classes)
        if text:
            return Unschedulable(queued.name, text, "unknown-class", notes=notes)
        return self._on_nodes(queued, known, pending, notes)

    def _on_nodes(
        self, queued: Queued, known: Sequence[ResourceClaim], pending: Sequence[ResourceClaim], notes: tuple[str, ...]
    ) -> PodOutcome:
        view = self.tenancy.view(queued.pod)
        attempt = Attempt(view, self.tenancy, self._ruling)
        found = _Found(objections(attempt))
        places: Sequence[int] = range(len(self.tenancy.nodes))
        if found.objections:
            places = [place for place in places if place not in found.objections]
        found.devices = self._devices(attempt, pending, places)
        self._look_elsewhere(found, known, places)
        for each in found.devices:
            aborting = each.having(ABORTS)
            if aborting and each.asked is not None:
                refusal = self._placing.standings.abort(each.asked, aborting[0]).refusals[0]
                return Unschedulable(queued.name, refusal.error, refusal.code, aborts=True, notes=notes)
        fits, names = found.places(FITS), self._placing.standings.roster.names
        undecided = tuple([names[place] for place in found.places(UNDECIDED)])
        if not fits:
            if undecided:
                return Unsettled(queued.name, undecided, notes)
            idle = next((each for each in known if self._is_idle(each, queued.pod, found)), None)
            if idle is not None:
                return self._given_back(idle, queued)
            return Unschedulable(queued.name, notes=notes, find_refusals=self._refusals(found))
        choice = self._choose(attempt, fits, found, known)
        allocated = self._take(queued, view, choice.place, found, known)
        equal = tuple([names[place] for place in choice.equal])
        return Scheduled(queued.name, names[choice.place], allocated, equal, choice.sampled, undecided, notes)

    def _devices(self, attempt: Attempt, pending: Sequence[ResourceClaim], places: Sequence[int]) -> list[_Devices]:
        """Return what devices say to the nodes; those that offer other resources themselves are asked differently."""
        served = [name for name, amount in attempt.pod.requests.items() if amount > 0 and name in self._ruling.served]
        loads, groups = self.tenancy.loads, dict[tuple[bool, ...], Any]()
        if served:
            for place in places:
                groups.setdefault(tuple([loads[place].offers(name) for name in served]), []).append(place)
        else:
            groups[()] = places
        found: list[_Devices] = []
        for group in groups.values():
            claims = list(pending)
            if served and group:
                made = extended_claim(attempt.pod.pod, self.tenancy.nodes[group[0]], self._ruling.served)
                claims += [] if made is None else [made]
            found.append(self._codes(claims, group))
        return found

    def _codes(self, claims: Sequence[ResourceClaim], places: Sequence[int]) -> _Devices:
        if not claims:
            return _Devices(claims, None, places, b"")
        asked = Asked.of(claims, self._cluster.known.survey, self._budget)
        standings = self._placing.standings
        if 2 * len(places) > len(self.tenancy.nodes):
            return _Devices(claims, asked, places, standings.codes(asked))
        return _Devices(claims, asked, places, {place: standings.code(asked, place) for place in places})

    def _look_elsewhere(self, found: _Found, known: Sequence[ResourceClaim], places: Sequence[int]) -> None:
        """Note the nodes on which claims that are allocated cannot be used."""
        if all(claim.status.allocation is None for claim in known):
            return
        names = self._placing.standings.roster.names
        for place in places:
            reason = unavailable(known, self.tenancy.nodes[place], self._profile)
            if reason is not None:
                found.elsewhere[place] = NodeRefusal(names[place], "allocated-elsewhere", reason[1])
                found.missed.add(reason[0])

    def _choose(self, attempt: Attempt, fits: Sequence[int], found: _Found, known: Sequence[ResourceClaim]) -> Choice:
        nominated = attempt.pod.pod.status.nominated_node_name
        place = self.tenancy.places.get(nominated) if nominated else None
        if place in fits or self._first:
            chosen = place if place in fits else fits[0]
            assert chosen is not None
            return Choice(chosen, (chosen,))
        worth_of: Callable[[int], int] | None = None
        pending = [claim for claim in known if claim.status.allocation is None]
        if pending and prefers(known, self._ruling.release):
            worth_of = partial(self._worth, found, known)
        return best(attempt, fits, worth_of)

    def _worth(self, found: _Found, known: Sequence[ResourceClaim], place: int) -> int:
        claims = found.at(place).claims
        return worth(known, self._placing.search(self.tenancy.nodes[place], claims, self._budget))

    def _take(
        self, queued: Queued, view: PodView, place: int, found: _Found, known: Sequence[ResourceClaim]
    ) -> Allocated:
        devices = found.at(place)
        allocated = [claim for claim in known if claim.status.allocation is not None]
        name = self._placing.standings.roster.names[place]
        if devices.asked is None:
            answer = Allocated(name, tuple(allocated), Work())
        else:
            # In the order that the pod lists them, what the scheduler makes itself last.
            made = devices.claims[len(known) - len(allocated) :]
            names = [claim_name(claim) for claim in devices.claims]
            answer = self._placing.take(devices.asked, place, (*known, *made), names)
        self._answers.append(answer)
        for claim in known:
            self._reserved[claim_name(claim)] = self._reserved.get(claim_name(claim), 0) + 1
        self._settle(view, place)
        return answer

    def _settle(self, view: PodView, place: int) -> None:
        self.tenancy.add(view, place)

    def _is_idle(self, claim: ResourceClaim, pod: Pod, found: _Found) -> bool:
        """Return whether the claim cannot be used on a node, and nobody but the pod has reserved it."""
        name = claim_name(claim)
        if name not in found.missed or self._reserved.get(name):
            return False
        users = claim.status.reserved_for
        return not users or (len(users) == 1 and users[0].uid == pod.metadata.uid)

    def _given_back(self, claim: ResourceClaim, queued: Queued) -> PodOutcome:
        """Return what becomes of the pod once a claim that does not fit, and nobody has reserved, is given back."""
        name = claim_name(claim)
        free = claim.replaced(status=claim.status.replaced(allocation=None, reserved_for=(), devices=()))
        taken = [each for answer in self._answers for each in answer.claims if claim_name(each) != name]
        self._answers.clear()
        self._cluster = self._cluster.with_claims([*taken, free])
        self._placing = Placing(self._cluster, self._budget)
        given = tuple(
            [name if not isinstance(each, str) and claim_name(each) == name else each for each in queued.claims]
        )
        outcome = self.attempt(replace(queued, claims=given))
        note = f"claim {name} cannot be used where the pod can run, and nobody reserved it: the scheduler gives it back"
        return replace(outcome, notes=(note, *outcome.notes))

    def _consumers(self, claim: ResourceClaim) -> int:
        return len(claim.status.reserved_for) + self._reserved.get(claim_name(claim), 0)

    def _refusals(self, found: _Found) -> Callable[[], tuple[NodeRefusal, ...]]:
        """Return what makes the refusals of all nodes; later changes do not show in them."""
        standings = self._placing.standings
        failing = {
            place: standings.refusal(each.asked, place, FAILS)
            for each in found.devices
            if each.asked is not None
            for place in each.having(FAILS)
        }
        names = standings.roster.names

        def refusal(place: int) -> NodeRefusal:
            objection = found.objections.get(place)
            if objection is not None:
                return NodeRefusal(names[place], objection.code, objection.text)
            known = found.elsewhere.get(place) or failing.get(place)
            if known is not None:
                return known
            devices = found.at(place)
            assert devices.asked is not None
            return standings.refusal(devices.asked, place, devices.codes[place])

        return lambda: tuple(map(refusal, range(len(names))))


def scheduled(scheduling: Scheduling, pods: Sequence[Queued]) -> list[PodOutcome]:
    """
    Return what becomes of each pod, in their order; they are tried in the order of the scheduler's queue.

    Pods that others can help by finding a node are tried again after these.
    """
    outcomes: dict[int, PodOutcome] = {}
    again: Iterable[int] = in_order(pods)
    while again:
        placed = False
        failed: list[int] = []
        for number in again:
            outcomes[number] = outcome = scheduling.attempt(pods[number])
            placed = placed or isinstance(outcome, Scheduled | NotAsked)
            if isinstance(outcome, Unschedulable) and _PASSING.intersection(each.code for each in outcome.refusals):
                failed.append(number)
        again = failed if placed else ()
    return [outcomes[number] for number in range(len(pods))]
