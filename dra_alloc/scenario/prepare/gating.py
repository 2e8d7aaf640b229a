"""
Manifests as the API server would store them under the gates of a release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dra_alloc.api import ResourceClaim, ResourceClaimSpec, ResourceClaimTemplate
from dra_alloc.manifest import Documents
from dra_alloc.manifest.make.gates import without_disabled

__all__ = ["gated"]


def gated(manifests: Documents, gates: Mapping[str, bool]) -> tuple[Documents, tuple[str, ...]]:
    """
    Return the manifests without the fields of disabled gates, and a note for each such field.

    Spec: GATE-1.
    """
    notes: list[str] = []

    def stored(item: ResourceClaim | ResourceClaimTemplate, spec: ResourceClaimSpec) -> ResourceClaimSpec:
        devices, dropped = without_disabled(spec.devices, gates)
        notes.extend(f"{manifests.where(item).object}: {each} is off, the field is dropped" for each in dropped)
        return spec.model_copy(update={"devices": devices}) if dropped else spec

    def change(item: Any) -> Any:
        outer = item.spec if isinstance(item, ResourceClaimTemplate) else None
        before = item.spec if outer is None else outer.spec
        spec = stored(item, before)
        if spec is before:
            return item
        return item.model_copy(update={"spec": spec if outer is None else outer.model_copy(update={"spec": spec})})

    return manifests.mapped(change, "claims", "templates"), tuple(notes)
