"""
Whether claims that are allocated already can be used on a node.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_alloc.api import DeviceRequestAllocationResult, Node, ResourceClaim
from dra_alloc.cluster.holding import elsewhere, reaches
from dra_alloc.errors import first_few
from dra_alloc.problem.requests import claim_name
from dra_alloc.profiles import Feature, Profile

_OPTIONAL_OPERATIONS = "DRAOptionalNodeOperations"


def unavailable(claims: Sequence[ResourceClaim], node: Node, profile: Profile) -> tuple[str, str] | None:
    """
    Return the first claim that cannot be used on the node, and why; None if all can.

    It is allocated for other nodes, its device reports that binding failed, or
    a device skips node operations that the node does not declare as optional.
    """
    for claim in claims:
        if claim.status.allocation is None:
            continue
        name = claim_name(claim)
        if not reaches(claim, node):
            return name, elsewhere(claim)
        results = claim.status.allocation.devices.results
        skips = any(each.skip_node_operations for each in results)
        if skips and _OPTIONAL_OPERATIONS not in node.status.declared_features:
            return name, f"claim {name} skips node operations, and the node does not declare {_OPTIONAL_OPERATIONS}"
        failed = _failed(claim, results) if profile.on(Feature.BINDING) else ""
        if failed:
            return name, f"claim {name} is allocated, and binding failed: {failed}"
    return None


def binds_since(claim: ResourceClaim, profile: Profile) -> str:
    """
    Return since when a claim waits for its devices to be bound; empty if it does not.

    kube-scheduler gives up after a time that is configured, and the clock says whether that is over.
    """
    allocation = claim.status.allocation
    if allocation is None or not profile.on(Feature.BINDING) or not allocation.allocation_timestamp:
        return ""
    for result in allocation.devices.results:
        if not set(result.binding_conditions) <= (_true(claim, result) or set()):
            return allocation.allocation_timestamp
    return ""


def binds_after(claims: Sequence[ResourceClaim]) -> str:
    """Return what claims that were allocated just now wait for before a pod is bound; empty if for nothing."""
    found = [
        condition
        for claim in claims
        if (allocation := claim.status.allocation) is not None and not allocation.allocation_timestamp
        for result in allocation.devices.results
        for condition in result.binding_conditions
    ]
    waits = "until then the pod waits, and after a time the scheduler tries again"
    return f"bound once drivers say {first_few(list(dict.fromkeys(found)))} of its devices: {waits}" if found else ""


def _failed(claim: ResourceClaim, results: Sequence[DeviceRequestAllocationResult]) -> str:
    """Return the condition that says a device could not be bound; devices are looked at up to one that is not ready."""
    for result in results:
        if not result.binding_conditions:
            continue
        true = _true(claim, result)
        if true is None:
            return ""
        for condition in result.binding_failure_conditions:
            if condition in true:
                return f"{condition} of device {result.driver}/{result.pool}/{result.device}"
        if not true.issuperset(result.binding_conditions):
            return ""
    return ""


def _true(claim: ResourceClaim, result: DeviceRequestAllocationResult) -> set[str] | None:
    """Return the conditions that the claim's status has as true for a device; None if it has nothing on it."""
    key = (result.driver, result.pool, result.device, result.share_id)
    found = [each for each in claim.status.devices if (each.driver, each.pool, each.device, each.share_id) == key]
    return {each.type for each in found[0].conditions if each.status == "True"} if found else None
