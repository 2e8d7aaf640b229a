"""ResourceClaim and ResourceClaimTemplate: what is asked for."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, TypeAlias

from pydantic import AfterValidator

from dra_alloc.api._base import FrozenMap, KubeModel, List, OptText, PtrBool, PtrInt, Struct, Text
from dra_alloc.api.amounts.quantity import Quantity
from dra_alloc.api.constraints import DeviceConstraint
from dra_alloc.api.meta import ObjectMeta
from dra_alloc.api.results import ResourceClaimStatus
from dra_alloc.api.selectors import DeviceSelector, DeviceToleration, OpaqueDeviceConfiguration


def _zero_is_absent(value: int | None) -> int | None:
    return value or None


Count = Annotated[PtrInt, AfterValidator(_zero_is_absent)]


class CapacityRequirements(KubeModel):
    """The least amount of each named capacity."""

    requests: FrozenMap[str, Quantity] = FrozenMap()


class DerivedAttribute(KubeModel):
    """An attribute computed by a CEL expression, for constraints to compare (1.37)."""

    name: Text = ""
    expression: Text = ""


class ExactDeviceRequest(KubeModel):
    """
    Devices of one class: `count` of them, or all.

    The API server reads an absent `allocation_mode` as ExactCount and an absent
    `count` as 1; a model read from a file keeps them absent until defaults are set.
    """

    device_class_name: Text = ""
    selectors: List[DeviceSelector] = ()
    allocation_mode: OptText = None
    count: Count = None
    admin_access: PtrBool = None
    tolerations: List[DeviceToleration] = ()
    capacity: CapacityRequirements | None = None
    derived_attributes: List[DerivedAttribute] = ()


class DeviceSubRequest(KubeModel):
    """One alternative of a request; the first that can be met is taken."""

    name: Text = ""
    device_class_name: Text = ""
    selectors: List[DeviceSelector] = ()
    allocation_mode: OptText = None
    count: Count = None
    tolerations: List[DeviceToleration] = ()
    capacity: CapacityRequirements | None = None
    derived_attributes: List[DerivedAttribute] = ()


#: What a request asks for, or one of its alternatives.
AnyRequest: TypeAlias = ExactDeviceRequest | DeviceSubRequest


class DeviceRequest(KubeModel):
    """A named request: either `exactly` one description or the first possible of several."""

    name: Text = ""
    exactly: ExactDeviceRequest | None = None
    first_available: List[DeviceSubRequest] = ()


class DeviceClaimConfiguration(KubeModel):
    """Parameters for the drivers of some requests (of all, if none is named)."""

    requests: List[Text] = ()
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClaim(KubeModel):
    """Requests, and what must hold between their devices."""

    wire_null: ClassVar[frozenset[str]] = frozenset({"requests"})

    requests: List[DeviceRequest] = ()
    constraints: List[DeviceConstraint] = ()
    config: List[DeviceClaimConfiguration] = ()

    def asked(self) -> Iterator[tuple[str, str, AnyRequest]]:
        """Yield what each request and alternative asks for, with its path and its full name."""
        for number, request in enumerate(self.requests):
            if request.exactly is not None:
                yield f"requests[{number}].exactly", request.name, request.exactly
            for index, sub in enumerate(request.first_available):
                yield f"requests[{number}].firstAvailable[{index}]", f"{request.name}/{sub.name}", sub

    def class_names(self) -> Iterator[str]:
        """Yield the class that each request and alternative asks for."""
        return (each.device_class_name for _, _, each in self.asked())


class ResourceClaimSpec(KubeModel):
    """What a claim asks for; immutable once created."""

    devices: Struct[DeviceClaim] = DeviceClaim.model_construct()


class ResourceClaim(KubeModel):
    """A request for devices, and in its status what it was given."""

    api_version: Text = "resource.k8s.io/v1"
    kind: Text = "ResourceClaim"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
    spec: Struct[ResourceClaimSpec] = ResourceClaimSpec.model_construct()
    status: Struct[ResourceClaimStatus] = ResourceClaimStatus.model_construct()


class ResourceClaimTemplateSpec(KubeModel):
    """Labels, annotations and spec of the claims made from a template."""

    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
    spec: Struct[ResourceClaimSpec] = ResourceClaimSpec.model_construct()


class ResourceClaimTemplate(KubeModel):
    """A pattern from which one claim is made for each pod that names it."""

    api_version: Text = "resource.k8s.io/v1"
    kind: Text = "ResourceClaimTemplate"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
    spec: Struct[ResourceClaimTemplateSpec] = ResourceClaimTemplateSpec.model_construct()
