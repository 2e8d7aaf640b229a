"""A device as its driver publishes it: attributes, capacity, counters, taints."""

from operator import attrgetter
from typing import Any, ClassVar, Final

from pydantic import Field

from dra_alloc.api._base import (
    Bool,
    FrozenMap,
    Int,
    KubeModel,
    List,
    OptText,
    PtrBool,
    PtrInt,
    PtrList,
    PtrText,
    Text,
)
from dra_alloc.api.amounts.quantity import ZERO, Quantity
from dra_alloc.api.core.nodes import NodeSelector
from dra_alloc.api.meta import Timestamp

#: Members of an attribute that hold several values.
VALUE_LISTS: Final = ("ints", "bools", "strings", "versions")
#: Read these of an attribute, be it a model or a record.
value_lists: Final = attrgetter(*VALUE_LISTS)
_NO_LISTS: Final = (None,) * len(VALUE_LISTS)


def has_lists(attribute: Any) -> bool:
    """Return whether an attribute, a model or a record, has lists of values, be they empty."""
    return bool(value_lists(attribute) != _NO_LISTS)


class DeviceAttribute(KubeModel):
    """
    One value, scalar or list: exactly one member must be set.

    An empty list is set, an absent one is not. `int_` and `bool_` are ``int`` and ``bool`` on the wire.
    """

    int_: PtrInt = Field(default=None, alias="int")
    bool_: PtrBool = Field(default=None, alias="bool")
    string: PtrText = None
    version: PtrText = None
    ints: PtrList[Int] = None
    bools: PtrList[Bool] = None
    strings: PtrList[Text] = None
    versions: PtrList[Text] = None


class CapacityRequestPolicyRange(KubeModel):
    """Amounts from `min` to `max` in steps of `step`; a request is rounded up to the next one."""

    min: Quantity | None = None
    max: Quantity | None = None
    step: Quantity | None = None


class CapacityRequestPolicy(KubeModel):
    """How much of a shared device's capacity one request may take, and how much it takes unasked."""

    wire_null: ClassVar[frozenset[str]] = frozenset({"default"})

    default: Quantity | None = None
    valid_values: List[Quantity] = ()
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(KubeModel):
    """An amount of something; a missing value reads as 0."""

    value: Quantity = ZERO
    request_policy: CapacityRequestPolicy | None = None


class Counter(KubeModel):
    """An amount shared, or taken, by the devices of a pool."""

    value: Quantity = ZERO


class CounterSet(KubeModel):
    """Named counters that the devices of a pool draw from."""

    wire_null: ClassVar[frozenset[str]] = frozenset({"counters"})

    name: Text = ""
    counters: FrozenMap[str, Counter] = FrozenMap()


class DeviceCounterConsumption(KubeModel):
    """What a device takes from one counter set while it is allocated."""

    wire_null: ClassVar[frozenset[str]] = frozenset({"counters"})

    counter_set: Text = ""
    counters: FrozenMap[str, Counter] = FrozenMap()
    compatibility_groups: List[Text] = ()


class DeviceTaint(KubeModel):
    """
    A mark that keeps claims without a matching toleration away.

    Effects: NoSchedule, NoExecute, None; others are kept and block nothing.
    """

    key: Text = ""
    value: OptText = None
    effect: Text = ""
    time_added: Timestamp = None


class NodeAllocatableResourceMapping(KubeModel):
    """How much of a node resource an allocation takes: a multiple of a capacity, or per device."""

    capacity_key: PtrText = None
    capacity_multiplier: Quantity | None = None
    device_multiplier: Quantity | None = None


class NodeAllocatableOverhead(KubeModel):
    """What the node needs on top, for each pod or container."""

    per_pod: Quantity | None = None
    per_container: Quantity | None = None


class NodeAllocatableResource(KubeModel):
    """What of a node resource (cpu, memory, ...) a device takes (1.37)."""

    mapping: NodeAllocatableResourceMapping | None = None
    overhead: NodeAllocatableOverhead | None = None


class NodeAllocatableResourceMapping136(KubeModel):
    """The shape of 1.36; 1.37 drops it on read."""

    capacity_key: PtrText = None
    allocation_multiplier: Quantity | None = None


class Device(KubeModel):
    """One device of a slice; `name` is unique in its pool."""

    name: Text = ""
    attributes: FrozenMap[str, DeviceAttribute] = FrozenMap()
    capacity: FrozenMap[str, DeviceCapacity] = FrozenMap()
    consumes_counters: List[DeviceCounterConsumption] = ()
    node_name: PtrText = None
    node_selector: NodeSelector | None = None
    all_nodes: PtrBool = None
    taints: List[DeviceTaint] = ()
    binds_to_node: PtrBool = None
    binding_conditions: List[Text] = ()
    binding_failure_conditions: List[Text] = ()
    allow_multiple_allocations: PtrBool = None
    node_allocatable_resources: FrozenMap[str, NodeAllocatableResource] = FrozenMap()
    node_allocatable_resource_mappings: FrozenMap[str, NodeAllocatableResourceMapping136] = FrozenMap()
