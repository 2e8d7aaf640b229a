"""
What is known of a cluster: indexes and answers, found out on first use and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from weakref import ref

from dra_alloc.api import AllocationResult, Node, ResourceClaim
from dra_alloc.cluster.contents import Contents
from dra_alloc.cluster.edits.digests import Digests
from dra_alloc.cluster.outcomes import NodeRefusal
from dra_alloc.cluster.population import Population
from dra_alloc.cluster.settings import Settings
from dra_alloc.cluster.standings import Roster, Standings
from dra_alloc.explain.tally import Tallies
from dra_alloc.manifest.gc_pause import gc_paused
from dra_alloc.manifest.make.holdings import Holdings, holdings_of
from dra_alloc.pods.extended_resources import class_by_resource
from dra_alloc.problem.devices import DeviceKey, SliceRow
from dra_alloc.problem.ledger import Ledger
from dra_alloc.problem.occupancy import Held, Occupancy
from dra_alloc.problem.usage import LateUsage, Usage
from dra_alloc.profiles import Feature, Semantics
from dra_alloc.solve.allocator import Allocator, State, not_found
from dra_alloc.solve.direct import Answer
from dra_alloc.solve.ladder import DEFAULT_BUDGET, Budget
from dra_alloc.solve.masks.board import BoardAnswer
from dra_alloc.solve.outcome import SolveOutcome
from dra_alloc.solve.survey import Survey
from dra_alloc.solve.views import Admitted


@dataclass(slots=True, eq=False)
class KnownParts:
    """What is known so far; None for what nobody asked for yet."""

    survey: Survey | None = None
    holdings: Holdings | None = None
    ledger: Ledger | None = None
    beyond: Usage | None = None
    occupancy: Occupancy | None = None
    allocator: Allocator | None = None
    roster: Roster | None = None
    standings: Standings | None = None
    digests: Digests | None = None
    class_by_resource: Mapping[str, str] | None = None
    intended: Known | None = None

    def now(self) -> KnownParts:
        """Return what is known now: other threads may add to it meanwhile, and what is carried on belongs together."""
        return replace(self)


class Known:
    """
    The contents of a cluster with what is known of them.

    All threads find out the same, so it does not matter whose is kept.
    """

    __slots__ = ("__weakref__", "contents", "parts")

    def __init__(self, contents: Contents, parts: KnownParts | None = None) -> None:
        self.contents = contents
        self.parts = KnownParts() if parts is None else parts

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles have the contents; what was found out is found out again."""
        return Known, (self.contents,)

    @property
    def survey(self) -> Survey:
        """What is known of the slices, whatever is allocated."""
        parts, contents = self.parts, self.contents
        if parts.survey is None:
            parts.survey = Survey(contents.inventory, contents.classes, contents.settings.profile(), not_found)
        return parts.survey

    @property
    def holdings(self) -> Holdings:
        """What each claim holds, in order."""
        parts = self.parts
        if parts.holdings is None:
            parts.holdings = holdings_of(self.contents.claims.values(), {})
        return parts.holdings

    @property
    def ledger(self) -> Ledger:
        """Who holds which device."""
        parts = self.parts
        if parts.ledger is None:
            parts.ledger = self._ledger()
        return parts.ledger

    def _ledger(self) -> Ledger:
        with gc_paused(settle=True):
            if not self._special():
                return Ledger((), sharing=self._sharing, noted=self.holdings.each)
            claims = ((name, claim.status.allocation) for name, claim in self.contents.claims.items())
            return Ledger(((name, each) for name, each in claims if each is not None), sharing=self._sharing)

    def _special(self) -> list[AllocationResult]:
        """Return the allocations of which more than the devices matters."""
        holdings = self.holdings
        noted = zip(holdings.claims, holdings.each, strict=True)
        found = [claim.status.allocation for claim, holding in noted if holding.special]
        return [each for each in found if each is not None]

    def _beyond(self) -> Usage:
        """Return what special allocations take, shares among it."""
        parts = self.parts
        if parts.beyond is None:
            parts.beyond = Usage.of(self._special(), sharing=self._sharing)
        return parts.beyond

    def shares(self) -> Usage:
        """Return a usage of which all that is said of shares is right."""
        ledger = self.parts.ledger
        return self._beyond() if ledger is None else ledger.usage

    @property
    def _sharing(self) -> bool:
        return self.contents.settings.profile().on(Feature.CONSUMABLE_CAPACITY)

    @property
    def occupancy(self) -> Occupancy:
        """Which devices of each slice are held."""
        parts = self.parts
        if parts.occupancy is None:
            parts.occupancy = self._occupancy()
        return parts.occupancy

    def _occupancy(self) -> Occupancy:
        pools, ledger = self.contents.inventory.by_pool, self.parts.ledger
        with gc_paused(settle=True):
            if ledger is not None:
                return Occupancy.of(ledger.usage, pools)
            return Occupancy(Held.noted(self.holdings, self._beyond()), pools)

    @property
    def allocator(self) -> Allocator:
        """The engine for this state."""
        parts = self.parts
        if parts.allocator is None:
            contents, late = self.contents, Asking(self)
            usage = LateUsage(late.usage, late.shares)
            state = State(contents.inventory, contents.classes, usage, late.holders)
            parts.allocator = Allocator(state, contents.settings.profile(), self.survey, self.occupancy)
        return parts.allocator

    @property
    def roster(self) -> Roster:
        """The nodes by name and place."""
        parts = self.parts
        if parts.roster is None:
            parts.roster = Roster(self.contents.nodes)
        return parts.roster

    @property
    def standings(self) -> Standings:
        """Which nodes fit, as far as it was asked."""
        parts = self.parts
        if parts.standings is None:
            parts.standings = Standings(self.roster, self.survey, self.occupancy, Asking(self))
        return parts.standings

    @property
    def digests(self) -> Digests:
        """The digests of all objects."""
        parts, contents = self.parts, self.contents
        if parts.digests is None:
            slices = (row.wire for row in contents.inventory.slices)
            rest = (*contents.claims.values(), *contents.classes.values(), *contents.nodes)
            parts.digests = Digests((*slices, *rest, *contents.inventory.taint_rules, *contents.population.objects))
        return parts.digests

    @property
    def class_by_resource(self) -> Mapping[str, str]:
        """The DeviceClass behind each extended resource name; none where the scheduler does not look for one."""
        parts, contents = self.parts, self.contents
        if parts.class_by_resource is None:
            on = contents.settings.effective_gates().get("DRAExtendedResource", False)
            parts.class_by_resource = class_by_resource(contents.classes.values() if on else ())
        return parts.class_by_resource

    @property
    def intended(self) -> Known:
        """The same contents, asked for what the API promises; what is known of slices is shared."""
        parts, settings = self.parts, self.contents.settings
        if settings.semantics == Semantics.INTENDED:
            return self
        if parts.intended is None:
            parts.intended = self.asked_as(replace(settings, semantics=Semantics.INTENDED.value))
        return parts.intended

    def ask(self, node: Node, claims: Sequence[ResourceClaim], budget: Budget = DEFAULT_BUDGET) -> SolveOutcome:
        """Return the engine's own outcome for claims that are not allocated."""
        return self.allocator.allocate(node, claims, budget=budget)

    def directly(self, node: Node, admitted: Admitted | None, budget: Budget) -> Answer | None:
        """Return the engine's answer for claims that were admitted; None if it takes a search."""
        return self.allocator.direct.answer_known(node, admitted, budget.steps)

    def shared(self, admitted: Admitted) -> Callable[[SliceRow], BoardAnswer | None]:
        """Return what answers for slices that are all there is to a node, where devices are shared."""
        return partial(self.allocator.direct.shared_alone, admitted)

    def counted(self, refusal: NodeRefusal, claims: Sequence[ResourceClaim], node: Node) -> NodeRefusal:
        """Return a refusal with what each device fell to; nothing is asked again."""
        return self.counting()(refusal, claims, node)

    def counting(self) -> Callable[[NodeRefusal, Sequence[ResourceClaim], Node], NodeRefusal]:
        """Return what does the same for many nodes."""
        tallies = Tallies(self.allocator)

        def counted(refusal: NodeRefusal, claims: Sequence[ResourceClaim], node: Node) -> NodeRefusal:
            if refusal.code != "no-fit":
                return refusal
            pending = [claim for claim in claims if claim.status.allocation is None]
            return refusal.counting(tallies.explain(node, pending))

        return counted

    def asked_as(self, settings: Settings) -> Known:
        """Return the same contents, asked as another scheduler would see them."""
        had = self.parts.now()
        parts = KnownParts(holdings=had.holdings, roster=had.roster, digests=had.digests)
        contents = replace(self.contents, settings=settings)
        known = Known(contents, parts)
        if known._sharing == self._sharing:
            # Who holds what depends on nothing else of the scheduler.
            parts.ledger, parts.beyond, parts.occupancy = had.ledger, had.beyond, had.occupancy
        if had.survey is not None:
            # Looking alike does not depend on the scheduler.
            looks = had.survey.columns
            parts.survey = Survey(contents.inventory, contents.classes, settings.profile(), not_found, looks)
        return known

    def populated(self, population: Population) -> Known:
        """Return the same contents with other pods."""
        parts = self.parts.now()
        parts.digests = parts.intended = parts.allocator = None
        known = Known(replace(self.contents, population=population), parts)
        if parts.standings is not None:
            parts.standings = parts.standings.forked(known.survey, known.occupancy, Asking(known))
        return known

    def on_nodes(self, nodes: tuple[Node, ...]) -> Known:
        """Return the same contents with other Node objects."""
        had = self.parts.now()
        parts = replace(had, allocator=None, roster=None, standings=None, digests=None, intended=None)
        return Known(replace(self.contents, nodes=nodes, implied=False), parts)


