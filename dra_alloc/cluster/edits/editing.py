"""
Edits of a cluster, one after the other: the steps of scenarios for programs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from dra_alloc.api import FrozenMap
from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.cluster.edits.merging import merged_whole
from dra_alloc.cluster.edits.objects import Apply
from dra_alloc.cluster.edits.objects_of import known_of, objects_of
from dra_alloc.cluster.edits.step import NodePattern, StepKind, Stepping
from dra_alloc.cluster.edits.steps import after_each, read_step
from dra_alloc.errors import InputError, ManifestError, Problem
from dra_alloc.manifest import Documents, load
from dra_alloc.manifest.given import documents_of

if TYPE_CHECKING:
    from dra_alloc.cluster.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Edited:
    """What edits come to: the cluster, and why pods lost their places on the way, by full name."""

    cluster: Cluster
    evicted: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Edits:
    """
    Steps that change a cluster, those of scenarios of ``dra-alloc what-if``; each method returns them and one more.

    Nothing is done, and nothing refused, before :meth:`done`. `called` counts
    the steps, `wrong` is what is wrong with them as they were given, `given`
    are objects to apply, by what stands for their path, `shapes` nodes to add.
    """

    origin: Cluster = field(repr=False)
    steps: tuple[tuple[str, StepKind], ...] = ()
    called: int = 0
    wrong: tuple[Problem, ...] = ()
    given: Mapping[str, Documents] = field(default_factory=FrozenMap, repr=False)
    shapes: Mapping[str, NodePattern] = field(default_factory=FrozenMap, repr=False)

    def step(self, kind: str, /, **taken: Any) -> Edits:
        """Return these and a step of any kind, with what a scenario says: ``step("drainNodes", names=["a"])``."""
        path = f"steps[{self.called}]"
        read = list(read_step({kind: {name: each for name, each in taken.items() if each is not None}}, path))
        steps = tuple([(where, each) for where, each in read if isinstance(each, StepKind)])
        wrong = tuple([each for _, each in read if isinstance(each, Problem)])
        return replace(self, steps=(*self.steps, *steps), called=self.called + 1, wrong=(*self.wrong, *wrong))

    def add_nodes(self, like: str | None = None, count: int = 1, *, shape: Documents | None = None) -> Edits:
        """
        Return these, and nodes like one that is there, or like the first of `shape`, such as `dra_alloc.fleet` makes.

        New nodes are called ``NAME-new-1`` and so on, and are free.

        Raises: InputError for a shape without a node.
        """
        if shape is None:
            return self.step("addNodes", like=like, count=count)
        if not getattr(shape, "nodes", ()):
            raise InputError("shape takes Documents with a node, such as dra_alloc.fleet makes")
        node = shape.nodes[0]
        name = node.metadata.name or ""
        own = tuple([each for each in shape.slices if each.spec.node_name == name])
        known = replace(self, shapes=FrozenMap({**self.shapes, name: NodePattern(node, own)}))
        return known.step("addNodes", like=like, shape=name, count=count)

    def remove_nodes(self, *names: str, labels: Mapping[str, str] | None = None) -> Edits:
        """Return these, and the nodes gone with their pods and slices: those of the names, or with all labels."""
        return self.step("removeNodes", names=list(names), labels=labels)

    def cordon_nodes(self, *names: str, labels: Mapping[str, str] | None = None) -> Edits:
        """Return these, and the nodes closed for more pods."""
        return self.step("cordonNodes", names=list(names), labels=labels)

    def uncordon_nodes(self, *names: str, labels: Mapping[str, str] | None = None) -> Edits:
        """Return these, and the nodes open again."""
        return self.step("uncordonNodes", names=list(names), labels=labels)

    def drain_nodes(self, *names: str, labels: Mapping[str, str] | None = None) -> Edits:
        """Return these, and the nodes closed and without pods but those of DaemonSets; no budget is in the way here."""
        return self.step("drainNodes", names=list(names), labels=labels)

    def taint_devices(self, key: str, effect: str = "NoSchedule", *, value: str | None = None, **which: Any) -> Edits:
        """
        Return these, and a DeviceTaintRule: `which` has driver, pool and device of those it taints, and `seconds`.

        The rule is called ``what-if-1``, or by a higher number; deleting it takes the taints off.
        """
        taint = {"key": key, "effect": effect, **({} if value is None else {"value": value})}
        return self.step("taintDevices", taint=taint, **which)

    def taint_nodes(self, *names: str, key: str, effect: str = "NoSchedule", **which: Any) -> Edits:
        """Return these, and nodes with a taint: `which` has its value, labels of nodes, and `seconds`."""
        value = which.pop("value", None)
        taint = {"key": key, "effect": effect, **({} if value is None else {"value": value})}
        return self.step("taintNodes", names=list(names), taint=taint, **which)

    def wait(self, seconds: int) -> Edits:
        """Return these, and so much time later: who tolerates a taint of a device or node for no longer is evicted."""
        return self.step("wait", seconds=seconds)

    def apply(self, objects: Documents | Iterable[Any] | str | os.PathLike[str]) -> Edits:
        """
        Return these, and objects applied: of files, `Documents`, models of `dra_alloc.api`, or mappings as in JSON.

        Raises: ManifestError for what cannot be read.
        """
        read = load(objects) if isinstance(objects, str | os.PathLike) else documents_of(objects)
        path = f"<{len(self.given)}>"
        return replace(self, given=FrozenMap({**self.given, path: read})).step("apply", paths=[path])

    def delete(self, kind: str, name: str, namespace: str | None = None) -> Edits:
        """Return these, and an object deleted with what it owns; a claim in use keeps its devices for its users."""
        return self.step("delete", kind=kind, name=name, namespace=namespace)

    def release(self, version: str | None = None, gates: Mapping[str, bool] | None = None) -> Edits:
        """Return these, and another release, or other gates."""
        return self.step("release", version=version, gates=gates)

    @property
    def cluster(self) -> Cluster:
        """The cluster after the steps, as :meth:`done` makes it."""
        return self.done().cluster

    def done(self) -> Edited:
        """
        Return what the steps come to, one after the other.

        Spec: EDIT-1 to EDIT-3.
        Raises: ManifestError with all that is wrong with the steps, and all that they name and that is not there.
        """
        known = self.origin.known
        before, settings = objects_of(known.contents), known.contents.settings
        state, problems = ClusterState(before, settings=settings), [*self.wrong]
        for each in self.steps:
            state, wrong = after_each(state, (each,), self._stepping)
            problems += wrong
            if isinstance(each[1], Apply):
                state = replace(state, dump=merged_whole(state.dump, state.manifests), manifests=Documents())
        if problems:
            raise ManifestError(problems)
        evicted = FrozenMap({name: why for name, (_, why) in state.evicted.items()})
        return Edited(type(self.origin)(known_of(known, before, state.dump, state.settings)), evicted)

    def _stepping(self) -> Stepping:
        return Stepping(
            lambda path: self.given[path] if path in self.given else load(path),
            lambda: {name: partial(self.shapes.__getitem__, name) for name in self.shapes},
        )
