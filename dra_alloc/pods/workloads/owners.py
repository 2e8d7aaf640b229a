"""
Who makes whom: objects of the input under the object that answers for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from dra_alloc.api import FrozenMap, Node, ObjectMeta, OwnerReference, Pod, ResourceClaimTemplate
from dra_alloc.api.labels import LabelTest
from dra_alloc.manifest import Documents, Workload
from dra_alloc.pods.siblings import selector_of_set
from dra_alloc.pods.views import is_finished
from dra_alloc.remembered import of_objects

PodsThere = dict[tuple[str, str], Pod]
_Key = tuple[str, str, str, str]
_ADOPTERS: Final = frozenset(
    {("apps", "DaemonSet"), ("apps", "ReplicaSet"), ("apps", "StatefulSet"), ("", "ReplicationController")}
)


class Family:
    """
    All workloads and pods of the manifests and the dump, by their owners.

    An object of the manifests stands for that of the dump with its name; the
    status is the dump's. An owner is found by its UID, or by its name where
    one of the two says no UID.

    Spec: EXPAND-31, EXPAND-32, EXPAND-34.
    """

    def __init__(
        self,
        manifests: Documents,
        dump: Documents,
        nodes: Sequence[Node],
        templates: Mapping[str, ResourceClaimTemplate],
    ) -> None:
        self.nodes = nodes
        self._templates = templates
        dumped = {each.key: each for each in dump.workloads}
        self._before: dict[int, Workload] = {}
        self._source: dict[int, Workload] = {}
        self._by_key = dict(dumped)
        for each in manifests.workloads:
            before = dumped.get(each.key)
            merged = each if before is None else _updated(each, before)
            if before is not None:
                self._before[id(merged)] = before
            self._source[id(merged)] = each
            self._by_key[each.key] = merged
        self.pods_by_name: PodsThere = {name_of(each): each for each in (*dump.pods, *manifests.pods)}
        self._by_uid = {each.metadata.uid: each for each in self._by_key.values() if each.metadata.uid}
        self._children: dict[int, list[Workload]] = {}
        self._pods: dict[int, list[Pod]] = {}
        self._parents: dict[int, Workload] = {}
        self._lines: dict[int, tuple[Workload, ...]] = {}
        self._relate()

    @classmethod
    def of(
        cls,
        manifests: Documents,
        dump: Documents,
        nodes: Sequence[Node],
        templates: Mapping[str, ResourceClaimTemplate],
    ) -> Family:
        """Return the family; where manifests are objects of the dump again, who makes whom is known from that alone."""
        alone = _dumped(dump)
        if not alone._has(manifests):  # noqa: SLF001 - its own kind
            return cls(manifests, dump, nodes, templates)
        found = copy(alone)
        found.nodes, found._templates = nodes, templates  # noqa: SLF001
        found._before = {id(each): each for each in manifests.workloads}  # noqa: SLF001
        return found

    def _has(self, manifests: Documents) -> bool:
        return all(self._by_key.get(each.key) is each for each in manifests.workloads) and all(
            self.pods_by_name.get(name_of(each)) is each for each in manifests.pods
        )

    def _relate(self) -> None:
        for each in self._by_key.values():
            parent = self._parent(each.metadata)
            if parent is not None and parent is not each:
                self._children.setdefault(id(parent), []).append(each)
                self._parents[id(each)] = parent
        above: dict[int, list[list[Pod]]] = {}
        for pod in self.pods_by_name.values():
            parent = self._parent(pod.metadata) or self._adopter(pod)
            if parent is not None:
                self._parents[id(pod)] = parent
                lists = above.get(id(parent))
                if lists is None:
                    lists = above[id(parent)] = [self._pods.setdefault(id(each), []) for each in self._line(parent)]
                for pods in lists:
                    pods.append(pod)

    def _adopter(self, pod: Pod) -> Workload | None:
        """Return the set that takes a pod of nobody for its own. Spec: EXPAND-34."""
        meta = pod.metadata
        if meta.owner_references or meta.deletion_timestamp is not None or is_finished(pod):
            return None
        for each, selector in self._adopting.get(meta.namespace or "", ()):
            if selector.matches(meta.labels) and _may_adopt(each, meta.name or ""):
                return each
        return None

    @cached_property
    def _adopting(self) -> Mapping[str, list[tuple[Workload, LabelTest]]]:
        """The sets that take pods of nobody, with their selectors, by namespace."""
        found: dict[str, list[tuple[Workload, LabelTest]]] = {}
        for key, each in self._by_key.items():
            selector = selector_of_set(each) if key[:2] in _ADOPTERS else None
            if selector is not None:
                found.setdefault(each.namespace, []).append((each, selector))
        return found

    def _line(self, workload: Workload) -> tuple[Workload, ...]:
        """Return a workload and those above it; whose parents are known by then."""
        found = self._lines.get(id(workload))
        if found is None:
            line: dict[int, Workload] = {}
            above: Workload | None = workload
            while above is not None and id(above) not in line:
                line[id(above)] = above
                above = self._parents.get(id(above))
            found = self._lines[id(workload)] = tuple(line.values())
        return found

    def _parent(self, meta: ObjectMeta) -> Workload | None:
        owner = _controller(meta.owner_references)
        if owner is None:
            return None
        found = self._by_uid.get(owner.uid) if owner.uid else None
        if found is None:
            group = owner.api_version.rpartition("/")[0]
            found = self._by_key.get((group, owner.kind, meta.namespace or "", owner.name))
            if found is not None and owner.uid and found.metadata.uid:
                return None  # another of the same name, which is gone
        return found if found is not None else self._beyond(owner, meta)

    def _beyond(self, owner: OwnerReference, meta: ObjectMeta) -> Workload | None:
        """Return who made an owner that is not in the input, as its name tells."""
        bridge = _BRIDGES.get(owner.kind)
        for group, kind, name in bridge(owner.name, meta) if bridge is not None else ():
            found = self._by_key.get((group, kind, meta.namespace or "", name))
            if found is not None:
                return found
        return None

    def root(self, item: Workload | Pod) -> Workload | None:
        """Return the topmost workload above a pod, or above a workload or itself."""
        start = self._parents.get(id(item)) if isinstance(item, Pod) else self._by_key.get(item.key)
        return self._line(start)[-1] if start is not None else None

    def source(self, workload: Workload) -> Workload:
        """Return the object of the input that a workload was read as."""
        return self._source.get(id(workload), workload)

    def children(self, workload: Workload) -> tuple[Workload, ...]:
        """Return the workloads that it owns."""
        return tuple(self._children.get(id(workload), ()))

    def pods(self, workload: Workload) -> tuple[Pod, ...]:
        """Return the pods that it owns, itself or through others."""
        return tuple(self._pods.get(id(workload), ()))

    def named(self, kind: str, namespace: str, name: str) -> Workload | None:
        """Return the object of that kind and name, if it is in the input."""
        wanted = (kind, namespace, name)
        return next((each for key, each in self._by_key.items() if key[1:] == wanted), None)

    def claim_template(self, namespace: str, name: str) -> ResourceClaimTemplate | None:
        """Return the claim template of that name, if it is in the input."""
        return self._templates.get(f"{namespace}/{name}")

    def before(self, workload: Workload) -> Workload | None:
        """Return what the cluster has under the name of a workload of the manifests."""
        return self._before.get(id(workload))


def name_of(pod: Pod) -> tuple[str, str]:
    """Return the namespace and the name of a pod."""
    return pod.metadata.namespace or "", pod.metadata.name or ""


def is_in_the_way(there: Pod, new: Pod) -> bool:
    """Return whether a pod that has the name of a new one stays, and belongs to an object of another kind or name."""
    mine, its = (
        {(each.kind, each.name) for each in pod.metadata.owner_references if each.controller} for pod in (new, there)
    )
    return mine != its and there.metadata.deletion_timestamp is None


def pods_there(dump: Documents) -> PodsThere:
    """Return the pods of a dump by namespace and name."""
    return _dumped(dump).pods_by_name


@of_objects
def _dumped(dump: Documents) -> Family:
    return Family(Documents(), dump, dump.nodes, {})


def _may_adopt(workload: Workload, pod: str) -> bool:
    """Return whether the name lets a set take the pod: that of a StatefulSet's pods is its own and a number."""
    if workload.kind != "StatefulSet":
        return True
    name, _, number = pod.rpartition("-")
    return name == workload.name and number.isdecimal()


