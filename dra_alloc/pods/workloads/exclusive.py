"""
Groups of pods that have a domain of nodes for themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha1
from typing import Any, Final

from dra_alloc.pods.workloads.reading import value_at, with_spec

_MUST: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_KINDS: Final = ("podAffinity", "podAntiAffinity")


def group_key(namespace: str, name: str) -> str:
    """Return what tells the pods of a group from all others: its name's hash, as its controller makes it."""
    return sha1(f"{namespace}/{name}".encode(), usedforsecurity=False).hexdigest()


def alone_in(
    template: Mapping[str, Any], topology: str, label: str, key: str, *, everywhere: bool
) -> Mapping[str, Any]:
    """
    Return a template whose pods go into one domain of a topology key together, and with no other group of its kind.

    All groups of the kind have their keys as labels, exclusive or not; those of other namespaces count if they are to
    be kept off `everywhere`. Controllers say so of the first pod and send the others where that is: this says
    it of all, which comes to the same. A template with an affinity that cannot be read stays as it is.

    Spec: EXPAND-67.
    """
    given = template["spec"].get("affinity")
    if not _is_readable(given):
        return template
    mine: Mapping[str, Any] = {"key": label, "operator": "In", "values": [key]}
    others: list[Mapping[str, Any]] = [{"key": label, "operator": "Exists"}, {**mine, "operator": "NotIn"}]
    namespaces: Mapping[str, Any] = {"namespaceSelector": {}} if everywhere else {}
    affinity = dict(given or {})
    for kind, expressions in zip(_KINDS, ([mine], others), strict=True):
        term = {"labelSelector": {"matchExpressions": expressions}, "topologyKey": topology, **namespaces}
        affinity[kind] = {**(affinity.get(kind) or {}), _MUST: [*(value_at(given, f"{kind}.{_MUST}") or ()), term]}
    return with_spec(template, affinity=affinity)


def _is_readable(affinity: Any) -> bool:
    """Whether terms can be added to an affinity."""
    parts = [value_at(affinity, kind) for kind in _KINDS]
    terms = [value_at(each, _MUST) for each in parts]
    return all(isinstance(each, Mapping | None) for each in (affinity, *parts)) and all(
        isinstance(each, list | tuple | None) for each in terms
    )
