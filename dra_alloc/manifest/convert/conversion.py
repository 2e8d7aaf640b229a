"""
Older versions of resource.k8s.io made v1-shaped, one table of rules per kind and version.

Values are plain (dicts, lists, scalars) and may hold anything the user wrote:
what has not the shape a rule expects is left as it is, for the type check to
complain about. Nothing is changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from dra_alloc.api import ExactDeviceRequest
from dra_alloc.manifest.make.schema import Leaf, ListType, MapType, ObjectType, SchemaType, schema_of

__all__ = ["OtherShape", "document_path", "reshape", "rewrite", "to_v1"]

Rule = Callable[[dict[str, Any]], dict[str, Any]]


class OtherShape(ValueError):
    """An object written in the shape of another version than it says."""


def rewrite(value: Any, path: tuple[str, ...], rule: Rule) -> Any:
    """
    Return a value with the objects at a path replaced by what a rule makes of them.

    ``*`` in the path stands for every member of a list. What is not there stays away.
    """
    if not path:
        return rule(value) if isinstance(value, dict) else value
    step, rest = path[0], path[1:]
    if step == "*":
        return [rewrite(member, rest, rule) for member in value] if isinstance(value, list) else value
    if not isinstance(value, dict) or value.get(step) is None:
        return value
    return {**value, step: rewrite(value[step], rest, rule)}


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


def _wrap_capacity(device: dict[str, Any]) -> dict[str, Any]:
    """Return a device whose capacities are objects: ``5Gi`` becomes ``{value: 5Gi}``. Spec: CONV-4."""
    capacity = device.get("capacity")
    if not isinstance(capacity, dict):
        return device
    if any(isinstance(amount, dict) for amount in capacity.values()):
        raise OtherShape("capacity")
    return {**device, "capacity": {name: {"value": amount} for name, amount in capacity.items()}}


def _drop_unset_nodes(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a slice spec without an empty nodeName and a false allNodes: both mean unset here. Spec: CONV-5."""
    unset = (spec.get("nodeName") == "" and "nodeName", spec.get("allNodes") is False and "allNodes")
    return {name: member for name, member in spec.items() if name not in unset}


_CLAIM: Final = ("spec", "devices", "requests", "*")
_TEMPLATE: Final = ("spec", *_CLAIM)
_DEVICE: Final = ("spec", "devices", "*")
_FLAT: Final = {
    "ResourceClaim": ((_CLAIM, _nest_request),),
    "ResourceClaimTemplate": ((_TEMPLATE, _nest_request),),
    "ResourceSlice": ((_DEVICE, _lift_basic), (("spec",), _drop_unset_nodes)),
}
_RULES: Final[Mapping[str, Mapping[str, tuple[tuple[tuple[str, ...], Rule], ...]]]] = {
    "v1beta1": _FLAT,
    "v1alpha3": {**_FLAT, "ResourceSlice": (*_FLAT["ResourceSlice"], (_DEVICE, _wrap_capacity))},
}


def to_v1(value: Any, kind: str, version: str) -> Any:
    """
    Return plain values of any served version in v1 shape.

    Spec: CONV-1 to CONV-6. Raises: OtherShape.
    """
    for path, rule in _RULES.get(version, {}).get(kind, ()):
        value = rewrite(value, path, rule)
    return value


@cache
def reshape(shape: ObjectType, version: str) -> ObjectType:
    """Return the shape an object has in an older version."""
    changed = _reshaped(shape, version)
    assert isinstance(changed, ObjectType)
    return changed


def _reshaped(shape: SchemaType, version: str) -> SchemaType:
    if version not in _RULES or isinstance(shape, Leaf):
        return shape
    if isinstance(shape, ListType):
        return ListType(_reshaped(shape.item, version))
    if isinstance(shape, MapType):
        return MapType(_reshaped(shape.value, version))
    fields = {name: _reshaped(member, version) for name, member in shape.fields.items()}
    if shape.name == "DeviceRequest":
        exactly = fields.pop("exactly")
        assert isinstance(exactly, ObjectType)
        fields |= exactly.fields
    elif shape.name == "Device":
        basic = {name: member for name, member in fields.items() if name != "name"}
        if version == "v1alpha3":
            basic["capacity"] = MapType(Leaf.QUANTITY)
        fields = {"name": fields["name"], "basic": ObjectType("BasicDevice", MappingProxyType(basic))}
    return ObjectType(shape.name, MappingProxyType(fields), shape.closed)


@cache
def _flat_members() -> frozenset[str]:
    return frozenset(schema_of(ExactDeviceRequest).fields)


def document_path(path: tuple[str, ...], kind: str, version: str) -> tuple[str, ...]:
    """
    Return where a v1 path stands in a document of an older version.

    Validation speaks of v1 paths, whatever the user wrote; positions are those of the text.
    """
    for place, rule in _RULES.get(version, {}).get(kind, ()):
        depth = len(place)
        fits = len(path) > depth and all(want in ("*", step) for want, step in zip(place, path, strict=False))
        if not fits:
            continue
        if rule is _nest_request and path[depth] == "exactly":
            path = path[:depth] + path[depth + 1 :]
        elif rule is _lift_basic and path[depth] != "name":
            path = (*path[:depth], "basic", *path[depth:])
    return path
