"""
Many pods placed one after the other, each on the first node that fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from dra_alloc.api import AllocationResult, Node, ResourceClaim
from dra_alloc.cluster.claim_names import settled
from dra_alloc.cluster.holding import allocated_elsewhere, completed, reaches
from dra_alloc.cluster.outcomes import Allocated, Outcome, Undecided, Unsatisfiable
from dra_alloc.cluster.standings import ABORTS, FITS, UNDECIDED, Asked, concerned, places_of
from dra_alloc.manifest.gc_pause import gc_paused
from dra_alloc.problem.devices import PoolKey, SliceRow
from dra_alloc.problem.ledger import Ledger
from dra_alloc.problem.namesakes import Namesakes
from dra_alloc.problem.requests import claim_name
from dra_alloc.rules import consumption
from dra_alloc.solve.allocator import Allocator
from dra_alloc.solve.direct import Answer, places_in
from dra_alloc.solve.ladder import DEFAULT_BUDGET, Budget
from dra_alloc.solve.masks.board import BoardAnswer
from dra_alloc.solve.outcome import Solved, SolveOutcome, Work
from dra_alloc.solve.views import Admitted
from dra_alloc.work import finishing

if TYPE_CHECKING:
    from dra_alloc.cluster.cluster import Cluster


@dataclass(frozen=True, eq=False)
class Placements:
    """What became of each pod, in the order asked; `before` is the cluster they were placed on."""

    before: Cluster
    outcomes: tuple[Outcome, ...]

    @property
    def placed(self) -> int:
        """Return how many pods found a node."""
        return sum(isinstance(each, Allocated) for each in self.outcomes)

    @cached_property
    def cluster(self) -> Cluster:
        """The cluster after all of them."""
        claims = (claim for each in self.outcomes if isinstance(each, Allocated) for claim in each.claims)
        return self.before.with_claims(claims)


def place(cluster: Cluster, pods: Iterable[Sequence[ResourceClaim]], budget: Budget = DEFAULT_BUDGET) -> Placements:
    """
    Return where the pods' claims are allocated, each pod after what earlier ones took.

    A claim that an earlier pod got, by namespace and name, is shared with it.

    Raises: InputError for another claim of that name.
    """
    with gc_paused(settle=True):
        asked = list(settled([tuple(claims) for claims in pods], cluster.claims))
        for claims, _ in asked:
            # What all of them look at is then read off each slice at once.
            cluster.known.survey.admitted(claims)
        placing = Placing(cluster, budget)
        return Placements(cluster, tuple([placing.place(claims, names) for claims, names in asked]))


class Placing:
    """A cluster that fills up pod by pod; for one thread."""

    def __init__(self, cluster: Cluster, budget: Budget = DEFAULT_BUDGET) -> None:
        known = cluster.known
        self._cluster = cluster
        self._budget = budget
        self._occupancy = known.occupancy.opened()
        self._namesakes = Namesakes(cluster.inventory.by_pool)
        self._allocator = Allocator(known.allocator.state, known.allocator.profile, known.survey, self._occupancy)
        self.standings = known.standings.opened(self._occupancy, self)
        profile = self._allocator.profile
        self._sharing = profile.shares
        self._ledger: Ledger | None = None
        self._placed: dict[str, Allocated] = {}
        self._unbooked: list[tuple[Sequence[str], Allocated]] = []

    def place(self, claims: Sequence[ResourceClaim], names: Sequence[str]) -> Outcome:
        """Return where the claims of these names are allocated together, and take their devices."""
        known = claims
        if any(claim.status.allocation for claim in claims) or not self._placed.keys().isdisjoint(names):
            known = [self.known(claim) for claim in claims]
            pending = [claim for claim in known if claim.status.allocation is None]
            if len(pending) < len(known):
                return self._with_allocated(known, pending)
        asked = Asked.of(known, self._cluster.known.survey, self._budget)
        place, code = self.standings.first(asked)
        if code == FITS:
            return self.take(asked, place, known, names)
        return self._without(asked, place, code, ())

    def known(self, claim: ResourceClaim) -> ResourceClaim:
        """Return the claim, with its allocation if an earlier pod got it one."""
        if not self._placed or claim.status.allocation is not None:
            return claim
        name = claim_name(claim)
        before = self._placed.get(name) if claim.metadata.name else None
        return claim if before is None else next(each for each in before.claims if claim_name(each) == name)

    def _with_allocated(self, known: Sequence[ResourceClaim], pending: Sequence[ResourceClaim]) -> Outcome:
        """Return the outcome where claims that have an allocation restrict the nodes."""
        roster = self.standings.roster
        if not pending:
            for node in roster.nodes:
                if all(reaches(claim, node) for claim in known):
                    return Allocated(node.metadata.name or "", tuple(known), Work())
            refusals = (allocated_elsewhere(known, node) for node in roster.nodes)
            return Unsatisfiable(tuple(each for each in refusals if each is not None))
        asked = Asked.of(pending, self._cluster.known.survey, self._budget)
        place, code = self.standings.first(asked)
        while place >= 0 and not self._reach(known, place):
            place, code = self.standings.first(asked, place + 1)
        if code == FITS:
            return self.take(asked, place, known, [claim_name(claim) for claim in pending])
        outcome = self._without(asked, place, code, known)
        if not isinstance(outcome, Unsatisfiable) or outcome.aborts:
            return outcome
        elsewhere = {node.metadata.name: allocated_elsewhere(known, node) for node in roster.nodes}
        fitting = (each for name, each in elsewhere.items() if each is not None)
        refused = {each.node: elsewhere[each.node] or each for each in (*fitting, *outcome.refusals)}
        return Unsatisfiable(tuple(refused[name] for name in roster.names if name in refused))

    def _reach(self, known: Sequence[ResourceClaim], place: int) -> bool:
        node = self.standings.roster.nodes[place]
        return all(reaches(claim, node) for claim in known)

    def _without(self, asked: Asked, place: int, code: int, known: Sequence[ResourceClaim]) -> Outcome:
        """Return the outcome where no node fits; nodes that known claims rule out are of no concern."""
        standings = self.standings
        if code == ABORTS:
            return standings.abort(asked, place)
        places = [place for place in places_of(standings.codes(asked), UNDECIDED) if self._reach(known, place)]
        if places:
            return Undecided(tuple([standings.roster.names[place] for place in places]), Work())
        return Unsatisfiable(standings.refusals(asked))

    def take(self, asked: Asked, place: int, known: Sequence[ResourceClaim], names: Sequence[str]) -> Allocated:
        """Take devices for the claims asked about, which have these names."""
        standings = self.standings
        node, row = standings.roster.nodes[place], standings.alone(place)
        allocated = None if row is None else self._take_alone(asked, node, row, known)
        concerning: Iterable[int] | None = (place,)
        if allocated is None:
            outcome, pools = self._solved(asked, node)
            allocated = Allocated(
                node.metadata.name or "", _Made(known, partial(getattr, outcome, "results")), outcome.work
            )
            if row is None:
                concerning = concerned(pools, (self._cluster.inventory,), standings.roster)
        self._unbooked.append((names, allocated))
        for name in names:
            self._placed[name] = allocated
        standings.taken(concerning)
        return allocated

    def _take_alone(self, asked: Asked, node: Node, row: SliceRow, known: Sequence[ResourceClaim]) -> Allocated | None:
        """Take devices of the slice that is all there is to a node; None if a board does not tell which."""
        admitted = asked.admitted
        found = self._allocator.direct.answer_alone(row, admitted, self._budget.steps)
        if found is None or admitted is None:
            return None
        choice, work = found
        self._occupancy.take(row, choice.taken)
        # Most results are never looked at.
        results = partial(self._cluster.known.allocator.results_alone, node, row, admitted, choice)
        return Allocated(node.metadata.name or "", _Made(known, results), work)

    def would_take(self, asked: Asked, place: int) -> Sequence[AllocationResult]:
        """Return the results for the claims asked about on a node that fits, which are not taken."""
        node = self.standings.roster.nodes[place]
        outcome, _ = self._found(asked, node)
        return outcome.results

    def _found(self, asked: Asked, node: Node) -> tuple[Solved, Answer | None]:
        """Return the answer for a node that is known to fit, and what the direct engine says if it is its own."""
        with finishing():
            answer = self._allocator.direct.answer_admitted(node, asked.admitted, self._budget.steps)
            outcome = self.ask(node, asked.claims, self._budget) if answer is None else self._allocator.told(answer)
        assert isinstance(outcome, Solved)
        return outcome, answer

    def _solved(self, asked: Asked, node: Node) -> tuple[Solved, set[PoolKey]]:
        """Return the answer for a node that fits, and the pools of which devices were taken."""
        outcome, answer = self._found(asked, node)
        if answer is None:
            return outcome, self._take_picks(outcome)
        places = places_in(answer.view.slices, answer.choice)
        for row, index in places:
            self._hold(row, index)
        return outcome, {row.pool for row, _ in places}

    def _take_picks(self, outcome: Solved) -> set[PoolKey]:
        pools: set[PoolKey] = set()
        for ask, device in outcome.picks:
            if ask.admin:
                continue
            row = device.slice
            pools.add(row.pool)
            if not (device.shareable and self._sharing):
                self._hold(row, row.devices.index(device))
            elif consumption(device, ask, self._allocator.profile):
                for each, _ in self._namesakes.of(row, row.devices.index(device)):
                    self._occupancy.tangle(each)
        return pools

    def _hold(self, row: SliceRow, place: int) -> None:
        """Hold a device wherever its pool's slices have it."""
        for each, where in self._namesakes.of(row, place):
            self._occupancy.take(each, 1 << where)

    def directly(self, node: Node, admitted: Admitted | None, budget: Budget) -> Answer | None:
        """Return what can be said without a search; what is left of shared devices only a record tells."""
        found = self._allocator.direct.answer_admitted(node, admitted, budget.steps)
        if found is not None or admitted is None or admitted.plan is None or admitted.plan.sharing is None:
            return found
        return self._on_record().direct.answer_known(node, admitted, budget.steps)

    def shared(self, admitted: Admitted) -> Callable[[SliceRow], BoardAnswer | None]:
        """Return what says the same of slices that are all there is to a node, as long as no device is taken."""
        return partial(self._on_record().direct.shared_alone, admitted)

    def ask(self, node: Node, claims: Sequence[ResourceClaim], budget: Budget) -> SolveOutcome:
        """Answer with what was placed so far on record."""
        return self._on_record().allocate(node, claims, budget=budget)

    def _on_record(self) -> Allocator:
        """Return the engine for a state in which all that was placed so far is on record."""
        if self._unbooked:
            made = [
                (claim_name(claim), claim.status.allocation)
                for names, allocated in self._unbooked
                for claim in allocated.claims
                if claim.status.allocation is not None and claim_name(claim) in names
            ]
            self._unbooked.clear()
            ledger = self._cluster.known.ledger if self._ledger is None else self._ledger
            self._ledger, _ = ledger.changed((), made)
            state = replace(self._allocator.state, usage=self._ledger.usage)
            self._allocator = Allocator(state, self._allocator.profile, self._cluster.known.survey, self._occupancy)
        return self._allocator


class _Made:
    """Puts the claims of a placed pod together."""

    __slots__ = ("_claims", "_results")

    def __init__(self, claims: Sequence[ResourceClaim], results: Callable[[], Sequence[AllocationResult]]) -> None:
        self._claims = claims
        self._results = results

    def __call__(self) -> tuple[ResourceClaim, ...]:
        return completed(self._claims, self._results())
