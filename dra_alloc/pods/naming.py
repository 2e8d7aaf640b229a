"""
Objects that leave their namespace to kubectl or their name to the API server, named as these would.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from dra_alloc.api import ObjectMeta
from dra_alloc.manifest import Documents, Workload
from dra_alloc.pods.workloads.names import unique

#: What is in a namespace, and can leave it to kubectl and its name to generateName.
NAMESPACED: Final = (
    "claims",
    "templates",
    "pods",
    "workloads",
    "quotas",
    "limit_ranges",
    "pod_groups",
    "services",
    "disruption_budgets",
    "service_accounts",
    "volume_claims",
)


def in_namespace(documents: Documents, namespace: str) -> Documents:
    """Return the documents with every namespaced object that names no namespace put into this one."""
    if _have_namespaces(documents):
        return documents

    def put(item: Any) -> Any:
        if item.metadata.namespace:
            return item
        meta = item.metadata.model_copy(update={"namespace": namespace})
        return _with_meta(item, meta)

    return documents.mapped(put, *NAMESPACED)


def _have_namespaces(documents: Documents) -> bool:
    for member in NAMESPACED:
        for item in getattr(documents, member):
            if not item.metadata.namespace:
                return False
    return True


def named(documents: Documents, dump: Documents) -> Documents:
    """
    Return the documents with a name for every object that has only generateName.

    The API server appends five random characters; here it is the first number
    that makes the name a new one, so that answers can be told apart and repeat.

    Spec: EXPAND-1.
    """
    if all(item.metadata.name for member in NAMESPACED for item in getattr(documents, member)):
        return documents
    taken: dict[tuple[str, str | None], set[str]] = {}
    for member in NAMESPACED:
        for each in (*getattr(documents, member), *getattr(dump, member)):
            taken.setdefault((each.kind, each.metadata.namespace), set()).add(each.metadata.name or "")

    drawing: dict[tuple[str, str | None, str], Iterator[str]] = {}

    def name(item: Any) -> Any:
        meta = item.metadata
        if meta.name or not meta.generate_name:
            return item
        there = taken[item.kind, meta.namespace]
        key = item.kind, meta.namespace, meta.generate_name
        made = next(drawing.setdefault(key, unique(meta.generate_name, there)))
        there.add(made)
        return _with_meta(item, meta.model_copy(update={"name": made}))

    return documents.mapped(name, *NAMESPACED)


def _with_meta(item: Any, meta: ObjectMeta) -> Any:
    if isinstance(item, Workload):
        return replace(item, metadata=meta)
    return item.model_copy(update={"metadata": meta})
