"""
Admission rules of what devices take of their node.
"""

from __future__ import annotations

from typing import Final

from dra_alloc.api import Device, NodeAllocatableOverhead, NodeAllocatableResourceMapping, Quantity
from dra_alloc.api.core.pods import HUGE
from dra_alloc.api.names import qualified_name_faults
from dra_alloc.manifest.validate.pods.containers import is_native
from dra_alloc.manifest.validate.releases import CAPACITY_KEYS_NAMED, PAIRS_BRIEFLY
from dra_alloc.manifest.validate.violations import Violations

_NAMES: Final = ("cpu", "memory")
_NO_NAME: Final = "must be a node allocatable resource name"
_ONE_OF: Final = "`capacityKey`, `deviceMultiplier`"
_ZERO: Final = Quantity("0")


def check_node_allocatable(v: Violations, device: Device, path: str) -> None:
    """Check what a device takes of its node; paths have long names whole. Spec: VAL-59."""
    for name, each in device.node_allocatable_resources.items():
        place = f"{path}.nodeAllocatableResources[{name}]"
        if name not in _NAMES and not name.startswith(HUGE):
            v.invalid(place, name, _NO_NAME)
        if each.mapping is None and each.overhead is None:
            v.required(place, "at least one of mapping or overhead must be set")
        if each.mapping is not None:
            _mapping(v, each.mapping, device, f"{place}.mapping")
        if each.overhead is not None:
            _overhead(v, each.overhead, f"{place}.overhead")
    for name, earlier in device.node_allocatable_resource_mappings.items():
        place = f"{path}.nodeAllocatableResourceMappings[{name}]"
        if not is_native(name):
            v.invalid(place, name, _NO_NAME)
        _capacity_key(v, earlier.capacity_key, device, place)
        _positive(v, earlier.allocation_multiplier, f"{place}.allocationMultiplier")


def _mapping(v: Violations, mapping: NodeAllocatableResourceMapping, device: Device, path: str) -> None:
    key, factor, fixed = mapping.capacity_key, mapping.capacity_multiplier, mapping.device_multiplier
    _capacity_key(v, key, device, path)
    if key is not None and factor is None:
        _together(v, path, "capacityMultiplier", "capacityKey")
    elif key is not None:
        _positive(v, factor, f"{path}.capacityMultiplier")
    _positive(v, fixed, f"{path}.deviceMultiplier")
    if key is None and factor is not None:
        _together(v, path, "capacityKey", "capacityMultiplier")
    if v.as_stored:
        return
    if key is None and fixed is None:
        v.invalid(v.sent(path), "", f"must specify one of: {_ONE_OF}")
    elif key is not None and fixed is not None:
        v.invalid(v.sent(path), "{capacityKey, deviceMultiplier}", f"must specify exactly one of: {_ONE_OF}")


def _capacity_key(v: Violations, key: str | None, device: Device, path: str) -> None:
    if key == "":
        v.invalid(f"{path}.capacityKey", "", "capacityKey must not be an empty string")
    elif key is not None:
        faults = qualified_name_faults(key, one_slash=True) if v.holds(CAPACITY_KEYS_NAMED) else ()
        v.names(f"{path}.capacityKey", faults)
        if not faults and key not in device.capacity:
            v.not_found(f"{path}.capacityKey", key, "")


def _positive(v: Violations, factor: Quantity | None, path: str) -> None:
    if factor is not None and factor <= _ZERO:
        v.invalid(path, str(factor), "must be positive")


def _together(v: Violations, path: str, name: str, other: str) -> None:
    """Miss a member beside another."""
    if v.holds(PAIRS_BRIEFLY):
        v.required(v.sent(f"{path}.{name}"), f"must be set when {other} is set")
    else:
        v.required(f"{path}.{name}", f"{name} is required when {other} is set")


def _overhead(v: Violations, overhead: NodeAllocatableOverhead, path: str) -> None:
    if overhead.per_pod is None and overhead.per_container is None:
        v.invalid(path, "", "at least one of perPod or perContainer must be set")
    for name, amount in (("perPod", overhead.per_pod), ("perContainer", overhead.per_container)):
        if amount is not None and amount < _ZERO:
            v.invalid(f"{path}.{name}", str(amount), "must be non-negative")
