"""
What codes look at: the objects of the files that are linted, as they were written and as they are stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from dra_alloc.api import DeviceClaim
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import Where
from dra_alloc.linting.published import LetThrough, Published
from dra_alloc.linting.written import WrittenObject, at, members, walked, written_objects
from dra_alloc.manifest import Documents
from dra_alloc.manifest.convert.conversion import document_path
from dra_alloc.manifest.kinds import RESOURCE_GROUP
from dra_alloc.manifest.read.paths import Path, tokens, with_positions
from dra_alloc.pods.naming import in_namespace
from dra_alloc.pods.workloads.owners import Family
from dra_alloc.pods.workloads.plans import Misfit
from dra_alloc.pods.workloads.table import maker_of


class WrittenSelector(NamedTuple):
    """A CEL selector as it was written, and the path of its text."""

    written: WrittenObject
    path: Path
    expression: str


@dataclass(frozen=True, slots=True)
class AskedDevices:
    """
    A request of a claim or template, or one alternative of it, with its path as it was written.

    `among` is how many alternatives there are, 0 for a request without.
    """

    written: WrittenObject
    path: Path
    model: Any
    request: str
    among: int

    @property
    def expressions(self) -> tuple[str, ...]:
        """Its own selectors."""
        return tuple(each.cel.expression for each in self.model.selectors if each.cel is not None)


@dataclass(frozen=True, slots=True)
class ClaimAsked:
    """What a claim or template asks for, as it is stored, and the v1 path of that."""

    written: WrittenObject
    devices: DeviceClaim
    path: tuple[str, ...]
    asked: tuple[AskedDevices, ...]

    def where(self, *steps: str | int) -> Path:
        """Return a path below its devices as it was written."""
        return as_written(self.written, (*self.path, *map(str, steps)))


class WrittenPodSpec(NamedTuple):
    """A pod spec in an object: its path and what stands there, and the metadata beside it."""

    written: WrittenObject
    path: Path
    spec: dict[str, Any]
    metadata: dict[str, Any]

    def labels(self) -> dict[str, Any]:
        """Return the labels of the object, and of its pods over them."""
        outer = members(members(self.written.value.get("metadata")).get("labels"))
        return {**outer, **members(self.metadata.get("labels"))}

    def claims(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Yield the entries of the pod's claims, each with its path."""
        claims = self.spec.get("resourceClaims")
        for number, entry in enumerate(claims if isinstance(claims, list) else ()):
            yield (*self.path, "resourceClaims", number), members(entry)


