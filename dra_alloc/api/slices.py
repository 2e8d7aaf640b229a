"""ResourceSlice: a part of a pool of devices."""

from collections.abc import Sequence

from dra_alloc.api._base import Int, KubeModel, List, PtrBool, PtrText, Struct, Text
from dra_alloc.api.core.nodes import NodeSelector
from dra_alloc.api.devices import CounterSet, Device
from dra_alloc.api.meta import ObjectMeta


class ResourcePool(KubeModel):
    """The pool a slice belongs to; only the newest generation counts, and only with all its slices."""

    name: Text = ""
    generation: Int = 0
    resource_slice_count: Int = 0


class ResourceSliceSpec(KubeModel):
    """
    The devices (or counter sets) of a slice and the nodes that reach them.

    Exactly one of `node_name`, `node_selector`, `all_nodes` and
    `per_device_node_selection` is set in a valid slice.
    """

    driver: Text = ""
    pool: Struct[ResourcePool] = ResourcePool.model_construct()
    node_name: PtrText = None
    node_selector: NodeSelector | None = None
    all_nodes: PtrBool = None
    devices: List[Device] = ()
    per_device_node_selection: PtrBool = None
    shared_counters: List[CounterSet] = ()
    partition_type_attribute: PtrText = None
    skip_node_operations: List[Text] = ()


class ResourceSlice(KubeModel):
    """A part of a pool, published by a driver."""

    api_version: Text = "resource.k8s.io/v1"
    kind: Text = "ResourceSlice"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
    spec: Struct[ResourceSliceSpec] = ResourceSliceSpec.model_construct()


def newest_slices(slices: Sequence[ResourceSlice]) -> list[ResourceSlice]:
    """Return those slices of one pool that have its highest generation, of at least one (`spec.pool.generation`)."""
    highest = max(each.spec.pool.generation for each in slices)
    return [each for each in slices if each.spec.pool.generation == highest]
