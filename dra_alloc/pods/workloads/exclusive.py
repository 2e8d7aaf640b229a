"""
Groups of pods that have a domain of nodes for themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha1
from typing import Any

from dra_alloc.pods.workloads.reading import labelled, with_spec

__all__ = ["alone_in"]


def alone_in(template: Mapping[str, Any], topology: str, label: str, group: str) -> Mapping[str, Any]:
    """
    Return a template whose pods go into one domain of a topology key together, and with no other group that has one.

    The group, ``namespace/name``, is told by a label with its hash, as its controller makes it. Controllers say so of
    the first pod and send the others where that is: this says it of all, which comes to the same.

    Spec: EXPAND-67.
    """
    value = sha1(group.encode(), usedforsecurity=False).hexdigest()
    mine: Mapping[str, Any] = {"key": label, "operator": "In", "values": [value]}
    others: list[Mapping[str, Any]] = [
        {"key": label, "operator": "Exists"},
        {"key": label, "operator": "NotIn", "values": [value]},
    ]
    given = template["spec"].get("affinity") or {}
    affinity = {
        **given,
        "podAffinity": _with(given.get("podAffinity"), topology, [mine]),
        "podAntiAffinity": _with(given.get("podAntiAffinity"), topology, others),
    }
    return with_spec(labelled(template, {label: value}), affinity=affinity)


def _with(given: Any, topology: str, expressions: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return terms of affinity with one more that is a must, in all namespaces."""
    must = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = given if isinstance(given, Mapping) else {}
    term = {"labelSelector": {"matchExpressions": expressions}, "topologyKey": topology, "namespaceSelector": {}}
    return {**terms, must: [*(terms.get(must) or ()), term]}
