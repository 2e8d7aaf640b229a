"""
Claims and templates that are applied with another spec than they have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dra_alloc.api import ResourceClaim, ResourceClaimSpec, ResourceClaimTemplate
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import Problem, Where
from dra_alloc.manifest import Documents
from dra_alloc.scenario.prepare.gating import gated_spec


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
