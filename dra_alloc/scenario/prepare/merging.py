"""
Manifests applied to a dump: whose object counts where both have one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from dra_alloc.api import ObjectMeta, ResourceClaim
from dra_alloc.manifest import Documents
from dra_alloc.problem.requests import claim_name

__all__ = ["merged"]


def merged(dump: Documents, manifests: Documents) -> Documents:
    """Return the dump with the manifests applied; a claim's status in the dump is kept."""
    claims = {claim_name(claim): claim for claim in dump.claims}
    for claim in manifests.claims:
        before = claims.get(claim_name(claim))
        claims[claim_name(claim)] = claim if before is None else _with_status(claim, before)
    return replace(
        dump,
        slices=_merged(dump.slices, manifests.slices),
        classes=_merged(dump.classes, manifests.classes),
        templates=_merged(dump.templates, manifests.templates),
        taint_rules=_merged(dump.taint_rules, manifests.taint_rules),
        nodes=_merged(dump.nodes, manifests.nodes),
        claims=tuple(claims.values()),
    )


class _Named(Protocol):
    """Any object of the API."""

    @property
    def metadata(self) -> ObjectMeta: ...


_N = TypeVar("_N", bound=_Named)


def _merged(dumped: Sequence[_N], applied: Sequence[_N]) -> tuple[_N, ...]:
    named = {(each.metadata.namespace, each.metadata.name): each for each in (*dumped, *applied)}
    return tuple(named.values())


def _with_status(claim: ResourceClaim, before: ResourceClaim) -> ResourceClaim:
    return claim.model_copy(update={"status": before.status}) if claim.status.allocation is None else claim
