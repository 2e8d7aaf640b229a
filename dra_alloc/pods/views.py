"""
Pods as the scheduler's plugins read them: sums, selectors and ports made once for all pods of a template.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from dra_alloc.api import Pod, PodAffinity, PodAffinityTerm, PodSpec
from dra_alloc.api.labels import NAMESPACE_NAME, NOTHING, LabelTest, Requirement, selector_of
from dra_alloc.pods.amounts import CPU, MEMORY, UNASKED, in_units, pod_requests, used_by
from dra_alloc.pods.filters.claimed_volumes import claims_of
from dra_alloc.remembered import of_objects

#: Kind, namespace and name of what made a pod.
Owner = tuple[str, str, str]
#: Address, protocol and number of a port of the node.
Port = tuple[str, str, int]
_EVERY_ADDRESS = "0.0.0.0"  # noqa: S104  # what a host port without an address means
#: Sets over whose pods the scheduler spreads.
SPREADING_OWNERS = frozenset({"ReplicaSet", "ReplicationController", "StatefulSet"})


@dataclass(frozen=True, slots=True)
class Term:
    """Pods of some labels and namespaces, and the label of nodes that says which of these are near each other."""

    namespaces: frozenset[str]
    places: LabelTest
    pods: LabelTest
    key: str

    def matches(
        self, namespace: str, labels: Mapping[str, str], of_namespaces: Mapping[str, Mapping[str, str]]
    ) -> bool:
        """Return whether a pod of this namespace and these labels is meant."""
        if namespace not in self.namespaces:
            known = of_namespaces.get(namespace) or {NAMESPACE_NAME: namespace}
            if not self.places.matches(known):
                return False
        return self.pods.matches(labels)


def added_keys(keys: Iterable[str], labels: Mapping[str, str], operator: str = "In") -> list[Requirement]:
    """Return the requirements that keys stand for whose values are the pod's own, where it has such a label."""
    return [(key, operator, frozenset([labels[key]])) for key in keys if key in labels]


def is_finished(pod: Pod) -> bool:
    """Return whether the pod ran to its end: it uses nothing."""
    return pod.status.phase in ("Succeeded", "Failed")


def owner_of(pod: Pod) -> Owner | None:
    """Return the set that made the pod and over whose pods the scheduler spreads by default; None if there is none."""
    for each in pod.metadata.owner_references:
        if each.controller:
            found = (each.kind, pod.metadata.namespace or "", each.name)
            return found if each.kind in SPREADING_OWNERS else None
    return None


@dataclass(frozen=True, eq=False)
class PodView:
    """A pod, or all pods that differ in name only, as plugins read them."""

    pod: Pod
    namespace: str
    labels: Mapping[str, str]
    owner: Owner | None = None
    #: What was found out about the pod on the nodes of one cluster, by who found it.
    found: dict[str, object] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, pod: Pod) -> PodView:
        """Return the pod's view."""
        return cls(pod, pod.metadata.namespace or "", pod.metadata.labels, owner_of(pod))

    @property
    def spec(self) -> PodSpec:
        """What the pod asks for."""
        return self.pod.spec

    @cached_property
    def requests(self) -> Mapping[str, int]:
        """What the pod asks for, in the scheduler's units."""
        return in_units(pod_requests(self.pod))

    @cached_property
    def scored_as(self) -> tuple[int, int]:
        """Cpu and memory that count while it looks for a node: those of its containers, whatever it asks as a whole."""
        found = in_units(pod_requests(self.pod, UNASKED, pod_level=False))
        return found.get(CPU, 0), found.get(MEMORY, 0)

    @property
    def ports(self) -> frozenset[Port]:
        """The ports of the node that the pod takes."""
        return tenant_of(self.pod).ports

    @cached_property
    def near(self) -> tuple[Term, ...]:
        """Pods that the pod has to be near to."""
        return tuple(self._required(None if self.spec.affinity is None else self.spec.affinity.pod_affinity))

    @cached_property
    def apart(self) -> tuple[Term, ...]:
        """Pods that the pod has to keep away from."""
        return tuple(self._required(None if self.spec.affinity is None else self.spec.affinity.pod_anti_affinity))

    @cached_property
    def rather(self) -> tuple[tuple[int, Term], ...]:
        """Pods that the pod would rather be near to, and by how much; below zero those it would keep away from."""
        affinity = self.spec.affinity
        if affinity is None:
            return ()
        return (*self._preferred(affinity.pod_affinity, 1), *self._preferred(affinity.pod_anti_affinity, -1))

    def _required(self, affinity: PodAffinity | None) -> Iterator[Term]:
        for each in affinity.required_during_scheduling_ignored_during_execution if affinity is not None else ():
            yield self._term(each)

    def _preferred(self, affinity: PodAffinity | None, sign: int) -> Iterator[tuple[int, Term]]:
        for each in affinity.preferred_during_scheduling_ignored_during_execution if affinity is not None else ():
            yield sign * each.weight, self._term(each.pod_affinity_term)

    def _term(self, given: PodAffinityTerm) -> Term:
        own = not given.namespaces and given.namespace_selector is None
        more = [
            *added_keys(given.match_label_keys, self.labels),
            *added_keys(given.mismatch_label_keys, self.labels, "NotIn"),
        ]
        return Term(
            frozenset([self.namespace] if own else given.namespaces),
            selector_of(given.namespace_selector),
            selector_of(given.label_selector, more) if given.label_selector is not None else NOTHING,
            given.topology_key,
        )


class Tenant(NamedTuple):
    """
    What a pod is to its node, which it may have: what it uses, its ports, whom others see it as, and its set.

    In scores it counts for some cpu and memory, even if it asks for none. One that is `over` uses nothing.
    """

    node: str | None
    over: bool
    uses: Mapping[str, int]
    counts_as: tuple[int, int]
    ports: frozenset[Port]
    seen_as: tuple[str, Mapping[str, str]]
    stays: bool
    owner: Owner | None
    has_wishes: bool
    claiming: tuple[str, ...]


@of_objects
def tenant_of(pod: Pod) -> Tenant:
    """Return what a pod is to the node where it runs."""
    uses, whole, unasked = in_units(used_by(pod)), pod.spec.resources, UNASKED
    if whole is not None and (whole.requests or whole.limits):
        unasked = {name: amount for name, amount in UNASKED.items() if name not in uses}
    found = in_units(used_by(pod, unasked))
    counts_as = found.get(CPU, 0), found.get(MEMORY, 0)
    meta, spec = pod.metadata, pod.spec
    return Tenant(
        spec.node_name,
        is_finished(pod),
        uses,
        counts_as,
        frozenset(_ports(spec)),
        (meta.namespace or "", meta.labels),
        meta.deletion_timestamp is None,
        owner_of(pod),
        spec.affinity is not None,
        claims_of(pod) if spec.volumes else (),
    )


def _ports(spec: PodSpec) -> Iterator[Port]:
    lasting = (each for each in spec.init_containers if each.restart_policy == "Always")
    for each in (port for container in (*lasting, *spec.containers) for port in container.ports):
        number = each.host_port or (each.container_port if spec.host_network else 0)
        if number > 0:
            yield each.host_ip or _EVERY_ADDRESS, each.protocol or "TCP", number


def conflict(wanted: Iterable[Port], taken: Iterable[Port]) -> Port | None:
    """Return the first port that is taken already, on its address or on all."""
    held: Sequence[Port] = tuple(taken)
    for port in sorted(wanted):
        address, *rest = port
        for other, *others in held:
            if rest == others and (address == other or _EVERY_ADDRESS in (address, other)):
                return port
    return None