@dataclass(frozen=True)
class Linting:
    """
    The documents that are linted, and the cluster they go to: without one nobody knows what is published.

    `previous` is what was published before the slices that are linted, with the claims that had its devices;
    `namespace` is that of objects that name none.
    """

    documents: Documents
    cluster: Documents | None
    settings: Settings
    previous: Documents | None = None
    namespace: str = "default"

    @cached_property
    def written(self) -> tuple[WrittenObject, ...]:
        """The objects as they were written."""
        return tuple(written_objects(self.documents))

    @cached_property
    def pod_specs(self) -> tuple[WrittenPodSpec, ...]:
        """The pod specs of all objects but ours."""
        return tuple(
            WrittenPodSpec(written, path, value, members(members(at(written.value, path[:-1])).get("metadata")))
            for written in self.written
            if written.group != RESOURCE_GROUP
            for path, value in walked(written.value)
            if isinstance(value.get("containers"), list) and "name" not in value
        )

    @cached_property
    def _by_place(self) -> dict[tuple[str, Path], WrittenObject]:
        return {(each.file, each.place): each for each in self.written}

    @cached_property
    def published(self) -> Published:
        """What there is for claims: the slices of the cluster, with its classes and those of the documents."""
        there = self.cluster or Documents()
        return Published(there.slices, (*there.classes, *self.documents.classes), self.settings)

    def written_at(self, where: Where) -> WrittenObject | None:
        """Return how the object was written that something is told of."""
        return None if where.holder is None else self._by_place.get((where.file, where.holder))

    def namespace_of(self, written: WrittenObject) -> str:
        """Return the namespace of an object that is in one, also if it leaves that to the command."""
        return str(members(written.value.get("metadata")).get("namespace") or self.namespace)

    def written_of(self, item: Any) -> WrittenObject | None:
        """Return how an object of the documents was written."""
        place = self.documents.places.get(id(item))
        if place is None:
            return None
        found = self._by_place.get((place.file, place.steps))
        if found is None:  # a slice that was read as a record
            value = item.model().to_wire()
            api_version = f"{RESOURCE_GROUP}/{place.version}"
            found = WrittenObject(place.file, place.steps, place.line, api_version, place.kind, value)
            self._by_place[place.file, place.steps] = found
        return found

    @cached_property
    def _stored(self) -> set[tuple[str, Path]]:
        return {(place.file, place.steps) for place in self.documents.places.values()}

    def is_stored(self, written: WrittenObject) -> bool:
        """Return whether the object could be made of what was written: if not, validation saw no more of it."""
        return (written.file, written.place) in self._stored

    @cached_property
    def pod_counts(self) -> Mapping[tuple[WrittenObject, Path], int]:
        """How many pods of a pod spec of a workload are there at a time, where that can be said."""
        there, documents = (
            in_namespace(each or Documents(), self.namespace) for each in (self.cluster, self.documents)
        )
        family = Family(
            documents, Documents(), there.nodes, {each.metadata.full_name: each for each in there.templates}
        )
        counts: Counter[tuple[WrittenObject, Path]] = Counter()
        for workload in documents.workloads:
            maker, place = maker_of(workload), documents.places.get(id(workload))
            written = self._by_place.get((place.file, place.steps)) if place is not None else None
            if written is None or maker is None or maker.plan is None:
                continue
            with suppress(Misfit):
                for each in maker.plan(workload, family).sets:
                    counts[written, with_positions(tokens(each.path), written.value)] += each.count
        return counts

    @cached_property
    def selectors(self) -> tuple[WrittenSelector, ...]:
        """Every selector that stands where one belongs by its form, in whatever object of our group."""
        return tuple(self._expressions())

    def _expressions(self) -> Iterator[WrittenSelector]:
        for written in self.written:
            if written.group == RESOURCE_GROUP:
                for path, value in walked(written.value):
                    text = value.get("expression")
                    if path and path[-1] == "cel" and isinstance(text, str):
                        yield WrittenSelector(written, (*path, "expression"), text)

    @cached_property
    def claims(self) -> tuple[ClaimAsked, ...]:
        """What claims and templates ask for."""
        found: list[tuple[Any, DeviceClaim, tuple[str, ...]]]
        found = [(each, each.spec.devices, ("spec", "devices")) for each in self.documents.claims]
        found += [(each, each.spec.spec.devices, ("spec", "spec", "devices")) for each in self.documents.templates]
        asked = ((self.written_of(item), devices, path) for item, devices, path in found)
        return tuple(
            ClaimAsked(written, devices, path, tuple(_asked(written, devices, path)))
            for written, devices, path in asked
            if written is not None
        )

    def candidates(self, asked: AskedDevices) -> LetThrough | None:
        """Return the devices of its class that its selectors let through; None if the class is not known."""
        of_class = self.published.classes.get(asked.model.device_class_name)
        if of_class is None:
            return None
        first = [each.cel.expression for each in of_class.spec.selectors if each.cel is not None]
        return self.published.candidates(first, asked.expressions)


def _asked(written: WrittenObject, devices: DeviceClaim, path: tuple[str, ...]) -> Iterator[AskedDevices]:
    for number, request in enumerate(devices.requests):
        steps = (*path, "requests", str(number))
        if request.exactly is not None:
            yield AskedDevices(written, as_written(written, (*steps, "exactly")), request.exactly, request.name, 0)
        for index, each in enumerate(request.first_available):
            below = as_written(written, (*steps, "firstAvailable", str(index)))
            yield AskedDevices(written, below, each, request.name, len(request.first_available))


def as_written(written: WrittenObject, steps: tuple[str, ...]) -> Path:
    """Return a v1 path as it stands in an object of the version that it was written in."""
    return with_positions(document_path(tokens(steps), written.kind, written.version), written.value)


def value_at(written: WrittenObject, path: str, *, v1: bool) -> tuple[Path, Any]:
    """Return a path that was told of an object as it was written, and what stands there."""
    steps = tokens(path)
    found = as_written(written, steps) if v1 else with_positions(steps, written.value)
    return found, at(written.value, found)
