"""
Pods that have a node and their devices, and that kube-scheduler then fails to bind, however often it tries.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_alloc.api import Pod, ResourceClaim
from dra_alloc.cluster.attempts.scheduled import Unschedulable
from dra_alloc.manifest.validate.releases import GENERATED
from dra_alloc.pods.attempts import Ruling
from dra_alloc.pods.extended_resources import unmapped
from dra_alloc.profiles import Feature, Profile
from dra_alloc.releases import Release

_FAILS = 'running PreBind plugin "DynamicResources": '


def unbound(
    pod: Pod, known: Sequence[ResourceClaim], *, made: bool, ruling: Ruling, profile: Profile
) -> Unschedulable | None:
    """
    Return what becomes of a pod that cannot be bound, None where it can; with `made` the scheduler made a claim for it.

    Its claims keep what they were given. Spec: EXT-4, GATE-6.
    """
    name = pod.metadata.full_name
    text = unmapped(pod, ruling.served, profile.release) if known and not made else ""
    if text:
        return Unschedulable(name, text, "extended-resources")
    for claim in known if profile.on(Feature.BINDING) else ():
        if _is_undated(claim, pod):
            text, why = _refusal(claim, profile.release), _why(claim)
            return Unschedulable(name, text, "claim-undated", detail=why)
    return None


def _is_undated(claim: ResourceClaim, pod: Pod) -> bool:
    """Return whether others use a claim whose allocation does not say when it was made, as by older schedulers."""
    allocation, users = claim.status.allocation, claim.status.reserved_for
    if allocation is None or allocation.allocation_timestamp or not users:
        return False
    return all(each.resource != "podgroups" and each.uid != pod.metadata.uid for each in users)  # reserved once


def _refusal(claim: ResourceClaim, release: Release) -> str:
    name, meta = claim.metadata.name, claim.metadata
    value = "null: field cannot be modified once set" if GENERATED.holds(release) else "field is immutable"
    said = f'ResourceClaim.resource.k8s.io "{name}" is invalid: status.allocation: Invalid value: {value}'
    return f"{_FAILS}add reservation to claim {meta.namespace}/{name}: {said}"


def _why(claim: ResourceClaim) -> str:
    return (
        f"claim {claim.metadata.full_name} was allocated without allocationTimestamp, as schedulers before 1.36 do: "
        "this one adds it for a new user, which the API server refuses until no pod uses the claim any more"
    )
