"""
A cluster as it was dumped, and questions to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dra_alloc.api import (
    DeviceClass,
    FrozenMap,
    Node,
    ObjectMeta,
    ResourceClaim,
    ResourceClaimStatus,
)
from dra_alloc.errors import UnknownReference
from dra_alloc.explain.tally import NOTHING, explain
from dra_alloc.manifest import Documents
from dra_alloc.problem.devices import DeviceKey
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.nodes import NodeSelectorError, selects_node
from dra_alloc.problem.requests import claim_name
from dra_alloc.problem.usage import Usage
from dra_alloc.profiles import Feature, Semantics
from dra_alloc.scenario.extended_resources import class_by_resource
from dra_alloc.scenario.outcomes import Allocated, NodeRefusal, Outcome, Undecided, Unsatisfiable
from dra_alloc.scenario.settings import DEFAULT_SETTINGS, Settings
from dra_alloc.solve.allocator import DEFAULT_BUDGET, Allocator, Budget, State
from dra_alloc.solve.outcome import Aborted, NoFit, OutOfBudget, Solved, SolveOutcome, Work
from dra_alloc.solve.survey import Survey

__all__ = ["Cluster"]


@dataclass(frozen=True, eq=False)
class Cluster:
    """
    An immutable snapshot: nodes, slices, classes, and claims with what they hold.

    Questions leave it as it is; :meth:`after` makes the cluster that an answer
    leads to. Indexes are made on first use and shared by what is derived.
    Safe to ask from several threads.
    """

    nodes: tuple[Node, ...]
    inventory: Inventory
    classes: Mapping[str, DeviceClass]
    claims: Mapping[str, ResourceClaim]
    settings: Settings = DEFAULT_SETTINGS

    @classmethod
    def of(cls, documents: Documents, settings: Settings = DEFAULT_SETTINGS) -> Cluster:
        """
        Return the cluster that loaded objects describe.

        Without Node objects the nodes that slices name are taken, with a
        hostname label only.

        Raises: InputError for a release, gate, channel or semantics that is not known.
        """
        settings.profile()
        rules = documents.taint_rules if settings.merges_taint_rules() else ()
        inventory = Inventory.build(documents.slices, rules)
        return cls(
            documents.nodes or _named_nodes(inventory),
            inventory,
            FrozenMap({each.metadata.name or "": each for each in documents.classes}),
            FrozenMap({claim_name(each): each for each in documents.claims}),
            settings,
        )

    @cached_property
    def allocator(self) -> Allocator:
        """The engine for this state; made on first use."""
        profile = self.settings.profile()
        allocations = [claim.status.allocation for claim in self.claims.values() if claim.status.allocation is not None]
        usage = Usage.of(allocations, sharing=profile.on(Feature.CONSUMABLE_CAPACITY))
        return Allocator(State(self.inventory, self.classes, usage, self.holders), profile)

    @cached_property
    def intended(self) -> Cluster:
        """The same cluster, asked for what the API promises; what is known of slices is shared."""
        if self.settings.semantics == Semantics.INTENDED:
            return self
        twin = self.with_settings(replace(self.settings, semantics=Semantics.INTENDED.value))
        profile, state, known = twin.settings.profile(), self.allocator.state, self.allocator.survey
        survey = Survey(state.inventory, state.classes, profile, state.class_not_found, known.columns)
        # The allocator is what the twin would make itself on first use.
        twin.__dict__["allocator"] = Allocator(state, profile, survey)
        return twin

    @cached_property
    def _holders(self) -> Mapping[DeviceKey, tuple[str, ...]]:
        holders: dict[DeviceKey, tuple[str, ...]] = {}
        for name, claim in self.claims.items():
            if claim.status.allocation is None:
                continue
            for result in claim.status.allocation.devices.results:
                if not result.admin_access:
                    key = DeviceKey(result.driver, result.pool, result.device)
                    holders[key] = (*holders.get(key, ()), name)
        return holders

    @cached_property
    def class_by_resource(self) -> Mapping[str, str]:
        """The DeviceClass behind each extended resource name."""
        return class_by_resource(self.classes.values())

    def holders(self, device: DeviceKey) -> tuple[str, ...]:
        """Return the claims that hold the device or a share of it."""
        return self._holders.get(device, ())

    def node(self, name: str) -> Node:
        """
        Return the node of that name.

        Raises: UnknownReference.
        """
        for node in self.nodes:
            if node.metadata.name == name:
                return node
        raise UnknownReference(f"there is no node {name!r} in the cluster", hint=_some_nodes(self.nodes))

    def allocate(
        self, claims: Sequence[ResourceClaim], node: str | Node | None = None, *, budget: Budget = DEFAULT_BUDGET
    ) -> Outcome:
        """
        Return where and with which devices the claims are allocated together.

        Without a node the nodes are tried in order and the first that fits is
        taken. Claims that have an allocation already keep it; it restricts the
        nodes.

        Raises: UnknownReference for a node that does not exist.
        """
        if node is None:
            return self._first(claims, self.nodes, budget)
        return self._first(claims, (self.node(node) if isinstance(node, str) else node,), budget)

    def _first(self, claims: Sequence[ResourceClaim], nodes: Sequence[Node], budget: Budget) -> Outcome:
        refusals: list[NodeRefusal] = []
        undecided: list[str] = []
        steps = 0
        for node in nodes:
            found = self.on_node(claims, node, budget=budget)
            if isinstance(found, Allocated):
                return found
            if isinstance(found, Undecided):
                undecided += found.nodes
                steps += found.work.steps
            else:
                refusals += found.refusals
                if found.aborts:
                    return found
        if undecided:
            return Undecided(tuple(undecided), Work(steps))
        return Unsatisfiable(tuple(refusals))

    def on_node(
        self, claims: Sequence[ResourceClaim], node: Node, *, budget: Budget = DEFAULT_BUDGET, explained: bool = True
    ) -> Outcome:
        """Return the outcome for one node; without `explained` a refusal carries no counts."""
        name = node.metadata.name or ""
        for claim in claims:
            if not _reaches(claim, node):
                error = f"claim {claim_name(claim)} is allocated, and not for this node"
                return Unsatisfiable((NodeRefusal(name, "allocated-elsewhere", error),))
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
            case Solved(results, _, work):
                made = iter(results)
                done = tuple(
                    claim if claim.status.allocation is not None else _with_allocation(claim, next(made))
                    for claim in claims
                )
                return Allocated(name, done, work)
            case NoFit():
                why = explain(self.allocator, node, pending) if explained else NOTHING
                return Unsatisfiable((NodeRefusal(name, "no-fit", "", why),))
            case Aborted(text, code, _, on_node):
                return Unsatisfiable((NodeRefusal(name, code, text),), aborts=not on_node)
            case OutOfBudget(work):
                return Undecided((name,), work)

    def after(self, outcome: Outcome) -> Cluster:
        """Return the cluster in which the outcome's claims are allocated; only `Allocated` changes anything."""
        if not isinstance(outcome, Allocated):
            return self
        claims = {**self.claims, **{claim_name(claim): claim for claim in outcome.claims}}
        return replace(self, claims=FrozenMap(claims))

    def with_settings(self, settings: Settings) -> Cluster:
        """Return the same cluster, asked as another scheduler would see it; taint rules stay as they were merged."""
        settings.profile()
        return replace(self, settings=settings)


def _with_allocation(claim: ResourceClaim, allocation: object) -> ResourceClaim:
    status: ResourceClaimStatus = claim.status.model_copy(update={"allocation": allocation})
    return claim.model_copy(update={"status": status})


def _reaches(claim: ResourceClaim, node: Node) -> bool:
    allocation = claim.status.allocation
    if allocation is None or allocation.node_selector is None:
        return True
    try:
        return selects_node(allocation.node_selector, node)
    except NodeSelectorError:
        return False


def _named_nodes(inventory: Inventory) -> tuple[Node, ...]:
    names = sorted(inventory.by_node) or (["any-node"] if inventory.slices else [])
    return tuple(
        Node(metadata=ObjectMeta(name=name, labels=FrozenMap({"kubernetes.io/hostname": name}))) for name in names
    )


def _some_nodes(nodes: Sequence[Node]) -> str:
    names = [node.metadata.name or "" for node in nodes]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"known nodes: {', '.join(names[:5])}{more}" if names else "the cluster has no nodes"
