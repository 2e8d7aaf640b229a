"""
The peer of the load benchmark: ResourceSlices as anyone would write them with pydantic.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Plain(BaseModel):
    """A model with wire names, nothing else."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)


class OwnerReference(Plain):
    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None


class ObjectMeta(Plain):
    name: str
    generate_name: str | None = None
    generation: int | None = None
    uid: str | None = None
    resource_version: str | None = None
    creation_timestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] = []


class Attribute(Plain):
    int_: int | None = Field(default=None, alias="int")
    bool_: bool | None = Field(default=None, alias="bool")
    string: str | None = None
    version: str | None = None


class Capacity(Plain):
    value: str


class Device(Plain):
    name: str
    attributes: dict[str, Attribute] = {}
    capacity: dict[str, Capacity] = {}


class Pool(Plain):
    name: str
    generation: int
    resource_slice_count: int


class Spec(Plain):
    driver: str
    pool: Pool
    node_name: str | None = None
    all_nodes: bool | None = None
    devices: list[Device] = []


class ResourceSlice(Plain):
    api_version: str
    kind: str
    metadata: ObjectMeta
    spec: Spec


class ResourceSliceList(Plain):
    api_version: str
    kind: str
    items: list[ResourceSlice]
