"""
The pods that objects make, each once: those that are there, and those that their controllers have still to make.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pydantic import ValidationError

from dra_alloc.api import (
    Affinity,
    FrozenMap,
    Node,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodSpec,
    ResourceClaim,
)
from dra_alloc.errors import Problem, Where, in_brief
from dra_alloc.manifest import Documents, Workload
from dra_alloc.manifest.kinds import SHOWN_TEMPLATES
from dra_alloc.pods.admission import PodClasses, problems_of_made
from dra_alloc.pods.limit_ranges import LimitRanges
from dra_alloc.pods.workloads.names import unique
from dra_alloc.pods.workloads.owners import Family, PodsThere, is_in_the_way, name_of, pods_there
from dra_alloc.pods.workloads.plans import Misfit, PodPlan, PodSet, PodSlot, Rollout
from dra_alloc.pods.workloads.reading import spec_read, using
from dra_alloc.pods.workloads.shapes import Taught, assumed, by_rule, unserved_kind, unserved_kinds
from dra_alloc.pods.workloads.states import PodState, is_live, state_of
from dra_alloc.pods.workloads.table import NO_MAKERS, maker_of

#: How the note on pods begins that are there and not asked for.
NOT_ANEW: Final = "pods that are not scheduled anew"


@dataclass(frozen=True, slots=True)
class ExpandedPod:
    """
    A pod that the input has or makes.

    `owner` is the object of the input that it stands in: itself, or the
    topmost workload that makes it; `path` is where its spec stands there.
    New pods of one `template` differ in name, index and labels only; `node` is
    the one node that a DaemonSet's pod is for. `in_order` pods start when the
    one before is ready. `wire` is the spec as it was written, of a new pod.
    """

    pod: Pod
    owner: Pod | Workload
    state: PodState
    path: str = "spec"
    template: str | None = None
    node: str | None = None
    in_order: bool = False
    wire: Mapping[str, Any] = field(default_factory=FrozenMap, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The pod's name with its namespace."""
        return self.pod.metadata.full_name

    @property
    def is_asked(self) -> bool:
        """Whether it is to run, and a node is asked for it or a gate holds it."""
        return self.state in (PodState.NEW, PodState.WAITING, PodState.GATED)


@dataclass(frozen=True, slots=True)
class MadePods:
    """
    Pods in the order of the input, claims that belong to no single pod, what is wrong, and what to know.

    `rollouts` are those of workloads, by the object of the input, whose older pods go first.
    """

    pods: tuple[ExpandedPod, ...] = ()
    claims: tuple[ResourceClaim, ...] = ()
    problems: tuple[tuple[Any, Problem], ...] = ()
    notes: tuple[str, ...] = ()
    rollouts: tuple[tuple[Workload, Rollout], ...] = ()


def expanded(manifests: Documents, dump: Documents, nodes: Sequence[Node], taught: Sequence[Taught] = ()) -> MadePods:
    """
    Return the pods of the manifests' objects, each once.

    The dump says what is there already: pods that an object of the manifests
    owns are its own, and only the rest is new. All objects have names and
    namespaces. Problems come with the object that they are of.

    Spec: EXPAND-10 to EXPAND-62.
    """
    templates = {each.metadata.full_name: each for each in (*dump.templates, *manifests.templates)}
    family = Family.of(manifests, dump, nodes, templates)
    making = _Making(family, taught)
    there = pods_there(dump)
    for item in _in_order(manifests):
        root = family.root(item)
        if root is not None and (isinstance(item, Workload) or making.is_asked(root, manifests)):
            making.expand(root)
        elif isinstance(item, Pod):
            making.pods.append(ExpandedPod(item, item, _state_of_written(item, there)))
    making.notes += _standing(making.pods)
    making.admit(PodClasses.of(dump, manifests), LimitRanges.of(dump, manifests), there)
    problems = (*making.problems, *_of_unknown(manifests))
    notes = tuple(dict.fromkeys(making.notes))
    return MadePods(tuple(making.pods), tuple(making.claims), problems, notes, tuple(making.rollouts))


def _state_of_written(pod: Pod, there: PodsThere) -> PodState:
    """Return the state of a pod of the manifests: one that names its node and was never made is new, and not bound."""
    made = pod.metadata.uid or pod.status.phase or name_of(pod) in there
    return PodState.NEW if pod.spec.node_name and not made else state_of(pod)


