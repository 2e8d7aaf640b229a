"""
Pods that ask for extended resources by name, served by a DeviceClass.

The scheduler makes one claim for them, for each node anew: what the node
offers through a device plugin is not asked from DRA.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from dra_alloc.api import (
    Container,
    DeviceClaim,
    DeviceClass,
    DeviceRequest,
    ExactDeviceRequest,
    FrozenMap,
    Node,
    ObjectMeta,
    Pod,
    ResourceClaim,
    ResourceClaimSpec,
)
from dra_alloc.problem.requests import EXTENDED_CLAIM, IMPLICIT
from dra_alloc.releases import Release

#: Since when a claim without requests is an error.
_MAPPED_SINCE: Final = Release(1, 35, 0, 0)


def class_by_resource(classes: Iterable[DeviceClass]) -> Mapping[str, str]:
    """
    Return the DeviceClass behind each extended resource name.

    Every class has its implicit name. Where two classes claim one explicit
    name, the newer wins, then the one whose name sorts first.

    Spec: EXT-1.
    """
    found: dict[str, str] = {}
    owners: dict[str, tuple[str, DeviceClass]] = {}
    for each in classes:
        name = each.metadata.name or ""
        found[f"{IMPLICIT}{name}"] = name
        explicit = each.spec.extended_resource_name
        if explicit:
            before = owners.get(explicit)
            if before is None or _wins(each, before[1]):
                owners[explicit] = (name, each)
    return {**found, **{resource: name for resource, (name, _) in owners.items()}}


def _wins(challenger: DeviceClass, holder: DeviceClass) -> bool:
    created, before = challenger.metadata.creation_timestamp or "", holder.metadata.creation_timestamp or ""
    if created != before:
        return created > before
    return (challenger.metadata.name or "") < (holder.metadata.name or "")


def extended_claim(pod: Pod, node: Node, classes: Mapping[str, str]) -> ResourceClaim | None:
    """
    Return the claim the scheduler makes for the pod's extended resources on the node; None if it needs none.

    Spec: EXT-2 (which resources), EXT-3 (requests).
    """
    served = [name for name in _extended(pod) if name in classes and not offers(node, name)]
    requests = [request for name in served for request in _requests(pod, name, classes[name])]
    if not requests:
        return None
    meta = ObjectMeta(
        name=f"{pod.metadata.name or ''}-extended-resources",
        namespace=pod.metadata.namespace,
        annotations=FrozenMap({EXTENDED_CLAIM: "true"}),
    )
    requests.sort(key=lambda request: request.name)
    return ResourceClaim(metadata=meta, spec=ResourceClaimSpec(devices=DeviceClaim(requests=tuple(requests))))


def unmapped(pod: Pod, classes: Mapping[str, str], release: Release) -> str:
    """
    Return the scheduler's words if it cannot bind a pod with claims that needs none for its extended resources.

    It makes that claim nevertheless, without requests, and then has nothing to write of it into the pod's status.

    Spec: EXT-4.
    """
    if release < _MAPPED_SINCE or not any(name in classes for name in _extended(pod)):
        return ""
    said = f"nil or empty request mappings, no update of pod {pod.metadata.full_name} ExtendedResourceClaimStatus"
    return f'running PreBind plugin "DynamicResources": {said}'


def asks_for_extended(pod: Pod) -> bool:
    """Return whether a container asks for any extended resource, served by a DeviceClass or not."""
    return bool(_extended(pod))


def unserved(pod: Pod, node: Node, classes: Mapping[str, str]) -> str | None:
    """
    Return the first extended resource that neither a DeviceClass nor the node offers; None if there is none.

    A node without allocatable resources does not say what it offers.
    """
    if not node.status.allocatable:
        return None
    return next((name for name in unclassed(pod, classes) if not offers(node, name)), None)


def unclassed(pod: Pod, classes: Mapping[str, str]) -> tuple[str, ...]:
    """Return the extended resources that the pod asks for and no DeviceClass serves."""
    return tuple(name for name in _extended(pod) if name not in classes)


def _extended(pod: Pod) -> list[str]:
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    names = {name for each in containers for name, amount in _asked(each).items() if amount > 0}
    return sorted(name for name in names if is_extended(name))


def is_extended(name: str) -> bool:
    """Say whether a resource is neither Kubernetes' own nor a node's, or stands for a class."""
    domain, slash, _ = name.partition("/")
    if not slash or name.startswith("requests."):
        return False
    return name.startswith(IMPLICIT) or not (domain == "kubernetes.io" or domain.endswith(".kubernetes.io"))


def _asked(container: Container) -> dict[str, int]:
    """Return the whole-number amounts a container asks for; a limit stands for a missing request."""
    amounts = {**container.resources.limits, **container.resources.requests}
    return {name: amount.value() for name, amount in amounts.items()}


def offers(node: Node, resource: str) -> bool:
    """Return whether the node offers a resource through a device plugin, as far as it says."""
    amount = node.status.allocatable.get(resource)
    return amount is not None and amount.value() > 0


def _requests(pod: Pod, resource: str, device_class: str) -> list[DeviceRequest]:
    """Return the requests for one resource: each lasting container's own, and the largest of the passing ones."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    passing = [index for index, each in enumerate(pod.spec.init_containers) if each.restart_policy != "Always"]
    counts = {index: amount for index, each in enumerate(containers) if (amount := _asked(each).get(resource, 0)) > 0}
    lasting = {index: count for index, count in counts.items() if index not in passing}
    made = [_request(containers, index, resource, device_class, count) for index, count in lasting.items()]
    missing = {
        index: counts[index] - sum(count for later, count in lasting.items() if later >= index)
        for index in passing
        if index in counts
    }
    largest = max(missing.values(), default=0)
    if largest > 0:
        first = next(index for index, count in missing.items() if count == largest)
        made.append(_request(containers, first, resource, device_class, largest))
    return made


def _request(
    containers: Sequence[Container], index: int, resource: str, device_class: str, count: int
) -> DeviceRequest:
    position = sorted(_asked(containers[index])).index(resource)
    return DeviceRequest(
        name=f"container-{index}-request-{position}",
        exactly=ExactDeviceRequest(device_class_name=device_class, allocation_mode="ExactCount", count=count),
    )
