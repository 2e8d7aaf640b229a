"""
Objects without a namespace, placed in one as kubectl does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dra_alloc.manifest import Documents, Workload

__all__ = ["in_namespace"]


def in_namespace(documents: Documents, namespace: str) -> Documents:
    """Return the documents with every namespaced object that names no namespace put into this one."""
    places = dict(documents.places)

    def put(item: Any) -> Any:
        if item.metadata.namespace:
            return item
        meta = item.metadata.model_copy(update={"namespace": namespace})
        moved: Any
        if isinstance(item, Workload):
            pod_meta = item.pod.metadata.model_copy(update={"namespace": namespace})
            moved = replace(item, metadata=meta, pod=item.pod.model_copy(update={"metadata": pod_meta}))
        else:
            moved = item.model_copy(update={"metadata": meta})
        if id(item) in places:
            places[id(moved)] = places[id(item)]
        return moved

    return replace(
        documents,
        claims=tuple(map(put, documents.claims)),
        templates=tuple(map(put, documents.templates)),
        pods=tuple(map(put, documents.pods)),
        workloads=tuple(map(put, documents.workloads)),
        places=places,
    )