def _of_unknown(manifests: Documents) -> Iterator[tuple[Any, Problem]]:
    """Yield what is wrong with kinds of which only the number is known: nothing in them looked like a pod's."""
    for problem in unserved_kinds(manifests.unknown).values():
        yield None, problem


def _in_order(manifests: Documents) -> Iterator[Pod | Workload]:
    """Yield pods and workloads in the order of the input; those of no known place come last."""
    files: dict[str, int] = {}

    def place(item: Pod | Workload) -> tuple[int, tuple[int, ...]]:
        found = manifests.places.get(id(item))
        if found is None:
            return len(manifests.places), ()
        steps = tuple(step for step in found.steps if isinstance(step, int))
        return files.setdefault(found.file, len(files)), steps

    for each in manifests.places.values():
        files.setdefault(each.file, len(files))
    items: list[Pod | Workload] = [*manifests.pods, *manifests.workloads]
    yield from sorted(items, key=place)


def _standing(pods: Sequence[ExpandedPod]) -> Iterator[str]:
    """Yield notes on pods that are not asked for: those that wait for a gate by name, the others by number."""
    gated = [each for each in pods if each.state is PodState.GATED]
    for each in gated[:_SHOWN]:
        gates = ", ".join(in_brief(gate.name) for gate in each.pod.spec.scheduling_gates)
        yield f"Pod {each.name} is not scheduled before its gate is gone: {gates}"
    if len(gated) > _SHOWN:
        yield f"{len(gated) - _SHOWN} more pods are not scheduled before their gates are gone"
    states = (PodState.BOUND, PodState.LEAVING, PodState.TERMINATING, PodState.FINISHED)
    counts = [(count, state) for state in states if (count := sum(each.state is state for each in pods))]
    if counts:
        yield f"{NOT_ANEW}: {', '.join(f'{count} {state}' for count, state in counts)}"


#: Pods with gates that are told by name.
_SHOWN: Final = 10


