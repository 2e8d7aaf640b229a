"""
What devices take of their node's cpu, memory and huge pages for a pod: the gate DRANodeAllocatableResources.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from dra_alloc.api import (
    AllocationResult,
    Device,
    DeviceRequestAllocationResult,
    NodeAllocatableClaimStatus,
    NodeAllocatableResourceMapping,
    Pod,
    Quantity,
    ResourceClaim,
)
from dra_alloc.api.core.pods import HUGE, NodeAllocatableAmount, NodeAllocatableOverheadAmount
from dra_alloc.pods.amounts import container_limits_total, taken_for, whole_requests
from dra_alloc.pods.claims import POD_CLAIM_NAME
from dra_alloc.problem.requests import EXTENDED_CLAIM

GATE: Final = "DRANodeAllocatableResources"
DeviceOf = Callable[[DeviceRequestAllocationResult], Device | None]
#: How the scheduler calls a claim for extended resources before it is made.
_EXTENDED: Final = "<extended-resources>"


class NotComputed(ValueError):
    """The scheduler gives the pod up: what a device takes cannot be computed. The text is its own."""


def is_mapped(claim: ResourceClaim, device_of: DeviceOf) -> bool:
    """Return whether a device of the claim stands for resources of its node, not only for overhead. Spec: NODERES-5."""
    found = (device_of(each) for each in _results(claim))
    return any(each.mapping for device in found if device for each in device.node_allocatable_resources.values())


def taken(pod: Pod, claims: Sequence[ResourceClaim], device_of: DeviceOf) -> tuple[NodeAllocatableClaimStatus, ...]:
    """
    Return what the devices of the pod's claims take, as it is written into the pod's status; `claims` are allocated.

    Containers are named that use a claim, as often as they do. Those of
    extended resources use none.

    Spec: NODERES-1, NODERES-3. Raises: NotComputed.
    """
    users = _users(pod, claims)
    found = [_of_claim(claim, device_of, users.get(number, ())) for number, claim in enumerate(claims)]
    return tuple(sorted((each for each in found if each is not None), key=lambda each: each.resource_claim_name))


def _results(claim: ResourceClaim) -> Sequence[DeviceRequestAllocationResult]:
    allocation: AllocationResult | None = claim.status.allocation
    return () if allocation is None else allocation.devices.results


def _called(claim: ResourceClaim) -> str:
    return _EXTENDED if claim.metadata.annotations.get(EXTENDED_CLAIM) == "true" else claim.metadata.name or ""


def _users(pod: Pod, claims: Sequence[ResourceClaim]) -> Mapping[int, tuple[str, ...]]:
    """Return the containers that use each claim, by its number."""
    made = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
    names = {claim.metadata.name: number for number, claim in enumerate(claims)}
    entries = {claim.metadata.annotations.get(POD_CLAIM_NAME): number for number, claim in enumerate(claims)}
    numbers = {
        each.name: names.get(each.resource_claim_name or made.get(each.name), entries.get(each.name, -1))
        for each in pod.spec.resource_claims
    }
    found: dict[int, tuple[str, ...]] = {}
    for container in (*pod.spec.init_containers, *pod.spec.containers):
        for use in container.resources.claims:
            number = numbers.get(use.name, -1)
            found[number] = (*found.get(number, ()), container.name)
    return found


def _of_claim(claim: ResourceClaim, device_of: DeviceOf, users: tuple[str, ...]) -> NodeAllocatableClaimStatus | None:
    """Return what one claim takes; None if that is nothing."""
    devices = [(result, device_of(result)) for result in _results(claim)]
    if not any(device.node_allocatable_resources for _, device in devices if device):
        return None
    name = _called(claim)
    mapped: dict[str, Quantity] = {}
    pods: dict[str, Quantity] = {}
    containers: dict[str, Quantity] = {}
    for result, device in devices:
        said = f"claim {claim.metadata.namespace}/{name}, device {result.device}"
        if device is None:
            there = f"device {result.device} not found in pool {result.pool} for driver {result.driver}"
            raise NotComputed(f"{said}, driver {result.driver}: {there}")
        for resource, each in sorted(device.node_allocatable_resources.items()):
            if each.mapping is not None:
                _add(mapped, resource, _amount(each.mapping, result, f"{said}: ", resource))
            if each.overhead is not None:
                _add(pods, resource, each.overhead.per_pod)
                _add(containers, resource, each.overhead.per_container)
    if not mapped and not pods and not containers:
        return None
    overheads = [(each, pods.get(each), containers.get(each)) for each in sorted({*pods, *containers})]
    return NodeAllocatableClaimStatus.made(
        resource_claim_name=name,
        containers=users,
        mapping=tuple([NodeAllocatableAmount.made(name=each, quantity=mapped[each]) for each in sorted(mapped)]),
        overhead=tuple(
            [
                NodeAllocatableOverheadAmount.made(name=each, per_pod=pod, per_container=container)
                for each, pod, container in overheads
            ]
        ),
    )


def _amount(
    mapping: NodeAllocatableResourceMapping, result: DeviceRequestAllocationResult, said: str, resource: str
) -> Quantity | None:
    """Return what a device takes: a multiple of the capacity that is consumed, or so much for the device."""
    key = mapping.capacity_key
    if not key:
        return mapping.device_multiplier
    if not result.consumed_capacity:
        raise NotComputed(
            f"{said}ConsumedCapacity is nil, but Capacity key '{key}' is set in NodeAllocatableResources "
            f"for resource {resource}"
        )
    consumed, factor = result.consumed_capacity.get(key), mapping.capacity_multiplier
    if consumed is None or factor is None:
        return consumed
    return Quantity.of(-(-consumed.nano * factor.nano // 10**9), consumed.format, -9)


def _add(total: dict[str, Quantity], resource: str, amount: Quantity | None) -> None:
    if amount is not None:
        total[resource] = total[resource] + amount if resource in total else amount


def uncovered(pod: Pod) -> str:
    """
    Return the scheduler's words if what the pod asks for as a whole leaves out what its devices take; else nothing.

    Spec: NODERES-4.
    """
    limits = {} if pod.spec.resources is None else pod.spec.resources.limits
    every = taken_for(pod.status.node_allocatable_resource_claim_statuses)
    for name, asked, needed in sorted(whole_requests(pod, every)):
        if needed > asked:
            needs = "the aggregated container and node-allocatable DRA requests"
            return f"pod level request for {name} is insufficient to cover {needs}"
    together = container_limits_total(pod)
    for name in sorted(each for each in limits if each.startswith(HUGE)):
        if together.get(name, 0) + every.get(name, 0) > limits[name].nano:
            needs = "the aggregated container and node-allocatable DRA limits"
            return f"pod level limit for {name} is insufficient to cover {needs}"
    for container in pod.spec.containers:
        own = taken_for(pod.status.node_allocatable_resource_claim_statuses, container.name)
        for name, limit in sorted(container.resources.limits.items()):
            if not name.startswith(HUGE) and name in limits and limit.nano + own.get(name, 0) > limits[name].nano:
                needs = f"the limit and DRA overhead for container {container.name}"
                return f"pod level limit for {name} is insufficient to cover {needs}"
    return ""


def not_stored(pod: Pod, takes: Sequence[NodeAllocatableClaimStatus]) -> str:
    """
    Return the scheduler's words if the API server refuses the status that says what the devices take; else nothing.

    Spec: NODERES-6.
    """
    faults = [fault for number, each in enumerate(takes) for fault in _faults(each, number)]
    if not faults:
        return ""
    name, listed = pod.metadata.name, faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"
    return (
        f'running PreBind plugin "DynamicResources": updating pod {pod.metadata.full_name} '
        f'NodeAllocatableResourceClaimStatuses: Pod "{name}" is invalid: {listed}'
    )


def _faults(each: NodeAllocatableClaimStatus, number: int) -> Iterator[str]:
    path = f"status.nodeAllocatableResourceClaimStatuses[{number}]"
    if each.resource_claim_name == _EXTENDED:
        yield f'{path}.resourceClaimName: Invalid value: "{_EXTENDED}": no mapping found in pod reference'
    seen: Counter[str] = Counter()
    for position, name in enumerate(each.containers):
        seen[name] += 1
        if seen[name] > 1:
            yield f"{path}.containers[{position}]: Duplicate value: {json.dumps(name)}"
