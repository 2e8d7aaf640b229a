"""
New objects in namespaces that are not there, or are on their way out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dra_alloc.errors import Problem, Where, did_you_mean, in_brief
from dra_alloc.manifest import Documents
from dra_alloc.manifest.lost import Lost
from dra_alloc.pods.naming import NAMESPACED

#: Namespaces that every API server makes itself.
_ALWAYS: Final = frozenset({"default", "kube-node-lease", "kube-public", "kube-system"})


def namespace_problems(manifests: Documents, dump: Documents, lost: Lost) -> Iterator[tuple[Any, Problem]]:
    """
    Yield the new objects whose namespace the API server does not have, or does not let anything be made in.

    Which there are is known where the dump has namespaces; the manifests' own come first.

    Spec: GATE-5.
    """
    if not dump.namespaces or lost.may_hold_any("Namespace"):
        return
    there = {each.metadata.name or "": each for each in (*manifests.namespaces, *dump.namespaces)}
    stored = {
        (each.kind, each.metadata.namespace, each.metadata.name)
        for member in NAMESPACED
        for each in getattr(dump, member)
    }
    for member in NAMESPACED:
        for each in getattr(manifests, member):
            name = each.metadata.namespace or ""
            if (each.kind, each.metadata.namespace, each.metadata.name) in stored or name in lost.of("Namespace"):
                continue
            found, place = there.get(name), Where(path="metadata.namespace")
            if found is None and name not in _ALWAYS:
                yield each, Problem(f'namespaces "{in_brief(name)}" not found', place, did_you_mean(name, there))
            elif found is not None and found.metadata.deletion_timestamp is not None:
                text = f"unable to create new content in namespace {name} because it is being terminated"
                yield each, Problem(f"Forbidden: {text}", place)
