"""
The check: everything the manifests ask for, placed in order on one cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.cluster.best_place import BestWanted, best_place
from dra_alloc.cluster.choice import best, prefers, worth
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Allocated, NodeRefusal, Outcome, Undecided
from dra_alloc.cluster.queue import priority_of
from dra_alloc.cluster.settings import DEFAULT_SETTINGS, Settings
from dra_alloc.cluster.standings import FITS, Asked
from dra_alloc.errors import first_few
from dra_alloc.explain.reasons import WORK, Reasons
from dra_alloc.manifest import Documents
from dra_alloc.pods.attempts import Attempt, Ruling
from dra_alloc.pods.extended_resources import asks_for_extended, extended_claim
from dra_alloc.pods.filters.table import objections
from dra_alloc.pods.node_filter import pod_objection
from dra_alloc.pods.objections import Objection
from dra_alloc.pods.tenancy import Tenancy
from dra_alloc.pods.views import PodView
from dra_alloc.pods.workloads.shapes import Taught
from dra_alloc.problem.requests import claim_name
from dra_alloc.profiles import Semantics
from dra_alloc.scenario.advice import advised
from dra_alloc.scenario.explaining import Choice, choice_on, reasons_on
from dra_alloc.scenario.objective_notes import idle_notes
from dra_alloc.scenario.prepare.pipeline import Prepared, prepare
from dra_alloc.scenario.prepare.subjects import Subject
from dra_alloc.solve.allocator import DEFAULT_BUDGET, Budget
from dra_alloc.solve.best.objectives import Objective, knowing_nodes

__all__ = ["EXPLAINED_NODES", "Check", "CheckOptions", "Placement", "check"]

#: Refused nodes that are looked into for counts and reasons.
EXPLAINED_NODES: Final = 200
_REASONED_SHAPES: Final = 3
#: What reasons may cost, in steps of a search: those of one subject, and those of a whole check.
_SUBJECT_WORK: Final = 120_000
_CHECK_WORK: Final = 600_000


@dataclass(slots=True)
class _Allowance:
    """Work that is left for reasons; half of what is left goes to each, so that the last one has some, too."""

    left: int

    def reasons(self, cluster: Cluster, claims: Sequence[ResourceClaim], node: Node, most: int) -> Reasons:
        """Return the reasons of a refusal, at the expense of what is left."""
        found = reasons_on(cluster, claims, node, min(most, self.left // 2, WORK))
        self.left -= found.work
        return found


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """
    How to check: on all nodes or one, and with how much work per question.

    `choices` asks why an allocation is the one it is, too. With `objectives`
    each subject gets the best answer instead of the first, with intended
    semantics whatever the settings say. `node_choice` is "score", the node
    that kube-scheduler scores highest, or "first", the first that fits.
    """

    settings: Settings = DEFAULT_SETTINGS
    node: str | None = None
    namespace: str = "default"
    budget: Budget = DEFAULT_BUDGET
    choices: bool = False
    objectives: tuple[Objective, ...] = ()
    taught: tuple[Taught, ...] = ()
    node_choice: str = "score"


@dataclass(frozen=True, slots=True)
class Placement:
    """
    What became of one subject.

    `nodes` fit, in cluster order; `allocated` is the answer on one of them, and
    `equal` are those that kube-scheduler scores as high. Without one `refusals`
    say why not, node by node, as far as nodes were looked into (`nodes_asked`
    counts them all); `undecided` nodes ran out of budget. With `aborts`
    kube-scheduler gives the pod up with an error. `same_as` names an earlier
    copy of the same workload that was refused on the same cluster, and so for
    the same reasons. `solver_could` says that CP-SAT could decide an undecided
    node.
    """

    kind: str
    name: str
    nodes: tuple[str, ...]
    allocated: Allocated | None
    refusals: tuple[NodeRefusal, ...]
    undecided: tuple[str, ...] = ()
    nodes_asked: int = 0
    aborts: bool = False
    choice: Choice | None = None
    same_as: str | None = None
    solver_could: bool = False
    equal: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """Return allocated, undecided or unsatisfiable."""
        if self.allocated is not None:
            return "allocated"
        return "undecided" if self.undecided and not self.aborts else "unsatisfiable"

    @property
    def unexplained(self) -> int:
        """Return how many nodes refused without having been looked into; an error that ends it all speaks for all."""
        if self.allocated is not None or self.aborts:
            return 0
        return self.nodes_asked - len(self.refusals) - len(self.undecided)


@dataclass(frozen=True, slots=True)
class Check:
    """
    All placements in order, notes on how the input was read, and the cluster after them.
    """

    placements: tuple[Placement, ...]
    settings: Settings
    channel: str
    notes: tuple[str, ...] = ()
    cluster: Cluster | None = field(default=None, repr=False)


def check(manifests: Documents, dump: Documents, options: CheckOptions = CheckOptions()) -> Check:
    """
    Return what the manifests' pods and claims get on the dumped cluster.

    The manifests are applied to the dump first, see :func:`prepare`. Pods are placed one after the
    other, higher priority first, each sees what earlier ones took; then claims
    and templates that no pod uses.

    Raises: ManifestError with every reference and selector that is wrong;
    UnknownReference for a node that does not exist; InputError for settings;
    EngineUnavailable for objectives without OR-tools.
    """
    options, notes = _as_promised(options)
    prepared = prepare(
        Prepared(manifests, dump, options.settings, options.namespace, options.node, options.taught)
    ).required()
    cluster = before = prepared.cluster
    nodes = cluster.nodes if options.node is None else (cluster.node(options.node),)
    only = {each.metadata.name: (each,) for each in nodes}
    placements: list[Placement] = []
    allowance = _Allowance(_CHECK_WORK)
    template: str | None = None
    tenancy = Tenancy(cluster.nodes, cluster.population.namespaces, cluster.population.pods)
    for subject in sorted(prepared.subjects, key=_turn):
        last = placements[-1] if placements else None
        if last is not None and last.allocated is None and template is not None and template == subject.template:
            placements.append(replace(last, name=subject.name, same_as=last.same_as or last.name))
            continue
        template = subject.template
        # A DaemonSet's pod is for one node, and the others have nothing to say of it.
        there = nodes if subject.node is None else only.get(subject.node, nodes)
        placement = _place(_Asking(cluster, subject, options.budget, allowance, tenancy), there, options)
        placements.append(placement)
        if placement.allocated is not None:
            cluster = cluster.after(placement.allocated)
            _settle(tenancy, subject, placement.allocated.node)
            used = (placement.allocated.node,)
            options = replace(options, objectives=tuple(knowing_nodes(each, used) for each in options.objectives))
    channel = str(options.settings.profile().channel)
    placed = [
        claim_name(each) for placement in placements if placement.allocated for each in placement.allocated.claims
    ]
    notes = (
        *notes,
        *prepared.notes,
        *_silent_nodes(prepared.subjects, nodes),
        *idle_notes(options.objectives, before, placed),
    )
    return Check(tuple(placements), options.settings, channel, notes, cluster)


def _turn(subject: Subject) -> tuple[bool, int]:
    """Return where the subject stands in the scheduler's queue; claims of their own come after pods."""
    return subject.pod is None, 0 if subject.pod is None else -priority_of(subject.pod)


