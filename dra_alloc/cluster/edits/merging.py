"""
Manifests applied to a dump: whose object counts where both have one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Protocol, TypeVar

from dra_alloc.api import ObjectMeta
from dra_alloc.manifest import Documents
from dra_alloc.problem.requests import claim_name

_APPLIED: Final = (
    "slices",
    "classes",
    "templates",
    "taint_rules",
    "nodes",
    "namespaces",
    "pods",
    "pod_groups",
    "priority_classes",
)
#: What of these the dump has stays as it is: it may be bound, and its spec cannot change.
_STAYING: Final = ("volume_claims", "volumes", "storage_classes")
_BESIDE: Final = (
    *("quotas", "services", "runtime_classes", "service_accounts", "limit_ranges", "disruption_budgets"),
    "workloads",
)


def merged(dump: Documents, manifests: Documents) -> Documents:
    """Return the dump with the manifests applied; a claim of the dump stays as it is, since its spec cannot change."""
    if not manifests.claims and not any(getattr(manifests, member) for member in (*_APPLIED, *_STAYING)):
        return dump
    there = {claim_name(claim) for claim in dump.claims} if manifests.claims else ()
    new = [claim for claim in manifests.claims if claim_name(claim) not in there]
    others: dict[str, Any] = {member: _merged(getattr(dump, member), getattr(manifests, member)) for member in _APPLIED}
    others |= {member: _merged(getattr(manifests, member), getattr(dump, member)) for member in _STAYING}
    return replace(dump, claims=(*dump.claims, *new), **others)


def merged_whole(dump: Documents, manifests: Documents) -> Documents:
    """Return the dump with all of the manifests in it, what makes pods, quotas and the like, too."""
    others: dict[str, Any] = {name: _merged(getattr(dump, name), getattr(manifests, name)) for name in _BESIDE}
    return replace(merged(dump, manifests), **others)


class _Named(Protocol):
    """Any object of the API."""

    @property
    def kind(self) -> Any: ...

    @property
    def metadata(self) -> ObjectMeta: ...


_N = TypeVar("_N", bound=_Named)


def _merged(dumped: Sequence[_N], applied: Sequence[_N]) -> tuple[_N, ...]:
    if not applied:
        return tuple(dumped)
    named = {(each.kind, each.metadata.namespace, each.metadata.name): each for each in (*dumped, *applied)}
    return tuple(named.values())
