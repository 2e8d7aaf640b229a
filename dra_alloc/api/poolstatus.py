"""ResourcePoolStatusRequest: a question about pools that the control plane answers (v1alpha3, 1.36)."""

from dra_alloc.api._base import Int, KubeModel, List, OptText, PtrInt, Struct, Text
from dra_alloc.api.amounts.quantity import Quantity
from dra_alloc.api.meta import Condition, ObjectMeta


class ResourcePoolStatusRequestSpec(KubeModel):
    """Whose pools are asked about; an absent `limit` is 100."""

    driver: Text = ""
    pool_name: OptText = None
    limit: PtrInt = None
    default_partition_type_attribute: OptText = None


class PartitionSummary(KubeModel):
    """How many devices of one partition type there are, and how many of them can still be allocated (1.37)."""

    attribute: Text = ""
    type: Text = ""
    total: Int = 0
    allocatable: Int = 0


class ShareableCapacity(KubeModel):
    """A capacity of shared devices, summed up (1.37)."""

    name: Text = ""
    total: Quantity | None = None
    consumed: Quantity | None = None
    available: Quantity | None = None


class ShareableSummary(KubeModel):
    """How much of the shared devices is taken (1.37)."""

    fully_available_devices: Int = 0
    partially_available_devices: Int = 0
    capacity: List[ShareableCapacity] = ()


class PoolStatus(KubeModel):
    """What one pool holds; with a `validation_error` the counts are absent."""

    driver: Text = ""
    pool_name: Text = ""
    generation: Int = 0
    node_name: OptText = None
    resource_slice_count: PtrInt = None
    total_devices: PtrInt = None
    allocated_devices: PtrInt = None
    available_devices: PtrInt = None
    unavailable_devices: PtrInt = None
    validation_error: OptText = None
    partition_summary: List[PartitionSummary] = ()
    shareable_summary: ShareableSummary | None = None


class ResourcePoolStatusRequestStatus(KubeModel):
    """The answer."""

    pool_count: PtrInt = None
    pools: List[PoolStatus] = ()
    conditions: List[Condition] = ()


class ResourcePoolStatusRequest(KubeModel):
    """A question about the pools of a driver; answered once `status` is set."""

    api_version: Text = "resource.k8s.io/v1alpha3"
    kind: Text = "ResourcePoolStatusRequest"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
    spec: Struct[ResourcePoolStatusRequestSpec] = ResourcePoolStatusRequestSpec.model_construct()
    status: ResourcePoolStatusRequestStatus | None = None
