"""
A cluster as it was dumped, and questions to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from dra_alloc.api import (
    AllocationResult,
    DeviceClass,
    FrozenMap,
    Node,
    ResourceClaim,
    ResourceSlice,
)
from dra_alloc.cluster.arguments import listed, names_in, objectives_in, objects_in
from dra_alloc.cluster.asked_nodes import heed, node_names, settings_in
from dra_alloc.cluster.best_place import Best, best_place
from dra_alloc.cluster.claim_names import asked_claims, by_name
from dra_alloc.cluster.defaulting import defaulted
from dra_alloc.cluster.edits.copies import Copied
from dra_alloc.cluster.edits.digests import Digests
from dra_alloc.cluster.edits.editing import Edit, edit_of, edited
from dra_alloc.cluster.edits.events import Event
from dra_alloc.cluster.fits import Fits, first_outcome, first_place
from dra_alloc.cluster.holding import allocated_elsewhere, completed
from dra_alloc.cluster.implied_nodes import implied_nodes
from dra_alloc.cluster.outcomes import Allocated, NodeRefusal, Outcome, Undecided, Unsatisfiable, claims_of
from dra_alloc.cluster.placing import Placements, place
from dra_alloc.cluster.settings import DEFAULT_SETTINGS, Settings
from dra_alloc.cluster.standings import Roster, Standings
from dra_alloc.errors import Problem, UnknownReference, first_few
from dra_alloc.explain.tally import NOTHING, explain
from dra_alloc.manifest import Documents
from dra_alloc.manifest.gc_pause import gc_paused
from dra_alloc.manifest.make.holdings import Holdings, holdings_of
from dra_alloc.manifest.make.records import WireRecord
from dra_alloc.pods.extended_resources import class_by_resource
from dra_alloc.problem.devices import DeviceKey
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.ledger import Ledger
from dra_alloc.problem.occupancy import Held, Occupancy
from dra_alloc.problem.overlay import LateOverlay
from dra_alloc.problem.tainting import has_effect
from dra_alloc.problem.usage import LateUsage
from dra_alloc.profiles import Feature, Semantics
from dra_alloc.solve.allocator import DEFAULT_BUDGET, Allocator, Budget, State, not_found
from dra_alloc.solve.best.objectives import Objective
from dra_alloc.solve.outcome import Aborted, NoFit, OutOfBudget, Solved, SolveOutcome
from dra_alloc.solve.survey import Survey

__all__ = ["Cluster"]


@dataclass(frozen=True, eq=False)
class Cluster(Copied):
    """
    An immutable snapshot: nodes, slices, classes, and claims with what they hold.

    Questions leave it as it is; :meth:`after` makes the cluster that an answer
    leads to. Indexes are made on first use and shared by what is derived.
    `warnings` are those of the load; the nodes are `implied` if there are no
    Node objects, and follow what slices name. Safe to ask from several threads.
    """

    nodes: tuple[Node, ...]
    inventory: Inventory
    classes: Mapping[str, DeviceClass]
    claims: Mapping[str, ResourceClaim]
    settings: Settings = DEFAULT_SETTINGS
    warnings: tuple[Problem, ...] = ()
    implied: bool = False

    @classmethod
    def of(cls, documents: Documents, settings: Settings = DEFAULT_SETTINGS) -> Cluster:
        """
        Return the cluster that loaded objects describe.

        Without Node objects the nodes that slices name are taken, with a
        hostname label only.

        Raises: InputError for a release, gate, channel or semantics that is not known.
        """
        profile = settings.profile()
        merges = settings.merges_taint_rules()
        rules = [rule for rule in documents.taint_rules if has_effect(rule, profile)] if merges else []
        with gc_paused(settle=True):
            inventory = Inventory.build(documents.slices, rules, documents.laid_out(documents.slices))
            held = documents.held
            made = cls(
                documents.nodes or implied_nodes(inventory),
                inventory,
                FrozenMap({each.metadata.name or "": each for each in documents.classes}),
                LateOverlay(
                    lambda: (
                        dict(zip([each.name for each in held.each], held.claims, strict=True))
                        if held.distinct
                        else by_name(held.claims, {})
                    )
                ),
                settings,
                documents.warnings,
                implied=not documents.nodes,
            )
            if held.distinct:
                made.__dict__["holdings"] = held
            return made

    @cached_property
    def survey(self) -> Survey:
        """What is known of the slices, whatever is allocated."""
        return Survey(self.inventory, self.classes, self.settings.profile(), not_found)

    @cached_property
    def holdings(self) -> Holdings:
        """What each claim holds, in order."""
        return holdings_of(self.claims.values(), {})

    @cached_property
    def ledger(self) -> Ledger:
        """Who holds which device."""
        with gc_paused(settle=True):
            if not self._special():
                return Ledger((), sharing=self._sharing, noted=self.holdings.each)
            claims = ((name, claim.status.allocation) for name, claim in self.claims.items())
            return Ledger(((name, each) for name, each in claims if each is not None), sharing=self._sharing)

    def _special(self) -> list[AllocationResult]:
        """Return the allocations of which more than the devices matters."""
        names = [holding.name for holding in self.holdings.each if holding.special]
        found = [self.claims[name].status.allocation for name in names]
        return [each for each in found if each is not None]

    @property
    def _sharing(self) -> bool:
        return self.settings.profile().on(Feature.CONSUMABLE_CAPACITY)

    @cached_property
    def occupancy(self) -> Occupancy:
        """Which devices of each slice are held."""
        with gc_paused(settle=True):
            if "ledger" in self.__dict__:
                return Occupancy.of(self.ledger.usage, self.inventory.by_pool)
            held = Held.noted(self.holdings, self._special(), sharing=self._sharing)
            return Occupancy(held, self.inventory.by_pool)

    @cached_property
    def allocator(self) -> Allocator:
        """The engine for this state; made on first use."""
        state = State(self.inventory, self.classes, LateUsage(lambda: self.ledger.usage), self.holders)
        return Allocator(state, self.settings.profile(), self.survey, self.occupancy)

    @cached_property
    def roster(self) -> Roster:
        """The nodes by name and place."""
        return Roster(self.nodes)

    @cached_property
    def standings(self) -> Standings:
        """Which nodes fit, as far as it was asked."""
        return Standings(self.roster, self.survey, self.occupancy, self.ask)

    @cached_property
    def digests(self) -> Digests:
        """The digests of all objects."""
        slices = (row.wire for row in self.inventory.slices)
        rules = self.inventory.taint_rules
        return Digests((*slices, *self.claims.values(), *self.classes.values(), *self.nodes, *rules))

    @property
    def state_hash(self) -> str:
        """Return a hash of all objects; equal for clusters with equal content, in whatever order it came together."""
        return self.digests.text

    @cached_property
    def intended(self) -> Cluster:
        """The same cluster, asked for what the API promises; what is known of slices is shared."""
        if self.settings.semantics == Semantics.INTENDED:
            return self
        return self.with_settings(replace(self.settings, semantics=Semantics.INTENDED.value))

    @cached_property
    def class_by_resource(self) -> Mapping[str, str]:
        """The DeviceClass behind each extended resource name; none where the scheduler does not look for one."""
        if not self.settings.effective_gates().get("DRAExtendedResource", False):
            return {}
        return class_by_resource(self.classes.values())

    def holders(self, device: DeviceKey) -> tuple[str, ...]:
        """Return the claims that hold the device or a share of it."""
        return self.ledger.holders(device)

    def node(self, name: str) -> Node:
        """
        Return the node of that name.

        Raises: UnknownReference.
        """
        place = self.roster.places.get(name)
        if place is not None:
            return self.nodes[place]
        raise UnknownReference(f"there is no node {name!r} in the cluster", hint=_some_nodes(self.nodes))

    def allocate(
        self,
        claims: Sequence[ResourceClaim],
        node: str | Node | None = None,
        *,
        budget: Budget = DEFAULT_BUDGET,
        objectives: Sequence[Objective] = (),
    ) -> Outcome:
        """
        Return where and with which devices the claims are allocated together.

        Without a node the nodes are tried in order and the first that fits is
        taken; a Node that is given is asked as it is. Claims are taken as they
        are given: those with an allocation keep it, and it restricts the nodes.
        Claims without an allocation mode get the API server's defaults.
        With objectives the answer is the best by the first of them, the next
        breaking ties, over all nodes asked; `scores` of the outcome say how good
        it is, and whether better is ruled out. kube-scheduler has no objectives,
        so such a question is asked with intended semantics.

        Raises: UnknownReference for a node that does not exist; InputError for
        anything but claims and objectives, or a claim twice; EngineUnavailable for objectives without OR-tools.
        """
        claims = asked_claims(claims)
        heed(budget, node)
        if ranked := objectives_in(objectives, "objectives", Objective):
            return self._best(claims, node, budget, ranked)
        if node is None:
            place = first_place(self, claims, budget)
            return first_outcome(self, claims, self.nodes if place is None else (self.nodes[place],), budget)
        return first_outcome(self, claims, (self.node(node) if isinstance(node, str) else node,), budget)

    def _best(
        self, claims: Sequence[ResourceClaim], node: str | Node | None, budget: Budget, objectives: Sequence[Objective]
    ) -> Outcome:
        intended = self.intended
        if node is None:
            fits = intended.filter(claims, budget=budget)
            nodes = [] if fits.aborted else [intended.node(name) for name in (*fits, *fits.undecided)]
        else:
            named = intended.node(node) if isinstance(node, str) else node
            nodes = [] if allocated_elsewhere(claims, named) else [named]
        best = best_place(intended, Best(lambda _: claims, objectives, budget), nodes)
        return intended.allocate(claims, node, budget=budget) if best is None else best

    def on_node(
        self, claims: Sequence[ResourceClaim], node: Node, *, budget: Budget = DEFAULT_BUDGET, explained: bool = True
    ) -> Outcome:
        """Return the outcome for one node; without `explained` a refusal carries no counts."""
        claims = defaulted(claims)
        refusal = allocated_elsewhere(claims, node)
        if refusal is not None:
            return Unsatisfiable((refusal,))
        pending = [claim for claim in claims if claim.status.allocation is None]
        outcome = self.allocator.allocate(node, pending, budget=budget)
        return self._public(outcome, claims, pending, node, explained=explained)

    def _public(
        self,
        outcome: SolveOutcome,
        claims: Sequence[ResourceClaim],
        pending: Sequence[ResourceClaim],
        node: Node,
        *,
        explained: bool,
    ) -> Outcome:
        name = node.metadata.name or ""
        match outcome:
            case Solved(work=work):
                return Allocated(name, lambda: completed(tuple(claims), outcome.results), work)
            case NoFit():
                why = explain(self.allocator, node, pending) if explained else NOTHING
                return Unsatisfiable((NodeRefusal(name, "no-fit", "", why),))
            case Aborted(text, code, _, on_node):
                return Unsatisfiable((NodeRefusal(name, code, text),), aborts=not on_node)
            case OutOfBudget(work):
                return Undecided((name,), work)

    def ask(self, node: Node, claims: Sequence[ResourceClaim], budget: Budget = DEFAULT_BUDGET) -> SolveOutcome:
        """Return the engine's own outcome for claims that are not allocated."""
        return self.allocator.allocate(node, claims, budget=budget)

    def filter(
        self,
        claims: Sequence[ResourceClaim],
        nodes: Iterable[str | Node] | None = None,
        *,
        budget: Budget = DEFAULT_BUDGET,
    ) -> Fits:
        """
        Return which nodes could have the claims together; allocations are put together where they are looked at.

        The cost is one search for every distinct state of a node's devices as
        the claims see them, and one look-up for every node that changed since
        the question was last asked. A Node stands for that of its name in the cluster.

        Raises: UnknownReference for a node that does not exist; InputError for a claim twice.
        """
        named = None if nodes is None else node_names(nodes)
        heed(budget)
        for name in named or ():
            self.node(name)
        return Fits(self, tuple(asked_claims(claims)), named, budget)

    def place(self, pods: Iterable[Sequence[ResourceClaim]], *, budget: Budget = DEFAULT_BUDGET) -> Placements:
        """
        Return where the pods' claims go, each pod on the first node that fits after what earlier ones took.

        The cost is one search for every distinct state of a node's devices as
        the claims see them, one look-up for every node and distinct pod, and
        one for every node that changed.

        A claim that several pods name is allocated with the first of them and
        shared; one that is allocated in the cluster keeps that, also where it
        is given without its status.

        Raises: InputError for a claim twice in a pod, or another one under the name of such a claim.
        """
        given = listed(pods, "pods", "pods, each a sequence of ResourceClaim objects")
        return place(self, (asked_claims(claims, f"pods[{number}]") for number, claims in enumerate(given)), budget)

    def after(self, outcome: Outcome) -> Cluster:
        """
        Return the cluster in which the outcome's claims are allocated; only `Allocated` changes anything.

        Raises: InputError for what is no outcome.
        """
        claims = claims_of(outcome)
        return self.with_claims(claims) if claims else self

    def with_claim(self, claim: ResourceClaim) -> Cluster:
        """Return the cluster with the claim, new or in place of that of its name."""
        return self.with_claims([claim])

    def without_claim(self, name: str) -> Cluster:
        """Return the cluster without the claim of this name, `namespace/name`."""
        return self.without_claims([name])

    def with_slice(self, resource_slice: ResourceSlice) -> Cluster:
        """Return the cluster with the slice, new or in place of that of its name."""
        return self.with_slices([resource_slice])

    def without_slice(self, name: str) -> Cluster:
        """Return the cluster without the slice of this name."""
        return self.without_slices([name])

    def with_claims(self, claims: Iterable[ResourceClaim]) -> Cluster:
        """
        Return the cluster with these claims, new or in place of those of their names.

        Claims without a name are new: they get their generateName, or `claim-`, and a number that no claim there has.
        """
        given = objects_in(claims, "claims", ResourceClaim, "ResourceClaim")
        return edited(self, Edit(claims=by_name(given, self.claims)))

    def without_claims(self, names: Iterable[str]) -> Cluster:
        """Return the cluster without claims of these names, each `namespace/name`."""
        return edited(self, Edit(claims=dict.fromkeys(names_in(names, "names"))))

    def with_slices(self, slices: Iterable[ResourceSlice]) -> Cluster:
        """Return the cluster with these slices, new or in place of those of their names."""
        given = objects_in(slices, "slices", (ResourceSlice, WireRecord), "ResourceSlice")
        return edited(self, Edit(slices={each.metadata.name or "": each for each in given}))

    def without_slices(self, names: Iterable[str]) -> Cluster:
        """Return the cluster without slices of these names."""
        return edited(self, Edit(slices=dict.fromkeys(names_in(names, "names"))))

    def apply(self, events: Iterable[Event | Mapping[str, Any]]) -> Cluster:
        """
        Return the cluster after events of a watch: slices, claims, classes, nodes, taint rules.

        Events are `Event` objects or a watch stream's dictionaries, ``{"type": "ADDED", "object": {...}}``.

        Raises: InputError for an event or object that is not known.
        """
        return edited(self, edit_of(events))

    def with_settings(self, settings: Settings) -> Cluster:
        """Return the same cluster, asked as another scheduler would see it; taint rules stay as they were merged."""
        profile = settings_in(settings).profile()
        made = replace(self, settings=settings)
        if "survey" in self.__dict__:
            # Looking alike does not depend on the scheduler.
            made.__dict__["survey"] = Survey(self.inventory, self.classes, profile, not_found, self.survey.columns)
        return made


def _some_nodes(nodes: Sequence[Node]) -> str:
    names = [node.metadata.name or "" for node in nodes]
    return f"known nodes: {first_few(names)}" if names else "the cluster has no nodes"
