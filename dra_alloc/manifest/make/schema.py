"""
The shape of each wire object as data, derived from the models of `dra_alloc.api`.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BeforeValidator

from dra_alloc.api import FrozenMap, KubeModel, Quantity
from dra_alloc.api._base import wire_names
from dra_alloc.limits import (
    ALLOCATION_RESULTS_MAX,
    ALTERNATIVES_MAX,
    ATTRIBUTES_MAX,
    CONFIG_MAX,
    CONSTRAINTS_MAX,
    COUNTER_SETS_MAX,
    COUNTERS_MAX,
    DEVICES_MAX,
    REQUESTS_MAX,
    RESERVED_FOR_MAX_SIZE,
    SELECTORS_MAX,
)


class Leaf(Enum):
    """A value without members, and how to call it."""

    STRING = "a string"
    INT64 = "a whole number"
    BOOL = "true or false"
    QUANTITY = "a quantity such as 80Gi"
    TIME = "a time such as 2026-01-31T12:00:00Z"
    RAW = "any JSON value"
    DROPPED = "anything"


@dataclass(frozen=True, slots=True, eq=False)
class ObjectType:
    """
    An object with known members; an open one ignores others, a closed one refuses them.

    `model` is the wire model behind it; the shapes of older versions have none.
    """

    name: str
    fields: Mapping[str, SchemaType]
    closed: bool = True
    model: type[KubeModel] | None = None


#: So many members of a list are looked at, however few there may be: releases differ in what they say of them.
_FEW: Final = 1024


@dataclass(frozen=True, slots=True)
class ListType:
    """
    A list of one type, of which servers store at most so many members.

    Admission complains about a few more; of `crowd` and more nothing is made.
    """

    item: SchemaType
    most: int | None = None

    @property
    def crowd(self) -> int | None:
        """Return how many members are so many that they are not looked at."""
        return None if self.most is None else max(8 * self.most, _FEW) + 1


@dataclass(frozen=True, slots=True)
class MapType:
    """An object whose keys the user chooses, of which servers store at most so many; `crowd` as that of lists."""

    value: SchemaType
    most: int | None = None

    @property
    def crowd(self) -> int | None:
        """Return how many members are so many that they are not looked at: each is a fault of its own before."""
        return None if self.most is None else 64 * self.most + 1


SchemaType = Leaf | ObjectType | ListType | MapType

_LEAVES: Mapping[Any, Leaf] = {
    str: Leaf.STRING,
    int: Leaf.INT64,
    bool: Leaf.BOOL,
    Quantity: Leaf.QUANTITY,
    Any: Leaf.RAW,
    type(None): Leaf.DROPPED,
}


#: Lists and maps that no server stores longer, by model and wire name: those that can make an object a large one.
_MOST: Final[Mapping[tuple[str, str], int]] = {
    ("ResourceSliceSpec", "devices"): DEVICES_MAX,
    ("ResourceSliceSpec", "sharedCounters"): COUNTER_SETS_MAX,
    ("DeviceClaim", "requests"): REQUESTS_MAX,
    ("DeviceClaim", "constraints"): CONSTRAINTS_MAX,
    ("DeviceClaim", "config"): CONFIG_MAX,
    ("DeviceRequest", "firstAvailable"): ALTERNATIVES_MAX,
    ("DeviceClassSpec", "selectors"): SELECTORS_MAX,
    ("DeviceClassSpec", "config"): CONFIG_MAX,
    ("DeviceAllocationResult", "results"): ALLOCATION_RESULTS_MAX,
    ("ResourceClaimStatus", "reservedFor"): RESERVED_FOR_MAX_SIZE,
    ("Device", "attributes"): ATTRIBUTES_MAX,
    ("Device", "capacity"): ATTRIBUTES_MAX,
    ("CounterSet", "counters"): COUNTERS_MAX,
    ("DeviceCounterConsumption", "counters"): COUNTERS_MAX,
}


@cache
def schema_of(model: type[KubeModel]) -> ObjectType:
    """Return the shape of a model, with wire names."""
    fields: dict[str, SchemaType] = {}
    for name, wire in wire_names(model).items():
        info = model.model_fields[name]
        shape = type_of(info.annotation, info.metadata)
        most = _MOST.get((model.__name__, wire))
        fields[wire] = replace(shape, most=most) if isinstance(shape, ListType | MapType) else shape
    closed = model.model_config.get("extra") == "forbid"
    return ObjectType(model.__name__, types.MappingProxyType(fields), closed, model)


def pruned(shape: ObjectType, gone: Callable[[str], Collection[str]]) -> ObjectType:
    """Return a shape without the fields that are gone of the types in it, by their names."""
    lost = gone(shape.name)
    fields = {name: _pruned(inner, gone) for name, inner in shape.fields.items() if name not in lost}
    return ObjectType(shape.name, types.MappingProxyType(fields), shape.closed)


def _pruned(shape: SchemaType, gone: Callable[[str], Collection[str]]) -> SchemaType:
    if isinstance(shape, ListType):
        return replace(shape, item=_pruned(shape.item, gone))
    if isinstance(shape, MapType):
        return replace(shape, value=_pruned(shape.value, gone))
    return shape if isinstance(shape, Leaf) else pruned(shape, gone)


def type_of(annotation: Any, metadata: typing.Iterable[Any] = ()) -> SchemaType:
    """Return the shape an annotation stands for; absent and null are allowed everywhere and not part of it."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return type_of(arguments[0], arguments[1:])
    if origin in (Union, types.UnionType):
        inner = next(argument for argument in arguments if argument is not type(None))
        # Text with a reader of its own is a time: the only such text there is.
        return Leaf.TIME if inner is str and _has_reader(metadata) else type_of(inner)
    if origin is tuple:
        return ListType(type_of(arguments[0]))
    if origin is FrozenMap:
        return MapType(type_of(arguments[1]))
    if annotation in _LEAVES:
        return _LEAVES[annotation]
    return schema_of(annotation)


def _has_reader(metadata: typing.Iterable[Any]) -> bool:
    return any(isinstance(part, BeforeValidator) for part in metadata)
