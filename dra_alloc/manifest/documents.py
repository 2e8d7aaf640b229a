"""
What a load returns: the objects by kind, and where each was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dra_alloc.api import (
    DeviceClass,
    DeviceTaintRule,
    FrozenMap,
    LimitRange,
    Namespace,
    Node,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceQuota,
    ResourceSlice,
    RuntimeClass,
    Service,
    ServiceAccount,
    StorageClass,
)
from dra_alloc.errors import NAME_SHOWN, Problem, Where, in_brief
from dra_alloc.manifest.convert.conversion import document_path
from dra_alloc.manifest.lost import NOTHING_LOST, Lost
from dra_alloc.manifest.make.holdings import NOTHING_NOTED, Holdings
from dra_alloc.manifest.make.layouts import Layout
from dra_alloc.manifest.read.paths import Path, tokens
from dra_alloc.manifest.read.positions import Position, Steps
from dra_alloc.manifest.read.texts import Text


@dataclass(frozen=True, slots=True)
class PodTemplate:
    """A pod template in a workload: the path of its pod spec, and the pod; none if what stands there is no pod spec."""

    path: str
    pod: Pod | None


@dataclass(frozen=True, slots=True)
class Workload:
    """
    An object that makes pods, or holds a pod template: as it was written, and its templates as pods in its namespace.

    Those of queue systems are kept so, too, without templates.
    """

    api_version: str
    kind: str
    metadata: ObjectMeta
    body: FrozenMap[str, Any]
    templates: tuple[PodTemplate, ...] = ()

    @property
    def group(self) -> str:
        """The API group of its kind."""
        return self.api_version.rpartition("/")[0]

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Its group, kind, namespace and name: one object of a cluster has them."""
        return self.group, self.kind, self.namespace, self.name

    @property
    def name(self) -> str:
        """The name of the workload."""
        return self.metadata.name or ""

    @property
    def namespace(self) -> str:
        """The namespace of the workload and its pods; empty if it does not say."""
        return self.metadata.namespace or ""

    @property
    def called(self) -> str:
        """Its kind and full name, as notes call it."""
        return f"{self.kind} {self.metadata.full_name}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where an object was read: the file, the path in it, the line, and the API version it was written in."""

    file: str
    steps: Path
    line: int
    kind: str
    version: str


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Documents:
    """
    Everything that was read, v1-shaped and with defaults, in the order of the input.

    Slices are records with the attributes of `ResourceSlice`, made at native
    speed; their method ``model()`` returns the pydantic object. All else is
    the models themselves. `unknown` counts the objects of other kinds, as
    ``apiVersion kind``; those of queue systems are kept in `queueing`, too.
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
    quotas: tuple[ResourceQuota, ...] = ()
    services: tuple[Service, ...] = ()
    volume_claims: tuple[PersistentVolumeClaim, ...] = ()
    volumes: tuple[PersistentVolume, ...] = ()
    storage_classes: tuple[StorageClass, ...] = ()
    runtime_classes: tuple[RuntimeClass, ...] = ()
    service_accounts: tuple[ServiceAccount, ...] = ()
    priority_classes: tuple[PriorityClass, ...] = ()
    limit_ranges: tuple[LimitRange, ...] = ()
    disruption_budgets: tuple[PodDisruptionBudget, ...] = ()
    workloads: tuple[Workload, ...] = ()
    queueing: tuple[Workload, ...] = ()
    unknown: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()
    places: Mapping[int, Place] = field(default_factory=dict, repr=False, compare=False)
    texts: Mapping[str, Text] = field(default_factory=dict, repr=False, compare=False)
    layouts: Mapping[int, tuple[ResourceSlice, Layout]] = field(default_factory=dict, repr=False, compare=False)
    noted: Holdings = field(default=NOTHING_NOTED, repr=False, compare=False)
    lost: Lost = field(default=NOTHING_LOST, repr=False, compare=False)

    def laid_out(self, slices: Iterable[ResourceSlice]) -> list[Layout | None]:
        """Return what was noted of each slice while it was read, if it was."""
        noted = self.layouts.get
        found = [(item, noted(id(item))) for item in slices]
        # Another slice may have come by the id of one that is gone.
        return [known[1] if known is not None and known[0] is item else None for item, known in found]

    def mapped(self, change: Callable[[Any], Any], *members: str) -> Documents:
        """Return the documents with every object of these members as `change` makes it, read where it was."""
        places = dict(self.places)
        made: dict[str, Any] = {}
        for member in members:
            before = getattr(self, member)
            made[member] = tuple(map(change, before))
            for old, new in zip(before, made[member], strict=True):
                if new is not old and id(old) in self.places:
                    places[id(new)] = self.places[id(old)]
        return replace(self, **made, places=places)

    @property
    def held(self) -> Holdings:
        """What the claims hold, as it was noted of those that were read here."""
        return self.noted.of(self.claims)

    def written(self, items: Iterable[Any]) -> Iterator[tuple[Any, Mapping[str, Any]]]:
        """Yield objects of these documents with all that was written of them, as far as it can be read again."""
        wanted: dict[str, dict[Path, Any]] = {}
        for item in items:
            place = self.places.get(id(item))
            if place is not None:
                wanted.setdefault(place.file, {})[place.steps] = item
        for file, there in wanted.items():
            text = self.texts.get(file)
            for steps, value in text.objects(there) if text is not None else ():
                if isinstance(value, Mapping):
                    yield there[steps], value

    def where(self, item: Any, path: str = "") -> Where:
        """
        Return where an object of these documents, or a v1 path in it, was read.

        The line of a path is that of the deepest part of it that was written.
        It is the line of the object where the input is large and cannot be read
        again: pipes, and files that changed since.
        """
        return self.placed([(item, Problem("", Where(path=path)))])[0].where

    def placed(self, found: Iterable[tuple[Any, Problem]]) -> list[Problem]:
        """Return problems of objects of these documents, each with where its path was read; inputs are read once."""
        pairs = list(found)
        wanted: dict[str, dict[int, Steps]] = {}
        for number, (item, problem) in enumerate(pairs):
            place = self.places.get(id(item))
            if place is not None and (problem.where.path or len(place.steps) > 1):
                path = document_path(tokens(problem.where.path), place.kind, place.version)
                wanted.setdefault(place.file, {})[number] = tokens(place.steps) + path
        found_at: dict[int, Position] = {}
        for file, steps in wanted.items():
            text = self.texts.get(file)
            known = text.positions(frozenset(steps.values())) if text is not None else {}
            found_at |= {number: known[each] for number, each in steps.items() if each in known}
        return [self._placed(item, problem, found_at.get(number)) for number, (item, problem) in enumerate(pairs)]

    def _placed(self, item: Any, problem: Problem, at: Position | None) -> Problem:
        if item is None:
            return problem
        place = self.places.get(id(item))
        name = object_name(item.kind, item.metadata.namespace, item.metadata.name)
        path = problem.where.path
        if place is None:
            return replace(problem, where=Where(name, path))
        # The mark of a document stands before its object.
        line, column = at if at is not None and at[0] >= place.line else (place.line, None)
        return replace(problem, where=Where(name, path, place.file, line, column, place.steps))


def object_name(kind: str, namespace: Any, name: Any) -> str:
    """Return how an object is called in messages: ``Kind namespace/name``."""
    parts = [in_brief(part, NAME_SHOWN) for part in (namespace, name) if isinstance(part, str) and part]
    kind = in_brief(kind)
    return f"{kind} {'/'.join(parts)}" if parts else kind