def _updated(given: Workload, before: Workload) -> Workload:
    """Return a workload as it is after it was applied: its status and UID are those of the cluster."""
    body: dict[str, Any] = {**given.body}
    body.pop("status", None)
    if "status" in before.body:
        body["status"] = before.body["status"]
    meta = given.metadata.replaced(uid=before.metadata.uid or given.metadata.uid)
    if not meta.owner_references:
        meta = meta.replaced(owner_references=before.metadata.owner_references)
    return replace(given, body=FrozenMap(body), metadata=meta)


def _controller(owners: Sequence[OwnerReference]) -> OwnerReference | None:
    """Return the owner that controls an object; where none says so, the only one."""
    if len(owners) == 1:
        return owners[0]
    return next((each for each in owners if each.controller), None)


_Bridge = Callable[[str, ObjectMeta], Iterable[tuple[str, str, str]]]


def _replica_set(name: str, meta: ObjectMeta) -> Iterator[tuple[str, str, str]]:
    for group, kind, label in (
        ("apps", "Deployment", "pod-template-hash"),
        ("argoproj.io", "Rollout", "rollouts-pod-template-hash"),
    ):
        marked = meta.labels.get(label)
        if marked and name.endswith(f"-{marked}"):
            yield group, kind, name.removesuffix(f"-{marked}")


