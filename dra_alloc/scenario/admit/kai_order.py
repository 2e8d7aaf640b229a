"""
In which order KAI tries domains of a topology, as nodes are by then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dra_alloc.api import ResourceSlice
from dra_alloc.pods.amounts import CPU, MEMORY
from dra_alloc.pods.gangs.topology import Domain, TopologyConstraint
from dra_alloc.queues.kai.amounts import of_nodes, of_pod, total
from dra_alloc.queues.kai.domain_order import fullest_first
from dra_alloc.queues.kai.reclaim import Amounts
from dra_alloc.queues.systems import QueueSystem
from dra_alloc.scenario.admit.gathering import Gathered


class KaiOrder:
    """What nodes have left for KAI; `counted` is what it counts of each pod."""

    def __init__(self, gathered: Gathered, counted: Mapping[int, Amounts], system: QueueSystem) -> None:
        self._gathered, self._counted = gathered, counted
        self._devices = _devices(gathered, system)

    def fullest_first(
        self,
        constraint: TopologyConstraint,
        level: Sequence[Domain],
        pods: Sequence[int],
        beside: Mapping[int, int],
    ) -> Sequence[Domain]:
        """Return domains of one level in KAI's order; `beside` are the places of others of the gang. Spec: KAI-22."""
        if len(level) < 2:
            return level
        tenancy, devices = self._gathered.checking.scheduling.tenancy, dict(self._devices)
        for number, place in (*self._gathered.trying.places.items(), *beside.items()):
            if number in self._counted:
                devices[place] -= self._counted[number]["gpu"]
        free = {
            place: {"cpu": load.left(CPU), "memory": load.left(MEMORY), "gpu": devices[place]}
            for place, load in enumerate(tenancy.loads)
        }
        labels = [each.metadata.labels for each in tenancy.nodes]
        return fullest_first(labels, constraint, level, total(self._counted[each] for each in pods), free)


def _devices(gathered: Gathered, system: QueueSystem) -> Mapping[int, float]:
    """Return what nodes have of devices, less what pods of other schedulers hold, by their places."""
    prepared, places = gathered.prepared, gathered.checking.scheduling.tenancy.places
    slices: dict[str, list[ResourceSlice]] = {}
    for each in prepared.merged.slices:
        slices.setdefault(each.spec.node_name or "", []).append(each)
    found = {
        place: of_nodes([node], slices.get(node.metadata.name or "", ()), system)["gpu"]
        for place, node in enumerate(prepared.cluster.nodes)
    }
    for pod, claims in gathered.others():
        if pod.spec.node_name in places:
            found[places[pod.spec.node_name]] -= of_pod(pod, claims)["gpu"]
    return found
