"""
Objects that leave their namespace to kubectl or their name to the API server, named as these would.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from dra_alloc.manifest import Documents, Workload

__all__ = ["in_namespace", "named"]

#: What has a name of its own in the cluster, and can leave it to generateName.
_NAMED: Final = ("claims", "templates", "pods")


def in_namespace(documents: Documents, namespace: str) -> Documents:
    """Return the documents with every namespaced object that names no namespace put into this one."""

    def put(item: Any) -> Any:
        if item.metadata.namespace:
            return item
        meta = item.metadata.model_copy(update={"namespace": namespace})
        if isinstance(item, Workload):
            pod_meta = item.pod.metadata.model_copy(update={"namespace": namespace})
            return replace(item, metadata=meta, pod=item.pod.model_copy(update={"metadata": pod_meta}))
        return item.model_copy(update={"metadata": meta})

    return documents.mapped(put, *_NAMED, "workloads")


def named(documents: Documents, dump: Documents) -> Documents:
    """
    Return the documents with a name for every claim, template and pod that has only generateName.

    The API server appends five random characters; here it is the first number
    that makes the name a new one, so that answers can be told apart and repeat.
    """
    taken = {
        (member, each.metadata.namespace, each.metadata.name)
        for member in _NAMED
        for each in (*getattr(documents, member), *getattr(dump, member))
    }
    for member in _NAMED:

        def name(item: Any, member: str = member) -> Any:
            meta = item.metadata
            if meta.name or not meta.generate_name:
                return item
            number = 1
            while (key := (member, meta.namespace, f"{meta.generate_name}{number}")) in taken:
                number += 1
            taken.add(key)
            return item.model_copy(update={"metadata": meta.model_copy(update={"name": key[2]})})

        documents = documents.mapped(name, member)
    return documents
