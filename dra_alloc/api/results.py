"""ResourceClaim.status: what a claim was given, to whom it is promised, how its devices are."""

from typing import ClassVar

from pydantic import Field

from dra_alloc.api._base import FrozenMap, KubeModel, List, OptText, PtrBool, PtrText, RawJson, Struct, Text
from dra_alloc.api.amounts.quantity import Quantity
from dra_alloc.api.core.nodes import NodeSelector
from dra_alloc.api.meta import Condition, Timestamp
from dra_alloc.api.selectors import DeviceToleration, OpaqueDeviceConfiguration


class DeviceRequestAllocationResult(KubeModel):
    """
    One device given to one request.

    `request` is ``request`` or ``request/subrequest``; `share_id` tells apart the
    holders of a shared device, which take `consumed_capacity` of it.
    """

    request: Text = ""
    driver: Text = ""
    pool: Text = ""
    device: Text = ""
    admin_access: PtrBool = None
    tolerations: List[DeviceToleration] = ()
    binding_conditions: List[Text] = ()
    binding_failure_conditions: List[Text] = ()
    share_id: PtrText = Field(default=None, alias="shareID")
    consumed_capacity: FrozenMap[str, Quantity] = FrozenMap()
    skip_node_operations: List[Text] = ()


class DeviceAllocationConfiguration(KubeModel):
    """Parameters from the class or the claim, in the order in which they apply."""

    source: Text = ""
    requests: List[Text] = ()
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceAllocationResult(KubeModel):
    """All devices of a claim and their configuration; at most 32 and 64."""

    results: List[DeviceRequestAllocationResult] = ()
    config: List[DeviceAllocationConfiguration] = ()


class AllocationResult(KubeModel):
    """What a claim was given and the nodes it can be used on (every node, if there is no selector)."""

    devices: Struct[DeviceAllocationResult] = DeviceAllocationResult.model_construct()
    node_selector: NodeSelector | None = None
    allocation_timestamp: Timestamp = None


class ResourceClaimConsumerReference(KubeModel):
    """A pod, or pod group, that may use the claim."""

    api_group: OptText = None
    resource: Text = ""
    name: Text = ""
    uid: Text = ""


class NetworkDeviceData(KubeModel):
    """What the driver tells about a network device."""

    interface_name: OptText = None
    ips: List[Text] = ()
    hardware_address: OptText = None


class AllocatedDeviceStatus(KubeModel):
    """How an allocated device is, as its driver reports it."""

    wire_null: ClassVar[frozenset[str]] = frozenset({"conditions"})

    driver: Text = ""
    pool: Text = ""
    device: Text = ""
    share_id: PtrText = Field(default=None, alias="shareID")
    conditions: List[Condition] = ()
    data: RawJson = None
    network_data: NetworkDeviceData | None = None


class ResourceClaimStatus(KubeModel):
    """An absent `allocation` means: not allocated."""

    allocation: AllocationResult | None = None
    reserved_for: List[ResourceClaimConsumerReference] = ()
    devices: List[AllocatedDeviceStatus] = ()
