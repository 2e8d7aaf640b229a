"""
Which flavors a workload gets of a queue, and how well it fits into them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dra_alloc.api import Affinity, Node, NodeAffinity, NodeSelector, NodeSelectorTerm, ObjectMeta, PodSpec
from dra_alloc.pods.amounts import PODS, pod_requests
from dra_alloc.pods.filters.node_affinity import admits, required
from dra_alloc.pods.taints import repelling
from dra_alloc.queues.kueue.asking import ChargedSet
from dra_alloc.queues.kueue.objects import ClusterQueue, Flavor, KueueObjects
from dra_alloc.queues.kueue.quotas import ResourceGroup, amount_text
from dra_alloc.queues.kueue.rooms import topology_asked, wants_topology
from dra_alloc.queues.kueue.tree import QuotaFit, QuotaTree
from dra_alloc.queues.ledger import Key

#: How well, the best first; what may preempt others comes before what can only wait for them.
_ORDER = (QuotaFit.FIT, QuotaFit.OVER_AVAILABLE, QuotaFit.NO_FIT)


@dataclass(slots=True)
class Assignment:
    """
    Flavors by pod set and resource, what they are charged, and the worst fit of any; `level` is how far it borrows.

    `reasons` say why it does not fit, flavor by flavor; `unsuited` that pods of it are kept out of all their flavors.
    """

    fit: QuotaFit = QuotaFit.FIT
    level: int = 0
    flavors: dict[str, dict[str, str]] = field(default_factory=dict)
    usage: Counter[Key] = field(default_factory=Counter)
    reasons: list[str] = field(default_factory=list)
    unsuited: bool = False


@dataclass(frozen=True, slots=True)
class _Tried:
    """A flavor for the resources of one group."""

    name: str
    fit: QuotaFit
    level: int
    reasons: tuple[str, ...] = ()
    suits: bool = True


def assigned(sets: Sequence[ChargedSet], queue: ClusterQueue, tree: QuotaTree, objects: KueueObjects) -> Assignment:
    """
    Return the flavors of a workload as things are, and how well it fits; all flavors of the queue are there.

    Spec: KUEUE-23 to KUEUE-25.
    """
    found = Assignment()
    covered = {resource for group in queue.groups for resource in group.resources}
    for each in sets:
        unknown = [resource for resource in each.amounts if resource not in covered and resource != PODS]
        if unknown:
            found.fit = QuotaFit.NO_FIT
            found.reasons += [f"{resource}: in no resource group of the queue" for resource in unknown]
        for group in queue.groups:
            amounts = {name: each.amounts[name] for name in group.resources if name in each.amounts}
            if amounts:
                _choose(_Choosing(each, group, amounts, queue, tree, objects), found)
    return found


@dataclass(frozen=True, slots=True)
class _Choosing:
    """The choice of a flavor for what one pod set asks for of one resource group."""

    charged: ChargedSet
    group: ResourceGroup
    amounts: Mapping[str, int]
    queue: ClusterQueue
    tree: QuotaTree
    objects: KueueObjects

    def tried(self, usage: Counter[Key]) -> Iterator[_Tried]:
        """Yield flavors in order, up to one that is good enough; those that do not suit the pods have no fit."""
        flavors = [self.objects.flavors[name] for name in self.group.flavors]
        keys = {key for each in flavors for key in each.labels}
        for flavor in flavors:
            name = flavor.name
            unsuitable = self._without_topology(flavor) or _unsuitable(self.charged.asked.pod.spec, flavor, keys)
            if unsuitable:
                yield _Tried(name, QuotaFit.NO_FIT, 0, (f"flavor {name}: {unsuitable}",), suits=False)
                continue
            found = self._in_flavor(name, usage)
            yield found
            if found.fit is QuotaFit.FIT and (not found.level or self.queue.stops_when_borrowing):
                return
            may_preempt = found.fit is QuotaFit.OVER_AVAILABLE and self.queue.preempts
            if may_preempt and self.queue.stops_when_preempting:
                return

    def _without_topology(self, flavor: Flavor) -> str:
        """Return what keeps pods out that ask for a topology, or for none. Spec: KUEUE-43."""
        pod, objects = self.charged.asked.pod, self.objects
        if all(objects.flavors[name].topology for group in self.queue.groups for name in group.flavors):
            implied = not wants_topology(pod)
        else:
            implied = False
            if not wants_topology(pod):
                return "it supports only TopologyAwareScheduling" if flavor.topology else ""
        if not flavor.topology:
            plain = pod_requests(pod).keys() & set(self.group.resources)
            return "it does not support TopologyAwareScheduling" if plain else ""
        levels = objects.topologies[flavor.topology].levels
        asked = topology_asked(pod, levels)
        lacks = not implied and any(each and each not in levels for each in (asked.level, asked.slice_level))
        return "it does not contain the requested level" if lacks else ""

    def _in_flavor(self, name: str, usage: Counter[Key]) -> _Tried:
        fits, levels, reasons = [QuotaFit.FIT], [0], []
        for resource, amount in self.amounts.items():
            key = name, resource
            wanted = amount + usage[key]
            fit = self.tree.fit(self.queue.name, key, wanted)
            fits.append(fit)
            if fit is QuotaFit.FIT:
                levels.append(self.tree.borrows(self.queue.name, key, wanted))
            else:
                reasons.append(f"flavor {name}: {self._lacking(key, wanted, fit)}")
        return _Tried(name, max(fits, key=_ORDER.index), max(levels), tuple(reasons))

    def _lacking(self, key: Key, wanted: int, fit: QuotaFit) -> str:
        queue, tree, resource = self.queue.name, self.tree, key[1]
        nominal = tree.subtree(queue).get(key, 0)

        def told(amount: int) -> str:
            return amount_text(resource, amount, self.objects.formats)

        quota = f"quota {told(nominal)}, {told(tree.ledger.used(queue, key))} used"
        if fit is QuotaFit.NO_FIT:
            return (
                f"{resource}: {told(wanted)} asked, {told(max(0, tree.potential(queue, key)))} at most ever ({quota})"
            )
        left = told(max(0, tree.available(queue, key)))
        return f"{resource}: {told(wanted)} asked, {left} available now ({quota})"


def _choose(choosing: _Choosing, found: Assignment) -> None:
    """Take the best of the flavors that were tried into an assignment."""
    tried = list(choosing.tried(found.usage))
    best = min(tried, key=lambda each: (_ORDER.index(each.fit), each.level), default=None)
    if best is None:
        found.fit = QuotaFit.NO_FIT
        found.reasons.append(f"{', '.join(choosing.amounts)}: the resource group has no flavors")
        return
    found.fit = max(found.fit, best.fit, key=_ORDER.index)
    found.level = max(found.level, best.level)
    found.unsuited |= not any(each.suits for each in tried)
    chosen = found.flavors.setdefault(choosing.charged.asked.name, {})
    for resource, amount in choosing.amounts.items():
        chosen[resource] = best.name
        found.usage[best.name, resource] += amount
    if best.fit is not QuotaFit.FIT:
        found.reasons += [reason for each in tried for reason in each.reasons]


def _unsuitable(spec: PodSpec, flavor: Flavor, keys: Iterable[str]) -> str:
    """Return what keeps pods out of a flavor: taints, or what they want of labels that flavors of the group have."""
    taint = repelling(flavor.taints, (*spec.tolerations, *flavor.tolerations))
    if taint is not None:
        return f"its taint {taint.key} is not tolerated"
    known = frozenset(keys)
    node = Node(metadata=ObjectMeta(name=flavor.name, labels=flavor.labels))
    if not admits(_of_labels(spec, known))(node):
        return "its node labels are not those that the pods want"
    return ""


def _of_labels(spec: PodSpec, keys: frozenset[str]) -> PodSpec:
    """Return a pod spec that wants nothing but some labels of its node."""
    wanted = {key: value for key, value in spec.node_selector.items() if key in keys}
    selector = required(spec)
    affinity = None
    if selector is not None:
        terms = [[one for one in term.match_expressions if one.key in keys] for term in selector.node_selector_terms]
        if all(terms):
            kept = tuple(NodeSelectorTerm(match_expressions=tuple(each)) for each in terms)
            of_nodes = NodeAffinity(
                required_during_scheduling_ignored_during_execution=NodeSelector(node_selector_terms=kept)
            )
            affinity = Affinity(node_affinity=of_nodes)
    return PodSpec(node_selector=wanted, affinity=affinity)