def _job(name: str, meta: ObjectMeta) -> Iterator[tuple[str, str, str]]:
    if owner := meta.labels.get("jobset.sigs.k8s.io/jobset-name"):
        yield "jobset.x-k8s.io", "JobSet", owner
    if run := re.fullmatch(r"(.+)-\d{8,}", name):
        yield "batch", "CronJob", run[1]
    yield "ray.io", "RayJob", name
    if name.endswith("-launcher"):
        yield "kubeflow.org", "MPIJob", name.removesuffix("-launcher")


def _stateful_set(name: str, meta: ObjectMeta) -> Iterator[tuple[str, str, str]]:
    if owner := meta.labels.get("leaderworkerset.sigs.k8s.io/name"):
        yield "leaderworkerset.x-k8s.io", "LeaderWorkerSet", owner


def _ray_cluster(name: str, meta: ObjectMeta) -> Iterator[tuple[str, str, str]]:
    owner, kind = meta.labels.get("ray.io/originated-from-cr-name"), meta.labels.get("ray.io/originated-from-crd")
    for each in (kind,) if kind else ("RayJob", "RayService"):
        yield "ray.io", each, owner or name.rpartition("-")[0]


def _pod_clique(name: str, meta: ObjectMeta) -> Iterator[tuple[str, str, str]]:
    if owner := meta.labels.get("app.kubernetes.io/part-of"):
        yield "grove.io", "PodCliqueSet", owner


#: Objects that controllers make between a workload and its pods, and that a dump may lack.
_BRIDGES: Final[Mapping[str, _Bridge]] = {
    "ReplicaSet": _replica_set,
    "Job": _job,
    "StatefulSet": _stateful_set,
    "RayCluster": _ray_cluster,
    "PodClique": _pod_clique,
}
