"""
What room nodes have by Kueue's count, and which domains workloads of a cycle have taken.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from dra_alloc.api import Node, Pod
from dra_alloc.api.core.nodes import HOSTNAME
from dra_alloc.errors import first_few, in_brief
from dra_alloc.pods.amounts import PODS, in_units, pod_requests
from dra_alloc.pods.filters.node_affinity import admits
from dra_alloc.pods.taints import repelling
from dra_alloc.queues.kueue.asking import ChargedSet
from dra_alloc.queues.kueue.objects import ClusterQueue, Flavor, KueueObjects
from dra_alloc.queues.kueue.topology import DomainCounts, TopologyRequest, in_domains
from dra_alloc.queues.topologies import NamedTopology

_PREFIX: Final = "kueue.x-k8s.io/podset-"
_REQUIRED: Final = f"{_PREFIX}required-topology"
_PREFERRED: Final = f"{_PREFIX}preferred-topology"
_UNCONSTRAINED: Final = f"{_PREFIX}unconstrained-topology"
_SLICES: Final = f"{_PREFIX}slice-required-topology"
_SIZE: Final = f"{_PREFIX}slice-size"
#: What is not modelled: pod sets that go together, and slices of slices.
_BEYOND: Final = (f"{_PREFIX}group-name", f"{_PREFIX}slice-required-topology-constraints")
#: Of these a pod set has one at most.
_HOW: Final = (_REQUIRED, _PREFERRED, _UNCONSTRAINED)
#: What Go reads as a yes, and as a no.
_YES: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_NO: Final = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_COUNT: Final = re.compile(r"\+?0*([1-9][0-9]{0,9})")
_MOST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class NodeRoom:
    """A node with what no pod uses of it, in thousandths of a cpu and whole numbers."""

    node: Node
    free: Mapping[str, int]


def wants_topology(pod: Pod) -> bool:
    """Return whether a pod set says something of a topology itself."""
    said = pod.metadata.annotations
    return bool(said.get(_REQUIRED) or said.get(_PREFERRED) or said.get(_UNCONSTRAINED) in _YES or said.get(_SLICES))


def not_asked_here(pod: Pod) -> str:
    """Return the annotation of a pod set that is not modelled, if it has one."""
    return next((each for each in _BEYOND if each in pod.metadata.annotations), "")


def marks_unseen(owner: Mapping[str, str], pods: Mapping[str, str]) -> Iterator[str]:
    """Yield annotations of pod sets that are nothing to Kueue: on what makes the pods, or misspelt on these."""
    known = (_REQUIRED, _PREFERRED, _UNCONSTRAINED, _SLICES, _SIZE, *_BEYOND)
    for each in owner:
        if each.startswith(_PREFIX):
            yield f"{each} counts on the template of the pods, and not on what makes them"
    for each in pods:
        near = get_close_matches(each, known, 1) if each.startswith(_PREFIX) and each not in known else []
        if near:
            yield f"{in_brief(each)} is nothing to Kueue: did you mean {near[0]}?"


def malformed(pod: Pod, count: int) -> str:
    """Return why Kueue refuses the annotations of a pod set of so many pods, if it does. Spec: KUEUE-40."""
    said = pod.metadata.annotations
    how = [each for each in _HOW if each in said]
    if len(how) > 1:
        return f"annotations {' and '.join(how)} exclude each other"
    empty = next((each for each in (_REQUIRED, _PREFERRED, _SLICES) if said.get(each) == ""), "")
    if empty:
        return f"annotation {empty} names no level"
    if said.get(_UNCONSTRAINED, "true") not in _YES | _NO:
        return f"annotation {_UNCONSTRAINED} has to be true or false"
    if (_SLICES in said) is not (_SIZE in said):
        there, lacks = (_SLICES, _SIZE) if _SLICES in said else (_SIZE, _SLICES)
        return f"annotation {there} needs {lacks}"
    if _SIZE in said and not 1 <= _size(said) <= min(count, _MOST):
        return f"annotation {_SIZE} has to be a whole number from 1 to {count}, the number of pods"
    return ""


def _size(said: Mapping[str, str]) -> int:
    """Return the size of slices, 0 where it is no whole number above that."""
    found = _COUNT.fullmatch(said.get(_SIZE, "1"))
    return int(found[1]) if found is not None else 0


def topology_asked(pod: Pod, levels: Sequence[str]) -> TopologyRequest:
    """Return what a pod set asks of a topology with these levels; without a word any place does. Spec: KUEUE-40."""
    said = pod.metadata.annotations
    slice_level = said.get(_SLICES, "")
    size = _size(said) if slice_level else 1
    required, preferred = said.get(_REQUIRED, ""), said.get(_PREFERRED, "")
    if required or preferred:
        return TopologyRequest(required or preferred, bool(required), slice_level=slice_level, size=size)
    level = levels[0] if slice_level else levels[-1]
    return TopologyRequest(level, unconstrained=True, slice_level=slice_level, size=size)


@dataclass(slots=True)
class TopologyRooms:
    """
    The nodes, and what workloads that were let in before have taken of domains, by topology and path.

    `assigned` says by flavor whose pods have been assigned domains and are not there: what they take is not counted.
    Nor is that of who was let in without a word on where, in flavors that are `left_open`.
    """

    objects: KueueObjects
    nodes: Sequence[NodeRoom]
    assigned: Mapping[str, str] = field(default_factory=dict)
    taken: dict[tuple[str, tuple[str, ...]], Counter[str]] = field(default_factory=dict)
    left_open: dict[str, str] = field(default_factory=dict)

    def leave_open(self, name: str, flavors: Mapping[str, Mapping[str, str]]) -> None:
        """Note of a workload that may be let in, into domains that are not known, of the flavors of its pod sets."""
        for flavor in dict.fromkeys(each for of_set in flavors.values() for each in of_set.values()):
            if self._topology(flavor):
                self.left_open.setdefault(
                    flavor, f"which domains {name} takes in flavor {flavor}, if any, is not known"
                )

    def look(
        self, sets: Sequence[ChargedSet], flavors: Mapping[str, Mapping[str, str]], queue: ClusterQueue
    ) -> tuple[Mapping[str, DomainCounts], str, bool]:
        """
        Return where pods go by pod set, or why they go nowhere, and whether they would if nobody else had anything.

        Spec: KUEUE-41, KUEUE-43.
        """
        found: dict[str, DomainCounts] = {}
        before: dict[tuple[str, tuple[str, ...]], Counter[str]] = {}
        implied = self.implied(queue)
        for each in sets:
            if not implied and not wants_topology(each.asked.pod):
                continue
            chosen = dict.fromkeys(flavors.get(each.asked.name, {}).values())
            named = [name for name in chosen if self.objects.flavors[name].topology]
            if len(named) != 1:
                self.taken |= before
                return {}, f"podset {each.asked.name}: {_not_one(list(chosen), named)}", False
            flavor = self.objects.flavors[named[0]]
            counts = self._in_flavor(each, flavor)
            if counts.against:
                self.taken |= before
                ever = not self._in_flavor(each, flavor, empty=True).against
                return {}, f"podset {each.asked.name}, flavor {flavor.name}: {counts.against}", ever
            found[each.asked.name] = counts
            for path, count in counts.counts.items():
                used = self.taken.setdefault((flavor.topology, path), Counter())
                before.setdefault((flavor.topology, path), Counter(used))
                used.update({name: count * amount for name, amount in _asked(each.asked.pod).items()})
        return found, "", True

    def unknown(self, flavors: Mapping[str, Mapping[str, str]], domains: Mapping[str, DomainCounts]) -> str:
        """
        Return why it is not known whether the domains found have room, if so: that of others is not counted.

        Spec: KUEUE-43.
        """
        topologies = {
            topology for name in domains for each in flavors[name].values() if (topology := self._topology(each))
        }
        whose = next((each for each in self.assigned if self._topology(each) in topologies), None)
        if whose is not None:
            return rooms_assigned(whose, self.assigned)
        return next((said for each, said in self.left_open.items() if self._topology(each) in topologies), "")

    def _topology(self, flavor: str) -> str:
        found = self.objects.flavors.get(flavor)
        return found.topology if found is not None else ""

    def implied(self, queue: ClusterQueue) -> bool:
        """Return whether all flavors of a queue have a topology, so that all pod sets go by it."""
        named = [name for group in queue.groups for name in group.flavors]
        return bool(named) and all(self.objects.flavors[name].topology for name in named)

    def _in_flavor(self, asked: ChargedSet, flavor: Flavor, *, empty: bool = False) -> DomainCounts:
        """Return where pods of a set go in a flavor as nodes are, or as if nobody had anything of them."""
        topology, pod = self.objects.topologies[flavor.topology], asked.asked.pod
        request = topology_asked(pod, topology.levels)
        for level in (request.level, request.slice_level):
            if level and level not in topology.levels:
                return DomainCounts(against=f"no requested topology level: {level}")
        rooms = self._rooms(topology, flavor, pod, empty)
        return in_domains(flavor.topology, topology.levels, rooms, asked.asked.count, request)

    def _rooms(self, topology: NamedTopology, flavor: Flavor, pod: Pod, empty: bool) -> Mapping[tuple[str, ...], int]:
        """Return how many pods each domain of the lowest level has room for: devices of claims count nothing."""
        free: dict[tuple[str, ...], Counter[str]] = {}
        wanted = admits(pod.spec)
        for each in self.nodes:
            labels = each.node.metadata.labels
            here = all(labels.get(key) == value for key, value in flavor.labels.items())
            takes_pods = _is_ready(each.node) and not each.node.spec.unschedulable
            if not here or not takes_pods or not all(level in labels for level in topology.levels):
                continue
            tolerations = (*pod.spec.tolerations, *flavor.tolerations)
            by_host = topology.levels[-1] == HOSTNAME
            if by_host and (not wanted(each.node) or repelling(each.node.spec.taints, tolerations) is not None):
                continue
            free.setdefault(tuple([labels[level] for level in topology.levels]), Counter()).update(
                _whole(each.node) if empty else each.free
            )
        asked = _asked(pod)
        found: dict[tuple[str, ...], int] = {}
        for path, room in free.items():
            used = Counter[str]() if empty else self.taken.get((flavor.topology, path), Counter())
            found[path] = max(0, min((room[name] - used[name]) // amount for name, amount in asked.items()))
        return found


def _not_one(chosen: Sequence[str], named: Sequence[str]) -> str:
    """Return what is wrong with flavors of which not one alone has a topology."""
    if named:
        return f"flavors {first_few(named)} have topologies, and Kueue takes pods into one"
    if len(chosen) == 1:
        return f"flavor {chosen[0]} has no topologyName"
    return f"flavors {first_few(chosen)} have no topologyName" if chosen else "it has no flavor with a topologyName"


def _is_ready(node: Node) -> bool:
    """Return whether a node is ready, as it is where its status says nothing of that."""
    return all(each.status == "True" for each in node.status.conditions if each.type == "Ready")


def rooms_assigned(flavor: str, assigned: Mapping[str, str]) -> str:
    """Return that pods have domains of a flavor by a Workload's word, which is not modelled."""
    whose = f"Workload {assigned[flavor]} has a topologyAssignment in flavor {flavor}, and not all of its pods run"
    return f"{whose}: which room these take is not modelled"


def _asked(pod: Pod) -> Mapping[str, int]:
    return {name: amount for name, amount in {**in_units(pod_requests(pod)), PODS: 1}.items() if amount > 0}


def _whole(node: Node) -> Mapping[str, int]:
    return in_units({name: amount.nano for name, amount in node.status.allocatable.items()})


def without_topology(pod: Pod) -> Pod:
    """Return a pod of a set without a word on topologies, as where their gate is off."""
    kept = {key: value for key, value in pod.metadata.annotations.items() if not key.startswith(_PREFIX)}
    return pod.replaced(metadata=pod.metadata.replaced(annotations=kept))
