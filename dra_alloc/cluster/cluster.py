"""
A cluster as it was dumped, and questions to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dra_alloc.api import DeviceClass, Node, Pod, ResourceClaim, ResourceSlice
from dra_alloc.cluster.arguments import (
    heed,
    listed,
    names_in,
    node_names,
    objectives_in,
    objects_in,
    settings_in,
)
from dra_alloc.cluster.attempts.schedule import Schedule, schedule
from dra_alloc.cluster.best_place import BestWanted, best_place
from dra_alloc.cluster.claim_names import asked_claims, by_name
from dra_alloc.cluster.contents import contents_of
from dra_alloc.cluster.defaulting import defaulted
from dra_alloc.cluster.edits.carrying import carried
from dra_alloc.cluster.edits.edit import Edit, edit_of, edited
from dra_alloc.cluster.edits.events import Event
from dra_alloc.cluster.fits import Fits, first_of, first_outcome, fits_of
from dra_alloc.cluster.holding import allocated_elsewhere, completed
from dra_alloc.cluster.known import Known, KnownParts
from dra_alloc.cluster.outcomes import Allocated, NodeRefusal, Outcome, Undecided, Unsatisfiable, claims_of
from dra_alloc.cluster.placing import Placements, place
from dra_alloc.cluster.population import Population
from dra_alloc.cluster.settings import DEFAULT_SETTINGS, Settings
from dra_alloc.errors import Problem, UnknownReference, first_few
from dra_alloc.manifest import Documents
from dra_alloc.manifest.gc_pause import gc_paused
from dra_alloc.manifest.make.records import WireRecord
from dra_alloc.problem.inventory import Inventory
from dra_alloc.solve.best.objectives import Objective
from dra_alloc.solve.ladder import DEFAULT_BUDGET, Budget
from dra_alloc.solve.outcome import Aborted, NoFit, OutOfBudget, Solved

if TYPE_CHECKING:
    from dra_alloc.cluster.edits.editing import Edits


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cluster:
    """
    An immutable snapshot: nodes, slices, classes, and claims with what they hold.

    Questions leave it as it is; :meth:`after` makes the cluster that an answer
    leads to. What is `known` is found out on first use and shared by what is
    derived. Safe to ask from several threads. A copy is the cluster itself.
    """

    known: Known

    @classmethod
    def of(cls, documents: Documents, settings: Settings = DEFAULT_SETTINGS) -> Cluster:
        """
        Return the cluster that loaded objects describe.

        Raises: InputError for a release, gate, channel or semantics that is not known.
        """
        with gc_paused(settle=True):
            held = documents.held
            contents = contents_of(documents, held, settings)
            return cls(Known(contents, KnownParts(holdings=held if held.distinct else None)))

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes, in order."""
        return self.known.contents.nodes

    @property
    def inventory(self) -> Inventory:
        """The slices with what taint rules do to them."""
        return self.known.contents.inventory

    @property
    def classes(self) -> Mapping[str, DeviceClass]:
        """The device classes by name."""
        return self.known.contents.classes

    @property
    def claims(self) -> Mapping[str, ResourceClaim]:
        """The claims by ``namespace/name``."""
        return self.known.contents.claims

    @property
    def settings(self) -> Settings:
        """Which scheduler is asked."""
        return self.known.contents.settings

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What was odd, and no error, when it was loaded."""
        return self.known.contents.warnings

    @property
    def implied(self) -> bool:
        """Whether there are no Node objects: nodes are then those that slices name."""
        return self.known.contents.implied

    @property
    def population(self) -> Population:
        """Pods that have a node, namespaces, and templates of claims."""
        return self.known.contents.population

    @property
    def state_hash(self) -> str:
        """Return a hash of all objects; equal for clusters with equal content, in whatever order it came together."""
        return self.known.digests.text

    @property
    def intended(self) -> Cluster:
        """The same cluster, asked for what the API promises; what is known of slices is shared."""
        return Cluster(self.known.intended)

    def __copy__(self) -> Cluster:
        return self

    def __deepcopy__(self, memo: object) -> Cluster:
        return self

    def __repr__(self) -> str:
        counts = f"{len(self.nodes)} nodes, {len(self.inventory.slices)} slices, {len(self.claims)} claims"
        return f"Cluster({counts}, {self.settings.release})"

    def node(self, name: str) -> Node:
        """
        Return the node of that name.

        Raises: UnknownReference.
        """
        place = self.known.roster.places.get(name)
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
        if ranked := objectives_in(objectives, Objective):
            return self._best(claims, node, budget, ranked)
        if node is None:
            return first_outcome(self, claims, budget)
        return first_of(self, claims, (self.node(node) if isinstance(node, str) else node,), budget)

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
        best = best_place(intended, BestWanted(lambda _: claims, objectives, budget), nodes)
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
        outcome = self.known.ask(node, pending, budget)
        name = node.metadata.name or ""
        match outcome:
            case Solved(work=work):
                return Allocated(name, lambda: completed(tuple(claims), outcome.results), work)
            case NoFit():
                refusal = NodeRefusal(name, "no-fit")
                if not explained:
                    return Unsatisfiable((refusal,))
                # What the devices fell to is counted when somebody wants to know.
                return Unsatisfiable(lambda: (self.known.counted(refusal, pending, node),))
            case Aborted(text, code, _, on_node):
                return Unsatisfiable((NodeRefusal(name, code, text),), aborts=not on_node)
            case OutOfBudget(work):
                return Undecided((name,), work)

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
        return fits_of(self, tuple(asked_claims(claims)), named, budget)

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

    def schedule(self, pods: Iterable[Any], *, node_choice: str = "score", budget: Budget = DEFAULT_BUDGET) -> Schedule:
        """
        Return what kube-scheduler's default profile does with the pods, each after what earlier ones took.

        Pods are ours, dictionaries or models of the Kubernetes client; their
        claims are the cluster's, or made from its templates. `node_choice` is
        "score", the node it scores highest, or "first", the first that fits.

        Raises: InputError for what is no pod.
        """
        heed(budget)
        return schedule(self, pods, node_choice, budget)

    def after(self, outcome: Outcome) -> Cluster:
        """
        Return the cluster in which the outcome's claims are allocated; only `Allocated` changes anything.

        Raises: InputError for what is no outcome.
        """
        claims = claims_of(outcome)
        return self.with_claims(claims) if claims else self

    def edit(self) -> Edits:
        """Return edits to add steps to; ``cluster.edit().drain_nodes("a").cluster`` is the cluster after them."""
        from dra_alloc.cluster.edits.editing import Edits  # noqa: PLC0415 - steps of scenarios; most never ask for one

        return Edits(self)

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
        return self._edited(Edit(claims=by_name(given, self.claims)))

    def with_pods(self, pods: Iterable[Pod]) -> Cluster:
        """Return the cluster with more pods; those without a node, and finished ones, do not count."""
        given = objects_in(pods, "pods", Pod, "Pod")
        return Cluster(self.known.populated(self.population.with_pods(given)))

    def without_claims(self, names: Iterable[str]) -> Cluster:
        """Return the cluster without claims of these names, each `namespace/name`."""
        return self._edited(Edit(claims=dict.fromkeys(names_in(names))))

    def with_slices(self, slices: Iterable[ResourceSlice]) -> Cluster:
        """Return the cluster with these slices, new or in place of those of their names."""
        given = objects_in(slices, "slices", (ResourceSlice, WireRecord), "ResourceSlice")
        return self._edited(Edit(slices={each.metadata.name or "": each for each in given}))

    def without_slices(self, names: Iterable[str]) -> Cluster:
        """Return the cluster without slices of these names."""
        return self._edited(Edit(slices=dict.fromkeys(names_in(names))))

    def apply(self, events: Iterable[Event | Mapping[str, Any]]) -> Cluster:
        """
        Return the cluster after events of a watch: slices, claims, classes, nodes, taint rules.

        Events are `Event` objects or a watch stream's dictionaries, ``{"type": "ADDED", "object": {...}}``.

        Raises: InputError for an event or object that is not known.
        """
        return self._edited(edit_of(events))

    def with_settings(self, settings: Settings) -> Cluster:
        """Return the same cluster, asked as another scheduler would see it; taint rules stay as they were merged."""
        return Cluster(self.known.asked_as(settings_in(settings)))

    def _edited(self, edit: Edit) -> Cluster:
        return Cluster(carried(self.known, *edited(self.known.contents, edit)))


def _some_nodes(nodes: Sequence[Node]) -> str:
    names = [node.metadata.name or "" for node in nodes]
    return f"known nodes: {first_few(names)}" if names else "the cluster has no nodes"
