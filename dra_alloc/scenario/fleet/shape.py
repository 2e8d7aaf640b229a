"""
What a description of nodes says: models of its file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

#: The most nodes of one group, as in a step of a scenario.
NODES_MAX: Final = 10_000
#: More devices than these, or values in all objects, would fill the memory of a small machine.
DEVICES_OF_FLEET_MAX: Final = 200_000
VALUES_OF_FLEET_MAX: Final = 8_000_000
#: Cells of one kind: a counter each, and no API server takes as many in a set.
CELLS_MAX: Final = 1_000
#: What a node or a device weighs in values before it has any, and how much text does.
_FRAME: Final = 5
_TEXT: Final = 64


class _Described(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _checked(value: Any) -> Any:
    for each in value if isinstance(value, list | tuple) else [value]:
        if not isinstance(each, bool | int | str | Mapping | None):
            raise PydanticCustomError(
                "shape_value", "has to be a value, a mapping as the API has it, or a list of those"
            )
    return value


_SCALAR: Final = {"type": ["boolean", "integer", "string", "object"]}
#: One value, or a list with one for each device. A bare value has the type that YAML gives it.
_Values = Annotated[
    Any,
    AfterValidator(_checked),
    WithJsonSchema({"anyOf": [{"type": ["null", *_SCALAR["type"]]}, {"type": "array", "items": _SCALAR}]}),
]
_Text = Annotated[str, Field(min_length=1)]
_Amount = Annotated[int, Field(strict=True)] | str
_Count = Annotated[int, Field(strict=True, ge=1, le=DEVICES_OF_FLEET_MAX)]
_Cells = Annotated[int, Field(strict=True, ge=1, le=CELLS_MAX)]
_Start = Annotated[int, Field(strict=True, ge=0, le=CELLS_MAX)]
#: Members as the API has them: what is wrong with them is said of the objects that are made.
_Members = Mapping[str, Any]


class PartitionShape(_Described):
    """
    A part of each device that it is said of: one device more for each of `starts`.

    It has what the device has, and its own besides; null takes an attribute away.
    It takes `counters`, and of each kind of cells as many as `cells` says, from the start on.
    """

    name: _Text
    starts: tuple[_Start, ...] = (0,)
    cells: _Start = 0
    attributes: Mapping[str, _Values] = {}
    capacity: Mapping[str, _Values] | Literal["counters"] = {}
    counters: Mapping[str, _Amount] = {}


class DeviceShape(_Described):
    """
    Devices that are alike: `count` of them, or as many as a list has values.

    With `counters` or `cells` each has a counter set of its own, and takes
    all of it; its `partitions` take parts. All else is as the API has it.
    """

    name: _Values
    count: _Count | None = None
    attributes: Mapping[str, _Values] = {}
    capacity: Mapping[str, _Values] | Literal["counters"] = {}
    counters: Mapping[str, _Amount] = {}
    cells: Mapping[str, _Cells] = {}
    is_whole: bool = Field(True, alias="whole", strict=True)
    partitions: tuple[PartitionShape, ...] = ()
    taints: tuple[_Members, ...] = ()
    consumes_counters: tuple[_Members, ...] = Field((), alias="consumesCounters")
    allow_multiple_allocations: bool | None = Field(None, alias="allowMultipleAllocations", strict=True)
    binds_to_node: bool | None = Field(None, alias="bindsToNode", strict=True)
    binding_conditions: tuple[str, ...] = Field((), alias="bindingConditions")
    binding_failure_conditions: tuple[str, ...] = Field((), alias="bindingFailureConditions")
    node_allocatable_resources: _Members = Field({}, alias="nodeAllocatableResources")
    node_allocatable_resource_mappings: _Members = Field({}, alias="nodeAllocatableResourceMappings")

    @property
    def number(self) -> int:
        """How many there are, partitions not counted."""
        return self.count or max((len(each) for each in self._lists()), default=1)

    @property
    def devices(self) -> int:
        """How many devices they are with their partitions."""
        return self.number * (self.is_whole + sum(len(each.starts) for each in self.partitions))

    @property
    def values(self) -> int:
        """How many values they have all together, at most."""
        whole = self.model_dump(exclude_defaults=True, exclude={"cells", "partitions"})
        inherited = _weight(self.attributes)
        found = _weight(whole) + 2 * sum(self.cells.values()) + _weight(self.counters)
        for part in self.partitions:
            own = _weight(part.model_dump(exclude_defaults=True, exclude={"starts", "cells"}))
            cells = part.cells * len(self.cells)
            found += len(part.starts) * (_FRAME + inherited + own + cells + _weight(part.counters))
        return self.number * (_FRAME + found)

    def _lists(self) -> Iterator[Sequence[Any]]:
        capacity = {} if isinstance(self.capacity, str) else self.capacity
        values = (self.name, *self.attributes.values(), *capacity.values())
        values += tuple(value for each in self.partitions for value in each.attributes.values())
        yield from (each for each in values if isinstance(each, list | tuple))

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        odd = sorted({len(each) for each in self._lists()} - {self.number})
        if odd:
            said = "a list has one value for each device: there are {number} devices, and a list of {odd}"
            raise PydanticCustomError("shape_lists", said, {"number": self.number, "odd": odd[0]})
        return self


def _weight(value: Any) -> int:
    """Return how many values there are in one, long texts more than once; of a list of them, what the heaviest is."""
    if isinstance(value, Mapping):
        return sum(len(key) // _TEXT + _weight(each) for key, each in value.items())
    if isinstance(value, list):
        return max(map(_weight, value), default=0)
    if isinstance(value, tuple):
        return sum(map(_weight, value))
    return 1 + (len(value) // _TEXT if isinstance(value, str) else 0)


class PoolShape(_Described):
    """A pool of one driver: its devices in order, and counter sets that several of them draw on."""

    driver: _Text
    name: _Text = "{node}"
    devices: tuple[DeviceShape, ...] = ()
    counter_sets: tuple[_Members, ...] = Field((), alias="counterSets")


class NodePart(_Described):
    """What a Node has: labels, taints, and what pods can have of it."""

    labels: Mapping[str, str] = {}
    taints: tuple[_Members, ...] = ()
    allocatable: Mapping[str, _Amount] = {}


class MachineShape(_Described):
    """A kind of node: the Node, its pools, and the names of the classes that go with them."""

    summary: str = ""
    source: str = ""
    node: NodePart = NodePart()
    pools: tuple[PoolShape, ...] = ()
    classes: tuple[str, ...] = ()

    @property
    def devices(self) -> int:
        """How many devices a node has, partitions counted."""
        return sum(each.devices for pool in self.pools for each in pool.devices)

    @property
    def values(self) -> int:
        """How many values a node and its slices have, at most."""
        own = 2 * _weight(self.node.model_dump()) + sum(_weight(pool.counter_sets) for pool in self.pools)
        return _FRAME + own + sum(each.values for pool in self.pools for each in pool.devices)

    @model_validator(mode="after")
    def _can_be_made(self) -> Self:
        if said := too_many(self.devices, self.values):
            raise PydanticCustomError("shape_size", "{said}", {"said": f"a node of it would have {said}"})
        return self


def too_many(devices: int, values: int) -> str:
    """Return which of these is more than is made; nothing if neither is."""
    if devices > DEVICES_OF_FLEET_MAX:
        return f"{devices:,} devices, and {DEVICES_OF_FLEET_MAX:,} are made at most"
    return (
        f"some {values:,} values, and {VALUES_OF_FLEET_MAX:,} are made at most" if values > VALUES_OF_FLEET_MAX else ""
    )


class NodeGroup(_Described):
    """So many nodes of a shape, called `name`-1 and so on; labels and taints of their own besides."""

    shape: _Text
    count: Annotated[int, Field(strict=True, ge=1, le=NODES_MAX)] = 1
    name: str = ""
    labels: Mapping[str, str] = {}
    taints: tuple[_Members, ...] = ()


class FleetShape(_Described):
    """A fleet: groups of nodes, shapes of its own beside those of the catalogue, and classes, each as its `spec`."""

    nodes: tuple[NodeGroup, ...] = ()
    shapes: Mapping[str, MachineShape] = {}
    classes: Mapping[str, _Members] = {}


def schema() -> dict[str, Any]:
    """Return the JSON schema of a description."""
    found = FleetShape.model_json_schema(by_alias=True)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **found,
        "title": "Shapes of dra-alloc fleet",
    }