@dataclass(slots=True)
class _Making:
    """One expansion under way."""

    family: Family
    taught: Sequence[Taught]
    pods: list[ExpandedPod] = field(default_factory=list)
    claims: list[ResourceClaim] = field(default_factory=list)
    problems: list[tuple[Any, Problem]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    done: set[int] = field(default_factory=set)
    taken: dict[str, set[str]] = field(default_factory=dict)
    rollouts: list[tuple[Workload, Rollout]] = field(default_factory=list)
    roots: set[int] | None = None

    def __post_init__(self) -> None:
        for namespace, name in self.family.pods_by_name:
            self.taken.setdefault(namespace, set()).add(name)

    def is_asked(self, root: Workload, manifests: Documents) -> bool:
        """Say whether a workload is above one of the manifests'."""
        if self.roots is None:
            self.roots = {id(self.family.root(each)) for each in manifests.workloads}
        return id(root) in self.roots

    def admit(self, classes: PodClasses, ranges: LimitRanges, there: PodsThere) -> None:
        """Store new pods as the API server does, for their classes and LimitRanges; what is wrong is told once."""
        known: dict[int, tuple[PodSpec, PodSpec]] = {}
        for number, each in enumerate(self.pods):
            before_it = there.get(name_of(each.pod))
            if before_it is not None and each.state is PodState.NEW and is_in_the_way(before_it, each.pod):
                # Spec: EXPAND-73
                text = f'pods "{each.pod.metadata.name}" already exists, and is not its own'
                self.problems.append((each.owner, Problem(text, Where(path="metadata.name"))))
            if not each.is_asked or before_it is not None:
                continue
            # Pods of one template have one spec, and are stored alike.
            before, spec = known.get(id(each.pod.spec)) or (each.pod.spec, self._stored(each, classes, ranges))
            known[id(before)] = before, spec
            if spec is not before:
                self.pods[number] = replace(each, pod=each.pod.replaced(spec=spec))

    def _stored(self, made: ExpandedPod, classes: PodClasses, ranges: LimitRanges) -> PodSpec:
        """Return a pod's spec as it is stored; what is wrong with it is told."""
        pod = ranges.admitted(made.pod)
        wrong = [*classes.problems(made.pod, made.path), *ranges.problems(made.pod, pod, made.path)]
        wrong += problems_of_made(pod, made.path)
        self.notes += classes.notes(made.pod)
        found = [(made.owner, problem) for problem in wrong]
        self.problems += [problem for problem in found if problem not in self.problems]
        return classes.admitted(pod).spec

    def expand(self, workload: Workload) -> None:
        """Take the pods of a workload that is nobody's, once."""
        if id(workload) in self.done:
            return
        self.done.add(id(workload))
        source = self.family.source(workload)
        plan = self._plan(workload, source)
        before = len(self.pods)
        kept: dict[int, int] = {}
        try:
            for number, each in enumerate(plan.sets if plan is not None else ()):
                self._fill(each, (workload, source, number), kept)
        except Misfit as misfit:
            self.pods[before:] = []
            kept, plan = {}, None
            self._complain(source, misfit)
        if plan is not None:
            self.claims += plan.claims
            self.notes += plan.notes
            self.rollouts += [(source, plan.rollout)] if plan.rollout is not None else []
        self.pods[before:before] = self._there(workload, kept, is_planned=plan is not None)

    def _there(self, workload: Workload, kept: Mapping[int, int], *, is_planned: bool) -> Iterator[ExpandedPod]:
        """Yield the pods that are there; those that the plan does not keep are on their way out."""
        for pod in self.family.pods(workload):
            state = state_of(pod)
            if is_planned and is_live(pod) and id(pod) not in kept:
                state = PodState.LEAVING
            yield ExpandedPod(pod, pod, state)

    def _plan(self, workload: Workload, source: Workload) -> PodPlan | None:
        """Return what a workload makes, None if that cannot be said, which is a problem."""
        rule = next((each for each in self.taught if each.fits(workload)), None)
        maker = maker_of(workload)
        try:
            if rule is not None:
                return by_rule(rule, workload, self.family)
            if (workload.group, workload.kind) in NO_MAKERS:
                return PodPlan()
            unserved = unserved_kind(workload.api_version, workload.kind)
            if unserved is not None:
                raise Misfit("kind", unserved.message, unserved.hint)
            if (workload.group, workload.kind) in SHOWN_TEMPLATES and not workload.templates:
                raise Misfit("spec", f"there is no pod template in a {workload.kind} of {workload.api_version}")
            if maker is not None and maker.plan is not None:
                if elsewhere := maker.made_elsewhere(workload):
                    self.notes.append(elsewhere)
                    return None
                return maker.plan(workload, self.family)
            if maker is not None:
                raise Misfit("", f"what pods it makes cannot be said: {maker.why_not}", _teach(workload))
            return assumed(workload, self.family)
        except Misfit as misfit:
            self._complain(source, misfit)
            return None

    def _complain(self, source: Workload, misfit: Misfit) -> None:
        self.problems.append((source, Problem(misfit.message, Where(path=misfit.path), misfit.hint)))

    def _fill(self, found: PodSet, origin: tuple[Workload, Workload, int], kept: dict[int, int]) -> None:
        """Keep of the pods that are there as many as a set has, and add the rest as new ones. Spec: EXPAND-33."""
        workload, source, number = origin
        live = [pod for pod in found.there if is_live(pod) and id(pod) not in kept]
        mine, slots = _kept(found, live)
        kept |= dict.fromkeys(map(id, mine), number)
        missing = found.count - len(mine)
        if found.awaits_end:
            missing -= sum(1 for pod in found.there if state_of(pod) is PodState.TERMINATING)
        if missing <= 0:
            return
        typed = _typed(found, workload)
        template = f"{workload.metadata.full_name}#{number}" if number else workload.metadata.full_name
        taken = self.taken.setdefault(workload.namespace, set())
        drawing = unique(found.base, taken)
        for slot in slots[:missing] if slots is not None else (None,) * missing:
            name = self._name(slot, drawing, taken)
            pod, wire = _pod(typed, found, slot, name)
            node = slot.node if slot is not None and slot.node else None
            self.pods.append(
                ExpandedPod(
                    pod,
                    source,
                    PodState.NEW,
                    found.path,
                    None if node or (slot is not None and slot.claims) else template,
                    node,
                    found.in_order,
                    wire,
                )
            )

    @staticmethod
    def _name(slot: PodSlot | None, drawing: Iterator[str], taken: set[str]) -> str:
        if slot is not None and slot.name:
            name = slot.name
        elif slot is not None and slot.base:
            name = next(unique(slot.base, taken))
        else:
            name = next(drawing)
        taken.add(name)
        return name


def _teach(workload: Workload) -> str:
    return f"say what pods it makes: --pod-template {workload.kind}=PATH:COUNT, or {workload.kind}= if none"


def _kept(found: PodSet, live: list[Pod]) -> tuple[list[Pod], list[PodSlot] | None]:
    """Return the pods that a set keeps of those that are there, running ones first, and the slots that are free."""
    ranked = sorted(live, key=lambda pod: not pod.spec.node_name)
    if found.slots is None or found.key_of is None:
        return ranked[: found.count], None
    free = {slot.key: slot for slot in found.slots}
    mine: list[Pod] = []
    for pod in ranked:
        if len(mine) < found.count and free.pop(found.key_of(pod), None) is not None:
            mine.append(pod)
    return mine, list(free.values())


def _typed(found: PodSet, workload: Workload) -> Pod:
    """Return the pod of a template, with what all pods of a set have in common. Raises: Misfit."""
    metadata = found.template["metadata"]
    owner = OwnerReference.made(
        api_version=found.controller.api_version,
        kind=found.controller.kind,
        name=found.controller.name,
        uid=found.controller.uid,
        controller=True,
        block_owner_deletion=True,
    )
    try:
        spec = spec_read(workload, found.path, found.template["spec"])
        meta = ObjectMeta.from_wire({key: metadata[key] for key in _COPIED if metadata.get(key)})
    except (ValidationError, ValueError) as error:
        raise Misfit(found.path, f"the pod template does not fit: {_first(error)}") from None
    meta = meta.replaced(namespace=workload.metadata.namespace, owner_references=(owner,))
    return Pod.made(metadata=meta, spec=spec)


#: What a pod takes over from the metadata of its template.
_COPIED: Final = ("labels", "annotations", "finalizers")


def _first(error: Exception) -> str:
    if isinstance(error, ValidationError):
        detail = error.errors(include_url=False, include_context=False, include_input=False)[0]
        path = ".".join(str(step) for step in detail["loc"])
        return f'unknown field "{path}"' if detail["type"] == "extra_forbidden" else f"{path}: {detail['msg']}"
    return str(error)


def _pod(typed: Pod, found: PodSet, slot: PodSlot | None, name: str) -> tuple[Pod, Mapping[str, Any]]:
    """Return one pod of a set, and its spec in wire form."""
    meta, spec, wire = typed.metadata, typed.spec, found.template["spec"]
    base = slot.base if slot is not None and slot.base else found.base
    changed: dict[str, Any] = {"name": name}
    if slot is None or not slot.name:
        changed["generate_name"] = base
    if slot is not None and slot.labels:
        changed["labels"] = FrozenMap({**meta.labels, **slot.labels})
    if slot is not None and slot.annotations:
        changed["annotations"] = FrozenMap({**meta.annotations, **slot.annotations})
    if slot is not None and slot.claims:
        wire = using(found.template, slot.claims)["spec"]
        spec = PodSpec.from_wire(wire)
    if slot is not None and slot.node:
        spec, wire = _pinned(spec, wire, slot.node)
    return typed.replaced(metadata=meta.replaced(**changed), spec=spec), wire


def _pinned(spec: PodSpec, wire: Mapping[str, Any], node: str) -> tuple[PodSpec, Mapping[str, Any]]:
    """Return a pod spec that runs on one node only, in place of what it requires of nodes."""
    field_ = NodeSelectorRequirement.made(key="metadata.name", operator="In", values=(node,))
    selector = NodeSelector.made(node_selector_terms=(NodeSelectorTerm.made(match_fields=(field_,)),))
    affinity = spec.affinity or Affinity.made()
    of_nodes = (affinity.node_affinity or NodeAffinity.made()).replaced(
        required_during_scheduling_ignored_during_execution=selector
    )
    written = wire.get("affinity") or {}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": selector.to_wire()}
    changed = {**written, "nodeAffinity": {**(written.get("nodeAffinity") or {}), **required}}
    return spec.replaced(affinity=affinity.replaced(node_affinity=of_nodes)), {**wire, "affinity": changed}
