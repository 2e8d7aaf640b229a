"""
What a load returns: the objects by kind, and where each was read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dra_alloc.api import (
    DeviceClass,
    DeviceTaintRule,
    Namespace,
    Node,
    ObjectMeta,
    Pod,
    PodGroup,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from dra_alloc.errors import NAME_SHOWN, Problem, Where, in_brief
from dra_alloc.manifest.conversion import document_path
from dra_alloc.manifest.outlines import Outline
from dra_alloc.manifest.paths import Path, tokens
from dra_alloc.manifest.positions import positions_in_json, positions_in_yaml

__all__ = ["Documents", "Place", "Text", "Workload", "object_name"]


@dataclass(frozen=True, slots=True)
class Workload:
    """
    An object that makes pods: its pod template as a Pod in the workload's namespace.

    `replicas` is how many pods it asks for at once; absent where it does not say.
    """

    api_version: str
    kind: str
    metadata: ObjectMeta
    pod: Pod
    replicas: int | None = None

    @property
    def name(self) -> str:
        """The name of the workload."""
        return self.metadata.name or ""

    @property
    def namespace(self) -> str:
        """The namespace of the workload and its pods; empty if it does not say."""
        return self.metadata.namespace or ""


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a small input, kept to tell lines."""

    data: bytes
    is_json: bool


@dataclass(frozen=True, slots=True)
class Place:
    """Where an object was read: the file, the path in it, the line, and the API version it was written in."""

    file: str
    steps: Path
    line: int
    kind: str
    version: str


@dataclass(frozen=True, slots=True)
class Documents:
    """
    Everything that was read, v1-shaped and with defaults, in the order of the input.

    Slices are records with the attributes of `ResourceSlice`, made at native
    speed; their method ``model()`` returns the pydantic object. All else is
    the models themselves. `unknown` counts the objects of other kinds, as
    ``apiVersion kind``.
    """

    slices: tuple[ResourceSlice, ...] = ()
    classes: tuple[DeviceClass, ...] = ()
    claims: tuple[ResourceClaim, ...] = ()
    templates: tuple[ResourceClaimTemplate, ...] = ()
    taint_rules: tuple[DeviceTaintRule, ...] = ()
    nodes: tuple[Node, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    pods: tuple[Pod, ...] = ()
    pod_groups: tuple[PodGroup, ...] = ()
    workloads: tuple[Workload, ...] = ()
    unknown: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()
    places: Mapping[int, Place] = field(default_factory=dict, repr=False, compare=False)
    texts: Mapping[str, Text] = field(default_factory=dict, repr=False, compare=False)
    outlines: Mapping[int, tuple[ResourceSlice, Outline]] = field(default_factory=dict, repr=False, compare=False)

    def outline(self, item: ResourceSlice) -> Outline | None:
        """Return what was noted of a slice while it was read, if it was."""
        known = self.outlines.get(id(item))
        # Another slice may have come by the id of one that is gone.
        return known[1] if known is not None and known[0] is item else None

    def where(self, item: Any, path: str = "") -> Where:
        """
        Return where an object of these documents, or a v1 path in it, was read.

        The line of a path is known for inputs of up to 1 MiB; else it is the
        line of the object.
        """
        place = self.places.get(id(item))
        name = object_name(item.kind, item.metadata.namespace, item.metadata.name)
        if place is None:
            return Where(name, path)
        return Where(name, path, place.file, self._line(place, path) if path else place.line)

    def _line(self, place: Place, path: str) -> int:
        text = self.texts.get(place.file)
        if text is None:
            return place.line
        steps = tokens(place.steps) + document_path(tokens(path), place.kind, place.version)
        find = positions_in_json if text.is_json else positions_in_yaml
        return find(text.data, [steps]).get(steps, (place.line, 0))[0]


def object_name(kind: str, namespace: Any, name: Any) -> str:
    """Return how an object is called in messages: ``Kind namespace/name``."""
    parts = [in_brief(part, NAME_SHOWN) for part in (namespace, name) if isinstance(part, str) and part]
    kind = in_brief(kind)
    return f"{kind} {'/'.join(parts)}" if parts else kind
