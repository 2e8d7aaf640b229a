"""
Fields of disabled feature gates, dropped from new objects as the API server drops them.

Only objects that are about to be applied are treated so: a stored object keeps
what it has, and the allocator decides what that means.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeVar

from pydantic.alias_generators import to_camel

from dra_alloc.api import FrozenMap
from dra_alloc.api.constraints import CONSTRAINT_KINDS
from dra_alloc.api.devices import VALUE_LISTS, has_lists
from dra_alloc.manifest.read.paths import key_path
from dra_alloc.releases import Release, Span

_Model = TypeVar("_Model")

_ASKED: Final[Mapping[str, tuple[str, ...]]] = {
    "admin_access": ("DRAAdminAccess",),
    "tolerations": ("DRADeviceTaints",),
    "capacity": ("DRAConsumableCapacity",),
    "derived_attributes": ("DRADerivedAttributes",),
}
_EARLY: Final = Span(end="1.35")
_BINDING: Final = ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus")
_PARTITIONS: Final = ("DRAPartitionableDevices",)
_SHARING: Final = ("DRAConsumableCapacity",)
#: Type -> its fields that need gates, with all of those that each needs.
_FIELDS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "DeviceRequest": {"first_available": ("DRAPrioritizedList",)},
    "ExactDeviceRequest": _ASKED,
    "DeviceSubRequest": _ASKED,
    "DeviceConstraint": {kind.member: (kind.gate,) for kind in CONSTRAINT_KINDS if kind.gate},
    "DeviceClassSpec": {"extended_resource_name": ("DRAExtendedResource",)},
    "ResourceSliceSpec": {
        "shared_counters": _PARTITIONS,
        "per_device_node_selection": _PARTITIONS,
        "partition_type_attribute": ("DRAPartitionableDevicesType",),
        "skip_node_operations": ("DRAOptionalNodeOperations",),
    },
    "Device": {
        **dict.fromkeys(("consumes_counters", "node_name", "node_selector", "all_nodes"), _PARTITIONS),
        "taints": ("DRADeviceTaints",),
        **dict.fromkeys(("binds_to_node", "binding_conditions", "binding_failure_conditions"), _BINDING),
        "allow_multiple_allocations": _SHARING,
        "node_allocatable_resources": ("DRANodeAllocatableResources",),
        "node_allocatable_resource_mappings": ("DRANodeAllocatableResources",),
    },
    "ResourceClaimStatus": {"devices": ("DRAResourceClaimDeviceStatus",)},
    "DeviceRequestAllocationResult": {
        "admin_access": ("DRAAdminAccess",),
        **dict.fromkeys(("share_id", "consumed_capacity"), _SHARING),
        **dict.fromkeys(("binding_conditions", "binding_failure_conditions"), _BINDING),
        "skip_node_operations": ("DRAOptionalNodeOperations",),
    },
    "AllocationResult": {"allocation_timestamp": _BINDING},
    "AllocatedDeviceStatus": {"share_id": _SHARING},
    "DeviceCapacity": {"request_policy": _SHARING},
    "DeviceCounterConsumption": {"compatibility_groups": ("DRADeviceCompatibilityGroups",)},
    "DeviceAttribute": dict.fromkeys(VALUE_LISTS, ("DRAListTypeAttributes",)),
}
#: Type -> its fields that hold some of the above.
_BELOW: Final[Mapping[str, tuple[str, ...]]] = {
    "DeviceClaim": ("requests", "constraints"),
    "DeviceRequest": ("exactly", "first_available"),
    "ResourceSliceSpec": ("devices",),
    "ResourceClaimStatus": ("allocation", "devices"),
    "AllocationResult": ("devices",),
    "DeviceAllocationResult": ("results",),
    "Device": ("attributes", "capacity", "consumes_counters"),
}


#: Type -> its fields that are kept whatever the gates say, with the releases that do.
_KEPT: Final[Mapping[str, Mapping[str, Span]]] = {
    "ExactDeviceRequest": {"tolerations": _EARLY},
    "DeviceSubRequest": {"tolerations": _EARLY},
    "DeviceConstraint": {"distinct_attribute": _EARLY},
    "AllocationResult": {"allocation_timestamp": Span("1.35")},
}


class DroppedField(NamedTuple):
    """A field that is not stored, by its path, and the gate that it needs; `of` which object, if that matters."""

    path: str
    gate: str
    of: str = ""

    def __str__(self) -> str:
        return f"{self.path} ({self.gate})"


def without_disabled(
    value: _Model, gates: Mapping[str, bool], path: str = "", *, release: Release
) -> tuple[_Model, tuple[DroppedField, ...]]:
    """
    Return a claim's devices or the spec of a class or slice without what a release's disabled gates take away.

    What that was is told beside it.

    `path` leads to it.

    A gate that the release does not have counts as off.

    Spec: GATE-1.
    """
    dropped: list[DroppedField] = []
    stored: _Model = _stored(value, path, _off(frozenset(gate for gate, on in gates.items() if on), release), dropped)
    return stored, tuple(dropped)


#: Type -> its fields that are off, each with a gate that it lacks, and those that hold more.
_Off = Mapping[str, tuple[tuple[tuple[str, str], ...], tuple[str, ...]]]


@lru_cache(maxsize=64)
def _off(on: frozenset[str], release: Release) -> _Off:
    found = {}
    kept = {kind: {name for name, span in fields.items() if span.holds(release)} for kind, fields in _KEPT.items()}
    for kind in _FIELDS.keys() | _BELOW.keys():
        lacking = {name: [gate for gate in needed if gate not in on] for name, needed in _FIELDS.get(kind, {}).items()}
        fields = tuple((name, gates[0]) for name, gates in lacking.items() if gates and name not in kept.get(kind, ()))
        found[kind] = fields, tuple(each for each in _BELOW.get(kind, ()))
    return found


def _stored(value: Any, path: str, off: _Off, dropped: list[DroppedField]) -> Any:
    if isinstance(value, tuple):
        members = tuple([_stored(each, f"{path}[{number}]", off, dropped) for number, each in enumerate(value)])
        return value if all(map(_is, members, value)) else members
    if isinstance(value, FrozenMap):
        if not any(map(_is_gated, value.values())):
            return value
        kept = {key: _stored(each, key_path(path, key), off, dropped) for key, each in value.items()}
        return value if all(map(_is, kept.values(), value.values())) else FrozenMap(kept)
    fields, below = off.get(type(value).__name__.removesuffix("Record"), ((), ()))
    changes: dict[str, Any] = {}
    for name, gate in fields:
        there = getattr(value, name, None)
        if there not in _NOTHING or (name in _POINTERS and there is not None):
            empty = () if isinstance(there, tuple) and name not in _POINTERS else None
            changes[name] = FrozenMap() if isinstance(there, FrozenMap) else empty
            dropped.append(DroppedField(_joined(path, name), gate))
    for name in below:
        if name not in changes:
            before = getattr(value, name)
            after = _stored(before, _joined(path, name), off, dropped) if before else before
            if after is not before:
                changes[name] = after
    return value.model_copy(update=changes) if changes else value


_NOTHING: Final[tuple[Any, ...]] = (None, (), {})
_POINTERS: Final = frozenset(VALUE_LISTS)


def _is_gated(entry: Any) -> bool:
    """Say whether an attribute or a capacity has something that needs a gate."""
    if hasattr(entry, "request_policy"):
        return entry.request_policy is not None
    return has_lists(entry)


def _is(one: Any, other: Any) -> bool:
    return one is other


def _joined(path: str, name: str) -> str:
    wire = to_camel(name)
    return f"{path}.{wire}" if path else wire
