"""
Manifests applied to a dump: whose object counts where both have one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol, TypeVar

from dra_alloc.api import ObjectMeta, ResourceClaim, ResourceClaimSpec, ResourceClaimTemplate
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import Problem, Where
from dra_alloc.manifest import Documents
from dra_alloc.problem.requests import claim_name
from dra_alloc.scenario.prepare.gating import gated_spec

__all__ = ["changed_specs", "merged"]

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


def merged(dump: Documents, manifests: Documents) -> Documents:
    """Return the dump with the manifests applied; a claim of the dump stays as it is, since its spec cannot change."""
    there = {claim_name(claim) for claim in dump.claims}
    new = [claim for claim in manifests.claims if claim_name(claim) not in there]
    others: dict[str, Any] = {member: _merged(getattr(dump, member), getattr(manifests, member)) for member in _APPLIED}
    return replace(dump, claims=(*dump.claims, *new), **others)


def changed_specs(
    dump: Documents, manifests: Documents, settings: Settings
) -> Iterator[tuple[ResourceClaim | ResourceClaimTemplate, Problem]]:
    """
    Yield the manifests' claims and claim templates that are in the dump with another spec, which cannot change.

    Spec: GATE-3.
    """
    stored: list[ResourceClaim | ResourceClaimTemplate] = [*dump.claims, *dump.templates]
    applied: list[ResourceClaim | ResourceClaimTemplate] = [*manifests.claims, *manifests.templates]
    there = {(each.kind, each.metadata.full_name): each for each in stored} if applied else {}
    for item in applied:
        before = there.get((item.kind, item.metadata.full_name))
        if before is not None and not _same_spec(item, before, settings):
            hint = "it is in the cluster with another spec: delete it there first, or name this one differently"
            yield item, Problem("Invalid value: field is immutable", Where(path="spec"), hint)


def _same_spec(item: Any, before: Any, settings: Settings) -> bool:
    given, stored = item.spec, before.spec
    if not isinstance(given, ResourceClaimSpec):
        if given.metadata != stored.metadata:
            return False
        given, stored = given.spec, stored.spec
    # The manifests' is without the fields of disabled gates already; a stored one keeps them, also when it is applied.
    if given == stored:
        return True
    return bool(given == gated_spec(stored, settings.effective_gates(), settings.profile().release)[0])


class _Named(Protocol):
    """Any object of the API."""

    @property
    def metadata(self) -> ObjectMeta: ...


_N = TypeVar("_N", bound=_Named)


def _merged(dumped: Sequence[_N], applied: Sequence[_N]) -> tuple[_N, ...]:
    if not applied:
        return tuple(dumped)
    named = {(each.metadata.namespace, each.metadata.name): each for each in (*dumped, *applied)}
    return tuple(named.values())
