"""
Manifests as the API server would store them under the gates of a release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

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
    places = dict(manifests.places)

    def stored(item: ResourceClaim | ResourceClaimTemplate, spec: ResourceClaimSpec) -> ResourceClaimSpec:
        devices, dropped = without_disabled(spec.devices, gates)
        notes.extend(f"{manifests.where(item).object}: {each} is off, the field is dropped" for each in dropped)
        return spec.model_copy(update={"devices": devices}) if dropped else spec

    def claim(item: ResourceClaim) -> ResourceClaim:
        spec = stored(item, item.spec)
        if spec is item.spec:
            return item
        made = item.model_copy(update={"spec": spec})
        places[id(made)] = places[id(item)]
        return made

    def template(item: ResourceClaimTemplate) -> ResourceClaimTemplate:
        spec = stored(item, item.spec.spec)
        if spec is item.spec.spec:
            return item
        made = item.model_copy(update={"spec": item.spec.model_copy(update={"spec": spec})})
        places[id(made)] = places[id(item)]
        return made

    claims, templates = tuple(map(claim, manifests.claims)), tuple(map(template, manifests.templates))
    return replace(manifests, claims=claims, templates=templates, places=places), tuple(notes)
