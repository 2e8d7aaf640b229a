"""
What KAI counts: of a pod for its queue, and of nodes for the cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Final

from dra_alloc.api import Node, Pod, ResourceClaim, ResourceSlice
from dra_alloc.api.slices import newest_slices
from dra_alloc.pods.amounts import CPU, MEMORY, in_units, pod_requests
from dra_alloc.queues.kai.objects import RESOURCES
from dra_alloc.queues.kai.reclaim import Amounts
from dra_alloc.queues.systems import QueueDefect, QueueSystem

#: What a pod asks for by parts of a device, which is nothing that Kubernetes knows.
FRACTION: Final = "gpu-fraction"
GPU_MEMORY: Final = "gpu-memory"
_DEVICES: Final = "nvidia.com/gpu"
_MARK: Final = "gpu"


def counts_class(name: str) -> bool:
    """Return whether KAI counts devices of a class. Spec: KAI-12."""
    return _MARK in name.lower()


def of_claim(claim: ResourceClaim) -> int:
    """Return how many devices KAI counts of a claim: All is one, alternatives are none. Spec: KAI-12."""
    found = 0
    for request in claim.spec.devices.requests:
        exactly = request.exactly
        if exactly is not None and counts_class(exactly.device_class_name):
            found += 1 if exactly.allocation_mode == "All" else exactly.count or 1
    return found


def asks_beyond(claim: ResourceClaim) -> bool:
    """Return whether a claim asks for what KAI's allocator of devices does not know. Spec: KAI-24."""
    requests = claim.spec.devices.requests
    return any(
        each.first_available or (each.exactly is not None and each.exactly.capacity is not None) for each in requests
    )


def of_pod(pod: Pod, claims: Iterable[ResourceClaim]) -> Amounts:
    """
    Return what a pod counts for its queue: thousandths of a cpu, bytes, devices.

    Devices are those of claims and of extended resources; a part of one counts as such.

    Spec: KAI-12.
    """
    asked = in_units(pod_requests(pod))
    devices = asked.get(_DEVICES, 0) + _part(pod) + sum(map(of_claim, claims))
    return {"cpu": asked.get(CPU, 0), "memory": asked.get(MEMORY, 0), "gpu": devices}


def _part(pod: Pod) -> float:
    try:
        part = float(pod.metadata.annotations.get(FRACTION, "0"))
    except ValueError:
        return 0
    return max(0.0, part) if isfinite(part) else 0


def of_nodes(nodes: Sequence[Node], slices: Iterable[ResourceSlice], system: QueueSystem) -> Amounts:
    """
    Return what there is to divide: what nodes offer, and devices of drivers with "gpu" in their names.

    Devices of slices for one node count, whatever they share with one another.
    The defect counts those of older generations, too.

    Spec: KAI-13.
    """
    names = {each.metadata.name or "" for each in nodes}
    offered = [in_units({key: amount.nano for key, amount in each.status.allocatable.items()}) for each in nodes]
    counted = [each for each in slices if each.spec.node_name in names and _MARK in each.spec.driver.lower()]
    if not system.shows(QueueDefect.STALE_DEVICES):
        pools: dict[tuple[str, str], list[ResourceSlice]] = {}
        for each in counted:
            pools.setdefault((each.spec.driver, each.spec.pool.name), []).append(each)
        counted = [each for of_pool in pools.values() for each in newest_slices(of_pool)]
    devices = sum(len(each.spec.devices) for each in counted)
    found = {"cpu": sum(each.get(CPU, 0) for each in offered), "memory": sum(each.get(MEMORY, 0) for each in offered)}
    return {**found, "gpu": sum(each.get(_DEVICES, 0) for each in offered) + devices}


def total(amounts: Iterable[Amounts]) -> Mapping[str, float]:
    """Return the sum of amounts, by resource."""
    listed: Sequence[Amounts] = list(amounts)
    return {name: sum(each.get(name, 0) for each in listed) for name in RESOURCES}


def amount_text(resource: str, amount: float) -> str:
    """Return an amount as a queue of KAI says it, with its unit."""
    if amount < 0:
        return "no limit"
    scaled = amount / RESOURCES[resource]
    return {"cpu": f"{scaled:g}m cpu", "memory": f"{scaled:g} MB of memory"}.get(resource, f"{scaled:g} gpu")
