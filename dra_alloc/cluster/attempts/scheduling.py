"""
Pods scheduled one after the other, as kube-scheduler's default profile does it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dra_alloc.api import Node, Pod, ResourceClaim
from dra_alloc.cluster.attempts.binding import unbound
from dra_alloc.cluster.attempts.choice import Choice, best, prefers, worth
from dra_alloc.cluster.attempts.found import DevicesSay, NodesFound
from dra_alloc.cluster.attempts.kubelet import kept_out
from dra_alloc.cluster.attempts.queue import Queued, may_preempt, not_asked, refused_everywhere, waiting
from dra_alloc.cluster.attempts.scheduled import NodeNames, PodOutcome, Scheduled, Unschedulable, Unsettled
from dra_alloc.cluster.attempts.taking import as_counted, taking_of, with_taken
from dra_alloc.cluster.attempts.ways import DEFAULT_WAYS, Candidates, Ways
from dra_alloc.cluster.availability import unavailable
from dra_alloc.cluster.defaulting import defaulted
from dra_alloc.cluster.holding import completed, given_back
from dra_alloc.cluster.outcomes import Allocated, NodeRefusal
from dra_alloc.cluster.placing import Placing
from dra_alloc.cluster.standings import ABORTS, FAILS, FITS, UNDECIDED, Asked
from dra_alloc.pods.attempts import Attempt, Ruling
from dra_alloc.pods.extended_resources import extended_claim
from dra_alloc.pods.filters.table import objections
from dra_alloc.pods.node_allocatable import not_stored
from dra_alloc.pods.quota.book import NO_QUOTAS, QuotaBook, Refusal
from dra_alloc.pods.tenancy import Tenancy
from dra_alloc.pods.views import PodView
from dra_alloc.problem.requests import claim_name
from dra_alloc.profiles import Semantics
from dra_alloc.solve.outcome import Work
from dra_alloc.work import BudgetExhausted, finishing

if TYPE_CHECKING:
    from dra_alloc.cluster.cluster import Cluster

#: Objections that go away when other pods find a node.
_PASSING: Final = frozenset({"pod-affinity", "topology-spread"})
_PREEMPTS: Final = "pods of lower priority are in the way: that the scheduler may preempt them is not looked at"


class Saved(NamedTuple):
    """A cluster, who runs where, how many pods reserved each claim, and what quotas know."""

    cluster: Cluster
    tenancy: Tenancy
    reserved: dict[str, int]
    book: QuotaBook

    def again(self) -> Saved:
        """Return the same state, to go back to once more."""
        return Saved(self.cluster, self.tenancy.copied(), dict(self.reserved), self.book)


class Scheduling:
    """
    A cluster on which pods are scheduled one after the other; for one thread.

    `book` has the quotas with the pods and claims that are there, and grows by
    claims that the scheduler makes itself. Pods of the cluster that are `to_come`,
    by full name, take the room of the node that they name at their turn.
    """

    def __init__(
        self, cluster: Cluster, ways: Ways = DEFAULT_WAYS, book: QuotaBook = NO_QUOTAS, to_come: Collection[str] = ()
    ) -> None:
        self._cluster = cluster
        self._ways = ways
        self.book = book
        self._placing = Placing(cluster, ways.budget)
        self._answers: list[Allocated] = []
        population = cluster.population
        running = ((each.metadata.full_name, each) for each in as_counted(population.pods, cluster))
        self.there = {name: each for name, each in running if name not in to_come}
        self.tenancy = Tenancy(cluster.nodes, population.namespaces, self.there.values(), population.siblings)
        settings = cluster.settings
        self._profile = settings.profile()
        self._as_promised = settings.semantics == Semantics.INTENDED
        self._ruling = Ruling(
            self._profile.release, settings.effective_gates(), cluster.known.class_by_resource, population.volumes
        )
        self._taking = taking_of(cluster)
        self.reserved: dict[str, int] = {}
        names = self.tenancy.places
        self._places: Sequence[int] = range(len(cluster.nodes)) if ways.node is None else (names[ways.node],)

    @property
    def cluster(self) -> Cluster:
        """The cluster with all claims as they are now; the pods that were scheduled are not in it."""
        if self._answers:
            self._cluster = self._cluster.with_claims(claim for each in self._answers for claim in each.claims)
            self._answers.clear()
        return self._cluster

    def saved(self) -> Saved:
        """Return the state as it is now, to go back to."""
        return Saved(self.cluster, self.tenancy.copied(), dict(self.reserved), self.book)

    def go_back(self, saved: Saved) -> None:
        """Forget all that was scheduled since the state was saved; it is for one use."""
        self._cluster, self.tenancy, self.reserved, self.book = saved
        self._answers = []
        self._placing = Placing(self._cluster, self._ways.budget)

    @contextmanager
    def among(self, places: Sequence[int] | None) -> Iterator[None]:
        """Let pods find places among these nodes alone, if any are given."""
        before = self._places
        if places is not None:
            self._places = [each for each in places if each in before]
        try:
            yield
        finally:
            self._places = before

    def attempt(self, queued: Queued) -> PodOutcome:
        """Return what becomes of the pod; one that is scheduled takes its room and devices."""
        nothing = not_asked(queued)
        if nothing is not None:
            place = self.tenancy.places.get(nothing.node)
            if place is None or queued.name in self.there:
                return nothing
            view = self.tenancy.view(queued.pod)
            refusal = kept_out(Attempt(view, self.tenancy, self._ruling), place)
            if refusal is not None:
                return Unschedulable(queued.name, find_refusals=partial(tuple, [refusal]))
            self._settle(view, place)
            return nothing
        waits = waiting(queued, self._cluster.claims)
        if waits is not None:
            return waits
        claims = self._cluster.claims
        named = defaulted([claims[each] if isinstance(each, str) else each for each in queued.claims])
        known = [self._placing.known(each) for each in named]
        pending = [each for each in known if each.status.allocation is None]
        notes, volumes = tuple(queued.notes()), self._ruling.volumes
        against = volumes.against(queued.pod)
        if against is None:
            notes = (*notes, *volumes.notes(queued.pod))
            against = refused_everywhere(queued, known, self._consumers, self._cluster.classes)
        if against is not None:
            return Unschedulable(queued.name, against.text, against.code, notes=notes, detail=against.detail)
        try:
            return self._on_nodes(queued, known, pending, notes)
        except BudgetExhausted:
            names = self._placing.standings.roster.names
            return Unsettled(queued.name, tuple([names[place] for place in self._places]), notes)

    def _on_nodes(
        self, queued: Queued, known: Sequence[ResourceClaim], pending: Sequence[ResourceClaim], notes: tuple[str, ...]
    ) -> PodOutcome:
        view = self.tenancy.view(queued.pod)
        attempt = Attempt(view, self.tenancy, self._ruling)
        found = NodesFound(queued, attempt, known, {} if queued.alone else objections(attempt))
        places = self._places
        if found.objections:
            places = [place for place in places if place not in found.objections]
        found.devices = self._devices(attempt, pending, places)
        self._look_elsewhere(found, known, places)
        names = self._placing.standings.roster.names
        if (refusal := self._aborts(found)) is not None:
            return Unschedulable(
                queued.name,
                refusal.error,
                refusal.code,
                aborts=True,
                notes=notes,
                find_refusals=partial(tuple, [refusal]),
                find_claims=partial(self._claims_on, found),
                ruled_out=frozenset([names[place] for place in found.objections]),
            )
        if found.places(FITS):
            return self._take(found, notes)
        undecided = found.places(UNDECIDED)
        if undecided:
            could = any(self._solver_could(found.at(place), place) for place in undecided)
            return Unsettled(queued.name, tuple([names[place] for place in undecided]), notes, could)
        idle = next((each for each in known if self._is_idle(each, queued.pod, found)), None)
        if idle is not None:
            return self._given_back(idle, queued)
        objecting = {names[place]: each for place, each in (*found.objections.items(), *found.against.items())}
        preempts = may_preempt(queued.pod, objecting, self._cluster.population.pods)
        return Unschedulable(
            queued.name,
            notes=(*notes, _PREEMPTS) if preempts else notes,
            helped=not _PASSING.isdisjoint([each.code for each in set(found.objections.values())]),
            find_refusals=self._refusals(found),
            find_claims=partial(self._claims_on, found),
        )

    def _aborts(self, found: NodesFound) -> NodeRefusal | None:
        """Return the refusal of a node that ends the attempt, if there is one; what devices take of nodes is noted."""
        for each in found.devices:
            aborting = each.having(ABORTS)
            if aborting and each.asked is not None:
                return self._placing.standings.abort(each.asked, aborting[0]).refusals[0]
        if self._taking is None or found.queued.alone:
            return None
        others = [each for each in found.known if self._is_others(each, found.queued.pod)]
        return self._taking.look(found, self.tenancy, others, partial(self._claims_at, found))

    def _claims_at(self, found: NodesFound, place: int) -> Sequence[ResourceClaim]:
        """Return the pod's claims as they would be allocated on a node that fits."""
        claims, asked = self._claims_on(found, self.tenancy.nodes[place].metadata.name or ""), found.at(place).asked
        return claims if asked is None else completed(claims, self._placing.would_take(asked, place))

    def _claims_on(self, found: NodesFound, node: str) -> Sequence[ResourceClaim]:
        """Return the pod's claims on a node: those that it names, and what the scheduler makes there."""
        pending = sum(claim.status.allocation is None for claim in found.known)
        return (*found.known, *found.at(self.tenancy.places[node]).claims[pending:])

    def _devices(self, attempt: Attempt, pending: Sequence[ResourceClaim], places: Sequence[int]) -> list[DevicesSay]:
        """Return what devices say to the nodes; those that offer other resources themselves are asked differently."""
        served = [name for name, amount in attempt.pod.requests.items() if amount > 0 and name in self._ruling.served]
        loads, groups = self.tenancy.loads, dict[tuple[bool, ...], Any]()
        if served:
            for place in places:
                groups.setdefault(tuple([loads[place].offers(name) for name in served]), []).append(place)
        else:
            groups[()] = places
        found: list[DevicesSay] = []
        for group in groups.values():
            claims = list(pending)
            if served and group:
                made = extended_claim(attempt.pod.pod, self.tenancy.nodes[group[0]], self._ruling.served)
                claims += [] if made is None else [made]
            found.append(self._codes(claims, group))
        return found

    def _codes(self, claims: Sequence[ResourceClaim], places: Sequence[int]) -> DevicesSay:
        if not claims:
            return DevicesSay(claims, None, places, b"")
        asked = Asked.of(claims, self._cluster.known.survey, self._ways.budget)
        standings = self._placing.standings
        if 2 * len(places) > len(self.tenancy.nodes):
            return DevicesSay(claims, asked, places, standings.codes(asked))
        return DevicesSay(claims, asked, places, {place: standings.code(asked, place) for place in places})

    def _look_elsewhere(self, found: NodesFound, known: Sequence[ResourceClaim], places: Sequence[int]) -> None:
        """Note the nodes on which claims that are allocated cannot be used."""
        if all(claim.status.allocation is None for claim in known):
            return
        names = self._placing.standings.roster.names
        for place in places:
            reason = unavailable(known, self.tenancy.nodes[place], self._profile)
            if reason is not None:
                found.elsewhere[place] = NodeRefusal(names[place], "allocated-elsewhere", reason[1])
                found.missed.add(reason[0])

    def _choose(self, found: NodesFound) -> Choice:
        attempt, known, fits = found.attempt, found.known, found.places(FITS)
        nominated = attempt.pod.pod.status.nominated_node_name
        place = self.tenancy.places.get(nominated) if nominated else None
        if place in fits or self._ways.first or found.queued.alone:
            chosen = place if place in fits else fits[0]
            assert chosen is not None
            return Choice(chosen, (chosen,))
        worth_of: Callable[[int], int] | None = None
        pending = [claim for claim in known if claim.status.allocation is None]
        if pending and prefers(known, self._ruling.release):
            worth_of = partial(self._worth, found)
        return best(attempt, fits, worth_of)

    def _worth(self, found: NodesFound, place: int) -> int:
        claims = found.at(place).claims
        with finishing():
            return worth(found.known, self._placing.ask(self.tenancy.nodes[place], claims, self._ways.budget))

    def _take(self, found: NodesFound, notes: tuple[str, ...]) -> Scheduled | Unschedulable:
        """Return where the pod goes of the nodes that fit, with its devices, unless a quota is against it."""
        queued, names = found.queued, self._placing.standings.roster.names
        answer = None if self._ways.best is None else self._best(self._ways.best, found)
        if answer is None:
            choice = self._choose(found)
        else:
            choice = Choice(self.tenancy.places[answer.node], (self.tenancy.places[answer.node],))
        claims = self._claims_on(found, names[choice.place])
        refusal = self._charged(claims[len(found.known) :], queued.pod)
        if refusal is not None:
            return Unschedulable(queued.name, refusal.text, "quota", notes=notes, detail=refusal.detail)
        takes = found.amounts.get(choice.place, ())
        text = not_stored(queued.pod, takes)
        if text:
            return Unschedulable(queued.name, text, "node-resources", notes=notes)
        if answer is None:
            answer = self._with_devices(found.at(choice.place), choice.place, claims)
            self._answers.append(answer)
        else:
            self.renew(answer.claims)
        if not (queued.alone or self._as_promised):
            made = len(claims) > len(found.known)
            failed = unbound(queued.pod, found.known, made=made, ruling=self._ruling, profile=self._profile)
            if failed is not None:
                return replace(failed, notes=notes)
        for claim in found.known:
            self.reserved[claim_name(claim)] = self.reserved.get(claim_name(claim), 0) + 1
        if not queued.alone:
            self._settle(PodView.of(with_taken(queued.pod, takes)) if takes else found.attempt.pod, choice.place)
        equal = NodeNames(names, choice.equal)
        undecided = tuple([names[place] for place in found.places(UNDECIDED)])
        fits = NodeNames(names, found.places(FITS))
        return Scheduled(queued.name, names[choice.place], answer, equal, choice.sampled, undecided, notes, fits, takes)

    def _with_devices(self, devices: DevicesSay, place: int, claims: Sequence[ResourceClaim]) -> Allocated:
        """Return the claims with the devices that the scheduler takes, and take them."""
        if devices.asked is None:
            return Allocated(self._placing.standings.roster.names[place], tuple(claims), Work())
        return self._placing.take(devices.asked, place, claims, [claim_name(claim) for claim in devices.claims])

    def _best(self, best: Callable[[Candidates], Allocated | None], found: NodesFound) -> Allocated | None:
        """Return the best answer of nodes that fit or may, if there is one."""

        def claims(node: Node) -> Sequence[ResourceClaim]:
            return self._claims_on(found, node.metadata.name or "")

        places = (*found.places(FITS), *found.places(UNDECIDED))
        nodes = [self.tenancy.nodes[place] for place in places]
        return best(Candidates(self.cluster, claims, nodes, len(found.devices) == 1))

    def _charged(self, made: Sequence[ResourceClaim], pod: Pod) -> Refusal | None:
        """Charge quotas with claims that the scheduler makes for the pod; return why one of them is refused."""
        for claim in made:
            self.book, refusal = self.book.charge(claim, made_for=pod)
            if refusal is not None:
                return refusal
        return None

    def renew(self, claims: Iterable[ResourceClaim]) -> None:
        """Go on with claims as they are said to be."""
        self._cluster = self.cluster.with_claims(claims)
        self._placing = Placing(self._cluster, self._ways.budget)

    def _solver_could(self, devices: DevicesSay, place: int) -> bool:
        """Return whether CP-SAT could decide a node on which the budget ran out, and was not asked."""
        return devices.asked is not None and self._placing.standings.unsolved(devices.asked, place)

    def _settle(self, view: PodView, place: int) -> None:
        self.tenancy.add(view, place)

    def _is_idle(self, claim: ResourceClaim, pod: Pod, found: NodesFound) -> bool:
        """Return whether the claim cannot be used on a node, and nobody but the pod has reserved it."""
        name = claim_name(claim)
        if name not in found.missed or self.reserved.get(name):
            return False
        users = claim.status.reserved_for
        return not users or (len(users) == 1 and users[0].uid == pod.metadata.uid)

    def _given_back(self, claim: ResourceClaim, queued: Queued) -> PodOutcome:
        """Return what becomes of the pod once a claim that does not fit, and nobody has reserved, is given back."""
        name = claim_name(claim)
        self.renew([given_back(claim)])
        given = tuple(
            [name if not isinstance(each, str) and claim_name(each) == name else each for each in queued.claims]
        )
        outcome = self.attempt(replace(queued, claims=given))
        note = f"claim {name} cannot be used where the pod can run, and nobody reserved it: the scheduler gives it back"
        return replace(outcome, notes=(note, *outcome.notes))

    def _is_others(self, claim: ResourceClaim, pod: Pod) -> bool:
        """Return whether another pod has reserved the claim."""
        users = claim.status.reserved_for
        if claim.status.allocation is None or any(each.uid == pod.metadata.uid for each in users):
            return False
        return bool(users) or self.reserved.get(claim_name(claim), 0) > 0

    def _consumers(self, claim: ResourceClaim) -> int:
        return len(claim.status.reserved_for) + self.reserved.get(claim_name(claim), 0)

    def _refusals(self, found: NodesFound) -> Callable[[], tuple[NodeRefusal, ...]]:
        """Return what makes the refusals of all nodes; later changes do not show in them."""
        standings = self._placing.standings
        failing = {
            place: standings.refusal(each.asked, place, FAILS)
            for each in found.devices
            if each.asked is not None
            for place in each.having(FAILS)
        }
        names, places = standings.roster.names, self._places

        def refusal(place: int) -> NodeRefusal:
            objection = found.objections.get(place) or found.against.get(place)
            if objection is not None:
                return NodeRefusal(names[place], objection.code, objection.text, detail=objection.detail)
            devices = found.at(place)
            known = failing.get(place)
            # Devices are asked for before claims that are allocated already are looked at.
            if known is None and (devices.asked is None or devices.codes[place] == FITS):
                known = found.elsewhere.get(place)
            if known is not None:
                return known
            assert devices.asked is not None
            return standings.refusal(devices.asked, place, devices.codes[place])

        return lambda: tuple(map(refusal, places))
