"""
Claims flattened for the search: one row per request, one per alternative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_alloc.api import (
    DeviceClass,
    DeviceToleration,
    Quantity,
    ResourceClaim,
)
from dra_alloc.api.claims import AnyRequest
from dra_alloc.problem.devices import DeviceRow

#: Before a class's name: the extended resource that every class serves.
IMPLICIT: Final = "deviceclass.resource.kubernetes.io/"
#: The annotation of claims that kube-scheduler makes for extended resources.
EXTENDED_CLAIM: Final = "resource.kubernetes.io/extended-resource-claim"


def claim_name(claim: ResourceClaim) -> str:
    """Return `namespace/name`, or just the name without a namespace."""
    return claim.metadata.full_name


class Ask(Struct, frozen=True, eq=False):
    """
    What one request, or one alternative of it, wants: the unit the search serves.

    `id` counts through all claims. `full_name` is what results carry
    (`request` or `request/subrequest`), `own_name` what error texts carry.
    `count` is the number of devices; with `all_devices` it is the length of
    `recorded`, the devices that allocationMode All has to take. `settled` is
    what a pick for it consumes, if something else decided that than its capacity.
    """

    id: int
    claim: int
    request_name: str
    own_name: str
    full_name: str
    device_class: DeviceClass
    wire: AnyRequest
    all_devices: bool
    count: int
    recorded: tuple[DeviceRow, ...]
    admin: bool
    tolerations: tuple[DeviceToleration, ...]
    capacity: tuple[tuple[str, Quantity], ...]
    settled: Mapping[str, Quantity] | None = None

    @property
    def request(self) -> tuple[int, str]:
        """Return claim and name of the request, which its alternatives have in common."""
        return self.claim, self.request_name

    @property
    def class_name(self) -> str:
        """Return the name of the DeviceClass."""
        return self.device_class.metadata.name or ""

    def named_by(self, names: Sequence[str]) -> bool:
        """Return whether a list of request names covers it; an empty list covers all."""
        return not names or self.request_name in names or self.full_name in names

    def with_recorded(self, devices: tuple[DeviceRow, ...]) -> Ask:
        """Return the same request with the devices that All has to take."""
        return replace(self, recorded=devices, count=len(devices))

    def consuming(self, amounts: Mapping[str, Quantity]) -> Ask:
        """Return the same request as it is served by a pick that consumes these amounts."""
        return replace(self, settled=amounts)


class RequestRow(Struct, frozen=True, eq=False):
    """A request with its alternatives in order of preference; a plain request has exactly one."""

    name: str
    prioritized: bool
    asks: tuple[Ask, ...]


class ClaimRow(Struct, frozen=True, eq=False):
    """A claim to allocate."""

    index: int
    name: str
    wire: ResourceClaim
    requests: tuple[RequestRow, ...]

    def extended_resource(self, ask: Ask) -> str:
        """Return the resource that a pod asked for, where kube-scheduler made the claim for that; else empty."""
        return extended_resource(self.wire, ask.device_class)


def extended_resource(claim: ResourceClaim, device_class: DeviceClass) -> str:
    """Return the resource for which kube-scheduler made a claim of a class; empty for a claim that it did not make."""
    if claim.metadata.annotations.get(EXTENDED_CLAIM) != "true":
        return ""
    return device_class.spec.extended_resource_name or f"{IMPLICIT}{device_class.metadata.name}"
