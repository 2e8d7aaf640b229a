"""
Which pods run on which node, and what that leaves, while pods are scheduled one after the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, cast

from dra_alloc.api import Node, Pod, Taint
from dra_alloc.api.labels import LabelTest
from dra_alloc.pods.amounts import in_units
from dra_alloc.pods.siblings import NO_SIBLINGS, Siblings
from dra_alloc.pods.views import Owner, PodView, Port, Tenant, Term, tenant_of

_T = TypeVar("_T")
_K = TypeVar("_K")
#: How many pods of a kind there are on each node.
Places = Counter[int]


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """
    What pods may use of a node, what they use, and how many there are; the same object for nodes in the same state.

    `counted` are cpu and memory as scores count them. Without `allocatable`
    the node does not say what it has.
    """

    allocatable: Mapping[str, int]
    used: Mapping[str, int]
    counted: tuple[int, int] = (0, 0)
    pods: int = 0

    def offers(self, resource: str) -> bool:
        """Return whether pods may use any of the resource, as far as is known."""
        return self.allocatable.get(resource, 0) > 0

    def left(self, resource: str) -> int:
        """Return how much of the resource no pod uses."""
        return self.allocatable.get(resource, 0) - self.used.get(resource, 0)

    def plus(self, tenants: Iterable[Tenant], sign: int = 1) -> Load:
        """Return the load with more pods; with -1 as `sign` with less."""
        used, (cpu, memory), count = {**self.used}, self.counted, self.pods
        for tenant in tenants:
            for name, amount in tenant.uses.items():
                used[name] = used.get(name, 0) + sign * amount
            more_cpu, more_memory = tenant.counts_as
            cpu, memory, count = cpu + sign * more_cpu, memory + sign * more_memory, count + sign
        return Load(self.allocatable, used, (cpu, memory), count)


class Tenancy:
    """
    Nodes in order with the pods on them; it changes as pods are added, and is for one thread.

    Pods that look alike are counted, not listed.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        namespaces: Mapping[str, Mapping[str, str]],
        pods: Iterable[Pod] = (),
        siblings: Siblings = NO_SIBLINGS,
    ) -> None:
        self.nodes = tuple(nodes)
        self.namespaces = namespaces
        self.siblings = siblings
        self.places: dict[str, int] = {}
        for place, node in enumerate(self.nodes):
            self.places.setdefault(node.metadata.name or "", place)
        self._interned: dict[Hashable, Load] = {}
        self._allocatable: dict[Hashable, Mapping[str, int]] = {}
        self.loads = [self._fresh(node) for node in self.nodes]
        self.ports: dict[int, set[Port]] = {}
        #: Pods that are not being deleted and those that are, by namespace and labels.
        self.staying: dict[tuple[str, Mapping[str, str]], Places] = {}
        self.leaving: dict[tuple[str, Mapping[str, str]], Places] = {}
        self.owned: dict[Owner, Places] = {}
        self._labelled: dict[tuple[str, str, str], list[Mapping[str, str]]] = {}
        self.near: dict[Term, Places] = {}
        self.apart: dict[Term, Places] = {}
        self.rather: dict[tuple[int, Term], Places] = {}
        #: How many pods use each PersistentVolumeClaim, by its full name.
        self.claiming: Counter[str] = Counter()
        self._views: dict[Hashable, PodView] = {}
        self._found: dict[str, object] = {}
        running: dict[int, list[Tenant]] = {}
        for pod in pods:
            tenant = tenant_of(pod)
            if tenant.node in self.places and not tenant.over:
                place = self.places[tenant.node]
                running.setdefault(place, []).append(tenant)
                self._count(pod, tenant, place)
        for place, tenants in running.items():
            self.loads[place] = self._intern(self.loads[place].plus(tenants))

    def view(self, pod: Pod) -> PodView:
        """Return the pod as plugins read it: one object for pods that differ in name only."""
        view = PodView.of(pod)
        status = pod.status
        if status.container_statuses or status.init_container_statuses or status.resources is not None:
            return view
        if status.node_allocatable_resource_claim_statuses:
            return view
        # The spec is kept by the view, so its id stays its own.
        key = (id(pod.spec), view.namespace, view.labels, view.owner)
        return self._views.setdefault(key, view)

    def copied(self) -> Tenancy:
        """Return one with the same pods that goes on by itself."""
        other = copy(self)
        other.loads = [*self.loads]
        other.ports = {place: {*ports} for place, ports in self.ports.items()}
        labelled = {key: [*labels] for key, labels in self._labelled.items()}
        other._labelled = labelled  # noqa: SLF001 - its own kind
        other.staying, other.leaving, other.owned = _each(self.staying), _each(self.leaving), _each(self.owned)
        other.near, other.apart, other.rather = _each(self.near), _each(self.apart), _each(self.rather)
        other.claiming = Counter(self.claiming)
        return other

    def with_node(self, node: Node, place: int) -> Tenancy:
        """Return one with the same pods and another node in a place, which has the same to offer."""
        other = self.copied()
        other.nodes = (*self.nodes[:place], node, *self.nodes[place + 1 :])
        other._found, other._views = {}, {}  # noqa: SLF001 - its own kind
        for known in ("by_label", "tainted"):
            other.__dict__.pop(known, None)
        return other

    def add(self, pod: PodView, place: int) -> None:
        """Let the pod run on the node."""
        self.loads[place] = self._intern(self.loads[place].plus((tenant_of(pod.pod),)))
        self._count(pod.pod, tenant_of(pod.pod), place)

    def _count(self, pod: Pod, tenant: Tenant, place: int) -> None:
        if tenant.ports:
            self.ports.setdefault(place, set()).update(tenant.ports)
        alike = self.staying if tenant.stays else self.leaving
        counted = alike.get(tenant.seen_as)
        if counted is None:
            counted = alike[tenant.seen_as] = Counter()
            namespace, labels = tenant.seen_as
            for key, value in labels.items() if tenant.stays else ():
                self._labelled.setdefault((namespace, key, value), []).append(labels)
        counted[place] = counted.get(place, 0) + 1
        if tenant.owner is not None and tenant.stays:
            counted = self.owned.get(tenant.owner)
            if counted is None:
                counted = self.owned[tenant.owner] = Counter()
            counted[place] = counted.get(place, 0) + 1
        self.claiming.update(tenant.claiming)
        if tenant.has_wishes:
            for counted in self._by_affinity(self.view(pod)):
                counted[place] = counted.get(place, 0) + 1

    def _by_affinity(self, pod: PodView) -> Iterator[Places]:
        """Yield the counts of pods with each of a pod's wishes for others near it and apart."""
        for kind, terms in ((self.near, pod.near), (self.apart, pod.apart)):
            yield from (kind.setdefault(each, Counter()) for each in terms)
        yield from (self.rather.setdefault(each, Counter()) for each in pod.rather)

    def remove(self, pod: PodView, place: int) -> None:
        """Let a pod that runs on the node go."""
        tenant = tenant_of(pod.pod)
        self.loads[place] = self._intern(self.loads[place].plus((tenant,), -1))
        if tenant.ports:
            self.ports[place] -= tenant.ports
        self.claiming.subtract(tenant.claiming)
        counted: list[Places] = [(self.staying if tenant.stays else self.leaving)[tenant.seen_as]]
        if tenant.owner is not None and tenant.stays:
            counted.append(self.owned[tenant.owner])
        for places in (*counted, *self._by_affinity(pod)):
            places[place] -= 1
            if not places[place]:
                del places[place]

    def selected(self, namespace: str, selector: LabelTest) -> Places:
        """Return on which nodes pods of a namespace run that a selector selects, those being deleted left out."""
        groups: Iterable[Mapping[str, str]] | None = None
        for key, operator, values in selector.requirements:
            if operator == "In" and len(values) == 1:
                (value,) = values
                groups = self._labelled.get((namespace, key, value), ())
                break
        if groups is None:
            groups = [labels for place, labels in self.staying if place == namespace]
        found: Places = Counter()
        for labels in groups:
            if selector.matches(labels):
                found.update(self.staying[namespace, labels])
        return found

    def running(self, term: Term) -> Places:
        """Return on which nodes pods run that the term means, those being deleted included."""
        found: Places = Counter()
        for alike in (self.staying, self.leaving):
            for (namespace, labels), places in alike.items():
                if term.matches(namespace, labels, self.namespaces):
                    found.update(places)
        return found

    @cached_property
    def by_label(self) -> _ByLabel:
        """The nodes by the values of their labels."""
        return _ByLabel(self.nodes)

    @cached_property
    def tainted(self) -> Mapping[int, tuple[Taint, ...]]:
        """The taints of the nodes that have any."""
        return {place: node.spec.taints for place, node in enumerate(self.nodes) if node.spec.taints}

    def found(self, what: str, find: Callable[[], _T]) -> _T:
        """Return what was found out about the nodes, whatever runs there; at first it is found."""
        if what not in self._found:
            self._found[what] = find()
        return cast("_T", self._found[what])

    def domains(self, key: str) -> Mapping[int, str]:
        """Return the value of a label on each node that has it."""
        return self.by_label[key]

    def _fresh(self, node: Node) -> Load:
        given = node.status.allocatable
        known = self._allocatable.get(given)
        if known is None:
            known = in_units({name: amount.nano for name, amount in given.items()})
            self._allocatable[given] = known
        return self._intern(Load(known, {}))

    def _intern(self, load: Load) -> Load:
        key = (id(load.allocatable), frozenset(load.used.items()), load.counted, load.pods)
        return self._interned.setdefault(key, load)


def _each(counted: Mapping[_K, Places]) -> dict[_K, Places]:
    return {key: Counter(places) for key, places in counted.items()}


class _ByLabel(dict[str, Mapping[int, str]]):
    """For each label that is asked for, its values by place."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        super().__init__()
        self._labels = [node.metadata.labels for node in nodes]

    def __missing__(self, key: str) -> Mapping[int, str]:
        found = {place: labels[key] for place, labels in enumerate(self._labels) if key in labels}
        self[key] = found
        return found
