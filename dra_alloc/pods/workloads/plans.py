"""
What a controller is after: sets of pods, each from one template, and how to tell which of them are there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from dra_alloc.api import FrozenMap, Node, Pod, ResourceClaim, ResourceClaimTemplate
from dra_alloc.errors import Problem
from dra_alloc.manifest import Workload


class Misfit(ValueError):
    """A workload that cannot be expanded as it is written: at which path, and why."""

    def __init__(self, path: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.hint = hint


class PodSlot(NamedTuple):
    """
    A pod that is told from the others of its set: by its name, its index, or its node.

    It has a `name` of its own, or a `base` for a drawn one; `node` is the only one that it may run on, `claims`
    are those of its own that have names.
    """

    key: str
    name: str = ""
    base: str = ""
    labels: Mapping[str, str] = FrozenMap()
    annotations: Mapping[str, str] = FrozenMap()
    node: str = ""
    claims: tuple[str, ...] = ()


class Controller(NamedTuple):
    """The object that pods are owned by; it may be one that another makes and nobody wrote."""

    api_version: str
    kind: str
    name: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class PodSet:
    """
    Pods of one template, `count` of which are to be there at once.

    `template` is the wire form of metadata and spec with what the controller
    adds; `path` is where the spec stands in the workload. With `slots` each
    pod is one of its own, told by `key_of`; else all are drawn from `base`.
    `there` are the pods that exist already. With `awaits_end` a terminating
    pod counts until it is gone; `in_order` starts a pod when the one before is ready.
    """

    template: Mapping[str, Any]
    path: str
    controller: Controller
    count: int
    base: str = ""
    slots: Sequence[PodSlot] | None = None
    key_of: Callable[[Pod], str] | None = None
    there: tuple[Pod, ...] = ()
    awaits_end: bool = False
    in_order: bool = False


@dataclass(frozen=True, slots=True)
class Rollout:
    """
    Pods of an older template that go before all new ones run, in the order in which they go.

    So many pods, old and new, are `staying` at any time, and there are no more
    than `most`. With `key_of` a new pod comes in place of the old one of its
    key, and the next one when it is ready.
    """

    old: tuple[Pod, ...]
    staying: int = 0
    most: int = 0
    key_of: Callable[[Pod], str] | None = None


@dataclass(frozen=True, slots=True)
class PodPlan:
    """What one workload makes: pods, and claims that are none of a single pod; what to know of it; what is wrong."""

    sets: tuple[PodSet, ...] = ()
    claims: tuple[ResourceClaim, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = field(default=())
    rollout: Rollout | None = None


NOTHING = PodPlan()


class Around(Protocol):
    """What else is in the input, as far as a workload can ask."""

    @property
    def nodes(self) -> Sequence[Node]:
        """All nodes."""

    def children(self, workload: Workload) -> tuple[Workload, ...]:
        """Return the workloads that it owns."""

    def pods(self, workload: Workload) -> tuple[Pod, ...]:
        """Return the pods that it owns, itself or through others."""

    def named(self, kind: str, namespace: str, name: str) -> Workload | None:
        """Return the object of that kind and name, if it is in the input."""

    def claim_template(self, namespace: str, name: str) -> ResourceClaimTemplate | None:
        """Return the claim template of that name, if it is in the input."""

    def before(self, workload: Workload) -> Workload | None:
        """Return what the cluster has under the name of a workload of the manifests."""


def by_name(pod: Pod) -> str:
    """Return what tells pods apart that have names of their own."""
    return pod.metadata.name or ""
