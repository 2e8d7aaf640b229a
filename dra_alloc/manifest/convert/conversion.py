"""
Older versions of resource.k8s.io made v1-shaped and made of that, one table of rules per kind and version.

Values are plain (dicts, lists, scalars) and may hold anything the user wrote:
what has not the shape a rule expects is left as it is, for the type check to
complain about. Nothing is changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from dra_alloc.api import ExactDeviceRequest
from dra_alloc.api.devices import VALUE_LISTS
from dra_alloc.limits import ATTRIBUTES_MAX
from dra_alloc.manifest.make.schema import Leaf, ListType, MapType, ObjectType, SchemaType, pruned, schema_of

Rule = Callable[[dict[str, Any]], dict[str, Any]]


class OtherShape(ValueError):
    """An object written in the shape of another version than it says."""


def rewrite(value: Any, path: tuple[str, ...], rule: Rule, *, nulls: bool = False) -> Any:
    """
    Return a value with the objects at a path replaced by what a rule makes of them.

    ``*`` in the path stands for every member of a list; with `nulls` one that is
    null is an object with nothing set. What is not there stays away.
    """
    if not path:
        return rule(value) if isinstance(value, dict) else value
    step, rest = path[0], path[1:]
    if step == "*":
        if not isinstance(value, list):
            return value
        if nulls and None in value:
            value = [{} if member is None else member for member in value]
        return [rewrite(member, rest, rule, nulls=nulls) for member in value]
    if not isinstance(value, dict) or (before := value.get(step)) is None:
        return value
    after = rewrite(before, rest, rule, nulls=nulls)
    return value if after is before else {**value, step: after}


def _nest_request(request: dict[str, Any]) -> dict[str, Any]:
    """
    Return a flat request with its members below ``exactly``, if one of them is set.

    An empty list is set; empty text, 0 and null are not.

    Spec: CONV-2. Raises: OtherShape, on a request that has ``exactly`` already.
    """
    if "exactly" in request:
        raise OtherShape("exactly")
    flat = {name: member for name, member in request.items() if name in _flat_members()}
    rest = {name: member for name, member in request.items() if name not in flat}
    if all(member is None or (member in ("", 0) and member is not False) for member in flat.values()):
        return rest
    return {**rest, "exactly": flat}


def _flatten_request(request: dict[str, Any]) -> dict[str, Any]:
    """
    Return a request with the members of ``exactly`` beside its name.

    Spec: CONV-2. Raises: OtherShape, on a request that has some of them there already.
    """
    exactly = request.get("exactly")
    if request.keys() & _flat_members() or not isinstance(exactly, dict | None) or "name" in (exactly or {}):
        raise OtherShape("exactly")
    return {name: member for name, member in request.items() if name != "exactly"} | (exactly or {})


def _lift_basic(device: dict[str, Any]) -> dict[str, Any]:
    """
    Return a device with the members of ``basic`` moved up; without ``basic`` it has no details.

    Spec: CONV-3. Raises: OtherShape, on a device that has members beside ``basic``.
    """
    if device.keys() - {"name", "basic"}:
        raise OtherShape("basic")
    basic = device.get("basic")
    rest = {name: member for name, member in device.items() if name != "basic"}
    if basic is None:
        return rest
    if not isinstance(basic, dict) or "name" in basic:
        raise OtherShape("basic")
    return {**rest, **basic}


def _sink_basic(device: dict[str, Any]) -> dict[str, Any]:
    """
    Return a device with all but its name below ``basic``, which is there even if nothing is.

    Spec: CONV-3. Raises: OtherShape, on a device that has ``basic``.
    """
    if "basic" in device:
        raise OtherShape("basic")
    basic = {name: member for name, member in device.items() if name != "name"}
    return {name: member for name, member in device.items() if name == "name"} | {"basic": basic}


def _wrap_capacity(device: dict[str, Any]) -> dict[str, Any]:
    """Return a device whose capacities are objects: ``5Gi`` becomes ``{value: 5Gi}``. Spec: CONV-4."""
    capacity = device.get("capacity")
    if not isinstance(capacity, dict):
        return device
    if any(isinstance(amount, dict) for amount in capacity.values()):
        raise OtherShape("capacity")
    return {**device, "capacity": {name: {"value": amount} for name, amount in capacity.items()}}


def _unwrap_capacity(device: dict[str, Any]) -> dict[str, Any]:
    """Return a device whose capacities are bare: ``{value: 5Gi}`` becomes ``5Gi``. Spec: CONV-4."""
    capacity = device.get("capacity")
    if not isinstance(capacity, dict):
        return device
    if any(not isinstance(amount, dict) or amount.keys() - {"value"} for amount in capacity.values()):
        raise OtherShape("capacity")
    return {**device, "capacity": {name: amount.get("value") for name, amount in capacity.items()}}


def _drop_unset_nodes(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a slice spec without an empty nodeName and a false allNodes: both mean unset here. Spec: CONV-5."""
    unset = (spec.get("nodeName") == "" and "nodeName", spec.get("allNodes") is False and "allNodes")
    return {name: member for name, member in spec.items() if name not in unset}


def _as_it_is(value: dict[str, Any]) -> dict[str, Any]:
    return value