class Asking:
    """
    What a Known keeps asks of it in turn, and does not keep it.

    With a cycle the states that changes leave behind would stay until the collector walks all objects.
    """

    __slots__ = ("_contents", "_found_out_anew", "_known")

    def __init__(self, known: Known) -> None:
        self._known = ref(known)
        self._contents = known.contents
        self._found_out_anew: Known | None = None

    @property
    def known(self) -> Known:
        """What is known; of a state that nobody has anymore it is found out again."""
        known = self._known() or self._found_out_anew
        if known is None:
            known = self._found_out_anew = Known(self._contents)
        return known

    def usage(self) -> Usage:
        """Return what is allocated."""
        return self.known.ledger.usage

    def shares(self) -> Usage:
        """Return a usage of which all that is said of shares is right."""
        return self.known.shares()

    def holders(self, device: DeviceKey) -> tuple[str, ...]:
        """Return who holds a device."""
        return self.known.ledger.holders(device)

    def directly(self, node: Node, admitted: Admitted | None, budget: Budget) -> Answer | None:
        """Return the engine's answer for claims that were admitted; None if it takes a search."""
        return self.known.directly(node, admitted, budget)

    def ask(self, node: Node, claims: Sequence[ResourceClaim], budget: Budget) -> SolveOutcome:
        """Return the engine's own outcome for claims that are not allocated."""
        return self.known.ask(node, claims, budget)

    def shared(self, admitted: Admitted) -> Callable[[SliceRow], BoardAnswer | None]:
        """Return what answers for slices that are all there is to a node, where devices are shared."""
        return self.known.shared(admitted)
