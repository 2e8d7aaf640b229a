"""
Nodes that have too little left of what a pod's devices take of them: cpu, memory and huge pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from dra_alloc.api import Device, DeviceRequestAllocationResult, Node, NodeAllocatableClaimStatus, Pod, ResourceClaim
from dra_alloc.cluster.attempts.found import NodesFound
from dra_alloc.cluster.holding import reaches
from dra_alloc.cluster.outcomes import NodeRefusal
from dra_alloc.cluster.standings import FITS
from dra_alloc.manifest.validate.pods.pod_level import with_amounts
from dra_alloc.pods.amounts import in_units, used_by
from dra_alloc.pods.filters.resources import too_little
from dra_alloc.pods.node_allocatable import GATE, NotComputed, is_mapped, taken, uncovered
from dra_alloc.pods.objections import Objection
from dra_alloc.pods.tenancy import Load, Tenancy
from dra_alloc.problem.devices import PoolKey, SliceRow
from dra_alloc.problem.nodes import NodeSelectorError, is_on_node
from dra_alloc.releases import Release

if TYPE_CHECKING:
    from dra_alloc.cluster.cluster import Cluster

#: Since when devices say it in the shape that is looked at.
_SINCE: Final = Release(1, 37, 0, 0)
_Amounts = tuple[NodeAllocatableClaimStatus, ...]


def counts(cluster: Cluster) -> bool:
    """Return whether the scheduler counts what devices take of their node. Spec: NODERES-1."""
    settings = cluster.settings
    return settings.effective_gates().get(GATE, False) and settings.profile().release >= _SINCE


def as_counted(pods: Iterable[Pod], cluster: Cluster) -> Iterator[Pod]:
    """Yield pods as the scheduler counts them: where the gate is off, without what their devices take."""
    on = counts(cluster)
    for pod in pods:
        yield pod if on or not pod.status.node_allocatable_resource_claim_statuses else with_taken(pod, ())


def with_taken(pod: Pod, amounts: _Amounts) -> Pod:
    """Return the pod with what its devices take in its status."""
    return pod.replaced(status=pod.status.replaced(node_allocatable_resource_claim_statuses=amounts))


def taking_of(cluster: Cluster) -> Taking | None:
    """Return the slices of a cluster in which a device takes something of its node; None where there are none."""
    if not counts(cluster):
        return None
    slices = cluster.inventory.slices
    takes = any(each.node_allocatable_resources for row in slices for each in row.wire.spec.devices)
    return Taking(cluster.inventory.by_pool.get) if takes else None


@dataclass(frozen=True, slots=True)
class Taking:
    """The slices of a cluster, of which some devices take resources of their node."""

    slices: Callable[[PoolKey, tuple[SliceRow, ...]], tuple[SliceRow, ...]]

    def look(
        self,
        found: NodesFound,
        tenancy: Tenancy,
        others: Sequence[ResourceClaim],
        claims_at: Callable[[int], Sequence[ResourceClaim]],
    ) -> NodeRefusal | None:
        """
        Note what is against nodes, and what devices take of those that fit; return what ends the attempt, if it does.

        `others` are claims of the pod that another one has, `claims_at` returns all as they are allocated on a node.
        """
        nodes = tenancy.nodes
        if others:
            said = {place: self.unshared(others, nodes[place]) for each in found.devices for place in each.places}
            found.against.update({place: objection for place, objection in said.items() if objection is not None})
        for place in (place for each in found.devices for place in each.having(FITS) if place not in found.against):
            try:
                told = self.on_node(found.queued.pod, claims_at(place), nodes[place], tenancy.loads[place])
            except NotComputed as error:
                return NodeRefusal(nodes[place].metadata.name or "", "capacity-amount", str(error))
            if isinstance(told, Objection):
                found.against[place] = told
            elif told:
                found.amounts[place] = told
        return None

    def unshared(self, claims: Sequence[ResourceClaim], node: Node) -> Objection | None:
        """Return what is against a node for claims of other pods that one pod at a time can have. Spec: NODERES-5."""
        for claim in claims:
            if reaches(claim, node) and is_mapped(claim, lambda found: self._device(found, None)):
                text = "has a mapped device and cannot be shared across pods"
                return Objection("claim-in-use", (f"node allocatable resource claim {claim.metadata.name} {text}",))
        return None

    def on_node(self, pod: Pod, claims: Sequence[ResourceClaim], node: Node, load: Load) -> _Amounts | Objection:
        """
        Return what the allocated claims take on a node, or what is against that node.

        Spec: NODERES-2, NODERES-4. Raises: NotComputed.
        """
        amounts = taken(pod, claims, lambda found: self._device(found, node))
        if not amounts:
            return ()
        whole = with_amounts(with_taken(pod, amounts))
        text = uncovered(whole)
        if text:
            return Objection("node-resources", (text,))
        asked = {name: amount for name, amount in in_units(used_by(whole)).items() if "/" not in name}
        objection = too_little(asked, load)
        return amounts if objection is None else replace(objection, detail=f"with its devices {objection.detail}")

    def _device(self, found: DeviceRequestAllocationResult, node: Node | None) -> Device | None:
        """Return the device of a result, the first of its name, as far as a node sees it."""
        for row in self.slices(PoolKey(found.driver, found.pool), ()):
            spec = row.wire.spec
            if node is not None and not spec.per_device_node_selection and not _is_there(row, node):
                continue
            device = next((each for each in spec.devices if each.name == found.device), None)
            if device is not None:
                seen = node is None or not spec.per_device_node_selection or _is_there(device, node)
                return device if seen else None
        return None


def _is_there(place: SliceRow | Device, node: Node) -> bool:
    try:
        return is_on_node(place.wire.spec if isinstance(place, SliceRow) else place, node)
    except NodeSelectorError:
        return False