class _Turn(NamedTuple):
    """What of an object at a path is turned, `up` to v1 and `down` from it."""

    path: tuple[str, ...]
    up: Rule
    down: Rule


_CLAIM: Final = ("spec", "devices", "requests", "*")
_DEVICE: Final = ("spec", "devices", "*")
_SLICE: Final = (_Turn(_DEVICE, _lift_basic, _sink_basic), _Turn(("spec",), _drop_unset_nodes, _as_it_is))
_FLAT: Final = {
    "ResourceClaim": (_Turn(_CLAIM, _nest_request, _flatten_request),),
    "ResourceClaimTemplate": (_Turn(("spec", *_CLAIM), _nest_request, _flatten_request),),
    "ResourceSlice": _SLICE,
}
_RULES: Final[Mapping[str, Mapping[str, tuple[_Turn, ...]]]] = {
    "v1beta1": _FLAT,
    "v1alpha3": {**_FLAT, "ResourceSlice": (*_SLICE, _Turn(_DEVICE, _wrap_capacity, _unwrap_capacity))},
}
_BINDING: Final = frozenset({"bindingConditions", "bindingFailureConditions"})
#: Fields by their types that came when a version was gone: it ended with 1.33.
_LATER: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    "v1alpha3": {
        "ExactDeviceRequest": frozenset({"capacity", "derivedAttributes"}),
        "DeviceSubRequest": frozenset({"capacity", "derivedAttributes"}),
        "DeviceConstraint": frozenset({"distinctAttribute"}),
        "DeviceRequestAllocationResult": _BINDING | {"shareID", "consumedCapacity", "skipNodeOperations"},
        "AllocationResult": frozenset({"allocationTimestamp"}),
        "AllocatedDeviceStatus": frozenset({"shareID"}),
        "DeviceClassSpec": frozenset({"extendedResourceName"}),
        "ResourceSliceSpec": frozenset({"partitionTypeAttribute", "skipNodeOperations"}),
        "Device": _BINDING
        | {"bindsToNode", "allowMultipleAllocations", "nodeAllocatableResources", "nodeAllocatableResourceMappings"},
        "DeviceCapacity": frozenset({"requestPolicy"}),
        "DeviceCounterConsumption": frozenset({"compatibilityGroups"}),
        "DeviceAttribute": frozenset(VALUE_LISTS),
    }
}


def to_v1(value: Any, kind: str, version: str) -> Any:
    """
    Return plain values of any served version in v1 shape.

    Spec: CONV-1 to CONV-6. Raises: OtherShape.
    """
    for turn in _RULES.get(version, {}).get(kind, ()):
        value = rewrite(value, turn.path, turn.up)
    return value


def from_v1(value: Any, kind: str, version: str) -> Any:
    """
    Return plain values in v1 shape in that of another version, as far as it can say them.

    Spec: CONV-30. Raises: OtherShape.
    """
    for turn in reversed(_RULES.get(version, {}).get(kind, ())):
        value = rewrite(value, turn.path, turn.down)
    return value


@cache
def without_later(shape: ObjectType, version: str) -> ObjectType:
    """Return a v1 shape without the fields that an older version never had. Spec: CONV-31."""
    later = _LATER.get(version)
    return shape if later is None else pruned(shape, lambda name: later.get(name, frozenset()))


@cache
def reshape(shape: ObjectType, version: str) -> ObjectType:
    """Return the shape an object has in an older version."""
    changed = _reshaped(without_later(shape, version), version)
    assert isinstance(changed, ObjectType)
    return changed


def _reshaped(shape: SchemaType, version: str) -> SchemaType:
    if version not in _RULES or isinstance(shape, Leaf):
        return shape
    if isinstance(shape, ListType):
        return replace(shape, item=_reshaped(shape.item, version))
    if isinstance(shape, MapType):
        return replace(shape, value=_reshaped(shape.value, version))
    fields = {name: _reshaped(member, version) for name, member in shape.fields.items()}
    if shape.name == "DeviceRequest":
        exactly = fields.pop("exactly")
        assert isinstance(exactly, ObjectType)
        fields |= exactly.fields
    elif shape.name == "Device":
        basic = {name: member for name, member in fields.items() if name != "name"}
        if version == "v1alpha3":
            basic["capacity"] = MapType(Leaf.QUANTITY, ATTRIBUTES_MAX)
        fields = {"name": fields["name"], "basic": ObjectType("BasicDevice", MappingProxyType(basic))}
    return ObjectType(shape.name, MappingProxyType(fields), shape.closed)


@cache
def _flat_members() -> frozenset[str]:
    return frozenset(schema_of(ExactDeviceRequest).fields)


def document_path(path: tuple[Any, ...], kind: str, version: str) -> tuple[Any, ...]:
    """
    Return where a v1 path stands in a document of an older version.

    Validation speaks of v1 paths, whatever the user wrote; positions are those of the text.
    """
    for turn in _RULES.get(version, {}).get(kind, ()):
        depth = len(turn.path)
        fits = len(path) > depth and all(want in ("*", step) for want, step in zip(turn.path, path, strict=False))
        if not fits:
            continue
        if turn.up is _nest_request and path[depth] == "exactly":
            path = path[:depth] + path[depth + 1 :]
        elif turn.up is _lift_basic and path[depth] != "name":
            path = (*path[:depth], "basic", *path[depth:])
    return path
