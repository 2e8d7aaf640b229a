"""
What pods ask of a node's own resources, as the scheduler adds it up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from dra_alloc.api import Container, ContainerStatus, NodeAllocatableClaimStatus, Pod, Quantity
from dra_alloc.api.core.pods import HUGE

CPU: Final = "cpu"
MEMORY: Final = "memory"
EPHEMERAL: Final = "ephemeral-storage"
PODS: Final = "pods"
_KNOWN: Final = frozenset({CPU, MEMORY, EPHEMERAL, PODS})

#: Amounts by resource, in billionths, so that sums are exact.
Nanos = dict[str, int]
NOTHING: Final[Mapping[str, int]] = {}
_ZERO: Final = Quantity("0")
_Asked = Callable[[Container], Mapping[str, Quantity]]
#: What counts for scores where a container does not say.
UNASKED: Final[Mapping[str, int]] = {CPU: Quantity("100m").nano, MEMORY: Quantity("200Mi").nano}


def in_units(amounts: Mapping[str, int]) -> dict[str, int]:
    """
    Return amounts in the scheduler's units, rounded up: thousandths of a cpu, whole numbers of all else.

    Names that are no resource of nodes are left out.
    """
    return {
        name: -(-amount // 10**6) if name == CPU else -(-amount // 10**9)
        for name, amount in amounts.items()
        if name in _KNOWN or name.startswith((HUGE, "attachable-volumes-")) or "/" in name
    }


def asked_of_container(container: Container) -> Mapping[str, Quantity]:
    """Return what a container asks for; a limit stands for a missing request."""
    resources = container.resources
    return {**resources.limits, **resources.requests} if resources.limits else resources.requests


def pod_requests(
    pod: Pod, unasked: Mapping[str, int] | None = None, *, pod_level: bool = True, taken: Mapping[str, int] = NOTHING
) -> Nanos:
    """
    Return what the pod asks for, before any node has it.

    Containers and sidecars run together, init containers one after the other
    beside the sidecars before them; `taken` by devices comes on top. What the
    pod asks for as a whole counts instead, overhead on top. `unasked` stands
    for what a container leaves out.
    """
    total = _together(pod, asked_of_container, unasked)
    whole = _of_the_pod(pod, total) if pod_level else {}
    _add(total, taken)
    return _plus_overhead(pod, total | whole)


def whole_requests(pod: Pod, taken: Mapping[str, int]) -> list[tuple[str, int, int]]:
    """Return what the pod asks for as a whole, by resource, and what its containers and devices need of it."""
    total = _together(pod, asked_of_container, None)
    whole = _of_the_pod(pod, total)
    _add(total, taken)
    return [(name, amount, total.get(name, 0)) for name, amount in whole.items()]


def taken_for(claims: Iterable[NodeAllocatableClaimStatus], container: str | None = None) -> Nanos:
    """
    Return what devices take for the pod, as its status has it; of one container, what comes on top of its limits.

    Spec: NODERES-2.
    """
    total: Nanos = {}
    for claim in claims:
        if container is not None and container not in claim.containers:
            continue
        users = len(claim.containers) if container is None else 1
        _add(total, {each.name: each.quantity.nano for each in claim.mapping})
        for each in claim.overhead:
            per_pod, per_container = each.per_pod or _ZERO, each.per_container or _ZERO
            _add(total, {each.name: per_pod.nano + per_container.nano * users})
    return total


def container_limits_total(pod: Pod) -> Nanos:
    """Return the sum of the limits of the pod's containers, those that pass counted as requests are."""
    return _together(pod, lambda container: container.resources.limits, None)


def pod_limits(pod: Pod) -> Nanos:
    """Return what the pod may use at most, where it says so; overhead comes on top of limits that there are."""
    total = container_limits_total(pod)
    if pod.spec.resources is not None:
        total |= {name: amount.nano for name, amount in pod.spec.resources.limits.items() if _is_of_pods(name)}
    over = _nanos(pod.spec.overhead)
    return {name: amount + over.get(name, 0) if amount else 0 for name, amount in total.items()}


