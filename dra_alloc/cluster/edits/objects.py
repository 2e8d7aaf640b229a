"""
Steps that apply and delete objects.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any, Final

from pydantic import Field

from dra_alloc.api import ObjectMeta, ResourceClaim
from dra_alloc.cluster.edits.cluster_state import ClusterState, family_of, joined
from dra_alloc.cluster.edits.device_eviction import evicted_by_taints
from dra_alloc.cluster.edits.merging import merged
from dra_alloc.cluster.edits.step import StepKind, Stepping
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import did_you_mean
from dra_alloc.manifest import Documents, Workload
from dra_alloc.manifest.kinds import KINDS, MEMBERS
from dra_alloc.pods.naming import NAMESPACED
from dra_alloc.pods.workloads.owners import Family

#: Why pods are gone that nobody makes anew.
DELETED: Final = "deleted"
#: A time that is over: what is being deleted serves nobody, whenever that was asked for.
_ASKED: Final = "1970-01-01T00:00:00Z"
_NOT_HERE: Final = {
    "Namespace": "namespaces are not deleted here: delete what is in them",
    "Node": "nodes are taken away by removeNodes",
}


class Apply(StepKind):
    """Apply manifests; their paths count from the folder of the scenario."""

    paths: list[str] = Field(min_length=1)

    def on(self, state: ClusterState, stepping: Stepping) -> ClusterState:
        """Return the state with the manifests applied. Spec: WHATIF-5."""
        for each in self.paths:
            state = applied(state, stepping.load(each))
        return state


class Delete(StepKind):
    """Delete an object, with what it owns."""

    kind: str
    name: str
    namespace: str | None = Field(None, description="of what is in one; without it, default")

    def on(self, state: ClusterState, stepping: Stepping) -> ClusterState:
        """Return the state without it. Spec: WHATIF-5."""
        if self.kind in _NOT_HERE:
            stepping.complain("kind", _NOT_HERE[self.kind])
            return state
        member = _member(self.kind)
        if self.namespace is not None and member not in NAMESPACED:
            stepping.complain("namespace", f"objects of kind {self.kind} are in no namespace")
            return state
        objects = [*getattr(state.dump, member), *getattr(state.manifests, member)]
        there = [each for each in objects if each.kind == self.kind]
        alike = {name_of(each) for each in there if self._is(each)}
        if not alike:
            shown = self._full_name if any("/" in name_of(each) for each in there) else self.name
            near = did_you_mean(self.name, [each.metadata.name or "" for each in there])
            stepping.complain("name", f"there is no {self.kind} {shown}", near)
            return state
        return without(state, self.kind, alike)

    @property
    def _full_name(self) -> str:
        return f"{'default' if self.namespace is None else self.namespace}/{self.name}"

    def _is(self, item: Any) -> bool:
        return name_of(item) in (self.name, self._full_name)


def states(
    dump: Documents, base: Documents, manifests: Documents, settings: Settings
) -> tuple[ClusterState, ClusterState]:
    """
    Return the cluster with what was applied before, and with the manifests instead of it.

    What they no longer have is deleted. Spec: WHATIF-5.
    """
    before = applied(ClusterState(dump, settings=settings), base)
    after = ClusterState(dump, settings=settings)
    kept = {(each.kind, name_of(each)) for each in _objects(manifests)}
    gone: dict[str, set[str]] = {}
    for each in _objects(base):
        if (each.kind, name_of(each)) not in kept:
            gone.setdefault(each.kind, set()).add(name_of(each))
    for kind, names in gone.items():
        after = without(after, kind, names)
    return before, applied(after, manifests)


def name_of(item: Any) -> str:
    """Return `namespace/name` of an object, the name of a slice."""
    meta: Any = item.metadata
    return str(meta.full_name if isinstance(meta, ObjectMeta) else meta.name)


def _member(kind: str) -> str:
    """Return the member of documents in which objects of a kind are; of a kind that is not known they are workloads."""
    return KINDS[kind].member if kind in KINDS else "workloads"


def _objects(documents: Documents) -> Iterator[Any]:
    for member in MEMBERS:
        if member not in ("nodes", "namespaces"):
            yield from getattr(documents, member)


def applied(state: ClusterState, manifests: Documents) -> ClusterState:
    """Return the state with the manifests applied; what they say of the cluster later steps see, too."""
    of_cluster = replace(manifests, pods=(), claims=(), templates=(), pod_groups=(), namespaces=())
    state = replace(state, dump=merged(state.dump, of_cluster), manifests=joined(state.manifests, manifests))
    return evicted_by_taints(state) if manifests.taint_rules or manifests.slices else state


def without(state: ClusterState, kind: str, names: Collection[str]) -> ClusterState:
    """Return the state without these objects of a kind, and what they own. Spec: WHATIF-5."""
    member = _member(kind)
    if member == "workloads":
        return _without_workloads(state, kind, names)
    if member == "pods":
        state = state.evicting((each, DELETED) for each in state.dump.pods if name_of(each) in names)

    def kept(documents: Documents) -> Documents:
        left = []
        for each in getattr(documents, member):
            if name_of(each) not in names:
                left.append(each)
            elif isinstance(each, ResourceClaim) and each.status.reserved_for:
                left.append(each.replaced(metadata=each.metadata.replaced(deletion_timestamp=_ASKED)))
        members: dict[str, Any] = {member: tuple(left)}
        return replace(documents, **members)

    return replace(state, dump=kept(state.dump), manifests=kept(state.manifests))


def _without_workloads(state: ClusterState, kind: str, names: Collection[str]) -> ClusterState:
    family = family_of(state)
    roots = [each for name in names if (each := family.named(kind, *name.rsplit("/", 1))) is not None]
    line = [each for root in roots for each in _below(family, root)]
    gone = {each.key for each in line}
    pods = {each.metadata.full_name: each for workload in line for each in family.pods(workload)}
    state = state.evicting((each, DELETED) for each in pods.values())

    def kept(documents: Documents) -> Documents:
        left = [each for each in documents.workloads if each.key not in gone]
        return replace(documents, workloads=tuple(left))

    return replace(state, dump=kept(state.dump), manifests=kept(state.manifests))


def _below(family: Family, workload: Workload) -> Iterator[Workload]:
    """Yield a workload and those that it owns, each once."""
    left, seen = [workload], set[int]()
    while left:
        each = left.pop()
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            left += family.children(each)
