"""
What a claim is charged: the devices that it may take at most, by class and by the names of extended resources.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from dra_alloc.api import Pod, Quantity, ResourceClaim
from dra_alloc.api.claims import AnyRequest
from dra_alloc.limits import ALLOCATION_RESULTS_MAX
from dra_alloc.pods.quota.charges import ONE, Amounts, Charge
from dra_alloc.problem.requests import EXTENDED_CLAIM, IMPLICIT

CLAIMS: Final = "resourceclaims.resource.k8s.io"
REQUESTS: Final = "requests."
_COUNT: Final = f"count/{CLAIMS}"
_DEVICES: Final = ".deviceclass.resource.k8s.io/devices"


@dataclass(frozen=True, slots=True)
class ExtendedNames:
    """
    The extended resources that stand for device classes: the explicit name of each class, the class behind each name.

    Without the gate there are none, and `enabled` says so.
    """

    enabled: bool = False
    of_class: Mapping[str, str] = field(default_factory=dict)
    classes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClaimCharge(Charge):
    """The charge of a claim; `all_of` are the keys to which it is charged for all devices that match."""

    names: ExtendedNames
    all_of: frozenset[str] = frozenset()

    def counted_as(self, key: str) -> str:
        """Say what All comes to, of how few devices it may be. Spec: QUOTA-1."""
        return f"All counts as {ALLOCATION_RESULTS_MAX}" if key in self.all_of else ""

    def concerns(self, key: str) -> bool:
        """Say whether a quota of the key counts claims. Spec: QUOTA-5."""
        if key == _COUNT or key.endswith(_DEVICES):
            return True
        return self.names.enabled and key.startswith(REQUESTS) and key.removeprefix(REQUESTS) in self.names.classes


def claim_charge(claim: ResourceClaim, names: ExtendedNames, paid: Amounts | None = None) -> ClaimCharge:
    """
    Return what a claim is charged; `paid` is what the pod that it was made for is charged already.

    Spec: QUOTA-1 to QUOTA-4.
    """
    devices: Counter[str] = Counter()
    for request in claim.spec.devices.requests:
        if request.first_available:
            most: Counter[str] = Counter()
            for sub in request.first_available:
                most |= Counter({sub.device_class_name: _devices(sub)})
            devices.update(most)
        elif request.exactly is not None:
            devices[request.exactly.device_class_name] += _devices(request.exactly)
    usage = {_COUNT: ONE, **{f"{name}{_DEVICES}": Quantity.of(amount) for name, amount in devices.items()}}
    if names.enabled:
        for key, amount in _extended(devices, names).items():
            left = Quantity.of(amount) - (paid or {}).get(key, Quantity.of(0))
            if left.nano > 0:
                usage[key] = left
    return ClaimCharge(CLAIMS, usage, names, frozenset(_all_of(claim, names)))


def _all_of(claim: ResourceClaim, names: ExtendedNames) -> Iterator[str]:
    """Yield the keys to which a claim is charged for all devices of a class."""
    for _, _, ask in claim.spec.devices.asked():
        if ask.allocation_mode == "All":
            yield f"{ask.device_class_name}{_DEVICES}"
            yield from _extended({ask.device_class_name: 1}, names) if names.enabled else ()


def _devices(request: AnyRequest) -> int:
    """Return how many devices a request can get at most; of a mode that nobody knows none."""
    if request.allocation_mode == "All":
        return ALLOCATION_RESULTS_MAX
    return request.count or 0 if request.allocation_mode == "ExactCount" else 0


def _extended(devices: Mapping[str, int], names: ExtendedNames) -> dict[str, int]:
    """Return the same devices by the names of extended resources; of classes with one name the largest counts."""
    found: dict[str, int] = {}
    for device_class, amount in devices.items():
        if not device_class:
            continue
        found[f"{REQUESTS}{IMPLICIT}{device_class}"] = amount
        if device_class in names.of_class:
            key = f"{REQUESTS}{names.of_class[device_class]}"
            found[key] = max(amount, found.get(key, 0))
    return found


def paid_by(claim: ResourceClaim, pods: Mapping[str, Pod]) -> Pod | None:
    """
    Return the pod for whose extended resources a claim was made, if the claim and the pod agree; `pods` by full name.

    Spec: QUOTA-4.
    """
    meta = claim.metadata
    owner = next((each for each in meta.owner_references if each.controller), None)
    if meta.annotations.get(EXTENDED_CLAIM) != "true" or owner is None:
        return None
    pod = pods.get(f"{meta.namespace}/{owner.name}" if meta.namespace else owner.name)
    if (owner.kind, owner.api_version) != ("Pod", "v1") or pod is None or owner.uid != (pod.metadata.uid or ""):
        return None
    status = pod.status.extended_resource_claim_status
    return pod if status is None or status.resource_claim_name == meta.name else None