def used_by(pod: Pod, unasked: Mapping[str, int] | None = None) -> Nanos:
    """
    Return what a pod uses on its node: what it asks for, or what it was given where that is more.

    A resize that cannot be done does not count. What its devices take comes on top.
    """
    status = pod.status
    taken = taken_for(status.node_allocatable_resource_claim_statuses)
    given = {each.name: each for each in (*status.container_statuses, *status.init_container_statuses)}
    if not any(each.allocated_resources or each.resources for each in given.values()) and status.resources is None:
        return pod_requests(pod, unasked, taken=taken)
    hopeless = any(each.type == "PodResizePending" and each.reason == "Infeasible" for each in status.conditions)

    def wanted(container: Container) -> Mapping[str, Quantity]:
        return {} if hopeless else asked_of_container(container)

    def allocated(container: Container) -> Mapping[str, Quantity]:
        found = given.get(container.name)
        return (found.allocated_resources if found is not None else {}) or wanted(container)

    def actual(container: Container) -> Mapping[str, Quantity]:
        found: ContainerStatus | None = given.get(container.name)
        resources = None if found is None else found.resources
        return (resources.requests if resources is not None else {}) or allocated(container)

    asked, most = _together(pod, wanted, unasked), _together(pod, allocated, unasked)
    real = _together(pod, actual, unasked)
    whole = {} if hopeless else _of_the_pod(pod, _highest((asked, most, real)))
    for each in (asked, most):
        _add(each, taken)
    total = _highest((asked, most, real))
    if whole or (pod.spec.resources is not None and pod.spec.resources.requests):
        more = (status.allocated_resources, status.resources.requests if status.resources is not None else {})
        total |= _highest((whole, *(_nanos(each) for each in more)))
    return _plus_overhead(pod, total)


def _together(pod: Pod, asked: _Asked, unasked: Mapping[str, int] | None) -> Nanos:
    def of(container: Container) -> Nanos:
        found = _nanos(asked(container))
        return {**unasked, **found} if unasked else found

    total: Nanos = {}
    for container in pod.spec.containers:
        _add(total, of(container))
    sidecars: Nanos = {}
    most: Nanos = {}
    for container in pod.spec.init_containers:
        amounts = of(container)
        if container.restart_policy == "Always":
            _add(total, amounts)
            _add(sidecars, amounts)
            amounts = sidecars
        else:
            _add(amounts, sidecars)
        most = _highest((most, amounts))
    return _highest((total, most))


def _of_the_pod(pod: Pod, containers: Nanos) -> Nanos:
    """
    Return what the pod asks for as a whole, with the API server's defaults.

    With limits alone it is what the containers ask for, or else the limit.
    """
    resources = pod.spec.resources
    if resources is None:
        return {}
    whole = {name: amount.nano for name, amount in resources.requests.items() if _is_of_pods(name)}
    if resources.limits:
        for name, amount in containers.items():
            if name in (CPU, MEMORY):
                whole.setdefault(name, amount)
        for name, limit in resources.limits.items():
            if _is_of_pods(name):
                whole.setdefault(name, limit.nano)
    return whole


def asks_as_a_whole(pod: Pod) -> bool:
    """Say whether the pod asks for, or limits, any resource beside what its containers do."""
    resources = pod.spec.resources
    return resources is not None and any(map(_is_of_pods, (*resources.requests, *resources.limits)))


def _is_of_pods(name: str) -> bool:
    return name in (CPU, MEMORY) or name.startswith(HUGE)


def _plus_overhead(pod: Pod, total: Nanos) -> Nanos:
    _add(total, _nanos(pod.spec.overhead))
    return total


def _nanos(amounts: Mapping[str, Quantity]) -> Nanos:
    return {name: amount.nano for name, amount in amounts.items()}


def _add(total: Nanos, more: Mapping[str, int]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def _highest(several: Iterable[Mapping[str, int]]) -> Nanos:
    most: Nanos = {}
    for amounts in several:
        for name, amount in amounts.items():
            if amount > most.get(name, amount - 1):
                most[name] = amount
    return most
