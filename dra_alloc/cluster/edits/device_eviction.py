"""
Pods that lose their places because a device of theirs has a NoExecute taint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from dra_alloc.api import DeviceTaint, DeviceToleration, ResourceClaim
from dra_alloc.cluster.contents import contents_of
from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.pods.workloads.states import PodState, state_of
from dra_alloc.problem.devices import DeviceKey
from dra_alloc.problem.requests import claim_name
from dra_alloc.profiles import Semantics
from dra_alloc.rules import tolerates

_TimeOf = Callable[[DeviceTaint], int | None]
_Tolerated = Callable[[Iterable[DeviceToleration], DeviceTaint], int | None]


def evicted_by_taints(state: ClusterState, *, for_ever: bool = True) -> ClusterState:
    """
    Return the state in which the controller for device taints has evicted whoever does not tolerate one.

    It is looked at until all that is tolerated for a time only is over, or, if not `for_ever`, up to the clock.

    Spec: WHATIF-4, WHATIF-7.
    """
    if not state.settings.effective_gates()["DRADeviceTaints"]:
        return state
    tainted = dict(_tainted(state))
    since = {id(rule.spec.taint): seconds for rule, seconds in state.since}

    def time_of(taint: DeviceTaint) -> int | None:
        return None if for_ever else state.clock - since.get(id(taint), 0)

    only_exact = state.settings.semantics == Semantics.UPSTREAM
    tolerated = partial(_time_tolerated, only_exact=only_exact)
    why = {name: said for claim in state.dump.claims for name, said in _evicts(claim, tainted, (time_of, tolerated))}
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
    claim: ResourceClaim, tainted: Mapping[DeviceKey, tuple[DeviceTaint, ...]], asking: tuple[_TimeOf, _Tolerated]
) -> Iterator[tuple[str, str]]:
    """Yield the pods that a claim's devices evict, with why."""
    time_of, tolerated = asking
    allocation = claim.status.allocation
    for each in allocation.devices.results if allocation is not None else ():
        for taint in tainted.get(DeviceKey(each.driver, each.pool, each.device), ()):
            limit, passed = tolerated(each.tolerations, taint), time_of(taint)
            if limit is None or (passed is not None and limit > passed):
                continue
            after = f" after {limit} s" if limit else ""
            said = f"device {each.device} of {claim_name(claim)} is tainted {taint.key}:{taint.effect}{after}"
            for user in claim.status.reserved_for:
                if user.resource == "pods":
                    yield f"{claim.metadata.namespace}/{user.name}", said


def _time_tolerated(tolerations: Iterable[DeviceToleration], taint: DeviceTaint, *, only_exact: bool) -> int | None:
    """
    Return for how many seconds a taint is tolerated, None for ever: the shortest time counts, and for ever most.

    The controller passes over tolerations that name no effect, though these tolerate every one.

    Spec: WHATIF-4.
    """
    found = [each for each in tolerations if tolerates(each, taint) and (each.effect or not only_exact)]
    if any(each.toleration_seconds is None for each in found):
        return None
    return min((max(0, each.toleration_seconds or 0) for each in found), default=0)
