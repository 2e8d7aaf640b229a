"""
Fields that not every release has: what an older API server does not know, it takes for a spelling mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from dra_alloc.api.devices import VALUE_LISTS
from dra_alloc.manifest.make.schema import ObjectType, pruned
from dra_alloc.releases import Release, Span

_LISTS: Final = Span("1.36")
_LATEST: Final = Span("1.37")
#: Type -> its fields that some release does not have, with the releases that do.
_FIELDS: Final[Mapping[str, Mapping[str, Span]]] = {
    "DeviceAttribute": dict.fromkeys(VALUE_LISTS, _LISTS),
    "Device": {"nodeAllocatableResourceMappings": Span("1.36", "1.37"), "nodeAllocatableResources": _LATEST},
    "DeviceCounterConsumption": {"compatibilityGroups": _LATEST},
    "ResourceSliceSpec": {"partitionTypeAttribute": _LATEST, "skipNodeOperations": _LATEST},
    "ExactDeviceRequest": {"derivedAttributes": _LATEST},
    "DeviceSubRequest": {"derivedAttributes": _LATEST},
    "DeviceRequestAllocationResult": {"skipNodeOperations": _LATEST},
    "DeviceTaintRule": {"status": Span("1.35")},
}


@cache
def known_in(shape: ObjectType, release: Release) -> ObjectType:
    """Return a shape without the fields that a release does not have. Spec: VAL-6."""
    return pruned(shape, lambda name: [each for each, span in _FIELDS.get(name, {}).items() if not span.holds(release)])