def _settle(tenancy: Tenancy, subject: Subject, node: str) -> None:
    """Let the pod run on its node."""
    if subject.pod is not None and node in tenancy.places:
        tenancy.add(tenancy.view(subject.pod), tenancy.places[node])


def _silent_nodes(subjects: Sequence[Subject], nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return a note if pods ask for what nodes do not say they have."""
    silent = [node.metadata.name or "" for node in nodes if not node.status.allocatable]
    if not silent or not any(PodView.of(each.pod).requests for each in subjects if each.pod is not None):
        return ()
    said = f"{first_few(silent)}: no status.allocatable, so that cpu, memory and the like are not looked at there"
    return (said,)


def _as_promised(options: CheckOptions) -> tuple[CheckOptions, tuple[str, ...]]:
    """Return the options with intended semantics if there are objectives, and a note if that is a change."""
    settings = options.settings
    if not options.objectives or settings.semantics == Semantics.INTENDED:
        return options, ()
    note = "objectives are asked for what the API promises: kube-scheduler takes the first answer, with its defects"
    return replace(options, settings=replace(settings, semantics=Semantics.INTENDED.value)), (note,)


def _place(asking: _Asking, nodes: Sequence[Node], options: CheckOptions) -> Placement:
    cluster, subject = asking.cluster, asking.subject
    fits: list[str] = []
    first: Allocated | None = None
    refused: list[tuple[Node, NodeRefusal]] = []
    undecided: dict[str, bool] = {}
    for node in nodes:
        name = node.metadata.name or ""
        objection = asking.objection(node)
        if objection is not None:
            refused.append((node, NodeRefusal(name, *objection)))
            continue
        outcome = asking.outcome(node, known_to_fit=first is not None)
        if outcome is None or isinstance(outcome, Allocated):
            fits.append(name)
            first = first or outcome
        elif isinstance(outcome, Undecided):
            undecided[name] = all(stage.engine not in ("table", "cp-sat") for stage in outcome.work.stages)
        elif outcome.aborts:
            advice = tuple(advised(cluster, asking.claims(node), each) for each in outcome.refusals)
            return Placement(subject.kind, subject.name, (), None, advice, nodes_asked=len(nodes), aborts=True)
        else:
            refused += [(node, refusal) for refusal in outcome.refusals]
    refusals = () if first is not None else _explained(asking, refused)
    choice, equal = None, tuple[str, ...]()
    if first is not None and options.objectives:
        best = BestWanted(asking.claims, options.objectives, options.budget, same_everywhere=not asking.depends_on_node)
        first = best_place(cluster, best, [cluster.node(name) for name in (*fits, *undecided)]) or first
    elif first is not None and options.node_choice == "score":
        first, equal = _scored(asking, first, fits)
    if first is not None and options.choices and not options.objectives:
        choice = choice_on(cluster, asking.claims(cluster.node(first.node)), first)
    placement = Placement(
        subject.kind, subject.name, tuple(fits), first, refusals, tuple(undecided), len(nodes), choice=choice
    )
    return replace(placement, solver_could=any(undecided.values()), equal=equal)


def _scored(asking: _Asking, first: Allocated, fits: Sequence[str]) -> tuple[Allocated, tuple[str, ...]]:
    """Return the answer on the node that kube-scheduler scores highest, and the nodes that are as good."""
    attempt, cluster = asking.attempt, asking.cluster
    places = cluster.known.roster.places
    if attempt is None or len(fits) < 2 or any(name not in places for name in fits):
        return first, ()
    claims = asking.claims(cluster.node(first.node))
    pending = [claim for claim in claims if claim.status.allocation is None]

    def worth_of(place: int) -> int:
        return worth(claims, cluster.known.ask(cluster.nodes[place], pending, asking.budget))

    scored = pending and prefers(claims, attempt.ruling.release)
    chosen = best(attempt, [places[name] for name in fits], worth_of if scored else None)
    equal = tuple([cluster.known.roster.names[place] for place in chosen.equal])
    if chosen.place == places[first.node]:
        return first, equal
    outcome = asking.outcome(cluster.nodes[chosen.place], known_to_fit=False)
    return (outcome, equal) if isinstance(outcome, Allocated) else (first, equal)


@dataclass(frozen=True, eq=False)
class _Asking:
    """A subject in front of a cluster: its claims as they are now, which can depend on the node."""

    cluster: Cluster
    subject: Subject
    budget: Budget
    allowance: _Allowance
    tenancy: Tenancy

    @cached_property
    def attempt(self) -> Attempt | None:
        """The attempt to find a node for the pod, if there is one and it has none yet."""
        pod = self.subject.pod
        if pod is None or pod.spec.node_name:
            return None
        settings, served = self.cluster.settings, self.cluster.known.class_by_resource
        ruling = Ruling(settings.profile().release, settings.effective_gates(), served)
        return Attempt(self.tenancy.view(pod), self.tenancy, ruling)

    @cached_property
    def _objections(self) -> Mapping[int, Objection]:
        return {} if self.attempt is None else objections(self.attempt)

    def outcome(self, node: Node, *, known_to_fit: bool) -> Outcome | None:
        """
        Return the outcome on the node, without counts; with `known_to_fit` None stands for an allocation.

        Claims that do not depend on the node are one question to all nodes.
        """
        asked = self._question
        place = self.cluster.known.roster.places.get(node.metadata.name or "")
        if asked is not None and place is not None:
            standings = self.cluster.known.standings
            if standings.code(asked, place) == FITS and known_to_fit:
                return None
            refused = standings.refused(asked, place)
            if refused is not None:
                return refused
        return self.cluster.on_node(self.claims(node), node, budget=self.budget, explained=False)

    @cached_property
    def _question(self) -> Asked | None:
        """The claims as one question to all nodes, if they are that."""
        claims = [] if self.depends_on_node else self._named()
        if not claims or any(claim.status.allocation is not None for claim in claims):
            return None
        return Asked.of(claims, self.cluster.known.survey, self.budget)

    @property
    def depends_on_node(self) -> bool:
        """Return whether the claims are others on other nodes: what the node offers itself is not claimed."""
        pod = self.subject.pod
        return pod is not None and bool(self.cluster.known.class_by_resource) and asks_for_extended(pod)

    def _named(self) -> list[ResourceClaim]:
        return [self.cluster.claims[each] if isinstance(each, str) else each for each in self.subject.claims]

    def objection(self, node: Node) -> tuple[str, str] | None:
        """Return why the pod is not made, or cannot run on the node whatever its claims are, as code and text."""
        pod, served = self.subject.pod, self.cluster.known.class_by_resource
        barred = self.subject.barred
        if barred is not None:
            return barred.code, barred.text
        if pod is None:
            return None
        if self.attempt is None:
            return pod_objection(pod, node, served)
        found = self._objections.get(self.tenancy.places.get(node.metadata.name or "", -1))
        if found is not None:
            return found.code, f"{found.text}: {found.detail}" if found.detail else found.text
        return None

    def claims(self, node: Node) -> list[ResourceClaim]:
        """Return the claims to place on the node."""
        claims = self._named()
        if self.subject.pod is not None:
            extended = extended_claim(self.subject.pod, node, self.cluster.known.class_by_resource)
            claims += [] if extended is None else [extended]
        return claims


def _explained(asking: _Asking, refused: Sequence[tuple[Node, NodeRefusal]]) -> tuple[NodeRefusal, ...]:
    """
    Return the refusals with counts, for as many nodes as are worth looking into.

    Nodes whose counts look alike share the reasons of the first of them.
    """
    refusals: list[NodeRefusal] = []
    shapes: dict[object, Reasons] = {}
    left = _SUBJECT_WORK
    for number, (node, refusal) in enumerate(refused):
        if refusal.code != "no-fit":
            refusals.append(refusal)
        elif number < EXPLAINED_NODES:
            cluster, claims = asking.cluster, asking.claims(node)
            counted = cluster.known.counted(refusal, claims, node)
            shape = counted.explanation.shape
            if shape not in shapes and len(shapes) < _REASONED_SHAPES:
                shapes[shape] = asking.allowance.reasons(cluster, claims, node, left // 2)
                left -= shapes[shape].work
            refusals.append(replace(counted, reasons=shapes.get(shape)))
    return tuple(refusals)
