"""
The pods that objects make: a pod itself, the replicas of a workload, a DaemonSet's pod on every node that takes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dra_alloc.api import Node, ObjectMeta, Pod
from dra_alloc.errors import Problem
from dra_alloc.manifest import Documents, Workload
from dra_alloc.pods.node_filter import node_objection

__all__ = ["AskedPod", "full_name", "pods_of", "too_many"]

_MOST_COPIES: Final = 10_000


@dataclass(frozen=True, slots=True)
class AskedPod:
    """
    A pod that is asked for, and the object that it stands in: the pod itself, or the workload that makes it.

    Pods of one `template`, the full name of a workload, differ in name only.
    """

    pod: Pod
    owner: Pod | Workload
    template: str | None = None

    @property
    def name(self) -> str:
        """Return the pod's name with its namespace."""
        return full_name(self.pod.metadata)


def pods_of(documents: Documents, nodes: Sequence[Node]) -> Iterator[AskedPod]:
    """Yield the pods in the order of the input, then those that workloads make; none of a workload with too many."""
    for pod in documents.pods:
        yield AskedPod(pod, pod)
    for workload in documents.workloads:
        if workload.kind == "DaemonSet":
            yield from (AskedPod(pod, workload) for pod in _on_every_node(workload, nodes))
        elif _count(workload) <= _MOST_COPIES:
            template = None if workload.pod.spec.node_name else full_name(workload.metadata)
            for number in range(_count(workload)):
                yield AskedPod(_copy(workload, f"{workload.name}-{number}"), workload, template)


def too_many(documents: Documents) -> Iterator[tuple[Workload, Problem]]:
    """Yield the workloads that ask for more pods at once than are tried."""
    for workload in documents.workloads:
        if _count(workload) > _MOST_COPIES:
            text = f"asks for {workload.replicas:,} pods at once, more than the {_MOST_COPIES:,} that are tried"
            yield workload, Problem(text)


def full_name(meta: ObjectMeta) -> str:
    """Return ``namespace/name``; an object that only has generateName is shown with a star."""
    name = meta.name or f"{meta.generate_name or ''}*"
    return f"{meta.namespace}/{name}" if meta.namespace else name


def _count(workload: Workload) -> int:
    return 1 if workload.replicas is None else workload.replicas


def _on_every_node(workload: Workload, nodes: Sequence[Node]) -> Iterator[Pod]:
    for node in nodes:
        name = node.metadata.name or ""
        pod = _copy(workload, f"{workload.name}-{name}")
        if node_objection(pod, node) is None:
            yield pod.model_copy(update={"spec": pod.spec.model_copy(update={"node_name": name})})


def _copy(workload: Workload, name: str) -> Pod:
    meta = workload.pod.metadata.model_copy(update={"name": name, "namespace": workload.namespace})
    return workload.pod.model_copy(update={"metadata": meta})
