"""
Fields that not every release has: what an older API server does not know, it takes for a spelling mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from dra_alloc.manifest.make.schema import Leaf, ListType, MapType, ObjectType, SchemaType
from dra_alloc.releases import Release, Span

__all__ = ["known_in"]

_LISTS: Final = Span("1.36")
_LATEST: Final = Span("1.37")
#: Type -> its fields that some release does not have, with the releases that do.
_FIELDS: Final[Mapping[str, Mapping[str, Span]]] = {
    "DeviceAttribute": dict.fromkeys(("ints", "bools", "strings", "versions"), _LISTS),
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
    known = _known(shape, release)
    assert isinstance(known, ObjectType)
    return known


def _known(shape: SchemaType, release: Release) -> SchemaType:
    if isinstance(shape, Leaf):
        return shape
    if isinstance(shape, ListType):
        return ListType(_known(shape.item, release), shape.most)
    if isinstance(shape, MapType):
        return MapType(_known(shape.value, release))
    spans = _FIELDS.get(shape.name, {})
    kept = {name: inner for name, inner in shape.fields.items() if name not in spans or spans[name].holds(release)}
    fields = {name: _known(inner, release) for name, inner in kept.items()}
    return ObjectType(shape.name, MappingProxyType(fields), shape.closed)
