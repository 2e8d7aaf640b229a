"""
Pods that lose their places because a device of theirs has a NoExecute taint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dra_alloc.api import DeviceTaint, ResourceClaim
from dra_alloc.cluster.contents import contents_of
from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.pods.workloads.states import PodState, state_of
from dra_alloc.problem.devices import DeviceKey
from dra_alloc.problem.requests import claim_name
from dra_alloc.rules import tolerates

__all__ = ["evicted_by_taints"]


def evicted_by_taints(state: ClusterState, seconds: int | None = None) -> ClusterState:
    """
    Return the state in which the controller for device taints has evicted whoever does not tolerate one.

    `seconds` is how long the taints are looked at; None: until all that is tolerated for a time only is over.

    Spec: WHATIF-4.
    """
    if not state.settings.effective_gates()["DRADeviceTaints"]:
        return state
    tainted = dict(_tainted(state))
    why = {name: said for claim in state.dump.claims for name, said in _evicts(claim, tainted, seconds)}
    bound = [each for each in state.dump.pods if state_of(each) is PodState.BOUND]
    return state.evicting((each, said) for each in bound if (said := why.get(each.metadata.full_name)))


def _tainted(state: ClusterState) -> Iterator[tuple[DeviceKey, tuple[DeviceTaint, ...]]]:
    """Yield the devices that evict, with the taints that do."""
    inventory = contents_of(state.dump, state.dump.held, state.settings).inventory
    for row in inventory.slices:
        for device in row.devices:
            evicting = tuple(each for each in device.taints if each.effect == "NoExecute")
            if evicting:
                yield device.key, evicting


def _evicts(
    claim: ResourceClaim, tainted: Mapping[DeviceKey, tuple[DeviceTaint, ...]], seconds: int | None
) -> Iterator[tuple[str, str]]:
    """Yield the pods that a claim's devices evict, with why."""
    allocation = claim.status.allocation
    for each in allocation.devices.results if allocation is not None else ():
        for taint in tainted.get(DeviceKey(each.driver, each.pool, each.device), ()):
            kept = [found.toleration_seconds for found in each.tolerations if tolerates(found, taint)]
            limits = [limit for limit in kept if limit is not None]
            if kept and (not limits or (seconds is not None and min(limits) > seconds)):
                continue
            after = f" after {min(limits)} s" if limits else ""
            said = f"device {each.device} of {claim_name(claim)} is tainted {taint.key}:{taint.effect}{after}"
            for user in claim.status.reserved_for:
                if user.resource == "pods":
                    yield f"{claim.metadata.namespace}/{user.name}", said
